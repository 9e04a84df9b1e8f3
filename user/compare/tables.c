// SPDX-License-Identifier: GPL-2.0-or-later
/* What is printed: one set of tables for text, JSON, CSV and HTML. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/priv.h"
#include "report/report.h"

/* clang-format off */
#define END { NULL, NULL, UNIT_TEXT, NULL, false }
#define COUNTS(head, what)                                                                                          \
	{ "state", "STATE", UNIT_TEXT, "both; appeared: in B alone; vanished: in A alone", false },                 \
	{ "count_a", head " A", UNIT_MEAN, what ", per capture of A", false },                                      \
	{ "count_b", head " B", UNIT_MEAN, what ", per capture of B", false },                                      \
	{ "counts", "COUNTS", UNIT_TEXT, "unequal: totals mix the cost of one with the amount of work; varying: an arm's captures differ", false }
#define TIMES(a, b)                                                                                                       \
	{ "untimed", NULL, UNIT_COUNT, "of both arms: without an accepted duration, in no time", false },           \
	{ "total_a_ns", a, UNIT_NS, "sum of the durations, per capture of A", false },                      \
	{ "total_b_ns", b, UNIT_NS, "sum of the durations, per capture of B", false },                      \
	{ "delta_ns", "B - A", UNIT_NS, "total_b_ns less total_a_ns, where both are there", false }
#define MEANS                                                                                                       \
	{ "mean_a_ns", "MEAN A", UNIT_NS, "mean duration in A", false },                                            \
	{ "mean_b_ns", "MEAN B", UNIT_NS, "mean duration in B", false },                                            \
	{ "median_a_ns", NULL, UNIT_NS, "median duration in A, within 1 %", false },                                \
	{ "median_b_ns", NULL, UNIT_NS, "median duration in B, within 1 %", false },                                \
	{ "spread_a", "SPREAD A", UNIT_SHARE, "of single durations in A: (p75 - p25) / p50", false },               \
	{ "spread_b", "SPREAD B", UNIT_SHARE, "of single durations in B: (p75 - p25) / p50", false }
#define TEST                                                                                                        \
	{ "ratio", "RATIO", UNIT_RATIO, "B / A of one, as the test sees it: not a ratio of means or totals", false }, \
	{ "ratio_low", "LOW", UNIT_RATIO, "lower end of its interval of 95 %", false },                             \
	{ "ratio_high", "HIGH", UNIT_RATIO, "upper end", false },                                                   \
	{ "p", NULL, UNIT_VALUE, "of no difference, corrected for all tests of this comparison (Holm)", false },    \
	{ "noise", NULL, UNIT_SHARE, "a difference that is not larger is not claimed", false },                     \
	{ "detectable", NULL, UNIT_SHARE, "a difference that would have been claimed with 80 %, were it the only test", false }, \
	{ "unit", NULL, UNIT_TEXT, "what was compared: block (means of consecutive ones) or capture", false },      \
	{ "units_a", NULL, UNIT_COUNT, "of them in A", false },                                                     \
	{ "units_b", NULL, UNIT_COUNT, "of them in B", false },                                                     \
	{ "finding", "FINDING", UNIT_TEXT, "more, less; within noise: there, but not larger than the noise; no difference: none was found; not compared: too few", false }

static const struct column arm_columns[] = {
	{ "arm", "ARM", UNIT_TEXT, "A before, B after", false },
	{ "verdict", "VERDICT", UNIT_TEXT, "of the capture's ledger", false },
	{ "comparable", "COMPARABLE", UNIT_TEXT, "no: something of it is missing", false },
	{ "calls", "CALLS", UNIT_COUNT, "call records of the host observer", false },
	{ "device_records", "DEVICE RECORDS", UNIT_COUNT, "what ran and was recorded by the device observer", false },
	{ "joined", "JOINED", UNIT_TEXT, "no: too many calls; the counts of both observers were compared instead", false },
	{ "host", NULL, UNIT_TEXT, "where it was recorded", false },
	{ "boot_id", NULL, UNIT_TEXT, "of that machine then", false },
	{ "command", "COMMAND", UNIT_TEXT, "that was recorded", false },
	{ "file", "FILE", UNIT_TEXT, "the capture", false },
	{ "text", NULL, UNIT_TEXT, "the verdict in words", false },
	END };

static const struct column fact_columns[] = {
	{ "state", "STATE", UNIT_TEXT, "equal; unequal; missing: not known in an arm or in both, which is no equality; per run: not compared", false },
	{ "group", "OF", UNIT_TEXT, "what the fact is about", false },
	{ "name", "FACT", UNIT_TEXT, "the fact", false },
	{ "a", "A", UNIT_TEXT, "its value in A; (differs): among the captures of A", false },
	{ "b", "B", UNIT_TEXT, "its value in B", false },
	END };

static const struct column moved_columns[] = {
	{ "of", "OF", UNIT_TEXT, "GPU time: sums of durations on devices; wall time: windows, idle time, time inside calls", false },
	{ "delta_ns", "B - A", UNIT_NS, "what B takes more, per capture", false },
	{ "share", "SHARE", UNIT_SHARE, "of all that moved of it, either way", false },
	{ "counts", "COUNTS", UNIT_TEXT, "unequal: mixes the cost of one with the amount of work", false },
	{ "state", "STATE", UNIT_TEXT, "both, appeared or vanished", false },
	{ "finding", "FINDING", UNIT_TEXT, "of the cost of one", false },
	{ "shape", "SHAPE", UNIT_TEXT, "grid and block of a kernel", false },
	{ "what", "WHAT", UNIT_TEXT, "kernel, copy, entry point or time", false },
	END };

static const struct column population_columns[] = {
	{ "count_a", "CALLS A", UNIT_MEAN, "calls of the application, per capture of A", false },
	{ "count_b", "CALLS B", UNIT_MEAN, "the same of B", false },
	{ "counts", "COUNTS", UNIT_TEXT, "unequal, varying: see kernels", false },
	{ "executions_a", "EXECUTIONS A", UNIT_MEAN, "what ran on the device of these calls, per capture of A", false },
	{ "executions_b", "EXECUTIONS B", UNIT_MEAN, "the same of B", false },
	TIMES("TOTAL A", "TOTAL B"),
	{ "population", "POPULATION", UNIT_TEXT, "of the ledger", false },
	END };

static const struct column kernel_columns[] = {
	COUNTS("RUNS", "executions: launches and graph nodes"),
	{ "nodes_a", NULL, UNIT_MEAN, "of count_a: nodes of graphs", false },
	{ "nodes_b", NULL, UNIT_MEAN, "of count_b: nodes of graphs", false },
	TIMES(NULL, NULL), MEANS, TEST,
	{ "blocks", "BLOCKS", UNIT_COUNT, "blocks per launch: the product of the grid", false },
	{ "grid", "GRID", UNIT_TEXT, "blocks in x, y, z", false },
	{ "block", "BLOCK", UNIT_TEXT, "threads per block in x, y, z", false },
	{ "cluster", "CLUSTER", UNIT_TEXT, "blocks per cluster", true },
	{ "registers", NULL, UNIT_COUNT, "per thread", false },
	{ "static_shared_bytes", NULL, UNIT_BYTES, "static shared memory per block", false },
	{ "dynamic_shared_bytes", NULL, UNIT_BYTES, "dynamic shared memory per block", false },
	{ "device", "DEVICE", UNIT_TEXT, "where the capture has devices of several kinds", true },
	{ "mangled", NULL, UNIT_TEXT, "name as the module has it", false },
	{ "name", "KERNEL", UNIT_TEXT, "demangled name", false },
	END };

static const struct column name_columns[] = {
	COUNTS("RUNS", "executions of all shapes: launches and graph nodes"),
	TIMES("TOTAL A", "TOTAL B"),
	{ "shapes_a", NULL, UNIT_COUNT, "launch keys of this name in A", false },
	{ "shapes_b", NULL, UNIT_COUNT, "launch keys of this name in B", false },
	{ "mean_a_ns", "MEAN A", UNIT_NS, "mean duration; with several shapes their number stands in its place", false },
	{ "mean_b_ns", "MEAN B", UNIT_NS, "the same of B", false },
	{ "shapes_more", "MORE", UNIT_COUNT, "shapes that take more in B", false },
	{ "shapes_less", "LESS", UNIT_COUNT, "shapes that take less in B", false },
	{ "shapes_within_noise", "IN NOISE", UNIT_COUNT, "shapes whose difference is within the noise", false },
	{ "shapes_no_difference", "SAME", UNIT_COUNT, "shapes without a difference that was found", false },
	{ "shapes_not_compared", "NOT COMP", UNIT_COUNT, "shapes with too few runs, or in one arm alone", false },
	{ "name", "KERNEL", UNIT_TEXT, "demangled name", false },
	END };

static const struct column transfer_columns[] = {
	COUNTS("RUNS", "copies or sets on the device, nodes of graphs too"),
	{ "bytes_a", "BYTES A", UNIT_BYTES, "per capture of A", false },
	{ "bytes_b", "BYTES B", UNIT_BYTES, "per capture of B", false },
	TIMES(NULL, NULL), MEANS, TEST,
	{ "kind", "KIND", UNIT_TEXT, "copy or set", false },
	{ "direction", "DIRECTION", UNIT_TEXT, "h host, d device, a array", false },
	{ "source", "FROM", UNIT_TEXT, "kind of memory; of a set: where", false },
	{ "destination", "TO", UNIT_TEXT, "kind of memory", false },
	END };

static const struct column launch_columns[] = {
	COUNTS("LAUNCHES", "launch calls that succeeded outside stream capture"),
	{ "blocks", "BLOCKS", UNIT_COUNT, "blocks per launch: the product of the grid", false },
	{ "grid", "GRID", UNIT_TEXT, "blocks in x, y, z", false },
	{ "block", "BLOCK", UNIT_TEXT, "threads per block in x, y, z", false },
	{ "cluster", "CLUSTER", UNIT_TEXT, "blocks per cluster", true },
	{ "dynamic_shared_bytes", "SHARED", UNIT_BYTES, "dynamic shared memory per block", false },
	{ "mangled", NULL, UNIT_TEXT, "name as the module has it", false },
	{ "name", "KERNEL", UNIT_TEXT, "demangled name", false },
	END };

static const struct column api_columns[] = {
	COUNTS("CALLS", "calls of the application"),
	TIMES(NULL, NULL), MEANS, TEST,
	{ "api", "API", UNIT_TEXT, "symbol of the entry point", false },
	END };

static const struct column memory_columns[] = {
	COUNTS("ALLOCATIONS", "allocations, not resident memory"),
	{ "bytes_a", "BYTES A", UNIT_BYTES, "allocated, per capture of A", false },
	{ "bytes_b", "BYTES B", UNIT_BYTES, "allocated, per capture of B", false },
	{ "peak_a_bytes", "PEAK A", UNIT_BYTES, "highest of what was allocated at one time, of all captures of A", false },
	{ "peak_b_bytes", "PEAK B", UNIT_BYTES, "the same of B", false },
	{ "kind", "KIND", UNIT_TEXT, "of memory", false },
	END };

static const struct column wall_columns[] = {
	{ "total_a_ns", "A", UNIT_NS, "per capture of A", false },
	{ "total_b_ns", "B", UNIT_NS, "per capture of B", false },
	{ "delta_ns", "B - A", UNIT_NS, "what B takes more", false },
	TEST,
	{ "what", "TIME", UNIT_TEXT, "summed over devices where it is theirs", false },
	END };

static const struct column delay_columns[] = {
	{ "count_a", "LAUNCHES A", UNIT_MEAN, "launches with a delay, per capture of A", false },
	{ "count_b", "LAUNCHES B", UNIT_MEAN, "the same of B", false },
	MEANS,
	{ "p99_a_ns", "P99 A", UNIT_NS, "99th percentile in A, within 1 %", false },
	{ "p99_b_ns", "P99 B", UNIT_NS, "the same of B", false },
	TEST,
	{ "what", "DELAY", UNIT_TEXT, "from the entry of a launch call to the start of its kernel; nodes of graphs are not in it", false },
	END };

#define STREAM                                                                                                      \
	{ "process", "PROCESS", UNIT_ID, "1 …: processes in the order of their first execution", false },           \
	{ "device", "DEVICE", UNIT_ID, "ordinal, as the process has it", false },                                   \
	{ "context", NULL, UNIT_ID, "as CUPTI numbers it", false },                                                 \
	{ "stream", "STREAM", UNIT_ID, "as CUPTI numbers it", false }

static const struct column order_columns[] = {
	{ "state", "STATE", UNIT_TEXT, "equal, differ; appeared or vanished: a stream of one capture alone", false },
	{ "length_a", "RUNS A", UNIT_COUNT, "executions on this stream in A", false },
	{ "length_b", "RUNS B", UNIT_COUNT, "executions on this stream in B", false },
	{ "same", "SAME", UNIT_COUNT, "executions from the beginning on that are the same: the next one differs", false },
	{ "common", "COMMON", UNIT_COUNT, "length of a longest common subsequence (--order=lcs); not measured: given up after 20,000 differences", false },
	{ "only_a", "ONLY A", UNIT_COUNT, "executions that are not in it, of A", false },
	{ "only_b", "ONLY B", UNIT_COUNT, "the same of B", false },
	{ "places", "PLACES", UNIT_COUNT, "where they part", false },
	STREAM,
	{ "first_a", "FIRST IN A", UNIT_TEXT, "what A ran where they part first: name, grid and block", false },
	{ "first_b", "FIRST IN B", UNIT_TEXT, "what B ran there", false },
	END };

static const struct column hunk_columns[] = {
	{ "at_a", "AT A", UNIT_COUNT, "executions of the stream before it in A", false },
	{ "at_b", "AT B", UNIT_COUNT, "executions of the stream before it in B", false },
	{ "only_a", "ONLY A", UNIT_COUNT, "executions here that are in A alone", false },
	{ "only_b", "ONLY B", UNIT_COUNT, "executions here that are in B alone", false },
	STREAM,
	{ "first_a", "FIRST IN A", UNIT_TEXT, "the first of those of A", false },
	{ "first_b", "FIRST IN B", UNIT_TEXT, "the first of those of B", false },
	END };

const struct section compare_sections[] = {
	{ "arms", "Captures", "one row per capture", NULL, arm_columns, NULL, NULL },
	{ "environment", "Environment", "one row per fact that is not the same or not known; equal ones are in JSON and CSV", NULL, fact_columns, NULL, NULL },
	{ "moved", "What moved", "GPU time first, then wall time, each by how much it moved", "a time that moved is a sum; the finding is of the cost of one", moved_columns, NULL, NULL },
	{ "totals", "Totals", "one row per population; calls of the application, what ran for them", NULL, population_columns, NULL, NULL },
	{ "kernels", "Kernels", "one row per launch key: name, grid, block, cluster, registers, static and dynamic shared memory", NULL, kernel_columns, NULL, NULL },
	{ "names", "Kernels by name", "one row per name, all shapes together; a name of several shapes has no mean", NULL, name_columns, NULL, NULL },
	{ "transfers", "Copies and sets on the device", "one row per kind, direction and kinds of memory", NULL, transfer_columns, NULL, NULL },
	{ "launches", "Launch calls", "one row per launch key as the host observer sees it", NULL, launch_columns, NULL, NULL },
	{ "apis", "Calls", "one row per entry point; time inside the calls, on the host", NULL, api_columns, NULL, NULL },
	{ "memory", "Memory", "one row per kind of memory; allocated, not resident", NULL, memory_columns, NULL, NULL },
	{ "delays", "Launch delay", "all launches together", NULL, delay_columns, NULL, NULL },
	{ "times", "Times of the whole capture", "one row per time, one number per capture: with one capture per arm there is no noise to hold it against", NULL, wall_columns, NULL, NULL },
	{ "order", "Order", "one row per stream: kernels, copies and sets by launch key, in the order of their starts", "of captures that are not joined: as their records came", order_columns, NULL, NULL },
	{ "order_places", "Where the orders part", "one row per place, up to 1,000 of a stream", NULL, hunk_columns, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};
/* clang-format on */

const struct section *compare_section(const char *name)
{
	for (const struct section *s = compare_sections; s->name; s++)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}
