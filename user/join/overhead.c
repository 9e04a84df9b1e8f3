/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What CUPTI says that it and the driver took for themselves, by kind. */
#include "join/priv.h"

/* CUpti_ActivityOverheadKind, cupti_activity.h: 1, then 1 << 16, 2 << 16 … */
static const struct {
	const char *name;
	bool cuptis;
} kinds[JOIN_OVERHEADS] = {
	{ "unknown", true },        { "driver_compiler", false },
	{ "buffer_flush", true },   { "instrumentation", true },
	{ "resource", true },       { "module_loading", false },
	{ "lazy_loading", false },  { "command_buffer_full", false },
	{ "buffer_request", true }, { "uvm_init", true },
};

unsigned overhead_index(uint64_t kind)
{
	if (kind == 1)
		return 1;
	return !(kind & 0xffff) && kind >> 16 && kind >> 16 <= JOIN_OVERHEADS - 2 ? 1 + (unsigned)(kind >> 16)
										  : 0;
}

const char *join_overhead_name(unsigned i)
{
	return i < JOIN_OVERHEADS ? kinds[i].name : NULL;
}

bool join_overhead_is_cuptis(unsigned i)
{
	return i < JOIN_OVERHEADS && kinds[i].cuptis;
}

/* Durations alone: whatever clock they are by. */
void overhead_add(struct join *j, const struct gpubpf_activity *a)
{
	struct join_overhead *o = &j->totals.overhead[overhead_index(a->u.raw[0])];
	uint64_t ns = a->end - a->start;

	o->records++;
	if (!a->start || a->end < a->start) {
		o->untimed++;
		return;
	}
	o->ns = add_clamped(o->ns, ns);
	o->longest = ns > o->longest ? ns : o->longest;
}
