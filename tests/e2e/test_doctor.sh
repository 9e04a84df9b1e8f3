#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `gpubpf doctor` on this machine: the shape of its lines, its exit status, a target, and that each piece of
# advice names a command that exists (R20).
. tests/e2e/lib.sh

every_line_has_a_state_and_a_lack_has_advice()
{
	local bad=() line
	"$GPUBPF" doctor >"$T/out" 2>"$T/err" </dev/null
	[ -s "$T/err" ] && bad+=("stderr: $(head -n 1 "$T/err")")
	[ "$(grep -cE '^(ok|missing|degraded) ' "$T/out")" -ge 8 ] || bad+=('fewer than eight lines')
	while IFS= read -r line; do
		[[ $line =~ ^(ok|missing|degraded)\ +[a-z0-9-]+\ +[^\ ] ]] || bad+=("odd line: $line")
		[[ $line == missing* && $line != *' — '* ]] && bad+=("no advice: $line")
	done < <(sed '/^$/,$d' "$T/out")
	tail -n 1 "$T/out" | grep -qE '`gpubpf record` (can|cannot) work here' || bad+=('no last word')
	grep -q $'\033' "$T/out" && bad+=('escape sequences into a file')
	result "$1" "${bad[@]}"
}

status_says_if_record_can_work()
{
	local bad=() status can
	"$GPUBPF" doctor >"$T/out" 2>/dev/null </dev/null
	status=$?
	grep -q 'record` can work here' "$T/out" && can=0 || can=1
	[ "$status" = "$can" ] || bad+=("status $status, and it says: $(tail -n 1 "$T/out")")
	result "$1" "${bad[@]}"
}

without_rights_it_fails_in_plain_words()
{
	local bad=() status
	[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || {
		echo "skip $1: root and setpriv (package util-linux)"
		return
	}
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$GPUBPF" doctor \
		>"$T/out" 2>"$T/err" </dev/null
	status=$?
	if [ "$status" -gt 1 ]; then
		echo "skip $1: user 65534 cannot run the program where it stands"
		return
	fi
	[ "$status" = 1 ] || bad+=("status $status")
	grep -qE '^missing +rights .* — run it as root' "$T/out" || bad+=("rights: $(grep ' rights ' "$T/out")")
	tail -n 1 "$T/out" | grep -q 'cannot work here; missing: .*rights' || bad+=("$(tail -n 1 "$T/out")")
	result "$1" "${bad[@]}"
}

json_agrees_with_the_text()
{
	local bad=()
	command -v jq >/dev/null || {
		echo "skip $1: jq"
		return
	}
	"$GPUBPF" doctor >"$T/text" 2>/dev/null </dev/null
	"$GPUBPF" doctor --json >"$T/json" 2>"$T/err" </dev/null
	jq -e . "$T/json" >/dev/null || bad+=('not JSON')
	# Other processes come and go between the two runs, and with them the libcuda that they have mapped.
	jq -r '.checks[] | select(.check != "libcuda") | "\(.state) \(.check)"' "$T/json" >"$T/a"
	sed '/^$/,$d' "$T/text" | awk '$2 != "libcuda" { print $1, $2 }' >"$T/b"
	diff "$T/a" "$T/b" >"$T/diff" || bad+=("$(cat "$T/diff")")
	[ "$(jq .can_record "$T/json")" = "$(grep -q 'can work' "$T/text" && echo true || echo false)" ] || bad+=('can_record differs')
	jq -e 'all(.checks[]; .advice != null or .state != "missing")' "$T/json" >/dev/null || bad+=('a lack without advice')
	result "$1" "${bad[@]}"
}

# R20: the gpubpf commands in quotes take the options they are shown with.
R20_advice_names_what_exists()
{
	local bad=() name=$1 words word
	"$GPUBPF" doctor -p $$ >"$T/out" 2>/dev/null </dev/null
	"$GPUBPF" help doctor >>"$T/out"
	while read -r words; do
		# shellcheck disable=SC2086
		set -- $words
		"$GPUBPF" "$2" --help >"$T/help" 2>&1 || bad+=("$words: no such command")
		for word in "${@:3}"; do
			case $word in -*) grep -qE -e "(^|[ ,])$word([ ,=]|\$)" "$T/help" || bad+=("$words: no option $word") ;; esac
		done
	done < <(grep -oE '`gpubpf [^`]*`' "$T/out" | tr -d '`' | sort -u)
	result "$name" "${bad[@]}"
}

targets()
{
	local bad=() pid status
	sleep 50 &
	pid=$!
	"$GPUBPF" doctor -p $pid >"$T/out" 2>&1 </dev/null
	grep -qE "^ok +process +$pid \(sleep\)" "$T/out" || bad+=("process: $(grep -w process "$T/out" | head -n 1)")
	grep -qE '^ok +executable +/' "$T/out" || bad+=('no executable')
	grep -qE '^(ok|missing|degraded) +its-libcuda' "$T/out" || bad+=('nothing about libcuda')
	kill $pid
	wait $pid 2>/dev/null
	"$GPUBPF" doctor -p $pid >"$T/out" 2>&1 </dev/null
	status=$?
	[ $status = 1 ] || bad+=("a process that is gone: status $status")
	grep -qE "^missing +process +there is no process $pid" "$T/out" || bad+=('a process that is gone is not named')
	for pid in 0 -1 abc 99999999999 ''; do
		"$GPUBPF" doctor -p "$pid" >/dev/null 2>&1 </dev/null
		[ $? = 2 ] || bad+=("-p '$pid': not 2")
	done
	"$GPUBPF" doctor extra >/dev/null 2>&1 </dev/null
	[ $? = 2 ] || bad+=('an operand: not 2')
	result "$1" "${bad[@]}"
}

static_target()
{
	local bad=() pid
	printf 'int main(void) { for (;;) __builtin_ia32_pause(); }\n' | sed 's/__builtin_ia32_pause()/__asm__ volatile("" ::: "memory")/' >"$T/s.c"
	${CC:-cc} -static -o "$T/static" "$T/s.c" 2>/dev/null || {
		echo "skip $1: a compiler that links statically"
		return
	}
	"$T/static" &
	pid=$!
	"$GPUBPF" doctor -p $pid >"$T/out" 2>&1 </dev/null
	grep -qE '^degraded +executable +.*statically linked' "$T/out" || bad+=("$(grep -w executable "$T/out")")
	kill $pid
	wait $pid 2>/dev/null
	result "$1" "${bad[@]}"
}

# The simulated libcuda stands for the driver's: found by LD_LIBRARY_PATH, its entry points counted.
finds_libcuda()
{
	local bad=()
	[ -e "$SIM/libcuda.so.1" ] || {
		echo "skip $1: the simulated CUDA stack"
		return
	}
	LD_LIBRARY_PATH=$SIM "$GPUBPF" doctor >"$T/out" 2>&1 </dev/null
	grep -E "^(ok|degraded) +libcuda +$SIM/libcuda.so" "$T/out" | grep -qE ': [1-9][0-9]* entry points' ||
		bad+=("$(grep -w libcuda "$T/out")")
	result "$1" "${bad[@]}"
}

for t in every_line_has_a_state_and_a_lack_has_advice status_says_if_record_can_work without_rights_it_fails_in_plain_words \
	json_agrees_with_the_text R20_advice_names_what_exists targets static_target finds_libcuda; do
	$t $t
done
