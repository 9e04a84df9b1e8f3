/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sections that --modules adds, and the meaning of their columns. */
#include "inspect/cost.h"
#include "report/more.h"

#define END                                                                                                  \
	{                                                                                                    \
		NULL, NULL, UNIT_TEXT, NULL, false                                                           \
	}

/* clang-format off */
static const struct column phase_columns[] = {
	{ "count", "COUNT", UNIT_COUNT, "calls, or records of CUPTI's", false },
	{ "untimed", "NO TIME", UNIT_COUNT, "of these: without a duration", true },
	{ "total_ns", "TOTAL", UNIT_NS, "sum of the durations: host time, in no kernel's duration", false },
	{ "slowest_ns", "SLOWEST", UNIT_NS, "longest of these", false },
	{ "ns_per_kernel", "PER KERNEL", UNIT_NS, "total_ns divided by the kernels that were launched: totals of different programs differ with their number", false },
	{ "source", "FROM", UNIT_TEXT, "calls: the host observer; CUPTI: its records of overhead; shim: its records of modules", false },
	{ "state", "STATE", UNIT_TEXT, "measured, or why not; zero is 0 and measured", false },
	{ "phase", "PHASE", UNIT_TEXT, "what took the time; phases lie inside each other, so they do not add up", false },
	END };

static const struct column load_call_columns[] = {
	{ "calls", "CALLS", UNIT_COUNT, "calls that succeeded", false },
	{ "failed", "FAILED", UNIT_COUNT, "calls that returned an error: not in calls, in the times", true },
	{ "in_flight", "IN FLIGHT", UNIT_COUNT, "calls that had not returned: not in calls", true },
	{ "nested", "NESTED", UNIT_COUNT, "made inside another traced call: not in calls, not in the times", true },
	{ "total_ns", "TOTAL", UNIT_NS, "time that threads spent inside the calls", false },
	{ "mean_ns", NULL, UNIT_NS, "total_ns divided by the calls with a duration", false },
	{ "p50_ns", "P50", UNIT_NS, "median duration, within 1 %", false },
	{ "slowest_ns", "SLOWEST", UNIT_NS, "longest duration", false },
	{ "functions", "FUNCTIONS", UNIT_COUNT, "functions that were looked up in what these calls loaded", false },
	{ "kernels", "LAUNCHED", UNIT_COUNT, "of functions: that were launched", false },
	{ "cached", "CACHED", UNIT_COUNT, "of calls: served by the driver's cache of compiled PTX; no record tells of it", false },
	{ "compiled", "COMPILED", UNIT_COUNT, "of calls: CUPTI told of the compiler inside one (by process and time); where it told of none at all, that is no evidence", false },
	{ "nothing_to_compile", "CUBIN", UNIT_COUNT, "of calls: given a cubin, which is compiled already", false },
	{ "remaining", "REMAIN", UNIT_COUNT, "calls less the three before, as far as they are known", false },
	{ "pid", "PID", UNIT_ID, "process, initial pid namespace", false },
	{ "image", "IMAGE", UNIT_TEXT, "what the call was given, by its first bytes: cubin, PTX, fat binary (which of its images the driver took is in no record), other", false },
	{ "api", "API", UNIT_TEXT, "symbol of the entry point", false },
	END };

static const struct column load_kernel_columns[] = {
	{ "launches", "LAUNCHES", UNIT_COUNT, "launch calls that did not fail, outside stream capture", false },
	{ "first_ns", "FIRST", UNIT_NS, "time inside the first launch call: lazy loading happens there", false },
	{ "rest_mean_ns", "LATER MEAN", UNIT_NS, "mean time inside the later ones that were measured", false },
	{ "lookup_ns", "LOOKUP", UNIT_NS, "time inside the calls that looked the function up before that (cuModuleGetFunction, cuLibraryGetKernel, cuKernelGetFunction, cuFuncLoad)", false },
	{ "lookups", NULL, UNIT_COUNT, "these calls", false },
	{ "load_ns", "ITS LOAD", UNIT_NS, "time inside the call that loaded its module or library, whatever else is in it: by the handles of the calls", false },
	{ "load_kernels", "SHARED BY", UNIT_COUNT, "kernels in this table that came from that call", false },
	{ "nested", "NESTED", UNIT_COUNT, "traced calls about modules inside the first launch call", true },
	{ "nested_ns", NULL, UNIT_NS, "time inside these", false },
	{ "lazy", "LAZY", UNIT_COUNT, "CUPTI's records of loading a function lazily: of the first launch by correlation id, of its last lookup by process and time", true },
	{ "lazy_ns", "LAZY TIME", UNIT_NS, "time of these", true },
	{ "modules_in_first", "MODULES", UNIT_COUNT, "modules that the device observer saw loaded while the first launch call ran: by process and time alone, another thread may have done it", true },
	{ "pid", "PID", UNIT_ID, "process, initial pid namespace", false },
	{ "tid", NULL, UNIT_ID, "thread of the first launch", false },
	{ "image", "IMAGE", UNIT_TEXT, "what its load call was given, by the first bytes", true },
	{ "loaded_by", "LOADED BY", UNIT_TEXT, "entry point of its load call", true },
	{ "mangled", NULL, UNIT_TEXT, "name as the module has it", false },
	{ "name", "KERNEL", UNIT_TEXT, "demangled name; <unresolved 0x…> where the capture does not name the handle", false },
	END };

const struct section report_module_sections[] = {
	{ "module_phases", "Phases of loading", "one row per phase; calls of the host and records of CUPTI",
	  "a phase that nobody was asked for is not measured, which is not 0", phase_columns, NULL, build_module_phases },
	{ "load_calls", "Calls that load", "one row per process, entry point and image; calls of the application that load or link",
	  NULL, load_call_columns, "total_ns", build_load_calls },
	{ "load_kernels", "Kernels and what loading them took", "one row per kernel and process; launch calls of the application",
	  "host time, in no kernel's duration; a first launch is longer for other reasons, too", load_kernel_columns, "first_ns",
	  build_load_kernels },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};
/* clang-format on */

const char *const report_modules_preset[] = { "module_loads", "module_phases", "load_calls",
					      "load_kernels", "modules",       NULL };

/* R55: a phase that nobody was asked for. */
const char *report__note(const struct report *r, const struct section *s)
{
	if (s->build == build_module_loads && r->in.join && !cost_no_overhead(&r->in))
		return "phases are in section module_phases; of the driver's cache there is no record";
	if (s->build == build_load_calls && (!r->in.join || cost_no_overhead(&r->in)))
		return "no phase of a load was measured; record --cupti overhead asks CUPTI for what the driver does";
	return s->note;
}
