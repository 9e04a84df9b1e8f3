// SPDX-License-Identifier: BSD-2-Clause
#include "batch.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "phase.h"

#define WORDS (BATCH_THREADS / 64)
/* The worker copies 5 KiB under a claim: only its preemption makes it longer than a few hundred turns. */
#define CLAIM_SPINS 200
#define CLAIM_YIELDS 20

_Atomic uint32_t shim_phase;
_Atomic uint64_t shim_began;

static struct batch *pool;
static _Atomic uint64_t used[WORDS];
static _Atomic unsigned high; /* rings below were a thread's at some time */
static _Atomic uint64_t lost_without_ring;
static pthread_key_t key;
static struct batch_spent base_spent[GPUBPF_CALLBACKS];
static struct batch_totals base; /* what the counters, which never go back, stood at when the session began */

static void thread_is_gone(void *arg)
{
	struct batch *b = arg;

	atomic_store_explicit(&b->retired, 1, memory_order_release);
}

int batch__map(void)
{
	void *p;
	int e;

	if (pool)
		return 0;
	/* Only what a thread comes to use is ever touched. */
	p = mmap(NULL, sizeof(*pool) * BATCH_THREADS, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return errno;
	e = pthread_key_create(&key, thread_is_gone);
	if (e) {
		munmap(p, sizeof(*pool) * BATCH_THREADS);
		return e;
	}
	pool = p;
	return 0;
}

static void raise_high(unsigned to)
{
	unsigned is = atomic_load(&high);

	while (is < to && !atomic_compare_exchange_weak(&high, &is, to))
		;
}

static struct batch *take(void)
{
	for (unsigned w = 0; w < WORDS; w++) {
		uint64_t bits = atomic_load_explicit(&used[w], memory_order_relaxed);

		while (~bits) {
			unsigned bit = (unsigned)__builtin_ctzll(~bits);

			/* Acquire: what the worker left in a ring that it gave back. */
			if (!atomic_compare_exchange_weak_explicit(&used[w], &bits, bits | 1ull << bit,
								   memory_order_acq_rel,
								   memory_order_relaxed))
				continue;
			raise_high(w * 64 + bit + 1);
			return &pool[w * 64 + bit];
		}
	}
	return NULL;
}

static void give_back(struct batch *b)
{
	size_t i = (size_t)(b - pool);

	atomic_store_explicit(&b->retired, 0, memory_order_relaxed);
	atomic_fetch_and_explicit(&used[i / 64], ~(1ull << i % 64), memory_order_acq_rel);
}

struct batch *batch__mine(void)
{
	struct batch *b = pthread_getspecific(key);

	if (__builtin_expect(b != NULL, 1))
		return b;
	b = take();
	if (!b)
		return NULL;
	b->tid = (uint32_t)syscall(SYS_gettid);
	b->load_start = 0;
	b->context = NULL;
	b->random = b->tid * 2654435769u;
	b->untimed = b->random >> 26;
	atomic_store_explicit(&b->open_start, 0, memory_order_relaxed);
	/* May allocate, once per thread; nothing that CUPTI or the driver does is waited for in there. */
	if (pthread_setspecific(key, b)) {
		give_back(b);
		return NULL;
	}
	return b;
}

void batch__lost_here(void)
{
	atomic_fetch_add_explicit(&lost_without_ring, 1, memory_order_relaxed);
}

/* A counter of which this thread is the only writer. */
static void add(_Atomic uint64_t *c)
{
	atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) + 1, memory_order_relaxed);
}

static bool claim(struct batch *b)
{
	return !atomic_load_explicit(&b->claim, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&b->claim, 1, memory_order_acquire);
}

static void release(struct batch *b)
{
	atomic_store_explicit(&b->claim, 0, memory_order_release);
}

static uint32_t waiting(const struct batch *b)
{
	return atomic_load_explicit(&b->head, memory_order_acquire) -
	       atomic_load_explicit(&b->tail, memory_order_relaxed);
}

/* The owner. False: another is at it. */
static bool hand_over(struct batch *b)
{
	if (!claim(b))
		return false;
	/* After the end of a session nothing follows its last status: batch__finish() had the claim before. */
	while (phase__of(phase__word()) != PHASE_OFF && waiting(b) >= BATCH_HIT) {
		uint32_t tail = atomic_load_explicit(&b->tail, memory_order_relaxed), at = tail % BATCH_RING;
		uint32_t n = BATCH_RING - at < BATCH_HIT ? BATCH_RING - at : BATCH_HIT;

		emit__hit(GPUBPF_PROBE_CALLS, &b->items[at], n);
		atomic_store_explicit(&b->tail, tail + n, memory_order_release);
	}
	release(b);
	return true;
}

static bool full(const struct batch *b)
{
	return atomic_load_explicit(&b->head, memory_order_relaxed) -
		       atomic_load_explicit(&b->tail, memory_order_acquire) >=
	       BATCH_RING;
}

/* The worker has the claim and will be done within microseconds unless it is not running: then the call is lost. */
static bool make_room(struct batch *b)
{
	for (int i = 0; i < CLAIM_SPINS + CLAIM_YIELDS; i++) {
		hand_over(b);
		if (!full(b))
			return true;
		if (i >= CLAIM_SPINS)
			sched_yield();
	}
	return false;
}

void batch__open(struct batch *b, uint64_t start, uint32_t correlation, uint32_t cbid, uint32_t work)
{
	b->correlation_before = atomic_load_explicit(&b->last_correlation, memory_order_relaxed);
	atomic_store_explicit(&b->last_correlation, correlation, memory_order_relaxed);
	if (!atomic_load_explicit(&b->has_correlation, memory_order_relaxed)) {
		atomic_store_explicit(&b->first_correlation, correlation, memory_order_relaxed);
		atomic_store_explicit(&b->has_correlation, 1, memory_order_release);
	}
	atomic_store_explicit(&b->open_what, cbid | work << 16, memory_order_relaxed);
	atomic_store_explicit(&b->open_start, start, memory_order_release);
}

/* Its record belongs to no call of the session, so it was not the last one, nor the first. */
void batch__withdraw(struct batch *b)
{
	if (atomic_load_explicit(&b->first_correlation, memory_order_relaxed) ==
	    atomic_load_explicit(&b->last_correlation, memory_order_relaxed))
		atomic_store_explicit(&b->has_correlation, 0, memory_order_relaxed);
	else
		atomic_store_explicit(&b->last_correlation, b->correlation_before, memory_order_relaxed);
	atomic_store_explicit(&b->open_start, 0, memory_order_release);
}

void batch__close(struct batch *b, uint32_t word, const struct gpubpf_shim_call *call)
{
	uint32_t head = atomic_load_explicit(&b->head, memory_order_relaxed);
	struct gpubpf_shim_call *slot = &b->items[head % BATCH_RING];

	if (call->result == 0)
		add(&b->done[call->work]);
	if (full(b) && !make_room(b)) {
		add(&b->lost);
		emit__lost(GPUBPF_PROBE_CALLS, 1);
		goto closed;
	}
	*slot = *call;
	slot->tid = b->tid;
	/* Asleep since the callback began, over the end of a session: its calls were counted without this one. */
	if (phase__session(phase__word()) != phase__session(word) || phase__of(phase__word()) == PHASE_OFF)
		goto closed;
	atomic_store_explicit(&b->head, head + 1, memory_order_release);
	/* After the ring and before the hit: empty_ring() says why. */
	atomic_store_explicit(&b->open_start, 0, memory_order_release);
	if (waiting(b) >= BATCH_HIT)
		hand_over(b);
	return;
closed:
	atomic_store_explicit(&b->open_start, 0, memory_order_release);
}

/*
 * One in 64 on average, at no fixed distance: each 128th call is the one that hands over. The clock was read at the
 * beginning anyway, so that a second look is all that this costs.
 */
void batch__spent(struct batch *b, enum gpubpf_callback which, uint64_t since)
{
	struct batch_cost *c = &b->cost[which];
	uint64_t ns;

	add(&c->seen);
	if (which != GPUBPF_CALLBACK_MODULE) {
		if (b->untimed--)
			return;
		b->random = b->random * 1664525u + 1013904223u;
		b->untimed = b->random >> 25;
	}
	ns = now_ns() - since;
	add(&c->timed);
	atomic_store_explicit(&c->ns, atomic_load_explicit(&c->ns, memory_order_relaxed) + ns,
			      memory_order_relaxed);
	if (ns > atomic_load_explicit(&c->longest, memory_order_relaxed))
		atomic_store_explicit(&c->longest, ns, memory_order_relaxed);
}

/* Over the rings that a thread has or had: free ones keep the counts and the last call of the threads that are gone. */
static void each(void (*fn)(struct batch *b, void *arg), void *arg)
{
	unsigned n = atomic_load(&high);

	for (unsigned i = 0; i < n; i++)
		fn(&pool[i], arg);
}

struct out {
	bool must;        /* wait for the claim */
	uint32_t session; /* of the calls that are still open; 0: leave them */
	uint32_t n;
	struct gpubpf_shim_call items[BATCH_HIT];
};

static void out_send(struct out *o)
{
	emit__hit(GPUBPF_PROBE_CALLS, o->items, o->n);
	o->n = 0;
}

/* Its owner is inside one hit at most, or not running: worth some milliseconds, not more. */
static bool claim_in_time(struct batch *b)
{
	for (int i = 0; i < 2000; i++) {
		if (claim(b))
			return true;
		if (i > 100)
			usleep(10);
	}
	return false;
}

/* The call that a thread is in. */
struct open {
	uint64_t start; /* 0: none */
	uint32_t what, correlation;
};

/* Moves what is in the ring into o; the last call that went is in *last. False: the claim was not to be had. */
static bool empty_ring(struct batch *b, struct out *o, struct open *open, struct gpubpf_shim_call *last)
{
	uint32_t left;

	do {
		uint32_t tail, head;

		if (o->must ? !claim_in_time(b) : !claim(b))
			return false;
		/*
		 * In this order, and under the claim: the owner puts the call into the ring, says that none is open, and
		 * only then hands over, for which it needs the claim. An open call is so in what is copied here, or
		 * nowhere yet.
		 */
		open->start = atomic_load_explicit(&b->open_start, memory_order_acquire);
		open->what = atomic_load_explicit(&b->open_what, memory_order_relaxed);
		open->correlation = atomic_load_explicit(&b->last_correlation, memory_order_relaxed);
		tail = atomic_load_explicit(&b->tail, memory_order_relaxed);
		head = atomic_load_explicit(&b->head, memory_order_acquire);
		for (; tail != head && o->n < BATCH_HIT; tail++)
			*last = o->items[o->n++] = b->items[tail % BATCH_RING];
		left = head - tail;
		atomic_store_explicit(&b->tail, tail, memory_order_release);
		release(b);
		if (o->n == BATCH_HIT)
			out_send(o);
	} while (left);
	return true;
}

static void collect_one(struct batch *b, void *arg)
{
	struct out *o = arg;
	/* Before the ring: what a thread left behind was there before it went. */
	bool gone = atomic_load_explicit(&b->retired, memory_order_acquire);
	struct gpubpf_shim_call last = { 0 };
	struct open open;

	if (!gone && !waiting(b) && !o->session)
		return;
	if (!empty_ring(b, o, &open, &last))
		return;
	if (o->session && open.start && open.start >= atomic_load(&shim_began) &&
	    !(last.start == open.start && last.correlation == open.correlation)) {
		o->items[o->n++] = (struct gpubpf_shim_call){ .start = open.start,
							      .correlation = open.correlation,
							      .tid = b->tid,
							      .cbid = (__u16)open.what,
							      .domain = GPUBPF_DOMAIN_DRIVER,
							      .work = (__u8)(open.what >> 16),
							      .flags = GPUBPF_SHIM_CALL_NO_END,
							      .session = o->session };
		if (o->n == BATCH_HIT)
			out_send(o);
	}
	if (gone)
		give_back(b);
}

void batch__collect(void)
{
	struct out o;

	o.must = false;
	o.session = 0;
	o.n = 0;
	each(collect_one, &o);
	out_send(&o);
}

void batch__finish(uint32_t session)
{
	struct out o;

	o.must = true;
	o.session = session;
	o.n = 0;
	each(collect_one, &o);
	out_send(&o);
}

static void drop_one(struct batch *b, void *arg)
{
	(void)arg;
	if (claim_in_time(b)) {
		atomic_store_explicit(&b->tail, atomic_load_explicit(&b->head, memory_order_acquire),
				      memory_order_release);
		release(b);
	}
	atomic_store_explicit(&b->open_start, 0, memory_order_relaxed);
	atomic_store_explicit(&b->has_correlation, 0, memory_order_relaxed);
	for (int i = 0; i < GPUBPF_CALLBACKS; i++)
		atomic_store_explicit(&b->cost[i].longest, 0, memory_order_relaxed);
	if (atomic_load_explicit(&b->retired, memory_order_acquire))
		give_back(b);
}

static void sum_one(struct batch *b, void *arg)
{
	struct batch_totals *t = arg;

	t->lost += atomic_load_explicit(&b->lost, memory_order_relaxed);
	t->graphs += atomic_load_explicit(&b->done[GPUBPF_WORK_GRAPH], memory_order_relaxed);
	for (int w = GPUBPF_WORK_LAUNCH; w <= GPUBPF_WORK_SET; w++) {
		if (w != GPUBPF_WORK_GRAPH)
			t->device += atomic_load_explicit(&b->done[w], memory_order_relaxed);
	}
}

static void sum(struct batch_totals *t)
{
	*t = (struct batch_totals){ .lost = atomic_load_explicit(&lost_without_ring, memory_order_relaxed) };
	each(sum_one, t);
}

static void spent_one(struct batch *b, void *arg)
{
	struct batch_spent *t = arg;

	for (int i = 0; i < GPUBPF_CALLBACKS; i++) {
		uint64_t longest = atomic_load_explicit(&b->cost[i].longest, memory_order_relaxed);

		t[i].seen += atomic_load_explicit(&b->cost[i].seen, memory_order_relaxed);
		t[i].timed += atomic_load_explicit(&b->cost[i].timed, memory_order_relaxed);
		t[i].ns += atomic_load_explicit(&b->cost[i].ns, memory_order_relaxed);
		t[i].longest = longest > t[i].longest ? longest : t[i].longest;
	}
}

void batch__begin(void)
{
	each(drop_one, NULL);
	sum(&base);
	memset(base_spent, 0, sizeof(base_spent));
	each(spent_one, base_spent);
}

void batch__costs(struct batch_spent spent[GPUBPF_CALLBACKS])
{
	memset(spent, 0, GPUBPF_CALLBACKS * sizeof(*spent));
	each(spent_one, spent);
	for (int i = 0; i < GPUBPF_CALLBACKS; i++) {
		spent[i].seen -= base_spent[i].seen;
		spent[i].timed -= base_spent[i].timed;
		spent[i].ns -= base_spent[i].ns;
	}
}

void batch__totals(struct batch_totals *t)
{
	sum(t);
	t->lost -= base.lost;
	t->device -= base.device;
	t->graphs -= base.graphs;
}

static void open_device_one(struct batch *b, void *arg)
{
	uint32_t work = atomic_load_explicit(&b->open_what, memory_order_relaxed) >> 16;

	if (atomic_load_explicit(&b->open_start, memory_order_acquire) && work >= GPUBPF_WORK_LAUNCH &&
	    work <= GPUBPF_WORK_SET)
		*(bool *)arg = true;
}

bool batch__open_device_call(void)
{
	bool open = false;

	each(open_device_one, &open);
	return open;
}

struct edge {
	bool any, first;
	uint32_t correlation;
};

static void edge_one(struct batch *b, void *arg)
{
	struct edge *e = arg;
	uint32_t c;

	if (!atomic_load_explicit(&b->has_correlation, memory_order_acquire))
		return;
	c = atomic_load_explicit(e->first ? &b->first_correlation : &b->last_correlation,
				 memory_order_relaxed);
	if (!e->any || (e->first ? (int32_t)(c - e->correlation) < 0 : (int32_t)(c - e->correlation) > 0))
		e->correlation = c;
	e->any = true;
}

static bool edge(bool first, uint32_t *correlation)
{
	struct edge e = { .first = first };

	each(edge_one, &e);
	*correlation = e.correlation;
	return e.any;
}

bool batch__first_correlation(uint32_t *correlation)
{
	return edge(true, correlation);
}

bool batch__last_correlation(uint32_t *correlation)
{
	return edge(false, correlation);
}
