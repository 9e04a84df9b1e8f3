// SPDX-License-Identifier: BSD-2-Clause
#include "callbacks.h"

#include "batch.h"
#include "clock.h"
#include "guard.h"
#include "modules.h"
#include "phase.h"
#ifdef GPUBPF_SHIM_OLD_DESIGN
#include "crc32c.h"
#endif

/* cupti_driver_cbid.h: cuModuleLoad, LoadData, LoadDataEx, LoadFatBinary; cuLibraryLoadData, LoadFromFile (12.0). */
#define LOADS(X) X(18) X(19) X(20) X(21) X(678) X(679)

const struct callbacks_entry callbacks_driver[] = {
#define X(symbol, id, work) { id, GPUBPF_WORK_##work },
	CUPTI_DRIVER_CBIDS(X)
#undef X
#define X(id) { id, 0 },
		LOADS(X)
#undef X
};
const size_t callbacks_driver_size = sizeof(callbacks_driver) / sizeof(callbacks_driver[0]);

static uint8_t work_of[CUPTI_DRIVER_CBID_MAX];

void callbacks__init(void)
{
	for (size_t i = 0; i < callbacks_driver_size; i++)
		work_of[callbacks_driver[i].cbid] = callbacks_driver[i].work;
}

/* A build for tests: that the figure of batch__spent() is that of the callback. */
static inline void linger(uint64_t since)
{
#ifdef GPUBPF_SHIM_SLOW
	while (now_ns() - since < GPUBPF_SHIM_SLOW)
		;
#else
	(void)since;
#endif
}

static void on_enter(uint32_t word, uint32_t cbid, const struct cupti_callback_data *d)
{
	struct batch *b;
	uint64_t now;

	/* 0: not this session's, whatever the exit will find. */
	*d->correlation_data = 0;
	if (phase__of(word) != PHASE_ON)
		return;
	now = now_ns();
	*d->correlation_data = now;
	b = batch__mine();
	if (!b)
		return;
	b->context = d->context;
	b->context_id = d->context_uid;
	linger(now);
	if (!work_of[cbid]) {
		b->load_start = now;
		batch__spent(b, GPUBPF_CALLBACK_ENTER, now);
		return;
	}
	batch__open(b, now, d->correlation_id, cbid, work_of[cbid]);
	/* Descheduled since the look at the phase, over the end: the session's last call was chosen without this one. */
	if (phase__word() != word) {
		batch__withdraw(b);
		*d->correlation_data = 0;
	}
	batch__spent(b, GPUBPF_CALLBACK_ENTER, now);
}

static void on_leave(uint32_t word, uint32_t cbid, const struct cupti_callback_data *d)
{
	uint64_t now = now_ns(), start = *d->correlation_data;
	struct batch *b;

	/* Entered before the session, or by a callback that another client had. */
	if (start < atomic_load_explicit(&shim_began, memory_order_relaxed) || start > now)
		return;
	b = batch__mine();
	linger(now);
	if (!work_of[cbid]) {
		if (b) {
			b->load_start = 0;
			batch__spent(b, GPUBPF_CALLBACK_LEAVE, now);
		}
		return;
	}
	if (!b) {
		batch__lost_here();
		emit__lost(GPUBPF_PROBE_CALLS, 1);
		return;
	}
	batch__close(b, word,
		     &(struct gpubpf_shim_call){
			     .start = start,
			     .end = now,
			     .correlation = d->correlation_id,
			     .result = d->function_return ? *(const int *)d->function_return : 0,
			     .cbid = (__u16)cbid,
			     .domain = GPUBPF_DOMAIN_DRIVER,
			     .work = work_of[cbid],
			     .session = phase__session(word) });
	batch__spent(b, GPUBPF_CALLBACK_LEAVE, now);
}

static void on_module(uint32_t word, uint32_t cbid, const struct cupti_resource_data *r)
{
	const struct cupti_module_data *d = r->descriptor;
	struct gpubpf_module m = { .end = now_ns(), .session = phase__session(word) };
	struct batch *b = batch__mine();

	if (phase__of(word) != PHASE_ON || !d)
		return;
	m.id = d->module_id;
	m.bytes = d->cubin_size;
	if (cbid == ABI_CBID_RESOURCE_MODULE_UNLOAD_STARTING)
		m.flags = GPUBPF_MODULE_UNLOADED;
	else if (b)
		m.start = b->load_start;
	if (b && b->context == r->context)
		m.context = b->context_id;
#ifdef GPUBPF_SHIM_OLD_DESIGN
	guard__lock();
	if (d->cubin)
		m.crc = shim_crc32c(0, d->cubin, d->cubin_size);
	emit__hit(GPUBPF_PROBE_MODULES, &m, 1);
	guard__unlock();
#else
	modules__add(&m, d->cubin);
#endif
	if (b)
		batch__spent(b, GPUBPF_CALLBACK_MODULE, m.end);
}

void callbacks__on(void *userdata, int domain, uint32_t cbid, const void *data)
{
	uint32_t word = phase__word();

	(void)userdata;
	if (phase__of(word) == PHASE_OFF)
		return;
	guard__enter_callback();
	if (domain == ABI_CB_DOMAIN_DRIVER_API && cbid < CUPTI_DRIVER_CBID_MAX) {
		const struct cupti_callback_data *d = data;

		if (d->site == ABI_API_ENTER)
			on_enter(word, cbid, d);
		else
			on_leave(word, cbid, d);
	} else if (domain == ABI_CB_DOMAIN_RESOURCE && (cbid == ABI_CBID_RESOURCE_MODULE_LOADED ||
							cbid == ABI_CBID_RESOURCE_MODULE_UNLOAD_STARTING)) {
		on_module(word, cbid, data);
	}
	guard__leave_callback();
}
