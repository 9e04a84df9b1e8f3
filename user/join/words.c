/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machine words for what the shim says in numbers. */
#include "join/join.h"

#define NAME(list, i) ((i) < sizeof(list) / sizeof((list)[0]) ? (list)[i] : NULL)

const char *join_reason_name(unsigned reason)
{
	static const char *const names[] = {
		[GPUBPF_REASON_CUPTI_MISSING] = "cupti_missing",
		[GPUBPF_REASON_CUPTI_INCOMPLETE] = "cupti_incomplete",
		[GPUBPF_REASON_SECOND_SUBSCRIBER] = "second_subscriber",
		[GPUBPF_REASON_NOT_PERMITTED] = "cupti_not_permitted",
		[GPUBPF_REASON_FACILITY] = "facility_enable_failed",
		[GPUBPF_REASON_SUBSCRIBE] = "subscribe_failed",
		[GPUBPF_REASON_MEMORY] = "out_of_memory",
		[GPUBPF_REASON_FORKED] = "forked_child",
	};

	return NAME(names, reason);
}

/* What a reason means, for people; the remedy stands beside it where there is one. */
const char *join_reason_text(unsigned reason)
{
	static const char *const texts[] = {
		[GPUBPF_REASON_CUPTI_MISSING] = "no CUPTI library was found",
		[GPUBPF_REASON_CUPTI_INCOMPLETE] = "the CUPTI library lacks a function that is needed",
		[GPUBPF_REASON_SECOND_SUBSCRIBER] =
			"another profiler in the process holds CUPTI, and there is room for one",
		[GPUBPF_REASON_NOT_PERMITTED] = "the driver does not let this user profile",
		[GPUBPF_REASON_FACILITY] = "CUPTI refused a kind of record that is needed",
		[GPUBPF_REASON_SUBSCRIBE] = "CUPTI refused the subscription",
		[GPUBPF_REASON_MEMORY] = "the process had no memory for the shim's buffers",
		[GPUBPF_REASON_FORKED] = "the process was forked from one that had used the device",
	};

	return NAME(texts, reason);
}

const char *join_reason_remedy(unsigned reason)
{
	static const char *const texts[] = {
		[GPUBPF_REASON_CUPTI_MISSING] = "gpubpf doctor says which CUPTI would be found",
		[GPUBPF_REASON_CUPTI_INCOMPLETE] = "gpubpf doctor says which CUPTI would be found",
		[GPUBPF_REASON_SECOND_SUBSCRIBER] = "record without the application's own profiler",
		[GPUBPF_REASON_NOT_PERMITTED] =
			"set NVreg_RestrictProfilingToAdminUsers=0 for the nvidia module, or give the container CAP_SYS_ADMIN",
		[GPUBPF_REASON_MEMORY] = "",
		[GPUBPF_REASON_FORKED] = "",
	};
	const char *text = NAME(texts, reason);

	return text ? text : "";
}

const char *join_facility_name(unsigned facility)
{
#define ROW(name, value, word) [value] = (word),
	static const char *const names[] = { GPUBPF_FACILITIES(ROW) };
#undef ROW

	return NAME(names, facility);
}

const char *join_loss_name(unsigned loss)
{
	static const char *const names[] = {
		[GPUBPF_LOSS_CUPTI_DROPPED] = "cupti_dropped",
		[GPUBPF_LOSS_NO_BUFFER] = "no_buffer",
		[GPUBPF_LOSS_CALLS] = "calls",
		[GPUBPF_LOSS_NAMES] = "names",
		[GPUBPF_LOSS_MODULES] = "modules",
		[GPUBPF_LOSS_UNKNOWN_KIND] = "unknown_kind",
		[GPUBPF_LOSS_IN_FLIGHT] = "in_flight",
		[GPUBPF_LOSS_LABELS] = "labels",
	};

	return NAME(names, loss);
}

const char *join_kind_name(unsigned kind)
{
	static const char *const names[] = {
		[GPUBPF_ACTIVITY_KERNEL] = "kernel",     [GPUBPF_ACTIVITY_COPY] = "copy",
		[GPUBPF_ACTIVITY_SET] = "set",           [GPUBPF_ACTIVITY_GRAPH] = "graph",
		[GPUBPF_ACTIVITY_SYNC] = "sync",         [GPUBPF_ACTIVITY_MEMORY] = "memory",
		[GPUBPF_ACTIVITY_OVERHEAD] = "overhead",
	};

	return NAME(names, kind);
}

const char *join_payload_name(unsigned kind)
{
	static const char *const names[] = {
		[GPUBPF_PAYLOAD_DOUBLE] = "double",
		[GPUBPF_PAYLOAD_UINT64] = "uint64",
		[GPUBPF_PAYLOAD_INT64] = "int64",
		[GPUBPF_PAYLOAD_EXTENDED] = "extended",
	};

	return NAME(names, kind);
}

const char *join_external_name(unsigned kind)
{
	static const char *const names[] = { /* CUpti_ExternalCorrelationKind */
					     [1] = "unknown",
					     [2] = "openacc",
					     [3] = "custom0",
					     [4] = "custom1",
					     [5] = "custom2"
	};

	return NAME(names, kind);
}

const char *join_unified_name(unsigned counter)
{
	const char *name = counter >= 1 && counter <= GPUBPF_UNIFIED_COUNTERS
				   ? join_facility_name(GPUBPF_FACILITY_UNIFIED + counter)
				   : NULL;

	return name ? name + sizeof("unified_") - 1 : NULL;
}

/* CUpti_ActivityUnifiedMemoryMigrationCause, …AccessType, …RemoteMapCause. */
const char *join_unified_cause(const struct join_unified *u)
{
	static const char *const migration[] = { NULL,       "user",     "coherence",
						 "prefetch", "eviction", "access counters" };
	static const char *const access[] = { NULL, "read", "write", "atomic", "prefetch" };
	static const char *const map[] = { NULL,     "coherence",     "thrashing",
					   "policy", "out of memory", "eviction" };

	switch (u->counter) {
	case JOIN_UNIFIED_HTOD:
	case JOIN_UNIFIED_DTOH:
		return NAME(migration, u->flags);
	case JOIN_UNIFIED_CPU_FAULT:
	case JOIN_UNIFIED_GPU_FAULT:
		return NAME(access, u->flags);
	case JOIN_UNIFIED_REMOTE_MAP:
		return NAME(map, u->flags);
	default:
		return NULL;
	}
}

const char *join_link_name(enum join_link link)
{
	static const char *const names[JOIN_LINKS] = {
		[JOIN_JOINED] = "joined",         [JOIN_NO_HOST_CALL] = "no_host_call",
		[JOIN_ORPHAN] = "orphan",         [JOIN_AMBIGUOUS] = "ambiguous",
		[JOIN_OTHER_CALL] = "other_call", [JOIN_DEVICE_LAUNCHED] = "device_launched",
	};

	return NAME(names, (unsigned)link);
}

const char *join_time_name(enum join_time time)
{
	static const char *const names[JOIN_TIMES] = {
		[JOIN_TIME_VALID] = "valid",
		[JOIN_TIME_ZERO] = "zero",
		[JOIN_TIME_END_FIRST] = "end_before_start",
		[JOIN_TIME_OUTSIDE] = "outside_session",
		[JOIN_TIME_UNANCHORED] = "unanchored",
	};

	return NAME(names, (unsigned)time);
}

/* R21 */
const char *join_times_reason(enum gpubpf_activity_kind kind, const struct join_times *t)
{
	static const char *const words[][3] = {
		[GPUBPF_ACTIVITY_KERNEL] = { "kernel_timestamps_unavailable", "kernel_timestamps_invalid",
					     "kernel_timestamps_partial" },
		[GPUBPF_ACTIVITY_COPY] = { "copy_timestamps_unavailable", "copy_timestamps_invalid",
					   "copy_timestamps_partial" },
		[GPUBPF_ACTIVITY_SET] = { "set_timestamps_unavailable", "set_timestamps_invalid",
					  "set_timestamps_partial" },
		[GPUBPF_ACTIVITY_GRAPH] = { "graph_timestamps_unavailable", "graph_timestamps_invalid",
					    "graph_timestamps_partial" },
	};
	uint64_t good = t->by[JOIN_TIME_VALID] + t->by[JOIN_TIME_UNANCHORED];

	if (kind < GPUBPF_ACTIVITY_KERNEL || kind > GPUBPF_ACTIVITY_GRAPH || good == t->records)
		return NULL;
	if (good)
		return words[kind][2];
	return words[kind][t->by[JOIN_TIME_ZERO] == t->records ? 0 : 1];
}

static const char *const copy_words[][2] = {
	[GPUBPF_COPY_UNKNOWN] = { "unknown", "direction not known" },
	[GPUBPF_COPY_HTOD] = { "h2d", "host to device" },
	[GPUBPF_COPY_DTOH] = { "d2h", "device to host" },
	[GPUBPF_COPY_HTOA] = { "h2a", "host to array" },
	[GPUBPF_COPY_ATOH] = { "a2h", "array to host" },
	[GPUBPF_COPY_ATOA] = { "a2a", "array to array" },
	[GPUBPF_COPY_ATOD] = { "a2d", "array to device" },
	[GPUBPF_COPY_DTOA] = { "d2a", "device to array" },
	[GPUBPF_COPY_DTOD] = { "d2d", "device to device" },
	[GPUBPF_COPY_HTOH] = { "h2h", "host to host" },
	[GPUBPF_COPY_PTOP] = { "peer", "peer to peer" },
};

#define NCOPIES (sizeof(copy_words) / sizeof(copy_words[0]))

const char *join_copy_name(unsigned kind)
{
	return kind < NCOPIES ? copy_words[kind][0] : NULL;
}

const char *join_copy_text(unsigned kind)
{
	return kind < NCOPIES ? copy_words[kind][1] : NULL;
}

const char *join_memory_name(unsigned kind)
{
	static const char *const names[] = { NULL,    "pageable", "pinned",        "device",
					     "array", "managed",  "device static", "managed static" };

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : NULL;
}
