#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Outputs that cannot be written, streams that are closed, recorders that are stopped or killed at an odd moment: clear
# words, no hang, nothing of anybody's lost.
# timeout: 900
. tests/e2e/lib.sh

record()
{
	timeout -s KILL 150 "$GPUBPF" record "$@"
}

# A pipe that nobody reads is not waited for without end; one whose reader comes late is served.
mkfifo "$T/pipe"
out=$(record -o "$T/pipe" -- true 2>&1)
check pipe_without_reader_status 1 $?
check_has pipe_without_reader_is_said "nobody reads" "$out"
(sleep 0.5; cat "$T/pipe" >"$T/read") &
LD_LIBRARY_PATH=$SIM record -q --no-shim -o "$T/pipe" -- "$SIM/launchloop" --launches 300 >"$T/loop.out"
wait $!
check pipe_with_late_reader uncontradicted "$("$GPUBPF" inspect --json "$T/read" | jq -r .verdict)"

# A file called "-" is no output of ours.
(cd "$T" && touch ./- && record -o - -- /nonexistent/command >"$T/stdout" 2>&1)
check file_called_dash_is_kept yes "$([ -e "$T/-" ] && echo yes)"

# What a terminal would obey is shown, not sent.
out=$(record -o "$T/none" -- "$(printf '/nonexistent\033[31m')" 2>&1)
check_has escape_in_a_name_is_shown '\x1b[31m' "$out"

# Closed standard streams: nothing of ours takes their numbers, and a capture cannot go there.
out=$( (record -o - -- true >&-) 2>&1)
check closed_stdout "1 yes" "$? $([ -n "$out" ] && echo yes)"
record -o "$T/closed" -- sh -c "ls /proc/self/fd >$T/fds" <&- >&- 2>&-
check closed_streams empty "$("$GPUBPF" inspect --json "$T/closed" | jq -r .verdict)"
check closed_streams_stay_closed "" "$(grep -x 2 "$T/fds")"

# The file was removed while it was written.
mkdir "$T/gone"
out=$(record -o "$T/gone/capture" -- rm -r "$T/gone" 2>&1)
check removed_output_status 1 $?
check_has removed_output_is_said "was removed" "$out"

# The end of a recording is the end of what it counts, however long taking the probes away lasts.
export SIMCUDA_FAST=1
LD_LIBRARY_PATH=$SIM "$SIM/launchloop" --launches 1000000000 --threads 2 >/dev/null &
LOOP=$!
wait_for 20 grep -q libcuda /proc/$LOOP/maps
for method in session multi perf; do
	out=$(record -q --attach $method --ring-size 64M -d 300ms -o "$T/end-$method.gpubpf" -p $LOOP 2>&1)
	case $out in
	*'kernel refuses a'*)
		echo "skip end_$method: $out"
		continue
		;;
	esac
	check "end_${method}_verdict" uncontradicted "$(inspect "end-$method" .verdict)"
	check "end_${method}_nothing_after_it" "0 0" "$(inspect "end-$method" '.counters.by_entry_point |
		"\([.[].abandoned] | add) \([.[].orphan_return] | add | if . > 2 then . else 0 end)"')"
done

# A recorder that is stopped for a while: what the ring could not hold is counted to the last call.
record -q --ring-size 64K -o "$T/stopped.gpubpf" -p $LOOP &
R=$!
wait_for 20 test -s "$T/stopped.gpubpf"
P=$(pgrep -P $R)
sleep 0.3
kill -STOP "$P"
sleep 0.5
kill -CONT "$P"
sleep 0.2
kill -INT "$P"
wait $R
check stopped_recorder_counts_its_losses "true 0 0" "$(inspect stopped '.counters.by_entry_point | "\([.[].lost_ring] | add > 0) \(
	[.[] | .entered + .nested - .recorded - .lost_ring - .abandoned - (.in_flight // 0)] | add) \([.[] | .recorded - .records_in_file] | add)"')"
kill -9 $LOOP
wait $LOOP 2>/dev/null
unset SIMCUDA_FAST

# A recorder that is killed at any moment leaves no child that waits for it, and no probe.
for ms in 5 20 40 60 80 120; do
	LD_LIBRARY_PATH=$SIM "$GPUBPF" record -q -f -o "$T/killed" -- sleep 321.5 &
	R=$!
	sleep 0.0$((ms / 10))$((ms % 10))
	C=$(pgrep -P $R)
	kill -9 $R
	wait $R 2>/dev/null
	# it never started, or it runs on; it must not wait for a word that never comes
	settled()
	{
		[ -z "$C" ] || [ ! -e "/proc/$C" ] || [ "$(cat "/proc/$C/comm" 2>/dev/null)" = sleep ]
	}
	if wait_for 5 settled; then ok "killed_after_${ms}ms"; else not_ok "killed_after_${ms}ms" "its child still waits"; fi
	if [ -n "$C" ]; then kill -9 "$C" 2>/dev/null || true; fi
done
