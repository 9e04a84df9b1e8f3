/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sections that the device observer adds, and the meaning of their columns. */
#include "report/extras.h"
#include "report/report.h"

#define END                                                                                                  \
	{                                                                                                    \
		NULL, NULL, UNIT_TEXT, NULL, false                                                           \
	}

#define PLACE_BUSY                                                                                                      \
	{ "window_ns", "WINDOW", UNIT_NS,                                                                               \
	  "from the start of the first record with accepted times to the end of the last: what busy and idle refer to", \
	  false },                                                                                                      \
		{ "busy_ns", "BUSY", UNIT_NS,                                                                           \
		  "time in which at least one record of a traced process ran: intervals united, not added",             \
		  false },                                                                                              \
		{ "busy_share", "SHARE", UNIT_SHARE, "busy_ns divided by window_ns", false },                           \
		{ "idle_ns", "IDLE", UNIT_NS, "window_ns less busy_ns", false },                                        \
		{ "overlap_ns", "OVERLAP", UNIT_NS, "part of busy_ns in which two or more ran", true },                 \
		{ "work_ns", NULL, UNIT_NS, "sum of the durations: more than busy_ns where records overlap",            \
		  false },                                                                                              \
		{ "at_once", NULL, UNIT_COUNT, "the most that ran at one time", true },                                 \
		{ "window_start_ns", NULL, UNIT_NS, "CLOCK_MONOTONIC", false },                                         \
	{                                                                                                               \
		"window_end_ns", NULL, UNIT_NS, "CLOCK_MONOTONIC", false                                                \
	}

#define PLACE_WORK                                                                                           \
	{ "kernels", "KERNELS", UNIT_COUNT, "kernel records with accepted times", false },                   \
		{ "copies", "COPIES", UNIT_COUNT, "copy records with accepted times", false },               \
		{ "sets", "SETS", UNIT_COUNT, "set records with accepted times", false },                    \
	{                                                                                                    \
		"unplaced", "NO TIME", UNIT_COUNT,                                                           \
			"records without accepted times: in no busy time and no gap", true                   \
	}

#define PLACE_WAITS                                                                                                          \
	{ "delays", NULL, UNIT_COUNT, "calls whose first record started after they were entered", false },                   \
		{ "delay_p50_ns", "DELAY P50", UNIT_NS,                                                                      \
		  "median time from the entry of a call to the start of what it asked for (of a graph: of its first node), " \
		  "within 1 %",                                                                                              \
		  false },                                                                                                   \
		{ "delay_p99_ns", "DELAY P99", UNIT_NS, "99th percentile of the same, within 1 %", false },                  \
		{ "delay_max_ns", NULL, UNIT_NS, "longest of the same", false },                                             \
		{ "early", "EARLY", UNIT_COUNT,                                                                              \
		  "records that started before their call was entered: in no delay, see causality", true },                  \
		{ "depth_peak", "QUEUE PEAK", UNIT_COUNT,                                                                    \
		  "the most calls at one time whose work was asked for and had not started", false },                        \
	{                                                                                                                    \
		"depth_mean", "QUEUE MEAN", UNIT_MEAN,                                                                       \
			"the same, mean over time from the first such call on", false                                        \
	}

#define KERNEL_TOTALS                                                                                        \
	{ "launches", "LAUNCHES", UNIT_COUNT, "kernel records that are no nodes of graphs", false },         \
		{ "graph_nodes", "NODES", UNIT_COUNT, "kernel records that are nodes of graphs", true },     \
		{ "untimed", "NO TIME", UNIT_COUNT,                                                          \
		  "of both: records without an accepted duration, in no time", true },                       \
		{ "gpu_ns", "TOTAL", UNIT_NS, "sum of the durations on the device", false },                 \
	{                                                                                                    \
		"gpu_share", "SHARE", UNIT_SHARE, "gpu_ns divided by that of all kernels in the table",      \
			false                                                                                \
	}

#define MOVED(what)                                                                                          \
	{ "graph_nodes", "NODES", UNIT_COUNT, "of these: nodes of graphs", true },                           \
		{ "untimed", "NO TIME", UNIT_COUNT, "of these: without an accepted duration, in no time",    \
		  true },                                                                                    \
		{ "bytes", "BYTES", UNIT_BYTES, "bytes " what ", of all records", false },                   \
		{ "gpu_ns", "TOTAL", UNIT_NS, "sum of the durations on the device, not of the calls",        \
		  false },                                                                                   \
		{ "bytes_per_s", "RATE", UNIT_RATE,                                                          \
		  "bytes of the timed records divided by gpu_ns: what overlaps counts each for itself",      \
		  false },                                                                                   \
		{ "gpu_mean_ns", "MEAN", UNIT_NS, "gpu_ns divided by the timed records", false },            \
		{ "gpu_p50_ns", NULL, UNIT_NS, "median duration, within 1 %", false },                       \
		{ "gpu_p99_ns", "P99", UNIT_NS, "99th percentile of the durations, within 1 %", false },     \
		{ "gpu_max_ns", "MAX", UNIT_NS, "longest duration", false },                                 \
		{ "min_bytes", NULL, UNIT_BYTES, "smallest size", false },                                   \
		{ "median_bytes", "MEDIAN", UNIT_BYTES, "median of the sizes, within 1 %", false },          \
	{                                                                                                    \
		"max_bytes", NULL, UNIT_BYTES, "largest size", false                                         \
	}

/* clang-format off */
static const struct column observer_columns[] = {
	{ "calls", "CALLS", UNIT_COUNT, "calls of the application by the counters that lose none (where the host observer was left "
	  "out: those that the device observer saw): the sum of the terms up to unexplained, less excess", false },
	{ "matched", "MATCHED", UNIT_COUNT, "joined to at least one record of the device with accepted times", false },
	{ "failed", "FAILED", UNIT_COUNT, "returned an error: nothing ran", true },
	{ "captured", "CAPTURED", UNIT_COUNT, "recorded into a graph: nothing ran", true },
	{ "no_work", "NO WORK", UNIT_COUNT, "of zero bytes or elements", true },
	{ "device_launched", "BY DEVICE", UNIT_COUNT, "graph launches without a record of their own: work that the device launched itself "
	  "starts after them", true },
	{ "outside", "NOT WATCHED", UNIT_COUNT, "made while the device observer did not watch their process", true },
	{ "invalid_time", "NO TIME", UNIT_COUNT, "joined, but no record has accepted times", true },
	{ "in_flight", "IN FLIGHT", UNIT_COUNT, "had not run when the session ended", true },
	{ "abandoned", "ABANDONED", UNIT_COUNT, "never returned: their thread ended, called exec or jumped out", true },
	{ "lost_ring", "LOST RING", UNIT_COUNT, "of either observer: handed over, and not in the file", true },
	{ "lost_shim", "LOST SHIM", UNIT_COUNT, "counted as lost in the process, between callback and hand-over", true },
	{ "dropped", "DROPPED", UNIT_COUNT, "records that CUPTI counted as dropped", true },
	{ "ambiguous", "AMBIGUOUS", UNIT_COUNT, "more than one call of the other observer fits", true },
	{ "unexplained", "UNEXPLAINED", UNIT_COUNT, "nothing says why no record of the device belongs to them: a finding", false },
	{ "excess", "EXCESS", UNIT_COUNT, "more terms than calls: a finding", true },
	{ "executions", "EXECUTIONS", UNIT_COUNT, "records of the device joined to these calls: a graph launch has one per node", false },
	{ "counted_by", "COUNTED BY", UNIT_TEXT, "the observer whose calls these are", false },
	{ "population", "POPULATION", UNIT_TEXT, "what the calls ask for", false },
	END };

static const struct column session_columns[] = {
	{ "pid", "PID", UNIT_ID, "process, initial pid namespace", false },
	{ "session", "SESSION", UNIT_ID, "armings of this process are numbered from 1", false },
	{ "activities", "RECORDS", UNIT_COUNT, "records of the device that arrived", false },
	{ "calls", "CALLS", UNIT_COUNT, "calls as CUPTI's callbacks saw them, that arrived", false },
	{ "arming_ns", "ARMING", UNIT_NS, "from the beginning of the arming until all was on", false },
	{ "armed_ns", "ARMED FOR", UNIT_NS, "from then to the end of the session", false },
	{ "armed_at_ns", NULL, UNIT_NS, "CLOCK_MONOTONIC", false },
	{ "clock_error_ns", "CLOCK ERROR", UNIT_NS, "bound on what separates a device time from CLOCK_MONOTONIC", false },
	{ "clock_pairs", NULL, UNIT_COUNT, "readings of several clocks at one moment", false },
	{ "cupti_errors", "ERRORS", UNIT_COUNT, "calls of CUPTI that failed after the arming", true },
	{ "cupti_version", NULL, UNIT_ID, "what cuptiGetVersion() says", false },
	{ "driver_version", NULL, UNIT_TEXT, "CUDA version of the driver", false },
	{ "shim_version", NULL, UNIT_TEXT, "of libgpubpf-shim.so", false },
	{ "cupti_path", NULL, UNIT_TEXT, "the CUPTI that was used", false },
	{ "losses", "LOST", UNIT_TEXT, "what the shim counted as lost, by reason", true },
	{ "refused", "REFUSED", UNIT_TEXT, "facilities that CUPTI refused, with its result code", true },
	{ "arming", "ARMED", UNIT_TEXT, "when the device observer came", false },
	{ "end", "END", UNIT_TEXT, "why the session ended", false },
	{ "clock", "CLOCK", UNIT_TEXT, "source of the device times; all are given as CLOCK_MONOTONIC", false },
	END };

static const struct column timestamp_columns[] = {
	{ "records", "RECORDS", UNIT_COUNT, "records that reached the check of their times", false },
	{ "valid", "ACCEPTED", UNIT_COUNT, "with times that hold", false },
	{ "zero", "ZERO", UNIT_COUNT, "start and end are 0: CUPTI gave none", false },
	{ "end_first", "END FIRST", UNIT_COUNT, "end before start", false },
	{ "outside", "OUTSIDE", UNIT_COUNT, "before the session was armed or after it ended", false },
	{ "unanchored", "NOT TIED", UNIT_COUNT, "of a clock that nothing ties to CLOCK_MONOTONIC: a duration and no place", true },
	{ "early", "EARLY", UNIT_COUNT, "of the accepted: started before their call was entered", false },
	{ "early_beyond", "BEYOND", UNIT_COUNT, "of these: by more than the clock error, or with no bound known", false },
	{ "early_worst_ns", "WORST", UNIT_NS, "the earliest of these, before its call", false },
	{ "clock_error_ns", "CLOCK ERROR", UNIT_NS, "the worst bound of all sessions", false },
	{ "reason", "REASON", UNIT_TEXT, "why times are missing", true },
	{ "kind", "KIND", UNIT_TEXT, "kind of the records", false },
	END };

static const struct column device_columns[] = {
	{ "pid", "PID", UNIT_ID, "process, initial pid namespace", false },
	{ "device", "DEVICE", UNIT_ID, "ordinal that this process gives the device", false },
	PLACE_BUSY,
	{ "others_busy_ns", NULL, UNIT_NS, "time in which processes that are not traced kept the device busy", false },
	{ "gaps", "GAPS", UNIT_COUNT, "times in the window in which nothing of this process ran", false },
	{ "streams", "STREAMS", UNIT_COUNT, "streams with a record", false },
	PLACE_WORK,
	PLACE_WAITS,
	END };

static const struct column stream_columns[] = {
	{ "pid", "PID", UNIT_ID, "process, initial pid namespace", false },
	{ "device", "DEVICE", UNIT_ID, "ordinal that this process gives the device", false },
	{ "context", "CONTEXT", UNIT_ID, "CUPTI's number of the context in this process", false },
	{ "stream", "STREAM", UNIT_ID, "CUPTI's number of the stream in this context: no handle, no hardware queue", false },
	PLACE_BUSY,
	PLACE_WORK,
	PLACE_WAITS,
	END };

static const struct column gap_columns[] = {
	{ "gap_ns", "LENGTH", UNIT_NS, "time in which nothing of this process ran on the device", false },
	{ "pid", "PID", UNIT_ID, "process, initial pid namespace", false },
	{ "device", "DEVICE", UNIT_ID, "ordinal that this process gives the device", false },
	{ "at_ns", "AT", UNIT_NS, "its start, counted from the start of the device's window", false },
	{ "start_ns", NULL, UNIT_NS, "its start, CLOCK_MONOTONIC", false },
	{ "tid", "THREAD", UNIT_ID, "thread whose call asked for what ended the gap", false },
	{ "asked", "ASKED FOR", UNIT_TEXT, "where that call was entered: in the gap, and the device waited for the host; before it, and the work was in the queue; "
	  "after its end, which no clock should say: see causality", false },
	{ "asked_after_ns", "AFTER", UNIT_NS, "from the start of the gap to the entry of that call, when it is in the gap", false },
	{ "delay_ns", "DELAY", UNIT_NS, "from the entry of that call to the end of the gap", false },
	{ "before", "RAN BEFORE", UNIT_TEXT, "what ended last before the gap", false },
	{ "after", "RAN AFTER", UNIT_TEXT, "what started at its end", false },
	END };

static const struct column kernel_columns[] = {
	KERNEL_TOTALS,
	{ "gpu_mean_ns", "MEAN", UNIT_NS, "gpu_ns divided by the timed records", false },
	{ "gpu_p50_ns", "P50", UNIT_NS, "median duration, within 1 %", false },
	{ "gpu_p99_ns", "P99", UNIT_NS, "99th percentile of the durations, within 1 %", false },
	{ "gpu_min_ns", NULL, UNIT_NS, "shortest duration", false },
	{ "gpu_max_ns", "MAX", UNIT_NS, "longest duration", false },
	{ "delay_p50_ns", "DELAY P50", UNIT_NS, "median time from the entry of the launch call to the start on the device, within 1 %; "
	  "nodes of graphs have none of their own", false },
	{ "delay_p99_ns", "DELAY P99", UNIT_NS, "99th percentile of the same, within 1 %", false },
	{ "blocks", "BLOCKS", UNIT_COUNT, "blocks per launch: the product of the grid", false },
	{ "grid", "GRID", UNIT_TEXT, "blocks in x, y, z", false },
	{ "block", "BLOCK", UNIT_TEXT, "threads per block in x, y, z", false },
	{ "cluster", "CLUSTER", UNIT_TEXT, "blocks per cluster in x, y, z, where it ran in clusters", true },
	{ "registers", "REGS", UNIT_COUNT, "registers per thread", false },
	{ "static_shared_bytes", "STATIC", UNIT_BYTES, "static shared memory per block", true },
	{ "dynamic_shared_bytes", "DYNAMIC", UNIT_BYTES, "dynamic shared memory per block", true },
	{ "local_bytes", "LOCAL", UNIT_BYTES, "local memory per thread", true },
	{ "device_kind", NULL, UNIT_TEXT, "name of the GPU, where all of the machine are of one kind", false },
	{ "pid", "PID", UNIT_ID, "of the device, where kinds of devices must be told apart", true },
	{ "device", "DEVICE", UNIT_ID, "likewise: ordinal that the process gives it", true },
	{ "mangled", NULL, UNIT_TEXT, "name as the module has it", false },
	{ "name", "KERNEL", UNIT_TEXT, "demangled name; <unresolved 0x…> where it did not arrive", false },
	END };

static const struct column name_columns[] = {
	KERNEL_TOTALS,
	{ "shapes", "SHAPES", UNIT_COUNT, "launch keys with this name", false },
	{ "gpu_mean_ns", "MEAN", UNIT_NS, "gpu_ns divided by the timed records; of several shapes their number as text, "
	  "since their mean is that of none", false },
	{ "gpu_min_ns", NULL, UNIT_NS, "shortest duration", false },
	{ "gpu_max_ns", "MAX", UNIT_NS, "longest duration", false },
	{ "mangled", NULL, UNIT_TEXT, "name as the module has it", false },
	{ "name", "KERNEL", UNIT_TEXT, "demangled name; <unresolved 0x…> where it did not arrive", false },
	END };

static const struct column device_copy_columns[] = {
	{ "copies", "COPIES", UNIT_COUNT, "copy records", false },
	MOVED("copied"),
	{ "async", "ASYNC", UNIT_COUNT, "of these: CUPTI says that the host did not wait", true },
	{ "src_device", "FROM", UNIT_ID, "of a peer copy: ordinal that the process gives the source", true },
	{ "dst_device", "TO", UNIT_ID, "of a peer copy: ordinal that the process gives the destination", true },
	{ "src_memory", "SOURCE", UNIT_TEXT, "kind of memory copied from", false },
	{ "dst_memory", "DESTINATION", UNIT_TEXT, "kind of memory copied to", false },
	{ "direction", NULL, UNIT_TEXT, "h host, d device, a array: h2d, d2h …; peer, unknown", false },
	{ "text", "DIRECTION", UNIT_TEXT, "the direction in words", false },
	END };

static const struct column device_set_columns[] = {
	{ "sets", "SETS", UNIT_COUNT, "set records", false },
	MOVED("set"),
	{ "memory", "MEMORY", UNIT_TEXT, "kind of memory that was set", false },
	END };

static const struct column graph_run_columns[] = {
	{ "launches", "LAUNCHES", UNIT_COUNT, "graph launch calls with at least one record", false },
	{ "nodes", "NODES", UNIT_COUNT, "records of nodes", false },
	{ "untimed", "NO TIME", UNIT_COUNT, "of these: without accepted times", true },
	{ "least_nodes", "LEAST", UNIT_COUNT, "records of the launch that has the fewest", false },
	{ "most_nodes", "MOST", UNIT_COUNT, "records of the launch that has the most", false },
	{ "span_ns", "TOTAL", UNIT_NS, "sum of the spans, each from the start of the first node to the end of the last", false },
	{ "span_p50_ns", "P50", UNIT_NS, "median span, within 1 %", false },
	{ "span_p99_ns", "P99", UNIT_NS, "99th percentile of the spans, within 1 %", false },
	{ "span_max_ns", "MAX", UNIT_NS, "longest span", false },
	{ "pid", "PID", UNIT_ID, "process, initial pid namespace", false },
	{ "graph", "GRAPH", UNIT_ID, "CUPTI's number of the graph in this process: no handle", false },
	END };

static const struct column wait_columns[] = {
	{ "calls", "CALLS", UNIT_COUNT, "calls made by the application", false },
	{ "failed", "FAILED", UNIT_COUNT, "calls that returned an error", true },
	{ "in_flight", "IN FLIGHT", UNIT_COUNT, "calls that had not returned when their thread or the capture ended", true },
	{ "total_ns", "TOTAL", UNIT_NS, "time that threads spent inside the calls", false },
	{ "mean_ns", "MEAN", UNIT_NS, "total_ns divided by the measured calls", false },
	{ "p50_ns", "P50", UNIT_NS, "median duration, within 1 %", false },
	{ "p99_ns", "P99", UNIT_NS, "99th percentile of the durations, within 1 %", false },
	{ "max_ns", "MAX", UNIT_NS, "longest duration", false },
	{ "pid", "PID", UNIT_ID, "process of the stream, whose handle means nothing elsewhere", true },
	{ "kind", NULL, UNIT_TEXT, "class of the entry point", false },
	{ "stream", "STREAM", UNIT_TEXT, "handle of the stream that was waited for", true },
	{ "api", "API", UNIT_TEXT, "symbol of the entry point", false },
	END };

static const struct column module_load_columns[] = {
	{ "loads", "LOADS", UNIT_COUNT, "modules loaded, a module that was loaded again counted again", false },
	{ "modules", "DISTINCT", UNIT_COUNT, "of these: distinct ones", false },
	{ "unloads", "UNLOADS", UNIT_COUNT, "of these: unloaded", false },
	{ "untimed", NULL, UNIT_COUNT, "loads whose beginning or end the device observer did not see", false },
	{ "bytes", "BYTES", UNIT_BYTES, "size of all that was loaded", false },
	{ "total_ns", NULL, UNIT_NS, "sum of the durations that the device observer saw", false },
	{ "mean_ns", NULL, UNIT_NS, "total_ns divided by the timed loads", false },
	{ "p50_ns", NULL, UNIT_NS, "median of these durations, within 1 %", false },
	{ "p99_ns", NULL, UNIT_NS, "99th percentile of these durations, within 1 %", false },
	{ "slowest_ns", NULL, UNIT_NS, "longest of these durations", false },
	{ "kernels", "KERNELS", UNIT_COUNT, "distinct names of kernels that ran", false },
	{ "load_calls", "LOAD CALLS", UNIT_COUNT, "calls of the application that load modules (lazy loading loads later, inside a launch)", false },
	{ "load_call_ns", "TIME", UNIT_NS, "time that threads spent inside them", false },
	{ "slowest_call_ns", "SLOWEST", UNIT_NS, "longest of them", false },
	{ "link_calls", "LINK CALLS", UNIT_COUNT, "calls of the application that link (cuLinkComplete)", true },
	{ "link_call_ns", "TIME", UNIT_NS, "time that threads spent inside them", true },
	{ "slowest_link_ns", "SLOWEST", UNIT_NS, "longest of them", true },
	{ "load_call_ns_per_kernel", "PER KERNEL", UNIT_NS, "load_call_ns divided by kernels", false },
	{ "cached", "CACHED", UNIT_COUNT, "loads that a cache served: no phase of a load is measured", false },
	{ "compiled", "COMPILED", UNIT_COUNT, "loads that were compiled: no phase of a load is measured", false },
	{ "unclassified", "NEITHER KNOWN", UNIT_COUNT, "loads less the two before", false },
	END };

static const struct column module_columns[] = {
	{ "loads", "LOADS", UNIT_COUNT, "times that it was loaded", false },
	{ "unloads", "UNLOADS", UNIT_COUNT, "times that it was unloaded", false },
	{ "untimed", NULL, UNIT_COUNT, "loads whose beginning or end was not seen", false },
	{ "bytes", "BYTES", UNIT_BYTES, "size of the cubin", false },
	{ "total_ns", "TIME", UNIT_NS, "sum of the durations of the loads", false },
	{ "mean_ns", NULL, UNIT_NS, "total_ns divided by the timed loads", false },
	{ "max_ns", NULL, UNIT_NS, "longest duration", false },
	{ "pid", "PID", UNIT_ID, "process, initial pid namespace", false },
	{ "crc", "CRC-32C", UNIT_HEX, "of the cubin", false },
	END };

static const struct column causality_columns[] = {
	{ "early_ns", "EARLY BY", UNIT_NS, "how long before its call was entered it started", false },
	{ "clock_error_ns", "CLOCK ERROR", UNIT_NS, "bound on the error of its session's device times", false },
	{ "entry_ns", NULL, UNIT_NS, "entry of the call, CLOCK_MONOTONIC", false },
	{ "start_ns", NULL, UNIT_NS, "start on the device, CLOCK_MONOTONIC", false },
	{ "pid", "PID", UNIT_ID, "process, initial pid namespace", false },
	{ "tid", "THREAD", UNIT_ID, "thread that made the call", false },
	{ "judgement", "WHICH IS", UNIT_TEXT, "whether the clock error explains it", false },
	{ "what", "WHAT", UNIT_TEXT, "what ran", false },
	END };

static const struct column orphan_columns[] = {
	{ "records", "RECORDS", UNIT_COUNT, "records of the device", false },
	{ "gpu_ns", "TOTAL", UNIT_NS, "sum of their durations", false },
	{ "link", NULL, UNIT_TEXT, "no_host_call, orphan, ambiguous, other_call or device_launched", false },
	{ "why", "BECAUSE", UNIT_TEXT, "why they belong to no recorded call", false },
	{ "what", "WHAT", UNIT_TEXT, "what ran", false },
	END };

static const struct column external_columns[] = {
	{ "records", "RECORDS", UNIT_COUNT, "records of external correlation", false },
	{ "ids", "IDS", UNIT_COUNT, "of these: distinct ids", false },
	{ "calls", "CALLS", UNIT_COUNT, "calls with an id: of those that the device observer saw", false },
	{ "work", "FOR WORK", UNIT_COUNT, "of these: calls that ask the device for work", false },
	{ "other", "OF OTHER CALLS", UNIT_COUNT, "records of calls that the device observer does not look at", true },
	{ "all_calls", "OF CALLS", UNIT_COUNT, "calls of the process that the device observer saw, with an id and without", false },
	{ "pid", "PID", UNIT_ID, "process, initial pid namespace", false },
	{ "kind", "KIND", UNIT_TEXT, "kind that the application gave with the id (CUpti_ExternalCorrelationKind)", false },
	END };

static const struct column nvtx_columns[] = {
	{ "ranges", "RANGES", UNIT_COUNT, "ranges that began and ended in the session", false },
	{ "total_ns", "TOTAL", UNIT_NS, "sum of their durations; of ranges inside each other each counts", false },
	{ "mean_ns", "MEAN", UNIT_NS, "total_ns divided by the timed ranges", false },
	{ "p50_ns", "P50", UNIT_NS, "median duration, within 1 %", false },
	{ "p99_ns", "P99", UNIT_NS, "99th percentile of the durations, within 1 %", false },
	{ "max_ns", "MAX", UNIT_NS, "longest duration", false },
	{ "open", "OPEN", UNIT_COUNT, "ranges that had not ended when the session did: in none of the times", true },
	{ "ends_alone", "ENDS ALONE", UNIT_COUNT, "ends of ranges that began before the session: CUPTI gives them no name", true },
	{ "untimed", "NO TIME", UNIT_COUNT, "ranges without times", true },
	{ "elsewhere", "OTHER THREAD", UNIT_COUNT, "ranges that another thread ended: started, not pushed", true },
	{ "marks", "MARKS", UNIT_COUNT, "marks", true },
	{ "payloads", "PAYLOADS", UNIT_COUNT, "marks and ranges, open ones too, with a payload; a payload of 0.0 is none to CUPTI", true },
	{ "payload_min", "PAYLOAD MIN", UNIT_VALUE, "smallest payload; none where payload_kind is several or extended", true },
	{ "payload_mean", "PAYLOAD MEAN", UNIT_VALUE, "mean of the payloads; likewise", true },
	{ "payload_max", "PAYLOAD MAX", UNIT_VALUE, "largest payload; likewise", true },
	{ "payload_kind", "PAYLOAD KIND", UNIT_TEXT, "uint64, int64, double, extended (a structure of the application's own: not recorded), several", true },
	{ "categories", "CATEGORIES", UNIT_COUNT, "distinct categories of the marks and ranges", true },
	{ "category", "CATEGORY", UNIT_ID, "the application's number of the category, where it is one", true },
	{ "pid", "PID", UNIT_ID, "process, initial pid namespace", false },
	{ "tid", "THREAD", UNIT_ID, "thread of the mark or of the range's start; with --threads", true },
	{ "domain", "DOMAIN", UNIT_TEXT, "domain; none: the default one", false },
	{ "name", "NAME", UNIT_TEXT, "name; <unresolved 0x…> where it did not arrive, <unnamed> where there is none", false },
	END };

static const struct column unified_columns[] = {
	{ "events", "EVENTS", UNIT_COUNT, "events: migrations, faults, remote mappings, thrashing, throttling", false },
	{ "bytes", "BYTES", UNIT_BYTES, "size of the memory that moved, was mapped or fought for", false },
	{ "fault_groups", "FAULT GROUPS", UNIT_COUNT, "of faults of a GPU: groups of faults for the same page", true },
	{ "total_ns", "TIME", UNIT_NS, "sum of the durations of what has one: migrations, handling of a GPU's faults, throttling", false },
	{ "untimed", "NO TIME", UNIT_COUNT, "of these events: without times", true },
	{ "pid", "PID", UNIT_ID, "process, initial pid namespace", false },
	{ "from", "FROM", UNIT_TEXT, "source; of a fault and of throttling: the device where it was", true },
	{ "to", "TO", UNIT_TEXT, "destination", true },
	{ "devices", "DEVICES", UNIT_TEXT, "of thrashing: devices that fight for the memory", true },
	{ "cause", "CAUSE", UNIT_TEXT, "why memory moved or was mapped; of a fault: the access", true },
	{ "state", "STATE", UNIT_TEXT, "counted, or refused with CUPTI's result (CUptiResult)", false },
	{ "counter", "COUNTER", UNIT_TEXT, "bytes_htod, bytes_dtoh, bytes_dtod, cpu_faults, gpu_faults, thrashing, throttling, remote_map", false },
	END };

const struct section report_device_sections[] = {
	{ "observers", "Two observers", "one row per population, of the whole capture; calls of the application, each in one term, against "
	  "records of the device", NULL, observer_columns, NULL, build_observers },
	{ "devices", "Devices", "one row per device and process; records of the device, calls in the queue",
	  "only traced processes are seen: what else kept the device busy is not measured", device_columns, "busy_ns",
	  build_devices },
	{ "kernels", "Kernels on the device",
	  "one row per launch key: name, grid, block, cluster, registers, static and dynamic shared memory; kernel records",
	  NULL, kernel_columns, "gpu_ns", build_kernels },
	{ "kernel_names", "Kernels by name", "one row per name; kernel records",
	  "several shapes have no mean: their number stands in its place", name_columns, "gpu_ns", build_kernel_names },
	{ "gaps", "Longest gaps", "one row per time in which nothing of the process ran on the device; the 100 longest of each",
	  NULL, gap_columns, "gap_ns", build_gaps },
	{ "device_copies", "Copies on the device", "one row per direction and kinds of memory; copy records",
	  NULL, device_copy_columns, "gpu_ns", build_device_copies },
	{ "device_sets", "Sets on the device", "one row per kind of memory; set records",
	  NULL, device_set_columns, "gpu_ns", build_device_sets },
	{ "graph_runs", "Graphs on the device", "one row per graph; graph launches and records of their nodes",
	  NULL, graph_run_columns, "span_ns", build_graph_runs },
	{ "streams", "Streams", "one row per stream; records of the device, calls in the queue",
	  NULL, stream_columns, "busy_ns", build_streams },
	{ "waits", "Waits", "one row per entry point and stream; calls that wait for the device: synchronizations, and copies and "
	  "sets that name no stream", NULL, wait_columns, "total_ns", build_waits },
	{ "module_loads", "Module loads", "one row for all; modules that were loaded, time of the host",
	  "the phases of a load (cache, compiler, linker) were not measured", module_load_columns, NULL,
	  build_module_loads },
	{ "modules", "Modules", "one row per module and process; time of the host", NULL, module_columns, "total_ns",
	  build_modules },
	{ "timestamps", "Times of the device", "one row per kind; records of the device",
	  NULL, timestamp_columns, NULL, build_timestamps },
	{ "causality", "Causality", "one row per record that started before its call was entered, the 32 worst",
	  NULL, causality_columns, "early_ns", build_causality },
	{ "orphans", "Records without a call", "one row per thing that ran and reason; records of the device",
	  NULL, orphan_columns, "records", build_orphans },
	{ "external", "External correlation", "one row per process and kind; ids that the application gave CUPTI for its calls",
	  "asked for by record --cupti external", external_columns, "records", build_external },
	{ "nvtx", "NVTX", "one row per process, domain and name (with --threads also per thread); ranges and marks of the application",
	  "CUPTI does not tell pushed ranges from started ones; the times are the host's", nvtx_columns, "total_ns", build_nvtx },
	{ "unified_memory", "Unified memory", "one row per process, counter, places and cause; events that CUPTI tells of",
	  "a counter that was refused is not measured, which is not 0", unified_columns, NULL, build_unified },
	{ "sessions", "Sessions of the device observer", "one row per arming of a process", NULL, session_columns, NULL,
	  build_sessions },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};
/* clang-format on */
