/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the shim does to CUPTI and what it hands over, in one thread that owns CUPTI; the worker is another test. */
#include "batch.h"
#include "buffers.h"
#include "crc32c.h"
#include "modules.h"
#include "phase.h"
#include "shim_fake.h"

#define TID 4711

static bool arm(void)
{
	fake_begin();
	attach();
	guard__own();
	return session__arm(GPUBPF_ARMED_ATTACH, TID);
}

static void disarm(void)
{
	detach_hello();
	session__disarm(SESSION_ASKED);
	detach();
}

static size_t count_statuses(enum gpubpf_status_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < got.nstatuses; i++)
		n += got.statuses[i].kind == kind;
	return n;
}

/* Under user-mode emulation it is 0. */
static unsigned long long start_time_as_proc_says(void)
{
	FILE *f = fopen("/proc/self/stat", "r");
	unsigned long long t = 0;

	if (!f ||
	    fscanf(f,
		   "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		   &t) != 1)
		t = 0;
	if (f)
		fclose(f);
	return t;
}

/* The subscription first, times before the first enable, kinds last; the way back in reverse. Times once per process. */
T(order_of_arming)
{
	struct gpubpf_status s;

	CHECK(arm());
	CHECKF(!strcmp(fake.log, "subscribe timestamp buffers calls +10 +1 +22 +2 "), "%s", fake.log);
	CHECK(phase__of(phase__word()) == PHASE_ON);
	CHECK(got.nhellos == 1 && got.hello.worker_tid == TID && got.hello.pid == (__u32)getpid());
	session__announce(TID);
	CHECK(got.nhellos == 2 && got.hello.time_source == GPUBPF_TIME_MONOTONIC &&
	      got.hello.arming == GPUBPF_ARMED_ATTACH && got.hello.cupti_version == CUPTI_SINCE_13_0 &&
	      !strcmp(got.hello.cupti_path, "/fake/libcupti.so"));
	CHECK(got.hello.build_id[0] + got.hello.build_id[1] + got.hello.build_id[2]);
	CHECK(got.hello.start_time == start_time_as_proc_says());
	s = got_status(GPUBPF_STATUS_ARMED, -1);
	CHECK(s.kind && s.a && s.a <= s.time && s.session == got.hello.session);
	s = got_status(GPUBPF_STATUS_CLOCK, -1);
	CHECK(s.a && s.b && s.c + s.e >= s.a && s.d && s.e < 1000000);
	CHECK(got_status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_KERNEL).kind &&
	      got_status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_CALLBACKS).kind);
	fake.log[0] = 0;
	disarm();
	CHECKF(!strcmp(fake.log, "no-calls -2 -22 -1 -10 unsubscribe "), "%s", fake.log);
	CHECK(got_disarmed() && got_status(GPUBPF_STATUS_DISARMED, -1).code == GPUBPF_DISARM_ASKED);
	CHECK(arm());
	CHECKF(!strcmp(fake.log, "subscribe buffers calls +10 +1 +22 +2 "), "%s", fake.log);
	disarm();
}

/* C22, R5: who came first keeps his records. Nothing is registered, nothing enabled, and it is said why. */
T(second_subscriber)
{
	struct gpubpf_status s;

	fake_begin();
	fake.subscribe = ABI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	attach();
	guard__own();
	CHECK(!session__arm(GPUBPF_ARMED_ATTACH, TID));
	CHECKF(!strcmp(fake.log, "subscribe "), "%s", fake.log);
	s = got_status(GPUBPF_STATUS_FAILED, -1);
	CHECK(s.code == GPUBPF_REASON_SECOND_SUBSCRIBER &&
	      s.value == ABI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	CHECK(got_status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_SUBSCRIBE).value == s.value);
	CHECK(phase__of(phase__word()) == PHASE_OFF && !got_status(GPUBPF_STATUS_ARMED, -1).kind);
	/* For a recorder that comes later. */
	got_begin();
	session__second(TID);
	CHECK(got.nhellos == 1 && got.hello.time_source == 0);
	CHECK(got_status(GPUBPF_STATUS_FAILED, -1).code == GPUBPF_REASON_SECOND_SUBSCRIBER);
	CHECK(!count_statuses(GPUBPF_STATUS_CLOCK));
}

T(refused_kind)
{
	fake_begin();
	fake.refused_kind = ABI_ACTIVITY_KIND_MEMSET;
	fake.enable = ABI_ERROR_INSUFFICIENT_PRIVILEGES;
	attach();
	guard__own();
	CHECK(!session__arm(GPUBPF_ARMED_ATTACH, TID));
	CHECKF(strstr(fake.log, "+2 -22 -1 -10 unsubscribe ") != NULL, "%s", fake.log);
	CHECK(!fake.subscribed && !fake.kinds);
	CHECK(got_status(GPUBPF_STATUS_FAILED, -1).code == GPUBPF_REASON_NOT_PERMITTED);
	CHECK(got_status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_SET).value ==
	      ABI_ERROR_INSUFFICIENT_PRIVILEGES);
	/* One that is not required is said and left out. */
	fake_begin();
	fake.refused_kind = ABI_ACTIVITY_KIND_MEMCPY2;
	fake.enable = ABI_ERROR_NOT_SUPPORTED;
	CHECK(session__arm(GPUBPF_ARMED_ATTACH, TID));
	CHECK(got_status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_COPY_PEER).value == ABI_ERROR_NOT_SUPPORTED);
	fake.log[0] = 0;
	disarm();
	CHECKF(!strcmp(fake.log, "no-calls -2 -1 -10 unsubscribe "), "%s", fake.log);
}

static bool counts_are(enum gpubpf_probe p, __u64 made, __u64 handed)
{
	struct gpubpf_status s = got_status(GPUBPF_STATUS_COUNTS, (int)p);

	if (s.kind && s.a == made && s.b == handed)
		return true;
	printf("# probe %d: made %llu, handed over %llu\n", (int)p, s.a, s.b);
	return false;
}

T(launches_and_their_records)
{
	enum { N = 5000 };
	size_t matched = 0;

	CHECK(arm());
	for (int i = 0; i < N; i++) {
		fake_launch(i % 2 ? "one" : "another", now_ns());
		if (i % 1000 == 0)
			session__tick();
	}
	disarm();
	CHECKF(got.ncalls == N && got.nactivities == N, "%zu calls, %zu records", got.ncalls,
	       got.nactivities);
	for (size_t i = 0; i < got.ncalls && i < got.nactivities; i++)
		matched += got.calls[i].correlation == got.activities[i].correlation &&
			   got.calls[i].start <= got.activities[i].start &&
			   got.calls[i].end >= got.calls[i].start &&
			   got.calls[i].work == GPUBPF_WORK_LAUNCH &&
			   got.calls[i].domain == GPUBPF_DOMAIN_DRIVER;
	CHECKF(matched == N, "%zu match", matched);
	CHECK(got.nnames == 2 && !strcmp(got.names[0].text, "another") && !strcmp(got.names[1].text, "one"));
	CHECK(counts_are(GPUBPF_PROBE_CALLS, N, N) && counts_are(GPUBPF_PROBE_ACTIVITY, N, N) &&
	      counts_are(GPUBPF_PROBE_NAMES, 2, 2));
	CHECK(!count_statuses(GPUBPF_STATUS_LOSS) && !got.after_disarmed);
	/* 64 to a hit, 128 calls: not one hit each. */
	CHECKF(got.hits[GPUBPF_PROBE_ACTIVITY] <= N / 64 + 10 && got.hits[GPUBPF_PROBE_CALLS] <= N / 128 + 10,
	       "%zu and %zu hits", got.hits[GPUBPF_PROBE_ACTIVITY], got.hits[GPUBPF_PROBE_CALLS]);
}

/* CUPTI asks five times in a row when it matches the clocks, and once at other times. */
T(C18_questions_that_lie_together_are_a_match)
{
	struct clock_match last, before;
	uint64_t first = 0;

	for (int round = 0; round < 2; round++) {
		uint64_t began;

		clock__timestamp();
		usleep(1000);
		began = now_ns();
		for (int i = 0; i < 5; i++)
			clock__timestamp();
		CHECK(clock__matches(&last, &before));
		CHECK(last.time >= began && last.time <= now_ns() && last.gap <= (last.time - began) / 4 + 1);
		if (round)
			CHECKF(before.time == first, "%lu, not %lu", (unsigned long)before.time,
			       (unsigned long)first);
		first = last.time;
		usleep(1000);
	}
	usleep(1000);
	clock__timestamp();
	CHECK(clock__matches(&last, &before) && last.time == first);
}

/* R4: a sparse stream waits for no full buffer, once the clocks are matched. */
T(one_launch_does_not_wait)
{
	CHECK(arm());
	usleep(1010000);
	fake_launch("one", now_ns());
	session__tick();
	CHECK(got.ncalls == 1 && got.nactivities == 1 && got.nnames == 1);
	disarm();
}

static uint32_t during_flush;
static cupti_result (*flush_itself)(uint32_t);

/* The application goes on while the end is under way. */
static cupti_result launching_flush(uint32_t flag)
{
	during_flush++;
	fake_record(atomic_fetch_add(&fake.correlation, 1) + 1, "later", now_ns());
	return flush_itself(flag);
}

T(nothing_of_after_the_end)
{
	uint32_t last = 0;

	CHECK(arm());
	for (int i = 0; i < 10; i++)
		last = fake_launch("one", now_ns());
	flush_itself = session__cupti()->activity_flush_all;
	session__cupti()->activity_flush_all = launching_flush;
	disarm();
	CHECK(during_flush);
	CHECKF(got.nactivities == 10 && got.activities[9].correlation == last, "%zu records",
	       got.nactivities);
	CHECK(counts_are(GPUBPF_PROBE_ACTIVITY, 10, 10));
	CHECK(got_status(GPUBPF_STATUS_DISARMED, -1).code == GPUBPF_DISARM_ASKED);
	CHECK(got_status(GPUBPF_STATUS_DISARMED, -1).a <= got_status(GPUBPF_STATUS_DISARMED, -1).time);
}

/* A kernel that outlives the deadline is reported as running, and no record says that it ended at 0. */
T(running_at_the_end)
{
	uint64_t began, took;

	CHECK(arm());
	fake_launch("one", now_ns());
	session__tick();
	fake_launch("long", FAKE_RUNNING);
	began = now_ns();
	disarm();
	took = now_ns() - began;
	CHECKF(took > 1900000000 && took < 2600000000, "it took %llu ms", (unsigned long long)took / 1000000);
	CHECK(got.nactivities == 1 && got.ncalls == 2);
	CHECK(got_status(GPUBPF_STATUS_LOSS, GPUBPF_LOSS_IN_FLIGHT).a == 1);
	CHECK(got_status(GPUBPF_STATUS_DISARMED, -1).code == GPUBPF_DISARM_LATE);
}

static void *end_it(void *arg)
{
	usleep(300000);
	pthread_mutex_lock(&fake.lock);
	((struct cupti_kernel *)arg)->end = now_ns();
	pthread_mutex_unlock(&fake.lock);
	return NULL;
}

T(running_work_is_awaited)
{
	pthread_t t;
	uint64_t began, took;

	CHECK(arm());
	fake_launch("long", FAKE_RUNNING);
	pthread_create(&t, NULL, end_it, fake.buffer);
	began = now_ns();
	disarm();
	took = now_ns() - began;
	pthread_join(t, NULL);
	CHECKF(took > 200000000 && took < 1500000000, "it took %llu ms", (unsigned long long)took / 1000000);
	CHECK(got.nactivities == 1 && got.activities[0].end);
	CHECK(got_status(GPUBPF_STATUS_DISARMED, -1).code == GPUBPF_DISARM_ASKED);
}

/* A call without a record, as one that was captured into a graph: no deadline is waited out for it. */
T(captured_calls_do_not_hold_up_the_end)
{
	uint64_t began, took, data = 0;
	int result = 0;

	CHECK(arm());
	fake_call(ABI_API_ENTER, ABI_CBID_cuLaunchKernel, 1u << 30, &data, &result);
	fake_call(ABI_API_EXIT, ABI_CBID_cuLaunchKernel, 1u << 30, &data, &result);
	began = now_ns();
	disarm();
	took = now_ns() - began;
	CHECKF(took < 500000000, "it took %llu ms", (unsigned long long)took / 1000000);
	CHECK(got.ncalls == 1 && got_status(GPUBPF_STATUS_DISARMED, -1).code == GPUBPF_DISARM_ASKED);
}

/* The same while CUPTI keeps a buffer in which no record is: it may do so for ever. */
T(an_empty_buffer_does_not_hold_up_the_end)
{
	uint64_t began, took, data = 0;
	int result = 0;

	CHECK(arm());
	fake.keeps_empty = true;
	for (int i = 0; i < 4; i++) { /* also one that had records in it before */
		fake_launch("one", now_ns());
		session__tick();
		CHECK(fake.buffer && !fake.used && buffers__held() && !buffers__begun(buffers__held()));
	}
	fake_call(ABI_API_ENTER, ABI_CBID_cuLaunchKernel, 1u << 30, &data, &result);
	fake_call(ABI_API_EXIT, ABI_CBID_cuLaunchKernel, 1u << 30, &data, &result);
	began = now_ns();
	disarm();
	took = now_ns() - began;
	CHECKF(took < 1000000000, "it took %llu ms", (unsigned long long)took / 1000000);
	CHECK(got_status(GPUBPF_STATUS_DISARMED, -1).code == GPUBPF_DISARM_ASKED && !buffers__held());
	CHECK(arm());
	fake.keeps_empty = false;
	fake_launch("one", now_ns());
	CHECK(buffers__begun(buffers__held()) == buffers__held());
	disarm();
	CHECK(got.nactivities == 1);
}

T(open_at_the_end)
{
	uint64_t data = 0;
	int result = 0;

	CHECK(arm());
	fake_call(ABI_API_ENTER, ABI_CBID_cuStreamSynchronize, 12345, &data, &result);
	disarm();
	CHECK(got.ncalls == 1 && got.calls[0].flags == GPUBPF_SHIM_CALL_NO_END &&
	      got.calls[0].correlation == 12345);
	/* Its end comes in the next session, which did not see it begin. */
	CHECK(arm());
	fake_call(ABI_API_EXIT, ABI_CBID_cuStreamSynchronize, 12345, &data, &result);
	disarm();
	CHECK(got.ncalls == 0);
}

/* An exit whose entry another client's, or no, callback saw: CUPTI's word for it holds anything. */
T(exit_without_entry)
{
	uint64_t data;
	int result = 0;

	CHECK(arm());
	data = 0;
	fake_call(ABI_API_EXIT, ABI_CBID_cuLaunchKernel, 1, &data, &result);
	data = ~0ull;
	fake_call(ABI_API_EXIT, ABI_CBID_cuLaunchKernel, 2, &data, &result);
	disarm();
	CHECK(got.ncalls == 0);
}

T(failed_calls)
{
	uint64_t data = 0;
	int result = 700;

	CHECK(arm());
	fake_call(ABI_API_ENTER, ABI_CBID_cuLaunchKernel, 99, &data, &result);
	fake_call(ABI_API_EXIT, ABI_CBID_cuLaunchKernel, 99, &data, &result);
	disarm();
	CHECK(got.ncalls == 1 && got.calls[0].result == 700);
}

/* The recorder died: off at once, without a word, and the counters of the next session are its own. */
T(dead_recorder)
{
	CHECK(arm());
	for (int i = 0; i < 100; i++)
		fake_launch("one", now_ns());
	detach();
	got_begin();
	session__disarm(SESSION_DEAD);
	CHECK(!fake.subscribed && !fake.kinds && phase__of(phase__word()) == PHASE_OFF);
	CHECK(!got.nstatuses && !got.ncalls && !got.nactivities);
	CHECK(arm());
	fake_launch("one", now_ns());
	disarm();
	CHECK(counts_are(GPUBPF_PROBE_CALLS, 1, 1) && counts_are(GPUBPF_PROBE_ACTIVITY, 1, 1));
	CHECK(got.nnames == 1);
}

/* C6: a recorder that comes while another is there sees no semaphore rise: names go out again, slowly. */
T(names_for_a_late_recorder)
{
	static char names[100][32];
	size_t first;

	CHECK(arm());
	for (int i = 0; i < 100; i++) {
		snprintf(names[i], sizeof(names[i]), "kernel %d", i);
		fake_launch(names[i], now_ns());
		session__tick();
	}
	first = got.nnames;
	CHECKF(first == 100, "%zu names", first);
	got_begin();
	for (int i = 0; i < 20; i++)
		session__second(TID);
	CHECKF(got.nnames >= 100 && got.nnames <= 200, "%zu names", got.nnames);
	CHECK(got.nhellos == 20 && got.hits[GPUBPF_PROBE_NAMES] <= 10);
	CHECK(got_status(GPUBPF_STATUS_ARMED, -1).kind);
	disarm();
}

static void module(uint32_t cbid, uint32_t id, const char *cubin, size_t n)
{
	struct cupti_module_data d = { .module_id = id, .cubin_size = n, .cubin = cubin };
	struct cupti_resource_data r = { .descriptor = &d };

	fake.callback(NULL, ABI_CB_DOMAIN_RESOURCE, cbid, &r);
}

T(modules)
{
	static char cubin[3 << 20];
	uint32_t crc;
	uint64_t data = 0;
	int result = 0;

	for (size_t i = 0; i < sizeof(cubin); i++)
		cubin[i] = (char)(i * 7 + i / 1000);
	crc = shim_crc32c(0, cubin, sizeof(cubin));
	CHECK(arm());
	fake_call(ABI_API_ENTER, 20, 1, &data, &result); /* cuModuleLoadDataEx */
	module(ABI_CBID_RESOURCE_MODULE_LOADED, 5, cubin, sizeof(cubin));
	fake_call(ABI_API_EXIT, 20, 1, &data, &result);
	/* CUPTI's bytes are gone when the callback returns. */
	memset(cubin, 0, sizeof(cubin));
	CHECK(got.nmodules == 0);
	session__tick();
	CHECK(got.nmodules == 1 && got.modules[0].crc == crc && got.modules[0].id == 5 &&
	      got.modules[0].bytes == sizeof(cubin) && !got.modules[0].flags);
	CHECK(got.modules[0].start && got.modules[0].start <= got.modules[0].end);
	CHECK(got.ncalls == 0);
	/* More than the pool holds: said, without a checksum. */
	got_begin();
	for (uint32_t i = 0; i < 20; i++)
		module(ABI_CBID_RESOURCE_MODULE_LOADED, i, cubin, sizeof(cubin));
	module(ABI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, 5, NULL, 0);
	session__tick();
	CHECK(got.nmodules == 21);
	CHECK(got.modules[9].flags == 0 && got.modules[19].flags == GPUBPF_MODULE_NO_CRC);
	CHECK(got.modules[20].flags == GPUBPF_MODULE_UNLOADED && got.modules[19].start == 0);
	/* More than there are entries: counted. And the pool is whole again. */
	got_begin();
	for (uint32_t i = 0; i < 300; i++)
		module(ABI_CBID_RESOURCE_MODULE_LOADED, i, cubin, 100);
	session__tick();
	CHECKF(got.nmodules == 256 && !got.modules[255].flags, "%zu", got.nmodules);
	disarm();
	CHECK(got_status(GPUBPF_STATUS_LOSS, GPUBPF_LOSS_MODULES).a == 44);
	CHECK(counts_are(GPUBPF_PROBE_MODULES, 1 + 21 + 300, 1 + 21 + 256));
}

#define WRAP_BYTES (900 << 10)

static void *load_many(void *arg)
{
	static char cubin[WRAP_BYTES];

	for (uint32_t i = 0; i < 1200; i++) {
		memset(cubin, (int)i, sizeof(cubin));
		module(ABI_CBID_RESOURCE_MODULE_LOADED, i, cubin,
		       i % 3 ? sizeof(cubin) / 3 - i : sizeof(cubin));
		usleep(100);
	}
	atomic_store((_Atomic bool *)arg, true);
	return NULL;
}

/* Copies that wrap around the end of the pool, while others wait in it, keep their bytes. */
T(modules_wrap)
{
	static char cubin[WRAP_BYTES];
	size_t bad = 0, without = 0;
	_Atomic bool done = false;
	pthread_t t;

	CHECK(arm());
	pthread_create(&t, NULL, load_many, &done);
	while (!atomic_load(&done)) {
		usleep(15000);
		modules__send();
	}
	pthread_join(t, NULL);
	modules__send();
	for (size_t i = 0; i < got.nmodules; i++) {
		const struct gpubpf_module *m = &got.modules[i];

		memset(cubin, (int)m->id, sizeof(cubin));
		if (m->flags)
			without++;
		else
			bad += m->crc != shim_crc32c(0, cubin, m->bytes);
	}
	CHECKF(got.nmodules + modules__lost() == 1200 && !bad && got.nmodules > without + 50,
	       "%zu of %zu have another checksum, %zu none", bad, got.nmodules, without);
	disarm();
}

/* C21: never NULL, never more memory; what is thrown away is counted. */
T(no_buffers_left)
{
	uint8_t *b[BUFFERS + 100];
	size_t size, max;

	CHECK(arm());
	for (int i = 0; i < BUFFERS + 100; i++) {
		buffers__requested(&b[i], &size, &max);
		CHECK(b[i] && size && !max);
		memset(b[i], 0, 4096);
	}
	CHECK(buffers__unserved() == 100 && buffers__held() == ~0ull);
	for (int i = 0; i < BUFFERS + 100; i++)
		buffers__completed(NULL, 0, b[i], size, 0);
	CHECK(buffers__held() == 0);
	buffers__requested(&b[0], &size, &max);
	CHECK(size == BUFFER_BYTES && buffers__held() == 1);
	buffers__completed(NULL, 0, b[0], size, 0);
	fake_launch("one", now_ns());
	disarm();
	CHECK(got.nactivities == 1);
	CHECK(got_status(GPUBPF_STATUS_LOSS, GPUBPF_LOSS_NO_BUFFER).a == 100);
}

T(flush_fails)
{
	CHECK(arm());
	fake.flush = ABI_ERROR_UNKNOWN;
	for (int i = 0; i < 3; i++)
		session__tick();
	CHECK(count_statuses(GPUBPF_STATUS_CUPTI_ERROR) == 1);
	CHECK(got_status(GPUBPF_STATUS_CUPTI_ERROR, GPUBPF_FACILITY_FLUSH).value == ABI_ERROR_UNKNOWN);
	disarm();
}

TEST_MAIN
