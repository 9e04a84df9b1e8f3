#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 600
# `gpubpf timeline`: golden output, both formats against each other, nesting, rows, budgets, what is absent or wrong.
. tests/e2e/lib.sh

golden=tests/e2e/golden
scene=$B/tests/tools/mkscene
device=$B/tests/tools/mkdevice
timeline=("$GPUBPF" timeline -q)
read_trace() { python3 tests/e2e/trace_read.py "$@"; }

# is FILE EXPRESSION WANTED; adds to `bad`
is()
{
	local got
	got=$(read_trace "$1" "$2" 2>&1)
	[ "$got" = "$3" ] || bad+=("$2 is ${got:0:600}, not $3")
}

[ -x "$scene" ] || { printf 'skip timeline: %s\n' "$scene"; exit 0; }
"$scene" "$T/scene" <"$golden/device.scene" && "${timeline[@]}" "$T/scene" -o "$T/scene.pftrace" || {
	not_ok timeline_scene "status $?"
	exit 1
}

# What the file's size and the version change is not in the golden file.
read_trace "$T/scene.pftrace" >"$T/got"
[ "${GOLDEN_UPDATE:-}" ] && cp "$T/got" $golden/timeline.txt
if diff -u $golden/timeline.txt "$T/got" >"$T/diff"; then
	ok timeline_golden_R19_R22_R44_C25
else
	not_ok timeline_golden_R19_R22_R44_C25 "$(head -n 40 "$T/diff")"
fi

timeline_is_the_same_each_time()
{
	local bad=() f o
	for o in '' '--max-output-bytes 15000'; do
		for f in pftrace json pftrace.gz; do
			# shellcheck disable=SC2086
			"${timeline[@]}" $o "$T/scene" -o "$T/one.$f" && "${timeline[@]}" $o "$T/scene" -o "$T/two.$f"
			cmp -s "$T/one.$f" "$T/two.$f" || bad+=("$f $o")
			[ "$o" ] && cmp -s "$T/one.$f" "$T/scene.pftrace" && bad+=("$f: $o changes nothing")
		done
	done
	"${timeline[@]}" "$T/scene" -o "$T/one.gz" && gzip -dc "$T/one.gz" | cmp -s - "$T/scene.pftrace" || bad+=('gzip')
	"${timeline[@]}" "$T/scene" -o - | cmp -s - "$T/scene.pftrace" || bad+=('standard output')
	result timeline_is_the_same_each_time_R43 "${bad[@]}"
}
timeline_is_the_same_each_time

timeline_is_of_the_proto()
{
	local bad=() where=user/timeline
	command -v protoc >/dev/null || { echo 'skip timeline_is_of_the_proto: no protoc'; return; }
	protoc --decode=perfetto.protos.Trace -I$where $where/perfetto.proto <"$T/scene.pftrace" >"$T/decoded" || bad+=('decode')
	# what the description does not have is shown by its number
	grep -nE '^ *[0-9]+[:{ ]' "$T/decoded" | head -n 3 | grep . && bad+=('fields that are not in perfetto.proto')
	[ "$(grep -c '^packet' "$T/decoded")" = "$(read_trace "$T/scene.pftrace" 'len(packets)')" ] || bad+=('packets')
	result timeline_is_of_the_proto_R39 "${bad[@]}"
}
timeline_is_of_the_proto

timeline_chrome_says_the_same()
{
	local bad=()
	"${timeline[@]}" "$T/scene" -o "$T/scene.json"
	read_trace "$T/scene.pftrace" "[print(e['ts'], e['dur'], e['name'], e['cat'], sorted(e['args'].items())) for e in slices] and ''" |
		sed '/^$/d' | sort >"$T/slices.perfetto"
	python3 - "$T/scene.json" <<'EOF' | sort >"$T/slices.chrome" || bad+=('no JSON')
import json, sys
from decimal import Decimal
t = json.load(open(sys.argv[1]), parse_float=Decimal)
ns = lambda v: int(v * 1000)
for e in t["traceEvents"]:
    if e["ph"] == "X":
        print(ns(e["ts"]), ns(e["dur"]), e["name"], e["cat"], sorted(e["args"].items()))
EOF
	diff "$T/slices.perfetto" "$T/slices.chrome" >"$T/diff" || bad+=("$(head -n 5 "$T/diff")")
	[ "$(jq '[.traceEvents[] | select(.ph == "f")] | length' "$T/scene.json")" = "$(read_trace "$T/scene.pftrace" 'len(flows)')" ] ||
		bad+=('arrows')
	[ "$(jq '[.traceEvents[] | select(.ph == "C")] | length' "$T/scene.json")" = "$(read_trace "$T/scene.pftrace" 'len(samples)')" ] ||
		bad+=('counters')
	result timeline_chrome_says_the_same "${bad[@]}"
}
timeline_chrome_says_the_same

# Both of two kernels that overlap in one stream are there, each with its own length, and their overlap is kept.
timeline_keeps_overlap()
{
	local bad=() on="[(e['ts'], e['dur']) for e in by('gpu_slice') if 'stream 8' in e['track']]"
	is "$T/scene.pftrace" "sorted($on)" '[(3811100, 80000), (3868600, 80000), (4010100, 80000)]'
	is "$T/scene.pftrace" "len(set(e['uuid'] for e in by('gpu_slice') if 'stream 8' in e['track']))" 2
	printf '%s\n' arm 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' 'seen launch' 'ran kernel 2000 1000' \
		'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' 'seen launch' 'ran kernel 1500 1000' 'wait 10000' disarm |
		"$scene" "$T/adjacent"
	"${timeline[@]}" "$T/adjacent" -o "$T/adjacent.pftrace"
	is "$T/adjacent.pftrace" "[e['dur'] for e in by('gpu_slice')], len(set(e['track'] for e in by('gpu_slice')))" '([1000, 1000], 1)'
	result timeline_keeps_overlap_C25 "${bad[@]}"
}
timeline_keeps_overlap

timeline_nests_calls()
{
	local bad=()
	# the record of an inner call comes before that of its outer one; the innermost two begin and end at one moment
	"$scene" "$T/nested" <<'EOF'
depth 2
took 1000
cuStreamQuery 0
back 1500
depth 1
took 1000
cuMemcpyHtoD_v2 0x1000 0x2000 64
back 2000
depth 0
took 3000
cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0
took 1000
cuCtxSynchronize
EOF
	"${timeline[@]}" "$T/nested" -o "$T/nested.pftrace"
	is "$T/nested.pftrace" "bad, [(e['name'], e['depth'], e['dur']) for e in slices], len(set(e['uuid'] for e in slices))" \
		"([], [('cuLaunchKernel', 0, 3000), ('cuMemcpyHtoD_v2', 1, 1000), ('cuStreamQuery', 2, 1000), ('cuCtxSynchronize', 0, 1000)], 1)"
	result timeline_nests_calls "${bad[@]}"
}
timeline_nests_calls

timeline_untimed()
{
	local bad=()
	printf '%s\n' 'took entry' 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' 'took open' 'cuCtxSynchronize' |
		"$scene" "$T/untimed"
	"${timeline[@]}" "$T/untimed" -o "$T/untimed.pftrace"
	is "$T/untimed.pftrace" "[(e['name'], e['args']['timing_quality'], 'result' in e['args']) for e in instants if e['cat'] == 'call']" \
		"[('cuLaunchKernel', 'entry alone was recorded', False)]"
	is "$T/untimed.pftrace" "[(e['name'], e['dur'], 'result' in e['args']) for e in slices]" "[('cuCtxSynchronize', None, False)]"
	is "$T/scene.pftrace" "[e['args']['timing_quality'] for e in instants if e['cat'] == 'gpu_slice']" \
		"['device time unavailable: both ends are 0']"
	result timeline_untimed_R14_R19 "${bad[@]}"
}
timeline_untimed

timeline_clocks()
{
	local bad=()
	"$B/tests/tools/mkcapture" --calls 200 "$T/host" >/dev/null
	"${timeline[@]}" "$T/host" -o "$T/host.pftrace"
	is "$T/host.pftrace" 'primary, clocks' '(1, [{3: 1000000000000, 1: 1760000000000000000}])'
	is "$T/scene.pftrace" 'primary, clocks' '(3, [{3: 1000000}])'
	is "$T/scene.pftrace" "'absent_wall_clock' in instants[0]['args'] or any('absent_wall_clock' in e['args'] for e in instants)" True
	is "$T/host.pftrace" "any('absent_wall_clock' in e['args'] for e in instants)" False
	# two captures in one viewer do not share tracks
	is "$T/host.pftrace" "len(set(tracks) & set(eval(open('$T/uuids', 'a+').read() or '[]')))" 0
	read_trace "$T/scene.pftrace" 'list(tracks)' >"$T/uuids"
	is "$T/host.pftrace" "len(set(tracks) & set(eval(open('$T/uuids').read())))" 0
	result timeline_clocks_R23_R46 "${bad[@]}"
}
timeline_clocks

# A wall clock that was set back: the viewer would refuse the pair, and show all behind it at its monotonic time.
timeline_wall_clock_set_back()
{
	local bad=()
	printf '%s\n' 'wall 1760000000000000000' 'wait 1000' 'wall 1760000000000001000' cuCtxSynchronize 'wait 1000' 'wall 1759999999999000000' \
		cuCtxSynchronize 'wait 1000' 'wall 1759999999999001000' 'wait 5000000' 'wall 1760000000004002500' | "$scene" "$T/back"
	"${timeline[@]}" "$T/back" -o "$T/back.pftrace"
	is "$T/back.pftrace" '[c[1] - 1760000000000000000 for c in clocks], primary' '([0, 1000, 4002500], 1)'
	is "$T/back.pftrace" 'all(a[k] < b[k] for a, b in zip(clocks, clocks[1:]) for k in a)' True
	result timeline_wall_clock_set_back_R46 "${bad[@]}"
}
timeline_wall_clock_set_back

timeline_manifest()
{
	local bad=() m="[e for e in instants if e['name'] == 'manifest'][0]['args']"
	is "$T/scene.pftrace" "$m['schema'], $m['kernels'], $m['copies'], $m['sets'], $m['calls']" "('gpubpf.timeline.1', 13, 7, 3, 25)"
	is "$T/scene.pftrace" "$m['gpu_slice_events'] == len(by('gpu_slice')) == 23" True
	is "$T/scene.pftrace" "$m['calls_events'] == len(by('call')), $m['counter_events'] == len(samples)" '(True, True)'
	is "$T/scene.pftrace" "$m['absent_latency'][:12], 'absent_device_observer' in $m" "('not recorded', False)"
	is "$T/host.pftrace" "'absent_device_observer' in $m, 'kernels' in $m" '(True, False)'
	is "$T/host.pftrace" "len(by('gpu_slice')), len([e for e in by('call')]) == $m['calls']" '(0, True)'
	# nothing of it is from the file's name
	cp "$T/scene" "$T/other name" && "${timeline[@]}" "$T/other name" -o "$T/other.pftrace"
	cmp -s "$T/other.pftrace" "$T/scene.pftrace" || bad+=('the name of the file matters')
	result timeline_manifest_R47 "${bad[@]}"
}
timeline_manifest

timeline_memory()
{
	local bad=()
	is "$T/host.pftrace" "all(e['value'] >= 0 for e in samples) and any('Allocated by calls' in e['track'] for e in samples)" True
	result timeline_memory_R13 "${bad[@]}"
}
timeline_memory

# ---- Sizes ----

"$device" --calls 2000 --zero 1000 --early 777 "$T/dev" >/dev/null
"${timeline[@]}" "$T/dev" -o "$T/dev.pftrace"

timeline_budget()
{
	local bad=() n size full tracks receipt="{e['name'][14:]: e['args'] for e in instants if e['name'].startswith('loss receipt')}"
	full=$(stat -c %s "$T/dev.pftrace")
	tracks=$(read_trace "$T/dev.pftrace" 'len(order) + 1')
	for n in 16000 250000 $((full - 1)) $((full + 5000)); do
		"${timeline[@]}" --max-output-bytes "$n" "$T/dev" -o "$T/b.pftrace" 2>/dev/null || bad+=("$n: status $?")
		size=$(stat -c %s "$T/b.pftrace")
		[ "$size" -le "$n" ] || bad+=("$n: $size bytes")
		# whole groups: no call without what ran for it, and the other way round
		is "$T/b.pftrace" "bad, [c for c, a in $receipt.items() if a['considered'] != a['retained'] + a['dropped'] or
			a['considered_bytes'] != a['retained_bytes'] + a['dropped_bytes'] or ('first_dropped' in a) != (a['dropped'] > 0)],
			$receipt['call']['retained'] == len(by('call')), $receipt['gpu_slice']['retained'] == len(by('gpu_slice')),
			$receipt['counter']['retained'] == len(samples), $receipt['gpu_slice']['considered'],
			sum(e['args'].get('executions', 0) for e in by('call')) == len(by('gpu_slice')), len(order)" \
			"([], [], True, True, True, 2000, True, $tracks)"
	done
	is "$T/b.pftrace" "[a['dropped'] for a in $receipt.values()]" '[0, 0, 0, 0, 0, 0]'
	"${timeline[@]}" --max-output-bytes 250000 "$T/dev" -o "$T/b.pftrace"
	is "$T/b.pftrace" "700 < len(by('call')) < 1100 and max(e['ts'] for e in by('call')) > 1000001900000 > 1000000100000 > min(e['ts'] for e in by('call'))" True
	is "$T/b.pftrace" "$receipt['call']['first_dropped'].startswith('process 1000, thread 100')" True
	result timeline_budget_R40_R41 "${bad[@]}"
}
timeline_budget

timeline_drops_duplicates_first()
{
	local bad=() full receipt="[e['args']['dropped'] for e in instants if e['name'].startswith('loss receipt')]"
	{
		echo arm
		for _ in {1..50}; do
			printf '%s\n' 'cuGraphLaunch 0x6000 0x70' 'seen graph' 'ran kernel 6000 10000 graph 3 node 1' \
				'ran kernel 17000 3000 graph 3 node 2' 'wait 50000'
		done
		echo disarm
	} | "$scene" "$T/graphs"
	"${timeline[@]}" --max-output-bytes 1M "$T/graphs" -o "$T/b.pftrace"
	full=$(stat -c %s "$T/b.pftrace")
	"${timeline[@]}" --max-output-bytes "$full" "$T/graphs" -o "$T/b2.pftrace"
	is "$T/b2.pftrace" "$receipt[5], sum($receipt), len(by('presentation'))" '(0, 0, 50)'
	"${timeline[@]}" --max-output-bytes $((full - 200)) "$T/graphs" -o "$T/b.pftrace"
	is "$T/b.pftrace" "$receipt[5], sum($receipt), len(by('presentation'))" '(50, 50, 0)'
	is "$T/b.pftrace" "[e['args'].get('left_out', '')[:13] for e in instants if e['name'] == 'manifest']" "['presentation:']"
	result timeline_drops_duplicates_first_R45 "${bad[@]}"
}
timeline_drops_duplicates_first

timeline_refuses_what_cannot_fit()
{
	local bad=()
	rm -f "$T/none"
	"${timeline[@]}" --max-output-bytes 5000 "$T/dev" -o "$T/none" 2>"$T/err" && bad+=('5000 bytes')
	grep -q 'too few.*nothing was written' "$T/err" || bad+=("$(cat "$T/err")")
	ls "$T"/none* >/dev/null 2>&1 && bad+=('something was written')
	"${timeline[@]}" --max-output-bytes "$(sed 's/.*alone take \([0-9]*\);.*/\1/' "$T/err")" "$T/dev" -o "$T/none" 2>"$T/err" ||
		bad+=('what it says it needs')
	grep -q 'warning: none of the 2000 executions' "$T/err" || bad+=("no warning: $(cat "$T/err")")
	result timeline_refuses_what_cannot_fit_R40_R48 "${bad[@]}"
}
timeline_refuses_what_cannot_fit

timeline_says_its_size()
{
	local bad=()
	"$GPUBPF" timeline "$T/dev" -o "$T/said" 2>&1 | grep -q '3,998 slices' || bad+=('slices')
	result timeline_says_its_size "${bad[@]}"
}
timeline_says_its_size

# ---- What goes wrong ----

timeline_full_disk_and_closed_pipe()
{
	local bad=() status
	"${timeline[@]}" "$T/dev" -o /dev/full 2>"$T/err" && bad+=('/dev/full')
	grep -q 'No space left' "$T/err" || bad+=("says: $(cat "$T/err")")
	rm -f "$T/small"
	(ulimit -f 100 && "${timeline[@]}" "$T/dev" -o "$T/small") 2>"$T/err" && bad+=('a limit on the size of files')
	grep -q 'File too large' "$T/err" || bad+=("says: $(cat "$T/err")")
	ls "$T"/small* >/dev/null 2>&1 && bad+=('something is left')
	echo before >"$T/kept"
	(ulimit -f 100 && "${timeline[@]}" "$T/dev" -o "$T/kept") 2>/dev/null
	[ "$(cat "$T/kept")" = before ] || bad+=('the file of that name is gone')
	"${timeline[@]}" "$T/dev" -o - 2>"$T/err" | head -c 100 >/dev/null
	status=${PIPESTATUS[0]}
	[ "$status" = 1 ] && [ ! -s "$T/err" ] || bad+=("closed pipe: status $status, $(cat "$T/err")")
	"${timeline[@]}" "$T/dev" -o "$T/no/such/folder" 2>"$T/err" && bad+=('no folder')
	grep -q 'No such file' "$T/err" || bad+=("says: $(cat "$T/err")")
	result timeline_full_disk_and_closed_pipe "${bad[@]}"
}
timeline_full_disk_and_closed_pipe

timeline_odd_captures()
{
	local bad=() n size o
	size=$(stat -c %s "$T/scene")
	for n in 0 10 100 $((size / 3)) $((size / 2)) $((size - 100)) $((size - 1)); do
		head -c "$n" "$T/scene" >"$T/cut"
		"${timeline[@]}" "$T/cut" -o "$T/cut.pftrace" 2>"$T/err"
		case $? in
		0) is "$T/cut.pftrace" 'bad' '[]' ;;
		1) [ -s "$T/err" ] || bad+=("cut at $n: no message") ;;
		*) bad+=("cut at $n: status") ;;
		esac
	done
	for o in '--zero 1' '--early 3' '--drop 7 --gap 5' '--silent' '--fail 3' '--alone' '--bare' '--unmeasured --threads 3 --processes 2'; do
		# shellcheck disable=SC2086
		"$device" --calls 500 $o "$T/odd" >/dev/null && "${timeline[@]}" "$T/odd" -o "$T/odd.pftrace" 2>/dev/null ||
			bad+=("$o: status $?")
		is "$T/odd.pftrace" 'bad' '[]'
		"${timeline[@]}" "$T/odd" -o "$T/odd.json" 2>/dev/null && python3 -m json.tool "$T/odd.json" >/dev/null || bad+=("$o: JSON")
		"${timeline[@]}" --max-output-bytes 50k "$T/odd" -o "$T/odd.pftrace" 2>/dev/null || bad+=("$o: under a budget")
		is "$T/odd.pftrace" 'bad' '[]'
	done
	result timeline_odd_captures "${bad[@]}"
}
timeline_odd_captures

timeline_of_the_device_observer_alone()
{
	local bad=()
	"$device" --calls 500 --alone "$T/alone" >/dev/null && "${timeline[@]}" "$T/alone" -o "$T/alone.pftrace"
	is "$T/alone.pftrace" "len(by('call')), len(by('gpu_slice')), len(flows), by('call')[0]['args']['timing_source']" \
		"(500, 500, 500, 'cupti callback')"
	is "$T/alone.pftrace" "any('absent_host_observer' in e['args'] for e in instants)" True
	result timeline_of_the_device_observer_alone "${bad[@]}"
}
timeline_of_the_device_observer_alone

timeline_obeys_no_name()
{
	local bad=()
	printf '%s\n' arm $'name 1 a\033[2J,"b\\\377' 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' 'seen launch' \
		'ran kernel 2000 1000 name 1' 'wait 10000' disarm | "$scene" "$T/names"
	"${timeline[@]}" "$T/names" -o "$T/names.pftrace" && "${timeline[@]}" "$T/names" -o "$T/names.json"
	is "$T/names.pftrace" "[e['name'] for e in by('gpu_slice')]" "['a\\\\x1b[2J,\"b\\\\\\\\xff']"
	jq -r '.traceEvents[] | select(.cat == "gpu_slice") | .name' "$T/names.json" | grep -qF 'a\x1b[2J,"b\\xff' ||
		bad+=("$(jq -r '.traceEvents[] | select(.cat == "gpu_slice") | .name' "$T/names.json")")
	result timeline_obeys_no_name "${bad[@]}"
}
timeline_obeys_no_name

timeline_filters()
{
	local bad=()
	"${timeline[@]}" -p 200 "$T/scene" -o "$T/p.pftrace"
	is "$T/p.pftrace" "len(by('call')), len(by('gpu_slice')), [t for t in order if 'process 100' in t]" '(1, 1, [])'
	is "$T/p.pftrace" 'bad' '[]'
	"${timeline[@]}" -p 4711 "$T/scene" -o "$T/p" 2>/dev/null && bad+=('a process that is not there')
	result timeline_filters "${bad[@]}"
}
timeline_filters

timeline_usage()
{
	local bad=()
	"${timeline[@]}" "$T/scene" 2>"$T/err"
	[ $? = 2 ] && grep -q 'needs `-o OUT`' "$T/err" || bad+=('no -o')
	"${timeline[@]}" "$T/scene" -o "$T/x" --format xml 2>/dev/null
	[ $? = 2 ] || bad+=('a format that is none')
	"${timeline[@]}" --format chrome "$T/scene" -o "$T/x" && jq . "$T/x" >/dev/null || bad+=('--format chrome')
	"${timeline[@]}" "$T/absent" -o "$T/y" 2>/dev/null
	[ $? = 1 ] && [ ! -e "$T/y" ] || bad+=('no capture')
	result timeline_usage "${bad[@]}"
}
timeline_usage

# ---- The parts of a call's time, from a real recording of the simulated stack ----

timeline_latency()
{
	local bad=()
	sim_record lat --latency -- "$SIM/launchloop" --launches 50 || {
		echo "skip timeline_latency: $(tail -n 1 "$T/lat.err")"
		return
	}
	"${timeline[@]}" "$T/lat.gpubpf" -o "$T/lat.pftrace"
	is "$T/lat.pftrace" 'bad' '[]'
	is "$T/lat.pftrace" "len([e for e in slices if 'parts_of_its_time' in e['args']]) >= 50" True
	# they add up to the call, and stand in its arguments alone
	is "$T/lat.pftrace" "[e for e in slices if 'parts_of_its_time' in e['args'] and
		sum(v for k, v in e['args'].items() if k in ('on_cpu_ns', 'runqueue_ns', 'throttled_ns', 'unaccounted_ns') or
		k.startswith('blocked_')) != e['dur']]" '[]'
	is "$T/lat.pftrace" "any('absent_latency' in e['args'] for e in instants)" False
	result timeline_latency_R19 "${bad[@]}"
}
timeline_latency

# ---- The viewer's own reader ----

timeline_in_the_trace_processor()
{
	local bad=() sql got
	[ -x "${TRACE_PROCESSOR_SHELL:-}" ] || {
		echo 'skip timeline_in_the_trace_processor: TRACE_PROCESSOR_SHELL names no program'
		return
	}
	ask() # SQL WANTED
	{
		echo "$1" >"$T/q.sql"
		got=$("$TRACE_PROCESSOR_SHELL" -q "$T/q.sql" "$T/scene.pftrace" 2>/dev/null | tail -n +2 | tr -d '"\n')
		[ "$got" = "$2" ] || bad+=("$1: $got, not $2")
	}
	ask "select count(*) from slice where category = 'gpu_slice' and dur >= 0" "$(read_trace "$T/scene.pftrace" "len([e for e in by('gpu_slice') if e['type'] == 1]) + 1")"
	ask "select count(*) from slice where category = 'call'" "$(read_trace "$T/scene.pftrace" "len(by('call'))")"
	ask "select count(*) from flow" "$(read_trace "$T/scene.pftrace" 'len(flows)')"
	ask "select count(*) from counter" "$(read_trace "$T/scene.pftrace" 'len(samples)')"
	ask "select ifnull(sum(value), 0) from stats where severity in ('error', 'data_loss') and value > 0" 0
	ask "select count(*) from slice where category = 'gpu_slice' and dur = 80000" 3
	result timeline_in_the_trace_processor_R46 "${bad[@]}"
}
timeline_in_the_trace_processor
