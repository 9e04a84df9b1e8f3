/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the recording cost those who were recorded: measured behind its end, for the capture to hold. */
#include "record/recorder_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "events.h"

struct cost_message {
	Gpubpf__Cost message;
	Gpubpf__CostKind kind[COST_KINDS], *kinds[COST_KINDS];
};

/* How many calls were of each kind; counted in the kernel, so that losses are in it. */
static int count_calls(struct recorder *r, uint64_t calls[COST_KINDS])
{
	size_t n = attach__api_ids(r->attach);
	struct gpubpf_counts *c = calloc(n + 1, sizeof(*c));
	uint64_t globals[GPUBPF_G_MAX];
	bool unsafe, entry_only = attach__entry_only(r->attach, &unsafe);
	int e = c ? attach__counts(r->attach, c, n) : -ENOMEM;

	if (!e)
		e = attach__globals(r->attach, globals);
	for (size_t i = 0; i < n && !e; i++) {
		uint64_t all = c[i].entered + c[i].nested, left_out = entry_only ? c[i].row : c[i].unmeasured;

		calls[COST_ROW] += c[i].row;
		calls[COST_ALONE] += left_out - c[i].row;
		calls[entry_only ? COST_ENTRY : COST_CALL] += all - left_out;
	}
	if (!e)
		calls[COST_OTHER] = globals[GPUBPF_G_OTHER_PROCESS];
	free(c);
	return e;
}

static void fill(struct cost_message *m, const struct attach_cost *c, const uint64_t calls[COST_KINDS])
{
	for (unsigned i = 0; i < COST_KINDS; i++) {
		const struct attach_cost_kind *k = &c->kind[i];
		Gpubpf__CostKind *to = &m->kind[m->message.n_kind];

		if (!k->measured && !calls[i])
			continue;
		gpubpf__cost_kind__init(to);
		to->kind = (char *)cost_kind_names[i];
		to->has_calls = true;
		to->calls = calls[i];
		to->has_ns = to->has_measured = k->measured != 0;
		to->ns = k->ns;
		to->measured = k->measured;
		to->has_low_ns = to->has_high_ns = k->high_ns != 0;
		to->low_ns = k->low_ns;
		to->high_ns = k->high_ns;
		m->kinds[m->message.n_kind++] = to;
	}
}

static const char *not_measured(const struct recorder *r)
{
	if (r->o->no_host)
		return "no probe stood in libcuda (--no-host)";
	if (!attach__api_ids(r->attach))
		return "no libcuda was probed";
	return r->o->no_cost ? "not asked for (--no-cost)" : NULL;
}

int recorder_cost(struct recorder *r)
{
	struct cost_message m = { 0 };
	Gpubpf__Meta meta = GPUBPF__META__INIT;
	uint64_t calls[COST_KINDS] = { 0 };
	struct attach_cost c = { 0 };
	struct err why = { "" };
	struct rusage used;
	int e = count_calls(r, calls);

	if (e)
		return err_set(r->err, e, "cannot read the counters: %s", strerror(-e));
	gpubpf__cost__init(&m.message);
	if (!getrusage(RUSAGE_SELF, &used)) {
		m.message.has_recorder_cpu_ns = true;
		m.message.recorder_cpu_ns = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) *
						    1000000000 +
					    (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
	}
	m.message.absent = (char *)not_measured(r);
	if (!m.message.absent && attach__measure_cost(r->attach, &c, &why)) {
		memset(c.kind, 0, sizeof(c.kind));
		m.message.absent = why.msg;
	}
	fill(&m, &c, calls);
	m.message.kind = m.kinds;
	m.message.probe = m.message.absent ? NULL : (char *)c.probe;
	m.message.has_spent_ns = !m.message.absent;
	m.message.spent_ns = c.spent_ns;
	meta.cost = &m.message;
	return capture_writer__meta(r->writer, &meta, r->err);
}
