#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What gpubpf says that it cost: figures are there and can be, measuring them leaves no trace in what was recorded, and
# what was not measured is said.
. tests/e2e/lib.sh
export SIMCUDA_FAST=1
N=20000

line() # CAPTURE PART WHAT JQ-EXPRESSION
{
	inspect "$1" "[.cost.parts[] | select(.part == \"$2\" and .what == \"$3\")][0] | $4"
}

# A figure of probes: some hundred calls at least, more than nothing, less than 50 us, inside its spread.
plausible='.each_ns > 0 and .each_ns < 50000 and .low_ns <= .each_ns and .each_ns <= .high_ns and .measured >= 64 and
	.total_ns == .calls * .each_ns'

# What the recording itself says: the same with and without that.
recorded='[.verdict, (.counters.by_entry_point | map([.symbol, .entered, .nested, .returned, .failed, .recorded, .lost_ring,
	.lost_thread, .abandoned, .orphan_returns, .unmeasured, .in_flight, .records_in_file])), .counters.results, .counters.global,
	.file.records, (.metadata.processes | map(.comm)), .ledger.total] | tostring'

sim_record plain --no-shim -- "$SIM/launchloop" --launches $N
check plausible true "$(line plain probes call "$plausible")"
check calls_are_all "$(inspect plain '[.counters.by_entry_point[] | .entered + .nested] | add')" "$(line plain probes call .calls)"
check launches_are_the_programs $N "$(inspect plain '.counters.by_entry_point[] | select(.symbol == "cuLaunchKernel") | .entered')"
check verdict uncontradicted "$(inspect plain .verdict)"
check_truth every_call_is_the_programs plain
sim_record without --no-shim --no-cost -- "$SIM/launchloop" --launches $N
check leaves_no_trace "$(inspect without "$recorded")" "$(inspect plain "$recorded")"
check not_asked_for "null true not asked for (--no-cost)" \
	"$(line without probes call '"\(.each_ns) \(.each_ns_unmeasured) \(.because)"')"
check not_asked_for_and_counted "$(line plain probes call .calls)" "$(line without probes call .calls)"
check nothing_of_this_program 0 "$("$GPUBPF" inspect --records "$T/plain.gpubpf" | grep -c "comm=gpubpf")"

# Each kind of recording has its own kinds of call; each way to attach is test_attach_cost's.
sim_record latency --no-shim --latency -- "$SIM/launchloop" --launches $N
check plausible_with_latency true "$(line latency probes call "$plausible")"
check breakdowns_are_the_programs "$(inspect latency '[.counters.by_entry_point[].entered] | add')" "$(inspect latency .latency.records)"
check latency_names_what_it_costs_others true "$(line latency probes switch .total_ns_unmeasured)"
sim_record entry --no-shim --entry-only -- "$SIM/launchloop" --launches $N
check plausible_at_entries true "$(line entry probes entry "$plausible")"
check plausible_rows_at_entries true "$(line entry probes row "$plausible")"
if [ "$(inspect plain .metadata.attach)" = session ]; then
	sim_record rows --no-shim --returns 64 -- "$SIM/launchloop" --launches $N
	for kind in call row alone other_process; do
		check "plausible_$kind" true "$(line rows probes $kind "$plausible")"
	done
	check rows_and_calls_are_all "$(inspect rows '[.counters.by_entry_point[] | .entered + .nested] | add')" \
		"$(inspect rows '[.cost.parts[] | select(.what == "call" or .what == "row" or .what == "alone") | .calls] | add')"
	check rows_are_those_without_return "$(inspect rows '[.counters.by_entry_point[] | .unmeasured // 0] | add')" \
		"$(inspect rows '[.cost.parts[] | select(.what == "row" or .what == "alone") | .calls] | add')"
	check a_return_costs true "$(inspect rows '[.cost.parts[] | select(.part == "probes")] | map({(.what): .each_ns}) | add |
		.call > .row and .row > 0 and .call > .other_process')"
	# no room in any map, where the thread that was recorded lives on: place is made
	sim_record small --no-shim --returns 64 --ring-size 4096 --max-threads 1 -d 500ms -- "$SIM/launchloop" --launches $N --rest 1500
	check plausible_where_maps_are_full true "$(line small probes call "$plausible")"
else
	for t in call row alone other_process where_maps_are_full; do
		echo "skip plausible_$t: the kernel has no session probes"
	done
fi

# Where it could not be measured: a call was open whose return was still waited for, or nobody came to the end.
SIMCUPTI_DELAY=cuptiSubscribe:*:1500 sim_record open -d 300ms -- "$SIM/launchloop" --launches 10
check not_while_probes_stand "null probes of the recording still stand" "$(line open probes call '"\(.each_ns) \(.because)"')"
LD_LIBRARY_PATH=$SIM "$GPUBPF" record -q --no-shim -o "$T/killed.gpubpf" -- "$SIM/launchloop" --launches 100 --rest 3000 >/dev/null 2>"$T/killed.err" &
recorder=$!
wait_for 20 test -s "$T/killed.gpubpf"
sleep 1
kill -9 $recorder
wait $recorder 2>/dev/null
check killed null "$(inspect killed .cost)"
check_has killed_says_so "What gpubpf cost: not measured (the capture does not say)" "$("$GPUBPF" report -s cost "$T/killed.gpubpf")"
LD_LIBRARY_PATH=$SIM "$GPUBPF" record -q --no-host -o "$T/alone.gpubpf" -- "$SIM/launchloop" --launches 100 >/dev/null
check no_host "no probe stood in libcuda (--no-host)" "$(line alone probes call .because)"

# The shim's callbacks: one at the entry and one at the return of each call that it sees, and of each module.
sim_record both -- "$SIM/launchloop" --launches $N
check both_reconciled reconciled "$(inspect both .verdict)"
loads=$(grep -c '^.*cuModuleLoad' "$T/both.simlog")
seen=$(($(inspect both '.device.sessions | map(.calls) | add') + $(inspect both '[.counters.by_entry_point[] | select(.symbol | startswith("cuModuleLoad")) | .entered] | add')))
[ "$loads" -gt 0 ] || not_ok loads_are_logged "none"
for what in enter leave; do
	check "callbacks_$what" "$seen" "$(line both shim $what .calls)"
	check "callbacks_${what}_are_timed" true "$(line both shim $what \
		'.measured > .calls / 256 and .measured < .calls / 16 and .each_ns > 0 and .each_ns < 20000')"
done
check callbacks_module "1 1" "$(line both shim module '"\(.calls) \(.measured)"')"
check the_whole true "$(inspect both '[.cost.parts[] | select(.part == "probes" or .part == "shim") | select(.what != "other_process") | .total_ns] |
	add as $sum | $sum > 0' )"
check sum_of_the_parts "$(inspect both '[.cost.parts[] | select(.part == "probes" or .part == "shim") | select(.what != "other_process") | .total_ns] | add')" \
	"$(line both all threads .total_ns)"
check cuptis_own_is_named true "$(line both CUPTI calls .each_ns_unmeasured)"
check overhead_not_asked_for "not asked for (record --cupti overhead)" "$(line both CUPTI overhead .because)"

# Callbacks that take 20 us longer: that is seen.
sim_record slow --shim "$B/shim/slow/libgpubpf-shim.so" -- "$SIM/launchloop" --launches 2000
for what in enter leave; do
	check "slow_${what}_shows" true "$(line slow shim $what '.each_ns >= 20000 and .total_ns >= 2000 * 20000')"
done

# CUPTI's own word, where it was asked for.
sim_record overhead --cupti overhead -- "$SIM/launchloop" --launches $N
check overhead_records "$(inspect overhead .device.executions.times.overhead.records)" "$(line overhead CUPTI buffer_flush .calls)"
check overhead_is_summed true "$(line overhead CUPTI buffer_flush '.total_ns > 0 and .each_ns > 0')"

# Every verb that is to say it does.
for verb in report inspect latency; do
	check_has "${verb}_shows_it" "calls recorded to their return" "$("$GPUBPF" $verb "$T/both.gpubpf")"
done
check report_json "$(line both probes call .each_ns)" "$(report both '.sections.cost.rows[0].each_ns')"
check latency_json "$(line both shim leave .each_ns)" \
	"$("$GPUBPF" latency --json "$T/both.gpubpf" | jq '.cost.parts[] | select(.what == "leave") | .each_ns')"
check report_csv 1 "$("$GPUBPF" report --csv cost "$T/both.gpubpf" | grep -c '^shim,.*,leave,')"
