/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Buffers of records. As CUPTI documents it: a record takes its place in the client's buffer when the work is
 * asked for and gets its times when the work is done; a flush returns the buffers all of whose records are whole,
 * a forced one all. The launching thread asks the client for a buffer; the worker thread gives it back, alone.
 */
#include "sc.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct pending {
	void *record;
	struct sc_times times;
	unsigned clock_changes;
	bool zero, backward;
};

struct buffer {
	struct buffer *next;
	uint8_t *base;
	size_t size, used, records, max_records;
	size_t overheads; /* of records */
	struct pending *pending;
	size_t npending, capacity;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake, done; /* of the worker; of those that wait for it, or for a flush to begin */
	pthread_once_t start;
	CUpti_BuffersCallbackRequestFunc _Atomic request;
	CUpti_BuffersCallbackCompleteFunc _Atomic complete;
	struct buffer *full, **full_tail, *current;
	uint64_t serial; /* records of the device so far */
	size_t dropped;
	uint64_t asked, finished; /* flushes */
	bool forced;              /* of those asked for, one is */
	bool full_news;
	bool holding; /* SIMCUPTI_ORDER: a flush lasts for as long as this is so */
	unsigned period_ms;
} act = { .lock = PTHREAD_MUTEX_INITIALIZER,
	  .start = PTHREAD_ONCE_INIT,
	  .full_tail = &act.full,
	  .period_ms = 100 };

static bool every(uint64_t n)
{
	return n && act.serial % n == 0;
}

static void retire_current(void)
{
	if (!act.current)
		return;
	act.current->next = NULL;
	*act.full_tail = act.current;
	act.full_tail = &act.current->next;
	act.current = NULL;
}

static struct buffer *new_buffer(size_t need)
{
	struct buffer *b = calloc(1, sizeof(*b));
	enum sc_in was = sc_in;

	if (!b || !act.request)
		goto fail;
	sc_in = SC_IN_REQUEST;
	act.request(&b->base, &b->size, &b->max_records);
	sc_in = was;
	sc_log("! request %zu", b->base ? b->size : 0);
	if (b->base && b->size >= need)
		return b;
	if (b->base && act.complete)
		act.complete(NULL, 0, b->base, b->size, 0);
fail:
	free(b);
	return NULL;
}

/* Room for a record; NULL: dropped, and counted. */
static void *place(size_t size)
{
	struct buffer *b = act.current;

	if (b && (b->size - b->used < size || (b->max_records && b->records >= b->max_records))) {
		retire_current();
		act.full_news = true;
		pthread_cond_signal(&act.wake);
		b = NULL;
	}
	if (!b)
		b = act.current = new_buffer(size);
	if (!b) {
		act.dropped++;
		return NULL;
	}
	b->used += size;
	b->records++;
	return b->base + b->used - size;
}

void sc_emit(const void *record)
{
	size_t size = sc_record_size(*(const uint32_t *)record);
	void *to;

	if (sc.broken)
		return;
	pthread_mutex_lock(&act.lock);
	to = place(size);
	if (to) {
		memcpy(to, record, size);
		act.current->overheads += *(const uint32_t *)record == CUPTI_ACTIVITY_KIND_OVERHEAD;
	}
	pthread_mutex_unlock(&act.lock);
}

static bool add_pending(struct buffer *b, const struct pending *p)
{
	if (b->npending == b->capacity) {
		size_t n = b->capacity ? b->capacity * 2 : 64;
		struct pending *grown = realloc(b->pending, n * sizeof(*grown));

		if (!grown)
			return false;
		b->pending = grown;
		b->capacity = n;
	}
	b->pending[b->npending++] = *p;
	return true;
}

void sc_emit_work(const void *record, const struct sc_times *t)
{
	size_t size = sc_record_size(*(const uint32_t *)record);
	struct pending p = { .times = *t, .clock_changes = sc.clock_changes };

	if (sc.broken)
		return;
	pthread_mutex_lock(&act.lock);
	act.serial++;
	if (every(sc.opt.lost))
		goto out;
	if (every(sc.opt.drop)) {
		act.dropped++;
		goto out;
	}
	p.zero = every(sc.opt.zero);
	p.backward = every(sc.opt.backward);
	p.record = place(size);
	if (!p.record)
		goto out;
	memcpy(p.record, record, size);
	add_pending(act.current, &p);
out:
	pthread_mutex_unlock(&act.lock);
}

/* ---- the worker ---- */

/* From CLOCK_MONOTONIC to the client's clock: the difference, taken between two reads that lie close together. */
static int64_t clock_offset(void)
{
	uint64_t best = UINT64_MAX;
	int64_t offset = 0;

	for (int i = 0; i < 20 && best > 200; i++) {
		uint64_t before = sc_monotonic(), theirs = sc_timestamp(), after = sc_monotonic();

		if (after - before >= best)
			continue;
		best = after - before;
		offset = (int64_t)(theirs - (before + best / 2));
		/* Nothing says that it is another clock. */
		if (theirs >= before && theirs <= after)
			return 0;
	}
	return offset;
}

static void settle_one(const struct pending *p, int64_t offset)
{
	uint64_t add = (uint64_t)offset, early = sc.opt.early_ns;
	uint64_t queued = p->times.queued ? p->times.queued + add : 0;
	uint64_t start = p->times.start + add - early, end = p->times.end + add - early;

	/* A clock that changes under a record leaves it without times. */
	if (p->zero || p->clock_changes != sc.clock_changes)
		sc_set_times(p->record, queued, 0, 0);
	else if (p->backward)
		sc_set_times(p->record, queued, end, start);
	else
		sc_set_times(p->record, queued, start, end);
}

static void settle(struct buffer *b, uint64_t now, int64_t offset)
{
	for (size_t i = 0; i < b->npending;) {
		if (b->pending[i].times.end > now) {
			i++;
			continue;
		}
		settle_one(&b->pending[i], offset);
		b->pending[i] = b->pending[--b->npending];
	}
}

/* With the first buffer that goes back after the clock was registered, and every four seconds. */
static void match_clocks(uint64_t now)
{
	static unsigned changes;
	static uint64_t last;

	if (changes == sc.clock_changes && now - last < 4000000000ull)
		return;
	changes = sc.clock_changes;
	last = now;
	sc_match_clocks();
}

/* Takes out what may go back to the client. Under act.lock. */
static struct buffer *collect(bool flush, bool forced)
{
	uint64_t now = sc_monotonic();
	int64_t offset = 0;
	struct buffer *out = NULL, **tail = &out, **link = &act.full;

	if (act.full || (act.current && act.current->npending))
		offset = clock_offset();
	if (act.full || (act.current && act.current->used && flush))
		match_clocks(now);
	for (struct buffer *b = act.full; b; b = b->next)
		settle(b, now, offset);
	if (act.current)
		settle(act.current, now, offset);
	if (flush && act.current && (act.current->used || forced) && (forced || !act.current->npending))
		retire_current();
	if (sc.opt.hold && !forced)
		return NULL;
	while (*link) {
		struct buffer *b = *link;

		if (b->npending && !forced) {
			link = &b->next;
			continue;
		}
		*link = b->next;
		b->next = NULL;
		*tail = b;
		tail = &b->next;
	}
	act.full_tail = link;
	return out;
}

static void deliver(struct buffer *b)
{
	while (b) {
		struct buffer *next = b->next;
		uint64_t began;

		sc_log("! complete %zu of %zu bytes, %zu records, %zu not done", b->used, b->size, b->records,
		       b->npending);
		began = sc_timestamp();
		sc_in = SC_IN_COMPLETE;
		act.complete(NULL, 0, b->base, b->size, b->used);
		sc_in = SC_IN_NONE;
		if (b->overheads < b->records)
			sc_overhead(began);
		free(b->pending);
		free(b);
		b = next;
	}
}

static void wait_on(pthread_cond_t *c, uint64_t until)
{
	struct timespec ts = { .tv_sec = (time_t)(until / 1000000000u),
			       .tv_nsec = (long)(until % 1000000000u) };

	pthread_cond_timedwait(c, &act.lock, &ts);
}

/* One round. Under act.lock, which it leaves for the driver's lock and for the client. */
static void work(void)
{
	uint64_t ticket = act.asked, stop;
	bool flush = ticket != act.finished, forced = act.forced, again;
	const struct sim_private *d;
	struct buffer *out;

	act.forced = false;
	act.full_news = false;
	pthread_mutex_unlock(&act.lock);
	d = sc_attach();
	if (d)
		sc_lock_driver(d);
	if (flush && sc.opt.flush_ms)
		nanosleep(&(struct timespec){ .tv_sec = (time_t)(sc.opt.flush_ms / 1000),
					      .tv_nsec = (long)(sc.opt.flush_ms % 1000 * 1000000) },
			  NULL);
	pthread_mutex_lock(&act.lock);
	out = collect(flush, forced);
	pthread_mutex_unlock(&act.lock);
	if (d)
		pthread_rwlock_unlock(d->driver_lock);
	again = sc.opt.empty && out && !forced;
	deliver(out);
	pthread_mutex_lock(&act.lock);
	if (again && !act.current)
		act.current = new_buffer(0);
	stop = sc_monotonic() + sc.opt.order_ms * 1000000;
	while (flush && act.holding && sc_monotonic() < stop)
		wait_on(&act.wake, stop);
	if (flush) {
		act.finished = ticket;
		pthread_cond_broadcast(&act.done);
	}
}

static void *worker(void *arg)
{
	pthread_mutex_lock(&act.lock);
	for (;;) {
		uint64_t until = sc_monotonic() + act.period_ms * 1000000ull;

		while (act.asked == act.finished && !act.full_news && sc_monotonic() < until)
			wait_on(&act.wake, until);
		work();
	}
	return arg;
}

static void start(void)
{
	pthread_condattr_t attr;
	sigset_t all, old;
	pthread_t t;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&act.wake, &attr);
	pthread_cond_init(&act.done, &attr);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&t, NULL, worker, NULL) == 0) {
		pthread_setname_np(t, "cupti-worker");
		pthread_detach(t);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void sc_worker_start(void)
{
	pthread_once(&act.start, start);
}

/* ---- orders that a test asks for ---- */
void sc_await_flush(const char *why)
{
	uint64_t until = sc_monotonic() + sc.opt.order_ms * 1000000;
	bool under_way;

	sc_worker_start();
	pthread_mutex_lock(&act.lock);
	while (act.asked == act.finished && sc_monotonic() < until)
		wait_on(&act.done, until);
	under_way = act.asked != act.finished;
	pthread_mutex_unlock(&act.lock);
	sc_log("! %s %s", why, under_way ? "with a flush under way" : "without a flush: none came in time");
}

void sc_hold_flush(bool hold)
{
	pthread_mutex_lock(&act.lock);
	act.holding = hold;
	pthread_cond_broadcast(&act.wake);
	pthread_mutex_unlock(&act.lock);
}

static void at_exit(void)
{
	if (sc.dead)
		return;
	sc_hold_flush(true);
	sc_await_flush("exit");
}

static void order_exit(void)
{
	atexit(at_exit);
}

/* ---- what the client calls ---- */
static CUptiResult flush_all(uint32_t flag)
{
	static pthread_once_t exit_once = PTHREAD_ONCE_INIT;
	uint64_t ticket;

	if (!act.complete)
		return CUPTI_ERROR_INVALID_OPERATION;
	sc_worker_start();
	/* Late, so that it runs before the handlers of those who registered theirs at their start. */
	if (sc.opt.order & SC_ORDER_EXIT)
		pthread_once(&exit_once, order_exit);
	pthread_mutex_lock(&act.lock);
	ticket = ++act.asked;
	act.forced |= (flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0;
	pthread_cond_signal(&act.wake);
	pthread_cond_broadcast(&act.done);
	while (act.finished < ticket)
		pthread_cond_wait(&act.done, &act.lock);
	pthread_mutex_unlock(&act.lock);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	struct sc_call call;

	return sc_enter(&call, __func__, flag, SC_OWNER) ? sc_leave(&call, flush_all(flag)) : call.result;
}

CUptiResult cuptiActivityFlushPeriod(uint32_t time)
{
	struct sc_call call;

	if (!sc_enter(&call, __func__, time, 0))
		return call.result;
	pthread_mutex_lock(&act.lock);
	act.period_ms = time ? time : 100;
	pthread_mutex_unlock(&act.lock);
	return sc_leave(&call, CUPTI_SUCCESS);
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc funcBufferRequested,
					   CUpti_BuffersCallbackCompleteFunc funcBufferCompleted)
{
	struct sc_call call;

	if (!sc_enter(&call, __func__, 0, SC_OWNER))
		return call.result;
	if (!funcBufferRequested || !funcBufferCompleted)
		return sc_leave(&call, CUPTI_ERROR_INVALID_PARAMETER);
	/* Whoever comes last gets the records, whoever subscribed. */
	pthread_mutex_lock(&act.lock);
	act.request = funcBufferRequested;
	act.complete = funcBufferCompleted;
	pthread_mutex_unlock(&act.lock);
	return sc_leave(&call, CUPTI_SUCCESS);
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t streamId, size_t *dropped)
{
	struct sc_call call;

	(void)context;
	if (!sc_enter(&call, __func__, streamId, 0))
		return call.result;
	if (!dropped)
		return sc_leave(&call, CUPTI_ERROR_INVALID_PARAMETER);
	pthread_mutex_lock(&act.lock);
	*dropped = act.dropped;
	act.dropped = 0;
	pthread_mutex_unlock(&act.lock);
	return sc_leave(&call, CUPTI_SUCCESS);
}

void sc_discard(void)
{
	struct buffer *b, *next;

	pthread_mutex_lock(&act.lock);
	retire_current();
	b = act.full;
	act.full = NULL;
	act.full_tail = &act.full;
	pthread_mutex_unlock(&act.lock);
	for (; b; b = next) {
		next = b->next;
		free(b->pending);
		free(b);
	}
}
