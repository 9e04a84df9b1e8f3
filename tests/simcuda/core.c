/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dispatch, options from the environment, failures on demand, the stub, and the object arena. */
#include "sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct sim sim = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.devices = 1,
	.kernel_ns = 1000,
	.bytes_per_us = 25000,
};

#define OBJ_ARENA (256ull << 20)
char *obj_base;
_Atomic size_t obj_used;
static struct obj *obj_freed;
static pthread_mutex_t obj_lock = PTHREAD_MUTEX_INITIALIZER;

void *obj__new(enum obj_kind kind)
{
	static uint32_t next_id;
	struct obj *o;

	pthread_mutex_lock(&obj_lock);
	o = obj_freed;
	if (o) {
		obj_freed = o->next_free;
		memset(o, 0, OBJ_BYTES);
	} else if (obj_base && obj_used < OBJ_ARENA) {
		o = (struct obj *)(obj_base + obj_used);
		obj_used += OBJ_BYTES;
	}
	if (o) {
		o->id = ++next_id;
		atomic_store_explicit(&o->kind, kind, memory_order_release);
	}
	pthread_mutex_unlock(&obj_lock);
	return o;
}

void obj__free(void *p)
{
	struct obj *o = p;

	pthread_mutex_lock(&obj_lock);
	o->kind = OBJ_FREE;
	o->next_free = obj_freed;
	obj_freed = o;
	pthread_mutex_unlock(&obj_lock);
}

void *obj__next(void *prev, enum obj_kind kind)
{
	char *p = prev ? (char *)prev + OBJ_BYTES : obj_base;

	for (; p < obj_base + obj_used; p += OBJ_BYTES)
		if (((struct obj *)p)->kind == kind)
			return p;
	return NULL;
}

/* SIMCUDA_FAIL=SYMBOL:RESULT:N[,…]: the N-th call of SYMBOL in this process (or every one, *) gives RESULT. */
struct failure {
	char symbol[64];
	int result;
	uint64_t nth; /* 0: always */
	_Atomic uint64_t calls;
};

#define FAILURES_MAX 32
static struct failure failures[FAILURES_MAX];
static unsigned nfailures;

void sim_fail__parse(const char *spec)
{
	char *copy = strdup(spec), *save = NULL;

	for (char *p = copy ? strtok_r(copy, ",", &save) : NULL; p && nfailures < FAILURES_MAX;
	     p = strtok_r(NULL, ",", &save)) {
		struct failure *f = &failures[nfailures];
		char *result = strchr(p, ':'), *nth = result ? strchr(result + 1, ':') : NULL;

		if (!nth || result - p >= (long)sizeof(f->symbol))
			continue;
		memcpy(f->symbol, p, (size_t)(result - p));
		f->result = atoi(result + 1);
		f->nth = nth[1] == '*' ? 0 : strtoull(nth + 1, NULL, 10);
		nfailures++;
	}
	free(copy);
}

bool sim_fail__pick(const struct sim_api *api, int *result)
{
	bool hit = false;

	for (unsigned i = 0; i < nfailures; i++) {
		struct failure *f = &failures[i];
		uint64_t n;

		if (strcmp(f->symbol, api->symbol) != 0)
			continue;
		n = ++f->calls;
		if (f->nth == 0 || f->nth == n) {
			*result = f->result;
			hit = true;
		}
	}
	return hit;
}

int sim_stub(const struct sim_api *api, const uint64_t *a)
{
	/* A value no other call of any thread gave: tests tell results apart by it. */
	static _Atomic uint64_t serial;
	uint64_t value = 0;

	for (unsigned i = 0; i < api->nargs; i++) {
		char t = api->types[i];

		if (!a[i] || (t != 'o' && t != 'O' && t != 'x' && t != 'n'))
			continue;
		value = 0x5100000000000000ull | (uint64_t)(api - sim_apis) << 40 | ++serial << 8 | i;
		if (t == 'n')
			*(const char **)PTR(i) = api->symbol;
		else if (t == 'O' && (api->flags & SIM_API_LEGACY32))
			*(uint32_t *)PTR(i) = (uint32_t)value;
		else
			*(uint64_t *)PTR(i) = value;
	}
	return CUDA_SUCCESS;
}

static int run(const struct sim_api *api, const uint64_t *a)
{
	if (unlikely(sim.stub))
		return sim_stub(api, a);
	if (unlikely(sim.init != SIM_INIT_DONE) && !(api->flags & SIM_API_EARLY))
		return CUDA_ERROR_NOT_INITIALIZED;
	return likely(api->impl != NULL) ? api->impl(api, a) : sim_stub(api, a);
}

static __attribute__((noinline)) int dispatch_slow(const struct sim_api *api, const uint64_t *a)
{
	struct simlog_record *r = sim_log__enter(api, a);
	const struct sim_tracer *t = sim.tracer;
	struct sim_call call = { .api = api, .a = a, .outer = sim_traced };
	int result;
	bool injected;

	if (t) {
		t->enter(&call);
		sim_traced = &call;
	}
	sim_do(api);
	injected = sim_fail__pick(api, &result);
	if (!injected)
		result = run(api, a);
	if (t) {
		call.result = result;
		t->leave(&call);
		sim_traced = call.outer;
	}
	sim_log__leave(r, api, a, result, injected);
	return result;
}

int sim_dispatch(const struct sim_api *api, const uint64_t *a)
{
	return likely(!sim.slow) ? run(api, a) : dispatch_slow(api, a);
}

void sim_wait_until(uint64_t t)
{
	struct timespec ts = { .tv_sec = (time_t)(t / 1000000000u), .tv_nsec = (long)(t % 1000000000u) };
	uint64_t now = sim_now();

	/* A sleep overshoots by its timer slack (50 µs): the last stretch is spun, as the driver does. */
	if (t > now + 200000) {
		uint64_t early = t - 100000;

		ts.tv_sec = (time_t)(early / 1000000000u);
		ts.tv_nsec = (long)(early % 1000000000u);
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
			;
	}
	while (sim_now() < t)
		;
}

/* The driver does not survive a fork: the child's calls say so, until it execs. */
static void forked(void)
{
	sim.forks++;
	sim.tracer = NULL;
	sim_traced = NULL;
	if (sim.init != SIM_INIT_NONE)
		sim.init = SIM_INIT_FORKED;
}

static uint64_t env_number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);
	char *end;
	uint64_t v;

	if (!s || !*s)
		return otherwise;
	v = strtoull(s, &end, 10);
	return *end ? otherwise : v;
}

__attribute__((constructor)) static void setup(void)
{
	const char *fail = getenv("SIMCUDA_FAIL"), *log = getenv("SIMCUDA_LOG");
	const char *loading = getenv("CUDA_MODULE_LOADING"), *deeds = getenv("SIMCUDA_DO");
	bool does = deeds && sim_do__parse(deeds, getenv("SIMCUDA_DO_LOG"));

	obj_base = mmap(NULL, OBJ_ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			-1, 0);
	if (obj_base == MAP_FAILED)
		obj_base = NULL;
	sim.devices = (unsigned)env_number("SIMCUDA_DEVICES", sim.devices);
	sim.init_result = (int)env_number("SIMCUDA_INIT_RESULT", 0);
	sim.kernel_ns = env_number("SIMCUDA_KERNEL_NS", sim.kernel_ns);
	sim.bytes_per_us = env_number("SIMCUDA_COPY_GBPS", sim.bytes_per_us / 1000) * 1000;
	sim.bytes_per_us = sim.bytes_per_us ? sim.bytes_per_us : 1;
	sim.stub = env_number("SIMCUDA_STUB", 0) != 0;
	sim.fast = env_number("SIMCUDA_FAST", 0) != 0;
	if (fail && *fail)
		sim_fail__parse(fail);
	if (log && *log)
		sim_log__open(log);
	sim.eager = loading && strcmp(loading, "EAGER") == 0;
	sim.always_slow = (log && *log) || nfailures || does;
	sim.slow = sim.always_slow;
	pthread_atfork(NULL, NULL, forked);
}
