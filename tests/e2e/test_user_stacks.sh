#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# record --stacks and --slow with real BPF: functions that are known to call the driver are in the stacks by name and in order,
# and each stack says how far it goes.
. tests/e2e/lib.sh

CALLERS=$B/tests/callers
NONAMES=$("$GPUBPF" record --stacks=dwarf -o "$T/none" -p 1 -d 1ms 2>&1 | grep -c 'built without libdw')

calls() # NAME PROGRAM MODE N RECORD-OPTION…: into $T/NAME.gpubpf
{
	local name=$1 program=$2 mode=$3 n=$4
	shift 4
	LD_LIBRARY_PATH=$SIM timeout 60 "$GPUBPF" record -q -f --no-shim -o "$T/$name.gpubpf" "$@" -- "$CALLERS/$program" "$mode" "$n" \
		>"$T/$name.out" 2>"$T/$name.err"
	echo $? >"$T/$name.status"
}

# "COUNT QUALITY: frames from the caller outwards, up to main", of launches, one line each kind
stacks() # NAME [ENTRY-POINT]
{
	"$GPUBPF" latency --csv stacks "$T/$1.gpubpf" 2>/dev/null | tr -d '\r' | awk -F, -v api="${2:-cuLaunchKernel}" 'NR > 1 && $1 == api {
		sub(/^"/, "", $10); n = split($10, f, ";"); line = ""
		for (i = n; i > 0; i--) { line = line (line == "" ? "" : " ") f[i]; if (f[i] == "main") break }
		print $2, ($6 ? "complete" : $7 ? "truncated" : "broken") ":", line }'
}

inspected() # NAME JQ-EXPRESSION of .stacks
{
	inspect "$1" ".stacks | $2"
}

# ---- Along frame pointers ----
calls fp fp chain 20 --stacks --stacks-every 1
if [ "$NONAMES" != 0 ]; then
	check without_libdw_offsets 20 "$(stacks fp | awk '$3 ~ /^fp\+0x/ && $6 ~ /^fp\+0x/ { n += $1 } END { print n + 0 }')"
	check_has without_libdw_says "built without libdw" "$("$GPUBPF" inspect "$T/fp.gpubpf")"
	echo "skip names_of_functions: built without libdw"
	exit
fi
check fp_chain "20 complete: stack_c stack_b stack_a main" "$(stacks fp)"
check fp_every_call "22 0 0 0" "$(inspected fp '"\(.calls) \(.late) \(.lost_ring) \(.unresolved)"')"
check fp_how "fp 1" "$(inspected fp '"\(.how) \(.one_of)"')"
check fp_verdict uncontradicted "$(inspect fp .verdict)"
check_has fp_inspect_says "Stacks of 22 calls, along frame pointers" "$("$GPUBPF" inspect "$T/fp.gpubpf")"
check_has fp_told "called by (complete):" "$("$GPUBPF" latency "$T/fp.gpubpf" | tr -s ' ')"
check_has fp_section "Stacks: of 22 calls" "$("$GPUBPF" latency "$T/fp.gpubpf")"
check fp_folded "main;stack_a;stack_b;stack_c;cuLaunchKernel 20" \
	"$("$GPUBPF" latency --folded calls "$T/fp.gpubpf" | sed -n 's/.*;main;stack_a/main;stack_a/p')"
check fp_story_json "stack_c stack_b stack_a main" "$("$GPUBPF" latency --json "$T/fp.gpubpf" |
	jq -r '[.stories[] | select(.api == "cuLaunchKernel")][0].stack.frames[:4] | map(.function) | join(" ")')"
check fp_of_one_api 20 "$("$GPUBPF" latency --json --api cuLaunchKernel "$T/fp.gpubpf" | jq '[.sections.stacks.rows[].calls] | add')"

calls nofp nofp chain 20 --stacks --stacks-every 1
check nofp_broken 20 "$(stacks nofp | awk '$2 == "broken:" && $3 == "stack_c" { n += $1 } END { print n + 0 }')"
[ "$(uname -m)" != x86_64 ] || check nofp_ends_there "20 broken: stack_c" "$(stacks nofp)"
check_has nofp_words "no frame pointers" "$("$GPUBPF" inspect "$T/nofp.gpubpf")"

calls stray fp stray 1 --stacks --stacks-every 1
check stray "1 broken: stack_c stack_b stack_a stray_call" "$(stacks stray)"
calls deep fp deep 300 --stacks --stacks-every 1
check fp_deep_truncated "1 truncated: 128" "$(stacks deep | awk '{ print $1, $2, NF - 2 }')"

# ---- Unwound ----
for program in fp nofp split; do
	calls "dwarf_$program" $program chain 20 --stacks=dwarf --stacks-every 1
	check "dwarf_$program" "20 complete: stack_c stack_b stack_a main" "$(stacks "dwarf_$program")"
done
check_has dwarf_source "callers.c:" "$("$GPUBPF" latency "$T/dwarf_split.gpubpf")"
mv "$CALLERS/.debug" "$CALLERS/.hidden"
calls nodebug split chain 20 --stacks=dwarf --stacks-every 1
mv "$CALLERS/.hidden" "$CALLERS/.debug"
check dwarf_without_names 20 "$(stacks nodebug | awk '$2 == "complete:" && $3 ~ /^split\+0x/ { n += $1 } END { print n + 0 }')"

calls inline nofp inline 1 --stacks=dwarf --stacks-every 1
check inline_function "1 complete: inline_inner stack_outer main" "$(stacks inline)"
check inline_is_said true "$("$GPUBPF" inspect --records --json "$T/inline.gpubpf" |
	jq -s '[.[] | select(.record == "stack_frame" and .function == "inline_inner")] | length == 1 and all(.inline)')"
calls mangled nofp mangled 1 --stacks=dwarf --stacks-every 1
check demangled "1 complete: outer::inner(int) main" "$(stacks mangled)"
calls dthread nofp thread 5 --stacks=dwarf --stacks-every 1
check dwarf_thread "5 complete: stack_c stack_b stack_a in_thread" "$(stacks dthread | cut -d' ' -f1-6)"
calls ddeep nofp deep 300 --stacks=dwarf --stacks-every 1
check dwarf_deep_truncated "1 truncated:" "$(stacks ddeep | cut -d' ' -f1-2)"
calls dlarge nofp deep 100 --stacks=dwarf --stacks-every 1 --stacks-bytes 64K
check dwarf_more_bytes "1 complete: 105" "$(stacks dlarge | awk '{ print $1, $2, NF - 2 }')"
calls dsmall nofp deep 100 --stacks=dwarf --stacks-every 1 --stacks-bytes 4K
check dwarf_fewer_bytes "1 truncated:" "$(stacks dsmall | cut -d' ' -f1-2)"
# the copies are in no file: 22 of them would be
check no_copies_in_the_file true "$([ "$(stat -c %s "$T/dwarf_nofp.gpubpf")" -lt 20000 ] && echo true)"
calls killed nofp killed 1 --stacks=dwarf --stacks-every 1
check killed "1 complete: stack_c stack_b stack_a main" "$(stacks killed)"

calls thread fp thread 5 --stacks --stacks-every 1
check fp_thread "5 stack_c stack_b stack_a in_thread" "$(stacks thread | cut -d' ' -f1,3-6)"
calls killed_fp fp killed 1 --stacks --stacks-every 1
check killed_fp "1 complete: stack_c stack_b stack_a main" "$(stacks killed_fp)"
check killed_status 137 "$(cat "$T/killed_fp.status")"
calls exec fp exec 1 --stacks --stacks-every 1
check exec "2 complete: stack_c stack_b stack_a main" "$(stacks exec)"
# another program at the same addresses
LD_LIBRARY_PATH=$SIM timeout 60 "$GPUBPF" record -q -f --no-shim -o "$T/other.gpubpf" --stacks --stacks-every 1 -- \
	"$CALLERS/fixed" exec 1 "$CALLERS/fixed-o1" >/dev/null 2>&1
check exec_of_another "2 complete: stack_c stack_b stack_a main" "$(stacks other)"

# Who resolves them is killed: the recording goes on, and what is missing is counted and said.
LD_LIBRARY_PATH=$SIM timeout 60 "$GPUBPF" record -q -f --no-shim -o "$T/orphan.gpubpf" --stacks --stacks-every 1 -- \
	"$CALLERS/fp" wait 100 >/dev/null 2>&1 &
recorder=$!
wait_for 20 test -s "$T/orphan.gpubpf" && sleep 0.5
for pid in $(pgrep -x gpubpf-stacks); do
	tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q "$T/orphan.gpubpf" && kill -KILL "$pid"
done
wait $recorder
check resolver_killed "0 true true incomplete" "$? $(inspected orphan '"\(.calls < 102) \(.calls + .unresolved == 102)"') $(inspect orphan .verdict)"
check_has resolver_killed_is_noted stacks_died "$("$GPUBPF" inspect "$T/orphan.gpubpf")"
for how in fp dwarf; do
	calls made_$how fp made 5 --stacks=$how --stacks-every 1
	check "made_code_$how" "5 stack_c stack_b stack_a from_made py::made by hand:/a.py main" \
		"$(stacks made_$how | cut -d' ' -f1,3-)"
done

# ---- Which calls ----
SIMCUDA_FAST=1 SIMCUDA_DO=cuCtxSynchronize:sleep:200 calls slow fp chain 200 --slow 100ms
check slow_ones_alone "cuCtxSynchronize" "$("$GPUBPF" latency --csv stacks "$T/slow.gpubpf" 2>/dev/null | tr -d '\r' | awk -F, 'NR > 1 { print $1 }')"
check slow_at_the_return "1 complete: main" "$(stacks slow cuCtxSynchronize | cut -d' ' -f1-3)"
check slow_says "100000000 null" "$(inspected slow '"\(.slow_ns) \(.one_of)"')"
check slow_all_measured 0 "$(inspect slow '[.counters.by_entry_point[].unmeasured // 0] | add')"
LD_LIBRARY_PATH=$SIM SIMCUDA_FAST=1 timeout 60 "$GPUBPF" record -q -f --no-shim --stacks --stacks-every 10 -o "$T/some.gpubpf" -- \
	"$CALLERS/fp" chain 20000 >/dev/null 2>&1
check sampled true "$(inspected some '.calls > 1500 and .calls < 2500')"
check sampled_verdict uncontradicted "$(inspect some .verdict)"

# With the breakdown of the calls' time, and where no return is probed.
calls both fp chain 20 --latency --stacks --stacks-every 1
check with_latency "20 complete: stack_c stack_b stack_a main" "$(stacks both)"
check with_latency_sums 0 "$("$GPUBPF" inspect --records --json "$T/both.gpubpf" | jq -s '[.[] | select(.record == "latency") |
	select((([.call.ns[]] | add) - .call.duration_ns) | fabs > 1000)] | length')"
calls entries fp chain 20 --entry-only --stacks --stacks-every 1
check entry_only "20 complete: stack_c stack_b stack_a main" "$(stacks entries)"

# ---- Lost ----
calls ring fp chain 3000 --stacks --stacks-every 1 --ring-size 4K
check lost_is_counted true "$(inspected ring '.lost_ring > 0 and .lost_ring + .calls + .unresolved >= 3000')"
check lost_is_said incomplete "$(inspect ring .verdict)"
check_has lost_has_a_remedy "stacks of calls found no room in the ring" "$("$GPUBPF" inspect "$T/ring.gpubpf")"

# ---- Without it nothing of it is there; what does not go together is refused ----
calls plain fp chain 20
check plain_has_none "null null" "$(inspect plain '"\(.stacks) \(.file.records.stacks)"')"
check plain_folded "gpubpf: no stacks in this capture (record --stacks)" "$("$GPUBPF" latency --folded calls "$T/plain.gpubpf" 2>&1)"
for bad in "--stacks=x" "--stacks --no-host" "--slow 1ms --entry-only" "--slow 1ms --stacks-every 2" "--stacks-every 2" \
	"--stacks --stacks-bytes 16K" "--stacks=dwarf --stacks-bytes 1M"; do
	"$GPUBPF" record $bad -o "$T/bad" -- true >/dev/null 2>"$T/bad.err"
	check "refused: $bad" 2 $?
done
