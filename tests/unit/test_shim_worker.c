/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker's life, from InitializeInjection() to the end of the process. A process has one: each scenario runs in a
 * child, whose exit status is the number of its checks that failed.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "bpf/gate.h"
#include "phase.h"
#include "shim_fake.h"
#include "worker.h"

int InitializeInjection(void);
int gpubpf_shim_start(void);

/* ThreadSanitizer and a busy machine stretch what is waited for, not what is asked. */
#define LONG_MS 10000

static int child_pid;

/* The search for leaks at the end of a child would be measured as its exit. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return 1;
}

/* What the child said on a pipe, up to its end. */
static int in_child(void (*fn)(void), char *said, size_t max)
{
	int p[2], status;
	size_t n = 0;
	ssize_t r;

	fflush(stdout);
	if (pipe(p))
		return -1;
	child_pid = fork();
	if (child_pid == 0) {
		close(p[0]);
		dup2(p[1], 9);
		fake_begin();
		detach();
		t_bad = 0;
		fn();
		fflush(stdout);
		exit(t_bad ? 99 : 0);
	}
	close(p[1]);
	while (n + 1 < max && (r = read(p[0], said + n, max - 1 - n)) > 0)
		n += (size_t)r;
	said[n] = 0;
	close(p[0]);
	waitpid(child_pid, &status, 0);
	return status;
}

static void good(void (*fn)(void))
{
	char said[256];
	int s = in_child(fn, said, sizeof(said));

	CHECKF(WIFEXITED(s) && WEXITSTATUS(s) == 0, "the child's status is 0x%x", s);
}

static bool wait_for(bool (*fn)(void))
{
	for (int i = 0; i < LONG_MS; i++) {
		if (fn())
			return true;
		usleep(1000);
	}
	return false;
}

static bool is_off(void)
{
	return !worker__armed();
}

static bool said_disarmed(void)
{
	bool yes;

	pthread_mutex_lock(&got.lock);
	yes = got_disarmed();
	pthread_mutex_unlock(&got.lock);
	return yes;
}

/* None of the application's signals lands on the worker, and ps shows whose it is. */
static void check_worker(__u32 tid)
{
	char path[64], line[128], name[32] = "";
	unsigned long long blocked = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%u/status", tid);
	f = fopen(path, "r");
	CHECKF(f != NULL, "no %s", path);
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "Name: %31s", name);
		sscanf(line, "SigBlk: %llx", &blocked);
	}
	if (f)
		fclose(f);
	CHECKF(!strcmp(name, "gpubpf"), "%s", name);
	/* All but KILL and STOP, which nobody blocks, and the two that glibc keeps for itself. */
	CHECKF((blocked | 1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1) | 3ull << 31) == ~0ull, "%llx",
	       blocked);
}

/* Idle: nothing of CUPTI is touched. A recorder comes: armed within 100 ms, of which 50 are the semaphore's. */
static void arms_in_time(void)
{
	uint64_t began, took;

	CHECK(InitializeInjection() == 1);
	usleep(120000);
	CHECK(!fake.log[0]);
	CHECK(GOT(!got.nstatuses && !got.nhellos));
	began = now_ns();
	attach();
	CHECK(got_in_time(GPUBPF_STATUS_ARMED, LONG_MS));
	took = now_ns() - began;
	CHECKF(took < 100000000, "armed after %llu ms", (unsigned long long)took / 1000000);
	usleep(20000);
	CHECK(GOT(got.hello.arming == GPUBPF_ARMED_ATTACH && got.hello.worker_tid &&
		  got.hello.worker_tid != (__u32)getpid()));
	check_worker(got.hello.worker_tid);
	detach();
	CHECK(wait_for(is_off));
}

T(armed_within_100_ms)
{
	/* One of three: a machine that runs other tests is late at times. */
	for (int i = 0; i < 2; i++) {
		char said[16];

		if (in_child(arms_in_time, said, sizeof(said)) == 0)
			return;
		printf("# again\n");
	}
	good(arms_in_time);
}

/* Launched under a recorder: armed when the entry point comes back, on the thread that called it. */
static void arms_inline(void)
{
	attach();
	CHECK(InitializeInjection() == 1);
	CHECK(got_status(GPUBPF_STATUS_ARMED, -1).kind && phase__of(phase__word()) == PHASE_ON);
	fake_launch("first", now_ns());
	CHECK(gpubpf_shim_start() == 1);
	for (int i = 0; i < LONG_MS && GOT(!got.nhellos || !got.nactivities || !got.ncalls); i++)
		usleep(1000);
	CHECK(GOT(got.nhellos && got.hello.arming == GPUBPF_ARMED_INLINE && got.hello.worker_tid));
	CHECK(GOT(got.nactivities == 1 && got.ncalls == 1));
	detach_hello();
	CHECK(wait_for(said_disarmed));
	CHECK(got_status(GPUBPF_STATUS_DISARMED, -1).code == GPUBPF_DISARM_ASKED);
}

T(inline_arming)
{
	good(arms_inline);
}

/* C27: ten sessions of one process, each with its own records. */
static void arms_ten_times(void)
{
	InitializeInjection();
	for (__u32 i = 1; i <= 10; i++) {
		got_begin();
		attach();
		CHECK(got_in_time(GPUBPF_STATUS_ARMED, LONG_MS));
		for (int k = 0; k < 1000; k++)
			fake_launch("kernel", now_ns());
		detach_hello();
		CHECK(wait_for(said_disarmed));
		CHECKF(got.ncalls == 1000 && got.nactivities == 1000 && got.nnames == 1,
		       "session %u: %zu calls, %zu records, %zu names", i, got.ncalls, got.nactivities,
		       got.nnames);
		CHECK(got.statuses[got.nstatuses - 1].session == i && got.calls[0].session == i &&
		      got.activities[0].session == i);
		detach();
		CHECK(wait_for(is_off));
	}
}

T(ten_sessions)
{
	good(arms_ten_times);
}

static void second_subscriber(void)
{
	fake.subscribe = ABI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	attach();
	CHECK(InitializeInjection() == 1);
	CHECK(got_status(GPUBPF_STATUS_FAILED, -1).code == GPUBPF_REASON_SECOND_SUBSCRIBER);
	usleep(200000);
	/* Not tried again while this recorder is there. */
	CHECKF(!strcmp(fake.log, "subscribe "), "%s", fake.log);
	CHECK(GOT(got.nhellos >= 1 && got.hello.time_source == 0));
	fake.subscribe = ABI_SUCCESS;
	detach();
	usleep(200000);
	got_begin();
	attach();
	CHECK(got_in_time(GPUBPF_STATUS_ARMED, LONG_MS));
	detach();
	CHECK(wait_for(is_off));
}

T(failed_and_tried_again_for_the_next)
{
	good(second_subscriber);
}

static void manual(void)
{
	setenv("GPUBPF_MANUAL_INIT", "1", 1);
	attach();
	CHECK(InitializeInjection() == 1);
	usleep(120000);
	/* The gate alone says that it was called. */
	CHECK(!fake.log[0] && GOT(got.nstatuses == 1));
	CHECK(got_status(GPUBPF_STATUS_GATE, -1).code == GPUBPF_LIFECYCLE_CALLBACK_SEEN);
	CHECK(gpubpf_shim_start() == 1 && worker__armed());
	CHECK(gpubpf_shim_start() == 1);
	detach();
	CHECK(wait_for(is_off));
	CHECK(gpubpf_shim_start() == 0);
}

T(manual_init)
{
	good(manual);
}

/* What the parent of the test is told at the end: the hook's data are the child's. */
static void say_status(enum gpubpf_probe p, const void *items, size_t n, __u64 sequence)
{
	const struct gpubpf_status *s = items;

	got_hit(p, items, n, sequence);
	if (p == GPUBPF_PROBE_STATUS && s[n - 1].kind == GPUBPF_STATUS_DISARMED)
		dprintf(9, "disarmed %d, %zu calls, %zu records", s[n - 1].code, got.ncalls, got.nactivities);
}

static void exits_armed(void)
{
	attach();
	InitializeInjection();
	emit__hook = say_status;
	for (int i = 0; i < 3000; i++)
		fake_launch("kernel", now_ns());
}

T(exit_flushes)
{
	char said[256];

	CHECK(in_child(exits_armed, said, sizeof(said)) == 0);
	CHECKF(!strcmp(said, "disarmed 2, 3000 calls, 3000 records"), "%s", said);
}

static uint64_t exit_began;

/* Registered before the shim's handler, so run behind it. */
static void say_time(void)
{
	dprintf(9, "%llu", (unsigned long long)(now_ns() - exit_began) / 1000000);
}

static void exits_stuck(void)
{
	atexit(say_time);
	attach();
	InitializeInjection();
	fake_launch("kernel", now_ns());
	atomic_store(&fake.flush_hangs, true);
	usleep(100000);
	exit_began = now_ns();
}

/* A flush that never comes back holds the process up for half a second, and changes nothing else. */
T(exit_has_a_deadline)
{
	char said[256];
	int s = in_child(exits_stuck, said, sizeof(said)), took = atoi(said);

	CHECKF(WIFEXITED(s) && WEXITSTATUS(s) == 0, "0x%x", s);
	CHECKF(took >= 500 && took < 900, "it took %s ms", said);
}

static void exits_idle(void)
{
	atexit(say_time);
	InitializeInjection();
	usleep(60000);
	exit_began = now_ns();
}

T(exit_of_an_idle_one_waits_for_nothing)
{
	int best = 1000;

	for (int i = 0; i < 5; i++) {
		char said[256];

		CHECK(in_child(exits_idle, said, sizeof(said)) == 0);
		best = atoi(said) < best ? atoi(said) : best;
	}
	CHECKF(best < 10, "it took %d ms", best);
}

/* The child of the process: no hit, no call of CUPTI, no worker, no wait at its exit; the parent goes on. */
static void forks(void)
{
	uint64_t began;
	size_t came;
	int status;
	pid_t p;

	attach();
	InitializeInjection();
	fake_launch("kernel", now_ns());
	p = fork();
	if (p == 0) {
		/* the parent's worker may have had them */
		pthread_mutex_init(&got.lock, NULL);
		pthread_mutex_init(&fake.lock, NULL);
		got_begin();
		t_bad = 0;
		fake.log[0] = 0;
		/* Its CUPTI still calls back: it is a copy of the parent's. */
		for (int i = 0; i < 1000; i++)
			fake_launch("kernel of the child", now_ns());
		InitializeInjection();
		gpubpf_shim_start();
		usleep(150000);
		CHECK(!got.ncalls && !got.nactivities && !got.nstatuses && !got.nhellos && !fake.log[0]);
		CHECK(!worker__armed());
		fflush(stdout);
		exit(t_bad ? 99 : 0);
	}
	waitpid(p, &status, 0);
	CHECKF(WIFEXITED(status) && WEXITSTATUS(status) == 0, "0x%x", status);
	fake_launch("kernel", now_ns());
	began = now_ns();
	detach_hello();
	CHECK(wait_for(said_disarmed));
	CHECK(now_ns() - began < 1000000000ull);
	came = got.ncalls;
	CHECKF(came == 2 && got.nactivities == 2, "%zu calls, %zu records", came, got.nactivities);
	detach();
}

T(a_forked_child_is_inert)
{
	good(forks);
}

/* Made without fork(): no handler ran, and its exit must not wait for a worker that is its parent's. */
static void clones(void)
{
	uint64_t began;
	int status;
	pid_t p;

	attach();
	InitializeInjection();
	emit__hook = say_status;
	began = now_ns();
	p = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (p == 0) {
		emit__hook = NULL;
		exit(0);
	}
	waitpid(p, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK(now_ns() - began < 400000000);
}

T(a_cloned_child_is_inert)
{
	char said[256];

#ifdef __SANITIZE_THREAD__
	SKIP("ThreadSanitizer that survives a bare clone()");
#endif
	CHECK(in_child(clones, said, sizeof(said)) == 0);
	CHECKF(!strcmp(said, "disarmed 2, 0 calls, 0 records"), "%s", said);
}

static _Atomic bool stop;

static void *launch_until_stopped(void *arg)
{
	while (!atomic_load(&stop))
		fake_launch(arg, now_ns());
	return NULL;
}

static bool matched(void)
{
	size_t calls = 0, unmatched = 0;
	uint32_t high = atomic_load(&fake.correlation) + 1;
	unsigned char *seen = calloc(high, 1);

	for (size_t i = 0; i < got.nactivities; i++)
		seen[got.activities[i].correlation] = 1;
	for (size_t i = 0; i < got.ncalls; i++) {
		calls++;
		unmatched += !seen[got.calls[i].correlation];
	}
	free(seen);
	if (unmatched)
		printf("# %zu of %zu calls have no record\n", unmatched, calls);
	return !unmatched;
}

/* Eight threads launch without a pause while recorders come and go: each call of a session has its record. */
static void arms_under_load(void)
{
	pthread_t t[8];

	InitializeInjection();
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, launch_until_stopped, "kernel");
	for (int i = 0; i < 4; i++) {
		struct gpubpf_status s;

		got_begin();
		attach();
		CHECK(got_in_time(GPUBPF_STATUS_ARMED, LONG_MS));
		usleep(50000);
		detach_hello();
		CHECK(wait_for(said_disarmed));
		CHECK(wait_for(is_off));
		CHECK(!got.after_disarmed);
		CHECKF(got.ncalls > 100, "%zu calls", got.ncalls);
		s = got_status(GPUBPF_STATUS_COUNTS, GPUBPF_PROBE_CALLS);
		CHECKF(s.b == got.ncalls, "handed over %llu, came %zu", s.b, got.ncalls);
		s = got_status(GPUBPF_STATUS_COUNTS, GPUBPF_PROBE_ACTIVITY);
		CHECKF(s.a == got.nactivities && s.a == s.b, "made %llu, handed over %llu, came %zu", s.a,
		       s.b, got.nactivities);
		if (!got_status(GPUBPF_STATUS_LOSS, GPUBPF_LOSS_NO_BUFFER).a)
			CHECK(matched());
		detach();
		usleep(60000);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
}

T(sessions_under_load)
{
	good(arms_under_load);
}

TEST_MAIN
