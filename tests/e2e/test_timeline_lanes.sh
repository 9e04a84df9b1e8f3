#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 120
# Lanes of `gpubpf timeline` for what `record --cupti` asks for: NVTX.
. tests/e2e/lib.sh

timeline=("$GPUBPF" timeline -q)

# is FILE EXPRESSION WANTED; adds to `bad`
is()
{
	local got
	got=$(python3 tests/e2e/trace_read.py "$1" "$2" 2>&1)
	[ "$got" = "$3" ] || bad+=("$2 is ${got:0:600}, not $3")
}

command -v jq >/dev/null || { echo 'skip timeline_lanes: jq'; exit 0; }
sim_record nvtx --cupti nvtx -- "$SIM/annotated" --launches 60 --nvtx 50 && sim_record plain -- "$SIM/annotated" --launches 5 || {
	not_ok timeline_lanes_record "$(cat "$T"/*.err)"
	exit 1
}
"${timeline[@]}" "$T/nvtx.gpubpf" -o "$T/nvtx.pftrace" && "${timeline[@]}" "$T/plain.gpubpf" -o "$T/plain.pftrace" ||
	not_ok timeline_lanes_write "status $?"
m="[e for e in instants if e['name'] == 'manifest'][0]['args']"

timeline_nvtx()
{
	local bad=() rows
	"$GPUBPF" export --format json "$T/nvtx.gpubpf" -o "$T/nvtx.tables" 2>/dev/null
	rows=$(jq '.tables.markers | length' "$T/nvtx.tables")
	is "$T/nvtx.pftrace" "bad, len(by('nvtx')), $m['nvtx_events'], 'absent_nvtx' in $m" "([], $rows, $rows, False)"
	# as the tables of the report have them
	is "$T/nvtx.pftrace" "[len([e for e in by('nvtx') if e['name'] == n]) for n in ('whole', 'step', 'inner', 'never ends', 'here', 'loss', 'delta', 'blob')]" \
		'[1, 50, 50, 1, 50, 50, 50, 1]'
	# an inner range is inside its step, a range that another thread ended stands beside
	is "$T/nvtx.pftrace" "[e['name'] for e in slices if e['cat'] == 'nvtx' and e['name'] == 'inner' and
		not any(o['name'] == 'step' and o['uuid'] == e['uuid'] and o['depth'] == e['depth'] - 1 and
		o['ts'] <= e['ts'] and e['ts'] + e['dur'] <= o['ts'] + o['dur'] for o in slices)]" '[]'
	is "$T/nvtx.pftrace" "['cross' in e['track'] and e['args']['ended_by_another_thread'] for e in by('nvtx') if e['name'] == 'whole']" '[True]'
	is "$T/nvtx.pftrace" "[(e['dur'], e['args']['timing_quality']) for e in by('nvtx') if e['name'] == 'never ends']" \
		"[(None, 'start measured, end not seen')]"
	is "$T/nvtx.pftrace" "[e['args']['nvtx_payload'] for e in by('nvtx') if e['name'] == 'delta'] == list(range(-1, -51, -1)),
		set((e['args']['nvtx_domain'], e['args']['nvtx_category']) for e in by('nvtx') if e['name'] == 'inner')" "(True, {('annotated', 7)})"
	is "$T/nvtx.pftrace" "[e['args']['nvtx_payload'] for e in by('nvtx') if e['name'] == 'loss'] == [i / 4 for i in range(1, 51)]" True
	result timeline_nvtx_R44 "${bad[@]}"
}
timeline_nvtx

timeline_nvtx_absent()
{
	local bad=()
	is "$T/plain.pftrace" "len(by('nvtx')), $m['absent_nvtx'], 'nvtx_events' in $m" "(0, 'recorded without --cupti nvtx', False)"
	result timeline_nvtx_absent_R47 "${bad[@]}"
}
timeline_nvtx_absent

timeline_nvtx_formats()
{
	local bad=() n receipt="{e['name'][14:]: e['args'] for e in instants if e['name'].startswith('loss receipt')}"
	"${timeline[@]}" "$T/nvtx.gpubpf" -o "$T/again.pftrace"
	cmp -s "$T/again.pftrace" "$T/nvtx.pftrace" || bad+=('not the same again')
	"${timeline[@]}" "$T/nvtx.gpubpf" -o "$T/nvtx.json"
	n=$(jq '[.traceEvents[] | select(.cat == "nvtx")] | length' "$T/nvtx.json")
	is "$T/nvtx.pftrace" "len(by('nvtx'))" "$n"
	[ "$(jq -c '[.traceEvents[] | select(.cat == "nvtx" and .name == "loss").args.nvtx_payload] == [range(1; 51) / 4]' "$T/nvtx.json")" = true ] ||
		bad+=('chrome: payloads')
	"${timeline[@]}" --max-output-bytes $(($(stat -c %s "$T/nvtx.pftrace") * 3 / 4)) "$T/nvtx.gpubpf" -o "$T/b.pftrace" 2>/dev/null
	is "$T/b.pftrace" "bad, (lambda a: (a['retained'] == len(by('nvtx')), a['dropped'] > 0, a['retained'] + a['dropped'] == a['considered']))($receipt['nvtx'])" \
		'([], (True, True, True))'
	result timeline_nvtx_formats_R40_R43 "${bad[@]}"
}
timeline_nvtx_formats
