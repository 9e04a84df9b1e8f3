#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Calls that are left by a jump, interrupted by a signal or a coroutine, or forked in: each is counted once, at its
# depth, and the program comes to its end as it does without us.
. tests/e2e/lib.sh

STACKS=$B/tests/stacks

# entered, nested, abandoned, and what the ledger leaves unexplained
counts() # CAPTURE
{
	inspect "$1" '.counters.by_entry_point | "\([.[].entered] | add) \([.[].nested] | add) \([.[].abandoned] | add) \(
		[.[] | .entered + .nested - .recorded - .lost_ring - .lost_thread - .lost_depth - .abandoned - (.in_flight // 0)] | add)"'
}

# MODE:WANTED for 10 rounds: two plain calls and the outer one in each; inside it one, two, or four.
for case in "longjmp:30 10 10 0" "nested:30 30 0 0" "signal:30 20 0 0" "signal-low:30 20 0 0" "signal-high:30 20 0 0" \
	"jump-low:30 10 10 0" "jump-high:30 10 10 0" "coroutine-low:30 40 0 0" "coroutine-high:30 40 0 0" \
	"fork:70 10 0 0" "clone:70 10 0 0"; do
	mode=${case%%:*}
	for method in session multi perf; do
		name=${mode//-/_}_$method
		# where a return probe cannot be left out, the kernel forgets the open call below and kills the process
		case $method/$mode in
		session/* | */longjmp | */nested | */signal | */*-low | */jump-high | */fork | */clone) ;;
		*) continue ;;
		esac
		"$GPUBPF" record -q --returns 1 --attach $method -o "$T/$name.gpubpf" -- "$STACKS/stacks" "$mode" 10 \
			>"$T/$name.out" 2>"$T/$name.err"
		status=$?
		if grep -q 'kernel refuses a' "$T/$name.err"; then
			echo "skip $name: $(tail -n 1 "$T/$name.err")"
			continue
		fi
		check "${name}_lives" "0 done" "$status $(cat "$T/$name.out")"
		check "${name}_counts" "${case#*:}" "$(counts "$name")"
	done
done

# Records of one thread at one depth never overlap, and no call returns before it was entered.
check records_do_not_overlap 0 "$("$GPUBPF" inspect --records --json "$T/nested_session.gpubpf" | jq -s '
	[.[] | select(.t_return_ns)] | (map(select(.t_return_ns < .t_entry_ns)) | length) +
	([group_by([.tid, .depth // 0])[] | sort_by(.t_entry_ns) | [.[:-1], .[1:]] | transpose[] | select(.[0].t_return_ns > .[1].t_entry_ns)] | length)')"
