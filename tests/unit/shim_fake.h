/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A CUPTI of a few lines, and the hits of the probes, for tests of the shim's own threads. One context, one stream,
 * records of kernels only. The driver's locks are not modelled here: that is the simulated libcupti's.
 */
#ifndef TESTS_SHIM_FAKE_H
#define TESTS_SHIM_FAKE_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "cupti.h"
#include "emit.h"
#include "guard.h"
#include "session.h"
#include "t.h"
#include "usdt/probe.h"
#include "usdt/probes.h"

#define X(name, NAME) GPUBPF_PROBE_DECLARE(name);
GPUBPF_EACH_PROBE(X)
#undef X

/* A recorder comes (hello_v1 last) or goes (hello_v1 first). */
static inline void attach(void)
{
	gpubpf_calls_v1_semaphore = gpubpf_activity_v1_semaphore = gpubpf_names_v1_semaphore = 1;
	gpubpf_modules_v1_semaphore = gpubpf_status_v1_semaphore = 1;
	gpubpf_hello_v1_semaphore = 1;
}

static inline void detach_hello(void)
{
	gpubpf_hello_v1_semaphore = 0;
}

static inline void detach(void)
{
	detach_hello();
	gpubpf_calls_v1_semaphore = gpubpf_activity_v1_semaphore = gpubpf_names_v1_semaphore = 0;
	gpubpf_modules_v1_semaphore = gpubpf_status_v1_semaphore = 0;
}

/* ---- what was handed over ---- */

#define GOT_MAX (1 << 20)
static struct {
	pthread_mutex_t lock;
	size_t hits[GPUBPF_PROBES], ncalls, nactivities, nnames, nmodules, nstatuses, nhellos;
	bool after_disarmed;                                          /* a call, activity, name or module */
	__u64 next_sequence[GPUBPF_PROBES], sequences[GPUBPF_PROBES]; /* the highest + 1, the sum */
	struct gpubpf_shim_call *calls;
	struct gpubpf_activity *activities;
	struct gpubpf_name names[4096];
	struct gpubpf_module modules[4096];
	struct gpubpf_status statuses[4096];
	struct gpubpf_hello hello;
} got = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* An expression about it, while other threads are at it. */
#define GOT(e)                                                                                               \
	({                                                                                                   \
		pthread_mutex_lock(&got.lock);                                                               \
		bool got_ = (e);                                                                             \
		pthread_mutex_unlock(&got.lock);                                                             \
		got_;                                                                                        \
	})

static inline size_t got_room(size_t is, size_t n, size_t max)
{
	return is + n <= max ? n : max - is;
}

static inline bool got_disarmed(void)
{
	return got.nstatuses && got.statuses[got.nstatuses - 1].kind == GPUBPF_STATUS_DISARMED;
}

static inline void got_hit(enum gpubpf_probe p, const void *items, size_t n, __u64 sequence)
{
	pthread_mutex_lock(&got.lock);
	got.hits[p]++;
	got.sequences[p] += sequence;
	if (sequence >= got.next_sequence[p])
		got.next_sequence[p] = sequence + 1;
	if (p != GPUBPF_PROBE_STATUS && p != GPUBPF_PROBE_HELLO && got_disarmed())
		got.after_disarmed = true;
	switch (p) {
	case GPUBPF_PROBE_HELLO:
		got.hello = *(const struct gpubpf_hello *)items;
		got.nhellos++;
		break;
	case GPUBPF_PROBE_CALLS:
		n = got_room(got.ncalls, n, GOT_MAX);
		memcpy(got.calls + got.ncalls, items, n * sizeof(*got.calls));
		got.ncalls += n;
		break;
	case GPUBPF_PROBE_ACTIVITY:
		n = got_room(got.nactivities, n, GOT_MAX);
		memcpy(got.activities + got.nactivities, items, n * sizeof(*got.activities));
		got.nactivities += n;
		break;
	case GPUBPF_PROBE_NAMES:
		n = got_room(got.nnames, n, 4096);
		memcpy(got.names + got.nnames, items, n * sizeof(got.names[0]));
		got.nnames += n;
		break;
	case GPUBPF_PROBE_MODULES:
		n = got_room(got.nmodules, n, 4096);
		memcpy(got.modules + got.nmodules, items, n * sizeof(got.modules[0]));
		got.nmodules += n;
		break;
	default:
		n = got_room(got.nstatuses, n, 4096);
		memcpy(got.statuses + got.nstatuses, items, n * sizeof(got.statuses[0]));
		got.nstatuses += n;
		break;
	}
	pthread_mutex_unlock(&got.lock);
}

static inline void got_begin(void)
{
	pthread_mutex_lock(&got.lock);
	if (!got.calls) {
		got.calls = malloc(GOT_MAX * sizeof(*got.calls));
		got.activities = malloc(GOT_MAX * sizeof(*got.activities));
	}
	got.ncalls = got.nactivities = got.nnames = got.nmodules = got.nstatuses = got.nhellos = 0;
	got.after_disarmed = false;
	memset(got.hits, 0, sizeof(got.hits));
	emit__hook = got_hit;
	pthread_mutex_unlock(&got.lock);
}

/* The last status of this kind and code; code -1: of any. */
static inline struct gpubpf_status got_status(enum gpubpf_status_kind kind, int code)
{
	struct gpubpf_status s = { 0 };

	pthread_mutex_lock(&got.lock);
	for (size_t i = 0; i < got.nstatuses; i++) {
		if (got.statuses[i].kind == kind && (code < 0 || got.statuses[i].code == code))
			s = got.statuses[i];
	}
	pthread_mutex_unlock(&got.lock);
	return s;
}

/* Waits up to ms for one. */
static inline bool got_in_time(enum gpubpf_status_kind kind, int ms)
{
	for (int i = 0; i < ms; i++) {
		if (got_status(kind, -1).kind)
			return true;
		usleep(1000);
	}
	return false;
}

/* ---- CUPTI ---- */

#define FAKE_RUNNING 0 /* end of a kernel that runs */
static struct {
	pthread_mutex_t lock;
	cupti_callback *_Atomic callback;
	cupti_buffer_requested *requested;
	cupti_buffer_completed *completed;
	cupti_timestamp *timestamp;
	uint32_t kinds; /* that are enabled, a bit each */
	_Atomic bool calls, subscribed;
	uint8_t *buffer;
	size_t used, size;
	char log[2048];
	/* What it answers. */
	cupti_result subscribe, enable, flush;
	int refused_kind;
	_Atomic bool flush_hangs;
	bool keeps_empty; /* has an empty buffer at all times, and gives it back when it is forced to */
	_Atomic uint32_t correlation;
	_Atomic uint64_t launched;
} fake = { .lock = PTHREAD_MUTEX_INITIALIZER, .refused_kind = -1 };

static inline void fake_log(const char *fmt, ...)
{
	size_t n = strlen(fake.log);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(fake.log + n, sizeof(fake.log) - n, fmt, ap);
	va_end(ap);
}

static inline cupti_result fake_subscribe(cupti_subscriber *s, cupti_callback *cb, void *arg)
{
	(void)arg;
	fake_log("subscribe ");
	if (fake.subscribe)
		return fake.subscribe;
	fake.callback = cb;
	fake.subscribed = true;
	*s = (cupti_subscriber)&fake;
	return ABI_SUCCESS;
}

static inline cupti_result fake_unsubscribe(cupti_subscriber s)
{
	(void)s;
	fake_log("unsubscribe ");
	fake.subscribed = fake.calls = false;
	return ABI_SUCCESS;
}

static inline cupti_result fake_enable_callback(uint32_t on, cupti_subscriber s, int domain, uint32_t id)
{
	(void)s;
	if (domain == ABI_CB_DOMAIN_DRIVER_API && id == ABI_CBID_cuLaunchKernel) {
		fake.calls = on;
		fake_log(on ? "calls " : "no-calls ");
	}
	return ABI_SUCCESS;
}

static inline cupti_result fake_register(cupti_buffer_requested *r, cupti_buffer_completed *c)
{
	fake_log("buffers ");
	fake.requested = r;
	fake.completed = c;
	return ABI_SUCCESS;
}

static inline cupti_result fake_timestamp(cupti_timestamp *t)
{
	fake_log("timestamp ");
	fake.timestamp = t;
	return ABI_SUCCESS;
}

static inline cupti_result fake_activity_enable(int kind)
{
	fake_log("+%d ", kind);
	if (kind == fake.refused_kind)
		return fake.enable;
	pthread_mutex_lock(&fake.lock);
	fake.kinds |= 1u << (kind & 31);
	pthread_mutex_unlock(&fake.lock);
	return ABI_SUCCESS;
}

static inline cupti_result fake_activity_disable(int kind)
{
	fake_log("-%d ", kind);
	pthread_mutex_lock(&fake.lock);
	fake.kinds &= ~(1u << (kind & 31));
	pthread_mutex_unlock(&fake.lock);
	return ABI_SUCCESS;
}

static inline bool fake_all_ended(void)
{
	for (size_t at = 0; at < fake.used; at += sizeof(struct cupti_kernel)) {
		if (((struct cupti_kernel *)(void *)(fake.buffer + at))->end == FAKE_RUNNING)
			return false;
	}
	return true;
}

static inline void fake_complete(void)
{
	if (fake.buffer)
		fake.completed(NULL, 0, fake.buffer, fake.size, fake.used);
	fake.buffer = NULL;
	fake.used = 0;
}

static inline cupti_result fake_flush(uint32_t flag)
{
	size_t max;

	while (atomic_load(&fake.flush_hangs))
		usleep(1000);
	pthread_mutex_lock(&fake.lock);
	if (flag || (fake_all_ended() && (fake.used || !fake.keeps_empty)))
		fake_complete();
	if (!flag && fake.keeps_empty && !fake.buffer)
		fake.requested(&fake.buffer, &fake.size, &max);
	pthread_mutex_unlock(&fake.lock);
	return fake.flush;
}

static inline cupti_result fake_next(uint8_t *buffer, size_t valid, struct cupti_record **r)
{
	uint8_t *next = *r ? (uint8_t *)*r + sizeof(struct cupti_kernel) : buffer;

	if (next + sizeof(struct cupti_kernel) > buffer + valid)
		return ABI_ERROR_MAX_LIMIT_REACHED;
	*r = (void *)next;
	return ABI_SUCCESS;
}

static inline cupti_result fake_dropped(void *context, uint32_t stream, size_t *n)
{
	(void)context;
	(void)stream;
	*n = 0;
	return ABI_SUCCESS;
}

static inline cupti_result fake_get_timestamp(uint64_t *t)
{
	*t = now_ns();
	return ABI_SUCCESS;
}

static inline void fake_begin(void)
{
	struct cupti *c = session__cupti();

	got_begin();
	fake.log[0] = 0;
	fake.subscribe = fake.enable = fake.flush = ABI_SUCCESS;
	fake.refused_kind = -1;
	fake.keeps_empty = false;
	c->handle = &fake;
	c->version = CUPTI_SINCE_13_0;
	strcpy(c->path, "/fake/libcupti.so");
	c->subscribe = fake_subscribe;
	c->unsubscribe = fake_unsubscribe;
	c->enable_callback = fake_enable_callback;
	c->activity_register_callbacks = fake_register;
	c->activity_register_timestamp = fake_timestamp;
	c->activity_enable = fake_activity_enable;
	c->activity_disable = fake_activity_disable;
	c->activity_flush_all = fake_flush;
	c->activity_get_next_record = fake_next;
	c->activity_get_num_dropped = fake_dropped;
	c->get_timestamp = fake_get_timestamp;
}

/* ---- the application ---- */

static inline void fake_call(int site, uint32_t cbid, uint32_t correlation, uint64_t *data, int *result)
{
	struct cupti_callback_data d = { .site = site,
					 .function_return = site == ABI_API_EXIT ? result : NULL,
					 .context_uid = 7,
					 .correlation_data = data,
					 .correlation_id = correlation };

	if (fake.calls)
		fake.callback(NULL, ABI_CB_DOMAIN_DRIVER_API, cbid, &d);
}

static inline void fake_record(uint32_t correlation, const char *name, uint64_t end)
{
	struct cupti_kernel *k;
	size_t max;

	pthread_mutex_lock(&fake.lock);
	if (fake.kinds >> ABI_ACTIVITY_KIND_CONCURRENT_KERNEL & 1) {
		if (fake.buffer && fake.used + sizeof(*k) > fake.size)
			fake_complete();
		if (!fake.buffer) {
			fake.requested(&fake.buffer, &fake.size, &max);
			fake.used = 0;
		}
		k = (void *)(fake.buffer + fake.used);
		memset(k, 0, sizeof(*k));
		k->kind = ABI_ACTIVITY_KIND_CONCURRENT_KERNEL;
		k->correlation = correlation;
		k->name = name;
		k->start = now_ns();
		k->end = end;
		fake.used += sizeof(*k);
		atomic_fetch_add(&fake.launched, 1);
	}
	pthread_mutex_unlock(&fake.lock);
}

/* Returns its correlation id. */
static inline uint32_t fake_launch(const char *name, uint64_t end)
{
	uint32_t id = atomic_fetch_add(&fake.correlation, 1) + 1;
	uint64_t data = 0x5555555555555555;
	int result = 0;

	fake_call(ABI_API_ENTER, ABI_CBID_cuLaunchKernel, id, &data, &result);
	fake_record(id, name, end);
	fake_call(ABI_API_EXIT, ABI_CBID_cuLaunchKernel, id, &data, &result);
	return id;
}

#endif
