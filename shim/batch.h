/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * API calls of the application's threads on their way out. Each thread has a ring of its own, out of a pool that is
 * mapped once: the owner alone appends, without a lock and without an atomic read-modify-write. Whoever hands over,
 * the owner of a full one or the worker for what has waited, claims the ring first; who does not get the claim leaves.
 * No probe is hit by the worker under a claim, and the owner waits for a claim only where its ring is full, and
 * then not for long.
 */
#ifndef GPUBPF_SHIM_BATCH_H
#define GPUBPF_SHIM_BATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emit.h"

#define BATCH_THREADS 512 /* that call CUDA at the same time; a power of two, a multiple of 64 */
#define BATCH_RING 256    /* calls that a thread keeps; a power of two */
#define BATCH_HIT 128     /* of them that make it hand over */
#define BATCH_WORKS 8     /* enum gpubpf_work is below */

/* What callbacks of one kind took (enum gpubpf_callback). Counters that never go back, but `longest`. */
struct batch_cost {
	_Atomic uint64_t seen, timed, ns, longest;
};

struct batch {
	/* Of the thread that owns it. */
	_Atomic uint32_t head;
	uint32_t tid;
	_Atomic uint32_t
		last_correlation; /* of the last call that it entered; has_correlation says whether */
	_Atomic uint32_t has_correlation;
	_Atomic uint32_t first_correlation; /* of the first call of the session; has_correlation, too */
	_Atomic uint32_t open_what;         /* cbid | work << 16 of the call that is open */
	_Atomic uint64_t open_start;
	_Atomic uint64_t lost;
	_Atomic uint64_t done[BATCH_WORKS]; /* calls that the driver took on, by kind of work */
	uint64_t load_start;                /* of a module load that is open; 0: none */
	void *context;                      /* of its last call, and CUPTI's id of it */
	uint32_t context_id;
	uint32_t correlation_before; /* of the call that it entered before the last one */
	_Atomic uint32_t retired;    /* the thread is gone */
	uint32_t untimed, random;    /* so many callbacks until one is timed; draws the next number */
	struct batch_cost cost[GPUBPF_CALLBACKS];

	/* Of whoever has the claim. */
	_Alignas(64) _Atomic uint32_t claim;
	_Atomic uint32_t tail;

	_Alignas(64) struct gpubpf_shim_call items[BATCH_RING];
};

/* Once per process, before the first callback. 0, or an errno. */
int batch__map(void);

/* A session: what is left of an earlier one is dropped, counters start from 0. The owner of CUPTI, in PHASE_OFF. */
void batch__begin(void);

/* The ring of this thread, given to it at its first call; NULL: none is left. */
struct batch *batch__mine(void);
/* One call of a thread that has none was lost. */
void batch__lost_here(void);

/* The owner, at entry and exit of a call. */
void batch__open(struct batch *b, uint64_t start, uint32_t correlation, uint32_t cbid, uint32_t work);
/* That call is not taken after all. */
void batch__withdraw(struct batch *b);
void batch__close(struct batch *b, uint32_t word, const struct gpubpf_shim_call *call);

/* The owner, at the end of a callback whose first act was to look at the clock. */
void batch__spent(struct batch *b, enum gpubpf_callback which, uint64_t since);

/* The worker: everything that waits goes out; rings of threads that are gone are free again. */
void batch__collect(void);
/* The worker, in PHASE_OFF, once per session: also what threads are at just now, and the calls still open. */
void batch__finish(uint32_t session);
/* A call that asks the device for work is open on some thread. */
bool batch__open_device_call(void);

struct batch_totals { /* of this session */
	uint64_t lost;
	uint64_t device; /* launches, copies, sets that the driver took on */
	uint64_t graphs;
};
void batch__totals(struct batch_totals *t);

struct batch_spent { /* of this session */
	uint64_t seen, timed, ns, longest;
};
void batch__costs(struct batch_spent spent[GPUBPF_CALLBACKS]);
/* The lowest and the highest correlation id of the calls of this session, in the order of a counter that wraps; false: no
 * call yet. */
bool batch__first_correlation(uint32_t *correlation);
bool batch__last_correlation(uint32_t *correlation);

#endif
