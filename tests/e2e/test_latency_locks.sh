#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 180
# record --latency with real BPF: who ended waits in futexes inside calls, where it is known who did.
. tests/e2e/lib.sh

# Runs launchloop, each launch of which does WHAT:N; $T/NAME.{do,gpubpf}, its waits in $T/NAME.waits.
doing() # NAME WHAT:N [OPTION of record …]
{
	local name=$1 what=$2
	shift 2
	LD_LIBRARY_PATH=$SIM SIMCUDA_FAST=1 SIMCUDA_DO=cuLaunchKernel:$what SIMCUDA_DO_LOG=$T/$name.do timeout 60 \
		"$GPUBPF" record -q -f --no-shim --latency "$@" -o "$T/$name.gpubpf" -- "$SIM/launchloop" --launches 5 \
		>"$T/$name.out" 2>"$T/$name.err" || not_ok "${name}_recorded" "$(cat "$T/$name.err")"
	"$GPUBPF" inspect --records --json "$T/$name.gpubpf" >"$T/$name.json"
	jq -c -s '[.[] | select(.record == "futex_wait")]' "$T/$name.json" >"$T/$name.waits"
}

waits() # NAME JQ-EXPRESSION over the waits
{
	jq -r -c "$2" "$T/$1.waits"
}

log() # NAME SYMBOL AWK-EXPRESSION over $3 tid, $5 wall, $6 cpu, $7 delay: its sum over the lines of the symbol
{
	awk -v s="$2" '$1 == s { sum += '"$3"' } END { printf "%.0f", sum }' "$T/$1.do"
}

tids() # NAME SYMBOL: of the threads that held the lock, in the order of time
{
	sort -n -k 4 "$T/$1.do" | awk -v s="$2" '$1 == s { printf "%s%s", n++ ? "," : "", $3 }'
}

near() # TEST WANTED GOT: within 10 %
{
	if awk -v w="$2" -v g="$3" 'BEGIN { exit !(w > 0 && g >= 0.9 * w && g <= 1.1 * w) }'; then
		ok "$1"
	else
		not_ok "$1" "wanted $2 within 10 %, got $3"
	fi
}

verb() # NAME EXPRESSION over r, the JSON of `gpubpf latency`; rows(SECTION)
{
	"$GPUBPF" latency --json "$T/$1.gpubpf" | python3 -c '
import json, sys
r = json.load(sys.stdin)
rows = lambda name: sorted(r["sections"][name]["rows"], key=lambda x: -x["total_ns"])
launches = lambda: [x for x in r["stories"] if x["population"] == "launches" and x["measure"] == "own"]
print(eval(sys.argv[1]))' "$2" 2>&1
}

# of each launch the longest wait: that for the lock
longest='group_by(.t_entry_ns) | map(max_by(.t_wake_ns - .t_wait_ns))'

# ---- A lock that another thread holds inside a call ----
doing heldin heldin:50
check heldin_holders "$(tids heldin cuCtxSynchronize)" "$(waits heldin "$longest | map(.waker_tid | tostring) | join(\",\")")"
check heldin_calls '["in_call cuCtxSynchronize futex"]' "$(waits heldin "$longest | map(\"\(.woken) \(.waker_api) \(.by)\") | unique")"
near heldin_time "$(log heldin cuLaunchKernel '$5 - $6 - $7')" "$(waits heldin "$longest | map(.t_wake_ns - .t_wait_ns) | add")"
# from the waiter's coming to the holder's letting go
near heldin_time_is_that_of_holding "$(sort -n -k 4 "$T/heldin.do" | awk '$1 == "cuCtxSynchronize" { end = $4 + $5 }
	$1 == "cuLaunchKernel" { sum += end - $4 } END { printf "%.0f", sum }')" "$(waits heldin "$longest | map(.t_wake_ns - .t_wait_ns) | add")"
check heldin_in_that_very_call 5 "$(jq -s --argjson w "$(waits heldin "$longest")" '[.[] | select(.record == "call" and
	.api == "cuCtxSynchronize") as $c | $w[] | select(.waker_tid == $c.tid and .waker_t_entry_ns == $c.t_entry_ns)] | length' "$T/heldin.json")"
# the waits of a call are what its breakdown says
check heldin_adds_up "$(jq -s '[.[] | select(.record == "latency" and .call.ns.futex > 0) | [.t_entry_ns, .call.ns.futex]] | sort' -c "$T/heldin.json")" \
	"$(waits heldin 'group_by(.t_entry_ns) | map([.[0].t_entry_ns, (map(.t_wake_ns - .t_wait_ns) | add)]) | sort')"
check heldin_row "('cuLaunchKernel', 5, 5)" "$(verb heldin '(lambda x: (x["api"], x["waits"], x["calls"]))(rows("locks")[0])')"
check heldin_rows "[('in_call', 'cuCtxSynchronize', 'launchloop', 'futex', 1)]" \
	"$(verb heldin 'sorted(set((x["woken"], x["waker_api"], x["waker_name"], x["by"], x["waits"]) for x in rows("wakers")[:5]))')"
check heldin_rows_total True "$(verb heldin 'sum(x["total_ns"] for x in rows("wakers")) == sum(x["total_ns"] for x in rows("locks")) == sum(x["total_ns"] for x in r["sections"]["parts"]["rows"] if (x["measure"], x["part"]) == ("own", "futex"))')"
check heldin_story True "$(verb heldin 'all(any(w["woken"] == "in_call" and w["waker_api"] == "cuCtxSynchronize" and w["to_ns"] - w["from_ns"] > 20e6 and w["waker_entry_ns"] < w["to_ns"] for w in x["futex_waits"]) for x in launches()) and len(launches()) == 3')"
text=$("$GPUBPF" latency "$T/heldin.gpubpf")
check_has heldin_text_says_what_was_seen "of a mutex the last one that had it, of anything else who signalled" "$text"
check heldin_text_story 3 "$(grep -c 'blocked for [0-9.]* ms in futex 0x[0-9a-f]*, woken by thread [0-9]* (launchloop), in cuCtxSynchronize, for [0-9.]* ms by then$' <<<"$text")"
check_has absent_is_named "note: inside calls not told: " "$text"
for part in irq user_kernel page_fault_cpu; do
	check "absent_${part}_inspect" 1 "$(inspect heldin "[.latency.absent[] | select(.what == \"$part\" and .why != \"\")] | length")"
	check "absent_${part}_latency" True "$(verb heldin "any(x['what'] == '$part' for x in r['inside_absent'])")"
done
check inspect_counts_them "$(waits heldin length)" "$(inspect heldin .file.records.futex_waits)"
check_has inspect_text_counts_them "waits in a futex inside calls, with who ended them" "$("$GPUBPF" inspect "$T/heldin.gpubpf")"
check wakers_are_told 1 "$(inspect heldin '[.latency.told[] | select(. == "wakers")] | length')"

# ---- The same outside of a call, and by a thread that makes none ----
doing heldout heldout:20
check heldout '["outside_calls futex null"]' "$(waits heldout "$longest | map(\"\(.woken) \(.by) \(.waker_api)\") | unique")"
doing untraced futex:20
check untraced '["untraced futex null"]' "$(waits untraced "$longest | map(\"\(.woken) \(.by) \(.waker_api)\") | unique")"
near untraced_time "$(log untraced cuLaunchKernel '$5 - $6 - $7')" "$(waits untraced "$longest | map(.t_wake_ns - .t_wait_ns) | add")"
check_has untraced_text "no traced thread: no CUDA call of it was seen" "$("$GPUBPF" latency "$T/untraced.gpubpf")"
# who joins a thread (FUTEX_WAIT_BITSET, of no process alone) waits for its end; what that thread was is not said any more
check ended_by_exit true "$(cat "$T"/{heldin,heldout,untraced}.waits | jq -s 'add | all(if .op == 265 then .by + .woken == "exitended" else .by != "exit" and .woken != "ended" end)')"

# ---- A lock that goes from one to the other: each wait has its own waker, the last one was the last to hold it ----
doing handed handed:30
check handed_last "$(tids handed cuCtxSynchronize)" \
	"$(waits handed 'group_by(.t_entry_ns) | map([.[] | select(.by == "futex")] | max_by(.t_wake_ns).waker_tid | tostring) | join(",")')"
check handed_apis '["untraced null","in_call cuCtxSynchronize"]' \
	"$(waits handed 'group_by(.t_entry_ns) | map([.[] | select(.by == "futex" and .t_wake_ns - .t_wait_ns > 5000000) | "\(.woken) \(.waker_api)"]) | unique | .[]')"
near handed_time "$(log handed cuLaunchKernel '$5 - $6 - $7')" "$(waits handed 'map(select(.by == "futex") | .t_wake_ns - .t_wait_ns) | add')"

# ---- Time limits, while threads that have nothing to do with it run on every processor ----
hogs=
for cpu in $(seq 0 $(($(nproc) - 1))); do
	taskset -c "$cpu" sh -c 'while :; do :; done' 2>/dev/null &
	hogs+=" $!"
done
doing expires expires:20
kill $hogs
wait $hogs 2>/dev/null
# an interrupt that comes upon a thread which a machine keeps its tracers away from is not seen: then nothing is claimed
check expires_names_nobody true "$(waits expires 'all(.woken == "timeout" or .woken == "unknown") and (map(select(.woken == "timeout")) | length > 10)')"
check expires_no_waker 0 "$(waits expires 'map(select(has("waker_tid") or has("waker_comm"))) | length')"
check expires_clocks '["monotonic","realtime","relative"]' "$(waits expires 'map(.limit_clock) | unique')"
# a limit that is over before the thread is blocked ends no wait
check expires_every_wait true "$(waits expires 'length > 10 and length <= 15')"
near expires_time "$(log expires cuLaunchKernel '$5 - $6 - $7')" "$(waits expires 'map(.t_wake_ns - .t_wait_ns) | add')"
check_has expires_text "woken by no thread: its time limit was over" "$("$GPUBPF" latency "$T/expires.gpubpf")"

# ---- What is chosen, what is not there ----
check chosen_by_entry_point "[]" "$("$GPUBPF" latency --json --api cuInit "$T/heldin.gpubpf" | jq -c .sections.wakers.rows)"
check csv "total_ns,longest_ns,waits,calls,pid,futex,api,share,waker" "$("$GPUBPF" latency --csv locks "$T/heldin.gpubpf" 2>/dev/null | head -n 1 | tr -d '\r')"
sim_record plain --no-shim -- "$SIM/launchloop" --launches 10
check_has without_latency "waits in futexes: not measured: recorded without --latency" "$("$GPUBPF" latency --csv wakers "$T/plain.gpubpf" 2>&1 >/dev/null)"
check without_latency_no_section 0 "$("$GPUBPF" latency "$T/plain.gpubpf" | grep -c '^Locks\|^Who ended')"

# ---- A ring that is full: the losses are counted and named ----
LD_LIBRARY_PATH=$SIM SIMCUDA_FAST=1 SIMCUDA_DO=cuLaunchKernel:futex:1 "$SIM/launchloop" --launches 1000000 >/dev/null 2>&1 &
loop=$!
wait_for 20 grep -q libcuda /proc/$loop/maps
"$GPUBPF" record -q -f --no-shim --latency --ring-size 64K -o "$T/lost.gpubpf" -p $loop 2>"$T/lost.err" &
recorder=$!
wait_for 20 test -s "$T/lost.gpubpf"
sleep 0.5
kill -STOP $recorder
sleep 1
kill -CONT $recorder
sleep 0.2
kill -INT $recorder
wait $recorder
kill -9 $loop
wait $loop 2>/dev/null
check lost_ones_are_counted true "$(inspect lost '.counters.global.waker_lost > 0 and .file.records.futex_waits > 0')"
check lost_ones_are_named "incomplete waker_lost" "$(inspect lost '"\(.verdict) \([.reasons[] | select(.code == "waker_lost") | .code] | add)"')"
check_has lost_ones_in_words "waits in a futex, and who ended them, found no room in the ring" "$("$GPUBPF" latency "$T/lost.gpubpf")"
