// SPDX-License-Identifier: GPL-2.0-or-later
/* The ledger's second table: calls that ask the device for work, against what the device observer saw of them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "events.h"
#include "model/ledger_priv.h"
#include "model/procs.h"
#include "usdt/contract.h"

#define RING_REMEDY "record with a bigger ring: gpubpf record --ring-size SIZE"

/* ---- The lines ---- */

static uint64_t entered(const struct ledger_input *in, unsigned population)
{
	uint64_t n = 0;

	for (size_t i = 0; in->counts && i < in->counts->n_api; i++) {
		const Gpubpf__ApiCounts *c = in->counts->api[i];
		const struct api *a = in->tab ? apitab__get(in->tab, c->api) : NULL;

		if (a && api_population_index(a) == population)
			n += c->entered;
	}
	return n;
}

static void take(uint64_t *term, uint64_t *open, uint64_t evidence)
{
	uint64_t n = *open < evidence ? *open : evidence;

	*term += n;
	*open -= n;
}

/* What the counters know and the file does not hold; the host's line says why. */
static void add_unrecorded(struct ledger_device_line *d, const struct ledger_line *host, uint64_t in_file)
{
	uint64_t open = d->calls > in_file ? d->calls - in_file : 0;

	if (d->calls < in_file) {
		d->unexplained -= (int64_t)(in_file - d->calls);
		return;
	}
	take(&d->lost_ring, &open,
	     host->lost_ring + host->lost_thread + host->lost_depth + host->lost_writer);
	take(&d->abandoned, &open, host->abandoned);
	take(&d->in_flight, &open, host->in_flight);
	d->unexplained += (int64_t)open;
}

static void fill_line(const struct ledger_input *in, struct ledger *l, unsigned p, const struct join_line *j)
{
	struct ledger_device_line *d = &l->device.line[p];

	/* counters of a recorder that was killed are older than the last records */
	d->calls = in->footer && !in->host_left_out ? entered(in, p) : j->calls;
	d->matched = j->matched;
	d->failed = j->failed;
	d->captured = j->captured;
	d->no_work = j->no_work;
	d->device_launched = j->device_launched;
	d->outside = j->outside;
	d->invalid_time = j->invalid_time;
	d->in_flight = j->in_flight;
	d->lost_ring = j->lost_ring;
	d->lost_shim = j->lost_shim;
	d->dropped = j->dropped;
	d->ambiguous = j->ambiguous;
	d->unexplained = (int64_t)j->unexplained;
	d->executions = j->executions;
	add_unrecorded(d, &l->line[p], j->calls);
}

static void add_up(struct ledger_device *d)
{
	struct ledger_device_line *t = &d->total;

	for (unsigned p = 0; p < JOIN_POPULATIONS; p++) {
		const struct ledger_device_line *n = &d->line[p];

		t->calls += n->calls;
		t->matched += n->matched;
		t->failed += n->failed;
		t->captured += n->captured;
		t->no_work += n->no_work;
		t->device_launched += n->device_launched;
		t->outside += n->outside;
		t->invalid_time += n->invalid_time;
		t->in_flight += n->in_flight;
		t->abandoned += n->abandoned;
		t->lost_ring += n->lost_ring;
		t->lost_shim += n->lost_shim;
		t->dropped += n->dropped;
		t->ambiguous += n->ambiguous;
		t->unexplained = (int64_t)((uint64_t)t->unexplained + (uint64_t)n->unexplained);
		t->executions += n->executions;
	}
}

/* Calls that something should have run for, and that somebody watched. */
static uint64_t expected(const struct ledger_device_line *d)
{
	uint64_t rest = d->failed + d->captured + d->no_work + d->outside + d->abandoned;

	return d->calls > rest ? d->calls - rest : 0;
}

static enum ledger_device_state state_of(const struct ledger_device *d, const struct join_totals *t)
{
	if (!t->armed_sessions)
		return LEDGER_DEVICE_FAILED;
	if (!t->activities && expected(&d->total))
		return LEDGER_DEVICE_SILENT;
	return d->total.outside ? LEDGER_DEVICE_PARTIAL : LEDGER_DEVICE_WHOLE;
}

/* ---- What is said ---- */

/* R5: what refused, with what. */
static void name_refusals(const struct join_session *s, char *buf, size_t n)
{
	size_t at = strlen(buf);

	for (unsigned i = 0; i < JOIN_FACILITIES && at < n; i++)
		if (s->facility[i].tried && s->facility[i].result && join_facility_name(i))
			at += (size_t)snprintf(buf + at, n - at, "; %s: CUPTI error %d",
					       join_facility_name(i), s->facility[i].result);
}

static void name_failed(struct ledger *l, const struct join_session *s)
{
	const char *why = join_reason_text(s->reason);
	char refused[120] = "";

	name_refusals(s, refused, sizeof(refused));
	FACT(l, join_reason_name(s->reason) ? join_reason_name(s->reason) : "device_failed", 0,
	     join_reason_remedy(s->reason), "the device observer was not armed in process %u: %s%s",
	     s->proc->tgid, why ? why : "it did not say why", refused);
}

#define SESSIONS_SAID 4

static void name_sessions(const struct join *j, struct ledger *l)
{
	const struct join_totals *t = join__totals(j);
	unsigned said = 0, late = 0;
	uint64_t errors = 0;

	for (size_t i = 0; i < join__sessions(j); i++) {
		const struct join_session *s = join__session(j, i);

		late += s->disarm == GPUBPF_DISARM_LATE;
		errors += s->errors;
		if (s->state != JOIN_SESSION_FAILED)
			continue;
		if (!l->device.reason)
			l->device.reason = s->reason;
		if (said++ < SESSIONS_SAID)
			name_failed(l, s);
	}
	l->device.failed_sessions = t->failed_sessions;
	if (said > SESSIONS_SAID)
		FACT(l, "device_failed", said - SESSIONS_SAID, "",
		     "the device observer was not armed in %u more processes", said - SESSIONS_SAID);
	if (t->open_sessions)
		REASON(l, "session_open", t->open_sessions, "end a recording with Ctrl-C or SIGTERM",
		       "%" PRIu64
		       " sessions of the device observer have no end: the process or the recorder was "
		       "killed, what had not been handed over by then is not in the file",
		       t->open_sessions);
	if (late)
		REASON(l, "disarm_late", late, "",
		       "%u sessions of the device observer ended while device work was still going on", late);
	if (errors)
		REASON(l, "cupti_errors", errors, "", "CUPTI returned %" PRIu64 " errors after it was armed",
		       errors);
}

/* The loudest there is: work was asked for, somebody watched, and nothing was seen to run. */
static void name_silence(const struct join *j, struct ledger *l)
{
	char refused[100] = "";

	for (size_t i = 0; i < join__sessions(j) && !refused[0]; i++)
		name_refusals(join__session(j, i), refused, sizeof(refused));
	REASON(l, "device_silent", expected(&l->device.total),
	       "gpubpf doctor -p PID checks CUPTI and permissions; a bigger buffer would make it worse, not better",
	       "%" PRIu64
	       " calls asked the device for work and CUPTI delivered not one record: a second profiler in "
	       "the process, a missing permission, or a run too short to fill a buffer%s",
	       expected(&l->device.total), refused);
}

/* What became of the batches between the shim and the file. */
static void name_batches(const struct ledger_input *in, struct ledger *l)
{
	uint64_t ring = 0;

	for (size_t i = 0; in->counts && i < in->counts->n_probe; i++) {
		const Gpubpf__ProbeCounts *c = in->counts->probe[i];

		ring += c->lost_items;
		if (c->lost_items)
			REASON(l, "device_lost_ring", c->lost_items, RING_REMEDY,
			       "%" PRIu64 " items of the device observer (%.32s) found no room in the ring",
			       c->lost_items, c->probe);
		if (c->faults)
			REASON(l, "device_faults", c->faults, "",
			       "%" PRIu64 " batches of the device observer (%.32s) could not be read",
			       c->faults, c->probe);
		if (c->cut_items)
			REASON(l, "device_cut", c->cut_items, "",
			       "%" PRIu64
			       " items of the device observer (%.32s) stood behind the end of what one "
			       "batch may hold",
			       c->cut_items, c->probe);
		if (c->lost_writer_items)
			REASON(l, "device_lost_writer", c->lost_writer_items,
			       "make room on the disk, or write elsewhere: gpubpf record -o FILE",
			       "%" PRIu64
			       " items of the device observer (%.32s) could not be written to the file",
			       c->lost_writer_items, c->probe);
	}
	for (unsigned i = 0; in->join && i < GPUBPF_PROBES; i++) {
		const struct join_gap *g = &join__totals(in->join)->probe[i];

		if (g->lost_batches && !ring)
			REASON(l, "device_gap", g->lost_batches, RING_REMEDY,
			       "%" PRIu64
			       " batches of the device observer (%s) are missing from their sequence",
			       g->lost_batches, usdt_contract_probes[i]);
		if (g->repeated)
			REASON(l, "device_repeated", g->repeated, "",
			       "%" PRIu64
			       " batches of the device observer (%s) have a number that was there before",
			       g->repeated, usdt_contract_probes[i]);
		if (g->bad_items)
			REASON(l, "device_bad_items", g->bad_items, "read it with a newer gpubpf",
			       "%" PRIu64 " items of the device observer (%s) cannot be used", g->bad_items,
			       usdt_contract_probes[i]);
	}
}

static void name_losses(const struct join_totals *t, struct ledger *l)
{
	static const struct {
		unsigned loss;
		const char *code, *text, *remedy;
	} known[] = {
		{ GPUBPF_LOSS_CUPTI_DROPPED, "cupti_dropped", "records of what ran were dropped by CUPTI",
		  "its buffers overflowed: run fewer kernels at once, or record for a shorter time" },
		{ GPUBPF_LOSS_NO_BUFFER, "no_buffer",
		  "times CUPTI asked for a buffer and none was free: what it would have held is lost, how much is not known",
		  "" },
		{ GPUBPF_LOSS_CALLS, "shim_calls_lost", "calls found no room in the shim", "" },
		{ GPUBPF_LOSS_NAMES, "shim_names_lost",
		  "kernels have no name: there was no room for it in the shim", "" },
		{ GPUBPF_LOSS_MODULES, "shim_modules_lost", "loads of modules found no room in the shim",
		  "" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (t->loss[known[i].loss])
			REASON(l, known[i].code, t->loss[known[i].loss], known[i].remedy, "%" PRIu64 " %s",
			       t->loss[known[i].loss], known[i].text);
	if (t->loss[GPUBPF_LOSS_UNKNOWN_KIND])
		FACT(l, "unknown_kind", t->loss[GPUBPF_LOSS_UNKNOWN_KIND], "",
		     "CUPTI delivered %" PRIu64 " records of kinds that were not asked for",
		     t->loss[GPUBPF_LOSS_UNKNOWN_KIND]);
	if (t->loss[GPUBPF_LOSS_LABELS])
		FACT(l, "shim_labels_lost", t->loss[GPUBPF_LOSS_LABELS], "",
		     "%" PRIu64 " names of NVTX found no room in the shim", t->loss[GPUBPF_LOSS_LABELS]);
	if (t->names_incomplete)
		REASON(l, "names_incomplete", t->names_incomplete, RING_REMEDY,
		       "%" PRIu64 " names of kernels lack a part", t->names_incomplete);
}

/* R21: copies and sets like kernels; each reason with its counts. */
static void name_times(const struct join_totals *t, struct ledger *l)
{
	for (unsigned kind = GPUBPF_ACTIVITY_KERNEL; kind <= GPUBPF_ACTIVITY_GRAPH; kind++) {
		const struct join_times *n = &t->times[kind];
		const char *code = join_times_reason((enum gpubpf_activity_kind)kind, n);
		uint64_t zero = n->by[JOIN_TIME_ZERO], first = n->by[JOIN_TIME_END_FIRST],
			 out = n->by[JOIN_TIME_OUTSIDE];

		if (code)
			REASON(l, code, zero + first + out,
			       zero ? "CUPTI ran out of its own memory for timestamps: record for a shorter time"
				    : "",
			       "of %" PRIu64 " %s records %" PRIu64 " have no time (0 to 0), %" PRIu64
			       " end before they start, %" PRIu64 " lie outside their session",
			       n->records, join_kind_name(kind), zero, first, out);
		if (n->by[JOIN_TIME_UNANCHORED])
			REASON(l, "clock_unanchored", n->by[JOIN_TIME_UNANCHORED], "",
			       "%" PRIu64
			       " %s records have times of CUPTI's own clock, and no clock pair ties it to ours",
			       n->by[JOIN_TIME_UNANCHORED], join_kind_name(kind));
	}
}

static void name_terms(struct ledger *l, const struct join_totals *t)
{
	uint64_t host_lost = 0;

	for (unsigned p = 0; p < JOIN_POPULATIONS; p++) {
		const struct ledger_device_line *d = &l->device.line[p];

		host_lost += l->line[p].lost_ring + l->line[p].lost_thread + l->line[p].lost_depth +
			     l->line[p].lost_writer;
		if (d->in_flight)
			REASON(l, "device_in_flight", d->in_flight, "",
			       "%s: %" PRIu64 " of %" PRIu64
			       " calls had not run, or were not handed over, at the end",
			       d->population, d->in_flight, d->calls);
		if (d->ambiguous)
			REASON(l, "ambiguous", d->ambiguous, "gpubpf record --returns 1 measures each call",
			       "%s: %" PRIu64 " calls fit more than one call of the device observer",
			       d->population, d->ambiguous);
		/* that nothing at all was delivered is said once */
		if (d->unexplained > 0 && l->device.state != LEDGER_DEVICE_SILENT && l->host_left_out)
			REASON(l, "device_unexplained", (uint64_t)d->unexplained,
			       "record with both observers: gpubpf record without --no-host",
			       "%s: of %" PRIu64 " calls that the device observer saw %" PRId64
			       " left no trace on the device: captured into a graph, of nothing, or lost; the host "
			       "observer, which tells, was left out",
			       d->population, d->calls, d->unexplained);
		else if (d->unexplained > 0 && l->device.state != LEDGER_DEVICE_SILENT)
			REASON(l, "device_unexplained", (uint64_t)d->unexplained, "",
			       "%s: of %" PRIu64 " calls %" PRId64
			       " left no trace on the device, and nothing explains it",
			       d->population, d->calls, d->unexplained);
	}
	if (t->shim_calls_no_host > host_lost)
		REASON(l, "unrecorded_calls", t->shim_calls_no_host - host_lost, "",
		       "the device observer saw %" PRIu64 " calls that the host observer has no record of",
		       t->shim_calls_no_host - host_lost);
	if (t->links[JOIN_ORPHAN])
		REASON(l, "orphans", t->links[JOIN_ORPHAN], "",
		       "%" PRIu64 " executions belong to no call: %" PRIu64 " kernels, %" PRIu64
		       " copies, %" PRIu64 " sets",
		       t->links[JOIN_ORPHAN], t->orphans_by_kind[GPUBPF_ACTIVITY_KERNEL],
		       t->orphans_by_kind[GPUBPF_ACTIVITY_COPY], t->orphans_by_kind[GPUBPF_ACTIVITY_SET]);
	if (t->links[JOIN_AMBIGUOUS])
		FACT(l, "ambiguous_executions", t->links[JOIN_AMBIGUOUS], "",
		     "%" PRIu64 " executions fit more than one call and are given to none",
		     t->links[JOIN_AMBIGUOUS]);
	if (t->graph_shortfall)
		REASON(l, "graph_shortfall", t->graph_shortfall, "",
		       "launches of graphs ran %" PRIu64
		       " nodes less than the launch of the same graph that ran most: "
		       "records are missing, or nodes are conditional",
		       t->graph_shortfall);
}

static void name_causality(const struct join_totals *t, struct ledger *l)
{
	char bound[64] = "no bound of the clock error is known";

	if (t->has_clock_error)
		snprintf(bound, sizeof(bound), "the clock error is at most %" PRIu64 " ns",
			 t->clock_error_ns);
	if (t->early_beyond)
		REASON(l, "causality", t->early_beyond, "",
		       "%" PRIu64 " executions start before their call was entered, by up to %" PRIu64
		       " ns (%s)",
		       t->early_beyond, t->early_worst_ns, bound);
	else if (t->early)
		FACT(l, "causality_within_error", t->early, "",
		     "%" PRIu64 " executions seem to start before their call was entered, by up to %" PRIu64
		     " ns: %s",
		     t->early, t->early_worst_ns, bound);
}

static void name_device_facts(const struct join_totals *t, struct ledger *l)
{
	if (l->device.total.outside)
		FACT(l, "outside_device_capture", l->device.total.outside, "",
		     "%" PRIu64 " of %" PRIu64
		     " calls were not watched by the device observer: made before it was armed, after it ended, or in one "
		     "of %" PRIu64 " processes that it was never armed in",
		     l->device.total.outside, l->device.total.calls, t->processes_unwatched);
	if (l->host_left_out)
		FACT(l, "host_left_out", 0, "",
		     "host observer: left out (--no-host). Calls are those that the device observer saw; one that it did not "
		     "see, a CUDA call outside its sessions, or a call captured into a graph has no witness");
	if (t->graph_unknown)
		FACT(l, "graph_nodes_unknown", t->graph_unknown, "",
		     "%" PRIu64
		     " graph launches are of graphs that were instantiated before the capture: how many nodes "
		     "they have is not known",
		     t->graph_unknown);
	if (t->shim_calls_early)
		FACT(l, "before_the_host_observer", t->shim_calls_early, "",
		     "%" PRIu64
		     " calls were entered before the host observer began; the device observer saw them",
		     t->shim_calls_early);
	if (t->shim_calls_late)
		FACT(l, "after_the_host_observer", t->shim_calls_late, "",
		     "%" PRIu64
		     " calls were made after the host observer had ended; the device observer saw them",
		     t->shim_calls_late);
	if (t->links[JOIN_DEVICE_LAUNCHED])
		FACT(l, "device_launched", t->links[JOIN_DEVICE_LAUNCHED], "",
		     "%" PRIu64
		     " executions were launched by the device itself (the body of a conditional graph node, or a kernel that "
		     "launches kernels): CUPTI names no call for them. %" PRIu64
		     " graph launches have no record and one of these behind them; how many each ran cannot be told",
		     t->links[JOIN_DEVICE_LAUNCHED], l->device.total.device_launched);
	if (t->links[JOIN_OTHER_CALL])
		FACT(l, "of_other_calls", t->links[JOIN_OTHER_CALL], "",
		     "%" PRIu64 " executions were asked for by calls that are no launch, copy or set",
		     t->links[JOIN_OTHER_CALL]);
}

/* Every term but these is a loss or a hole. */
static bool accounted(const struct ledger_device_line *t)
{
	return t->calls == t->matched + t->failed + t->captured + t->no_work;
}

void ledger_device(const struct ledger_input *in, struct ledger *l)
{
	struct ledger_device *d = &l->device;
	const struct join_totals *t;

	for (unsigned p = 0; p < JOIN_POPULATIONS; p++)
		d->line[p].population = api_population_names[p];
	d->total.population = "all calls for work";
	for (size_t i = 0; in->counts && i < in->counts->n_probe; i++)
		if (!strcmp(in->counts->probe[i]->probe, usdt_contract_probes[GPUBPF_PROBE_CALLS]))
			d->handed_calls = in->counts->probe[i]->items;
	if (!in->join) {
		d->state = in->counts && in->counts->n_probe && !in->in_file ? LEDGER_DEVICE_UNREAD
									     : LEDGER_DEVICE_NONE;
		name_batches(in, l);
		return;
	}
	t = join__totals(in->join);
	d->activities = t->activities;
	for (unsigned p = 0; p < JOIN_POPULATIONS; p++)
		fill_line(in, l, p, &t->line[p]);
	add_up(d);
	d->state = state_of(d, t);
	if (d->state == LEDGER_DEVICE_SILENT)
		name_silence(in->join, l);
	name_sessions(in->join, l);
	name_batches(in, l);
	name_losses(t, l);
	name_times(t, l);
	name_terms(l, t);
	name_causality(t, l);
	name_device_facts(t, l);
	d->agrees = !in->host_left_out && d->state == LEDGER_DEVICE_WHOLE && d->total.calls &&
		    accounted(&d->total);
}

void ledger_device_text(const struct ledger *l, char *buf, size_t n)
{
	const struct ledger_device *d = &l->device;
	const char *why = join_reason_text(d->reason);

	switch (d->state) {
	case LEDGER_DEVICE_UNREAD:
		if (l->host_left_out) {
			snprintf(buf, n,
				 "%" PRIu64
				 " calls of all kinds handed over by the device observer alone, read with "
				 "the file",
				 d->handed_calls);
			return;
		}
		snprintf(buf, n, "what the device observer recorded is joined when the file is read");
		return;
	case LEDGER_DEVICE_FAILED:
		snprintf(buf, n, "the device observer saw nothing: %s",
			 why ? why : "it was not armed and did not say why");
		return;
	case LEDGER_DEVICE_SILENT:
		snprintf(buf, n, "the device observer was armed and delivered no record at all");
		return;
	case LEDGER_DEVICE_PARTIAL:
	case LEDGER_DEVICE_WHOLE:
		if (d->agrees)
			snprintf(buf, n,
				 "both observers agree on all %" PRIu64 " calls that ask for work: %" PRIu64
				 " executions",
				 d->total.calls, d->total.executions);
		else if (l->host_left_out)
			snprintf(buf, n,
				 "%" PRIu64
				 " calls that ask for work counted by the device observer alone, %" PRIu64
				 " of them matched or failed: %" PRIu64 " executions",
				 d->total.calls, d->total.matched + d->total.failed, d->total.executions);
		else
			snprintf(buf, n,
				 "the device observer accounts for %" PRIu64 " of %" PRIu64
				 " calls that ask for work: %" PRIu64 " executions",
				 d->total.matched + d->total.failed + d->total.captured + d->total.no_work,
				 d->total.calls, d->total.executions);
		return;
	default:
		snprintf(
			buf, n,
			"no device observer in this capture: what the GPU did about these calls was not seen");
	}
}

bool ledger_device_measured(const struct ledger *l, size_t term)
{
	return !l->host_left_out || (term != offsetof(struct ledger_device_line, captured) &&
				     term != offsetof(struct ledger_device_line, no_work) &&
				     term != offsetof(struct ledger_device_line, outside) &&
				     term != offsetof(struct ledger_device_line, abandoned));
}

const char *ledger_device_state_name(enum ledger_device_state s)
{
	static const char *const names[] = {
		[LEDGER_DEVICE_NONE] = "none",       [LEDGER_DEVICE_UNREAD] = "unread",
		[LEDGER_DEVICE_FAILED] = "failed",   [LEDGER_DEVICE_SILENT] = "silent",
		[LEDGER_DEVICE_PARTIAL] = "partial", [LEDGER_DEVICE_WHOLE] = "whole",
	};

	return (unsigned)s < sizeof(names) / sizeof(names[0]) ? names[s] : "none";
}
