/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NVTX's way into CUPTI: an application's NVTX hands over its table of functions (nvtx3/nvtxDetail/nvtxTypes.h), and what
 * is called through it becomes records of kind MARKER, and of MARKER_DATA behind them: for what the call gave beside the
 * name, and empty where it gave nothing. Texts are kept for ever, as the records point to them; an extended payload
 * (nvtx3/nvtxExtDetail, nvtxPayloadData_t) is copied, and is the client's to free.
 */
#include "sc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ETID_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5, MESSAGE_ASCII = 1, MESSAGE_REGISTERED = 3 };
enum { COLOR_ARGB = 1 };
enum { /* NVTX_PAYLOAD_TYPE_… */
       PAYLOAD_UINT64 = 1,
       PAYLOAD_INT64 = 2,
       PAYLOAD_DOUBLE = 3,
       PAYLOAD_UINT32 = 4,
       PAYLOAD_INT32 = 5,
       PAYLOAD_FLOAT = 6,
       PAYLOAD_EXTENDED = (int32_t)0xDFBD0009
};

struct attributes { /* nvtxEventAttributes_t */
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	union {
		uint64_t u64;
		int64_t i64;
		double d;
		uint32_t u32;
		int32_t i32;
		float f;
	} payload;
	int32_t message_type;
	const void *message;
};

struct callbacks { /* NvtxExportTableCallbacks */
	size_t size;
	int (*module_table)(int module, void (****table)(void), unsigned *size);
};

#define DEPTH 64
static __thread struct {
	uint32_t id[DEPTH];
	unsigned depth;
} pushed;
static _Atomic uint32_t ids;

struct extended { /* nvtxPayloadData_t */
	uint64_t schema;
	size_t size;
	void *payload;
};

static void *copy_of(const void *from, size_t size)
{
	void *to = malloc(size ? size : 1);

	return to && from ? memcpy(to, from, size) : to;
}

static uint64_t copy_extended(const struct extended *from)
{
	struct extended *to = copy_of(from, sizeof(*from));

	to->payload = copy_of(from->payload, from->size);
	return (uint64_t)(uintptr_t)to;
}

static void payload(CUpti_ActivityMarkerData2 *r, const struct attributes *a)
{
	switch (a->payload_type) {
	case PAYLOAD_UINT64:
	case PAYLOAD_UINT32:
		r->payloadKind = CUPTI_METRIC_VALUE_KIND_UINT64;
		r->payload.metricValueUint64 = a->payload_type == PAYLOAD_UINT32 ? a->payload.u32
										 : a->payload.u64;
		break;
	case PAYLOAD_INT64:
	case PAYLOAD_INT32:
		r->payloadKind = CUPTI_METRIC_VALUE_KIND_INT64;
		r->payload.metricValueInt64 = a->payload_type == PAYLOAD_INT32 ? a->payload.i32
									       : a->payload.i64;
		break;
	case PAYLOAD_DOUBLE:
	case PAYLOAD_FLOAT:
		r->payload.metricValueDouble = a->payload_type == PAYLOAD_FLOAT ? (double)a->payload.f
										: a->payload.d;
		break;
	case PAYLOAD_EXTENDED:
		if (sc.opt.version < 130001)
			break;
		r->payloadKind = CUPTI_METRIC_VALUE_KIND_NVTX_EXTENDED_PAYLOAD;
		r->payload.metricValueNvtxExtendedPayload = copy_extended(
			(const struct extended *)(uintptr_t)a->payload.u64);
		break;
	}
}

static void emit_data(uint32_t id, const struct attributes *a)
{
	CUpti_ActivityMarkerData2 r = { .kind = CUPTI_ACTIVITY_KIND_MARKER_DATA,
					.flags = CUPTI_ACTIVITY_FLAG_MARKER_COLOR_NONE,
					.id = id };

	if (!(sc.kinds & SC_KIND(CUPTI_ACTIVITY_KIND_MARKER_DATA)))
		return;
	if (a) {
		r.category = a->category;
		r.color = a->color_type == COLOR_ARGB ? a->color : 0;
		if (a->color_type == COLOR_ARGB)
			r.flags = CUPTI_ACTIVITY_FLAG_MARKER_COLOR_ARGB;
		payload(&r, a);
	}
	sc_emit(&r);
}

/* `a`: NULL at the end of a range, and of a call that gives nothing but a name. */
static void emit(uint32_t flags, uint32_t id, const char *name, const char *domain,
		 const struct attributes *a)
{
	CUpti_ActivityMarker2 r = { .kind = CUPTI_ACTIVITY_KIND_MARKER,
				    .flags = (CUpti_ActivityFlag)flags,
				    .id = id,
				    .objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
				    .name = name ? strdup(name) : NULL,
				    .domain = domain };

	sc_log("! marker %u %u %s", flags, id, name ? name : "-");
	if (!(sc.kinds & SC_KIND(CUPTI_ACTIVITY_KIND_MARKER)))
		return;
	r.timestamp = sc_timestamp();
	r.objectId.pt.processId = (uint32_t)getpid();
	r.objectId.pt.threadId = sc.thread_ids == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
					 ? (uint32_t)syscall(SYS_gettid)
					 : (uint32_t)(uintptr_t)pthread_self();
	sc_emit(&r);
	if (flags != CUPTI_ACTIVITY_FLAG_MARKER_END)
		emit_data(id, a);
}

static const char *text_of(const struct attributes *a)
{
	return a->message_type == MESSAGE_ASCII || a->message_type == MESSAGE_REGISTERED ? a->message : NULL;
}

static uint64_t start(const char *domain, const char *name, const struct attributes *a)
{
	uint32_t id = ++ids;

	emit(CUPTI_ACTIVITY_FLAG_MARKER_START, id, name, domain, a);
	return id;
}

static void end(const char *domain, uint64_t id)
{
	emit(CUPTI_ACTIVITY_FLAG_MARKER_END, (uint32_t)id, NULL, domain, NULL);
}

static int push(const char *domain, const char *name, const struct attributes *a)
{
	if (pushed.depth == DEPTH)
		return -1;
	pushed.id[pushed.depth] = (uint32_t)start(domain, name, a);
	return (int)pushed.depth++;
}

static int pop(const char *domain)
{
	if (!pushed.depth)
		return -1;
	end(domain, pushed.id[--pushed.depth]);
	return (int)pushed.depth;
}

/* ---- as NVTX calls them: a domain's handle is its name, a registered string's the text ---- */
static void mark_a(const char *name)
{
	emit(CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS, ++ids, name, NULL, NULL);
}

static uint64_t start_a(const char *name)
{
	return start(NULL, name, NULL);
}

static void end_plain(uint64_t id)
{
	end(NULL, id);
}

static int push_a(const char *name)
{
	return push(NULL, name, NULL);
}

static int pop_plain(void)
{
	return pop(NULL);
}

/* What CUPTI 13.0 does. */
static void name_thread(uint32_t thread, const char *name)
{
	(void)thread;
	(void)name;
	if (sc.opt.version / 100 == 1300)
		abort();
}

static void domain_mark(const char *domain, const struct attributes *a)
{
	emit(CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS, ++ids, text_of(a), domain, a);
}

static uint64_t domain_start(const char *domain, const struct attributes *a)
{
	return start(domain, text_of(a), a);
}

static int domain_push(const char *domain, const struct attributes *a)
{
	return push(domain, text_of(a), a);
}

static char *keep(const char *domain, const char *text)
{
	(void)domain;
	return strdup(text);
}

static char *domain_create(const char *name)
{
	return strdup(name);
}

struct slot {
	unsigned cbid;
	void (*function)(void);
};
#define FUNCTION(cbid, f)                                                                                    \
	{                                                                                                    \
		cbid, (void (*)(void))(f)                                                                    \
	}

static const struct slot core[] = { FUNCTION(2, mark_a), FUNCTION(5, start_a),    FUNCTION(7, end_plain),
				    FUNCTION(9, push_a), FUNCTION(11, pop_plain), FUNCTION(14, name_thread) };
static const struct slot core2[] = { FUNCTION(1, domain_mark),   FUNCTION(2, domain_start),
				     FUNCTION(3, end),           FUNCTION(4, domain_push),
				     FUNCTION(5, pop),           FUNCTION(10, keep),
				     FUNCTION(12, domain_create) };

static void fill(const struct callbacks *c, int module, const struct slot *slots, size_t n)
{
	void (***table)(void) = NULL;
	unsigned size = 0;

	if (!c->module_table(module, &table, &size))
		return;
	for (size_t i = 0; i < n; i++)
		if (slots[i].cbid < size && table[slots[i].cbid])
			*table[slots[i].cbid] = slots[i].function;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void *(*get)(uint32_t id));

int InitializeInjectionNvtx2(const void *(*get)(uint32_t id))
{
	const struct callbacks *c = get(ETID_CALLBACKS);

	sc_log("! NVTX");
	fill(c, MODULE_CORE, core, sizeof(core) / sizeof(core[0]));
	fill(c, MODULE_CORE2, core2, sizeof(core2) / sizeof(core2[0]));
	return 1;
}
