#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 120
# Semantic sidecars (R53): what they are tied to and what not, in traces and exports, and what is refused.
. tests/e2e/lib.sh

timeline=("$GPUBPF" timeline -q)
read_trace() { python3 tests/e2e/trace_read.py "$@"; }
scene=$B/tests/tools/mkscene
[ -x "$scene" ] || { printf 'skip sidecar: %s\n' "$scene"; exit 0; }

# is FILE EXPRESSION WANTED; adds to `bad`
is()
{
	local got
	got=$(read_trace "$1" "$2" 2>&1)
	[ "$got" = "$3" ] || bad+=("$2 is ${got:0:600}, not $3")
}

json() { "$GPUBPF" export --format json "$@" 2>/dev/null; } # [OPTIONS] CAPTURE

# make NAME CAPTURE: a sidecar for this capture out of the nodes on standard input; CALL(n), EXEC(n), DEV(n) are links to
# the rows with these ids, as the export has them.
make()
{
	json "$T/$2" >"$T/$2.tables"
	python3 - "$T/$2.tables" "$T/$1" "$(cat)" <<'PY'
import json, sys
t = json.load(open(sys.argv[1]))["tables"]
row = lambda name, i, *facts: {k: next(r for r in t[name] if r["id"] == i)[k] for k in ("id", *facts)}
CALL = lambda i: {"call": row("calls", i, "entry_ns")}
EXEC = lambda i: {"execution": row("executions", i, "correlation")}
DEV = lambda i: {"device_call": row("device_calls", i, "correlation")}
json.dump({"schema": "gpubpf.sidecar/1", "capture": t["capture"][0]["identity"], "nodes": eval(sys.argv[3])},
          open(sys.argv[2], "w"), indent=1)
PY
}

{ echo wall 1700000000000000000; cat tests/e2e/golden/device.scene; } | "$scene" "$T/scene"
make side scene <<'EOF2'
[{"id": "step", "label": "training step", "kind": "step", "attributes": {"batch": 32, "warm": False, "note": "a\nb"}},
 {"id": "in", "label": "inputs", "kind": "phase", "parent": "step", "links": [
   {"correlation": {"session": 1, "id": 1}}, {"correlation": {"session": 1, "id": 2}}]},
 {"id": "fwd", "label": "forward", "kind": "phase", "parent": "step", "links": [CALL(9), EXEC(7)]},
 {"id": "both", "label": "forward once more", "links": [CALL(9), DEV(9)]},
 {"id": "pause", "label": "pause", "interval": {"clock": "monotonic", "start_ns": 3000000, "end_ns": 3500000}},
 {"id": "wall", "label": "of the wall clock", "interval": {"clock": "realtime", "start_ns": 1700000000000100000, "end_ns": 1700000000000200000}}]
EOF2

sidecar_is_shown()
{
	local bad=() f=$T/side.pftrace at="sorted((e['track'].split(' / ')[-1], e['ts'], e['dur'], e['name']) for e in by('semantic'))" err
	err=$("$GPUBPF" timeline "$T/scene" --sidecar "$T/side" -o "$f" 2>&1 >/dev/null)
	case $err in
	*': 6 of 6 nodes used, 6 of 6 links matched, 0 of 2 intervals withheld') ;;
	*) bad+=("$err") ;;
	esac
	# calls from their entry, copies to their end, a parent around what is below it; the wall clock was read at 1000000
	is "$f" "$at" "[('nodes without a kind', 1100000, 100000, 'of the wall clock'), ('nodes without a kind', 1804100, 2003900, 'forward once more'), ('nodes without a kind, overlapping 2', 3000000, 500000, 'pause'), ('phase', 1395100, 171500, 'inputs'), ('phase', 1804100, 1005000, 'forward'), ('step', 1395100, 1414000, 'training step')]"
	is "$f" "[(e['args']['node'], e['args']['parent'], e['args']['links'], e['args']['targets']) for e in by('semantic') if 'parent' in e['args']]" \
		"[('in', 'step', 2, 6), ('fwd', 'step', 2, 2)]"
	is "$f" "[e['args']['attributes'] for e in by('semantic') if 'attributes' in e['args']]" "['{\"batch\":32,\"warm\":false,\"note\":\"a\\\\nb\"}']"
	is "$f" "[(e['args']['timing_source'], e['name']) for e in by('semantic') if 'sidecar' in e['args']['timing_source']]" \
		"[('sidecar, its wall clock converted by clock pairs', 'of the wall clock'), ('sidecar', 'pause')]"
	# the events say whose they are, and no other event does
	is "$f" "[(e['cat'], e['ts'], e['args']['semantic'], e['args'].get('semantic_nodes')) for e in sorted(slices, key=lambda e: e['ts']) if 'semantic' in e['args']]" \
		"[('call', 1395100, 'in', None), ('call', 1396600, 'in', None), ('gpu_slice', 1398100, 'in', None), ('gpu_slice', 1466600, 'in', None), ('call', 1804100, 'fwd, both', 2), ('gpu_slice', 1809100, 'fwd', None)]"
	is "$f" bad '[]'
	[ -z "$("${timeline[@]}" "$T/scene" --sidecar "$T/side" -o "$T/again.pftrace" 2>&1)" ] || bad+=('not quiet')
	cmp -s "$f" "$T/again.pftrace" || bad+=('not the same twice')
	result sidecar_is_shown_R53 "${bad[@]}"
}
sidecar_is_shown

sidecar_in_chrome()
{
	local bad=()
	"${timeline[@]}" "$T/scene" --sidecar "$T/side" -o "$T/side.json"
	read_trace "$T/side.pftrace" "[print(e['ts'], e['dur'], e['name'], e['cat'], sorted(e['args'].items())) for e in slices] and ''" | sed '/^$/d' | sort >"$T/want"
	python3 - "$T/side.json" >"$T/got" <<'PY'
import json, sys
from decimal import Decimal
t = json.load(open(sys.argv[1]), parse_float=Decimal)
for e in t["traceEvents"]:
    if e["ph"] == "X":
        print(int(e["ts"] * 1000), int(e["dur"] * 1000), e["name"], e["cat"], sorted(e["args"].items()))
PY
	sort "$T/got" | diff "$T/want" - >"$T/diff" || bad+=("$(head -n 5 "$T/diff")")
	[ "$(grep -c "'semantic'\| semantic " "$T/got")" -ge 12 ] || bad+=('too few')
	result sidecar_in_chrome "${bad[@]}"
}
sidecar_in_chrome

sidecar_in_the_page()
{
	local bad=()
	"${timeline[@]}" "$T/scene" --sidecar "$T/side" --html "$T/side.html" 2>"$T/err" || bad+=("$(cat "$T/err")")
	[ "$(python3 tests/e2e/page_read.py "$T/side.html" "sorted((e['start'], e['end'] - e['start'], e['name']) for e in by('semantic'))")" = \
		"$(read_trace "$T/side.pftrace" "sorted((e['ts'], e['dur'], e['name']) for e in by('semantic'))")" ] || bad+=('not the same')
	result sidecar_in_the_page "${bad[@]}"
}
sidecar_in_the_page

# What differs, is not there, or has the name alone is tied to nothing, and is reported.
make odd scene <<'EOF2'
[{"id": "name", "label": "axpy(int, float, float const*, float*)", "kind": "cuLaunchKernel"},
 {"id": "cuLaunchKernel", "label": "cuLaunchKernel", "attributes": {"name": "cuLaunchKernel", "entry_ns": 1804100}},
 {"id": "differs", "label": "x", "links": [{"call": {"id": 9, "entry_ns": 1804101}}, {"execution": {"id": 7, "correlation": 8}},
   {"device_call": {"id": 9, "correlation": 8}}]},
 {"id": "none", "label": "x", "links": [{"call": {"id": 4000, "entry_ns": 1}}, {"execution": {"id": 4000, "correlation": 1}},
   {"correlation": {"session": 1, "id": 5555}}, {"correlation": {"session": 9, "id": 1}}]},
 {"id": "nobody", "label": "x", "links": [{"external": {"session": 1, "kind": "custom0", "id": "0x1"}}]},
 {"id": "partly", "label": "partly", "links": [CALL(10), {"call": {"id": 11, "entry_ns": 2}}],
  "interval": {"clock": "monotonic", "start_ns": 1900000, "end_ns": 900000000}},
 {"id": "before", "label": "x", "interval": {"clock": "monotonic", "start_ns": 999999, "end_ns": 1900000}},
 {"id": "wall", "label": "x", "interval": {"clock": "realtime", "start_ns": 5, "end_ns": 6}},
 {"id": "untimed", "label": "untimed", "links": [EXEC(23)]}]
EOF2

sidecar_binds_nothing_by_name()
{
	local bad=() f=$T/odd.pftrace err
	err=$("${timeline[@]}" "$T/scene" --sidecar "$T/odd" -o "$f" 2>&1)
	case $err in
	*': 2 of 9 nodes used, 2 of 11 links matched, 3 of 3 intervals withheld'*) ;;
	*) bad+=("$err") ;;
	esac
	for part in 'not matched: nodes\[2\].links\[0\] .line [0-9]*.: call 9 entered at 1804101: the capture has this row with another value' \
		'not used: nodes\[0\] .* name: it is tied to nothing' 'interval withheld: nodes\[5\] .* partly: outside'; do
		grep -q "$part" <<<"$err" || bad+=("no '$part' in $err")
	done
	is "$f" "[(e['ts'], e['dur'], e['name']) for e in by('semantic')]" "[(1805600, 1000, 'partly')]"
	is "$f" "[(e['cat'], e['ts'], e['args']['semantic']) for e in slices + instants if 'semantic' in e['args']]" \
		"[('call', 1805600, 'partly'), ('gpu_slice', 4591600, 'untimed')]"
	is "$f" "[{k: v for k, v in e['args'].items() if k[:5] in ('nodes', 'links', 'inter', 'targe')} for e in instants if e['name'] == 'semantic coverage']" \
		"[{'nodes': 9, 'nodes_used': 2, 'nodes_unused': 7, 'links': 11, 'links_matched': 2, 'links_unmatched': 9, 'targets': 2, 'intervals': 3, 'intervals_withheld': 3}]"
	is "$f" "sorted((e['name'].split()[-1], e['args']['node'], e['args']['text'][:9]) for e in by('mark') if 'sidecar' in e['name'])" \
		"[('matched', 'differs', 'the captu'), ('matched', 'differs', 'the captu'), ('matched', 'differs', 'the captu'), ('matched', 'nobody', 'nobody ob'), ('matched', 'none', 'the captu'), ('matched', 'none', 'the captu'), ('matched', 'none', 'the captu'), ('matched', 'none', 'the captu'), ('matched', 'partly', 'the captu'), ('used', 'before', 'withheld'), ('used', 'cuLaunchKernel', 'empty'), ('used', 'differs', 'unmatched'), ('used', 'name', 'empty'), ('used', 'nobody', 'unmatched'), ('used', 'none', 'unmatched'), ('used', 'wall', 'withheld'), ('withheld', 'before', 'outside_c'), ('withheld', 'partly', 'outside_c'), ('withheld', 'wall', 'outside_c')]"
	result sidecar_binds_nothing_by_name_R53 "${bad[@]}"
}
sidecar_binds_nothing_by_name

sidecar_clocks()
{
	local bad=() call='cuCtxSynchronize'
	# no pair; a pair; a clock that was set back; one that was set forward by a minute: what lies in the gap was never shown
	printf '%s\n' "$call" 'wait 1000000' "$call" | "$scene" "$T/c.none"
	printf '%s\n' 'wall 1000000000' "$call" 'wait 1000000' "$call" | "$scene" "$T/c.one"
	printf '%s\n' 'wall 1000000000' "$call" 'wait 1000000' 'wall 900000000' 'wait 1000000' "$call" | "$scene" "$T/c.back"
	printf '%s\n' 'wall 1000000000' "$call" 'wait 1000000' 'wall 61000000000' 'wait 1000000' "$call" | "$scene" "$T/c.step"
	for c in none one back step; do
		make clock "c.$c" <<'EOF2'
[{"id": str(i), "label": "x", "interval": {"clock": "realtime", "start_ns": i, "end_ns": i + 10}} for i in (1000500000, 31000000000, 61000500000)]
EOF2
		"${timeline[@]}" "$T/c.$c" --sidecar "$T/clock" -o "$T/clock.pftrace" 2>"$T/err"
		read_trace "$T/clock.pftrace" "'$c', [(e['args']['node'], e['ts'] - 1000000) for e in by('semantic')], [e['args']['text'] for e in by('mark') if 'withheld' in e['name']]"
	done >"$T/clocks"
	diff - "$T/clocks" >"$T/diff" <<'EOF2' || bad+=("$(cat "$T/diff")")
('none', [], ['no_anchor', 'no_anchor', 'no_anchor'])
('one', [('1000500000', 500000)], ['outside_coverage', 'outside_coverage'])
('back', [], ['no_anchor', 'no_anchor', 'no_anchor'])
('step', [('1000500000', 500000), ('61000500000', 1501500)], ['no_anchor'])
EOF2
	result sidecar_clocks_R23_R53 "${bad[@]}"
}
sidecar_clocks

sidecar_is_refused()
{
	local bad=() rc
	"$scene" "$T/other" <tests/e2e/golden/report.scene
	sed 's/"label"/"lable"/; t' "$T/side" >"$T/r.member"
	sed '0,/"id": "in"/s//"id": "step"/' "$T/side" >"$T/r.twice"
	head -c 300 "$T/side" >"$T/r.cut"
	cp "$T/side" "$T/r.other"
	for r in member twice cut other; do
		local capture=$T/scene
		[ $r = other ] && capture=$T/other
		echo kept >"$T/kept"
		for format in pftrace json; do
			"${timeline[@]}" "$capture" --sidecar "$T/r.$r" -o "$T/no.$format" >"$T/out" 2>"$T/err"
			rc=$?
			[ $rc = 1 ] && [ ! -e "$T/no.$format" ] && [ ! -s "$T/out" ] || bad+=("$r $format: status $rc")
		done
		"${timeline[@]}" "$capture" --sidecar "$T/r.$r" -o "$T/kept" 2>"$T/err"
		[ "$(cat "$T/kept")" = kept ] || bad+=("$r: it replaced a file")
		case $r:$(cat "$T/err") in
		"member:"*"line 5: nodes[0]: there is no member 'lable'; did you mean 'label'?") ;;
		"twice:"*"nodes[1].id: nodes[0] has the same") ;;
		"cut:"*"r.cut: line "*"no JSON"*) ;;
		"other:"*"is of capture $(jq -r .capture "$T/side"), and $T/other is "*"nothing of it was bound"*) ;;
		*) bad+=("$r: $(cat "$T/err")") ;;
		esac
	done
	"${timeline[@]}" "$T/scene" --sidecar "$T/nowhere" -o "$T/no" 2>"$T/err"
	[ $? = 1 ] && grep -q 'nowhere: No such file' "$T/err" && [ ! -e "$T/no" ] || bad+=("$(cat "$T/err")")
	result sidecar_is_refused_R53 "${bad[@]}"
}
sidecar_is_refused

sidecar_with_other_options()
{
	local bad=()
	# the second process alone: nodes of the first have nothing to show, and stay tied
	make pids scene <<'EOF2'
[{"id": "first", "label": "first", "links": [CALL(9)]}, {"id": "second", "label": "second", "links": [CALL(25)]}]
EOF2
	"${timeline[@]}" "$T/scene" -p "$(jq '.tables as $t | $t.calls[24].process as $p | $t.processes[] | select(.id == $p) | .pid' "$T/scene.tables")" \
		--sidecar "$T/pids" -o "$T/pids.pftrace" 2>"$T/err"
	is "$T/pids.pftrace" "[e['name'] for e in by('semantic')], [(e['args']['nodes_used'], e['args']['links_matched']) for e in instants if e['name'] == 'semantic coverage']" \
		"(['second'], [(2, 2)])"
	# under a budget nodes stay, and the receipt has them
	"${timeline[@]}" "$T/scene" --sidecar "$T/side" --max-output-bytes 16000 -o "$T/small.pftrace" 2>"$T/err"
	is "$T/small.pftrace" "len(by('semantic')), len(by('call')) < 25, [(e['args']['considered'], e['args']['dropped']) for e in instants if e['name'] == 'loss receipt: semantic'], bad" "(6, True, [(6, 0)], [])"
	[ "$(stat -c %s "$T/small.pftrace")" -le 16000 ] || bad+=('too large')
	# without a sidecar the trace says nothing of one
	"${timeline[@]}" "$T/scene" -o "$T/plain.pftrace"
	is "$T/plain.pftrace" "[e['name'] for e in slices + instants if 'semantic' in e['cat'] + e['name'] or 'semantic' in e['args']]" '[]'
	# calls that nobody recorded
	"$B/tests/tools/mkdevice" --calls 50 --alone "$T/alone" >/dev/null
	make alone.side alone <<'EOF2'
[{"id": "a", "label": "a", "links": [{"call": {"id": 1, "entry_ns": 5}}, EXEC(1), DEV(1)]}]
EOF2
	"${timeline[@]}" "$T/alone" --sidecar "$T/alone.side" -o "$T/alone.pftrace" 2>"$T/err"
	grep -q 'call 1 entered at 5: nobody observed' "$T/err" && grep -q ' 2 of 3 links' "$T/err" || bad+=("$(cat "$T/err")")
	result sidecar_with_other_options "${bad[@]}"
}
sidecar_with_other_options

# ---- Exports ----

tables() { jq -rc ".tables | $1" "$T/same.$2/same.json"; } # JQ-EXPRESSION NAME

sidecar_in_exports()
{
	local bad=() out s
	"$GPUBPF" export --schema >"$T/schema.json"
	for s in side odd; do
		mkdir -p "$T/same.$s"
		out=$(python3 tests/e2e/export_same.py "$GPUBPF" "$T/scene" "$T/same.$s" --sidecar "$T/$s" 2>&1)
		[ "$out" = '0 differences, cells: many' ] || bad+=("$s: $out")
		python3 -c 'import jsonschema' 2>/dev/null || continue
		out=$(python3 - "$T/schema.json" "$T/same.$s/same.json" 2>&1 <<-'PY'
			import json, sys
			from jsonschema.validators import validator_for
			schema, data = (json.load(open(p)) for p in sys.argv[1:])
			for e in list(validator_for(schema)(schema).iter_errors(data))[:5]:
			    print(list(e.path), e.message[:200])
		PY
		)
		[ -z "$out" ] || bad+=("$s: $out")
	done
	check sidecar_nodes "in phase 1 used 1395100 1566600 targets 2 2" \
		"$(tables '.semantic_nodes[1] | "\(.name) \(.kind) \(.parent) \(.use) \(.start_ns) \(.end_ns) \(.times_from) \(.links) \(.links_matched)"' side)"
	check sidecar_targets "[[1,3,null,null],[1,null,1,null],[1,null,null,1],[2,4,null,null],[2,null,2,null],[2,null,null,2],[3,9,null,null],[4,null,null,7],[5,9,null,null],[6,null,9,null]]" \
		"$(tables '[.semantic_targets[] | [.link, .call, .device_call, .execution]]' side)"
	check sidecar_statuses "[differs,differs,differs,none,none,none,none,not_observed,matched,differs,matched]" "$(tables '[.semantic_links[].status]' odd | tr -d '"')"
	check sidecar_uses "[empty,empty,unmatched,unmatched,unmatched,used,withheld,withheld,used]" "$(tables '[.semantic_nodes[].use]' odd | tr -d '"')"
	# a used node whose targets have no time: not measured; one that is not used has none
	check sidecar_R14 "[true,null,true] [false,false]" "$(tables '.semantic_nodes | "\(.[8] | [has("start_ns"), .start_ns, .start_ns_unmeasured]) \(.[0] | [has("start_ns"), has("start_ns_unmeasured")])"' odd)"
	# the trace says the same
	for s in side odd; do
		is "$T/$s.pftrace" "sorted((e['args']['node'], e['ts'], e['dur']) for e in by('semantic'))" \
			"$(python3 -c 'import json, sys; print(sorted((n["name"], n["start_ns"], n["duration_ns"]) for n in json.load(open(sys.argv[1]))["tables"]["semantic_nodes"] if n.get("start_ns")))' "$T/same.$s/same.json")"
		is "$T/$s.pftrace" "[[e['args'][k] for k in ('nodes', 'nodes_used', 'links', 'links_matched', 'targets', 'intervals', 'intervals_withheld')] for e in instants if e['name'] == 'semantic coverage']" \
			"$(tables '[.semantic_coverage[] | select(.carrier == "sidecar") | [.nodes, .nodes_used, .links, .links_matched, .targets, .intervals, .intervals_withheld]]' $s | sed 's/,/, /g')"
	done
	check sidecar_summary "fwd|1|1|1000000
in|2|2|150000" "$(sqlite3 "$T/same.side/same.sqlite" "SELECT name, calls, executions, total_ns FROM semantic_summary WHERE kind = 'phase' ORDER BY name")"
	result sidecar_in_exports_R53 "${bad[@]}"
}
sidecar_in_exports

sidecar_of_exports_is_strict()
{
	local bad=() f
	for f in json jsonl sqlite; do
		"$GPUBPF" export --format $f --sidecar "$T/r.member" -o "$T/no.$f" "$T/scene" 2>"$T/err"
		[ $? = 1 ] && [ ! -e "$T/no.$f" ] && grep -q "did you mean 'label'" "$T/err" || bad+=("$f: $(cat "$T/err")")
	done
	for f in pprof folded otlp; do
		"$GPUBPF" export --format $f --sidecar "$T/side" -o "$T/no.$f" "$T/scene" 2>"$T/err"
		[ $? = 2 ] && [ ! -e "$T/no.$f" ] && grep -q "sidecar does not go with --format $f" "$T/err" || bad+=("$f: $(cat "$T/err")")
	done
	json "$T/scene" | jq -e '.tables | (.semantic_nodes + .semantic_links + .semantic_targets | length) == 0 and
		([.tables[] | select(.name | test("^semantic_(nodes|links|targets)$")) | .why_not] | unique) == ["exported without --sidecar"] and
		([.semantic_coverage[].asked] == [false, false, false])' >/dev/null || bad+=('without a sidecar')
	result sidecar_of_exports_is_strict "${bad[@]}"
}
sidecar_of_exports_is_strict

# ---- Carriers that were recorded: NVTX and external correlation ids ----

sidecar_recorded_carriers()
{
	local bad=()
	LD_LIBRARY_PATH=$SIM "$GPUBPF" record -q --cupti nvtx,external -o "$T/kinds" -- "$SIM/annotated" --launches 60 --nvtx 50 --external 40 \
		>"$T/out" 2>"$T/err" || { not_ok sidecar_recorded_carriers "$(cat "$T/err")"; return; }
	json "$T/kinds" >"$T/kinds.tables"
	jq -e '.tables | [.semantic_coverage[] | select(.carrier == "nvtx")][0] as $n | [.semantic_coverage[] | select(.carrier == "external_ids")][0] as $e |
		$n.asked and $n.nodes == (.markers | length) and $n.nodes > 0 and $n.nodes_used == ([.markers[] | select(.event != "end" and .time_ns)] | length) and
		$n.intervals == ([.markers[] | select(.event == "start" and .end_ns)] | length) and $n.intervals_withheld == 0 and ($n | has("links") | not) and
		$e.asked and $e.nodes == (.external_ids | length) and $e.nodes > 0 and $e.links == $e.nodes and
		$e.links_matched == ([.external_ids[] | select(.has_call)] | length) and $e.links_unmatched == $e.links - $e.links_matched and
		([.semantic_coverage[] | select(.carrier == "sidecar")][0] | .asked == false and .nodes == null)' "$T/kinds.tables" >/dev/null ||
		bad+=("$(jq -c '.tables.semantic_coverage[]' "$T/kinds.tables")")
	"${timeline[@]}" "$T/kinds" -o "$T/kinds.pftrace"
	is "$T/kinds.pftrace" "[[e['args'][k] for k in ('carrier', 'nodes', 'nodes_used')] for e in instants if e['name'] == 'semantic coverage']" \
		"$(jq -c '[.tables.semantic_coverage[] | select(.asked) | [.carrier, .nodes, .nodes_used]]' "$T/kinds.tables" | tr '"' "'" | sed 's/,/, /g')"
	# a node for an id that the application gave: all calls and executions that it was given for, and no others
	python3 - "$T/kinds.tables" "$T/kinds.side" >"$T/want" <<'PY'
import json, sys
t = json.load(open(sys.argv[1]))["tables"]
e = next(e for e in t["external_ids"] if e["has_call"])
same = [x["correlation"] for x in t["external_ids"] if (x["session"], x["kind"], x["external"]) == (e["session"], e["kind"], e["external"])]
link = {"session": e["session"], "kind": e["kind"], "id": e["external"]}
json.dump({"schema": "gpubpf.sidecar/1", "capture": t["capture"][0]["identity"], "nodes": [
    {"id": "given", "label": "given", "links": [{"external": link}]},
    {"id": "never", "label": "never", "links": [{"external": dict(link, id="0xffffffffffff")}]}]}, open(sys.argv[2], "w"))
devices = [d for d in t["device_calls"] if d["session"] == e["session"] and d["correlation"] in same]
print(len(same) > 0, sorted(d["id"] for d in devices), sorted(d["call"] for d in devices if "call" in d),
      sorted(x["id"] for x in t["executions"] if x["session"] == e["session"] and x["correlation"] in same))
PY
	json --sidecar "$T/kinds.side" "$T/kinds" | python3 -c '
import json, sys
t = json.load(sys.stdin)["tables"]
of = lambda k: sorted(x[k] for x in t["semantic_targets"] if k in x)
print([l["status"] for l in t["semantic_links"]] == ["matched", "none"], of("device_call"), of("call"), of("execution"))' >"$T/got"
	cmp -s "$T/want" "$T/got" || bad+=("external: $(cat "$T/got"), not $(cat "$T/want")")
	result sidecar_recorded_carriers_R53 "${bad[@]}"
}
sidecar_recorded_carriers

# ---- hostile bytes: what the fuzzer starts from, and the same mutations every time ----
"$B/asan/tests/fuzz/replay_sidecar" sidecar 20000 tests/fuzz/sidecar/* >"$T/fuzz.out" 2>&1
status=$?
cat "$T/fuzz.out"
check sidecar_fuzz_replay_status 0 $status
