#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
# The shim never hangs its host: a flush is under way before each callback of a module load or a context, before a fork,
# before the exit (the simulated CUPTI waits for one there and lets it end only afterwards). The same orders hang a shim that
# takes its lock in the callback. SHIM_STRESS=N: runs of the stress loop (40; the limit is a hang of 20 s).
. tests/e2e/lib.sh
OURS=$B/shim/test/libgpubpf-shim.so # aborts where a callback calls CUPTI
OLD=$B/shim/old/libgpubpf-shim.so
export LD_LIBRARY_PATH=$SIM
unset CUDA_INJECTION64_PATH GPUBPF_CUPTI
export SIM SIMCUPTI_ORDER_MS=20000 SIMCUPTI_ABORT=callback,init

# In a group of its own, so that what hangs can be ended with all that it started.
limited() # SECONDS COMMAND…: status 124 when it had to be ended
{
	local limit=$1 pid
	shift
	setsid "$@" &
	pid=$!
	if ! wait_for "$limit" gone $pid; then
		kill -KILL -- -$pid
		wait $pid 2>/dev/null
		return 124
	fi
	wait $pid
}

gone()
{
	! kill -0 "$1" 2>/dev/null || [ "$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null)" = Z ]
}

record() # NAME SHIM SECONDS COMMAND…
{
	local name=$1 shim=$2 limit=$3
	shift 3
	limited "$limit" "$GPUBPF" record -f -q --shim "$shim" -o "$T/$name" -- "$@" >"$T/$name.out" 2>"$T/$name.err"
}

verdict() # NAME
{
	"$GPUBPF" inspect --json "$T/$1" | jq -r .verdict
}

run_of() # NAME: its command
{
	case $1 in
	lazy) echo "$SIM/demo --steps 100 --quiet" ;;
	driver) echo "$SIM/driver_demo" ;;
	threads) echo "$SIM/launchloop --threads 8 --launches 2000" ;;
	graphs) echo "$SIM/launchloop --graph --nodes 50 --launches 200" ;;
	esac
}

for order in flush-before-callback flush-before-fork flush-before-callback,flush-before-fork; do
	for w in lazy driver threads graphs; do
		name=$w-${order//,/-}
		# shellcheck disable=SC2046
		SIMCUPTI_ORDER=$order record "$name" "$OURS" 60 $(run_of $w)
		check "ours_$name" "0 reconciled" "$? $(verdict "$name")"
	done
done

# A process that forks and execs while armed; children have no shim that does anything.
SIMCUPTI_ORDER=flush-before-fork record forks "$OURS" 60 "$SIM/procs" --self --fork 3 --exec 2 --calls 20 --threads 4
check ours_forks "0" "$?"
check_has ours_forks_says_its_totals '"launches"' "$(cat "$T/forks.out")"

# The exit waits for a flush that cannot end, half a second, and goes on.
began=$(date +%s%N)
SIMCUPTI_ORDER=flush-before-exit record leaves "$OURS" 60 "$SIM/demo" --steps 20 --quiet
status=$?
took=$((($(date +%s%N) - began) / 1000000))
check ours_leaves 0 $status
if [ $took -lt 10000 ]; then ok ours_leaves_in_time; else not_ok ours_leaves_in_time "$took ms"; fi

# The proof that the orders above would show it: one lock around all, checksum and hand-over in the callback.
SIMCUPTI_ORDER=flush-before-callback record old "$OLD" 5 "$SIM/demo" --steps 20 --quiet
check the_old_design_hangs 124 $?
# And without an order it does not, as a rule: a test without one would show nothing.
record old-free "$OLD" 60 "$SIM/demo" --steps 20 --quiet
check the_old_design_runs_when_lucky 0 $?

# Short lives, one after the other, under one recorder.
cat >"$T/lives.sh" <<'END'
for i in $(seq "$1"); do
	timeout -s KILL 20 "$SIM/launchloop" --threads 8 --launches 50 >/dev/null || echo "run $i: $?"
done
END
n=${SHIM_STRESS:-40}
SIMCUPTI_ORDER=flush-before-callback,flush-before-fork record stress "$OURS" $((n * 20 + 60)) bash "$T/lives.sh" "$n"
check stress_status 0 $?
check stress_no_hang "" "$(cat "$T/stress.out")"
check stress_verdict reconciled "$(verdict stress)"
check stress_launches $((n * 400)) "$("$GPUBPF" inspect --json --apis "$T/stress" |
	jq '[.counters.by_entry_point[] | select(.symbol == "cuLaunchKernel") | .entered] | add')"
