/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of many threads on their way out: each once, by whoever hands it over, over ends of threads and sessions. */
#include <sys/syscall.h>

#include "batch.h"
#include "phase.h"
#include "shim_fake.h"

#define THREADS 8

static void begin(uint32_t session)
{
	got_begin();
	CHECK(batch__map() == 0);
	emit__begin();
	batch__begin();
	atomic_store(&shim_began, 1);
	phase__set(session, PHASE_ON);
}

static void end(uint32_t session)
{
	phase__set(session, PHASE_OFF);
	batch__finish(session);
}

static bool one_call(uint32_t correlation, uint64_t start)
{
	uint32_t word = phase__word();
	struct batch *b = batch__mine();

	if (phase__of(word) == PHASE_OFF)
		return false;
	if (!b) {
		batch__lost_here();
		emit__lost(GPUBPF_PROBE_CALLS, 1);
		return true;
	}
	batch__open(b, start, correlation, ABI_CBID_cuLaunchKernel, GPUBPF_WORK_LAUNCH);
	batch__close(b, word,
		     &(struct gpubpf_shim_call){ .start = start,
						 .end = start + 1,
						 .correlation = correlation,
						 .work = GPUBPF_WORK_LAUNCH,
						 .session = phase__session(word) });
	return true;
}

static _Atomic uint32_t next_id;

static void *call_some(void *arg)
{
	for (long i = 0; i < (long)(intptr_t)arg; i++)
		one_call(atomic_fetch_add(&next_id, 1), 1);
	return NULL;
}

static _Atomic bool stop;

static void *call_until_stopped(void *arg)
{
	(void)arg;
	while (!atomic_load(&stop)) {
		if (phase__of(phase__word()) == PHASE_OFF)
			usleep(100);
		else
			one_call(atomic_fetch_add(&next_id, 1), 1);
	}
	return NULL;
}

static void *collect_until_stopped(void *arg)
{
	(void)arg;
	while (!atomic_load(&stop)) {
		batch__collect();
		usleep(500);
	}
	return NULL;
}

/* How many ids below n came once, and how many more than once. */
static void count_ids(uint32_t n, size_t *once, size_t *more)
{
	unsigned char *seen = calloc(n, 1);

	*once = *more = 0;
	for (size_t i = 0; i < got.ncalls; i++) {
		if (got.calls[i].correlation < n && seen[got.calls[i].correlation] < 2)
			seen[got.calls[i].correlation]++;
	}
	for (uint32_t i = 0; i < n; i++) {
		*once += seen[i] == 1;
		*more += seen[i] > 1;
	}
	free(seen);
}

static void run(void *(*fn)(void *), void *arg, pthread_t *t, int n)
{
	for (int i = 0; i < n; i++)
		pthread_create(&t[i], NULL, fn, arg);
}

static void join(pthread_t *t, int n)
{
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

/* C28: each call to its own thread, and none twice; the worker takes what has waited meanwhile. */
T(each_call_once)
{
	pthread_t t[THREADS], worker;
	struct emit_counts n;
	struct batch_totals totals;
	size_t once, more;
	__u64 first, before;

	begin(1);
	before = got.sequences[GPUBPF_PROBE_CALLS];
	first = got.next_sequence[GPUBPF_PROBE_CALLS];
	atomic_store(&stop, false);
	atomic_store(&next_id, 0);
	run(collect_until_stopped, NULL, &worker, 1);
	run(call_some, (void *)(intptr_t)20000, t, THREADS);
	join(t, THREADS);
	atomic_store(&stop, true);
	join(&worker, 1);
	end(1);
	batch__totals(&totals);
	count_ids(THREADS * 20000, &once, &more);
	CHECKF(once + totals.lost == THREADS * 20000 && !more, "%zu once, %zu more than once, %llu lost",
	       once, more, (unsigned long long)totals.lost);
	n = emit__counts(GPUBPF_PROBE_CALLS);
	CHECKF(n.made == THREADS * 20000 && n.handed == got.ncalls && n.made - n.handed == totals.lost,
	       "made %llu, handed %llu, came %zu, lost %llu", n.made, n.handed, got.ncalls,
	       (unsigned long long)totals.lost);
	CHECK(totals.device == THREADS * 20000);
	/* Sequences are without a gap: their number and their sum say so. */
	n.handed = got.next_sequence[GPUBPF_PROBE_CALLS] - first;
	CHECKF(n.handed == got.hits[GPUBPF_PROBE_CALLS], "%llu numbers, %zu hits", n.handed,
	       got.hits[GPUBPF_PROBE_CALLS]);
	CHECK(got.sequences[GPUBPF_PROBE_CALLS] - before == n.handed * first + n.handed * (n.handed - 1) / 2);
}

static void *call_and_say_tid(void *arg)
{
	one_call(*(uint32_t *)arg, 1);
	*(uint32_t *)arg = (uint32_t)syscall(SYS_gettid);
	return NULL;
}

T(calls_carry_their_thread)
{
	uint32_t id[2] = { 0, 1 };
	pthread_t t;

	begin(2);
	for (int i = 0; i < 2; i++) {
		run(call_and_say_tid, &id[i], &t, 1);
		join(&t, 1);
	}
	end(2);
	CHECK(got.ncalls == 2);
	for (size_t i = 0; i < got.ncalls; i++)
		CHECKF(got.calls[i].tid == id[got.calls[i].correlation], "call %u has thread %u",
		       got.calls[i].correlation, got.calls[i].tid);
}

/* A thread that goes leaves its calls behind, and its ring to the next. */
T(threads_come_and_go)
{
	size_t once, more, rounds = 4 * BATCH_THREADS / THREADS;
	struct batch_totals totals;

	begin(3);
	atomic_store(&next_id, 0);
	for (size_t i = 0; i < rounds; i++) {
		pthread_t t[THREADS];

		run(call_some, (void *)(intptr_t)3, t, THREADS);
		join(t, THREADS);
		if (i % 8 == 7)
			batch__collect();
	}
	end(3);
	batch__totals(&totals);
	count_ids((uint32_t)(rounds * THREADS * 3), &once, &more);
	CHECKF(once == rounds * THREADS * 3 && !more && !totals.lost, "%zu of %zu once, %zu more, %llu lost",
	       once, rounds * THREADS * 3, more, (unsigned long long)totals.lost);
	CHECK(totals.device == rounds * THREADS * 3);
}

static pthread_barrier_t together;

static void *call_and_wait(void *arg)
{
	call_some(arg);
	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together);
	return NULL;
}

/* More threads at once than there are rings: what they call is counted as lost. */
T(more_threads_than_rings)
{
	enum { N = BATCH_THREADS + 20 };
	static pthread_t t[N];
	pthread_attr_t small;
	struct batch_totals totals;
	struct emit_counts n;

	begin(4);
	atomic_store(&next_id, 0);
	pthread_barrier_init(&together, NULL, N + 1);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 128 << 10);
	for (int i = 0; i < N; i++)
		CHECK(pthread_create(&t[i], &small, call_and_wait, (void *)(intptr_t)1) == 0);
	pthread_barrier_wait(&together);
	end(4);
	pthread_barrier_wait(&together);
	join(t, N);
	pthread_attr_destroy(&small);
	batch__totals(&totals);
	n = emit__counts(GPUBPF_PROBE_CALLS);
	CHECKF(got.ncalls == BATCH_THREADS && totals.lost == 20, "%zu came, %llu lost", got.ncalls,
	       (unsigned long long)totals.lost);
	CHECK(n.made == N && n.handed == BATCH_THREADS);
}

/* Whatever threads are at when a session ends: nothing comes after the end, nothing twice, nothing into the next. */
T(ends_while_threads_call)
{
	pthread_t t[THREADS];

	atomic_store(&stop, false);
	atomic_store(&next_id, 0);
	begin(5);
	run(call_until_stopped, NULL, t, THREADS);
	for (uint32_t session = 5; session < 45; session++) {
		size_t came, once, more;
		struct emit_counts n;
		struct batch_totals totals;

		if (session > 5)
			begin(session);
		usleep(1000);
		end(session);
		batch__totals(&totals);
		n = emit__counts(GPUBPF_PROBE_CALLS);
		pthread_mutex_lock(&got.lock);
		came = got.ncalls;
		pthread_mutex_unlock(&got.lock);
		CHECKF(n.handed == came, "session %u: handed %llu, came %zu", session, n.handed, came);
		usleep(1000);
		CHECK(got.ncalls == came);
		count_ids(atomic_load(&next_id), &once, &more);
		CHECKF(!more && once == came, "session %u: %zu came, %zu once, %zu more", session, came, once,
		       more);
		for (size_t i = 0; i < came; i++) {
			if (got.calls[i].session != session) {
				CHECKF(0, "a call of session %u in session %u", got.calls[i].session,
				       session);
				break;
			}
		}
	}
	atomic_store(&stop, true);
	join(t, THREADS);
}

static void *open_and_wait(void *arg)
{
	struct batch *b = batch__mine();

	one_call(100, 5);
	batch__open(b, 6, 101, ABI_CBID_cuStreamSynchronize, GPUBPF_WORK_SYNC);
	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together);
	(void)arg;
	return NULL;
}

T(a_call_that_is_open_at_the_end)
{
	pthread_t t;
	uint32_t last;

	begin(50);
	pthread_barrier_init(&together, NULL, 2);
	run(open_and_wait, NULL, &t, 1);
	pthread_barrier_wait(&together);
	CHECK(!batch__open_device_call());
	CHECK(batch__last_correlation(&last) && last == 101);
	end(50);
	pthread_barrier_wait(&together);
	join(&t, 1);
	CHECK(got.ncalls == 2);
	CHECK(got.calls[0].correlation == 100 && !got.calls[0].flags);
	CHECK(got.calls[1].correlation == 101 && got.calls[1].flags == GPUBPF_SHIM_CALL_NO_END &&
	      got.calls[1].start == 6 && !got.calls[1].end && got.calls[1].work == GPUBPF_WORK_SYNC &&
	      got.calls[1].cbid == ABI_CBID_cuStreamSynchronize && got.calls[1].tid);
	/* Not again in the next. */
	begin(51);
	end(51);
	CHECK(got.ncalls == 0);
}

/* The moment between the ring and the word that no call is open, as a preempted thread leaves it. */
T(ended_but_still_said_to_be_open)
{
	struct batch *b;

	begin(52);
	one_call(7, 5);
	b = batch__mine();
	atomic_store(&b->open_start, 5);
	end(52);
	atomic_store(&b->open_start, 0);
	CHECK(got.ncalls == 1 && got.calls[0].correlation == 7 && !got.calls[0].flags);
}

/* Whoever has the claim is not running: a full ring loses calls, counts them, and goes on afterwards. */
T(full_ring)
{
	struct batch_totals totals;
	struct emit_counts n;
	struct batch *b;

	begin(53);
	b = batch__mine();
	atomic_store(&b->claim, 1);
	atomic_store(&next_id, 0);
	call_some((void *)(intptr_t)(BATCH_RING + 5));
	CHECK(got.ncalls == 0);
	atomic_store(&b->claim, 0);
	call_some((void *)(intptr_t)1);
	end(53);
	batch__totals(&totals);
	n = emit__counts(GPUBPF_PROBE_CALLS);
	CHECKF(got.ncalls == BATCH_RING + 1 && totals.lost == 5, "%zu came, %llu lost", got.ncalls,
	       (unsigned long long)totals.lost);
	CHECKF(n.made == BATCH_RING + 6 && n.handed == BATCH_RING + 1, "made %llu, handed %llu", n.made,
	       n.handed);
}

/* A thread that slept in its callback over the end of the session hands nothing over any more. */
T(late_hand_over)
{
	uint32_t word;
	struct batch *b;

	begin(54);
	b = batch__mine();
	word = phase__word();
	atomic_store(&b->claim, 1);
	call_some((void *)(intptr_t)BATCH_RING);
	phase__set(54, PHASE_OFF);
	atomic_store(&b->claim, 0);
	batch__close(b, word, &(struct gpubpf_shim_call){ .work = GPUBPF_WORK_LAUNCH, .session = 54 });
	CHECKF(got.ncalls == 0, "%zu", got.ncalls);
	begin(55);
	end(55);
	CHECKF(got.ncalls == 0, "%zu", got.ncalls);
}

/* The counter of correlation ids wraps. */
T(the_last_correlation)
{
	uint32_t last;

	begin(60);
	CHECK(!batch__last_correlation(&last));
	one_call(0xfffffffe, 1);
	CHECK(batch__last_correlation(&last) && last == 0xfffffffe);
	next_id = 0x10;
	pthread_t t;
	run(call_some, (void *)(intptr_t)1, &t, 1);
	join(&t, 1);
	CHECK(batch__last_correlation(&last) && last == 0x10);
	batch__collect();
	CHECK(batch__last_correlation(&last) && last == 0x10);
	end(60);
}

/* The session was over before the thread looked again: the record of that call is none of ours. */
T(the_last_correlation_is_not_of_a_call_that_was_withdrawn)
{
	struct batch *b = batch__mine();
	uint32_t last;

	begin(61);
	CHECK(b != NULL);
	batch__open(b, now_ns(), 7, 1, GPUBPF_WORK_LAUNCH);
	batch__withdraw(b);
	CHECK(!batch__last_correlation(&last));
	one_call(20, 1);
	batch__open(b, now_ns(), 21, 1, GPUBPF_WORK_LAUNCH);
	CHECK(batch__last_correlation(&last) && last == 21);
	batch__withdraw(b);
	CHECK(batch__last_correlation(&last) && last == 20);
	CHECK(batch__first_correlation(&last) && last == 20);
	end(61);
}

/* Nobody attached: nothing is kept, nothing has a number. */
T(discards_without_a_recorder)
{
	struct emit_counts n;
	__u64 next;

	begin(61);
	next = got.next_sequence[GPUBPF_PROBE_CALLS];
	detach();
	atomic_store(&next_id, 0);
	call_some((void *)(intptr_t)1000);
	batch__collect();
	attach();
	one_call(1000, 1);
	end(61);
	n = emit__counts(GPUBPF_PROBE_CALLS);
	CHECKF(n.made == 1001 && n.handed == 1 && got.ncalls == 1, "made %llu, handed %llu, came %zu", n.made,
	       n.handed, got.ncalls);
	CHECK(got.next_sequence[GPUBPF_PROBE_CALLS] == next + 1);
}

/* What callbacks take is that of the session: not of the one before, not of the worker's own collecting. */
T(callbacks_time_some_of_themselves)
{
	enum { N = 1000000 };
	struct batch_spent spent[GPUBPF_CALLBACKS];
	struct batch *b;

	begin(62);
	b = batch__mine();
	CHECK(b != NULL);
	batch__spent(b, GPUBPF_CALLBACK_MODULE, now_ns() - 5000000000);
	end(62);
	begin(63);
	batch__costs(spent);
	CHECK(!spent[GPUBPF_CALLBACK_MODULE].seen && !spent[GPUBPF_CALLBACK_MODULE].longest);
	for (int i = 0; i < N; i++) {
		batch__spent(b, GPUBPF_CALLBACK_ENTER, now_ns());
		/* every 128th takes long, as the one that hands over: about as many of the timed ones do */
		batch__spent(b, GPUBPF_CALLBACK_LEAVE, now_ns() - (i % 128 == 127 ? 128000000 : 0));
	}
	batch__spent(b, GPUBPF_CALLBACK_MODULE, now_ns() - 1000000);
	batch__costs(spent);
	for (int i = GPUBPF_CALLBACK_ENTER; i <= GPUBPF_CALLBACK_LEAVE; i++) {
		CHECKF(spent[i].seen == N, "%llu seen", (unsigned long long)spent[i].seen);
		CHECKF(spent[i].timed > N / 128 && spent[i].timed < N / 32, "%llu timed",
		       (unsigned long long)spent[i].timed);
		CHECK(spent[i].longest <= spent[i].ns);
	}
	/* 1 ms a call on average: within a factor of two, where a fixed distance gives 0 or 2 */
	CHECKF(spent[GPUBPF_CALLBACK_LEAVE].ns / spent[GPUBPF_CALLBACK_LEAVE].timed > 600000 &&
		       spent[GPUBPF_CALLBACK_LEAVE].ns / spent[GPUBPF_CALLBACK_LEAVE].timed < 1600000,
	       "%llu ns each",
	       (unsigned long long)(spent[GPUBPF_CALLBACK_LEAVE].ns / spent[GPUBPF_CALLBACK_LEAVE].timed));
	CHECK(spent[GPUBPF_CALLBACK_MODULE].seen == 1 && spent[GPUBPF_CALLBACK_MODULE].timed == 1 &&
	      spent[GPUBPF_CALLBACK_MODULE].ns >= 1000000);
	end(63);
}

int main(int argc, char **argv)
{
	attach();
	return t_main(argc, argv);
}
