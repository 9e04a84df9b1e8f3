#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# R56: tests/run.sh itself, on made-up programs: what counts as failed, the sums, the exit status.
. tests/e2e/lib.sh
unset ONLY TEST_TIMEOUT

program()
{
	printf '#!/bin/sh\n%s\n' "$2" >"$T/$1"
	chmod +x "$T/$1"
}

# runs NAME STATUS LAST-LINE PROGRAM…: the runner's exit status and last line; $T/out keeps the rest.
runs()
{
	local name=$1 want=$2 last=$3 got bad=()
	shift 3
	T='' TEST_TIMEOUT=${limit:-20} tests/run.sh "$@" >"$T/out" 2>&1
	got=$?
	[ "$got" = "$want" ] || bad+=("status $got, not $want")
	[ "$(tail -n 1 "$T/out")" = "$last" ] || bad+=("the last line is: $(tail -n 1 "$T/out")")
	[ -z "${word:-}" ] || grep -qF -e "$word" "$T/out" || bad+=("nowhere: $word")
	result "$name" "${bad[@]}"
}

program good 'echo ok a; echo ok b'
program skips 'echo ok a; echo "skip b: a GPU"'
program fails 'echo ok a; echo "# why: 3 is not 4"; echo not ok b; exit 1'
program lies 'echo ok a; exit 1'
program odd 'echo ok a; exit 7'
program crashes 'echo ok a; kill -SEGV $$'
program hangs 'echo ok a; sleep 60'
program mute 'echo hello'
program only_skips 'echo "skip a: a GPU"'
program leaves "echo ok a; sleep 61 & echo \$! >$T/left"

runs R56_sums 0 '3 passed, 0 failed, 1 skipped' "$T/good" "$T/skips"
word="b: a GPU" runs R56_skips_say_what_was_lacking 0 '1 passed, 0 failed, 1 skipped' "$T/skips"
word='# why: 3 is not 4' runs R56_a_failure_is_shown_and_kept 1 '3 passed, 1 failed, 0 skipped' "$T/fails" "$T/good"
runs a_status_without_a_failed_line_is_a_failure 1 '1 passed, 1 failed, 0 skipped' "$T/lies"
word='ended with status 7' runs an_odd_status_is_a_failure 1 '1 passed, 1 failed, 0 skipped' "$T/odd"
word='died of signal 11' runs a_crash_is_a_failure 1 '1 passed, 1 failed, 0 skipped' "$T/crashes"
word='did not end within 1 s' limit=1 runs a_hang_is_a_failure 1 '1 passed, 1 failed, 0 skipped' "$T/hangs"
word='printed no result' runs no_result_line_is_a_failure 1 '0 passed, 1 failed, 0 skipped' "$T/mute"
runs a_program_that_is_not_there_is_a_failure 1 '0 passed, 1 failed, 0 skipped' "$T/nowhere"
runs only_skips_is_no_pass 1 '0 passed, 0 failed, 1 skipped' "$T/only_skips"
word='nothing ran' runs nothing_ran_is_no_pass 1 '0 passed, 0 failed, 0 skipped'
runs what_a_test_leaves_running_is_ended 0 '1 passed, 0 failed, 0 skipped' "$T/leaves"
# Ended, though init may not have collected it yet.
for _ in 1 2 3 4 5 6 7 8 9 10; do
	state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$(cat "$T/left")/status" 2>/dev/null)
	[ "${state:-Z}" != Z ] || break
	sleep 0.2
done
check nothing_is_left_running Z "${state:-Z}"
