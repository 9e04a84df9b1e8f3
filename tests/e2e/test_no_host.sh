#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
# `gpubpf record --no-host`: the device observer alone. No probe stands in libcuda, the capture says so, calls are those
# that the shim saw, and nothing of the host observer is ever printed as if it were measured.
. tests/e2e/lib.sh
SHIM=$B/shim/libgpubpf-shim.so
export LD_LIBRARY_PATH=$SIM
unset CUDA_INJECTION64_PATH GPUBPF_CUPTI

golden=tests/e2e/golden
scene=$B/tests/tools/mkscene
report=("$GPUBPF" report)
. tests/e2e/golden.sh

record() # NAME ARG…
{
	local name=$1
	shift
	"$GPUBPF" record -f -o "$T/$name.gpubpf" "$@" >"$T/$name.out" 2>"$T/$name.err"
}

total='.device.ledger.total'
closes='[.device.ledger.populations[], .device.ledger.total] | map(.calls == ([del(.population, .calls, .executions)[] | numbers] | add)) | all'
alone='"\(.host_observer) \(.device.ledger.calls_counted_by) \(.verdict)"'

# ---- a command ----
record launched --no-host -- "$SIM/launchloop" --launches 500
check command_status "0" "$?"
check command_calls_are_the_shims "500 500 0" "$(inspect launched "$total | \"\(.calls) \(.matched) \(.unexplained)\"")"
check R1_verdict_is_uncontradicted_and_says_who_counted "left out device observer uncontradicted" "$(inspect launched "$alone")"
check ledger_closes true "$(inspect launched "$closes")"
check the_capture_says_it "host_left_out 0" \
	"$(inspect launched '[.metadata.notes[].code | select(. == "host_left_out")][0] + " " + (.metadata.libraries | length | tostring)')"
check life_of_the_process_as_ever "true" "$(inspect launched '.file.records.tasks >= 2 and (.metadata.processes | length) == 1')"
check_has the_terminal_says_it "host observer: left out" "$(cat "$T/launched.err")"
check_has the_terminal_says_whose_calls "calls handed over by the device observer" "$(cat "$T/launched.err")"
record both -- "$SIM/launchloop" --launches 500
check with_both_reconciled "reconciled null" "$(inspect both '"\(.verdict) \(.host_observer)"')"

# Captured launches have no witness: neither a term that says 0 nor an agreement.
record graphs --no-host -- "$SIM/demo" --steps 10 --quiet
captured=$(jq '.captured_launches + .captured_sets' "$T/graphs.out")
check captured_calls_are_unexplained "incomplete $captured null true" \
	"$(inspect graphs "\"\(.verdict) \($total.unexplained) \($total.captured) \($total.captured_unmeasured)\"")"
check captured_calls_close true "$(inspect graphs "$closes")"
check_has captured_calls_are_named "captured into a graph" "$(inspect graphs '.reasons[0].text')"

# ---- what the readers print ----
check R14_no_host_count_in_json "null null null true" \
	"$(inspect launched '"\(.ledger) \(.entry_points) \(.counters.by_entry_point) \(.file.records.calls_unmeasured)"')"
"$GPUBPF" inspect "$T/launched.gpubpf" >"$T/inspect.txt"
check R14_inspect_has_no_host_table "" "$(grep -nE '^API calls by entry|^Ledger of API calls|call records|^Entry points: [0-9]' "$T/inspect.txt")"
check inspect_says_left_out 5 "$(grep -c 'host observer: left out' "$T/inspect.txt")"
"${report[@]}" "$T/launched.gpubpf" >"$T/report.txt"
check R14_report_has_no_host_table "" "$(grep -nE '^(Calls|Launches|Copies|Memory|Frees|Failures):|calls recorded' "$T/report.txt")"
check_has report_by_name_is_not_measured "Launches: not measured (host observer: left out)" \
	"$("${report[@]}" -s launches "$T/launched.gpubpf")"
check R14_report_json "null true left out" \
	"$(report launched '"\(.capture.call_records) \(.capture.call_records_unmeasured) \(.capture.host_observer)"')"
check report_processes_have_no_calls "null true" "$(report launched '.sections.processes.rows[0] | "\(.calls) \(.calls_unmeasured)"')"
check report_observers_say_who_counted "500 device observer" "$(report launched '.sections.observers.rows[0] | "\(.calls) \(.counted_by)"')"
{ echo alone; cat $golden/device.scene; } | "$scene" "$T/scene"
same report_alone_golden_text_R14 alone.txt "$T/scene"
"$GPUBPF" inspect "$T/scene" | sed "s|$T/||" >"$T/got"
[ "${GOLDEN_UPDATE:-}" ] && cp "$T/got" $golden/alone-inspect.txt
if diff -u $golden/alone-inspect.txt "$T/got" >"$T/diff"; then
	ok inspect_alone_golden_text_R14
else
	not_ok inspect_alone_golden_text_R14 "$(head -n 40 "$T/diff")"
fi

# ---- live processes, and no probe in their libcuda ----
# How many bytes of libcuda's code in the process differ from the file's: a probe changes some.
patched()
{
	python3 - "$1" <<'P'
import sys
n = 0
for l in open(f"/proc/{sys.argv[1]}/maps"):
    f = l.split()
    if len(f) < 6 or "libcuda.so" not in f[5] or "x" not in f[1]:
        continue
    lo, hi = (int(x, 16) for x in f[0].split("-"))
    mem, file = open(f"/proc/{sys.argv[1]}/mem", "rb"), open(f[5], "rb")
    mem.seek(lo)
    file.seek(int(f[2], 16))
    a = mem.read(hi - lo)
    b = file.read(hi - lo)
    n += sum(x != y for x, y in zip(a, b))
print(n)
P
}

some_patched()
{
	[ "$(patched "$1")" != 0 ]
}

for arm in device both; do
	rm -f "$T/go"
	mkfifo "$T/go"
	CUDA_INJECTION64_PATH=$SHIM SIMCUDA_LOG=$T/$arm.simlog "$SIM/launchloop" --wait --launches 300 --rest 500 <"$T/go" >/dev/null 2>&1 &
	P=$!
	exec 9>"$T/go"
	wait_for 20 grep -q libgpubpf-shim "/proc/$P/maps"
	args=(--no-host)
	[ $arm = both ] && args=()
	record $arm "${args[@]}" -p $P &
	R=$!
	wait_for 20 grep -q uprobes "/proc/$P/maps" # the kernel's page for what a probe replaced
	[ $arm = both ] && wait_for 20 some_patched $P
	wait_for 20 grep -q libcupti "/proc/$P/maps" # the shim is being armed
	sleep 0.5
	[ $arm = device ] && n=$(patched $P)
	[ $arm = both ] && m=$(patched $P)
	echo >&9
	exec 9>&-
	wait $P
	wait $R
	echo $? >"$T/$arm.status"
done
check no_probe_in_libcuda 0 "$n"
check with_both_there_are_probes true "$([ "$m" -gt 10 ] && echo true)"
check attached_status "0 0" "$(cat "$T/device.status" "$T/both.status" | tr '\n' ' ' | sed 's/ $//')"
check attached_calls "300 300 uncontradicted" "$(inspect device "\"\($total.calls) \($total.matched) \(.verdict)\"")"
check attached_with_both_is_not_vouched_for "300 uncontradicted" "$(inspect both "\"\($total.calls) \(.verdict)\"")"

# ---- everybody ----
rm -f "$T/go"
mkfifo "$T/go"
CUDA_INJECTION64_PATH=$SHIM "$SIM/launchloop" --wait --launches 200 --rest 500 <"$T/go" >/dev/null 2>&1 &
P=$!
exec 9>"$T/go"
wait_for 20 grep -q libgpubpf-shim "/proc/$P/maps"
record all --no-host -a &
R=$!
wait_for 20 test -s "$T/all.gpubpf"
wait_for 20 grep -q libcupti "/proc/$P/maps"
sleep 2 # another recorder of everybody may have armed it before: then it says so each second
echo >&9
exec 9>&-
wait $P
sleep 0.3
kill -INT "$(pgrep -P $R gpubpf || echo $R)"
wait $R
check all_status 0 $?
check all_calls "200" "$(inspect all \
	"([.metadata.processes[] | select(.view_pid == $P) | .pid] + [$P])[0] as \$p | [.device.sessions[] | select(.pid == \$p)][0].activities")"
check all_says_it "left out device observer" "$(inspect all '"\(.host_observer) \(.device.ledger.calls_counted_by)"')"

# ---- no shim, no observer ----
record stripped --no-host -- env -u CUDA_INJECTION64_PATH "$SIM/launchloop" --launches 20
check R1_nothing_is_empty "empty callback_missing" \
	"$(inspect stripped '.verdict + " " + ([.metadata.notes[].code | select(. == "callback_missing")][0] // "")')"
"$SIM/launchloop" --wait <"$T/go" >/dev/null 2>&1 &
P=$!
exec 9>"$T/go"
wait_for 20 grep -q libcuda "/proc/$P/maps"
record bare --no-host -d 200ms -p $P
check R1_process_without_a_shim "0 empty" "$? $(inspect bare .verdict)"
check_has process_without_a_shim_is_said "nothing is recorded" "$(cat "$T/bare.err")"
kill -9 $P
wait $P 2>/dev/null
exec 9>&-
record gone --no-host -d 100ms -p 4194303
check a_process_that_is_not_there 1 $?

# ---- usage ----
for words in "--no-host --no-shim -- true" "--no-host --no-shim -a" "--no-host --libcuda x -- true" "--no-host --calls 5 -- true" \
	"--no-host --entry-only -- true" "--no-host --returns 1 -- true"; do
	# shellcheck disable=SC2086
	"$GPUBPF" record -o "$T/usage" $words >"$T/usage.out" 2>&1
	status=$?
	check "usage_$(echo "$words" | tr -dc 'a-z0-9')" "2 no" "$status $([ -e "$T/usage" ] && echo file || echo no)"
done
check_has usage_says_why "leave no observer" "$("$GPUBPF" record --no-host --no-shim -- true 2>&1)"

# ---- a larger one, made up: every term closes, and its losses explain what they count ----
for how in whole dropped gap; do
	args=(--processes 3 --threads 2)
	[ $how = dropped ] && args=(--drop 100)
	[ $how = gap ] && args+=(--gap 10)
	"$B/tests/tools/mkdevice" --calls 5000 --alone "${args[@]}" "$T/made_$how.gpubpf" >"$T/$how.truth"
	check "made_${how}_closes" "5000 0 true" "$(inspect "made_$how" "\"\($total.calls) \($total.unexplained) \($closes)\"")"
done
check made_dropped_is_exact "$(sed -n 's/^dropped //p' "$T/dropped.truth")" "$(inspect made_dropped "$total.dropped")"
check made_gap_is_exact "$(sed -n 's/^gone //p' "$T/gap.truth")" "$(inspect made_gap "$total.lost_ring")"
check made_verdicts "uncontradicted incomplete incomplete" \
	"$(inspect made_whole .verdict) $(inspect made_dropped .verdict) $(inspect made_gap .verdict)"
