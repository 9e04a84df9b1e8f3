#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The program as a user types it: help, version, usage errors, man pages and completions made from the tables.
. tests/e2e/lib.sh

# expect STATUS NAME COMMAND…: runs the command, keeps its output in $T/out and $T/err.
expect()
{
	local want=$1 name=$2 got
	shift 2
	"$@" >"$T/out" 2>"$T/err" </dev/null
	got=$?
	if [ "$got" != "$want" ]; then
		not_ok "$name" "$*: status $got, not $want"$'\n'"$(head -n 5 "$T/err")"
		return 1
	fi
}

mapfile -t verbs < <("$GPUBPF" --man | grep -vx gpubpf)

help_lists_every_command()
{
	local bad=() v
	expect 0 "$1" "$GPUBPF" --help || return
	[ -s "$T/err" ] && bad+=('help writes to stderr')
	[ ${#verbs[@]} -ge 4 ] || bad+=("only ${#verbs[@]} commands")
	for v in "${verbs[@]}"; do
		grep -q "^  $v " "$T/out" || bad+=("$v is missing")
	done
	"$GPUBPF" help >"$T/out2" 2>&1
	cmp -s "$T/out" "$T/out2" || bad+=('`gpubpf help` differs from `gpubpf --help`')
	result "$1" "${bad[@]}"
}

every_command_has_help()
{
	local bad=() v long
	for v in "${verbs[@]}"; do
		"$GPUBPF" "$v" --help >"$T/a" 2>"$T/err" </dev/null || bad+=("$v --help: status $?")
		[ -s "$T/err" ] && bad+=("$v --help writes to stderr")
		"$GPUBPF" "$v" -h >"$T/b" 2>/dev/null </dev/null
		"$GPUBPF" help "$v" >"$T/c" 2>/dev/null </dev/null
		cmp -s "$T/a" "$T/b" && cmp -s "$T/a" "$T/c" || bad+=("$v: --help, -h and help $v differ")
		grep -q "^Usage: gpubpf $v" "$T/a" || bad+=("$v: no usage line")
		long=$(LC_ALL=C.UTF-8 awk 'length($0) > 80 && !/^ *gpubpf / && !/^Usage:/ { print; exit }' "$T/a")
		[ -z "$long" ] || bad+=("$v: a line of more than 80 columns: $long")
	done
	result "$1" "${bad[@]}"
}

version()
{
	local bad=()
	expect 0 "$1" "$GPUBPF" --version || return
	grep -qxE 'gpubpf [0-9]+\.[0-9]+\.[0-9]+' "$T/out" || bad+=("it says: $(cat "$T/out")")
	result "$1" "${bad[@]}"
}

usage_errors_end_with_2()
{
	local bad=() v

	"$GPUBPF" >"$T/out" 2>"$T/err"
	[ $? = 2 ] && [ ! -s "$T/out" ] && [ -s "$T/err" ] || bad+=('no command at all')
	"$GPUBPF" recrod >"$T/out" 2>"$T/err"
	[ $? = 2 ] || bad+=('unknown command: not 2')
	grep -q "did you mean 'gpubpf record'" "$T/err" || bad+=("the nearest name is not offered: $(cat "$T/err")")
	"$GPUBPF" help recrod >/dev/null 2>&1
	[ $? = 2 ] || bad+=('help of an unknown command: not 2')
	"$GPUBPF" --man recrod >/dev/null 2>&1
	[ $? = 2 ] || bad+=('man page of an unknown command: not 2')
	"$GPUBPF" --completion tcsh >/dev/null 2>&1
	[ $? = 2 ] || bad+=('completion of an unknown shell: not 2')
	for v in "${verbs[@]}"; do
		"$GPUBPF" "$v" --no-such-option >"$T/out" 2>"$T/err" </dev/null
		[ $? = 2 ] || bad+=("$v --no-such-option: not 2")
		[ ! -s "$T/out" ] || bad+=("$v --no-such-option writes to stdout")
		grep -q "gpubpf $v --help" "$T/err" || bad+=("$v: no word of its help: $(cat "$T/err")")
	done
	result "$1" "${bad[@]}"
}

full_disk_is_a_failure()
{
	local bad=()
	"$GPUBPF" --help >/dev/full 2>"$T/err"
	[ $? = 1 ] || bad+=('status is not 1')
	grep -q 'standard output' "$T/err" || bad+=('nothing is said')
	result "$1" "${bad[@]}"
}

man_pages_render_without_warnings()
{
	local bad=() v page
	command -v groff >/dev/null || {
		echo "skip $1: groff (package groff-base)"
		return
	}
	for v in gpubpf "${verbs[@]}"; do
		"$GPUBPF" --man "$v" >"$T/page.1" || bad+=("--man $v failed")
		groff -man -Tutf8 -wall -b "$T/page.1" >"$T/out" 2>"$T/err"
		[ -s "$T/err" ] && bad+=("$v: $(head -n 2 "$T/err")")
		for page in NAME SYNOPSIS DESCRIPTION OPTIONS; do
			sed 's/\x1b\[[0-9;]*m//g; s/.\x08//g' "$T/out" | grep -qx "$page" || bad+=("$v: no $page")
		done
	done
	result "$1" "${bad[@]}"
}

man_page_has_every_option_of_the_help()
{
	local bad=() v option
	for v in "${verbs[@]}"; do
		"$GPUBPF" --man "$v" | sed 's/\\-/-/g' >"$T/page"
		while read -r option; do
			grep -qF -e "\\fB$option\\fR" "$T/page" || bad+=("$v: $option is not in the man page")
		done < <("$GPUBPF" "$v" --help | sed -n 's/^  \(-.,\|   \) \(--[a-z0-9-]*\).*/\2/p')
	done
	result "$1" "${bad[@]}"
}

# Types a command line and asks for what bash would offer.
bash_offers()
{
	bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpubpf; printf "%s\n" "${COMPREPLY[@]}"' \
		- "$T/complete.bash" "$@"
}

bash_completion_works()
{
	local bad=()
	"$GPUBPF" --completion bash >"$T/complete.bash" || bad+=('not printed')
	bash -n "$T/complete.bash" 2>"$T/err" || bad+=("syntax: $(cat "$T/err")")
	bash_offers gpubpf rec | grep -qx record || bad+=('rec does not become record')
	bash_offers gpubpf doctor --js | grep -qx -- --json || bad+=('doctor --js does not become --json')
	bash_offers gpubpf doctor -p "$$" | grep -qx "$$" || bad+=('-p offers no process')
	bash_offers gpubpf help insp | grep -qx inspect || bad+=('help insp does not become inspect')
	bash_offers gpubpf record -- ca | grep -qx cat || bad+=('behind -- no command is offered')
	touch "$T/x.capture"
	bash_offers gpubpf report "$T/x" | grep -qx "$T/x.capture" || bad+=('report offers no file')
	result "$1" "${bad[@]}"
}

other_completions_parse()
{
	local shell check
	for shell in zsh fish; do
		"$GPUBPF" --completion $shell >"$T/complete.$shell"
		check="$shell -n"
		if ! command -v $shell >/dev/null; then
			echo "skip $1_$shell: $shell"
		elif $check "$T/complete.$shell" 2>"$T/err"; then
			ok "$1_$shell"
		else
			result "$1_$shell" "$(cat "$T/err")"
		fi
	done
}

for t in help_lists_every_command every_command_has_help version usage_errors_end_with_2 full_disk_is_a_failure \
	man_pages_render_without_warnings man_page_has_every_option_of_the_help bash_completion_works \
	other_completions_parse; do
	$t $t
done
