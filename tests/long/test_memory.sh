#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 3000
# The memory of a recorded job, and of the recorder, stays flat however long it lasts (C4, C6): a job of many threads that come
# and go, modules that are loaded and unloaded, thousands of names. At equal steps it stands still and both are looked at.
#
#   test_memory.sh [hour]    hour: 36 million calls, an hour of 10,000 a second; without: 1.2 million
. tests/e2e/lib.sh
export LD_LIBRARY_PATH=$SIM SIMCUDA_FAST=1
unset CUDA_INJECTION64_PATH GPUBPF_CUPTI
BUFFERS_KB=34816 # 64 of 512 KiB and 64 small ones (shim/buffers.h)
if [ "${1:-}" = hour ]; then
	lives=36000 calls=1000 modules=128 points=60 what=an_hour SLACK_KB=1024
else
	lives=1200 calls=1000 modules=12 points=40 what=in_short SLACK_KB=2048 # the buffers are still being touched
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

# Two things: no steady growth over the second half (the median of the slopes between any two points, so that a step counts
# for nothing), and no step beyond what is mapped: the shim's buffers are touched as far as the busiest moment needs, and stay.
flat() # TEST NAME COLUMN STEPS-KB
{
	local out
	if out=$(python3 - "$T/$2.rss" "$3" $SLACK_KB "$4" <<'P'
import itertools, statistics, sys
v = [int(l.split()[int(sys.argv[2]) - 1]) for l in open(sys.argv[1])]
slack, steps = map(int, sys.argv[3:])
early, late = v[len(v) // 4:len(v) // 2], v[len(v) // 2:]
slope = statistics.median((b - a) / (j - i) for (i, a), (j, b) in itertools.combinations(enumerate(late), 2))
print(f"# {v[0]} kB at first; at most {max(early)} kB in the second quarter, {max(late)} kB in the second half, "
      f"which grew by {slope * len(late):.0f} kB ({len(v)} points)")
sys.exit(len(v) < 20 or slope * len(late) > slack or max(late) > max(early) + steps)
P
	); then
		echo "$out"
		ok "$1"
	else
		not_ok "$1" "$out: $(tr '\n' ';' <"$T/$2.rss")"
	fi
}

# The job by itself: what is flat with nobody there is the ground that the rest is held against.
watch bare "$SIM/${job[0]}" "${job[@]:1}"
flat "memory_${what}_of_the_job_alone" bare 1 1024

begun=$SECONDS
watch recorded "$GPUBPF" record -q -f -o "$T/cap.gpubpf" -- "$SIM/${job[0]}" "${job[@]:1}"
check "memory_${what}_status" 0 $?
echo "# $((lives * calls)) calls, $lives threads, $((lives / 10)) loads of modules, $((modules * 32)) names in $((SECONDS - begun)) s; $(stat -c %s "$T/cap.gpubpf") bytes"
flat "C4_C6_memory_${what}_of_the_job_recorded" recorded 1 $BUFFERS_KB
flat "memory_${what}_of_the_recorder" recorded 2 4096
cost=$(paste -d' ' "$T/bare.rss" "$T/recorded.rss" | awk '{ d = $3 - $1; if (d > m) m = d } END { print m }')
echo "# the shim costs the job at most $cost kB"
if [ "$cost" -lt 65536 ]; then ok "memory_${what}_of_the_shim"; else not_ok "memory_${what}_of_the_shim" "$cost kB"; fi
check "memory_${what}_was_recorded" "$((lives * calls)) $((modules * 32))" \
	"$("$GPUBPF" inspect --json "$T/cap.gpubpf" | jq -r '"\(.device.ledger.total.calls) \(.device.names)"')"
