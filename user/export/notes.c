// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/notes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "cmd.h"
#include "trace/identity.h"
#include "util/fmt.h"

struct notes {
	export_note_fn *fn;
	void *arg;
	int rc;
};

__attribute__((format(printf, 2, 3))) static void note(struct notes *n, const char *fmt, ...)
{
	char text[1024], safe[1024];
	va_list ap;

	if (n->rc)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	n->rc = n->fn(fmt_safe(safe, sizeof(safe), text), n->arg);
}

static void note_absent(struct notes *n, const struct trace *t)
{
	const struct ledger *l = &t->in.ledger;
	const struct join_totals *j = t->in.join ? join__totals(t->in.join) : NULL;
	uint64_t untimed = 0;

	if (!j)
		note(n,
		     "absent: no device observer: nothing is known of what ran, and launches alone are counted");
	else if (l->device.state == LEDGER_DEVICE_FAILED)
		note(n, "absent: the device observer was never armed: nothing is known of what ran");
	if (t->in.host_left_out)
		note(n,
		     "absent: no host observer: calls are those that the device observer saw run something");
	for (unsigned k = GPUBPF_ACTIVITY_KERNEL; j && k <= GPUBPF_ACTIVITY_SET; k++)
		untimed += j->times[k].records - j->times[k].by[JOIN_TIME_VALID] -
			   j->times[k].by[JOIN_TIME_UNANCHORED];
	if (untimed)
		note(n, "absent: %" PRIu64 " executions have no duration: they count 0 ns (label timing)",
		     untimed);
	for (unsigned i = 0; i < l->nreasons; i++)
		note(n, "absent: %s", l->reason[i].text);
}

int export_notes(const struct trace *t, export_note_fn *fn, void *arg)
{
	const Gpubpf__Meta *meta = t->in.meta;
	struct notes n = { fn, arg, 0 };
	struct identity id;
	char line[768];
	bool paired = false;

	ledger_headline(&t->in.ledger, line, sizeof(line));
	note(&n, "verdict: %s", line);
	identity__of(meta, &id);
	note(&n, "capture: %s", id.text);
	note(&n, "exporter: gpubpf %s; recorder: gpubpf %s", GPUBPF_VERSION,
	     meta->gpubpf_version ? meta->gpubpf_version : "(not known)");
	if (meta->host && meta->host->hostname)
		note(&n, "host: %s", meta->host->hostname);
	for (size_t i = 0; i < meta->n_gpu; i++)
		note(&n, "GPU: %s", meta->gpu[i]->name ? meta->gpu[i]->name : "(name not known)");
	note(&n,
	     "clock: durations are of CLOCK_MONOTONIC; times of executions are CUPTI's (label timing_source)");
	for (size_t i = 0; i < meta->n_clock; i++)
		paired = paired || meta->clock[i]->has_realtime_ns;
	if (!paired)
		note(&n, "absent: no clock pair: when it was recorded is not known");
	note_absent(&n, t);
	return n.rc;
}

bool trace_took(const struct trace *t, uint64_t *ns)
{
	const Gpubpf__Footer *f = t->in.footer;
	uint64_t end = f ? f->end_ns : t->in.status->last_ns;

	return !__builtin_sub_overflow(end, t->start, ns) && end;
}
