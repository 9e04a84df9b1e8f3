#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 3000
# The memory of a recorded job, and of the recorder, stays flat however long it lasts (C4, C6): a job of many threads that come
# and go, modules that are loaded and unloaded, thousands of names. At equal steps it stands still and both are looked at.
# Flat: from a quarter of the way on, when every name, module and place has been seen, the largest is at most SLACK above
# the largest of the quarter before half-way.
#
#   test_memory.sh [hour]    hour: 36 million calls, an hour of 10,000 a second; without: 1.2 million
. tests/e2e/lib.sh
export LD_LIBRARY_PATH=$SIM SIMCUDA_FAST=1
unset CUDA_INJECTION64_PATH GPUBPF_CUPTI
SLACK_KB=1024 # of the job: a thread's stack or two that happen to be touched deeper
SLACK_RECORDER_KB=4096
if [ "${1:-}" = hour ]; then
	lives=36000 calls=1000 modules=128 points=60 what=an_hour
else
	lives=1200 calls=1000 modules=12 points=40 what=in_short
fi
job=(longrun --places 4 --lives $lives --calls $calls --modules $modules --kernels 32 --points $points)

rss_kb() # PID
{
	sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$1/status"
}

# RSS of the job and of the recorder at each step into $T/NAME.rss.
watch() # NAME COMMAND…: a command that starts the job
{
	local name=$1 line job_pid recorder
	shift
	rm -f "$T/go" "$T/said"
	mkfifo "$T/go" "$T/said"
	"$@" <"$T/go" >"$T/said" 2>"$T/$name.err" &
	recorder=$!
	exec 8>"$T/go" 9<"$T/said"
	while read -r line <&9; do
		[ "${line%% *}" = at ] || continue
		job_pid=$recorder
		[ "$(cat /proc/$recorder/comm)" = longrun ] || job_pid=$(pgrep -P $recorder -x longrun)
		sleep "${SETTLE:-0.1}" # the ring is taken down, what waits is handed over
		echo "$(rss_kb "$job_pid") $(rss_kb $recorder)" >>"$T/$name.rss"
		echo >&8
	done
	exec 8>&- 9<&-
	wait $recorder
}

flat() # TEST NAME COLUMN SLACK
{
	awk -v c="$3" -v slack="$4" -v name="$1" '
		{ v[NR] = $c }
		END {
			for (i = int(NR / 4) + 1; i <= NR / 2; i++) early = v[i] > early ? v[i] : early
			for (i = int(NR / 2) + 1; i <= NR; i++) late = v[i] > late ? v[i] : late
			printf "# %s: %d kB at first, at most %d kB in the second quarter, %d kB in the second half, %d points\n", name, v[1], early, late, NR
			if (NR < 20) { print "# too few points"; exit 1 }
			exit late > early + slack
		}' "$T/$2.rss" >"$T/flat"
	local status=$?
	cat "$T/flat"
	if [ $status = 0 ]; then ok "$1"; else not_ok "$1" "$(tr '\n' ';' <"$T/$2.rss")"; fi
}

# The job by itself: what is flat with nobody there is the ground that the rest is held against.
watch bare "$SIM/${job[0]}" "${job[@]:1}"
flat "memory_${what}_of_the_job_alone" bare 1 $SLACK_KB

begun=$SECONDS
watch recorded "$GPUBPF" record -q -f -o "$T/cap.gpubpf" -- "$SIM/${job[0]}" "${job[@]:1}"
check "memory_${what}_status" 0 $?
echo "# $((lives * calls)) calls, $lives threads, $((lives / 10)) loads of modules, $((modules * 32)) names in $((SECONDS - begun)) s; $(stat -c %s "$T/cap.gpubpf") bytes"
flat "C4_C6_memory_${what}_of_the_job_recorded" recorded 1 $SLACK_KB
flat "memory_${what}_of_the_recorder" recorded 2 $SLACK_RECORDER_KB
cost=$(paste -d' ' "$T/bare.rss" "$T/recorded.rss" | awk '{ d = $3 - $1; if (d > m) m = d } END { print m }')
echo "# the shim costs the job at most $cost kB"
if [ "$cost" -lt 65536 ]; then ok "memory_${what}_of_the_shim"; else not_ok "memory_${what}_of_the_shim" "$cost kB"; fi
check "memory_${what}_was_recorded" "$((lives * calls)) $((modules * 32))" \
	"$("$GPUBPF" inspect --json "$T/cap.gpubpf" | jq -r '"\(.device.ledger.total.calls) \(.device.names)"')"
