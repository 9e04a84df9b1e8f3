/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections of the device observer on synthetic scenes, cell by cell. */
#include "report_fixture.h"

static struct {
	uint32_t block;
	uint16_t registers;
} shape; /* 0: 64 threads, 32 registers */

static void kernel(uint32_t name, uint32_t grid, uint64_t took)
{
	static uint32_t correlation = 1000;

	correlation++;
	act.name = name;
	act.u.kernel.grid[0] = grid;
	act.u.kernel.grid[1] = act.u.kernel.grid[2] = 1;
	act.u.kernel.block[0] = shape.block ? shape.block : 64;
	act.u.kernel.block[1] = act.u.kernel.block[2] = 1;
	act.u.kernel.registers = shape.registers ? shape.registers : 32;
	host_call("cuLaunchKernel", w.now, w.now + 1000, 0);
	shim_call(LAUNCH, correlation, w.now + 100, w.now + 900, 0);
	activity(GPUBPF_ACTIVITY_KERNEL, correlation, w.now + 2000, w.now + 2000 + took);
	fresh_activity();
	w.now += 5000 + took;
}

T(kernels_by_launch_key_R24)
{
	ready();
	arm();
	name_part(1, 0, 1, "_Z4axpyf");
	kernel(1, 10, 1000);
	kernel(1, 10, 3000);
	kernel(1, 20, 4000);
	act.u.kernel.dynamic_shared = 512;
	kernel(1, 10, 500);
	disarm();
	open_it();
	CHECK(build("kernels") == 3);
	CHECK(is(0, "launches", 2) || is(1, "launches", 2));
	for (size_t i = 0; i < 3; i++) {
		CHECK(says(i, "name", "axpy(float)") && says(i, "mangled", "_Z4axpyf"));
		CHECK(is(i, "registers", 32) && is(i, "untimed", 0) && is(i, "graph_nodes", 0));
		CHECK(absent(i, "cluster") && unmeasured(i, "device_kind"));
		if (cell(i, "launches")->number == 2) {
			CHECK(is(i, "gpu_ns", 4000) && is(i, "gpu_mean_ns", 2000) &&
			      is(i, "gpu_max_ns", 3000));
			CHECK(is(i, "delay_p50_ns", 2000) && is(i, "blocks", 10));
			CHECK(real(i, "gpu_share", 4000.0 / 8500));
			CHECK(says(i, "grid", "10x1x1") && is(i, "dynamic_shared_bytes", 0));
		}
	}
	/* the most time first */
	CHECK(cell(0, "gpu_ns")->number == 4000 && is(2, "gpu_ns", 500) &&
	      is(2, "dynamic_shared_bytes", 512));
	close_it();
}

/* Each part of the key by itself makes another one. */
T(every_part_of_a_launch_key_tells_apart_R24)
{
	ready();
	arm();
	name_part(1, 0, 1, "_Z4axpyf");
	kernel(1, 10, 1000);
	act.u.kernel.static_shared = 64;
	kernel(1, 10, 1000);
	act.u.kernel.cluster[0] = act.u.kernel.cluster[1] = act.u.kernel.cluster[2] = 1;
	act.flags = GPUBPF_ACTIVITY_HAS_CLUSTER;
	kernel(1, 10, 1000);
	shape.registers = 48;
	kernel(1, 10, 1000);
	shape.block = 32;
	kernel(1, 10, 1000);
	shape.block = 0;
	shape.registers = 0;
	kernel(1, 10, 1000);
	disarm();
	open_it();
	CHECKF(build("kernels") == 5, "%zu keys", build("kernels"));
	CHECK(build("kernel_names") == 1 && says(0, "gpu_mean_ns", "5 shapes"));
	close_it();
}

T(several_shapes_of_a_name_have_no_mean_R25)
{
	ready();
	arm();
	name_part(1, 0, 1, "_Z4axpyf");
	name_part(2, 0, 1, "_Z5scalef");
	kernel(1, 10, 1000);
	kernel(1, 20, 3000);
	kernel(2, 10, 500);
	kernel(2, 10, 700);
	disarm();
	open_it();
	CHECK(build("kernel_names") == 2);
	CHECK(says(0, "name", "axpy(float)") && is(0, "shapes", 2) && says(0, "gpu_mean_ns", "2 shapes"));
	CHECK(is(0, "gpu_ns", 4000) && is(0, "launches", 2) && is(0, "gpu_max_ns", 3000));
	CHECK(says(1, "name", "scale(float)") && is(1, "shapes", 1) && is(1, "gpu_mean_ns", 600));
	close_it();
}

T(kernels_without_a_name_stay_in_the_table_R18)
{
	ready();
	arm();
	kernel(0, 10, 1000);
	kernel(9, 10, 3000); /* a name that did not arrive */
	disarm();
	open_it();
	CHECK(build("kernels") == 2);
	CHECK(says(0, "name", "<unresolved 0x9>") && says(1, "name", "<unresolved 0x0>"));
	CHECK(absent(0, "mangled") && real(0, "gpu_share", 0.75) && real(1, "gpu_share", 0.25));
	close_it();
}

T(times_that_were_not_given_are_not_measured_R14_R21)
{
	ready();
	arm();
	for (uint32_t i = 1; i <= 2; i++) {
		host_call("cuLaunchKernel", w.now, w.now + 1000, 0);
		shim_call(LAUNCH, i, w.now + 100, w.now + 900, 0);
		activity(GPUBPF_ACTIVITY_KERNEL, i, 0, 0);
		w.now += 5000;
	}
	step(ALL, COPY, 3);
	disarm();
	open_it();
	CHECK(build("kernels") == 1);
	CHECK(is(0, "launches", 2) && is(0, "untimed", 2) && unmeasured(0, "gpu_ns"));
	CHECK(unmeasured(0, "gpu_mean_ns") && unmeasured(0, "delay_p50_ns") && unmeasured(0, "gpu_share"));
	CHECK(build("timestamps") == 3);
	CHECK(is(0, "records", 2) && is(0, "zero", 2) && is(0, "valid", 0));
	CHECK(says(0, "reason", "kernel_timestamps_unavailable"));
	CHECK(is(1, "records", 1) && is(1, "valid", 1) && absent(1, "reason"));
	CHECK(is(2, "records", 0) && says(2, "reason", "no_records"));
	close_it();
}

T(copies_have_the_device_s_time_and_rate_C29)
{
	static const uint8_t kinds[] = { GPUBPF_COPY_HTOD, GPUBPF_COPY_DTOH, GPUBPF_COPY_DTOD,
					 GPUBPF_COPY_HTOH, GPUBPF_COPY_PTOP };
	static const char *const words[] = { "h2d", "d2h", "d2d", "h2h", "peer" };
	uint64_t seen = 0;

	ready();
	arm();
	for (uint32_t i = 0; i < 5; i++) {
		act.u.copy.copy_kind = kinds[i];
		act.u.copy.bytes = 1000 * (i + 1);
		act.u.copy.src_kind = 2;
		act.u.copy.dst_kind = 3;
		if (kinds[i] == GPUBPF_COPY_PTOP) {
			act.flags = GPUBPF_ACTIVITY_PEER;
			act.u.copy.dst_device = 1;
		}
		step(ALL, COPY, i + 1);
	}
	disarm();
	open_it();
	CHECK(build("device_copies") == 5);
	for (size_t i = 0; i < 5; i++)
		for (uint32_t k = 0; k < 5; k++) {
			if (strcmp(cell(i, "direction")->text, words[k]) != 0)
				continue;
			seen |= 1u << k;
			CHECK(is(i, "copies", 1) && is(i, "bytes", 1000 * (k + 1)) && is(i, "gpu_ns", 1000));
			CHECK(is(i, "bytes_per_s", 1000000000ull * (k + 1)));
			CHECK(says(i, "src_memory", "pinned") && says(i, "dst_memory", "device"));
			CHECK(k == 4 ? is(i, "src_device", 0) && is(i, "dst_device", 1)
				     : absent(i, "src_device") && absent(i, "dst_device"));
		}
	CHECK(seen == 31);
	close_it();
}

T(threads_of_one_process_have_their_own_C28)
{
	uint32_t tid = 101;

	ready();
	arm();
	for (uint32_t i = 0; i < 20; i++) {
		w.tid = 100 + i % 2;
		step(ALL, LAUNCH, i + 1);
	}
	disarm();
	open_with((struct procs_filter){ .tids = &tid, .ntids = 1 });
	CHECK(build("kernels") == 1 && is(0, "launches", 10));
	CHECK(r.dev->left_out == 10);
	/* a device's time belongs to all threads */
	CHECK(build("devices") == 0 && build("gaps") == 0 && build("streams") == 0);
	close_it();
}

T(a_gap_says_who_was_waited_for)
{
	ready();
	arm();
	name_part(1, 0, 1, "_Z4axpyf");
	kernel(1, 10, 1000);
	w.now += 100000;
	w.tid = 101;
	act.u.copy.copy_kind = GPUBPF_COPY_HTOD;
	step(ALL, COPY, 1); /* asked for in the gap */
	w.tid = 100;
	host_call("cuLaunchKernel", w.now, w.now + 1000, 0);
	shim_call(LAUNCH, 2, w.now + 100, w.now + 900, 0);
	host_call("cuLaunchKernel", w.now + 1000, w.now + 2000, 0);
	shim_call(LAUNCH, 3, w.now + 1100, w.now + 1900, 0);
	activity(GPUBPF_ACTIVITY_KERNEL, 2, w.now + 3000, w.now + 4000);
	activity(GPUBPF_ACTIVITY_KERNEL, 3, w.now + 4500, w.now + 5000); /* was in the queue */
	w.now += 10000;
	disarm();
	open_it();
	CHECK(build("gaps") == 3);
	CHECK(is(0, "gap_ns", 105000) && is(0, "tid", 101) && says(0, "asked", "in the gap"));
	CHECK(is(0, "asked_after_ns", 103000) && is(0, "delay_ns", 2000) && is(0, "at_ns", 1000));
	CHECK(says(0, "before", "axpy(float)") && says(0, "after", "copy host to device"));
	CHECK(is(2, "gap_ns", 500) && says(2, "asked", "before the gap") && absent(2, "asked_after_ns"));
	CHECK(is(2, "tid", 100) && is(2, "delay_ns", 3500));
	close_it();
}

T(devices_say_what_busy_refers_to_and_what_is_not_seen_R16)
{
	ready();
	arm();
	for (uint32_t i = 0; i < 3; i++)
		step(ALL, LAUNCH, i + 1);
	disarm();
	open_it();
	CHECK(build("devices") == 1);
	CHECK(is(0, "window_ns", 11000) && is(0, "busy_ns", 3000) && is(0, "idle_ns", 8000));
	CHECK(real(0, "busy_share", 3.0 / 11) && is(0, "overlap_ns", 0));
	CHECK(is(0, "window_end_ns", cell(0, "window_start_ns")->number + 11000));
	CHECK(unmeasured(0, "others_busy_ns"));
	CHECK(strstr(rows.section->note, "only traced processes") != NULL);
	CHECK(is(0, "depth_peak", 1) && is(0, "delay_p99_ns", 2000) && is(0, "delays", 3));
	CHECK(is(0, "kernels", 3) && is(0, "pid", 100) && is(0, "streams", 1));
	close_it();
}

T(a_start_before_its_call_is_listed_C18)
{
	ready();
	arm();
	clock_pair(w.now, 0, 40);
	host_call("cuLaunchKernel", w.now, w.now + 1000, 0);
	shim_call(LAUNCH, 1, w.now + 100, w.now + 900, 0);
	activity(GPUBPF_ACTIVITY_KERNEL, 1, w.now - 500, w.now + 3000);
	w.now += 5000;
	step(ALL, LAUNCH, 2);
	disarm();
	open_it();
	CHECK(build("causality") == 1);
	CHECK(is(0, "early_ns", 500) && is(0, "pid", 100) && is(0, "tid", 100));
	CHECK(is(0, "entry_ns", cell(0, "start_ns")->number + 500));
	CHECK(build("timestamps") == 3 && is(0, "early", 1) && is(0, "early_worst_ns", 500));
	CHECK(is(1, "early", 0) && absent(1, "early_worst_ns"));
	CHECK(build("kernels") == 1 && is(0, "launches", 2) && is(0, "delay_p50_ns", 2000));
	close_it();
}

T(records_without_a_call_are_listed_C5)
{
	ready();
	arm();
	step(ALL, LAUNCH, 1);
	step(RAN, LAUNCH, 2);
	step(SHIM | RAN, COPY, 3);
	disarm();
	open_it();
	CHECK(build("orphans") == 2);
	for (size_t i = 0; i < 2; i++)
		CHECK(is(i, "records", 1) && is(i, "gpu_ns", 1000));
	CHECK(says(0, "link", "no_host_call") && says(1, "link", "orphan"));
	close_it();
}

T(a_graph_has_its_launches_and_nodes)
{
	ready();
	arm();
	for (uint32_t i = 1; i <= 2; i++) {
		host_call("cuGraphLaunch", w.now, w.now + 1000, 0);
		shim_call(GRAPH, i, w.now + 100, w.now + 900, 0);
		for (uint64_t n = 0; n < 4 - i; n++) {
			act.flags = GPUBPF_ACTIVITY_HAS_NODE;
			act.graph = 3;
			act.graph_node = n;
			activity(GPUBPF_ACTIVITY_KERNEL, i, w.now + 2000 + 100 * n, w.now + 2050 + 100 * n);
		}
		fresh_activity();
		w.now += 5000;
	}
	disarm();
	open_it();
	CHECK(build("graph_runs") == 1);
	CHECK(is(0, "launches", 2) && is(0, "nodes", 5) && is(0, "least_nodes", 2) && is(0, "most_nodes", 3));
	CHECK(is(0, "graph", 3) && is(0, "span_ns", 250 + 150));
	CHECK(build("kernels") == 1 && is(0, "launches", 0) && is(0, "graph_nodes", 5));
	CHECK(absent(0, "delay_p50_ns"));
	CHECK(build("devices") == 1 && is(0, "delays", 2));
	close_it();
}

static void module(uint32_t id, uint32_t crc, uint64_t bytes, uint64_t took, uint32_t flags)
{
	struct gpubpf_module m = { .start = took ? w.now : 0,
				   .end = took ? w.now + took : 0,
				   .bytes = bytes,
				   .id = id,
				   .crc = crc,
				   .flags = flags,
				   .session = w.session };

	batch_of(GPUBPF_PROBE_MODULES, &m, sizeof(m), 1);
	w.now += took;
}

T(module_loads_are_host_time_with_what_is_left_over_R54_R55)
{
	ready();
	arm();
	module(1, 0xabcd, 4096, 2000, 0);
	module(2, 0x1234, 1024, 5000, 0);
	module(1, 0, 0, 0, GPUBPF_MODULE_UNLOADED);
	module(3, 0xabcd, 4096, 1000, 0); /* the same once more */
	module(4, 0, 512, 0, GPUBPF_MODULE_NO_CRC);
	name_part(1, 0, 1, "_Z4axpyf");
	kernel(1, 10, 1000);
	kernel(1, 20, 1000);
	host_call("cuLibraryLoadData", w.now, w.now + 3000, 0);
	host_call("cuModuleLoadData", w.now + 4000, w.now + 11000, 0);
	host_call("cuModuleGetFunction", w.now + 12000, w.now + 13000, 0);
	w.now += 20000;
	disarm();
	open_it();
	CHECK(build("module_loads") == 1);
	CHECK(is(0, "loads", 4) && is(0, "modules", 3) && is(0, "unloads", 1) && is(0, "untimed", 1));
	CHECK(is(0, "bytes", 4096 * 2 + 1024 + 512) && is(0, "total_ns", 8000) && is(0, "slowest_ns", 5000));
	CHECK(is(0, "kernels", 1) && is(0, "load_calls", 2) && is(0, "load_call_ns", 10000));
	CHECK(is(0, "slowest_call_ns", 7000) && is(0, "load_call_ns_per_kernel", 10000));
	CHECK(is(0, "link_calls", 0) && absent(0, "link_call_ns"));
	CHECK(unmeasured(0, "cached") && unmeasured(0, "compiled") && is(0, "unclassified", 4));
	CHECK(strstr(rows.section->note, "not measured") != NULL);
	CHECK(build("modules") == 3);
	CHECK(is(0, "total_ns", 5000) && is(0, "crc", 0x1234) && is(0, "loads", 1));
	CHECK(is(1, "total_ns", 3000) && is(1, "loads", 2) && is(1, "unloads", 1));
	CHECK(unmeasured(2, "crc") && unmeasured(2, "total_ns") && is(2, "untimed", 1));
	CHECK(build("kernels") == 2 && is(0, "gpu_ns", 1000)); /* in no kernel's duration */
	close_it();
}

T(sessions_say_clock_and_error_R22)
{
	ready();
	hello(GPUBPF_TIME_CUPTI);
	clock_pair(w.now, w.now + 77, 40);
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_SYNC, 28, 0, 0);
	status(GPUBPF_STATUS_ARMED, 0, 0, w.now, 0);
	w.now += 1000;
	step(ALL, LAUNCH, 1);
	disarm();
	open_it();
	CHECK(build("sessions") == 1);
	CHECK(is(0, "pid", 100) && is(0, "session", 1) && is(0, "activities", 1) && is(0, "clock_pairs", 1));
	CHECK(says(0, "clock", "CUPTI's clock, tied by pairs") && says(0, "end", "asked for"));
	CHECK(says(0, "refused", "sync (28)")); /* R5: refused is not zero */
	CHECK(cell(0, "clock_error_ns")->kind == CELL_NUMBER);
	CHECK(absent(0, "losses"));
	close_it();
}

T(synchronizations_have_their_stream_C11)
{
	static const uint64_t streams[] = { 0, 1, 2, 0x7000 };

	ready();
	for (int i = 0; i < 4; i++) {
		hostly.words[0] = streams[i];
		host_call("cuStreamSynchronize", w.now, w.now + 1000, 0);
		w.now += 2000;
	}
	hostly.words[0] = 0;
	host_call("cuStreamSynchronize_ptsz", w.now, w.now + 500, 0);
	host_call("cuCtxSynchronize", w.now + 1000, w.now + 4000, 0);
	w.now += 10000;
	arm();
	step(ALL, LAUNCH, 1);
	disarm();
	open_it();
	CHECK(build("waits") == 5);
	CHECK(says(0, "api", "cuCtxSynchronize") && absent(0, "stream") && is(0, "total_ns", 3000));
	for (size_t i = 1; i < 5; i++) {
		const char *stream = cell(i, "stream")->text;
		bool legacy = stream && !strcmp(stream, "legacy default");

		CHECK(is(i, "pid", 100));
		CHECK(is(i, "calls", legacy ? 2 : 1));
		CHECK(legacy || !strcmp(stream, "per-thread default of 100") || !strcmp(stream, "0x7000"));
	}
	close_it();
}

T(both_observers_side_by_side)
{
	ready();
	arm();
	for (uint32_t i = 0; i < 3; i++)
		step(ALL, LAUNCH, i + 1);
	step(ALL, COPY, 10);
	step_result(HOST | SHIM, LAUNCH, 11, 700);
	disarm();
	open_it();
	CHECK(build("observers") == 2);
	CHECK(says(0, "population", "launches") && is(0, "calls", 4) && is(0, "matched", 3));
	CHECK(is(0, "failed", 1) && is(0, "unexplained", 0) && is(0, "executions", 3) && is(0, "excess", 0));
	CHECK(says(1, "population", "copies") && is(1, "matched", 1));
	close_it();
}

T(without_a_device_observer_its_sections_are_not_measured_R14)
{
	ready();
	step(HOST, LAUNCH, 1);
	open_it();
	r.in.join = NULL;
	for (const struct section *s = report_device_sections; s->name; s++) {
		bool host = s->build == build_waits;

		CHECK(section__of_device(s) && !report__shows(&r, s));
		CHECK(!report__unobserved(&r, s) == host);
		CHECKF(build(s->name) == 0 || host, "%s has rows", s->name);
	}
	for (const struct section *s = report_host_sections; s->name; s++)
		CHECK(report__shows(&r, s) == (s->build != build_cost) &&
		      !report__unobserved(&r, s) == (s->build != build_cost));
	r.o.chosen = true;
	CHECK(report__shows(&r, report_section("kernels")));
	r.in.join = w.j;
	close_it();
}

T(what_was_never_armed_measured_nothing_R5_R14)
{
	ready();
	hello(0);
	status(GPUBPF_STATUS_FAILED, GPUBPF_REASON_SECOND_SUBSCRIBER, 39, 0, 0);
	step(HOST, LAUNCH, 1);
	open_it();
	CHECK(report__unobserved(&r, report_section("kernels")) && build("kernels") == 0);
	CHECK(!report__shows(&r, report_section("kernels")));
	CHECK(!report__unobserved(&r, report_section("sessions")) && build("sessions") == 1);
	CHECK(says(0, "end", "never armed: second_subscriber"));
	CHECK(absent(0, "armed_ns") && absent(0, "clock_error_ns"));
	CHECK(build("observers") == 1 && is(0, "outside", 1));
	close_it();
}

T(every_section_fills_all_its_columns)
{
	ready();
	arm();
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_EXTERNAL, 0, 0, 0);
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_NVTX, 0, 0, 0);
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_UNIFIED, 0, 0, 0);
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_UNIFIED + 1, 0, 0, 0);
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_UNIFIED + 5, 28, 0, 0);
	extra(GPUBPF_ACTIVITY_UNIFIED, w.now, 1, 4096);
	extra(GPUBPF_ACTIVITY_EXTERNAL, 0, 3, 77);
	extra(GPUBPF_ACTIVITY_MARKER, w.now, 5, GPUBPF_MARKER_INSTANT);
	name_part(1, 0, 1, "_Z4axpyf");
	module(1, 1, 1, 1, 0);
	kernel(1, 10, 1000);
	kernel(1, 10, 1000);
	step(ALL, COPY, 1);
	step(ALL, SET, 2);
	step(ALL, GRAPH, 3);
	step(RAN, LAUNCH, 4);
	host_call("cuLaunchKernel", w.now, w.now + 1000, 0);
	shim_call(LAUNCH, 5, w.now + 100, w.now + 900, 0);
	activity(GPUBPF_ACTIVITY_KERNEL, 5, w.now - 5, w.now + 3000);
	host_call("cuCtxSynchronize", w.now + 4000, w.now + 5000, 0);
	w.now += 10000;
	disarm();
	open_it();
	for (const struct section *s = report_device_sections; s->name; s++) {
		CHECKF(build(s->name) > 0, "%s has no row", s->name);
		CHECKF(rows.at == section__columns(s), "%s fills %u of %u columns", s->name, rows.at,
		       section__columns(s));
	}
	close_it();
}

TEST_MAIN
