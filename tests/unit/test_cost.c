/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What gpubpf cost, out of captures that say so, and out of some that say what cannot be. */
#include "report_fixture.h"

#include "inspect/cost.h"

static Gpubpf__Cost message;
static Gpubpf__CostKind kind[40], *kinds[40];

static void begin_cost(void)
{
	ready();
	gpubpf__cost__init(&message);
	message.kind = kinds;
	for (unsigned i = 0; i < 40; i++) {
		gpubpf__cost_kind__init(&kind[i]);
		kinds[i] = &kind[i];
	}
}

static void add_kind(const char *name, uint64_t calls, uint64_t ns, uint64_t low, uint64_t high)
{
	Gpubpf__CostKind *k = &kind[message.n_kind++];

	k->kind = (char *)name;
	k->has_calls = k->has_ns = k->has_low_ns = k->has_high_ns = k->has_measured = true;
	k->calls = calls;
	k->ns = ns;
	k->low_ns = low;
	k->high_ns = high;
	k->measured = 2000;
}

/* Of a recording of 1 ms. */
static void open_cost(void)
{
	open_it();
	meta.cost = &message;
	meta.has_start_ns = true;
	meta.start_ns = 1000000;
	w.footer.end_ns = 2000000;
	r.in.footer = &w.footer;
	r.in.counts = &w.message;
}

static void cost_status(unsigned code, uint64_t seen, uint64_t timed, uint64_t ns, uint64_t longest)
{
	struct gpubpf_status s = { .kind = GPUBPF_STATUS_COST,
				   .code = (uint16_t)code,
				   .session = w.session,
				   .time = w.now,
				   .a = seen,
				   .b = timed,
				   .c = ns,
				   .d = longest,
				   .e = 20 };

	batch_of(GPUBPF_PROBE_STATUS, &s, sizeof(s), 1);
}

static void overhead(uint64_t of, uint64_t start, uint64_t end)
{
	act.u.raw[0] = of;
	activity(GPUBPF_ACTIVITY_OVERHEAD, 0, start, end);
	fresh_activity();
}

static const struct cost_line *line_of(const struct cost *c, const char *part, const char *what)
{
	static const struct cost_line none;

	for (unsigned i = 0; i < c->n; i++)
		if (!strcmp(c->line[i].part, part) && !strcmp(c->line[i].what, what))
			return &c->line[i];
	CHECKF(0, "no line %s %s", part, what);
	return &none;
}

T(calls_times_what_one_costs)
{
	struct cost c;

	begin_cost();
	step(HOST, LAUNCH, 1);
	add_kind("call", 100, 2000, 1900, 2500);
	add_kind("row", 50, 1000, 0, 0);
	kind[1].has_low_ns = kind[1].has_high_ns = false;
	add_kind("other_process", 10, 500, 400, 600);
	message.has_recorder_cpu_ns = true;
	message.recorder_cpu_ns = 500000;
	open_cost();
	r.in.join = NULL;
	CHECK(build("cost") == 5 && report__shows(&r, report_section("cost")));
	CHECK(says(0, "part", "probes") && says(0, "what", "call") && is(0, "calls", 100) &&
	      is(0, "each_ns", 2000) && is(0, "low_ns", 1900) && is(0, "high_ns", 2500) &&
	      is(0, "measured", 2000) && is(0, "total_ns", 200000) && real(0, "share_of_a_thread", 0.2));
	CHECK(is(1, "total_ns", 50000) && absent(1, "low_ns"));
	/* others' threads are in no sum of the recorded ones */
	CHECK(says(3, "part", "all") && is(3, "total_ns", 250000) && real(3, "share_of_a_thread", 0.25));
	CHECK(says(4, "part", "recorder") && is(4, "total_ns", 500000) && absent(4, "each_ns"));
	cost_read(&r.in, &c);
	CHECK(!c.has_stepped && c.wall_ns == 1000000);
	r.in.join = w.j;
	close_it();
}

T(what_was_not_measured_is_named)
{
	begin_cost();
	arm();
	step(ALL, LAUNCH, 1);
	disarm();
	message.absent = (char *)"not asked for (--no-cost)";
	add_kind("call", 100, 0, 0, 0);
	kind[0].has_ns = kind[0].has_low_ns = kind[0].has_high_ns = kind[0].has_measured = false;
	open_cost();
	CHECK(build("cost") == 3);
	CHECK(is(0, "calls", 100) && unmeasured(0, "each_ns") && unmeasured(0, "total_ns") &&
	      says(0, "text", "calls recorded to their return: not asked for (--no-cost)"));
	CHECK(says(1, "what", "overhead") && unmeasured(1, "total_ns") &&
	      strstr(cell(1, "text")->text, "not asked for (record --cupti overhead)"));
	CHECK(says(2, "part", "CUPTI") && says(2, "what", "calls") && unmeasured(2, "each_ns"));
	/* an older capture, of a recorder that nobody asked */
	meta.cost = NULL;
	CHECK(build("cost") == 0 && !report__shows(&r, report_section("cost")) &&
	      report__unobserved(&r, report_section("cost")));
	close_it();
}

T(the_last_word_of_each_session_on_its_callbacks)
{
	begin_cost();
	arm();
	cost_status(GPUBPF_CALLBACK_LEAVE, 6400, 100, 5000, 90);
	cost_status(GPUBPF_CALLBACK_LEAVE, 64, 1, 50, 50); /* in another order */
	cost_status(GPUBPF_CALLBACK_MODULE, 3, 0, 0, 0);
	step(ALL, LAUNCH, 1);
	disarm();
	w.session = 2;
	arm();
	cost_status(GPUBPF_CALLBACK_LEAVE, 3600, 100, 3000, 80);
	disarm();
	open_cost();
	meta.cost = NULL;
	CHECK(build("cost") == 6);
	CHECK(says(0, "part", "probes") && unmeasured(0, "each_ns"));
	CHECK(says(1, "what", "leave") && is(1, "calls", 10000) && is(1, "measured", 200) &&
	      is(1, "each_ns", 40) && is(1, "total_ns", 400000));
	CHECK(says(2, "what", "module") && is(2, "calls", 3) && unmeasured(2, "each_ns"));
	CHECK(says(5, "part", "all") && is(5, "total_ns", 400000));
	close_it();
}

T(overhead_by_kind)
{
	struct cost c;

	begin_cost();
	arm();
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_OVERHEAD, 0, 0, 0);
	step(ALL, LAUNCH, 1);
	overhead(1 << 16, w.now, w.now + 100);
	overhead(1 << 16, w.now, w.now + 300);
	overhead(1 << 16, 0, 0);
	overhead(5 << 16, w.now, w.now + 7000);
	overhead(77, w.now, w.now + 5);
	overhead(UINT64_MAX, w.now + 5, w.now); /* no time */
	disarm();
	open_cost();
	cost_read(&r.in, &c);
	CHECK(line_of(&c, "CUPTI", "buffer_flush")->calls == 3 &&
	      line_of(&c, "CUPTI", "buffer_flush")->total_ns == 400 &&
	      line_of(&c, "CUPTI", "buffer_flush")->each_ns == 200);
	CHECK(line_of(&c, "driver", "lazy_loading")->total_ns == 7000);
	CHECK(line_of(&c, "CUPTI", "unknown")->calls == 2 && line_of(&c, "CUPTI", "unknown")->total_ns == 5);
	close_it();
}

T(hostile_figures_hold)
{
	struct cost c;

	begin_cost();
	arm();
	cost_status(GPUBPF_CALLBACK_ENTER, 5, 6, 100, 10);  /* more timed than seen */
	cost_status(GPUBPF_CALLBACK_ENTER, 5, 0, 100, 10);  /* ns of none */
	cost_status(GPUBPF_CALLBACK_ENTER, 5, 5, 100, 101); /* one longer than all */
	cost_status(0, 5, 5, 100, 10);
	cost_status(60000, 5, 5, 100, 10);
	cost_status(GPUBPF_CALLBACK_LEAVE, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX);
	w.session = 2;
	cost_status(GPUBPF_CALLBACK_LEAVE, UINT64_MAX, 1, UINT64_MAX, 1);
	step(ALL, LAUNCH, 1);
	disarm();
	add_kind("call", UINT64_MAX, UINT64_MAX, UINT64_MAX, 0);
	for (int i = 0; i < 38; i++)
		add_kind("of a later version", UINT64_MAX, UINT64_MAX, 0, UINT64_MAX);
	message.probe = (char *)"";
	message.has_recorder_cpu_ns = true;
	message.recorder_cpu_ns = UINT64_MAX;
	open_cost();
	w.footer.end_ns = 0; /* before it began */
	cost_read(&r.in, &c);
	CHECK(!c.has_wall && c.n < 32);
	CHECK(line_of(&c, "probes", "call")->total_ns == UINT64_MAX &&
	      !line_of(&c, "probes", "call")->has_spread);
	CHECK(line_of(&c, "probes", "of a later version")->has_spread);
	CHECK(line_of(&c, "shim", "leave")->calls == UINT64_MAX);
	CHECK(line_of(&c, "all", "threads")->total_ns == UINT64_MAX);
	for (unsigned i = 0; i < c.n; i++)
		CHECK(strcmp(c.line[i].what, "enter") != 0 && !c.line[i].has_share);
	CHECK(build("cost") == c.n);
	close_it();
}

T(calls_that_are_single_stepped_are_told)
{
	Gpubpf__Api api = GPUBPF__API__INIT, wild = GPUBPF__API__INIT, *apis[] = { &api, &wild };
	struct cost c;

	begin_cost();
	for (uint32_t i = 1; i < 4; i++)
		step(HOST, LAUNCH, i);
	step(HOST, COPY, 4);
	add_kind("call", 4, 2000, 1900, 2500);
	message.probe = (char *)"push";
	api.id = api_id("cuLaunchKernel");
	api.probe = (char *)"stepped";
	wild = api;
	wild.id = UINT32_MAX;
	open_cost();
	meta.api = apis;
	meta.n_api = 2;
	cost_read(&r.in, &c);
	CHECK(c.has_stepped && c.stepped == 3);
	message.probe = (char *)"stepped";
	cost_read(&r.in, &c);
	CHECK(!c.has_stepped);
	close_it();
}

TEST_MAIN
