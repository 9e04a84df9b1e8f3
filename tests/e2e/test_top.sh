#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# gpubpf top with real BPF on the simulated CUDA stack: the sum over its intervals against what the workload did, how it
# ends, and the screen on a terminal of its own.
. tests/e2e/lib.sh
unset CUDA_INJECTION64_PATH GPUBPF_CUPTI
SHIM=$B/shim/libgpubpf-shim.so

top() # NAME ARG…: lines in $T/NAME.out
{
	local name=$1
	shift
	LD_LIBRARY_PATH=$SIM timeout 60 "$GPUBPF" top --lines "$@" >"$T/$name.out" 2>"$T/$name.err"
}

sum() # NAME SECTION COLUMN [PATTERN]: over all blocks; the column by its name
{
	awk -v section="$2" -v want="$3" -v pattern="${4:-}" '
		$1 == "#" section { for (i = 1; i <= NF; i++) if ($i == want) column = i }
		$1 == section && $4 != "absent:" && $0 ~ pattern { s += $column }
		END { printf "%.0f\n", s }' "$T/$1.out"
}

# ---- The truth: the demo says itself what it did. ----
top demo -i 0.2 -- sh -c "exec '$SIM/demo' --steps 2000 >'$T/demo.said'"
check demo_status 0 $?
said()
{
	jq -r "$1" "$T/demo.said"
}
check demo_is_several_intervals true "$([ "$(grep -c '^rates' "$T/demo.out")" -gt 1 ] && echo true)"
check launches_add_up "$(said .launches)" "$(sum demo rates LAUNCHES)"
check graph_launches_add_up "$(said .graph_launches)" "$(sum demo rates GRAPHS)"
check copies_add_up "$(said '.copies | add')" "$(sum demo rates COPIES)"
check bytes_add_up "$(said '.copy_bytes | add')" "$(sum demo rates BYTES)"
check calls_by_entry_point_add_up "$(sum demo rates CALLS)" "$(sum demo apis CALLS)"
check calls_of_processes_add_up "$(sum demo rates CALLS)" "$(sum demo tasks CALLS ' all ')"
check calls_of_threads_add_up "$(sum demo rates CALLS)" "$(awk '$1 == "tasks" && $5 != "all"' "$T/demo.out" >"$T/threads.out"
	awk '{ s += $6 } END { print s }' "$T/threads.out")"
# captured ones ran nothing, each replay of a graph runs its nodes
check copies_on_the_device_add_up "$(said '.copies | add')" "$(sum demo gpu COPIES)"
check kernels_on_the_device_add_up "$(sum demo gpu KERNELS)" "$(sum demo kernels LAUNCHES)"
check kernel_by_name "$(said '.kernels.sgd_update')" "$(sum demo kernels LAUNCHES sgd_update)"
check kernel_names_are_for_people "$(said '.kernels._Z9normalizePfjf')" "$(sum demo kernels LAUNCHES 'normalize\\(float')"
check time_on_the_device $(($(sum demo kernels LAUNCHES sgd_update) * 8000)) "$(sum demo kernels GPU_NS sgd_update)"
check every_block_says_what_is_lost "$(grep -c '^rates' "$T/demo.out")" "$(grep -c '^losses .* none ' "$T/demo.out")"
check_has verdict_never_more_than_is_known "uncontradicted: " "$(grep '^verdict' "$T/demo.out" | tail -n 1)"
check nothing_on_disk 0 "$(find . "$T" -newer "$T/demo.said" -name '*.gpubpf' | wc -l)"

# ---- Graphs, and what their nodes ran. ----
SIMCUDA_FAST=1 top graph -i 0.3 -- sh -c "exec '$SIM/launchloop' --graph --nodes 3 --launches 500 --rest 700 >/dev/null"
check graph_nodes_ran "500 1500" "$(sum graph rates GRAPHS) $(sum graph kernels LAUNCHES)"

# ---- One observer, and no accounting. ----
top host --no-shim --no-latency -- sh -c "exec '$SIM/demo' --steps 5 >'$T/host.said'"
check_has no_shim_is_named "absent: left out (--no-shim)" "$(grep '^gpu' "$T/host.out")"
check_has no_latency_is_named "absent: left out (--no-latency)" "$(grep '^waits' "$T/host.out")"
check no_shim_counts_launches "$(jq .launches "$T/host.said")" "$(sum host kernels LAUNCHES)"
check no_shim_has_no_time "- -" "$(awk '$1 == "kernels" { print $5, $6 }' "$T/host.out" | sort -u)"

# ---- What calls waited for. ----
SIMCUDA_FAST=1 SIMCUDA_DO=cuLaunchKernel:sleep:20 top waits --no-shim -i 0.3 -- sh -c "exec '$SIM/launchloop' --launches 20 >/dev/null"
ms=$(($(sum waits apiwaits NS 'sleep .*cuLaunchKernel') / 1000000))
check waits_by_cause_and_entry_point true "$([ $ms -ge 400 ] && [ $ms -lt 900 ] && echo true || echo "$ms ms")"
check waits_calls 20 "$(sum waits apiwaits CALLS 'sleep .*cuLaunchKernel')"
check mean_of_the_call true "$(awk '$1 == "apis" && $NF == "cuLaunchKernel" && $8 < 20000000 { print "short: " $0; bad = 1 } END { if (!bad) print "true" }' "$T/waits.out")"

# ---- Losses: a ring far too small. Calls are counted all the same. ----
SIMCUDA_FAST=1 top tiny --ring-size 4K --no-shim --no-latency --returns 1 -i 0.1 -- sh -c "exec '$SIM/launchloop' --launches 200000 --threads 2 >/dev/null"
check losses_calls_are_counted 400000 "$(sum tiny rates LAUNCHES)"
check losses_are_named true "$([ "$(sum tiny losses NOW lost_ring)" -gt 0 ] && echo true)"
check losses_add_up "$(sum tiny losses NOW lost_ring)" "$(awk '$1 == "losses" && $6 == "lost_ring" { t = $5 } END { print t }' "$T/tiny.out")"
check losses_and_records_add_up "$(sum tiny rates CALLS)" $(($(sum tiny tasks CALLS ' all ') + $(sum tiny losses NOW lost_ring)))
check_has losses_in_the_verdict "incomplete: " "$(grep '^verdict' "$T/tiny.out" | tail -n 1)"
check_has losses_remain_in_the_last_block " lost_ring " "$(awk '/^#losses/ { text = "" } { text = text "\n" $0 } END { print text }' "$T/tiny.out")"

# ---- Ends as record does. ----
for how in 'exit 7' 'kill -9 $$' true; do
	top end -- sh -c "$how"
	got=$?
	LD_LIBRARY_PATH=$SIM "$GPUBPF" record -q -f -o "$T/end.gpubpf" -- sh -c "$how"
	check "status_as_records: $how" $? $got
done
for bad in "-p 999999999" "-p 1x" "-p $$,$$" "-a -p $$" "-i 0.01 -- true" "-i 2h -- true" "--returns 0 -- true" "-- $T/nosuch"; do
	top bad $bad
	got=$?
	case $bad in
	-i*) want=2 ;;
	*)
		"$GPUBPF" record -q -f -o "$T/bad.gpubpf" $bad >/dev/null 2>"$T/bad.record"
		want=$?
		[ "$(sed 's/gpubpf record/gpubpf top/g' "$T/bad.record")" = "$(cat "$T/bad.err")" ] || not_ok "message_as_records: $bad" "$(cat "$T/bad.record" "$T/bad.err")"
		;;
	esac
	check "refused_as_record_does: $bad" "$want 0" "$got $(wc -c <"$T/bad.out")"
done
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$GPUBPF"; then
	plain="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all"
	got=$($plain "$GPUBPF" top --lines -- true 2>&1)
	status=$?
	want=$($plain "$GPUBPF" record -o /dev/null -- true 2>&1)
	check no_rights "$? $(echo "$want" | sed 's/gpubpf record:/gpubpf top:/')" "$status $got"
else
	echo "skip no_rights: root, setpriv, and a build folder that other users can enter"
fi

SIMCUDA_FAST=1 LD_LIBRARY_PATH=$SIM CUDA_INJECTION64_PATH=$SHIM "$SIM/launchloop" --launches 2000 --sync-every 10 --rounds 1000000 >/dev/null 2>&1 &
P=$!
sleep 1
top live -i 0.5 -d 2.6s --shim "$SHIM" -p $P
# on a busy machine two intervals become one
check duration "0 true" "$? $([ "$(grep -c '^rates' "$T/live.out")" -ge 3 ] && [ "$(grep -c '^rates' "$T/live.out")" -le 6 ] && echo true || grep -c '^rates' "$T/live.out")"
check live_device true "$([ "$(sum live kernels LAUNCHES)" -gt 0 ] && echo true || cat "$T/live.err")"
check live_busy_is_no_more_than_all true "$(awk '$1 == "gpu" && $4 != "absent:" && $6 > 100 { print "busy " $6; bad = 1 } END { if (!bad) print "true" }' "$T/live.out")"
(
	sleep 1
	kill -INT "$(pgrep -f "top --lines -i 0.3 -p $P" | head -n 1)"
) &
LD_LIBRARY_PATH=$SIM "$GPUBPF" top --lines -i 0.3 -p $P >"$T/int.out" 2>"$T/int.err"
check sigint 0 $?
LD_LIBRARY_PATH=$SIM timeout 30 "$GPUBPF" top --lines -i 0.2 -p $P 2>"$T/pipe.err" | head -n 1 >"$T/pipe.out"
check closed_pipe_is_a_clean_end "0 0 #rates" "${PIPESTATUS[0]} $(grep -c 'Broken\|standard output' "$T/pipe.err") $(cut -d' ' -f1 "$T/pipe.out")"
"$GPUBPF" top --lines -i 0.2 -p $P >/dev/full 2>"$T/full.err"
check_has full_disk_is_said "1 gpubpf top: standard output: No space left" "$? $(tail -n 1 "$T/full.err")"
(
	sleep 1
	kill -9 $P
) &
top gone -i 0.3 -p $P
check target_exit 0 $?
wait $P 2>/dev/null

# ---- The screen ----
on() # NAME SIZE STEP… -- ARG…: gpubpf top on a terminal; what it wrote in $T/NAME.tty, without control sequences in .text
{
	local name=$1 result
	shift
	local size=$1 steps=()
	shift
	while [ "$1" != -- ]; do
		steps+=("$1")
		shift
	done
	shift
	result=$(LD_LIBRARY_PATH=$SIM TERM=${TERMINAL:-xterm} LC_ALL=${LOCALE:-C.UTF-8} timeout 90 python3 tests/e2e/terminal.py "$T/$name.tty" "$size" "${steps[@]}" \
		-- "$GPUBPF" top "$@" 2>&1)
	sed 's/\x1b\[[0-9;?]*[a-zA-Z]/ /g; s/\x1b[(=>][B]*//g; s/\r//g' "$T/$name.tty" >"$T/$name.text"
	echo "$result"
}
has_left() # NAME: the alternate screen was entered and left, once each
{
	echo "$(grep -ao $'\x1b\[?1049h' "$T/$1.tty" | wc -l) $(grep -ao $'\x1b\[?1049l' "$T/$1.tty" | wc -l)"
}
LOOP="$SIM/launchloop --launches 300 --rest 60000"
SIMCUDA_FAST=1 LD_LIBRARY_PATH=$SIM CUDA_INJECTION64_PATH=$SHIM "$SIM/launchloop" --launches 2000 --sync-every 10 --rounds 1000000 >/dev/null 2>&1 &
P=$!
sleep 1
check screen_q "0 sane" "$(on q 24x100 wait:launches sleep:1.5 key:q -- -i 0.3 --shim "$SHIM" -p $P)"
check screen_is_left "1 1" "$(has_left q)"
for part in "launches " "busy, 1" " of GPU 0 (pid " "lost: nothing known" "uncontradicted so far" "empty_kernel" "q quit" "1 kernels"; do
	check_has "screen_shows: $part" "$part" "$(cat "$T/q.text")"
done
check_has screen_last_word "ended by: quit" "$(tail -n 1 "$T/q.text")"
check screen_keys "0 sane" "$(on keys 24x100 wait:launches key:2 wait:"ENTRY POINT" key:3 wait:"WHERE THE TIME" key:4 wait:COMMAND key:s key:'\e[B' key:'\e[6~' key:'\e[A' \
	key:5 wait:UNSURE key:6 wait:REASON key:p wait:PAUSED key:p key:'\e[D' key:'\e[C' key:x key:q -- -i 0.3 -p $P)"
check screen_small "0 sane" "$(on small 24x100 wait:launches size:5x20 sleep:0.7 size:1x1 sleep:0.5 size:2x300 sleep:0.5 size:60x200 wait:empty_kernel key:q -- -i 0.2 -p $P)"
check screen_small_is_left "1 1" "$(has_left small)"
check screen_small_from_the_beginning "0 sane" "$(on tiny5 5x20 wait:'lost: nothing' key:q -- -i 0.2 -p $P)"
check screen_sigterm "0 sane 1 1" "$(on term 24x80 wait:launches signal:TERM -- -i 0.3 -p $P) $(has_left term)"
check screen_ctrl_c "0 sane 1 1" "$(on ctrlc 24x80 wait:launches key:$'\x03' -- -i 0.3 -p $P) $(has_left ctrlc)"
check screen_duration "0 sane 1 1" "$(on time 24x80 -- -i 0.3 -d 1 -p $P) $(has_left time)"
check screen_terminal_goes_away true "$(on hup 24x80 wait:launches signal:HUP -- -i 0.3 -p $P | grep -q sane && echo true)"
(
	sleep 2
	kill -SEGV $P
) &
check screen_target_crashes "0 sane 1 1" "$(on crash 24x80 wait:launches gone -- -i 0.3 -p $P) $(has_left crash)"
wait $P 2>/dev/null

# A launched command has the terminal too: what it wrote comes when the screen is gone, its status is passed on.
check screen_command "3 sane 1 1" "$(on command 24x80 wait:launches -- -i 0.2 -- sh -c "echo from the command; $SIM/launchloop --launches 10 --rest 1000; echo again >&2; read x; exit 3") $(has_left command)"
check screen_command_output true "$(sed 's/.*\x1b\[?1049l//' "$T/command.tty" | tr -d '\r' | awk '/from the command/ { a = NR } /again/ { b = NR } END { print (a && b > a ? "true" : "lost") }')"
check screen_command_did_not_write_over "0" "$(tr -d '\r\n' <"$T/command.tty" | sed 's/\x1b\[?1049l.*//' | grep -ac 'from the command')"

# Where no screen can be: lines, and why.
lines_instead() # TEST TERM LOCALE MESSAGE
{
	TERMINAL=$2 LOCALE=$3 on lines 24x100 -- -i 0.2 -- sh -c "$SIM/launchloop --launches 5 >/dev/null" >"$T/lines.status"
	check "$1" "0 sane" "$(cat "$T/lines.status")"
	check_has "$1_said" "plain lines: $4" "$(head -n 1 "$T/lines.text")"
	check "$1_is_lines" true "$(grep -q '^rates' "$T/lines.text" && [ "$(has_left lines)" = "0 0" ] && echo true)"
}
lines_instead unknown_terminal no-such-terminal C.UTF-8 'nothing is known of a terminal "no-such-terminal"'
lines_instead dumb_terminal dumb C.UTF-8 'a terminal "dumb" (TERM) cannot be drawn on'
lines_instead no_utf8 xterm C 'the text of this locale is ANSI_X3.4-1968'
check lines_on_a_terminal "0 sane 0 0" "$(on asked 24x100 -- --lines -i 0.2 -- true) $(has_left asked)"
