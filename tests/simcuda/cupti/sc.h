/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the simulated libcupti. What a test may ask of it by the environment stands in ../sim.h.
 *
 * Locks, outermost first: the driver's (sim_trace.h), sc.state (who is subscribed, what is enabled), act.lock in
 * activity.c (buffers). A flush waits with none of them held; the worker that it waits for takes the driver's lock
 * for reading. The client's callbacks run with no lock of this library held, but the request for a buffer, which
 * the launching thread makes under act.lock.
 */
#ifndef SIMCUPTI_SC_H
#define SIMCUPTI_SC_H

#include <cupti.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "sim_trace.h"

#define SC_CBIDS 1024
#define SC_KIND(kind) (1ull << (kind))

/* Never freed: a callback may still run with one that is gone. */
struct CUpti_Subscriber_st {
	CUpti_CallbackFunc callback;
	void *userdata;
	char name[CUPTI_SUBSCRIBER_NAME_MAX_LEN];
	_Atomic uint8_t on[CUPTI_CB_DOMAIN_SIZE][SC_CBIDS];
};

enum sc_order { SC_ORDER_CALLBACK = 1, SC_ORDER_FORK = 2, SC_ORDER_EXIT = 4 };
enum sc_abort { SC_ABORT_CALLBACK = 1, SC_ABORT_INIT = 2, SC_ABORT_CONTEXT = 4 };

struct sc_options {
	uint32_t correlation;                /* SIMCUPTI_CORRELATION */
	uint32_t version;                    /* SIMCUPTI_VERSION */
	uint64_t lost, drop, zero, backward; /* SIMCUPTI_LOST, _DROP, _ZERO, _BACKWARD: every N-th; 0: none */
	uint64_t early_ns;                   /* SIMCUPTI_EARLY_NS */
	uint64_t flush_ms, order_ms;         /* SIMCUPTI_FLUSH_MS, _ORDER_MS */
	uint64_t device_launched;            /* SIMCUPTI_DEVICE_LAUNCHED */
	bool hold;                           /* SIMCUPTI_HOLD */
	bool empty;                          /* SIMCUPTI_EMPTY */
	unsigned order, abort;               /* SIMCUPTI_ORDER, _ABORT */
};

struct sc {
	pthread_mutex_t state;
	struct sc_options opt;
	const struct sim_private *_Atomic driver;
	struct CUpti_Subscriber_st *_Atomic subscriber;
	_Atomic uint64_t kinds; /* that are enabled, a bit each */
	_Atomic bool broken;    /* enabled by one client, subscribed to by another: nobody gets records */
	_Atomic bool latency;   /* queued and submitted times */
	_Atomic int thread_ids; /* CUpti_ActivityThreadIdType */
	_Atomic bool dead;      /* a forked child: every call says so */
	_Atomic uint32_t correlation;
	CUpti_TimestampCallbackFunc _Atomic clock;
	_Atomic unsigned clock_changes;
};
extern struct sc sc;
extern const uint32_t sc_built_version;

/* What this thread is inside of. */
enum sc_in { SC_IN_NONE, SC_IN_API, SC_IN_RESOURCE, SC_IN_REQUEST, SC_IN_COMPLETE, SC_IN_CLOCK };
extern __thread enum sc_in sc_in;

/* ---- core.c ---- */
struct sc_call {
	const char *name;
	CUptiResult result;
};

enum sc_flags {
	SC_OWNER = 1, /* not from inside a callback */
};

/* False: the call is over, with call->result. */
bool sc_enter(struct sc_call *call, const char *name, uint64_t arg, unsigned flags);
CUptiResult sc_leave(struct sc_call *call, CUptiResult result);
CUptiResult sc_last_error(void);
void sc_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
const struct sim_private *sc_attach(void); /* NULL: no simulated driver */
void sc_lock_driver(const struct sim_private *d);
uint64_t sc_monotonic(void);
uint64_t sc_timestamp(void); /* what the client's clock says, or CLOCK_REALTIME */
void sc_match_clocks(
	void); /* asks five times in a row, as the real one when it matches the device's clock with ours */

/* ---- callback.c ---- */
void sc_callback_setup(const struct sim_private *d);
void sc_update_tracer(void); /* under sc.state */
uint32_t sc_cbid(const struct sim_api *api);
extern const struct sim_tracer sc_tracer;

/* ---- activity.c ---- */
/* A record of the device: its times are filled in when the work is done. The times are CLOCK_MONOTONIC. */
struct sc_times {
	uint64_t queued, start, end;
};
void sc_emit_work(const void *record, const struct sc_times *t);
void sc_emit(const void *record); /* a whole one */
size_t sc_record_size(uint32_t kind);
void sc_worker_start(void);
void sc_await_flush(const char *why); /* SIMCUPTI_ORDER */
void sc_hold_flush(bool hold);
void sc_discard(void); /* every buffer: cuptiFinalize */

/* ---- unified.c ---- */
void sc_unified(const struct sim_call *c, uint64_t end);

/* ---- record.c ---- */
void sc_work(const struct sim_work *w);
#define SC_API_KINDS                                                                                         \
	(SC_KIND(CUPTI_ACTIVITY_KIND_DRIVER) | SC_KIND(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) |                \
	 SC_KIND(CUPTI_ACTIVITY_KIND_MEMORY2) | SC_KIND(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER))
void sc_api_records(const struct sim_call *c);
void sc_before_free(struct sim_call *c);
void sc_overhead(uint64_t began); /* of the return of a buffer, if that is wanted */
void sc_set_times(void *record, uint64_t queued, uint64_t start, uint64_t end);

#endif
