/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the last record to the footer. */
#include "record/recorder_priv.h"

#include <errno.h>
#include <string.h>

#include "events.h"

struct open_calls {
	struct recorder *r;
	struct recorder_counts *counts;
};

/* A call that had not returned when the probes went. */
static void write_open(const struct attach_open_call *c, void *arg)
{
	struct open_calls *o = arg;
	union {
		struct gpubpf_call head;
		uint8_t room[sizeof(struct gpubpf_call) + 8 * GPUBPF_WORDS_MAX];
	} rec = {
		.head = {
			.kind = GPUBPF_REC_CALL,
			.size = sizeof(rec),
			.flags = GPUBPF_CALL_OPEN,
			.tgid = c->tgid,
			.tid = c->tid,
			.t_entry = c->t_entry,
			.api = (uint16_t)c->api,
			.depth = (uint8_t)c->depth,
			.nwords = GPUBPF_WORDS_MAX,
		},
	};

	memcpy(rec.head.words, c->words, 8 * GPUBPF_WORDS_MAX);
	recorder_counts_in_flight(o->counts, c->api);
	capture_writer__record(o->r->writer, (const struct gpubpf_rec *)&rec, c->t_entry, NULL);
}

static uint64_t entered(const Gpubpf__Counts *c)
{
	uint64_t n = 0;

	for (size_t i = 0; i < c->n_api; i++)
		n += c->api[i]->entered;
	return n;
}

static void fill_result(struct recorder *r)
{
	r->res->calls = r->res->ledger.total.calls;
	r->res->duration_ns = recorder_now() - r->start;
	r->res->end_reason = r->end;
}

static int write_footer(struct recorder *r, struct recorder_counts *counts)
{
	struct ledger_input in = {
		.tab = r->armed,
		.counts = recorder_counts_message(counts),
		.dropped = capture_writer__dropped_calls(r->writer),
		.ndropped = GPUBPF_API_MAX,
		.late_libraries = r->late_libraries,
		.host_left_out = r->o->no_host,
	};
	Gpubpf__Footer f = GPUBPF__FOOTER__INIT;
	struct ledger_footer store;

	ledger_compute(&in, &r->res->ledger);
	f.end_ns = recorder_now();
	f.end_reason = (char *)r->end;
	f.has_stopped_ns = true;
	f.stopped_ns = r->stopped;
	f.counts = (Gpubpf__Counts *)in.counts;
	ledger_fill_footer(&r->res->ledger, &store, &f);
	f.has_exit_status = r->launch.reaped;
	f.exit_status = r->launch.reaped ? launch_exit_status(&r->launch) : 0;
	return capture_writer__finish(r->writer, &f, r->err);
}

int recorder_finish(struct recorder *r)
{
	struct recorder_counts *counts = NULL;
	struct open_calls open = { .r = r };
	uint64_t t0;
	int e, got, waited;
	bool ready = false;

	/* The device observer ends first: each call that it saw is one that the host observer saw too. */
	waited = recorder_shims_end(r);
	r->stopped = t0 = recorder_now();
	r->init_kept = recorder_gate_init_open(r);
	if (r->init_kept)
		attach__detach_but_init(r->attach);
	else
		attach__detach(r->attach);
	r->res->detach_ns = recorder_now() - t0;
	do { /* nothing is added any more: until it is empty */
		got = recorder_drain(r);
	} while (got > 0);
	attach__kept(r->attach, recorder_on_record, r);
	recorder_stacks_finish(r);
	if (r->mmaps)
		mmapwatch__read(r->mmaps, recorder_wants_file, recorder_mapped, r);
	recorder_environment_ending(r);
	e = recorder_counts_read(r, &counts);
	if (e)
		return err_set(r->err, e, "cannot read the counters: %s", strerror(-e));
	open.counts = counts;
	attach__open_calls(r->attach, write_open, &open);
	recorder_shims_unheard(r, entered(recorder_counts_message(counts)));
	e = procinfo__write(r->procs, r->writer, r->err);
	if (!e)
		e = recorder_gate_finish(r, recorder_counts_message(counts), &ready);
	r->res->not_ready = r->o->require_ready && !ready;
	if (!e)
		e = recorder_clock(r);
	if (!e && !r->write_error && !r->res->not_ready)
		e = recorder_cost(r);
	if (!e && !r->write_error && !r->res->not_ready)
		e = recorder_environment_finish(r);
	if (!e)
		e = capture_writer__flush(r->writer, r->err);
	int fe = write_footer(r, counts); /* whatever went wrong before: the file should say how it ended */

	if (!e)
		e = r->write_error ? r->write_error : waited ? waited : fe;
	fill_result(r);
	r->res->records = capture_writer__records(r->writer);
	r->res->bytes = capture_writer__bytes(r->writer);
	recorder_counts_free(counts);
	return e;
}
