// SPDX-License-Identifier: GPL-2.0-or-later
#include "../t.h"

#include <stdlib.h>

#include "model/ledger.h"

#define LAUNCH 0
#define COPY 1
#define OTHER 2

struct fixture {
	struct apitab *tab;
	Gpubpf__ApiCounts api[3], *apis[3];
	Gpubpf__GlobalCount global, *globals[1];
	Gpubpf__Counts counts;
	Gpubpf__Footer footer;
	struct capture_status status;
	uint64_t in_file[3], dropped[3];
	struct ledger_input in;
	struct ledger l;
};

/* 10 calls of each population used, all recorded, read back whole. */
static void setup(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	if (apitab__new(&f->tab) ||
	    apitab__add(f->tab, LAUNCH, "cuLaunchKernel", "launch", "func:h", false) ||
	    apitab__add(f->tab, COPY, "cuMemcpyHtoD_v2", "copy.h2d", "dst:d src:p bytes:z", false) ||
	    apitab__add(f->tab, OTHER, "cuInit", "init", "flags:u", false))
		abort();
	gpubpf__counts__init(&f->counts);
	gpubpf__footer__init(&f->footer);
	gpubpf__global_count__init(&f->global);
	for (unsigned i = 0; i < 3; i++) {
		gpubpf__api_counts__init(&f->api[i]);
		f->apis[i] = &f->api[i];
		f->api[i].api = i;
		f->api[i].entered = f->api[i].returned = f->api[i].recorded = f->in_file[i] = 10;
	}
	f->counts.n_api = 3;
	f->counts.api = f->apis;
	f->globals[0] = &f->global;
	f->counts.global = f->globals;
	f->footer.records = f->status.records = 30;
	f->status.has_footer = true;
	f->in = (struct ledger_input){ .tab = f->tab,
				       .counts = &f->counts,
				       .status = &f->status,
				       .footer = &f->footer,
				       .in_file = f->in_file,
				       .nin_file = 3 };
}

static const struct ledger_reason *reason(const struct ledger *l, const char *code)
{
	for (unsigned i = 0; i < l->nreasons; i++)
		if (strcmp(l->reason[i].code, code) == 0)
			return &l->reason[i];
	return NULL;
}

static void expect(struct fixture *f, const char *code, uint64_t count, const char *remedy)
{
	const struct ledger_reason *r;

	ledger_compute(&f->in, &f->l);
	r = reason(&f->l, code);
	CHECKF(f->l.verdict == LEDGER_INCOMPLETE, "%s: %s", code, ledger_verdict_name(f->l.verdict));
	CHECKF(r && r->count == count && f->l.nreasons == 1, "%s: count", code);
	CHECKF(r && strstr(r->remedy, remedy), "%s: remedy '%s'", code, r ? r->remedy : "");
	apitab__free(f->tab);
}

T(R1_zero_is_not_healthy)
{
	static struct ledger zero;
	struct ledger l;
	struct capture_status status = { 0 };
	Gpubpf__Counts counts = GPUBPF__COUNTS__INIT;
	char line[256];

	CHECK(zero.verdict == LEDGER_NOT_EVALUABLE);
	CHECK(strcmp(ledger_verdict_name(zero.verdict), "not evaluable") == 0);
	ledger_headline(&zero, line, sizeof(line));
	CHECK(strncmp(line, "not evaluable", 13) == 0);
	ledger_compute(&(struct ledger_input){ 0 }, &l);
	CHECK(l.verdict == LEDGER_NOT_EVALUABLE && reason(&l, "no_counters"));
	ledger_compute(&(struct ledger_input){ .status = &status }, &l);
	CHECK(l.verdict == LEDGER_NOT_EVALUABLE);
	ledger_compute(&(struct ledger_input){ .counts = &counts }, &l);
	CHECK(l.verdict == LEDGER_EMPTY && reason(&l, "no_calls"));
	ledger_headline(&l, line, sizeof(line));
	CHECKF(strncmp(line, "empty: ", 7) == 0 && strstr(line, "no call"), "%s", line);
}

T(R2_R3_clean_says_nothing_contradicts_it_and_names_the_missing_instrument)
{
	struct fixture f;
	char line[512];

	setup(&f);
	ledger_compute(&f.in, &f.l);
	CHECK(f.l.verdict == LEDGER_UNCONTRADICTED && f.l.nreasons == 0);
	ledger_headline(&f.l, line, sizeof(line));
	CHECKF(strstr(line, "nothing contradicts it"), "%s", line);
	CHECKF(strstr(line, "no device observer in this capture"), "%s", line);
	CHECKF(!strstr(line, "complete"), "%s", line);
	CHECK(f.l.line[0].calls == 10 && f.l.line[2].calls == 10 && f.l.line[4].calls == 10 &&
	      f.l.line[1].calls == 0);
	CHECK(f.l.total.calls == 30 && f.l.total.in_file == 30 && f.l.total.unexplained == 0);
	apitab__free(f.tab);
}

T(R4_every_loss_is_named_with_its_own_remedy)
{
	struct fixture f;

	setup(&f);
	f.api[LAUNCH].entered += 3;
	f.api[LAUNCH].lost_ring = 3;
	expect(&f, "lost_ring", 3, "--ring-size");
	setup(&f);
	f.api[LAUNCH].entered += 4;
	f.api[LAUNCH].lost_thread = 4;
	expect(&f, "lost_thread", 4, "fewer processes");
	CHECK(!strstr(reason(&f.l, "lost_thread")->remedy, "--ring-size"));
	setup(&f);
	f.api[COPY].nested += 5;
	f.api[COPY].lost_depth = 5;
	expect(&f, "lost_depth", 5, "");
	setup(&f);
	f.global.name = "task_lost";
	f.global.count = 6;
	f.counts.n_global = 1;
	expect(&f, "task_lost", 6, "--ring-size");
	setup(&f);
	f.global.name = "targets_full";
	f.global.count = 7;
	f.counts.n_global = 1;
	expect(&f, "targets_full", 7, "fewer processes");
	setup(&f);
	f.global.name = "counter_of_tomorrow";
	f.global.count = 8;
	f.counts.n_global = 1;
	expect(&f, "unknown_counter", 8, "newer gpubpf");
}

T(unexplained_calls_have_a_sign)
{
	struct fixture f;

	setup(&f);
	f.api[LAUNCH].entered += 2;
	expect(&f, "unexplained", 2, "");
	CHECK(f.l.line[0].unexplained == 2 && f.l.total.unexplained == 2);
	setup(&f);
	f.api[COPY].entered -= 2;
	expect(&f, "unexplained", 2, "");
	CHECK(f.l.line[2].unexplained == -2);
}

/* Two populations whose errors cancel out in the sum are still two errors. */
T(unexplained_does_not_cancel_between_populations)
{
	struct fixture f;

	setup(&f);
	f.api[LAUNCH].entered += 2;
	f.api[COPY].entered -= 2;
	ledger_compute(&f.in, &f.l);
	CHECK(f.l.verdict == LEDGER_INCOMPLETE);
	CHECK(f.l.total.unexplained == 0 && f.l.nreasons == 2);
	apitab__free(f.tab);
}

T(what_the_writer_dropped)
{
	struct fixture f;

	setup(&f);
	f.in.status = NULL;
	f.in.footer = NULL;
	f.in.in_file = NULL;
	f.dropped[LAUNCH] = 4;
	f.in.dropped = f.dropped;
	f.in.ndropped = 3;
	expect(&f, "lost_writer", 4, "-o FILE");
	CHECK(f.l.line[0].lost_writer == 4 && f.l.line[0].unexplained == 0);

	/* the footer carries it to the reader */
	{
		struct ledger_footer store;
		struct fixture g;

		setup(&g);
		ledger_fill_footer(&f.l, &store, &g.footer);
		CHECK(strcmp(g.footer.verdict, "incomplete") == 0 && g.footer.n_ledger == API_POPULATIONS);
		g.in_file[LAUNCH] -= 4;
		expect(&g, "lost_writer", 4, "-o FILE");
		CHECK(!reason(&g.l, "not_in_file"));
	}
}

T(file_against_counters)
{
	struct fixture f;

	setup(&f);
	f.status.has_footer = false;
	f.in.footer = NULL;
	expect(&f, "no_footer", 0, "SIGTERM");
	setup(&f);
	f.status.tail_bytes = 11;
	expect(&f, "tail", 11, "");
	setup(&f);
	f.status.damaged_bytes = 5;
	expect(&f, "damage", 0, "undamaged copy");
	setup(&f);
	f.status.bad_records = 1;
	expect(&f, "bad_records", 1, "");
	setup(&f);
	f.status.records = 29;
	expect(&f, "records_missing", 0, "");
	setup(&f);
	f.in_file[COPY] = 8;
	expect(&f, "not_in_file", 2, "");
	setup(&f);
	f.in_file[COPY] = 13; /* more than were ever recorded is as wrong */
	expect(&f, "not_in_file", 3, "");
}

T(R5_refused_entry_points_were_not_counted)
{
	struct fixture f;
	Gpubpf__Api api = GPUBPF__API__INIT, *apis[] = { &api };
	Gpubpf__Meta meta = GPUBPF__META__INIT;

	setup(&f);
	api.symbol = "cuLaunchKernel";
	api.has_missing = api.missing = true;
	meta.n_api = 1;
	meta.api = apis;
	f.in.meta = &meta;
	ledger_compute(&f.in, &f.l);
	CHECK(f.l.verdict == LEDGER_UNCONTRADICTED);
	api.missing = false;
	api.has_error = true;
	api.error = 13;
	expect(&f, "refused", 1, "gpubpf doctor");
}

/* Calls made before a library was probed are in no counter: the capture cannot pass for whole. */
T(R3_a_late_library_is_a_loss)
{
	Gpubpf__Meta meta = GPUBPF__META__INIT;
	Gpubpf__Note late = GPUBPF__NOTE__INIT, other = GPUBPF__NOTE__INIT, *notes[] = { &other, &late };
	struct fixture f;

	setup(&f);
	f.in.late_libraries = 2;
	expect(&f, "late_library", 2, "--libcuda");
	setup(&f);
	late.code = (char *)"library_missed";
	other.code = (char *)"no_xid_events";
	meta.note = notes;
	meta.n_note = 2;
	f.in.meta = &meta;
	expect(&f, "late_library", 1, "--libcuda");
}

T(open_calls_are_facts_and_no_losses)
{
	struct fixture f;

	setup(&f);
	f.api[OTHER].entered += 3;
	f.api[OTHER].in_flight = 2;
	f.api[OTHER].abandoned = 1;
	f.api[OTHER].orphan_return = 1;
	ledger_compute(&f.in, &f.l);
	CHECK(f.l.verdict == LEDGER_UNCONTRADICTED && f.l.nfacts == 3);
	apitab__free(f.tab);
}

T(list_that_is_full_says_so)
{
	struct fixture f;
	Gpubpf__GlobalCount *many[100];

	setup(&f);
	f.global.name = "counter_of_tomorrow";
	f.global.count = 1;
	for (unsigned i = 0; i < 100; i++)
		many[i] = &f.global;
	f.counts.global = many;
	f.counts.n_global = 100;
	ledger_compute(&f.in, &f.l);
	CHECK(f.l.nreasons == LEDGER_REASONS_MAX);
	CHECK(strcmp(f.l.reason[LEDGER_REASONS_MAX - 1].text, "69 more reasons") == 0);
	apitab__free(f.tab);
}

T(every_counter_has_a_name)
{
	for (unsigned i = 0; i <= GPUBPF_G_RESULT_FULL; i++)
		CHECK(ledger_global_name(i) != NULL);
	CHECK(ledger_global_name(GPUBPF_G_MAX) == NULL);
}

TEST_MAIN
