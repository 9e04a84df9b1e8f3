/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sections and the meaning of their columns: text, JSON, CSV and the manual take both from here. */
#include <string.h>

#include "inspect/cost.h"
#include "report/coll_rows.h"
#include "report/more.h"
#include "report/report.h"

#define TALLY(done_key, done_head, done_meaning)                                                             \
	{ done_key, done_head, UNIT_COUNT, done_meaning, false },                                            \
		{ "captured", "CAPTURED", UNIT_COUNT,                                                        \
		  "calls that succeeded on a stream in capture: recorded into a graph, nothing ran", true }, \
		{ "failed", "FAILED", UNIT_COUNT, "calls that returned an error", true },                    \
	{                                                                                                    \
		"in_flight", "IN FLIGHT", UNIT_COUNT,                                                        \
			"calls that had not returned when their thread or the capture ended", true           \
	}

#define HOST_TIME                                                                                            \
	{ "host_ns", "HOST TIME", UNIT_NS,                                                                   \
	  "time that threads spent inside the calls, whatever became of them; not time on the GPU", false }, \
	{                                                                                                    \
		"host_mean_ns", NULL, UNIT_NS, "host_ns divided by the calls that returned", false           \
	}

#define STATS                                                                                                \
	{ "calls", "CALLS", UNIT_COUNT, "calls made by the application", false },                            \
		{ "failed", "FAILED", UNIT_COUNT,                                                            \
		  "calls that returned neither CUDA_SUCCESS nor CUDA_ERROR_NOT_READY", false },              \
		{ "not_ready", "NOT READY", UNIT_COUNT,                                                      \
		  "calls that answered CUDA_ERROR_NOT_READY: no failure", true },                            \
		{ "in_flight", "IN FLIGHT", UNIT_COUNT,                                                      \
		  "calls that had not returned when their thread or the capture ended: no duration", true }, \
		{ "nested", "NESTED", UNIT_COUNT,                                                            \
		  "made inside another traced call: not in calls, not in the times", true },                 \
		{ "entry_only", "NOT TIMED", UNIT_COUNT,                                                     \
		  "calls recorded at their entry alone: neither result nor duration", true },                \
		{ "bad_time", "BAD TIME", UNIT_COUNT,                                                        \
		  "calls whose return is before their entry: in no duration", true },                        \
		{ "total_ns", "TOTAL", UNIT_NS, "sum of the measured durations", false },                    \
		{ "mean_ns", "MEAN", UNIT_NS, "total_ns divided by the calls with a duration", false },      \
		{ "p50_ns", "P50", UNIT_NS, "median duration, within 1 %", false },                          \
		{ "p99_ns", "P99", UNIT_NS, "99th percentile of the durations, within 1 %", false },         \
		{ "min_ns", NULL, UNIT_NS, "shortest duration", false },                                     \
	{                                                                                                    \
		"max_ns", "MAX", UNIT_NS, "longest duration", false                                          \
	}

#define SIZES                                                                                                \
	{ "min_bytes", "MIN", UNIT_BYTES, "smallest known size", false },                                    \
		{ "median_bytes", "MEDIAN", UNIT_BYTES, "median of the known sizes, within 1 %", false },    \
	{                                                                                                    \
		"max_bytes", "MAX", UNIT_BYTES, "largest known size", false                                  \
	}

#define END                                                                                                  \
	{                                                                                                    \
		NULL, NULL, UNIT_TEXT, NULL, false                                                           \
	}

/* clang-format off */
static const struct column api_columns[] = {
	STATS,
	{ "population", NULL, UNIT_TEXT, "the ledger's population that the calls belong to", false },
	{ "kind", NULL, UNIT_TEXT, "class of the entry point", false },
	{ "api", "API", UNIT_TEXT, "symbol of the entry point", false },
	END };

static const struct column thread_columns[] = {
	{ "pid", "PID", UNIT_ID, "process, initial pid namespace", false },
	{ "tid", "TID", UNIT_ID, "thread, initial pid namespace", false },
	STATS,
	{ "api", "API", UNIT_TEXT, "symbol of the entry point", false },
	END };

static const struct column failure_columns[] = {
	{ "calls", "CALLS", UNIT_COUNT, "calls that returned this result", false },
	{ "code", "CODE", UNIT_ID, "CUresult as a number", false },
	{ "result", "RESULT", UNIT_TEXT, "name of the CUresult", false },
	{ "api", "API", UNIT_TEXT, "symbol of the entry point", false },
	END };

static const struct column launch_columns[] = {
	TALLY("launches", "LAUNCHES", "launch calls that succeeded outside stream capture (entry only: all of them)"),
	{ "blocks", "BLOCKS", UNIT_COUNT, "blocks per launch: the product of the grid", false },
	{ "grid", "GRID", UNIT_TEXT, "blocks in x, y, z", false },
	{ "block", "BLOCK", UNIT_TEXT, "threads per block in x, y, z", false },
	{ "cluster", "CLUSTER", UNIT_TEXT, "blocks per cluster in x, y, z, where the launch asks for clusters", true },
	{ "shared_bytes", "SHARED", UNIT_BYTES, "dynamic shared memory per block", false },
	{ "streams", "STREAMS", UNIT_COUNT, "distinct streams that these launches were put on", false },
	{ "host_ns", NULL, UNIT_NS, "time that threads spent inside the measured calls", false },
	{ "host_mean_ns", "HOST MEAN", UNIT_NS, "host_ns divided by the measured calls; not time on the GPU", false },
	{ "pid", NULL, UNIT_ID, "process of an unresolved function, whose handle means nothing elsewhere", false },
	{ "handle", NULL, UNIT_HEX, "handle of an unresolved function", false },
	{ "mangled", NULL, UNIT_TEXT, "name as the module has it", false },
	{ "name", "KERNEL", UNIT_TEXT, "demangled name; <unresolved 0x…> where the capture does not name the handle", false },
	END };

static const struct column graph_columns[] = {
	TALLY("launches", "LAUNCHES", "graph launch calls that succeeded outside stream capture (entry only: all of them)"),
	{ "nodes", "NODES", UNIT_COUNT, "nodes of the graph: the host observer does not see them", false },
	HOST_TIME,
	{ "pid", "PID", UNIT_ID, "process, initial pid namespace", false },
	{ "instantiated", "INSTANTIATED", UNIT_TEXT, "\"not seen\": before the capture, or its record was lost", false },
	{ "exec", "GRAPH", UNIT_HEX, "handle of the executable graph", false },
	END };

static const struct column capture_columns[] = {
	{ "begun", "BEGUN", UNIT_COUNT, "stream captures begun", false },
	{ "ended", "ENDED", UNIT_COUNT, "stream captures ended with a graph", false },
	{ "failed", "FAILED", UNIT_COUNT, "stream captures ended by an error", false },
	{ "open", "OPEN", UNIT_COUNT, "stream captures still open at the end", false },
	{ "unseen_begins", "UNSEEN", UNIT_COUNT, "ends without a recorded begin", true },
	{ "launches", "LAUNCHES", UNIT_COUNT, "launch calls recorded into graphs", false },
	{ "copies", "COPIES", UNIT_COUNT, "copy calls recorded into graphs", false },
	{ "sets", "SETS", UNIT_COUNT, "set calls recorded into graphs", false },
	{ "graph_launches", "CHILD GRAPHS", UNIT_COUNT, "graph launch calls recorded into graphs", false },
	{ "instantiations", "INSTANTIATIONS", UNIT_COUNT, "graphs instantiated, in stream capture or not", false },
	{ "updates", "UPDATES", UNIT_COUNT, "executable graphs updated", false },
	{ "destroyed", "DESTROYED", UNIT_COUNT, "executable graphs destroyed", false },
	END };

static const struct column copy_columns[] = {
	TALLY("calls", "CALLS", "copy calls that succeeded outside stream capture (entry only: all of them)"),
	{ "copies", "COPIES", UNIT_COUNT, "copies of these calls: one each, of a batch its elements", false },
	{ "bytes", "BYTES", UNIT_BYTES, "bytes of the copies whose size is known", false },
	{ "unknown_copies", "UNKNOWN", UNIT_COUNT, "copies whose size is not in the record: not in bytes", true },
	{ "captured_bytes", NULL, UNIT_BYTES, "bytes of the calls that were recorded into graphs", false },
	SIZES,
	HOST_TIME,
	{ "direction", NULL, UNIT_TEXT, "h host, d device, a array: h2d, d2h …; peer, batch, unified …", false },
	{ "direction_by", NULL, UNIT_TEXT, "\"call\", or \"allocation\": from what kind of memory the addresses are in", false },
	{ "what", "DIRECTION", UNIT_TEXT, "the direction in words", false },
	END };

static const struct column set_columns[] = {
	TALLY("calls", "CALLS", "set calls that succeeded outside stream capture (entry only: all of them)"),
	{ "bytes", "BYTES", UNIT_BYTES, "bytes written by the calls whose size is known", false },
	{ "unknown", "UNKNOWN", UNIT_COUNT, "calls whose size is not in the record: not in bytes", true },
	{ "captured_bytes", NULL, UNIT_BYTES, "bytes of the calls that were recorded into graphs", false },
	SIZES,
	HOST_TIME,
	{ "element_bytes", "ELEMENT", UNIT_BYTES, "width of what is repeated", false },
	END };

static const struct column memory_columns[] = {
	{ "allocated", "ALLOCATED", UNIT_COUNT, "allocation calls that succeeded outside stream capture", false },
	{ "allocated_bytes", "BYTES", UNIT_BYTES, "bytes they asked for; allocated, not resident", false },
	{ "freed", "FREED", UNIT_COUNT, "of allocated: freed by a recorded call of any thread of the process", false },
	{ "freed_bytes", "BYTES", UNIT_BYTES, "bytes of these", false },
	{ "live", "LIVE", UNIT_COUNT, "of allocated: not freed, and the process not ended, at the end of the capture", false },
	{ "live_bytes", "BYTES", UNIT_BYTES, "bytes of these", false },
	{ "peak_bytes", "PEAK", UNIT_BYTES, "highest live_bytes in record order, all processes together", false },
	{ "exited", "AT EXIT", UNIT_COUNT, "of allocated: live when their process ended", true },
	{ "exited_bytes", NULL, UNIT_BYTES, "bytes of these", false },
	{ "untracked", "UNTRACKED", UNIT_COUNT, "of allocated: the address was given out again; freed by a call that was not recorded", true },
	{ "untracked_bytes", NULL, UNIT_BYTES, "bytes of these", false },
	{ "no_address", "NO ADDRESS", UNIT_COUNT, "of allocated: the address was not recorded, so their free cannot be matched", true },
	{ "unknown_size", "NO SIZE", UNIT_COUNT, "of allocated: the size is not in the record, and in no bytes", true },
	{ "captured", "CAPTURED", UNIT_COUNT, "allocation calls recorded into a graph: not in allocated", true },
	{ "failed", "FAILED", UNIT_COUNT, "allocation calls that returned an error: not in allocated", true },
	{ "in_flight", "IN FLIGHT", UNIT_COUNT, "allocation calls that had not returned: not in allocated", true },
	{ "kind", "KIND", UNIT_TEXT, "kind of memory, by the allocating call", false },
	END };

static const struct column free_columns[] = {
	{ "calls", "CALLS", UNIT_COUNT, "free calls that succeeded outside stream capture (entry only: all of them)", false },
	{ "matched", "MATCHED", UNIT_COUNT, "of calls: freed a live allocation of this capture", false },
	{ "unknown", "UNKNOWN", UNIT_COUNT, "of calls: of memory allocated before the capture, or whose allocation was not recorded", false },
	{ "null", "OF NULL", UNIT_COUNT, "of calls: of address 0, nothing to free", true },
	{ "unmatched", "UNMATCHED", UNIT_COUNT, "of calls: result or address not recorded, so not matched", true },
	{ "captured", "CAPTURED", UNIT_COUNT, "free calls recorded into a graph: not in calls", true },
	{ "failed", "FAILED", UNIT_COUNT, "free calls that returned an error: not in calls, free nothing", false },
	{ "in_flight", "IN FLIGHT", UNIT_COUNT, "free calls that had not returned: not in calls", true },
	{ "kind", "FREE OF", UNIT_TEXT, "kind of the freeing call", false },
	END };

static const struct column process_columns[] = {
	{ "pid", "PID", UNIT_ID, "initial pid namespace, as in the records", false },
	{ "view_pid", "SEEN AS", UNIT_ID, "in the recorder's pid namespace", false },
	{ "ns_pid", "IN ITS NS", UNIT_ID, "in the process's own pid namespace", false },
	{ "parent", "PARENT", UNIT_ID, "the traced process that forked it", false },
	{ "calls", "CALLS", UNIT_COUNT, "calls made by the application", false },
	{ "threads", "THREADS", UNIT_COUNT, "threads with a recorded call", false },
	{ "origin", "ORIGIN", UNIT_TEXT, "how it became a target", false },
	{ "end", "END", UNIT_TEXT, "how it ended inside the capture", false },
	{ "exe", NULL, UNIT_TEXT, "executable", false },
	{ "comm", "NAME", UNIT_TEXT, "command name", false },
	END };

static const struct column cost_columns[] = {
	{ "part", "PART", UNIT_TEXT, "probes (in libcuda), shim (the library in the process), CUPTI, driver (there without gpubpf too), all, recorder", false },
	{ "calls", "CALLS", UNIT_COUNT, "calls, callbacks or records of this kind, in the whole capture", false },
	{ "measured", NULL, UNIT_COUNT, "how many each_ns is of", false },
	{ "each_ns", "EACH", UNIT_NS, "what one costs: of probes the median beyond a bare call, else the mean", false },
	{ "low_ns", "LOW", UNIT_NS, "of probes: one batch of ten took less", false },
	{ "high_ns", "HIGH", UNIT_NS, "of probes: one batch of ten took more", false },
	{ "total_ns", "IN ALL", UNIT_NS, "each_ns times calls; of CUPTI, the driver and the recorder: the sum", false },
	{ "share_of_a_thread", "SHARE", UNIT_SHARE, "total_ns by the time that was recorded; of several threads it may be more than 1", false },
	{ "what", NULL, UNIT_TEXT, "machine word of the row", false },
	{ "text", "OF WHAT", UNIT_TEXT, "the row in words, and why it was not measured where it was not", false },
	END };

const struct section report_host_sections[] = {
	{ "processes", "Processes", "one row per process; a pid used again and an exec are new ones",
	  NULL, process_columns, "calls", build_processes },
	{ "apis", "Calls", "one row per entry point; calls made by the application, nested ones apart",
	  NULL, api_columns, "total_ns", build_apis },
	{ "threads", "Calls by thread", "one row per thread and entry point; calls made by the application",
	  NULL, thread_columns, "total_ns", build_threads },
	{ "failures", "Failures", "one row per entry point and result; calls made by the application that failed",
	  NULL, failure_columns, "calls", build_failures },
	{ "launches", "Launches", "one row per launch key: function, grid, block, cluster, dynamic shared memory",
	  NULL, launch_columns, "launches", build_launches },
	{ "graphs", "Graph launches", "one row per executable graph",
	  "what a graph runs is not visible to the host observer", graph_columns, "launches", build_graphs },
	{ "captures", "Stream capture and graphs", "counts of calls that succeeded",
	  "captured is what goes to the stream that a capture began on, and to streams that joined it by waiting "
	  "for an event of it", capture_columns, NULL, build_captures },
	{ "copies", "Copies", "one row per direction and source of it",
	  NULL, copy_columns, "bytes", build_copies },
	{ "sets", "Sets", "one row per element size", NULL, set_columns, "bytes", build_sets },
	{ "memory", "Memory", "one row per kind of memory; allocated, not resident",
	  NULL, memory_columns, "allocated_bytes", build_memory },
	{ "frees", "Frees", "one row per kind of free call", NULL, free_columns, "calls", build_frees },
	{ "cost", "What gpubpf cost", "one row per part of it that was measured, or was not; of the whole capture",
	  cost_note, cost_columns, NULL, build_cost },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};
/* clang-format on */

const struct section *report_section_at(size_t i)
{
	static const struct section *const lists[] = { report_device_sections, report_collective_sections,
						       report_host_sections, report_module_sections,
						       report_memory_sections };

	for (size_t l = 0; l < sizeof(lists) / sizeof(lists[0]); l++)
		for (const struct section *s = lists[l]; s->name; s++)
			if (i-- == 0)
				return s;
	return NULL;
}

const struct section *report_section(const char *name)
{
	const struct section *s;

	for (size_t i = 0; (s = report_section_at(i)); i++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

bool section__of_device(const struct section *s)
{
	for (const struct section *d = report_device_sections; d->name; d++)
		if (d == s)
			return true;
	return collectives_section(s);
}
