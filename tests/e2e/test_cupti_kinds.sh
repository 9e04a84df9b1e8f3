#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
# What `record --cupti` asks for, from the simulated CUPTI to the tables.
. tests/e2e/lib.sh
export LD_LIBRARY_PATH=$SIM
unset CUDA_INJECTION64_PATH GPUBPF_CUPTI NVTX_INJECTION64_PATH

record() # NAME ARG…
{
	local name=$1
	shift
	"$GPUBPF" record -f -o "$T/$name" "$@" >"$T/$name.out" 2>"$T/$name.err" ||
		not_ok "record_$name" "$(cat "$T/$name.err")"
}

device() # NAME JQ
{
	"$GPUBPF" inspect --json "$T/$1" | jq -r ".device | $2"
}

table() # NAME SECTION JQ
{
	"$GPUBPF" report --json -s "$2" "$T/$1" | jq -r ".sections.$2 | $3"
}

if ! command -v jq >/dev/null; then
	echo "skip cupti_kinds: jq"
	exit 0
fi

# ---- external ----
record external --cupti external -- "$SIM/annotated" --launches 100 --external 40
check external_facilities "0 0" "$(device external '.sessions[0].facilities | "\(.external) \(.driver_calls)"')"
check external_records "60 40 20 0" "$(device external '.external | "\(.of_seen_calls) \(.by_kind.custom0) \(.by_kind.custom1) \(.of_unknown_kind)"')"
check external_rows "custom0 40 40 40 custom1 20 1 20" \
	"$(table external external '[.rows[] | "\(.kind) \(.records) \(.ids) \(.calls)"] | join(" ")')"
check external_changes_no_verdict "reconciled 0 0" \
	"$("$GPUBPF" inspect --json "$T/external" | jq -r '"\(.verdict) \(.device.losses.unknown_kind) \(.device.ledger.total.unexplained)"')"
if "$GPUBPF" report "$T/external" | grep -q '^External correlation'; then ok external_in_text; else not_ok external_in_text "$("$GPUBPF" report "$T/external" | tail -20)"; fi

# Not asked for, asked for and none, refused: three things (R5, R14).
record plain -- "$SIM/annotated" --launches 100 --external 40
check R5_external_not_asked_for "false not asked for" "$(device plain 'has("external")') $(table plain external '.unmeasured_because[:13]')"
case $("$GPUBPF" report -s external "$T/plain") in
*"not measured (not asked for: record --cupti external does)"*) ok R5_external_not_asked_for_text ;;
*) not_ok R5_external_not_asked_for_text "$("$GPUBPF" report -s external "$T/plain")" ;;
esac
record none --cupti external -- "$SIM/annotated" --launches 10
check R14_external_none "0 []" "$(device none .external.records) $(table none external '.rows | tostring')"
SIMCUPTI_FAIL=cuptiActivityEnable:39:27 record refused --cupti external -- "$SIM/annotated" --launches 10
check R5_external_refused "27 reconciled" "$(device refused '.sessions[0].facilities.external') $(
	"$GPUBPF" inspect --json "$T/refused" | jq -r .verdict)"
case $("$GPUBPF" report -s external "$T/refused") in
*"not measured (CUPTI refused records of external correlation)"*) ok R5_external_refused_text ;;
*) not_ok R5_external_refused_text "$("$GPUBPF" report -s external "$T/refused")" ;;
esac

# ---- NVTX ----
nvtx_rows='[.rows[] | "\(.domain // "-") \(.name) \(.ranges) \(.open) \(.marks) \(.elsewhere)"] | sort | join(", ")'
long=$(printf 'layer.%.0s' {1..40})
want="- here 0 0 50 0, - $long 0 0 1 0, - never ends 0 1 0 0, - step 50 0 0 0, - whole 1 0 0 1, annotated blob 0 0 1 0, annotated delta 0 0 50 0, annotated inner 50 0 0 0, annotated loss 0 0 50 0"
data_rows='[.rows[] | select(.payloads > 0 or .categories > 0) | "\(.name) \(.payloads) \(.payload_kind) \(.payload_min) \(.payload_mean | if . then . + 0 else . end) \(.payload_max) \(.categories) \(.category)"] | sort | join(", ")'
data_want="blob 1 extended null null null 0 null, delta 50 int64 -50 -25.5 -1 0 null, inner 50 uint64 4096 104448 204800 1 7, loss 50 double 0.25 6.375 12.5 2 null"
for app in "$SIM/annotated" "$SIM/real/annotated"; do
	name=nvtx
	if [ "$app" = "$SIM/real/annotated" ]; then
		name=nvtx3
		[ -e "$app" ] || {
			echo "skip nvtx3: the headers of CUDA (CUDA_HOME) when it was built"
			continue
		}
	fi
	record $name --cupti nvtx -- "$app" --launches 60 --nvtx 50
	check ${name}_facilities "0 0 0" "$(device $name '.sessions[0].facilities | "\(.nvtx) \(.nvtx_data) \(.thread_ids)"')"
	check ${name}_counts "152 102 1 0 0" "$(device $name '.nvtx | "\(.marks) \(.ranges) \(.ranges_open_at_the_end) \(.ends_without_start) \(.records_without_time)"')"
	check ${name}_rows "$want" "$(table $name nvtx "$nvtx_rows")"
	check ${name}_data_counts "151 1 100 50 0" "$(device $name '.nvtx | "\(.with_payload) \(.with_extended_payload) \(.with_category) \(.with_color) \(.data_without_marker)"')"
	check ${name}_data "$data_want" "$(table $name nvtx "$data_rows")"
	check ${name}_times "true" "$(table $name nvtx '[.rows[] | select(.ranges > 0) | .total_ns >= .max_ns and .max_ns >= .mean_ns and .mean_ns > 0] | all')"
	check ${name}_whole_is_longest "whole" "$(table $name nvtx '.rows[0].name')"
	check ${name}_changes_no_verdict "reconciled 0 0" \
		"$("$GPUBPF" inspect --json "$T/$name" | jq -r '"\(.verdict) \(.device.losses.unknown_kind) \(.device.losses.labels)"')"
done
check nvtx_threads "$(device nvtx '.sessions[0].pid')" \
	"$("$GPUBPF" report --json --threads -s nvtx "$T/nvtx" | jq -r '[.sections.nvtx.rows[].tid] | unique | map(tostring) | join(" ")')"
# Each mark and each half of a range is a line behind the records; what belongs to it is in it, and in no other.
"$GPUBPF" inspect --records --json "$T/nvtx" | jq -c 'select(.record == "nvtx")' >"$T/nvtx.lines"
lines()
{
	jq -rs "$1" "$T/nvtx.lines"
}
check nvtx_lines "152 102 101" "$(lines '[.[].event] | "\(map(select(. == "mark")) | length) \(map(select(. == "start")) | length) \(map(select(. == "end")) | length)"')"
check nvtx_lines_payloads "$(seq -s ' ' 4096 4096 204800)" "$(lines '[.[] | select(.name == "inner") | .payload] | map(tostring) | join(" ")')"
check nvtx_lines_of_delta "-1 -50 int64 null" "$(lines '[.[] | select(.name == "delta")] | "\(.[0].payload) \(.[-1].payload) \(.[0].payload_kind) \(.[0].category)"')"
check nvtx_lines_of_inner "50 7 0xff336699 annotated true" "$(lines '[.[] | select(.name == "inner" and .event == "start")] | "\(length) \(.[0].category) \(.[0].color) \(.[0].domain) \(all(.dur_ns > 0 and .no_end == null))"')"
check nvtx_lines_bare "0" "$(lines '[.[] | select((.domain == null or .event == "end") and (.payload_kind or .category or .color))] | length')"
check nvtx_lines_extended "1 false" "$(lines '[.[] | select(.payload_kind == "extended")] | "\(length) \(.[0] | has("payload"))"')"
check nvtx_lines_open "never ends" "$(lines '[.[] | select(.no_end or .no_start) | .name] | join(" ")')"
check nvtx_lines_in_text 'event=mark category=8 payload=0.25 domain="annotated" name="loss"' \
	"$("$GPUBPF" inspect --records "$T/nvtx" | grep '^nvtx .*name="loss"' | head -n 1 | sed 's/.* event=mark id=[0-9]*/event=mark/')"
check_has nvtx_in_text "PAYLOAD MAX" "$("$GPUBPF" report -s nvtx "$T/nvtx")"
check_has nvtx_in_text_summary "with a payload: 151, with a category: 100, with a color: 50" "$("$GPUBPF" inspect "$T/nvtx")"

# Refused, the data alone is not measured, which is not none (R5, R14); nothing else changes.
SIMCUPTI_FAIL=cuptiActivityEnable:13:27 record nvtx_bare --cupti nvtx -- "$SIM/annotated" --launches 60 --nvtx 50
check R5_nvtx_data_refused "0 27 true null" "$(device nvtx_bare '(.sessions[0].facilities | "\(.nvtx) \(.nvtx_data)") + (.nvtx | " \(.with_payload_unmeasured) \(.with_payload)")')"
check R14_nvtx_data_refused_rows "$want|true" "$(table nvtx_bare nvtx "$nvtx_rows")|$(table nvtx_bare nvtx '[.rows[] | .payloads == null and .payloads_unmeasured and .categories_unmeasured] | all')"
check_has R14_nvtx_data_refused_text "payloads and categories: not measured" "$("$GPUBPF" inspect "$T/nvtx_bare")"
check nvtx_no_threads_unasked "0" "$(table nvtx nvtx '[.rows[] | select(has("tid"))] | length')"

# An application's children may use NVTX: the shim takes it from them, as CUPTI is theirs no more.
SIMCUPTI_LOG=$T/nvtx_fork.log record nvtx_fork --cupti nvtx -- "$SIM/annotated" --launches 10 --nvtx 5 --fork 3
check nvtx_children_reach_no_cupti "5 0" "$(grep -c '! marker 1 .* here' "$T/nvtx_fork.log") $(grep -c '! marker 1 .* child' "$T/nvtx_fork.log")"

# Not asked for: NVTX loads nothing. Another tool's library stays. Refused: said.
SIMCUPTI_LOG=$T/nvtx_not.log record nvtx_not -- "$SIM/annotated" --launches 10 --nvtx 5
check nvtx_not_asked_for "0 false" "$(grep -c '! NVTX' "$T/nvtx_not.log") $(device nvtx_not 'has("nvtx")')"
NVTX_INJECTION64_PATH=/lib64/libc.so.6 record nvtx_taken --cupti nvtx -- sh -c 'echo "$NVTX_INJECTION64_PATH"; exec "$0" --launches 10' "$SIM/annotated"
check nvtx_taken "/lib64/libc.so.6 1" "$(head -n 1 "$T/nvtx_taken.out") $("$GPUBPF" inspect --json "$T/nvtx_taken" | jq '[.metadata.notes[] | select(.code == "nvtx_taken")] | length')"
SIMCUPTI_FAIL=cuptiActivityEnable:12:27 record nvtx_refused --cupti nvtx -- "$SIM/annotated" --launches 10 --nvtx 5
check R5_nvtx_refused "27 CUPTI refused records of NVTX" "$(device nvtx_refused '.sessions[0].facilities.nvtx') $(table nvtx_refused nvtx .unmeasured_because)"
# Without the system's thread ids no thread is made up (R12).
SIMCUPTI_FAIL=cuptiSetThreadIdType:1:27 record nvtx_ids --cupti nvtx -- "$SIM/annotated" --launches 10 --nvtx 5
check R12_nvtx_no_thread "9 0" "$("$GPUBPF" report --json --threads -s nvtx "$T/nvtx_ids" | jq -r '.sections.nvtx.rows | "\(length) \([.[] | select(.tid != null)] | length)"')"

# ---- unified memory ----
record um --cupti unified-memory -- "$SIM/annotated" --launches 10 --managed 4096
check um_facilities "0 0 0 0 0 0 0 0 0" "$(device um '[.sessions[0].facilities | to_entries[] | select(.key | startswith("unified")) | .value] | map(tostring) | join(" ")')"
check um_events "80 10 0" "$(device um '.unified_memory | "\(.events) \(.counters.remote_map.events) \(.of_unknown_counters)"')"
um_rows='[.rows[] | "\(.counter) \(.events) \(.bytes) \(.fault_groups) \(.from)>\(.to) \(.devices) \(.cause) \(.state)"] | sort | join(", ")'
check um_rows "bytes_dtod 10 40960 null device 0>device 1 null null counted, bytes_dtoh 10 40960 null device 0>host null coherence counted, bytes_htod 10 40960 null host>device 0 null prefetch counted, cpu_faults 10 null null null>null null read counted, gpu_faults 10 null 30 device 0>null null write counted, remote_map 10 40960 null device 0>host null policy counted, thrashing 10 40960 null null>null 0 3 null counted, throttling 10 null null device 0>null null null counted" \
	"$(table um unified_memory "$um_rows")"
check um_times "bytes_dtod bytes_dtoh bytes_htod gpu_faults throttling" "$(table um unified_memory '[.rows[] | select(.total_ns > 0 and .untimed == 0) | .counter] | sort | join(" ")')"
check um_changes_no_verdict "reconciled 0" "$("$GPUBPF" inspect --json "$T/um" | jq -r '"\(.verdict) \(.device.losses.unknown_kind)"')"
# Older records are shorter.
SIMCUPTI_VERSION=18 record um11 --cupti unified-memory -- "$SIM/annotated" --launches 10 --managed 4096
check um_of_11_8 "$(table um unified_memory "$um_rows")" "$(table um11 unified_memory "$um_rows")"

# None, refused, one refused, not asked for (R5): four things.
record um_none --cupti unified-memory -- "$SIM/launchloop" --launches 10 --rest 300
check R5_um_none "0 0" "$(device um_none '.unified_memory | "\(.events) \(.counters.bytes_htod.events)"')"
check R5_um_none_rows "8 0 counted" "$(table um_none unified_memory '.rows | "\(length) \(map(.events) | add) \(map(.state) | unique | join(" "))"')"
SIMCUPTI_FAIL=cuptiActivityConfigureUnifiedMemoryCounter:*:28 record um_refused --cupti unified-memory -- "$SIM/annotated" --launches 10 --managed 4096
check R5_um_refused "28 28 false 28" "$(device um_refused '(.sessions[0].facilities | "\(.unified_memory) \(.unified_thrashing)") + (.unified_memory.counters.thrashing | " \(has("events")) \(.refused_with)")')"
check R5_um_refused_rows "8 null true refused (28)" "$(table um_refused unified_memory '.rows | "\(length) \(map(.events) | unique[0]) \(all(.events_unmeasured)) \(map(.state) | unique | join(" "))"')"
check R5_um_refused_is_said_once 1 "$(grep -c 'CUPTI refuses' "$T/um_refused.err")"
check R5_um_refused_is_noted 9 "$("$GPUBPF" inspect --json "$T/um_refused" | jq '[.metadata.notes[] | select(.code == "facility_refused")] | length')"
check um_refused_runs_on reconciled "$("$GPUBPF" inspect --json "$T/um_refused" | jq -r .verdict)"
SIMCUPTI_FAIL=cuptiActivityConfigureUnifiedMemoryCounter:5:29 record um_one --cupti unified-memory -- "$SIM/annotated" --launches 10 --managed 4096
check R5_um_one_refused "70 thrashing" "$(device um_one .unified_memory.events) $(table um_one unified_memory '[.rows[] | select(.state == "refused (29)") | .counter] | join(" ")')"
check R5_um_not_asked_for "false not asked for" "$(device plain 'has("unified_memory")') $(table plain unified_memory '.unmeasured_because[:13]')"
# Each counter alone, those that were given all at once, and all off again; never by another thread than the one inside cuInit.
SIMCUPTI_ABORT=init SIMCUPTI_LOG=$T/um_log record um_init --cupti unified-memory -- "$SIM/annotated" --launches 10 --managed 4096
check um_asked_and_given_back "10 10" "$(grep -c '> cuptiActivityConfigureUnifiedMemoryCounter' "$T/um_log") $(grep -c '< cuptiActivityConfigureUnifiedMemoryCounter 0' "$T/um_log")"
