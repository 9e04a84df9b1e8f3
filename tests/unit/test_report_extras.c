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

static void data(uint64_t id, uint64_t category, unsigned kind, uint64_t payload)
{
	struct gpubpf_activity a = { .kind = GPUBPF_ACTIVITY_MARKER_DATA,
				     .session = 1,
				     .u.raw = { id, category, 0, kind, payload } };

	batch_of(GPUBPF_PROBE_ACTIVITY, &a, sizeof(a), 1);
}

static uint64_t bits(double v)
{
	uint64_t b;

	memcpy(&b, &v, sizeof(b));
	return b;
}

/* Before its marker or behind it, whatever came in between; of an id that comes again, each its own. */
T(data_finds_its_marker)
{
	struct join_marker m;
	size_t n = 0;

	ready();
	arm();
	step(ALL, LAUNCH, 1);
	extra(GPUBPF_ACTIVITY_MARKER, 1000, 1, GPUBPF_MARKER_START);
	extra(GPUBPF_ACTIVITY_MARKER, 1010, 2, GPUBPF_MARKER_INSTANT);
	data(2, 0, GPUBPF_PAYLOAD_UINT64, 22);
	data(1, 0, GPUBPF_PAYLOAD_UINT64, 11);
	extra(GPUBPF_ACTIVITY_MARKER, 1100, 1, GPUBPF_MARKER_END);
	extra(GPUBPF_ACTIVITY_MARKER, 1200, 1, GPUBPF_MARKER_START);
	data(1, 0, GPUBPF_PAYLOAD_UINT64, 12);
	data(3, 0, GPUBPF_PAYLOAD_UINT64, 33);
	extra(GPUBPF_ACTIVITY_MARKER, 1300, 3, GPUBPF_MARKER_INSTANT);
	data(4, 0, GPUBPF_PAYLOAD_UINT64, 44); /* its marker did not arrive */
	data(3, 0, GPUBPF_PAYLOAD_DOUBLE, 0);  /* says nothing */
	disarm();
	open_it();
	CHECK(join__markers(w.j) == 5 && join__marker_data_alone(w.j) == 1);
	for (size_t i = 0; i < join__markers(w.j); i++) {
		static const uint64_t want[] = { 11, 22, 0, 12, 33 };

		join__marker(w.j, i, &m);
		CHECKF(m.has_payload == (want[i] != 0) && m.payload == want[i], "%zu: %llu", i,
		       (unsigned long long)m.payload);
		n += m.has_payload && m.payload_kind == GPUBPF_PAYLOAD_UINT64;
	}
	CHECK(n == 4);
	close_it();
}

/* Kinds are not mixed into one number, what is not finite is in none; what was not asked for is no 0 (R5, R12, R14). */
T(payloads_by_kind)
{
	ready();
	arm();
	step(ALL, LAUNCH, 1);
	for (uint64_t id = 1; id <= 4; id++)
		extra(GPUBPF_ACTIVITY_MARKER, 1000, id, GPUBPF_MARKER_INSTANT);
	data(1, 5, GPUBPF_PAYLOAD_INT64, (uint64_t)-7);
	data(2, 5, GPUBPF_PAYLOAD_INT64, 3);
	data(3, 6, GPUBPF_PAYLOAD_DOUBLE, 0);
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_NVTX, 0, 0, 0);
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_NVTX_DATA, 0, 0, 0);
	disarm();
	open_it();
	CHECK(build("nvtx") == 1 && is(0, "marks", 4) && is(0, "payloads", 2));
	CHECK(cell(0, "payload_min")->kind == CELL_SIGNED && (int64_t)cell(0, "payload_min")->number == -7);
	CHECK((int64_t)cell(0, "payload_max")->number == 3 && real(0, "payload_mean", -2));
	CHECK(says(0, "payload_kind", "int64") && is(0, "categories", 2) && absent(0, "category"));
	close_it();
	ready();
	arm();
	step(ALL, LAUNCH, 1);
	extra(GPUBPF_ACTIVITY_MARKER, 1000, 1, GPUBPF_MARKER_INSTANT);
	extra(GPUBPF_ACTIVITY_MARKER, 1000, 2, GPUBPF_MARKER_INSTANT);
	data(1, 0, GPUBPF_PAYLOAD_UINT64, UINT64_MAX);
	data(2, 0, GPUBPF_PAYLOAD_DOUBLE, bits(0.5));
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_NVTX, 0, 0, 0);
	disarm();
	open_it();
	CHECK(build("nvtx") == 1 && is(0, "payloads", 2) && says(0, "payload_kind", "several"));
	CHECK(absent(0, "payload_min") && absent(0, "payload_mean") && absent(0, "payload_max"));
	CHECK(unmeasured(0, "categories"));
	close_it();
	ready();
	arm();
	step(ALL, LAUNCH, 1);
	extra(GPUBPF_ACTIVITY_MARKER, 1000, 1, GPUBPF_MARKER_INSTANT);
	extra(GPUBPF_ACTIVITY_MARKER, 1000, 2, GPUBPF_MARKER_INSTANT);
	data(1, 0, GPUBPF_PAYLOAD_DOUBLE, bits(__builtin_nan("")));
	data(2, 0, GPUBPF_PAYLOAD_DOUBLE, bits(0.5));
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_NVTX_DATA, 0, 0, 0);
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_NVTX, 0, 0, 0);
	disarm();
	open_it();
	CHECK(build("nvtx") == 1 && is(0, "payloads", 2) && real(0, "payload_mean", 0.5));
	CHECK(real(0, "payload_min", 0.5) && real(0, "payload_max", 0.5) &&
	      says(0, "payload_kind", "double"));
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
