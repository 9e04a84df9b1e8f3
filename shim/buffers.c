// SPDX-License-Identifier: BSD-2-Clause
#include "buffers.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "worker.h"

#define SCRATCHES 64
#define POOL_BYTES ((size_t)BUFFERS * BUFFER_BYTES)
/* The last one is shared by all who find no other: CUPTI overwrites garbage with garbage. */
#define SCRATCH_POOL_BYTES ((size_t)(SCRATCHES + 1) * SCRATCH_BYTES)
/* So many that came back wake the worker before its time. */
#define WAKE_AT 4

static struct {
	uint8_t *pool;
	_Atomic uint64_t free, full, held;
	_Atomic uint64_t scratch_free;
	_Atomic uint64_t unserved;
	size_t valid[BUFFERS]; /* of a full one */
	_Atomic bool wide;     /* the next one is */
	_Atomic bool wide_out; /* the first is, and the bits of the others in it are nobody's */
} b;

int buffers__map(void)
{
	void *p;

	if (b.pool)
		return 0;
	p = mmap(NULL, POOL_BYTES + SCRATCH_POOL_BYTES, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return errno;
	b.pool = p;
	atomic_store(&b.free, ~0ull);
	atomic_store(&b.scratch_free, ~0ull);
	return 0;
}

void buffers__begin(void)
{
	atomic_store(&b.unserved, 0);
}

/* Bits of a wide one. */
#define WIDE (BUFFERS / 2)
#define WIDE_BITS ((1ull << WIDE) - 1)

void buffers__widen(void)
{
	atomic_store(&b.wide, true);
}

/* False: some of it is in use. */
static bool take_wide(void)
{
	uint64_t bits = atomic_load(&b.free);

	if (!atomic_exchange(&b.wide, false))
		return false;
	while ((bits & WIDE_BITS) == WIDE_BITS) {
		if (atomic_compare_exchange_weak(&b.free, &bits, bits & ~WIDE_BITS)) {
			atomic_store(&b.wide_out, true);
			return true;
		}
	}
	return false;
}

/* A record begins with its kind, which is never 0. */
static volatile uint32_t *first_word(uint8_t *buffer)
{
	return (volatile uint32_t *)(void *)buffer;
}

/* The lowest: what was used before is in memory already. -1: none. */
static int take_bit(_Atomic uint64_t *word)
{
	uint64_t bits = atomic_load_explicit(word, memory_order_relaxed);

	while (bits) {
		int i = __builtin_ctzll(bits);

		if (atomic_compare_exchange_weak_explicit(word, &bits, bits & ~(1ull << i),
							  memory_order_acquire, memory_order_relaxed))
			return i;
	}
	return -1;
}

void buffers__requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	bool wide = atomic_load_explicit(&b.wide, memory_order_relaxed) && take_wide();
	int i = wide ? 0 : take_bit(&b.free);

	*max_records = 0;
	if (i >= 0) {
		atomic_fetch_or(&b.held, 1ull << i);
		*buffer = b.pool + (size_t)i * BUFFER_BYTES;
		*size = wide ? (size_t)WIDE * BUFFER_BYTES : BUFFER_BYTES;
		*first_word(*buffer) = 0;
		return;
	}
	atomic_fetch_add_explicit(&b.unserved, 1, memory_order_relaxed);
	worker__poke();
	i = take_bit(&b.scratch_free);
	*buffer = b.pool + POOL_BYTES + (size_t)(i >= 0 ? i : SCRATCHES) * SCRATCH_BYTES;
	*size = SCRATCH_BYTES;
}

void buffers__completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	size_t at = (size_t)(buffer - b.pool), i = at / BUFFER_BYTES;
	uint64_t full;

	(void)context;
	(void)stream;
	(void)size;
	if (at >= POOL_BYTES) {
		i = (at - POOL_BYTES) / SCRATCH_BYTES;
		if (i < SCRATCHES)
			atomic_fetch_or_explicit(&b.scratch_free, 1ull << i, memory_order_release);
		return;
	}
	atomic_fetch_and(&b.held, ~(1ull << i));
	if (!valid) {
		buffers__release((unsigned)i);
		return;
	}
	b.valid[i] = valid;
	full = atomic_fetch_or(&b.full, 1ull << i);
	if (__builtin_popcountll(full) + 1 >= WAKE_AT)
		worker__poke();
}

uint64_t buffers__take(void)
{
	return atomic_exchange(&b.full, 0);
}

uint8_t *buffers__bytes(unsigned i, size_t *valid)
{
	*valid = b.valid[i];
	return b.pool + (size_t)i * BUFFER_BYTES;
}

void buffers__release(unsigned i)
{
	uint64_t bits = 1ull << i;

	/* What single ones seldom need goes back to the system. */
	if (!i && atomic_exchange(&b.wide_out, false)) {
		bits = WIDE_BITS;
		madvise(b.pool + WAKE_AT * BUFFER_BYTES, (WIDE - WAKE_AT) * BUFFER_BYTES, MADV_DONTNEED);
	}
	atomic_fetch_or_explicit(&b.free, bits, memory_order_release);
}

uint64_t buffers__held(void)
{
	return atomic_load(&b.held);
}

/* CUPTI writes there meanwhile: whether a word is 0 yet is all that is asked. */
__attribute__((no_sanitize("thread"))) uint64_t buffers__begun(uint64_t held)
{
	uint64_t begun = 0;

	for (uint64_t left = held; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);

		if (*first_word(b.pool + (size_t)i * BUFFER_BYTES))
			begun |= 1ull << i;
	}
	return begun;
}

uint64_t buffers__unserved(void)
{
	return atomic_load(&b.unserved);
}
