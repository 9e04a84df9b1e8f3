/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sections that --memory adds, and the meaning of their columns. */
#include <string.h>

#include "report/more.h"

#define END                                                                                                  \
	{                                                                                                    \
		NULL, NULL, UNIT_TEXT, NULL, false                                                           \
	}

#define PID                                                                                                  \
	{                                                                                                    \
		"pid", "PID", UNIT_ID, "process, initial pid namespace", false                               \
	}

#define SINCE                                                                                                \
	{ "since_ns", "AFTER", UNIT_NS, "since the entry of the first recorded call", false },               \
	{                                                                                                    \
		"at_ns", NULL, UNIT_NS, "CLOCK_MONOTONIC", false                                             \
	}

/* clang-format off */
static const struct column evidence_columns[] = {
	{ "entry_points", "WATCHED", UNIT_COUNT, "entry points of this kind that were watched", false },
	{ "missing", NULL, UNIT_COUNT, "entry points that the driver does not have", false },
	{ "refused", "REFUSED", UNIT_COUNT, "entry points that could not be attached to", true },
	{ "calls", "CALLS", UNIT_COUNT, "calls made by the application that were recorded, whatever became of them", false },
	{ "lost", "LOST", UNIT_COUNT, "calls that were counted and whose record was lost", false },
	{ "evidence", "EVIDENCE", UNIT_TEXT, "recorded; recorded zero: watched, and nobody called; lost; or why nothing is known", false },
	{ "of", "OF", UNIT_TEXT, "allocation, free, or what is done with memory", false },
	{ "kind", "KIND", UNIT_TEXT, "kind of memory, by the call", false },
	END };

static const struct column peak_columns[] = {
	{ "peak_bytes", "PEAK", UNIT_BYTES, "the most that was live at one time, all processes together; allocated, not resident", false },
	{ "allocations", "ALLOCATIONS", UNIT_COUNT, "live allocations at that moment", false },
	SINCE,
	{ "end_bytes", "AT THE END", UNIT_BYTES, "live at the end of the capture", false },
	{ "kind", "KIND", UNIT_TEXT, "kind of memory, by the allocating call; all: together", false },
	END };

static const struct column live_columns[] = {
	SINCE,
	{ "changes", "CHANGES", UNIT_COUNT, "allocations and ends of allocations in this stretch of time", false },
	{ "live", "LIVE", UNIT_COUNT, "live allocations at its end", false },
	{ "live_bytes", "BYTES", UNIT_BYTES, "bytes of those whose size is known", false },
	{ "peak_bytes", "PEAK", UNIT_BYTES, "the most of live_bytes in it", false },
	{ "device_bytes", "DEVICE", UNIT_BYTES, "of live_bytes: device and pitch", true },
	{ "managed_bytes", "MANAGED", UNIT_BYTES, "of live_bytes: managed", true },
	{ "pool_bytes", "POOL", UNIT_BYTES, "of live_bytes: from pools, in the order of streams", true },
	{ "virtual_bytes", "VIRTUAL", UNIT_BYTES, "of live_bytes: cuMemCreate", true },
	{ "host_bytes", "HOST", UNIT_BYTES, "of live_bytes: pinned host memory", true },
	{ "registered_bytes", "REGISTERED", UNIT_BYTES, "of live_bytes: host memory of the application's, registered", true },
	END };

static const struct column leak_columns[] = {
	{ "allocations", "LEFT", UNIT_COUNT, "allocations that no recorded call freed", false },
	{ "bytes", "BYTES", UNIT_BYTES, "bytes of these", false },
	{ "each_bytes", "EACH", UNIT_BYTES, "size of each; none: they differ", false },
	{ "oldest_ns", "OLDEST", UNIT_NS, "from the return of the first of these to the end of its process or of the capture", false },
	PID,
	{ "tid", "THREAD", UNIT_ID, "thread that made the first of these", false },
	{ "state", "WHEN", UNIT_TEXT, "at exit: live when its process ended; at exec: when it became another program; at the end: when the capture ended, and its process did not", false },
	{ "kind", "KIND", UNIT_TEXT, "kind of memory, by the allocating call", false },
	{ "stack", "STACK", UNIT_TEXT, "functions from the outermost, with semicolons between them (record --stacks)", false },
	END };

static const struct column match_columns[] = {
	{ "frees", "FREES", UNIT_COUNT, "frees matched to an allocation of this capture, by process and address", false },
	{ "bytes", "BYTES", UNIT_BYTES, "bytes of those whose size is known", false },
	{ "life_p50_ns", "LIFE P50", UNIT_NS, "median from the return of the allocation to the entry of the free, within 1 %", false },
	{ "life_max_ns", "LIFE MAX", UNIT_NS, "longest", false },
	{ "thread", "THREAD", UNIT_TEXT, "whether the thread that freed is the one that allocated", false },
	{ "allocated", "ALLOCATED AS", UNIT_TEXT, "kind of the allocating call", false },
	{ "freed", "FREED AS", UNIT_TEXT, "kind of the freeing call", false },
	END };

static const struct column pool_columns[] = {
	{ "allocated", "ALLOCATED", UNIT_COUNT, "allocations from it", false },
	{ "allocated_bytes", "BYTES", UNIT_BYTES, "bytes of these", false },
	{ "freed", "FREED", UNIT_COUNT, "of allocated: freed by a recorded call", false },
	{ "other_thread", "OTHER THREAD", UNIT_COUNT, "of freed: by another thread", true },
	{ "other_call", "NOT ASYNC", UNIT_COUNT, "of freed: by another call than cuMemFreeAsync", true },
	{ "peak_bytes", "PEAK", UNIT_BYTES, "the most that was live at one time", false },
	{ "peak_since_ns", NULL, UNIT_NS, "when: since the entry of the first recorded call", false },
	{ "addresses_bytes", "ADDRESSES", UNIT_BYTES, "addresses that were handed out at least once; gaps below 512 B, which are alignment, count in", false },
	{ "spread", "SPREAD", UNIT_MEAN, "addresses_bytes divided by peak_bytes: 1 where freed memory was used again as well as it can be", false },
	{ "stretches", NULL, UNIT_COUNT, "stretches of addresses, with gaps between them", false },
	{ "left", "LEFT", UNIT_COUNT, "of allocated: live when the process or the capture ended", true },
	{ "left_bytes", NULL, UNIT_BYTES, "bytes of these", false },
	{ "holes", "HOLES", UNIT_COUNT, "gaps of 512 B and more between these, by address", true },
	{ "holes_bytes", "HOLES BYTES", UNIT_BYTES, "bytes of these gaps: whose they are is not known", true },
	{ "largest_hole_bytes", NULL, UNIT_BYTES, "the largest of these gaps", false },
	{ "trims", "TRIMS", UNIT_COUNT, "calls of cuMemPoolTrimTo", true },
	{ "reserved_bytes", NULL, UNIT_BYTES, "what the driver kept for the pool when it last said so (cuMemPoolGetAttribute)", false },
	{ "reserved_most_bytes", NULL, UNIT_BYTES, "the most that it said of this", false },
	{ "used_bytes", NULL, UNIT_BYTES, "what of that was in use when it last said so", false },
	{ "used_most_bytes", NULL, UNIT_BYTES, "the most that it said of this", false },
	{ "life", "LIFE", UNIT_TEXT, "created, destroyed: in the capture", false },
	PID,
	{ "pool", "POOL", UNIT_TEXT, "handle; current: the current pool of the stream's device, which the call does not name", false },
	END };

static const struct column place_columns[] = {
	{ "calls", "CALLS", UNIT_COUNT, "calls that succeeded outside stream capture (entry only: all of them)", false },
	{ "bytes", "BYTES", UNIT_BYTES, "bytes that these calls name; the same memory counts each time", false },
	{ "managed", "MANAGED", UNIT_COUNT, "of calls: inside a live managed allocation of this capture", false },
	{ "other_memory", "OTHER", UNIT_COUNT, "of calls: inside a live allocation of another kind", true },
	{ "unknown_memory", "UNKNOWN", UNIT_COUNT, "of calls: inside no allocation that was seen", true },
	{ "captured", "CAPTURED", UNIT_COUNT, "calls recorded into a graph: not in calls", true },
	{ "failed", "FAILED", UNIT_COUNT, "calls that returned an error: not in calls", true },
	{ "in_flight", "IN FLIGHT", UNIT_COUNT, "calls that had not returned: not in calls", true },
	PID,
	{ "operation", "OPERATION", UNIT_TEXT, "prefetch, advise, attach; of virtual memory: reserve, unreserve, map, unmap, access", false },
	{ "advice", "ADVICE", UNIT_TEXT, "of advise: what; of attach: to whom", false },
	{ "location", "LOCATION", UNIT_TEXT, "where to: device, host, a NUMA node of the host", false },
	END };

static const struct column device_memory_columns[] = {
	{ "records", "RECORDS", UNIT_COUNT, "records of CUPTI's about memory: one per allocation and per release", false },
	{ "bytes", "BYTES", UNIT_BYTES, "bytes of these, as CUPTI gives them", false },
	PID,
	{ "operation", "OPERATION", UNIT_TEXT, "allocation or release", false },
	{ "memory", "MEMORY", UNIT_TEXT, "kind of memory by CUPTI (CUpti_ActivityMemoryKind)", false },
	END };

const struct section report_memory_sections[] = {
	{ "memory_evidence", "Evidence of memory", "one row per kind and operation; calls made by the application",
	  "zero is known only of what was watched", evidence_columns, NULL, build_memory_evidence },
	{ "memory_peaks", "Peaks of memory", "one row per kind of memory; allocated, not resident", NULL, peak_columns, "peak_bytes",
	  build_memory_peaks },
	{ "memory_live", "Memory over time", "one row per stretch of time in which something changed, 64 at most; what held at its end holds "
	  "until the next row", "allocated, not resident", live_columns, NULL, build_memory_live },
	{ "leaks", "Memory that was not freed", "one row per process, kind, end and size, or stack where one was taken; allocations", NULL,
	  leak_columns, "bytes", build_leaks },
	{ "free_matches", "Frees and their allocations", "one row per kinds of both calls, and whether one thread made them; frees",
	  NULL, match_columns, "frees", build_free_matches },
	{ "memory_pools", "Pools", "one row per process and pool; allocations",
	  "spread and holes are computed from addresses; what the driver keeps for a pool is known where the application asks it", pool_columns,
	  "allocated_bytes", build_memory_pools },
	{ "placement", "Placement", "one row per process, operation, advice and location; calls", "from the arguments of the calls: where "
	  "memory went is not in them", place_columns, "bytes", build_placement },
	{ "device_memory", "Memory as CUPTI has it", "one row per process, operation and kind; records of CUPTI's",
	  "asked for by record --cupti memory; allocated, not resident; where it disagrees with the calls, neither is chosen",
	  device_memory_columns, "records", build_device_memory },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};
/* clang-format on */

const char *const report_memory_preset[] = {
	"memory_evidence", "memory",       "memory_peaks", "memory_live",   "leaks",          "frees",
	"free_matches",    "memory_pools", "placement",    "device_memory", "unified_memory", NULL,
};

static bool in_list(const struct section *list, const struct section *s)
{
	for (; list->name; list++)
		if (list == s)
			return true;
	return false;
}

bool section__is_more(const struct section *s)
{
	return in_list(report_memory_sections, s) || in_list(report_module_sections, s);
}

bool section__of_memory(const struct section *s)
{
	return s->build == build_memory || s->build == build_frees || in_list(report_memory_sections, s);
}

void section__needs(const struct section *s, bool stacks, struct model_opts *o)
{
	o->memory |= in_list(report_memory_sections, s);
	o->stacks |= s->build == build_leaks && stacks;
	o->modules |= in_list(report_module_sections, s);
}
