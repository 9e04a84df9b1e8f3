/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the simulated libcuda.
 *
 * exports.c (generated from bpf/apis.h and extra_apis.h by gen_exports.c) defines every exported function: it
 * stores its argument words and calls sim_dispatch(), which logs, injects failures, and calls the function's
 * behaviour, SIM_IMPL(base), where one is written. All variants of a base share it. What has no behaviour gets
 * the stub: result 0, and a distinct value in each result it owes.
 *
 * Locks, outermost first: sim_driver_lock, sim.lock (objects, memory, modules, graphs, captures), then a stream's
 * own lock (its clock). A launch outside of a capture takes only the latter. sim_driver_lock is what the tools feel
 * of the real driver's locking: it is held for writing where contexts, streams, modules and executable graphs are
 * made and unmade and while a function is loaded, which under lazy loading (CUDA_MODULE_LOADING=LAZY, the default)
 * is inside its first launch; the tools' resource callbacks are called inside. CUPTI's worker takes it for reading.
 */
/*
 * What a test may ask of the simulated libcupti (cupti/) by the environment. N-th counts the records of the device
 * (kernels, copies, sets, whole graphs) of the process from 1.
 *
 * SIMCUPTI_LOG=FILE        A line for each call of CUPTI at its entry (>) and its end (<), and for what it does (!):
 *                          SEQUENCE NANOSECONDS PID TID WHERE TEXT. WHERE is what CUPTI callback the thread is
 *                          inside of: - api resource request complete clock. The lines of a process are in order.
 * SIMCUPTI_FAIL=FUNCTION:ARG:RESULT[:N][,…]
 *                          The call (the N-th such) of FUNCTION with ARG (*: any) gives RESULT and does nothing.
 *                          ARG is the kind, cbid, domain or attribute, the flag of a flush, otherwise 0.
 * SIMCUPTI_DELAY=FUNCTION:ARG:MS[:N][,…]   It takes MS longer, before it does anything.
 * SIMCUPTI_LOST=N          Every N-th record is lost, uncounted.
 * SIMCUPTI_DROP=N          Every N-th record is dropped: cuptiActivityGetNumDroppedRecords() counts it.
 * SIMCUPTI_ZERO=N          Every N-th record has start = end = 0.
 * SIMCUPTI_BACKWARD=N      Every N-th record has start and end exchanged.
 * SIMCUPTI_EARLY_NS=NS     The device's times are that much too early.
 * SIMCUPTI_DEVICE_LAUNCHED=N  Kernels of graphs are as those in the body of a conditional node: N records for each, with no
 *                          correlation id, no graph and no node.
 * SIMCUPTI_HOLD=1          No buffer is completed but by a forced flush.
 * SIMCUPTI_EMPTY=1         As soon as a buffer is full or was given back the next one is asked for, by the worker. An empty one stays through
 *                          cuptiActivityFlushAll(0); a forced flush gives it back with nothing in it.
 * SIMCUPTI_FLUSH_MS=MS     A flush takes so long, with the driver's lock held for reading.
 * SIMCUPTI_CORRELATION=N   The first correlation id. 0 is left out when the counter wraps.
 * SIMCUPTI_VERSION=N       What cuptiGetVersion() says, and the layouts of the records. cupti11/libcupti.so.11.0 is
 *                          of version 13 and lacks what came later.
 * SIMCUPTI_ORDER=ORDER[,…] flush-before-callback: a resource callback (the driver's lock is held for writing) is
 *                          made only once a flush is under way, which then cannot end before the callback does.
 *                          flush-before-fork: a fork goes on only once a flush is under way, which lasts until the
 *                          parent is through. flush-before-exit: the same of the handlers of atexit() that were
 *                          registered before the first flush.
 * SIMCUPTI_ORDER_MS=MS     How long these wait for a flush that does not come, and hold one (5000).
 * SIMCUPTI_ABORT=WHAT[,…]  callback: abort when a function that is not for callbacks is called inside one;
 *                          init: … when another thread is inside the first cuInit; context: … is making a context.
 *
 * What was measured of the real one or stands in its documentation, and holds here: a second subscriber gets 39, yet registering buffer callbacks
 * and enabling kinds without a subscription works and takes the records away; where kinds were on before somebody
 * else subscribes, nobody gets any; a clock that is registered while work is under way leaves that work's records
 * without times; a forked child gets CUPTI_ERROR_NOT_INITIALIZED from everything.
 */
#ifndef SIMCUDA_SIM_H
#define SIMCUDA_SIM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "cuda.h"
#include "sim_api.h"
#include "sim_trace.h"

#define SIM_IMPL(base) int sim_impl_##base(const struct sim_api *api, const uint64_t *a)
#define SIM_UNUSED (void)api, (void)a
#define PTR(i) ((void *)(uintptr_t)a[i])
#define U32(i) ((uint32_t)a[i])
#define I32(i) ((int32_t)a[i])

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* ---- process-wide state ---- */
enum sim_init_state { SIM_INIT_NONE, SIM_INIT_RUNNING, SIM_INIT_DONE, SIM_INIT_FORKED };

struct sim {
	pthread_mutex_t lock;
	_Atomic int init;  /* enum sim_init_state */
	_Atomic bool slow; /* a log, failures or a tracer: leave the short path */
	bool always_slow;  /* … whether there is a tracer or not */
	bool eager;        /* CUDA_MODULE_LOADING=EAGER */
	_Atomic(const struct sim_tracer *) tracer;
	bool stub;        /* SIMCUDA_STUB: every function is the stub */
	bool fast;        /* SIMCUDA_FAST: launches take no simulated time */
	unsigned devices; /* SIMCUDA_DEVICES */
	int init_result; /* SIMCUDA_INIT_RESULT: what the first cuInit gives, after it called the injected library */
	uint64_t kernel_ns;     /* SIMCUDA_KERNEL_NS: kernels that declare nothing */
	uint64_t bytes_per_us;  /* SIMCUDA_COPY_GBPS, of copies */
	_Atomic int captures;   /* active captures of mode global */
	_Atomic unsigned forks; /* generation: cached thread ids die with a fork */
};
extern struct sim sim;

void sim_log__open(const char *path);
struct simlog_record *sim_log__enter(const struct sim_api *api, const uint64_t *a);
void sim_log__leave(struct simlog_record *r, const struct sim_api *api, const uint64_t *a, int result,
		    bool injected);
bool sim_fail__pick(const struct sim_api *api, int *result);
void sim_fail__parse(const char *spec);
bool sim_do__parse(const char *spec, const char *log); /* behave.c; true: some call does something */
void sim_do(const struct sim_api *api);
int sim_stub(const struct sim_api *api, const uint64_t *a);

static inline uint64_t sim_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void sim_wait_until(uint64_t t);

/* ---- objects: a handle is the address of a fixed-size slot, so any word can be checked cheaply ---- */
enum obj_kind {
	OBJ_FREE,
	OBJ_CTX,
	OBJ_MODULE,
	OBJ_LIBRARY,
	OBJ_KERNEL,
	OBJ_FUNC,
	OBJ_STREAM,
	OBJ_EVENT,
	OBJ_GRAPH,
	OBJ_NODE,
	OBJ_EXEC,
	OBJ_POOL,
	OBJ_ARRAY,
	OBJ_PHYS,
};

#define OBJ_BYTES 256

struct obj {
	_Atomic uint32_t kind;
	uint32_t id;
	struct obj *next_free;
};

extern char *obj_base;
extern _Atomic size_t obj_used; /* bytes of the arena handed out so far */

void *obj__new(enum obj_kind kind); /* zeroed; NULL: no memory */
void obj__free(void *o);
static inline void *obj__get(uint64_t handle, enum obj_kind kind)
{
	uint64_t off = handle - (uintptr_t)obj_base;
	struct obj *o;

	if (off >= atomic_load_explicit(&obj_used, memory_order_acquire) || off % OBJ_BYTES)
		return NULL;
	o = (struct obj *)(obj_base + off);
	return atomic_load_explicit(&o->kind, memory_order_acquire) == kind ? o : NULL;
}

/* Every live object of a kind, NULL first: for the few places that must walk. Under sim.lock. */
void *obj__next(void *prev, enum obj_kind kind);

/* ---- tools: trace.c ---- */
#define SIM_REGISTERS 32

struct ctx;
struct stream;
struct op;
struct exec;

struct op_origin {
	uint32_t graph;
	uint64_t node;
};

extern pthread_rwlock_t sim_driver_lock;
/* The innermost call of this thread that a tracer was told of. NULL: nothing here is traced. */
extern __thread struct sim_call *sim_traced __attribute__((tls_model("initial-exec")));

/* These four with sim_driver_lock held for writing. */
void trace__resource(const struct sim_resource *r);
void trace__context(unsigned id, struct ctx *c);
void trace__stream(unsigned id, struct stream *s);
const char *trace__keep(const char *name);
void trace__op(struct stream *s, const struct op *op, const struct op_origin *from, uint64_t start,
	       uint64_t end);
void trace__graph(struct stream *s, const struct exec *x, uint64_t start, uint64_t end);
bool init__elsewhere(void);     /* another thread is inside the first cuInit */
bool ctx__made_elsewhere(void); /* another thread is making a context */

/* ---- contexts ---- */
struct ctx {
	struct obj obj;
	int device;
	unsigned flags;
	bool primary;
	unsigned retained;
	struct stream *legacy;
	_Atomic uint64_t gone_until;     /* when the work of destroyed streams is done */
	_Atomic uint64_t legacy_until;   /* … of the legacy stream */
	_Atomic uint64_t blocking_until; /* … of the streams that wait for it */
	_Atomic int hostfuncs;           /* host functions not yet run */
};

struct ctx *ctx__current(void); /* NULL: none, or it was destroyed */
struct ctx *ctx__primary(int device);

/* ---- streams and the simulated clock ---- */
struct stream {
	struct obj obj;
	struct ctx *_Atomic ctx; /* set last: until then nobody who walks the streams looks at it */
	pthread_spinlock_t spin;
	unsigned flags;
	int priority;
	bool legacy;
	bool origin;      /* its BeginCapture started `capture` */
	bool joined_back; /* a captured side stream whose last event the origin waited for */
	bool invalidated; /* the capture was broken by a call that may not stand in one */
	int mode;         /* of the capture */
	uint64_t until;   /* when the last operation is done */
	struct graph *_Atomic capture;
	pthread_t capture_thread;
	_Atomic int hostfuncs;
};

struct stream *stream__resolve(const struct sim_api *api, uint64_t handle, int *result);
uint64_t stream__push(struct stream *s, uint64_t ns); /* returns the end of the new operation */
bool stream__done(struct stream *s);
void stream__drain(struct stream *s);
void ctx__drain(struct ctx *c);

struct event {
	struct obj obj;
	struct ctx *ctx;
	unsigned flags;
	bool recorded;
	uint64_t time;
	struct graph *capture; /* the recording was captured */
	struct stream *source;
};

/* A call that may not happen while a capture of mode global runs: breaks it. 0 or CUDA_ERROR_STREAM_CAPTURE_…. */
int capture__forbid(void);
int capture__broken(struct stream *s); /* of a stream operation that may not stand in a capture */

/* ---- operations: what a stream runs, and what a graph node holds ---- */
struct op_copy {
	uint64_t dst, src;
	size_t dpitch, spitch; /* bytes between rows */
	size_t dslice, sslice; /* bytes between slices */
	size_t width, height, depth;
};

struct op {
	CUgraphNodeType type;
	bool cooperative; /* of a kernel */
	uint32_t cluster[3];
	uint64_t ns;
	union {
		struct op_copy copy;
		struct {
			uint64_t dst;
			size_t pitch;
			uint32_t value, element;
			size_t width, height;
		} set;
		struct {
			CUhostFn fn;
			CUstreamCallback callback;
			void *data;
		} host;
		CUDA_KERNEL_NODE_PARAMS kernel;
		struct event *event;
	};
};

int stream__submit(struct stream *s, const struct op *op, uint64_t *end); /* run, or capture */
/* `from`: the node of an executable graph that it is. */
void op__run(struct stream *s, const struct op *op, const struct op_origin *from, uint64_t *end);
uint64_t op__copy_ns(size_t bytes);

struct node {
	struct obj obj;
	struct graph *graph;
	struct op *op;
	struct node *next;
};

struct graph {
	struct obj obj;
	struct node *first, **tail;
	size_t count;
	bool capturing;
};

struct exec {
	struct obj obj;
	struct op *ops;
	size_t count;
	bool kernels_only;
	uint64_t ns;
};

struct node *graph__add(struct graph *g, const struct op *op); /* NULL: no memory. Under sim.lock */

/* ---- memory ---- */
enum mem_kind { MEM_NONE, MEM_DEVICE, MEM_POOL, MEM_MANAGED, MEM_HOST, MEM_ARRAY, MEM_RESERVED };

struct mem {
	uint64_t base;
	size_t bytes; /* as asked for */
	size_t pages;
	enum mem_kind kind;
	unsigned id;
	struct ctx *ctx;
	struct mem *next_free;
};

struct array {
	struct obj obj;
	struct mem *mem;
	size_t row, height, depth;
};

#define SIM_MEM_TOTAL (16ull << 30)

/* All under sim.lock. */
int mem__alloc(enum mem_kind kind, size_t bytes, struct ctx *ctx, struct mem **out);
void mem__free(struct mem *m);
struct mem *mem__at(uint64_t ptr);
size_t mem__free_bytes(void);
/* False: [ptr, ptr+bytes) is not device-visible memory. Host memory that CUDA does not know passes as host. */
bool mem__valid(uint64_t ptr, size_t bytes, bool device);
bool mem__registered(uint64_t ptr, size_t *bytes);

/* ---- modules ---- */
struct func {
	struct obj obj;
	struct module *module;
	const char *name;
	uint64_t ns;
	struct func *next;
	struct func *twin; /* of a kernel: its function */
	const char *kept;  /* its name for records; set when it is loaded */
	_Atomic bool loaded;
};

void func__load(struct func *f);

struct module {
	struct obj obj;
	struct image *image;
	struct func *funcs;
	struct module *module; /* of a library */
};

/* The function behind a CUfunction, or behind a CUkernel in its place. */
static inline struct func *func__get(uint64_t handle)
{
	struct func *f = obj__get(handle, OBJ_FUNC);

	return f ? f : obj__get(handle, OBJ_KERNEL);
}

#endif
