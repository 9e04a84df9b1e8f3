# SPDX-License-Identifier: GPL-2.0-or-later
# For end-to-end tests: results by name, the simulated stack, captures held against the truth. Sourced.
# Needs $GPUBPF, $B, $SIM; $T is a fresh directory.
set -u
: "${GPUBPF:?}" "${B:?}" "${SIM:?}"
T=${T:-$(mktemp -d)}
TRUTH=$B/tests/tools/truth

ok()
{
	echo "ok $1"
}

not_ok() # NAME REASON
{
	printf '%s\n' "$2" | sed 's/^/# /'
	echo "not ok $1"
}

result() # NAME PROBLEM…: ok when there is no problem
{
	local name=$1
	shift
	if [ $# -eq 0 ]; then ok "$name"; else not_ok "$name" "$(printf '%s\n' "$@")"; fi
}

check() # NAME WANTED GOT
{
	if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "wanted '$2', got '$3'"; fi
}

check_has() # NAME PART WHOLE
{
	case $3 in
	*"$2"*) ok "$1" ;;
	*) not_ok "$1" "'$2' is not in: $3" ;;
	esac
}

# Runs gpubpf record with the simulated driver and its log in $T/NAME.simlog, into $T/NAME.gpubpf.
sim_record() # NAME ARG…
{
	local name=$1
	shift
	LD_LIBRARY_PATH=$SIM SIMCUDA_LOG=$T/$name.simlog "$GPUBPF" record -q --returns 1 -o "$T/$name.gpubpf" "$@" \
		>"$T/$name.out" 2>"$T/$name.err"
}

check_truth() # TEST CAPTURE: every call of the log is in the capture, with its thread, depth and result
{
	local out
	if out=$("$TRUTH" log "$T/$2.gpubpf" "$T/$2.simlog" 2>&1); then
		ok "$1"
	else
		not_ok "$1" "$out"
	fi
}

# One number out of inspect --json.
inspect() # CAPTURE JQ-EXPRESSION
{
	"$GPUBPF" inspect --json --apis "$T/$1.gpubpf" | jq -r "$2"
}

report() # CAPTURE JQ-EXPRESSION
{
	"$GPUBPF" report --json "$T/$1.gpubpf" | jq -r "$2"
}

make_scene() # NAME: the capture $T/NAME that lines on standard input describe
{
	"$B/tests/tools/mkscene" "$T/$1" || exit 1
}

wait_for() # SECONDS COMMAND…: until it succeeds
{
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.02
	done
}
