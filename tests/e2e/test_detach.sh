#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
# GPUBPF_CUPTI=detach: after a session CUPTI leaves the driver; the next one finds it as if it had never been there.
. tests/e2e/lib.sh
export LD_LIBRARY_PATH=$SIM
unset CUDA_INJECTION64_PATH
"$GPUBPF" shim install "$T/shim" >/dev/null
SHIM=$T/shim/libgpubpf-shim.so

# NAME ENV…: a loop that launches all the time is recorded five times.
sessions()
{
	local name=$1 bad=() i v
	shift
	env CUDA_INJECTION64_PATH="$SHIM" SIMCUPTI_LOG="$T/$name.log" "$@" \
		"$SIM/launchloop" --launches 2000 --sync-every 100 --rounds 1000000 >"$T/$name.rounds" 2>&1 &
	local pid=$!
	wait_for 20 test -s "$T/$name.rounds"
	for i in 1 2 3 4 5; do
		"$GPUBPF" record -q -f -d 300ms -o "$T/$name.$i" -p $pid || bad+=("session $i: status $?")
		v=$("$GPUBPF" inspect --json "$T/$name.$i" | jq -r '"\(.verdict) \([.device.executions.times[] | .zero + .end_first + .outside] | add) \(.device.ledger.total.matched > 100)"')
		[ "$v" = "uncontradicted 0 true" ] || bad+=("session $i: $v $("$GPUBPF" inspect "$T/$name.$i" | head -n 5)")
	done
	kill -0 $pid || bad+=("the program is gone")
	kill $pid
	wait $pid 2>/dev/null
	result "${name}_five_sessions" "${bad[@]}"
}
calls() { grep -c "> $2 " "$T/$1.log"; }

sessions detached GPUBPF_CUPTI=detach
check detached_each_time "5 0" "$(calls detached cuptiFinalize) $(calls detached cuptiUnsubscribe)"
# The place that NVIDIA names: a callback of an API call. It is the worker's, which made the arming calls too.
check detached_in_a_callback 5 "$(grep -c ' api > cuptiFinalize' "$T/detached.log")"
check detached_by_the_worker 1 "$(awk '/> cupti(Finalize|Subscribe) /{print $4}' "$T/detached.log" | sort -u | wc -l)"
check detached_clock_anew 5 "$(calls detached cuptiActivityRegisterTimestampCallback)"

# A CUPTI that keeps the clock must not be given it twice.
sessions kept_clock GPUBPF_CUPTI=detach SIMCUPTI_KEEP_CLOCK=1
check kept_clock_once "5 1" "$(calls kept_clock cuptiFinalize) $(calls kept_clock cuptiActivityRegisterTimestampCallback)"

# Not asked for; before 12.6 graphs crash afterwards; refused: as ever.
sessions attached GPUBPF_CUPTI=
check attached_stays "0 5 1" "$(calls attached cuptiFinalize) $(calls attached cuptiUnsubscribe) $(calls attached cuptiActivityRegisterTimestampCallback)"
sessions older GPUBPF_CUPTI=detach SIMCUPTI_VERSION=23
check older_stays "0 5" "$(calls older cuptiFinalize) $(calls older cuptiUnsubscribe)"
sessions refused GPUBPF_CUPTI=detach "SIMCUPTI_FAIL=cuptiFinalize:*:7"
check refused_stays "5 5" "$(calls refused cuptiFinalize) $(calls refused cuptiUnsubscribe)"
check refused_is_said "cupti_error" "$("$GPUBPF" inspect --json "$T/refused.1" | jq -r '[.metadata.notes[].code] | map(select(. == "cupti_error")) | join(" ")')"

# The end of the process is in no hurry to make later launches faster.
GPUBPF_CUPTI=detach SIMCUPTI_LOG=$T/exit.log "$GPUBPF" record -q -f --shim "$SHIM" -o "$T/exit" -- "$SIM/launchloop" --launches 500
check exit_does_not_detach "reconciled 0" "$("$GPUBPF" inspect --json "$T/exit" | jq -r .verdict) $(calls exit cuptiFinalize)"
