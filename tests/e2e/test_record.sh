#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# gpubpf record with real BPF on the simulated CUDA stack: what is captured, against the driver's own log.
. tests/e2e/lib.sh

# Every entry point of the table with distinct values in every argument, by each way to attach.
for method in auto session multi perf percall; do
	SIMCUDA_STUB=1 sim_record "args-$method" --attach "$method" -- "$SIM/callall" "$T/args-$method.json"
	status=$?
	if [ $status != 0 ] && grep -q 'kernel refuses a' "$T/args-$method.err"; then
		echo "skip args_$method: $(tail -n 1 "$T/args-$method.err")"
		continue
	fi
	if out=$("$TRUTH" args "$T/args-$method.gpubpf" "$T/args-$method.json"); then
		ok "args_$method"
	else
		not_ok "args_$method" "$out $(cat "$T/args-$method.err")"
	fi
	check_truth "log_$method" "args-$method"
done

# The truth of each workload: calls, threads, depths, results, order.
sim_record demo -- "$SIM/demo" --steps 10
check demo_status 0 $?
check_truth demo demo
check demo_verdict reconciled "$(inspect demo .verdict)"
check demo_footer "target exited" "$(inspect demo .footer.end_reason)"
sim_record alone --no-shim -- "$SIM/demo" --steps 10
check_truth demo_without_the_shim alone
check demo_without_the_shim_verdict uncontradicted "$(inspect alone .verdict)"
sim_record driver -- "$SIM/driver_demo"
check_truth C10_driver_api_without_runtime driver
sim_record static -- "$SIM/demo-static" --steps 5
check_truth C13_static_runtime static
sim_record ptds -- "$SIM/demo-ptds" --steps 5
check_truth per_thread_default_stream ptds
check ptds_symbols true "$(inspect ptds '[.counters.by_entry_point[].symbol] | any(endswith("_ptsz"))')"

# The demo prints what it did; the report must say the same.
want() # JQ-EXPRESSION on the demo's own line
{
	jq -r "$1" "$T/demo.out"
}
check launches "$(want '.launches')" "$(report demo '[.sections.apis.rows[] | select(.kind | startswith("launch")) | .calls] | add')"
for d in h2d d2h d2d; do
	check "C29_copies_$d" "$(want ".copies.$d, .copy_bytes.$d" | tr '\n' ' ')" \
		"$(report demo ".sections.copies.rows[] | select(.direction == \"$d\") | .copies, .bytes" | tr '\n' ' ')"
done
for k in device host managed pool; do
	check "C16_allocations_$k" "$(want ".allocs.$k, .alloc_bytes.$k, .frees.$k" | tr '\n' ' ')" \
		"$(report demo ".sections.memory.rows[] | select(.kind == \"$k\") | .allocated, .allocated_bytes, .freed" | tr '\n' ' ')"
done
check kernel_names "$(want '.kernels | keys | length')" \
	"$(report demo '[.sections.launches.rows[] | .kernel // .name] | unique | length')"

# C28: two threads, ten launches each.
sim_record threads -- "$SIM/procs" --calls 10 --threads 2
check C28_two_threads "10 10" "$("$GPUBPF" inspect --records --json "$T/threads.gpubpf" |
	jq -s -r '[.[] | select(.api == "cuLaunchKernel")] | group_by(.tid) | map(length) | join(" ")')"

# Nesting: the simulated cuMemAllocPitch_v2 calls cuMemAlloc_v2.
check nested_counts_once "$(jq -r '"\(.allocs_pitch) \(.allocs_device) \(.allocs_pitch)"' "$T/driver.out")" \
	"$(inspect driver '[.counters.by_entry_point[] | select(.symbol == "cuMemAllocPitch_v2" or .symbol == "cuMemAlloc_v2")] |
		sort_by(.symbol) | "\(.[0].entered) \(.[1].entered) \(.[1].nested)"')"

# Failures by code.
SIMCUDA_FAIL="cuMemAlloc_v2:2:1" sim_record fail -- "$SIM/driver_demo"
check failures "cuMemAlloc_v2 2" "$(inspect fail '.counters.results[]? // .counters.by_result[]? | "\(.symbol) \(.result)"' | head -n 1)"

# Entry only: no results and no durations, and that is said, not zero.
sim_record entry --entry-only -- "$SIM/demo" --steps 3
check R14_entry_only_has_no_duration null "$(report entry '.sections.apis.rows[0].total_ns')"
check entry_only_counts "$(inspect entry '[.counters.by_entry_point[].entered] | add')" \
	"$(inspect entry '[.counters.by_entry_point[].recorded] | add')"

# Launches in a row: each is counted and recorded, some are measured to their return, and that is said.
export SIMCUDA_FAST=1
sim_record row --returns 4 -- "$SIM/launchloop" --launches 20000
# What a thread keeps for the next handing over is not lost: at the end of the recording, of the thread, for --calls.
sim_record kept_end --returns 1000000 -d 1s -- "$SIM/launchloop" --launches 1003 --rest 3000
check in_a_row_kept_at_the_end "1003 1003" "$(inspect kept_end '.counters.by_entry_point[] | select(.symbol == "cuLaunchKernel") |
	"\(.entered) \(.records_in_file)"')"
sim_record kept_killed --returns 1000000 -- sh -c '"$SIM/launchloop" --launches 1003 --rest 60000 & sleep 1; kill -9 $!; wait'
check in_a_row_kept_by_the_killed "1003 1003" "$(inspect kept_killed '.counters.by_entry_point[] | select(.symbol == "cuLaunchKernel") |
	"\(.entered) \(.records_in_file)"')"
sim_record kept_calls --returns 1000000 --calls 1010 -d 2s -- "$SIM/launchloop" --launches 1003 --rest 3000
check in_a_row_kept_ends_calls calls "$(inspect kept_calls .footer.end_reason)"
unset SIMCUDA_FAST
check in_a_row_all_recorded "20000 20000 0" "$(inspect row '.counters.by_entry_point[] | select(.symbol == "cuLaunchKernel") |
	"\(.entered) \(.records_in_file) \(.recorded - (.returned + .unmeasured))"')"
if [ "$("$GPUBPF" inspect --json "$T/row.gpubpf" | jq -r .metadata.attach)" = session ]; then
	check in_a_row_some_unmeasured true "$(inspect row '.counters.by_entry_point[] | select(.symbol == "cuLaunchKernel") |
		.unmeasured > 0 and .returned > 2000')"
	check_has in_a_row_is_said "entry alone" "$("$GPUBPF" report "$T/row.gpubpf")"
fi
check others_are_all_measured 0 "$(inspect row '[.counters.by_entry_point[] | select(.symbol != "cuLaunchKernel") | .unmeasured // 0] | add')"

# C7: a ring far too small. Every call is counted; records and losses add up; the verdict says it.
sim_record tiny --ring-size 4K -- "$SIM/launchloop" --launches 100000 --threads 2
check C7_all_counted "$("$SIM/simlog" --counts "$T/tiny.simlog" | awk '$1 == "cuLaunchKernel" {print $2}')" \
	"$(inspect tiny '.counters.by_entry_point[] | select(.symbol == "cuLaunchKernel") | .entered')"
check C7_records_and_losses_add_up 0 "$(inspect tiny '[.counters.by_entry_point[] | .entered + .nested - .recorded - .lost_ring] | add')"
check C7_records_are_in_the_file 0 "$(inspect tiny '[.counters.by_entry_point[] | .recorded - .records_in_file] | add')"
check C7_incomplete incomplete "$(inspect tiny .verdict)"
check_has R4_remedy "--ring-size" "$("$GPUBPF" inspect "$T/tiny.gpubpf")"
