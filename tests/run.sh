#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs test programs and scripts and adds up their lines "ok NAME", "not ok NAME", "skip NAME: what it lacked".
# The last line is "N passed, N failed, N skipped" (R56). Exit status 1 when anything failed or nothing ran.
#
#   tests/run.sh PROGRAM…      in the environment: B GPUBPF SIM (paths), ONLY (run what holds this word),
#                              TEST_TIMEOUT (seconds per program; a script's "# timeout: N" line wins),
#                              RUNNER (what runs programs of another architecture)
#
# A program that crashes, hangs, ends with another status than its lines say or prints no line is a failure.
set -u
unset MAKEFLAGS MFLAGS MAKELEVEL

B=${B:-build/$(uname -m)}
GPUBPF=${GPUBPF:-$B/gpubpf}
SIM=${SIM:-$B/sim}
for v in B GPUBPF SIM; do
	case ${!v} in
	/*) ;;
	*) printf -v "$v" '%s/%s' "$PWD" "${!v}" ;;
	esac
done
export B GPUBPF SIM
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:strict_string_checks=1:check_initialization_order=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

scratch=$(mktemp -d "${TMPDIR:-/tmp}/gpubpf-test.XXXXXX")
group=
finish()
{
	[ -z "$group" ] || kill -KILL -- "-$group" 2>/dev/null
	rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

passed=0 failed=0 skipped=0
failures=() skips=()

limit_of()
{
	local own=
	case $1 in
	*.sh) own=$(sed -n 's/^# timeout: *\([0-9][0-9]*\)$/\1/p' "$1" | head -n 1) ;;
	esac
	printf '%s' "${own:-${TEST_TIMEOUT:-300}}"
}

# The name that people see: the path without the build folder.
label_of()
{
	local name=${1#"$PWD"/}
	name=${name#"${B#"$PWD"/}"/}
	name=${name#"$B"/}
	printf '%s' "${name/tests\//}"
}

run_one()
{
	local program=$1 label out status ok bad skip why='' limit start=$SECONDS line
	label=$(label_of "$program")
	out=$scratch/out
	limit=$(limit_of "$program")
	export T=$scratch/t
	rm -rf "$T"
	mkdir "$T"
	case $program in
	*.sh) set -- bash "$program" ;;
	*) set -- ${RUNNER:-} "$program" ;;
	esac
	# A session of its own: what the program leaves behind is ended with it.
	setsid timeout -k 5 "$limit" "$@" >"$out" 2>&1 </dev/null &
	group=$!
	wait "$group"
	status=$?
	kill -KILL -- "-$group" 2>/dev/null
	group=

	ok=$(grep -ac '^ok ' "$out")
	bad=$(grep -ac '^not ok ' "$out")
	skip=$(grep -ac '^skip ' "$out")
	case $status in
	0) ;;
	1) [ "$bad" -gt 0 ] || why='ended with status 1' ;;
	124 | 137) why="did not end within $limit s" ;;
	*) if [ "$status" -gt 128 ]; then why="died of signal $((status - 128))"; else why="ended with status $status"; fi ;;
	esac
	[ -n "$why" ] || [ $((ok + bad + skip)) -gt 0 ] || why='printed no result'
	[ -z "$why" ] || bad=$((bad + 1))
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
	while IFS= read -r line; do
		skips+=("$label: ${line#skip }")
	done < <(grep -a '^skip ' "$out")
	if [ "$bad" -gt 0 ]; then
		printf 'FAIL  %-34s %3d passed, %d failed, %d skipped (%d s)%s\n' "$label" "$ok" "$bad" "$skip" \
			$((SECONDS - start)) "${why:+: $why}"
		sed 's/^/    | /' "$out" | tail -n 200
		while IFS= read -r line; do
			failures+=("$label: ${line#not ok }")
		done < <(grep -a '^not ok ' "$out")
		[ -z "$why" ] || failures+=("$label: $why")
	else
		printf 'pass  %-34s %3d passed%s (%d s)\n' "$label" "$ok" \
			"$([ "$skip" = 0 ] || printf ', %d skipped' "$skip")" $((SECONDS - start))
	fi
}

for program in "$@"; do
	case $(label_of "$program") in
	*"${ONLY:-}"*) run_one "$program" ;;
	esac
done

if [ ${#skips[@]} -gt 0 ]; then
	printf '\nskipped, and what was lacking:\n'
	printf '  %s\n' "${skips[@]}"
fi
if [ ${#failures[@]} -gt 0 ]; then
	printf '\nfailed:\n'
	printf '  %s\n' "${failures[@]}"
fi
[ $((passed + failed)) -gt 0 ] || printf '\nnothing ran\n'
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
