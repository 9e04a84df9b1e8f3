/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CUPTI at run time: found, loaded and checked, never linked. One thread owns a struct cupti at a time; what a callback
 * or CUPTI's own thread may use of it (activity_get_next_record, version) never changes after cupti__open().
 */
#ifndef GPUBPF_SHIM_CUPTI_H
#define GPUBPF_SHIM_CUPTI_H

#include <stdbool.h>

#include "cupti_abi.h"

/* function, type of its parameters, symbol. Without one of the first list nothing can be captured. */
/* clang-format off */
#define CUPTI_REQUIRED(X) \
	X(get_version, (uint32_t *), "cuptiGetVersion") \
	X(subscribe, (cupti_subscriber *, cupti_callback *, void *), "cuptiSubscribe") \
	X(unsubscribe, (cupti_subscriber), "cuptiUnsubscribe") \
	X(enable_callback, (uint32_t, cupti_subscriber, int, uint32_t), "cuptiEnableCallback") \
	X(activity_register_callbacks, (cupti_buffer_requested *, cupti_buffer_completed *), "cuptiActivityRegisterCallbacks") \
	X(activity_enable, (int), "cuptiActivityEnable") \
	X(activity_disable, (int), "cuptiActivityDisable") \
	X(activity_flush_all, (uint32_t), "cuptiActivityFlushAll") \
	X(activity_get_next_record, (uint8_t *, size_t, struct cupti_record **), "cuptiActivityGetNextRecord") \
	X(activity_get_num_dropped, (void *, uint32_t, size_t *), "cuptiActivityGetNumDroppedRecords")

/* NULL where this CUPTI lacks it. */
#define CUPTI_OPTIONAL(X) \
	X(activity_register_timestamp, (cupti_timestamp *), "cuptiActivityRegisterTimestampCallback") /* 11.6 */ \
	X(get_timestamp, (uint64_t *), "cuptiGetTimestamp") \
	X(activity_enable_latency, (uint8_t), "cuptiActivityEnableLatencyTimestamps") \
	X(activity_set_attribute, (int, size_t *, void *), "cuptiActivitySetAttribute") \
	X(activity_get_attribute, (int, size_t *, void *), "cuptiActivityGetAttribute") \
	X(get_callback_name, (int, uint32_t, const char **), "cuptiGetCallbackName") \
	X(get_result_string, (cupti_result, const char **), "cuptiGetResultString") \
	X(get_last_error, (void), "cuptiGetLastError") \
	X(get_context_id, (void *, uint32_t *), "cuptiGetContextId") \
	X(get_device_id, (void *, uint32_t *), "cuptiGetDeviceId") \
	X(get_stream_id, (void *, void *, uint8_t, uint32_t *), "cuptiGetStreamIdEx") \
	X(get_graph_id, (void *, uint32_t *), "cuptiGetGraphId") \
	X(get_graph_exec_id, (void *, uint32_t *), "cuptiGetGraphExecId") \
	X(enable_domain, (uint32_t, cupti_subscriber, int), "cuptiEnableDomain") \
	X(activity_configure_unified, (struct cupti_unified_config *, uint32_t), "cuptiActivityConfigureUnifiedMemoryCounter") \
	X(get_thread_id_type, (int *), "cuptiGetThreadIdType") \
	X(set_thread_id_type, (int), "cuptiSetThreadIdType")
/* clang-format on */

#define CUPTI_PATH_MAX 1024 /* a longer path is not tried */

enum cupti_source {                         /* where it was found */
		    CUPTI_FROM_PROCESS = 1, /* it was mapped already: the application may be its client */
		    CUPTI_FROM_SETTING = 2, /* GPUBPF_CUPTI_PATH */
		    CUPTI_FROM_LIBRARY_PATH = 3,
		    CUPTI_FROM_NEIGHBOUR = 4, /* beside a CUDA library of the process */
		    CUPTI_FROM_TOOLKIT = 5,
		    CUPTI_FROM_LOADER = 6, /* by name alone: ld.so.cache and the default folders */
};

struct cupti {
	void *handle; /* NULL: not open */
	uint32_t version;
	uint32_t driver_version; /* cuDriverGetVersion() of the process's libcuda; 0: not known */
	enum cupti_source source;
	uint32_t tried;      /* files that were there and refused, see missing */
	const char *missing; /* after CUPTI_INCOMPLETE: the first required symbol the last of them lacks */
	char path[CUPTI_PATH_MAX];
#define X(name, args, symbol) cupti_result(*name) args;
	CUPTI_REQUIRED(X)
	CUPTI_OPTIONAL(X)
#undef X
};

/*
 * Finds and loads one, in the order of enum cupti_source and the newest of each place first; of what is not mapped yet
 * none newer than the driver, unless GPUBPF_CUPTI_PATH says so (a file, or a folder that holds one; then nothing else
 * is tried). Calls nothing of CUPTI but cuptiGetVersion(). Not for a callback: it loads libraries. Needs some 24 KiB of stack.
 *
 * 0, or why not: GPUBPF_REASON_CUPTI_MISSING, GPUBPF_REASON_CUPTI_INCOMPLETE. Open already: 0 at once. It is never
 * closed: code of CUPTI may be on any thread's stack.
 */
int cupti__open(struct cupti *c);

/* Whether this CUPTI knows the callback id. It tells for the driver's and the runtime's only: of others, true. */
bool cupti__knows(const struct cupti *c, int domain, uint32_t cbid);

/* What a result of this facility means for the session. 0: success. */
enum gpubpf_reason cupti__reason(enum gpubpf_facility facility, cupti_result r);

#endif
