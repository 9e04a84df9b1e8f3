/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between the simulated libcuda and the simulated libcupti: the latter finds `simcuda_private` in the former and
 * hands it a tracer. Without one, a call costs one more load and nothing else.
 *
 * A tracer's functions run on the calling thread. `resource` is called with driver_lock held for writing, as the
 * driver calls its tools from inside a context's or module's creation and from the lazy load of a first launch;
 * the others with no lock held.
 */
#ifndef SIMCUDA_SIM_TRACE_H
#define SIMCUDA_SIM_TRACE_H

#include <pthread.h>
#include <stdbool.h>

#include "sim_api.h"

#define SIM_TRACE_ABI 1

struct sim_memory {
	uint64_t address, bytes;
	uint32_t kind; /* CUpti_ActivityMemoryKind; 0: none is known there */
	uint32_t device, context;
};

/* One call of an exported function, for as long as it lasts. */
struct sim_call {
	const struct sim_api *api;
	const uint64_t *a;
	struct sim_call *outer; /* the one it was made inside of */
	int result;             /* at leave */
	/* The tracer's own. */
	uint32_t correlation; /* 0: not traced */
	uint64_t queued, start, data;
	struct sim_memory memory; /* what is about to be freed */
};

enum sim_work_kind { SIM_WORK_KERNEL, SIM_WORK_COPY, SIM_WORK_SET, SIM_WORK_GRAPH };

struct sim_side {
	uint32_t memory; /* CUpti_ActivityMemoryKind */
	uint32_t device, context;
};

/* Something that the simulated device does. Times are CLOCK_MONOTONIC and lie ahead as a rule. */
struct sim_work {
	enum sim_work_kind kind;
	struct sim_call *call;
	uint64_t start, end;
	uint32_t device, context, stream;
	uint32_t graph; /* id of the executable graph; 0: none */
	uint64_t node;
	union {
		struct {
			const char *name; /* for the life of the process */
			uint32_t grid[3], block[3], cluster[3], shared, registers;
			bool cooperative;
		} kernel;
		struct {
			uint64_t bytes;
			struct sim_side src, dst;
		} copy;
		struct {
			uint64_t bytes;
			uint32_t value, memory;
		} set;
	};
};

struct sim_resource {
	unsigned id; /* CUpti_CallbackIdResource */
	void *context, *stream, *graph, *exec;
	uint32_t module;
	const char *cubin;
	size_t bytes;
};

struct sim_tracer {
	void (*enter)(struct sim_call *c);
	void (*leave)(struct sim_call *c);
	void (*work)(const struct sim_work *w);
	void (*resource)(const struct sim_resource *r);
};

struct sim_private {
	unsigned abi;
	const struct sim_api *apis;
	unsigned napis;
	pthread_rwlock_t *driver_lock;
	void (*set_tracer)(const struct sim_tracer *t);                               /* NULL: none */
	bool (*context)(uint64_t handle, void **ctx, uint32_t *id, uint32_t *device); /* 0: the current one */
	bool (*stream)(uint64_t ctx, uint64_t stream, bool per_thread, uint32_t *id);
	const char *(*function)(uint64_t handle); /* its name, or NULL */
	bool (*graph)(uint64_t handle, uint32_t *id);
	bool (*exec)(uint64_t handle, uint32_t *id);
	bool (*node)(uint64_t handle, uint64_t *id);
	struct sim_memory (*memory)(uint64_t address);
	bool (*initializing)(void);   /* another thread is inside the first cuInit */
	bool (*making_context)(void); /* another thread is making one */
};

#endif
