/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one subscriber, and the callbacks around the driver's calls and from inside its locks. */
#include "sc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a function of the driver is to CUPTI, by its place in the driver's table. */
static struct function {
	uint16_t cbid;
	int8_t kernel; /* the argument that is the kernel to launch; -1: none */
} * functions;
static const struct sim_api *first;

static uint16_t cbid_of(const char *symbol)
{
#define ROW(name, id) { #name, id },
	static const struct {
		const char *symbol;
		uint16_t cbid;
	} rows[] = { CUPTI_DRIVER_CBIDS(ROW) };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].symbol, symbol) == 0)
			return rows[i].cbid;
	return CUPTI_DRIVER_TRACE_CBID_INVALID;
}

static int kernel_arg(const char *base)
{
	if (strncmp(base, "cuLaunch", 8) != 0 || strcmp(base, "cuLaunchHostFunc") == 0 ||
	    strcmp(base, "cuLaunchCooperativeKernelMultiDevice") == 0)
		return -1;
	return strcmp(base, "cuLaunchKernelEx") == 0 ? 1 : 0;
}

void sc_callback_setup(const struct sim_private *d)
{
	struct function *f = calloc(d->napis, sizeof(*f));

	for (unsigned i = 0; f && i < d->napis; i++) {
		f[i].cbid = cbid_of(d->apis[i].symbol);
		f[i].kernel = (int8_t)kernel_arg(d->apis[i].base);
	}
	first = d->apis;
	functions = f;
}

uint32_t sc_cbid(const struct sim_api *api)
{
	return functions ? functions[api - first].cbid : CUPTI_DRIVER_TRACE_CBID_INVALID;
}

/* ---- the driver's calls ---- */

/* The arguments as members of a struct, each at the alignment of its type. */
static void pack(const struct sim_api *api, const uint64_t *a, unsigned char *out)
{
	size_t at = 0;

	for (unsigned i = 0; i < api->nargs; i++) {
		char t = api->types[i];
		size_t size = t == 'b' ? 1 : t == 'w' ? 2 : t == 'u' || t == 'i' ? 4 : 8;
		size_t align = t == 'l' ? 4 : size;

		if ((api->flags & SIM_API_LEGACY32) && (t == 'd' || t == 'z'))
			size = align = 4;
		at = (at + align - 1) / align * align;
		memcpy(out + at, &a[i], size);
		at += size;
	}
}

static void fire(struct sim_call *c, CUpti_ApiCallbackSite site)
{
	struct CUpti_Subscriber_st *s = sc.subscriber;
	const struct function *f = &functions[c->api - first];
	const struct sim_private *d = sc.driver;
	unsigned char params[16 * 8] = { 0 };
	CUpti_CallbackData data;
	uint32_t device;

	if (!s || !s->on[CUPTI_CB_DOMAIN_DRIVER_API][f->cbid])
		return;
	pack(c->api, c->a, params);
	data = (CUpti_CallbackData){ .callbackSite = site,
				     .functionName = c->api->symbol,
				     .functionParams = params,
				     .functionReturnValue = site == CUPTI_API_EXIT ? &c->result : NULL,
				     .symbolName = f->kernel >= 0 ? d->function(c->a[f->kernel]) : NULL,
				     .correlationData = &c->data,
				     .correlationId = c->correlation };
	d->context(0, (void **)&data.context, &data.contextUid, &device);
	sc_in = SC_IN_API;
	s->callback(s->userdata, CUPTI_CB_DOMAIN_DRIVER_API, f->cbid, &data);
	sc_in = SC_IN_NONE;
}

static void enter(struct sim_call *c)
{
	/* What a client calls from inside its callbacks is no call of the application. */
	if (sc_in != SC_IN_NONE || sc.dead)
		return;
	do
		c->correlation = sc.correlation++;
	while (c->correlation == 0);
	if (sc.latency)
		c->queued = sc_monotonic();
	if (sc.kinds & SC_API_KINDS) {
		c->start = sc_timestamp();
		sc_before_free(c);
	}
	fire(c, CUPTI_API_ENTER);
}

static void leave(struct sim_call *c)
{
	if (c->correlation == 0 || sc.dead)
		return;
	fire(c, CUPTI_API_EXIT);
	sc_api_records(c);
}

/* ---- resources ---- */
static void resource(const struct sim_resource *r)
{
	struct CUpti_Subscriber_st *s = sc.subscriber;
	CUpti_ModuleResourceData module = { r->module, r->bytes, r->cubin };
	CUpti_GraphData graph = { .graph = r->graph, .graphExec = r->exec };
	CUpti_ResourceData data = { .context = r->context, .resourceHandle.stream = r->stream };

	if (!s || !s->on[CUPTI_CB_DOMAIN_RESOURCE][r->id] || sc_in != SC_IN_NONE || sc.dead)
		return;
	if (r->cubin)
		data.resourceDescriptor = &module;
	if (r->exec)
		data.resourceDescriptor = &graph;
	if (sc.opt.order & SC_ORDER_CALLBACK)
		sc_await_flush("callback");
	sc_in = SC_IN_RESOURCE;
	sc_log("! resource %u begins", r->id);
	s->callback(s->userdata, CUPTI_CB_DOMAIN_RESOURCE, r->id, &data);
	sc_log("! resource %u ended", r->id);
	sc_in = SC_IN_NONE;
}

const struct sim_tracer sc_tracer = { .enter = enter, .leave = leave, .work = sc_work, .resource = resource };

void sc_update_tracer(void)
{
	const struct sim_private *d = sc.driver;

	if (d)
		d->set_tracer(sc.subscriber || sc.kinds ? &sc_tracer : NULL);
}

/* ---- subscribing ---- */
static CUptiResult subscribe(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *userdata,
			     CUpti_SubscriberParams *p)
{
	struct CUpti_Subscriber_st *s, *old;
	CUptiResult result = CUPTI_SUCCESS;

	if (!out || !callback)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!sc_attach())
		return CUPTI_ERROR_NOT_INITIALIZED;
	s = calloc(1, sizeof(*s));
	if (!s)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	s->callback = callback;
	s->userdata = userdata;
	if (p && p->subscriberName)
		snprintf(s->name, sizeof(s->name), "%s", p->subscriberName);
	pthread_mutex_lock(&sc.state);
	old = sc.subscriber;
	if (old) {
		if (p && p->oldSubscriberName && p->oldSubscriberSize)
			snprintf(p->oldSubscriberName, p->oldSubscriberSize, "CUPTI for %s", old->name);
		result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
		free(s);
	} else {
		*out = s;
		sc.subscriber = s;
		/* Somebody else collects without having subscribed: from now on neither gets anything. */
		sc.broken = sc.kinds != 0;
		sc_worker_start();
		sc_update_tracer();
	}
	pthread_mutex_unlock(&sc.state);
	return result;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *userdata)
{
	struct sc_call call;

	return sc_enter(&call, __func__, 0, SC_OWNER)
		       ? sc_leave(&call, subscribe(subscriber, callback, userdata, NULL))
		       : call.result;
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *userdata,
			      CUpti_SubscriberParams *pParams)
{
	struct sc_call call;

	return sc_enter(&call, __func__, 0, SC_OWNER)
		       ? sc_leave(&call, subscribe(subscriber, callback, userdata, pParams))
		       : call.result;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
	CUptiResult result = CUPTI_ERROR_INVALID_PARAMETER;
	struct sc_call call;

	if (!sc_enter(&call, __func__, 0, SC_OWNER))
		return call.result;
	pthread_mutex_lock(&sc.state);
	if (subscriber && sc.subscriber == subscriber) {
		sc.subscriber = NULL;
		sc_update_tracer();
		result = CUPTI_SUCCESS;
	}
	pthread_mutex_unlock(&sc.state);
	return sc_leave(&call, result);
}

static CUptiResult set(uint32_t enable, CUpti_SubscriberHandle s, uint32_t domain, uint32_t from, uint32_t to)
{
	if (!s || s != sc.subscriber || domain == CUPTI_CB_DOMAIN_INVALID || domain >= CUPTI_CB_DOMAIN_SIZE ||
	    from >= SC_CBIDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (uint32_t id = from; id <= to; id++)
		s->on[domain][id] = enable != 0;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
				CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	struct sc_call call;

	return sc_enter(&call, __func__, cbid, 0)
		       ? sc_leave(&call, set(enable, subscriber, domain, cbid, cbid))
		       : call.result;
}

CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain)
{
	struct sc_call call;

	return sc_enter(&call, __func__, domain, 0)
		       ? sc_leave(&call, set(enable, subscriber, domain, 0, SC_CBIDS - 1))
		       : call.result;
}

CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle subscriber)
{
	CUptiResult result = CUPTI_SUCCESS;
	struct sc_call call;

	if (!sc_enter(&call, __func__, 0, 0))
		return call.result;
	for (uint32_t d = 1; d < CUPTI_CB_DOMAIN_SIZE && result == CUPTI_SUCCESS; d++)
		result = set(enable, subscriber, d, 0, SC_CBIDS - 1);
	return sc_leave(&call, result);
}

CUptiResult cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle subscriber,
				  CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	CUptiResult result = CUPTI_ERROR_INVALID_PARAMETER;
	struct sc_call call;

	if (!sc_enter(&call, __func__, cbid, 0))
		return call.result;
	if (enable && subscriber && subscriber == sc.subscriber && (unsigned)domain < CUPTI_CB_DOMAIN_SIZE &&
	    cbid < SC_CBIDS) {
		*enable = subscriber->on[domain][cbid];
		result = CUPTI_SUCCESS;
	}
	return sc_leave(&call, result);
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char **name)
{
	const struct sim_private *d = sc_attach();
	struct sc_call call;

	if (!sc_enter(&call, __func__, cbid, 0))
		return call.result;
	for (unsigned i = 0; d && name && domain == CUPTI_CB_DOMAIN_DRIVER_API && i < d->napis; i++)
		if (functions[i].cbid == cbid) {
			*name = d->apis[i].symbol;
			return sc_leave(&call, CUPTI_SUCCESS);
		}
	return sc_leave(&call, CUPTI_ERROR_INVALID_PARAMETER);
}
