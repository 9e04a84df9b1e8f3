#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `gpubpf export --format pprof` and `folded`: read back by others' rules, held against the report of the same capture.
. tests/e2e/lib.sh

golden=tests/e2e/golden
export=("$GPUBPF" export)

{ echo 'wall 1700000000000000000'; cat "$golden/device.scene"; } | make_scene scene
make_scene host <"$golden/report.scene"
{ echo alone; cat "$golden/device.scene"; } | make_scene alone

# profile NAME [ARG …]: the capture's profile as JSON in $T/NAME.json; what is wrong with it is added to `bad`
profile()
{
	local name=$1 wrong
	shift
	"${export[@]}" --format pprof "$@" -o "$T/$name.pb.gz" "$T/$name" 2>"$T/err" || bad+=("$name: $(cat "$T/err")")
	wrong=$(python3 tests/tools/pprof.py "$T/$name.pb.gz" 2>&1 >"$T/$name.json") || bad+=("$name: $wrong")
}

is() # NAME JQ-EXPRESSION VALUE
{
	local got
	got=$(jq -c "$2" "$T/$1.json" 2>&1)
	[ "$got" = "$3" ] || bad+=("$1: $2 is $got, not $3")
}

total()
{
	echo "[.samples[].values.$1] | add"
}

reported() # NAME JQ-EXPRESSION over the sections of the report
{
	"$GPUBPF" report --json "$T/$1" | jq "$2"
}

ran='[.sections | .kernels, .device_copies, .device_sets | .rows[]]'
# not where no calls were recorded: then they are not in the report either
called='[.sections | .launches, .graphs | .rows[] | .launches + .captured + .failed + .in_flight] | add'

pprof_totals_are_those_of_the_report()
{
	local bad=() name
	for name in "$@"; do
		profile "$name"
		is "$name" "$(total gpu_time)" "$(reported "$name" "$ran | map(.gpu_ns // 0) | add")"
		is "$name" "$(total executions)" \
			"$(reported "$name" "[.sections | (.kernels.rows[] | .launches + .graph_nodes), .device_copies.rows[].copies, .device_sets.rows[].sets] | add")"
		is "$name" "$(total bytes)" "$(reported "$name" "$ran | map(.bytes // 0) | add")"
		[ "$name" = alone ] || is "$name" "$(total launches)" "$(reported "$name" "$called")"
	done
	result pprof_totals_are_those_of_the_report "${bad[@]}"
}

pprof_says_what_it_is()
{
	local bad=()
	profile scene
	is scene .types '[["gpu_time","nanoseconds"],["executions","count"],["launches","count"],["launch_delay","nanoseconds"],["bytes","bytes"]]'
	is scene .default '"gpu_time"'
	is scene .time_nanos '"1700000000000000000"'
	is scene .duration_nanos "$("$GPUBPF" inspect --json "$T/scene" | jq '.footer.end_ns - 1000000')"
	is scene '.comments[0] | startswith("verdict: incomplete: ")' true
	is scene '[.comments[] | select(test("^capture: [0-9a-f]{32}$"))] | length' 1
	is scene '[.comments[] | select(startswith("absent: 1 executions have no duration"))] | length' 1
	is scene '.mappings[0]' '"./scene"'
	result pprof_says_what_it_is_R22_R23_R47 "${bad[@]}"
}

pprof_stacks_and_labels()
{
	local bad=() q='.samples[] | select(.labels.grid == "1024x1x1")'
	profile scene
	is scene "$q | .stack" '["thread 100","cuLaunchKernel","axpy(int, float, float const*, float*)"]'
	is scene "$q | .values" '{"gpu_time":1000000,"executions":1,"launches":1,"launch_delay":5000,"bytes":0}'
	is scene "$q | .labels | [.process, .thread, .device, .stream, .block, .link, .timing, .timing_source]" \
		'["process (100)","100","0","7","128x1x1","joined","valid","cupti_timestamp_callback"]'
	is scene '.samples[] | select(.stack == ["thread 100", "cuGraphLaunch"]) | .values | [.launches, .executions]' '[2,0]'
	is scene '.samples[] | select(.labels.link == "orphan") | .stack' \
		'["<no call: orphan>","axpy(int, float, float const*, float*)"]'
	is scene '[.samples[] | select(.labels.delay == "started_before_call") | .values.launch_delay]' '[0]'
	is scene '.samples[] | select(.labels.outcome == "failed") | [.labels.on_device, .values.gpu_time, .values.launches]' \
		'["failed",0,1]'
	result pprof_stacks_and_labels_R9_R18_R22 "${bad[@]}"
}

# A time that was not measured, one that is 0, and one that nobody could measure.
pprof_keeps_absent_zero_and_unmeasured_apart()
{
	local bad=()
	profile scene
	profile host
	is scene '[.samples[] | select(.labels.timing == "zero") | .values.gpu_time, .labels.grid]' '[0,"2x1x1"]'
	is scene '[.samples[] | select(.labels.timing == "valid" and .values.gpu_time == 0)] | length' 0
	is host .types '[["launches","count"]]'
	is host .default '"launches"'
	is host .time_nanos '"absent"'
	is host '[.samples[].labels.on_device] | unique - ["not_observed", "captured"]' '[]'
	is host '[.comments[] | select(startswith("absent: no "))] | length' 3
	profile alone
	is alone '[.comments[] | select(startswith("absent: no host observer"))] | length' 1
	is alone '[.samples[].stack[1]] | unique | map(select(startswith("cu")))' '[]'
	result pprof_keeps_absent_zero_and_unmeasured_apart_R14 "${bad[@]}"
}

profiles_are_the_same_again()
{
	local bad=() f
	cp "$T/scene" "$T/other-name"
	for f in pprof folded; do
		"${export[@]}" --format $f "$T/scene" >"$T/1" 2>/dev/null
		"${export[@]}" --format $f "$T/other-name" >"$T/2" 2>/dev/null
		[ -s "$T/1" ] && cmp -s "$T/1" "$T/2" || bad+=("$f")
	done
	"${export[@]}" --format pprof "$T/scene" 2>/dev/null | head -c 10 | od -An -tx1 | grep -q '1f 8b 08 00 00 00 00 00 00 ff' ||
		bad+=('the header of gzip holds a time or a system')
	result profiles_are_the_same_again_R43 "${bad[@]}"
}

pprof_by_protoc()
{
	command -v protoc >/dev/null || { echo 'skip pprof_by_protoc: protoc'; return; }
	local bad=() n
	"${export[@]}" --format pprof "$T/scene" 2>/dev/null | gzip -d |
		protoc -Iuser/export --decode gpubpf.pprof.Profile user/export/profile.proto >"$T/text" || bad+=('does not decode')
	n=$(grep -c '^sample {' "$T/text")
	is scene '.samples | length' "$n"
	grep -qE '^ *[0-9]+:' "$T/text" && bad+=('fields that the schema has not')
	result pprof_by_protoc "${bad[@]}"
}

# The reader that most people have.
pprof_by_pprof()
{
	local tool=()
	if command -v pprof >/dev/null; then
		tool=(pprof)
	elif go tool pprof -h 2>&1 | grep -q 'pprof'; then
		tool=(go tool pprof)
	else
		echo 'skip pprof_by_pprof: pprof, or go with its pprof'
		return
	fi
	"${export[@]}" --format pprof -o "$T/p" "$T/scene" 2>/dev/null
	check_has pprof_by_pprof 'axpy' "$("${tool[@]}" -top -sample_index=gpu_time "$T/p" 2>&1)"
}

sum()
{
	awk '{ s += $NF } END { printf "%d", s }'
}

folded_sums_are_those_of_the_report()
{
	local bad=() v want
	for v in gpu_ns:"$ran | map(.gpu_ns // 0) | add" bytes:"$ran | map(.bytes // 0) | add" launches:"$called"; do
		want=$(reported scene "${v#*:}")
		[ "$("${export[@]}" --format folded --value "${v%%:*}" "$T/scene" 2>/dev/null | sum)" = "$want" ] || bad+=("$v")
	done
	want=$(jq "$(total launch_delay)" "$T/scene.json")
	[ "$("${export[@]}" --format folded --value delay_ns "$T/scene" 2>/dev/null | sum)" = "$want" ] || bad+=(delay_ns)
	want=$(jq "$(total executions)" "$T/scene.json")
	[ "$("${export[@]}" --format folded --value executions "$T/scene" 2>/dev/null | sum)" = "$want" ] || bad+=(executions)
	"${export[@]}" --format folded "$T/scene" 2>/dev/null >"$T/folded"
	grep -qxF 'process (100);thread 101;cuLaunchKernel;reduce(float*) 240000' "$T/folded" || bad+=("$(cat "$T/folded")")
	grep -qxF 'process (100);thread 100;cuLaunchKernel;<unresolved 0x9> [not timed] 0' "$T/folded" || bad+=('not timed')
	[ "$(sed 's/ [0-9]*$//' "$T/folded" | sort | uniq -d)" = '' ] || bad+=('a stack twice')
	result folded_sums_are_those_of_the_report "${bad[@]}"
}

# Where the capture has them, the process's own functions stand between the thread and the call.
profiles_with_user_stacks()
{
	local bad=() way
	if "$GPUBPF" record --stacks=dwarf -o "$T/none" -p 1 -d 1ms 2>&1 | grep -q 'built without libdw'; then
		echo 'skip profiles_with_user_stacks: a gpubpf with libdw'
		return
	fi
	sim_record stacked --stacks=dwarf --stacks-every 1 -- "$SIM/demo" || { not_ok profiles_with_user_stacks "$(cat "$T/stacked.err")"; return; }
	mv "$T/stacked.gpubpf" "$T/stacked"
	"${export[@]}" --format folded "$T/stacked" >"$T/folded"
	for way in 'main;train;step;launch;cudaLaunchKernel;launch;cuLaunchKernel;forward_layer' \
		'start_thread;train;step;cudaGraphLaunch;cuGraphLaunch;backward_layer'; do
		grep -qE "^demo \([0-9]+\);thread [0-9]+;.*$way [0-9]+\$" "$T/folded" || bad+=("no $way")
	done
	[ "$(sum <"$T/folded")" = "$(reported stacked "$ran | map(.gpu_ns // 0) | add")" ] || bad+=('folded: the sum')
	profile stacked
	is stacked "$(total gpu_time)" "$(reported stacked "$ran | map(.gpu_ns // 0) | add")"
	is stacked "$(total launches)" "$(reported stacked "$called")"
	is stacked '[.samples[] | select(.labels.stack) | .stack | index("thread \(.)")] | unique' '[null]'
	is stacked '[.samples[] | select(.stack | index("main")) | .labels.stack] | unique' '["complete"]'
	is stacked '[.mappings[] | select(endswith("/libcudart.so.13"))] | length' 1
	is scene '[.comments[] | select(startswith("absent: no user stacks"))] | length' 1
	result profiles_with_user_stacks "${bad[@]}"
}

folded_names_are_escaped()
{
	local bad=()
	printf '%s\n' arm 'name 1 a;b c' $'name 2 \x1b[31m\xff' \
		'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' 'seen launch' 'ran kernel 1000 10 name 1 grid 1 block 32' \
		'wait 10000' 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' 'seen launch' \
		'ran kernel 1000 10 name 2 grid 1 block 32' 'wait 10000' disarm | make_scene odd
	"${export[@]}" --format folded "$T/odd" >"$T/folded" 2>/dev/null
	grep -qxF 'process (100);thread 100;cuLaunchKernel;a:b c 10' "$T/folded" || bad+=("$(cat -v "$T/folded")")
	grep -qxF 'process (100);thread 100;cuLaunchKernel;\x1b[31m\xff 10' "$T/folded" || bad+=('control characters')
	profile odd
	is odd '[.samples[].stack[-1]] | sort' '["\\x1b[31m\\xff","a;b c"]'
	result folded_names_are_escaped "${bad[@]}"
}

folded_refuses_what_nobody_measured()
{
	local bad=() out
	out=$("${export[@]}" --format folded "$T/host" 2>&1) && bad+=('status 0')
	[[ $out == *'nobody measured gpu_ns; `--value launches`'* ]] || bad+=("$out")
	"${export[@]}" --format folded --value launches "$T/host" 2>/dev/null | grep -q ';cuLaunchKernel;' || bad+=(launches)
	"${export[@]}" --format folded --value gpu "$T/host" >/dev/null 2>&1
	[ $? = 2 ] || bad+=('a value that does not exist')
	"${export[@]}" --format pprof --value bytes "$T/host" >/dev/null 2>&1
	[ $? = 2 ] || bad+=('--value with pprof')
	result folded_refuses_what_nobody_measured_R14 "${bad[@]}"
}

# Cut at many places, and with bytes changed: a profile or a message, never a crash.
profiles_of_hostile_captures()
{
	local bad=() n size status f program=$GPUBPF
	[ -x "$B/asan/gpubpf" ] && program=$B/asan/gpubpf
	size=$(stat -c %s "$T/scene")
	for ((n = 0; n < 40; n++)); do
		cp "$T/scene" "$T/hostile"
		if [ $((n % 2)) = 0 ]; then
			truncate -s $((size * n / 40)) "$T/hostile"
		else
			for f in 1 2 3; do
				printf "\\x$(printf %x $((n * f * 37 % 256)))" |
					dd of="$T/hostile" bs=1 seek=$((size * n / 40 + f * 11)) conv=notrunc 2>/dev/null
			done
		fi
		for f in pprof folded; do
			"$program" export --format $f -o "$T/hostile.out" "$T/hostile" >/dev/null 2>"$T/err"
			status=$?
			[ $status -le 1 ] || bad+=("$n $f: status $status: $(head -n 3 "$T/err")")
			grep -qE 'AddressSanitizer|runtime error|LeakSanitizer' "$T/err" && bad+=("$n: $(grep -E 'ERROR|runtime error' "$T/err" | head -n 2)")
		done
	done
	result profiles_of_hostile_captures "${bad[@]}"
}

profiles_full_disk_and_closed_pipe()
{
	local bad=() f status
	for f in pprof folded; do
		"${export[@]}" --format $f "$T/scene" >/dev/full 2>"$T/err"
		[ $? = 1 ] || bad+=("$f: a full disk is no failure")
		grep -q 'No space left' "$T/err" || bad+=("$f: says $(cat "$T/err")")
		"${export[@]}" --format $f -o "$T/gone" "$T/scene" 2>/dev/null >"$T/err"
		{ "${export[@]}" --format $f "$T/scene" 2>"$T/err"; echo $? >"$T/status"; } | true
		status=$(cat "$T/status")
		[ "$status" -le 1 ] || bad+=("$f: closed pipe: status $status")
		grep -q 'standard output' "$T/err" && bad+=("$f: closed pipe: $(cat "$T/err")")
	done
	mkdir -p "$T/empty"
	"${export[@]}" --format pprof -o "$T/empty/p" "$T/missing" 2>/dev/null
	[ -z "$(ls "$T/empty")" ] || bad+=('something is left of a profile that failed')
	result profiles_full_disk_and_closed_pipe "${bad[@]}"
}

captures=(scene)
if [ -e "$SIM/libcuda.so.1" ] && [ "$(id -u)" = 0 ]; then
	if sim_record demo -- "$SIM/demo"; then
		mv "$T/demo.gpubpf" "$T/demo"
		captures+=(demo)
		stacks=1
	else
		not_ok profiles_of_a_recording "$(cat "$T/demo.err")"
	fi
else
	echo 'skip profiles_of_a_recording: root and the simulated stack'
fi
pprof_totals_are_those_of_the_report "${captures[@]}" alone
pprof_says_what_it_is
pprof_stacks_and_labels
pprof_keeps_absent_zero_and_unmeasured_apart
profiles_are_the_same_again
pprof_by_protoc
pprof_by_pprof
folded_sums_are_those_of_the_report
[ -z "${stacks:-}" ] || profiles_with_user_stacks
folded_names_are_escaped
folded_refuses_what_nobody_measured
profiles_of_hostile_captures
profiles_full_disk_and_closed_pipe
