#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 120
# `gpubpf timeline --html`: what is in the page against the export and the report, hostile names, what goes wrong.
. tests/e2e/lib.sh

scene=$B/tests/tools/mkscene
device=$B/tests/tools/mkdevice
timeline=("$GPUBPF" timeline -q)
read_page() { python3 tests/e2e/page_read.py "$@"; }

# is FILE EXPRESSION WANTED; adds to `bad`
is()
{
	local got
	got=$(read_page "$1" "$2" 2>&1)
	[ "$got" = "$3" ] || bad+=("$2 is ${got:0:600}, not $3")
}

"$scene" "$T/scene" <tests/e2e/golden/device.scene && "$device" --calls 3000 --zero 500 --early 333 --processes 2 "$T/dev" >/dev/null &&
	"$device" --calls 500 --alone "$T/alone" >/dev/null && "$B/tests/tools/mkcapture" --calls 2000 "$T/host" >/dev/null || {
	not_ok page_captures "status $?"
	exit 1
}
for c in scene dev alone host; do
	"${timeline[@]}" "$T/$c" --html "$T/$c.html" || not_ok "page_of_$c" "status $?"
done

page_is_the_same_as_the_export()
{
	local bad=() c got n
	for c in scene:74 dev:8990 alone:500 host:2000; do
		"$GPUBPF" export --format json "$T/${c%:*}" -o "$T/same.json" 2>/dev/null
		got=$(read_page "$T/${c%:*}.html" same "$T/same.json" 2>&1)
		n=$(tail -n 1 <<<"$got")
		[ "$(wc -l <<<"$got")" = 1 ] && [ "$n" -ge "${c#*:}" ] || bad+=("$c: $got")
	done
	result page_is_the_same_as_the_export_R45 "${bad[@]}"
}
page_is_the_same_as_the_export

# What the trace has, the page has: every event with its place, times and arguments, a sidecar's nodes and NVTX too.
page_is_the_same_as_the_trace()
{
	local bad=() c n more
	"$GPUBPF" export --format json "$T/scene" 2>/dev/null | jq '{schema: "gpubpf.sidecar/1", capture: .tables.capture[0].identity,
		nodes: [{id: "a", label: "pause", interval: {clock: "monotonic", start_ns: 3000000, end_ns: 3500000}, attributes: {x: 1}}]}' >"$T/side"
	for c in scene:50 scene-side:51 nvtx:150; do
		n=${c#*:} c=${c%:*} more=()
		[ $c = nvtx ] && [ ! -s "$T/nvtx.gpubpf" ] && continue
		[ $c = scene-side ] && more=(--sidecar "$T/side")
		cp "$T/${c%-side}" "$T/in" 2>/dev/null || cp "$T/$c.gpubpf" "$T/in"
		"${timeline[@]}" "${more[@]}" "$T/in" -o "$T/in.pftrace" --html "$T/in.html" 2>"$T/err" || bad+=("$c: $(cat "$T/err")")
		python3 tests/e2e/trace_read.py "$T/in.pftrace" "[print((e['track'], e['ts'], e['dur'] if e['type'] == 1 else None, e['name'], e['cat'],
			sorted(e['args'].items()))) for e in slices + instants if e['cat'] != 'skeleton'] and ''" | sed '/^$/d' | sort >"$T/of.trace"
		read_page "$T/in.html" "[print((e['path'], e['start'], None if e['end'] is None else e['end'] - e['start'], e['name'], e['class'],
			sorted((e['args'] | ({'kernel': e['kernel']} if e['kernel'] else {})).items()))) for e in events if e['class'] != 'skeleton'] and ''" |
			sed '/^$/d' | sort >"$T/of.page"
		diff "$T/of.trace" "$T/of.page" >"$T/diff" || bad+=("$c: $(head -n 6 "$T/diff")")
		[ "$(wc -l <"$T/of.page")" -ge "$n" ] || bad+=("$c: $(wc -l <"$T/of.page") events")
	done
	result page_is_the_same_as_the_trace_R22_R53 "${bad[@]}"
}
sim_record nvtx --cupti nvtx -- "$SIM/annotated" --launches 20 --nvtx 20 || echo "skip page_of_nvtx: $(tail -n 1 "$T/nvtx.err")"
page_is_the_same_as_the_trace

# Verdict, losses, notes: neither more nor less than the report says, to the letter.
page_says_what_the_report_says()
{
	local bad=() c
	for c in scene dev alone host; do
		"$GPUBPF" report "$T/$c" | sed '/^$/,$d' >"$T/said"
		read_page "$T/$c.html" 'about["head"]' | head -n -1 | diff "$T/said" - >"$T/diff" || bad+=("$c: $(cat "$T/diff")")
		is "$T/$c.html" 'about["verdict"], "healthy" in about' \
			"('$("$GPUBPF" report --json "$T/$c" | jq -r .verdict.verdict)', $([ $c = scene ] || [ $c = dev ] && echo False || echo True))"
	done
	"${timeline[@]}" -p 200 "$T/scene" --html "$T/p.html"
	"$GPUBPF" report -p 200 "$T/scene" | sed '/^$/,$d' | diff - <(read_page "$T/p.html" 'about["head"]' | head -n -1) >"$T/diff" || bad+=("-p: $(cat "$T/diff")")
	is "$T/p.html" 'len(by("call")), len(by("gpu_slice")), {t["pid"] for t in tracks} - {0}' '(1, 1, {200})'
	result page_says_what_the_report_says_R2 "${bad[@]}"
}
page_says_what_the_report_says

page_keeps_overlap_and_what_is_absent()
{
	local bad=()
	is "$T/scene.html" "[(e['start'], e['end'] - e['start'], 'overlapping' in e['path']) for e in by('gpu_slice') if 'stream 8' in e['path']]" \
		'[(3811100, 80000, False), (3868600, 80000, True), (4010100, 80000, False)]'
	is "$T/scene.html" "[(e['type'], e['end'], e['args']['timing_quality']) for e in by('gpu_slice') if e['type'] != 'slice']" \
		"[('instant', None, 'device time unavailable: both ends are 0')]"
	is "$T/scene.html" "'wall_ns' in about, 'no_device' in about, 'no_host' in about" '(False, False, False)'
	is "$T/host.html" "about['wall_ns'], about.get('no_device'), len(by('gpu_slice'))" "('1760000000000000000', '1', 0)"
	is "$T/alone.html" "about['no_host'], len(by('call')), len(by('gpu_slice'))" "('1', 500, 500)"
	printf '%s\n' 'took entry' 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' 'took open' 'cuCtxSynchronize' | "$scene" "$T/untimed"
	"${timeline[@]}" "$T/untimed" --html "$T/untimed.html"
	is "$T/untimed.html" "[(e['name'], e['type'], e['end'], e['args'].get('result')) for e in by('call')]" \
		"[('cuLaunchKernel', 'instant', None, None), ('cuCtxSynchronize', 'open', None, None)]"
	printf '%s\n' 'depth 1' 'took 1000' 'cuMemcpyHtoD_v2 0x1000 0x2000 64' 'back 2000' 'depth 0' 'took 3000' \
		'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' | "$scene" "$T/nested"
	"${timeline[@]}" "$T/nested" --html "$T/nested.html"
	is "$T/nested.html" "[(e['name'], e['depth'], e['end'] - e['start']) for e in by('call')], len({e['track'] for e in by('call')})" \
		"([('cuLaunchKernel', 0, 3000), ('cuMemcpyHtoD_v2', 1, 1000)], 1)"
	result page_keeps_overlap_and_what_is_absent_C25_R14_R19 "${bad[@]}"
}
page_keeps_overlap_and_what_is_absent

page_needs_nothing_else()
{
	local bad=()
	is "$T/scene.html" "page.policy.split('; ')[0], [h in page.policy for h in page.hashes], len(page.scripts), 'unsafe' in page.policy" \
		"(\"default-src 'none'\", [True, True], 1, False)"
	# nothing in it leads anywhere
	is "$T/scene.html" "[(t, a) for t, a in page.tags if {'src', 'href', 'srcset', 'action', 'style'} & a.keys() or any(k.startswith('on') for k in a)]" '[]'
	grep -oE '(https?:)?//[a-z0-9.-]+\.[a-z]{2,}|@import|url\(' "$T/scene.html" | grep . && bad+=('an address')
	result page_needs_nothing_else "${bad[@]}"
}
page_needs_nothing_else

page_obeys_no_name()
{
	local bad=()
	printf '%s\n' arm $'name 1 </script><script>alert(1)</script><!--\u202e\033[2J<img src=x onerror=alert(2)>' \
		'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' 'seen launch' 'ran kernel 2000 1000 name 1' 'wait 10000' disarm | "$scene" "$T/names"
	"${timeline[@]}" "$T/names" --html "$T/names.html"
	is "$T/names.html" "[e['name'] for e in by('gpu_slice')]" \
		"['</script><script>alert(1)</script><!--\\\\xe2\\\\x80\\\\xae\\\\x1b[2J<img src=x onerror=alert(2)>']"
	is "$T/names.html" "[t for t, a in page.tags] == [t for t, a in Page(open('$T/scene.html').read()).tags], len(page.scripts)" '(True, 1)'
	grep -q 'alert' "$T/names.html" && bad+=('a name stands in the markup')
	result page_obeys_no_name "${bad[@]}"
}
page_obeys_no_name

page_is_the_same_each_time()
{
	local bad=()
	"${timeline[@]}" "$T/dev" --html "$T/two.html" && cmp -s "$T/dev.html" "$T/two.html" || bad+=('a second time')
	"${timeline[@]}" "$T/dev" --html - | cmp -s - "$T/dev.html" || bad+=('standard output')
	"${timeline[@]}" "$T/dev" -o "$T/dev.pftrace" && "${timeline[@]}" "$T/dev" -o "$T/both.pftrace" --html "$T/both.html" &&
		cmp -s "$T/both.html" "$T/dev.html" && cmp -s "$T/both.pftrace" "$T/dev.pftrace" || bad+=('with a trace')
	cp "$T/dev" "$T/other name" && "${timeline[@]}" "$T/other name" --html "$T/two.html" && cmp -s "$T/dev.html" "$T/two.html" || bad+=("the file's name matters")
	"$GPUBPF" timeline "$T/dev" --html "$T/two.html" 2>&1 | grep -q '5,994 slices, .*any browser' || bad+=('its size')
	result page_is_the_same_each_time_R43 "${bad[@]}"
}
page_is_the_same_each_time

page_full_disk_and_closed_pipe()
{
	local bad=() status
	"${timeline[@]}" "$T/dev" --html /dev/full 2>"$T/err" && bad+=('/dev/full')
	grep -q 'No space left' "$T/err" || bad+=("says: $(cat "$T/err")")
	(ulimit -f 40 && "${timeline[@]}" "$T/dev" --html "$T/small") 2>"$T/err" && bad+=('a limit on the size of files')
	grep -q 'File too large' "$T/err" || bad+=("says: $(cat "$T/err")")
	ls "$T"/small* >/dev/null 2>&1 && bad+=('something is left')
	"${timeline[@]}" "$T/dev" --html - 2>"$T/err" | head -c 100 >/dev/null
	status=${PIPESTATUS[0]}
	[ "$status" = 1 ] && [ ! -s "$T/err" ] || bad+=("closed pipe: status $status, $(cat "$T/err")")
	result page_full_disk_and_closed_pipe "${bad[@]}"
}
page_full_disk_and_closed_pipe

page_odd_captures()
{
	local bad=() n size o
	size=$(stat -c %s "$T/scene")
	for n in 0 100 $((size / 2)) $((size - 1)); do
		head -c "$n" "$T/scene" >"$T/cut"
		"${timeline[@]}" "$T/cut" --html "$T/cut.html" 2>"$T/err"
		case $? in
		0) is "$T/cut.html" 'about["verdict"] != "reconciled"' True ;;
		1) [ -s "$T/err" ] || bad+=("cut at $n: no message") ;;
		*) bad+=("cut at $n: status") ;;
		esac
	done
	for o in '--zero 1' '--drop 7 --gap 5' '--silent' '--fail 3' '--bare' '--unmeasured --threads 3 --processes 2'; do
		# shellcheck disable=SC2086
		"$device" --calls 300 $o "$T/odd" >/dev/null && "${timeline[@]}" "$T/odd" --html "$T/odd.html" 2>/dev/null || bad+=("$o: status $?")
		is "$T/odd.html" 'len(events) > 0' True
	done
	result page_odd_captures "${bad[@]}"
}
page_odd_captures

page_opens_at_a_focus()
{
	local bad=() want kernel='reduce(float*)' focus="(lambda e: (e['class'], e['name'], e['start'], e['end'], about['focus_ns']))(events[int(about['focus_event'])])"
	"${timeline[@]}" "$T/scene" --html "$T/f.html" --focus-kernel "$kernel" --focus-occurrence 2 || bad+=("status $?")
	is "$T/f.html" "$focus" "('gpu_slice', '$kernel', 3868600, 3948600, '2788600 3028600')"
	# each number is another one, in the order of their starts, as the page itself has them
	want=$(read_page "$T/scene.html" "sorted((e['start'], e['end']) for e in by('gpu_slice') if e['name'] == '$kernel' and e['end'])[5]")
	"${timeline[@]}" "$T/scene" --html "$T/f.html" --focus-kernel "$kernel" --focus-occurrence 6
	is "$T/f.html" "(lambda e: (e['start'], e['end']))(events[int(about['focus_event'])])" "$want"
	# one that ran once with valid times needs no number
	"${timeline[@]}" -p 200 "$T/scene" --html "$T/f.html" --focus-kernel "$kernel"
	is "$T/f.html" "$focus[1:3]" "('$kernel', 4654200)"
	# no more is shown around it than there is
	printf '%s\n' arm 'name 1 last' 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' 'seen launch' 'ran kernel 2000 900000 name 1' 'wait 2000000' disarm |
		"$scene" "$T/last"
	"${timeline[@]}" "$T/last" --html "$T/f.html" --focus-kernel last
	is "$T/f.html" "about['focus_ns'], $focus[3] - 1000000" "('0 904100', 904100)"
	"${timeline[@]}" "$T/scene" --html "$T/f.html" --focus-from 1ms --focus-to 0.00125s
	is "$T/f.html" "about['focus_ns'], 'focus_event' in about" "('1000000 1250000', False)"
	"${timeline[@]}" "$T/scene" --html "$T/f.html" --focus-from 1ms --focus-to 3ms --focus-kernel "$kernel" --focus-occurrence 2
	is "$T/f.html" "$focus[1:]" "('$kernel', 3868600, 3948600, '1000000 3000000')"
	is "$T/scene.html" "'focus_ns' in about" False
	result page_opens_at_a_focus_R52 "${bad[@]}"
}
page_opens_at_a_focus

page_refuses_a_focus()
{
	local bad=() args status want kernel='reduce(float*)'
	printf '%s\n' arm $'name 1 late\033[2J' 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' 'seen launch' 'ran kernel 0 0 name 1 start 0 end 0' \
		'wait 1000' disarm | "$scene" "$T/late"
	# a capture | what it says | status | options, K for the kernel
	while IFS='|' read -r c want status args; do
		read -ra args <<<"$args"
		args=("${args[@]/#K/$kernel}")
		"${timeline[@]}" "$T/$c" --html "$T/never.html" "${args[@]//_/ }" 2>"$T/err"
		[ $? = "$status" ] && grep -qF -- "$want" "$T/err" && [ ! -e "$T/never.html" ] || bad+=("${args[*]}: $(cat "$T/err")")
	done <<-END
		scene|ran 6 times (process 100, GPU 0, context 1, stream 8: 3; process 100, GPU 0, context 1, stream 7: 2; process 200, GPU 0, context 1, stream 7: 1): say which one with --focus-occurrence, 1 to 6|1|--focus-kernel K
		scene|has no occurrence 7 but 6|1|--focus-kernel K --focus-occurrence 7
		scene|it is a part of 'axpy(int, float, float const*, float*)'|1|--focus-kernel axpy
		scene|did you mean 'reduce(float*)'|1|--focus-kernel Reduce(float*)
		scene|no kernel is called 'reduce(float*) '|1|--focus-kernel K_
		scene|ran in processes that -p leaves out alone (5 times)|1|-p 200 --focus-kernel axpy(int,_float,_float_const*,_float*)
		host|no device observer|1|--focus-kernel K
		late|none of the 1 executions of 'late\x1b[2J' has valid times|1|--focus-kernel $(printf 'late\033[2J')
		scene|0 ns to 3751700 ns since the start|1|--focus-from 1ms --focus-to 4ms
		scene|it ran from 2868600 ns to 2948600 ns|1|--focus-from 1ms --focus-to 2ms --focus-kernel K --focus-occurrence 2
		scene|go together|2|--focus-from 1ms
		scene|go together|2|--focus-to 1ms
		scene|must be before|2|--focus-from 1ms --focus-to 1000us
		scene|counts from 1|2|--focus-kernel K --focus-occurrence 0
		scene|goes with --focus-kernel|2|--focus-occurrence 1
	END
	"${timeline[@]}" "$T/scene" -o "$T/never" --focus-from 0 --focus-to 1ms 2>"$T/err"
	[ $? = 2 ] && grep -q -- '--serve, --open or --html' "$T/err" && [ ! -e "$T/never" ] || bad+=("-o: $(cat "$T/err")")
	result page_refuses_a_focus_R52 "${bad[@]}"
}
page_refuses_a_focus

page_usage()
{
	local bad=() a
	for a in '--html' "-o $T/x.html --html $T/x.html" "--html $T/x.html --format chrome" "--html $T/x.html --max-output-bytes 1M"; do
		# shellcheck disable=SC2086
		"${timeline[@]}" "$T/scene" $a 2>/dev/null
		[ $? = 2 ] && [ ! -e "$T/x.html" ] || bad+=("$a")
	done
	"${timeline[@]}" "$T/absent" --html "$T/y" 2>/dev/null
	[ $? = 1 ] && [ ! -e "$T/y" ] || bad+=('no capture')
	result page_usage "${bad[@]}"
}
page_usage
