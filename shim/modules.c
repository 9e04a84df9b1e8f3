// SPDX-License-Identifier: BSD-2-Clause
#include "modules.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "crc32c.h"
#include "emit.h"

#define ENTRIES 256           /* a power of two */
#define BYTES (32u << 20)     /* of cubins that wait; a larger one is not copied */
#define KEEP_BYTES (1u << 20) /* more than this goes back to the kernel when nothing waits */
#define HIT 32

struct entry {
	_Atomic uint32_t ready; /* copied */
	uint32_t at, span;      /* of its bytes in the pool; span: with what was skipped before it */
	struct gpubpf_module m;
};

/*
 * A queue: entries and their bytes are given out and taken back in order. The lock is a leaf: a few stores are done
 * under it, the copy and the checksum are not.
 */
static struct {
	pthread_mutex_t lock;
	uint32_t head, tail;           /* of entries */
	uint32_t bytes_head, in_bytes; /* of the pool: where the next goes, how many are out */
	uint32_t touched;              /* how far it was used since it last went back */
	uint64_t lost;
	struct entry entries[ENTRIES];
	uint8_t *pool;
} q = { .lock = PTHREAD_MUTEX_INITIALIZER };

int modules__map(void)
{
	void *p;

	if (q.pool)
		return 0;
	p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return errno;
	q.pool = p;
	return 0;
}

void modules__begin(void)
{
	struct entry *e;

	pthread_mutex_lock(&q.lock);
	/* What is being copied at this moment stays, and goes out marked with its own session. */
	while (q.tail != q.head) {
		e = &q.entries[q.tail % ENTRIES];
		if (!atomic_load_explicit(&e->ready, memory_order_acquire))
			break;
		q.in_bytes -= e->span;
		q.tail++;
	}
	q.lost = 0;
	pthread_mutex_unlock(&q.lock);
}

/* Under the lock. False: no room. */
static bool reserve_bytes(struct entry *e, uint64_t n)
{
	uint32_t skipped = 0, at = q.bytes_head;

	if (n > BYTES)
		return false;
	if (!q.in_bytes)
		at = 0;
	else if (at + n > BYTES) {
		skipped = BYTES - at;
		at = 0;
	}
	if (q.in_bytes + skipped + n > BYTES)
		return false;
	e->at = at;
	e->span = skipped + (uint32_t)n;
	q.in_bytes += e->span;
	q.bytes_head = at + (uint32_t)n;
	if (q.bytes_head > q.touched)
		q.touched = q.bytes_head;
	if (skipped)
		q.touched = BYTES;
	return true;
}

void modules__add(const struct gpubpf_module *m, const void *bytes)
{
	struct entry *e = NULL;

	pthread_mutex_lock(&q.lock);
	if (q.head - q.tail < ENTRIES) {
		e = &q.entries[q.head++ % ENTRIES];
		e->m = *m;
		e->at = e->span = 0;
		atomic_store_explicit(&e->ready, 0, memory_order_relaxed);
		if (!(m->flags & GPUBPF_MODULE_UNLOADED) && !(bytes && reserve_bytes(e, m->bytes)))
			e->m.flags |= GPUBPF_MODULE_NO_CRC;
	} else {
		q.lost++;
	}
	pthread_mutex_unlock(&q.lock);
	if (!e) {
		emit__lost(GPUBPF_PROBE_MODULES, 1);
		return;
	}
	if (!(e->m.flags & (GPUBPF_MODULE_NO_CRC | GPUBPF_MODULE_UNLOADED)))
		memcpy(q.pool + e->at, bytes, m->bytes);
	atomic_store_explicit(&e->ready, 1, memory_order_release);
}

/* The next that is ready. Its entry and bytes stay the worker's until done(). */
static struct entry *next(void)
{
	struct entry *e = NULL;

	pthread_mutex_lock(&q.lock);
	if (q.tail != q.head)
		e = &q.entries[q.tail % ENTRIES];
	pthread_mutex_unlock(&q.lock);
	return e && atomic_load_explicit(&e->ready, memory_order_acquire) ? e : NULL;
}

static void done(struct entry *e)
{
	pthread_mutex_lock(&q.lock);
	q.in_bytes -= e->span;
	q.tail++;
	pthread_mutex_unlock(&q.lock);
}

/* A start of a process loads hundreds of megabytes once: they are not kept for its life. */
static void give_memory_back(void)
{
	bool empty;

	pthread_mutex_lock(&q.lock);
	empty = q.tail == q.head && q.touched > KEEP_BYTES;
	/* Whoever comes now uses what lies below, or finds no room. */
	if (empty) {
		q.in_bytes = BYTES;
		q.touched = 0;
	}
	pthread_mutex_unlock(&q.lock);
	if (!empty)
		return;
	madvise(q.pool, BYTES, MADV_DONTNEED);
	pthread_mutex_lock(&q.lock);
	q.in_bytes -= BYTES;
	pthread_mutex_unlock(&q.lock);
}

void modules__send(void)
{
	struct gpubpf_module out[HIT];
	struct entry *e;
	size_t n = 0;

	if (!q.pool)
		return;
	while ((e = next())) {
		out[n] = e->m;
		if (!(e->m.flags & (GPUBPF_MODULE_NO_CRC | GPUBPF_MODULE_UNLOADED)))
			out[n].crc = shim_crc32c(0, q.pool + e->at, e->m.bytes);
		done(e);
		if (++n == HIT) {
			emit__hit(GPUBPF_PROBE_MODULES, out, n);
			n = 0;
		}
	}
	if (n)
		emit__hit(GPUBPF_PROBE_MODULES, out, n);
	give_memory_back();
}

uint64_t modules__lost(void)
{
	uint64_t lost;

	pthread_mutex_lock(&q.lock);
	lost = q.lost;
	pthread_mutex_unlock(&q.lock);
	return lost;
}
