/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The gate of a process: what is published when, who waits for how long. A process has one: each scenario runs in a child,
 * whose exit status is the number of its checks that failed.
 */
#include <signal.h>
#include <sys/wait.h>

#include "shim/gatefile.h"
#include "shim/gaterun.h"
#include "report.h"
#include "shim_fake.h"

#define TOKEN "00112233445566778899aabbccddeeff"

static char dir[64];

static int in_child(void (*fn)(void))
{
	int status;
	pid_t p;

	strcpy(dir, "/tmp/gaterun.XXXXXX");
	CHECK(mkdtemp(dir) != NULL);
	setenv(GPUBPF_ENV_STATUS_DIR, dir, 1);
	setenv(GPUBPF_ENV_RUN_TOKEN, TOKEN, 1);
	fflush(stdout);
	p = fork();
	if (p == 0) {
		got_begin();
		attach();
		t_bad = 0;
		fn();
		fflush(stdout);
		_exit(t_bad ? 99 : 0);
	}
	waitpid(p, &status, 0);
	return status;
}

static void good(void (*fn)(void))
{
	char command[128];
	int s = in_child(fn);

	CHECKF(WIFEXITED(s) && WEXITSTATUS(s) == 0, "the child's status is 0x%x", s);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	CHECK(system(command) == 0);
}

static bool file_has(const char *part)
{
	char path[128], text[GPUBPF_GATE_FILE_MAX] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/" GPUBPF_GATE_FILE, dir, (int)getpid());
	f = fopen(path, "r");
	if (!f)
		return false;
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	return strstr(text, part) != NULL;
}

static struct gate_outcome success(void)
{
	struct gate_outcome o = { 0 };

	o.kinds[GPUBPF_FACILITY_SUBSCRIBE] = (struct gate_kind){ true, true, 0 };
	return o;
}

/* ---- the order of publishing ---- */

static _Atomic bool published;

/* A slow publication of the end: who is woken before it is through sees that it is not. */
static void slow_hit(enum gpubpf_probe p, const void *items, size_t n, __u64 sequence)
{
	const struct gpubpf_status *s = items;

	got_hit(p, items, n, sequence);
	if (p != GPUBPF_PROBE_STATUS || s->kind != GPUBPF_STATUS_GATE || s->code != GPUBPF_LIFECYCLE_FINISHED)
		return;
	usleep(200000);
	atomic_store(&published, true);
}

static void *waits(void *arg)
{
	(void)arg;
	CHECK(gaterun__await());
	CHECK(atomic_load(&published));
	CHECK(file_has("\"readiness\":\"ready\""));
	return NULL;
}

static void publishes_first(void)
{
	struct gate_outcome o = success();
	pthread_t t[4];

	emit__hook = slow_hit;
	gaterun__configure();
	gaterun__callback();
	CHECK(file_has("\"lifecycle\":\"callback_seen\"") && file_has("\"sequence\":1,"));
	CHECK(gaterun__initialize(1));
	CHECK(file_has("\"lifecycle\":\"initializing\"") && file_has("\"sequence\":2,"));
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, waits, NULL);
	usleep(20000);
	gaterun__finish(&o);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	CHECK(GOT(got.nstatuses == 3) && got_status(GPUBPF_STATUS_GATE, GPUBPF_LIFECYCLE_FINISHED).d == 3);
	CHECK(got_status(GPUBPF_STATUS_GATE, -1).value == GPUBPF_READINESS_READY);
}

T(published_before_anybody_is_woken)
{
	good(publishes_first);
}

/* ---- one deadline, for all who wait ---- */

static void *is_late(void *arg)
{
	CHECK(!gaterun__await());
	*(uint64_t *)arg = now_ns();
	return NULL;
}

static void waits_together(void)
{
	struct gate_outcome o = success();
	uint64_t began = now_ns(), ends[3];
	pthread_t t[3];

	setenv(GPUBPF_ENV_INIT_TIMEOUT, "200", 1);
	setenv(GPUBPF_ENV_WARMUP, "100", 1);
	gaterun__configure();
	gaterun__callback();
	CHECK(gaterun__initialize(1));
	for (int i = 0; i < 3; i++) {
		pthread_create(&t[i], NULL, is_late, &ends[i]);
		usleep(50000);
	}
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], NULL);
		CHECKF(ends[i] - began >= 299000000 && ends[i] - began < 2000000000, "waiter %d: %llu ms", i,
		       (unsigned long long)(ends[i] - began) / 1000000);
	}
	CHECK(file_has("\"reason\":\"init_timeout\"") && file_has("\"lifecycle\":\"initializing\""));
	/* It comes back after all, with success. */
	gaterun__finish(&o);
	CHECK(!gaterun__await() && file_has("\"reason\":\"init_timeout\"") &&
	      file_has("\"lifecycle\":\"finished\""));
}

T(waiters_share_the_deadline)
{
	good(waits_together);
}

/* ---- the exit ---- */

static void wedges(void)
{
	pthread_t t;

	setenv(GPUBPF_ENV_INIT_TIMEOUT, "100", 1);
	gaterun__configure();
	gaterun__callback();
	CHECK(gaterun__initialize(1));
	/* The initializer is this thread, which does not come back; another one ends the process. */
	pthread_create(&t, NULL, (void *(*)(void *))(void *)gaterun__exit, NULL);
	pthread_join(t, NULL);
	_exit(1);
}

/* What stdio still holds cannot be written: that is waited for, and not for ever. */
static void wedges_in_stdio(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	flockfile(stdout);
	wedges();
}

T(exit_of_a_wedged_one_that_holds_stdio)
{
	char command[128];
	int s;

#ifdef __SANITIZE_THREAD__
	SKIP("ThreadSanitizer that delivers a signal to a thread that waits for a lock");
#endif
	s = in_child(wedges_in_stdio);

	CHECKF(WIFEXITED(s) && WEXITSTATUS(s) == GPUBPF_GATE_EXIT_STATUS, "0x%x", s);
	snprintf(command, sizeof(command), "grep -q exit_wedged %s/status-*.json && rm -r %s", dir, dir);
	CHECK(system(command) == 0);
}

T(exit_of_a_wedged_one)
{
	char command[128];
	int s = in_child(wedges);

	CHECKF(WIFEXITED(s) && WEXITSTATUS(s) == GPUBPF_GATE_EXIT_STATUS, "0x%x", s);
	snprintf(command, sizeof(command), "grep -q exit_wedged %s/status-*.json && rm -r %s", dir, dir);
	CHECK(system(command) == 0);
}

static void exits_inside(void)
{
	gaterun__configure();
	gaterun__callback();
	CHECK(gaterun__initialize(1));
	/* From inside the initializer there is nobody to wait for. */
	CHECK(!gaterun__exit());
	CHECK(!gaterun__attach(2) && !gaterun__initialize(2));
}

T(exit_from_inside)
{
	good(exits_inside);
}

static void exits_before(void)
{
	gaterun__configure();
	gaterun__callback();
	CHECK(gaterun__exit());
	CHECK(file_has("\"reason\":\"exit_before_capture\"") && file_has("\"lifecycle\":\"stopped\""));
	CHECK(!gaterun__initialize(1) && !gaterun__attach(1) && !gaterun__ready());
}

T(exit_before_capture)
{
	good(exits_before);
}

/* ---- recorders that come ---- */

static void comes_twice(void)
{
	struct gate_outcome good = success(), bad = success();

	bad.kinds[GPUBPF_FACILITY_KERNEL] = (struct gate_kind){ true, true, 27 };
	gaterun__configure();
	gaterun__callback();
	CHECK(gaterun__attach(1));
	gaterun__finish(&good);
	CHECK(gaterun__ready() && file_has("\"notes\":[\"late_attach\"]"));
	CHECK(gaterun__attach(2));
	gaterun__finish(&bad);
	CHECK(!gaterun__ready() && file_has("\"reason\":\"trace_facility_lost\""));
	CHECK(gaterun__attach(3));
	gaterun__finish(&good);
	CHECK(!gaterun__ready() && file_has("\"reason\":\"trace_facility_lost\""));
}

T(one_result_for_a_run)
{
	good(comes_twice);
}

static void comes_anew(void)
{
	struct gate_outcome good = success(), bad = { .failed = GPUBPF_REASON_SECOND_SUBSCRIBER };

	unsetenv(GPUBPF_ENV_RUN_TOKEN);
	setenv(GPUBPF_ENV_INIT_TIMEOUT, "50", 1);
	gaterun__configure();
	gaterun__callback();
	/* What an earlier recorder met is not about the next, nor is the time before he came. */
	usleep(80000);
	CHECK(gaterun__attach(1));
	gaterun__finish(&bad);
	CHECK(!gaterun__ready() && file_has("\"reason\":\"second_subscriber\""));
	CHECK(gaterun__attach(2));
	gaterun__finish(&good);
	CHECK(gaterun__ready() && file_has("\"token\":\"\"") && file_has("\"notes\":[\"late_attach\"]"));
}

T(without_a_run_each_recorder_has_his_own)
{
	good(comes_anew);
}

/* ---- what the environment says ---- */

static void strange_token(void)
{
	struct gate_outcome o = success();

	setenv(GPUBPF_ENV_RUN_TOKEN, "0011", 1);
	gaterun__configure();
	gaterun__callback();
	/* Not a protocol of ours: captured, and nothing said. */
	CHECK(gaterun__attach(1));
	gaterun__finish(&o);
	gaterun__say();
	CHECK(!gaterun__ready() && !file_has("") && GOT(!got.nstatuses));
	CHECK(gaterun__exit());
}

T(unknown_protocol)
{
	good(strange_token);
}

static void strange_numbers(void)
{
	setenv(GPUBPF_ENV_INIT_TIMEOUT, "-1", 1);
	setenv(GPUBPF_ENV_WARMUP, "1e3", 1);
	gaterun__configure();
	gaterun__callback();
	CHECK(!gaterun__warm() && gaterun__warm_until() == 0);
	CHECK(got_status(GPUBPF_STATUS_GATE, -1).c - got_status(GPUBPF_STATUS_GATE, -1).b == 15000000000ull);
}

T(numbers_that_are_none)
{
	good(strange_numbers);
}

static void forks(void)
{
	char command[128];
	int status;
	pid_t p;

	gaterun__configure();
	gaterun__callback();
	p = fork();
	if (p == 0) {
		got_begin();
		gaterun__forked();
		gaterun__callback();
		gaterun__say();
		_exit(gaterun__ready() || gaterun__await() || got.nstatuses || file_has("") ? 1 : 0);
	}
	waitpid(p, &status, 0);
	CHECKF(status == 0, "0x%x", status);
	snprintf(command, sizeof(command), "[ $(ls %s | wc -l) = 1 ]", dir);
	CHECK(system(command) == 0 && file_has("\"sequence\":1,"));
}

T(a_forked_child_says_nothing)
{
	good(forks);
}

/* What a program before exec() left is carried on. */
static void is_replaced(void)
{
	struct gate g = { 0 };
	struct gatefile f = { &g, TOKEN, getpid(), report__start_time(), 41, 0 };

	CHECK(gatefile__write(dir, &f) == 0);
	gaterun__configure();
	gaterun__callback();
	CHECK(file_has("\"sequence\":42,") && file_has("\"notes\":[\"exec_replaced\"]"));
	/* Another process of this number: none of ours. */
	f.start_time++;
	CHECK(gatefile__write(dir, &f) == 0);
	CHECK(gatefile__sequence(dir, &(struct gatefile){ &g, TOKEN, getpid(), f.start_time - 1, 0, 0 }) ==
	      0);
}

T(exec_goes_on_counting)
{
	good(is_replaced);
}

TEST_MAIN
