/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections of what `record --cupti` asks for. */
#include "report_fixture.h"

#include "report/extras.h"

T(ranges_that_began_before_or_never_ended)
{
	ready();
	arm();
	step(ALL, LAUNCH, 1);
	extra(GPUBPF_ACTIVITY_MARKER, 900, 1, GPUBPF_MARKER_END);
	extra(GPUBPF_ACTIVITY_MARKER, 1000, 2, GPUBPF_MARKER_START);
	extra(GPUBPF_ACTIVITY_MARKER, 1100, 3, GPUBPF_MARKER_START);
	extra(GPUBPF_ACTIVITY_MARKER, 1500, 3, GPUBPF_MARKER_END);
	/* An id that comes again is another range; the second end has no start. */
	extra(GPUBPF_ACTIVITY_MARKER, 2000, 3, GPUBPF_MARKER_START);
	extra(GPUBPF_ACTIVITY_MARKER, 2100, 3, GPUBPF_MARKER_END);
	extra(GPUBPF_ACTIVITY_MARKER, 2200, 3, GPUBPF_MARKER_END);
	extra(GPUBPF_ACTIVITY_MARKER, 0, 4, GPUBPF_MARKER_START);
	extra(GPUBPF_ACTIVITY_MARKER, 2300, 4, GPUBPF_MARKER_END);
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_NVTX, 0, 0, 0);
	disarm();
	open_it();
	CHECK(build("nvtx") == 1);
	CHECK(is(0, "ranges", 3) && is(0, "open", 1) && is(0, "ends_alone", 2) && is(0, "untimed", 1));
	CHECK(is(0, "total_ns", 500) && is(0, "max_ns", 400) && is(0, "mean_ns", 250));
	CHECK(absent(0, "domain") && absent(0, "tid"));
	close_it();
}

static void given(unsigned counter, int result)
{
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_UNIFIED + counter, result, 0, 0);
}

/* R5, R12, R14: the row of a counter that was refused has no numbers, the row of one without an event has zeros. */
T(counters_of_unified_memory)
{
	struct gpubpf_activity a = { .kind = GPUBPF_ACTIVITY_UNIFIED,
				     .session = 1,
				     .start = 2000,
				     .end = 2500,
				     .u.raw = { JOIN_UNIFIED_DTOH, 4096, 0x7000, 2, GPUBPF_UNIFIED_HOST,
						3 } };

	ready();
	arm();
	step(ALL, LAUNCH, 1);
	given(0, 0);
	given(JOIN_UNIFIED_DTOH, 0);
	given(JOIN_UNIFIED_GPU_FAULT, 0);
	given(JOIN_UNIFIED_THRASHING, 29);
	batch_of(GPUBPF_PROBE_ACTIVITY, &a, sizeof(a), 1);
	a.end = 0; /* not given */
	batch_of(GPUBPF_PROBE_ACTIVITY, &a, sizeof(a), 1);
	disarm();
	open_it();
	CHECK(build("unified_memory") == 3);
	CHECK(says(0, "counter", "bytes_dtoh") && is(0, "events", 2) && is(0, "bytes", 8192));
	CHECK(is(0, "total_ns", 500) && is(0, "untimed", 1) && absent(0, "fault_groups"));
	CHECK(says(0, "from", "device 2") && says(0, "to", "host") && says(0, "cause", "prefetch"));
	CHECK(says(1, "counter", "gpu_faults") && is(1, "events", 0) && is(1, "fault_groups", 0));
	CHECK(absent(1, "bytes") && absent(1, "from") && says(1, "state", "counted"));
	CHECK(says(2, "counter", "thrashing") && unmeasured(2, "events") && unmeasured(2, "bytes"));
	CHECK(absent(2, "total_ns") && says(2, "state", "refused (29)"));
	close_it();
}

T(not_asked_for_and_too_short_are_two_things_R5)
{
	ready();
	arm();
	step(ALL, LAUNCH, 1);
	disarm();
	open_it();
	CHECK(strstr(report__unobserved(&r, report_section("unified_memory")), "not asked for"));
	CHECK(strstr(report__unobserved(&r, report_section("nvtx")), "not asked for"));
	close_it();
	ready();
	arm();
	step(ALL, LAUNCH, 1);
	given(0, 13);
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_NVTX, 27, 0, 0);
	disarm();
	open_it();
	CHECK(strstr(report__unobserved(&r, report_section("unified_memory")), "the session ended before"));
	CHECK(strstr(report__unobserved(&r, report_section("nvtx")), "refused"));
	close_it();
}

/* One call with ids of two kinds, one call without; an id of a call that the shim does not look at. */
T(ids_of_other_interfaces)
{
	struct gpubpf_activity a = {
		.kind = GPUBPF_ACTIVITY_EXTERNAL, .session = 1, .correlation = 1, .u.raw = { 3, 77 }
	};

	ready();
	arm();
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_EXTERNAL, 0, 0, 0);
	step(ALL, LAUNCH, 1);
	step(ALL, LAUNCH, 2);
	batch_of(GPUBPF_PROBE_ACTIVITY, &a, sizeof(a), 1);
	a.correlation = 99;
	batch_of(GPUBPF_PROBE_ACTIVITY, &a, sizeof(a), 1);
	a.correlation = 1;
	a.u.raw[0] = 9;
	batch_of(GPUBPF_PROBE_ACTIVITY, &a, sizeof(a), 1);
	disarm();
	open_it();
	CHECK(build("external") == 2);
	CHECK(says(0, "kind", "custom0") && is(0, "records", 2) && is(0, "ids", 1) && is(0, "calls", 1));
	CHECK(is(0, "work", 1) && is(0, "other", 1) && is(0, "all_calls", 2));
	CHECK(says(1, "kind", "kind 9") && is(1, "calls", 1));
	close_it();
}

TEST_MAIN
