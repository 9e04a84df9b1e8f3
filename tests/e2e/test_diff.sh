#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `gpubpf diff` on made captures with planted truths: what moved, what did not, and what must not be claimed.
. tests/e2e/lib.sh

golden=$PWD/tests/e2e/golden
make_pair="$PWD/tests/e2e/diff_scene.py"
case $GPUBPF in /*) ;; *) GPUBPF=$PWD/$GPUBPF ;; esac
case $B in /*) ;; *) B=$PWD/$B ;; esac
[ -x "$B/tests/tools/mkscene" ] || { printf 'skip diff: %s\n' "$B/tests/tools/mkscene"; exit 0; }
report=("$GPUBPF" diff)
. tests/e2e/golden.sh
cd "$T" || exit 1 # captures by relative names, so that outputs are the same everywhere

made() # NAME ARG…: a capture
{
	local name=$1
	shift
	python3 -IS "$make_pair" --facts facts "$@" | make_scene "$name"
}

# Every fact that a scene lacks has a value, so that its machine is known in all that is asked for.
: >facts
made bare k 64 20 10000 0
"$GPUBPF" diff --json -s environment bare bare |
	jq -r '.sections.environment.rows[] | select(.state == "missing") | .group + " " + .name + " = made up"' >facts

# is EXPRESSION VALUE ARG…: a Python expression over the JSON `d` of diff ARG…, s(name) a section's rows; adds to `bad`.
is()
{
	local expression=$1 want=$2 got
	shift 2
	got=$("$GPUBPF" diff --json "$@" | python3 -ISc '
import json, sys
d = json.load(sys.stdin)
s = lambda name: d["sections"][name]["rows"]
print(eval(sys.argv[1]))' "$expression" 2>&1)
	[ "$got" = "$want" ] || bad+=("$expression is $got, not $want")
}

has() # FILE PART
{
	grep -q -e "$2" "$1" || bad+=("'$2' is not in: $(head -c 600 "$1")")
}

made a k 64 200 10000 0.01 gone 8 20 2000 0
made b --seed 2 k 64 200 10300 0.01 new 8 30 2000 0
made small --seed 3 k 64 200 10020 0.01 gone 8 20 2000 0
made twice --seed 4 k 64 400 10000 0.01 gone 8 20 2000 0

diff_finds_what_was_planted()
{
	local bad=()
	is 'd["verdict"], d["causal"], d["evidence"]' "('controlled', True, [])" a b
	is '[(x["finding"], x["counts"], x["count_a"], x["blocks"]) for x in s("kernels") if x["name"] == "k"]' \
		"[('more', 'equal', 200, 64)]" a b
	is '[1.02 < x["ratio_low"] < x["ratio"] < x["ratio_high"] < 1.04 for x in s("kernels") if x["name"] == "k"]' '[True]' a b
	is '[x["finding"] for x in s("kernels") if x["name"] == "k"]' "['less']" b a
	is '[x["finding"] in ("within noise", "no difference") for x in s("kernels") if x["name"] == "k"]' '[True]' a small
	is '[x["finding"] for x in s("kernels")]' "['no difference', 'no difference']" a a
	is '[x["of"] for x in s("moved")] == sorted(x["of"] for x in s("moved")) and s("moved")[0]["delta_ns"] > 0' True a b
	result diff_finds_three_percent_and_claims_no_fifth_of_one_R24_R26_R29 "${bad[@]}"
}
diff_finds_what_was_planted

diff_counts_and_states()
{
	local bad=()
	is 'sorted((x["name"], x["state"]) for x in s("kernels"))' \
		"[('gone', 'vanished'), ('k', 'both'), ('new', 'appeared')]" a b
	is '[(k in x) for x in s("kernels") if x["state"] == "appeared" for k in ("ratio", "delta_ns", "finding", "count_a")]' \
		'[False, False, False, False]' a b
	is '(d["launch_keys"]["appeared"], d["launch_keys"]["vanished"])' '(1, 1)' a b
	is '[(x["counts"], x["count_b"], x["finding"]) for x in s("kernels") if x["name"] == "k"]' \
		"[('unequal', 400, 'no difference')]" a twice
	is 's("totals")[0]["counts"], s("totals")[1]["counts"]' "('unequal', 'equal')" a twice
	"$GPUBPF" diff a twice >out
	has out 'note: 1 launch keys ran not equally often in both: their totals mix'
	has out '^  both  *200  *400  unequal'
	result diff_marks_appeared_vanished_and_unequal_counts_R27_R31 "${bad[@]}"
}
diff_counts_and_states

# Most launches take less, the mean of the name takes more.
diff_opposite_shapes()
{
	local bad=()
	made shapes-a k 8 300 1000 0.005 k 1024 40 100000 0.005
	made shapes-b --seed 2 k 8 300 900 0.005 k 1024 40 120000 0.005
	is 'sorted((x["grid"], x["finding"]) for x in s("kernels"))' "[('1024x1x1', 'more'), ('8x1x1', 'less')]" shapes-a shapes-b
	is '[(x["mean_a_ns"], x["mean_b_ns"], x["shapes_more"], x["shapes_less"], x["delta_ns"] > 0) for x in s("names")]' \
		"[('2 shapes', '2 shapes', 1, 1, True)]" shapes-a shapes-b
	"$GPUBPF" diff shapes-a shapes-b >out
	has out '^  +[0-9.]* us over 2 shapes, of which 1 take more, 1 less, 0 within the noise, 0 without a difference, 0 not compared: k$'
	has out '2 shapes  2 shapes     1     1 '
	"$GPUBPF" diff --csv names shapes-a shapes-b 2>/dev/null >out
	has out ',2 shapes,2 shapes,1,1,0,0,0,k'
	result diff_shows_shapes_that_move_in_opposite_directions_R25_R28 "${bad[@]}"
}
diff_opposite_shapes

# Every fourth launch left no record and no counter knows of it: it must not be a win of 25 %.
diff_missing_records()
{
	local bad=() join
	made lossy --vanish 4 --seed 2 k 64 200 10000 0.01 gone 8 20 2000 0
	[ "$("$GPUBPF" inspect --json lossy | jq '[.. | .dropped? // 0 | numbers] | add')" = 0 ] || bad+=('a counter knows')
	for join in 512M 1; do
		is 'd["verdict"], d["causal"]' "('inconclusive', False)" --join-limit $join a lossy
		is '[x["comparable"] for x in s("arms")]' "['yes', 'no']" --join-limit $join a lossy
		is '[x["finding"] for x in s("kernels") if x["name"] == "k"]' "['no difference (inconclusive)']" --join-limit $join a lossy
		is 's("arms")[1]["text"][:10]' 'incomplete' --join-limit $join a lossy
	done
	is 'd["evidence"]' "['lossy: incomplete: of 220 launches that should have run, 50 left no record of the device']" \
		--join-limit 1 a lossy
	"$GPUBPF" diff a lossy >out
	has out '^inconclusive: a capture is incomplete$'
	has out '^Kernels (inconclusive): '
	result diff_of_an_incomplete_capture_is_inconclusive_R3_R30 "${bad[@]}"
}
diff_missing_records

diff_hosts()
{
	local bad=()
	made other --host node2 --boot 3333 --seed 2 k 64 200 10300 0.01
	made reboot --boot 3333 --seed 2 k 64 200 10300 0.01
	made nowhere --unknown-machine --seed 2 k 64 200 10300 0.01
	is 'd["verdict"], d["causal"]' "('inconclusive', False)" a other
	is 'd["verdict"], d["causal"], d["evidence"]' \
		"('cross_host', False, ['host: node1 and node2 are not the same'])" --allow-cross-environment a other
	is 'd["verdict"], d["evidence"]' \
		"('cross_environment', ['host: node1 was started anew in between'])" --allow-cross-environment a reboot
	is 'd["verdict"], d["evidence"]' \
		"('cross_environment', ['host: cannot be verified: nowhere does not say where it was recorded'])" \
		--allow-cross-environment a nowhere
	result diff_says_cross_host_and_what_cannot_be_verified_R30 "${bad[@]}"
}
diff_hosts

diff_environment()
{
	local bad=() missing='driver libcuda build id = ?'
	made unknown-a --fact "$missing" k 64 200 10000 0.01
	made unknown-b --fact "$missing" --seed 2 k 64 200 10300 0.01
	made driver --fact 'driver driver version = 590.1' --seed 2 k 64 200 10300 0.01
	is 'd["verdict"], d["causal"], d["evidence"]' \
		"('inconclusive', False, ['driver: cannot be verified: libcuda build id'])" unknown-a unknown-b
	is '[(x["name"], x["a"], x["a_unmeasured"]) for x in s("environment") if x["state"] == "missing"]' \
		"[('libcuda build id', None, True)]" unknown-a unknown-b
	is 'd["evidence"]' "['driver: not the same: driver version']" a driver
	# withheld without the flag, in every format
	is 's("kernels"), d["sections"]["kernels"]["unmeasured"], "launch_keys" in d' '([], True, False)' a driver
	"$GPUBPF" diff a driver >out
	has out '^inconclusive: the environment is not known to be the same$'
	has out '^  unequal  driver  driver version  580.65.06  590.1$'
	grep -q '^Kernels' out && bad+=('tables are shown')
	[ "$("$GPUBPF" diff --csv kernels a driver 2>err | wc -l)" = 1 ] || bad+=('CSV has rows')
	has err 'kernels: withheld'
	# labelled with it, in every format
	is 'd["verdict"], d["causal"], {x["causal"] for x in d["sections"].values()}' "('cross_environment', False, {False})" \
		--allow-cross-environment a driver
	is '[x["finding"] for x in s("kernels") if x["name"] == "k"]' "['more (not causal)']" --allow-cross-environment a driver
	"$GPUBPF" diff --allow-cross-environment a driver >out
	has out '^cross-environment, not causal: '
	has out '^Kernels (not causal): '
	"$GPUBPF" diff --allow-cross-environment --csv kernels a driver 2>err >out
	has out ',more (not causal),64,64x1x1,'
	has err '^gpubpf: cross_environment$'
	result diff_needs_evidence_that_is_equal_and_there_R29 "${bad[@]}"
}
diff_environment

diff_several_captures()
{
	local bad=() i
	for i in 1 2 3; do
		made "a$i" --seed "$i" k 64 50 $((10000 + 20 * i)) 0.01
		made "b$i" --seed "1$i" k 64 50 $((10700 + 20 * i)) 0.01
	done
	is 'd["captures_a"], d["captures_b"], d["verdict"]' "(3, 3, 'controlled')" a1 a2 a3 -- b1 b2 b3
	is '[(x["unit"], x["units_a"], x["units_b"], x["count_a"], x["finding"]) for x in s("kernels")]' \
		"[('capture', 3, 3, 50, 'more')]" a1 a2 a3 -- b1 b2 b3
	is '[x["finding"] for x in s("kernels")]' "['no difference']" a1 a2 a3 -- a3 a1 a2
	is '[x["counts"] for x in s("kernels") if x["name"] == "k"]' "['varying']" a1 a2 -- a3 b
	result diff_of_several_captures_takes_the_capture_for_the_unit "${bad[@]}"
}
diff_several_captures

diff_formats_agree()
{
	local bad=() section
	"$GPUBPF" diff --json a b >json
	for section in arms environment moved totals kernels names transfers launches apis memory delays times; do
		"$GPUBPF" diff --csv $section a b 2>/dev/null >csv
		"$GPUBPF" diff -s $section -n 0 a b >text
		python3 -IS - $section <<'P' || bad+=("$section")
import csv, json, sys
section = json.load(open("json"))["sections"][sys.argv[1]]
rows = list(csv.DictReader(open("csv", newline="")))
assert len(rows) == len(section["rows"]) == section["row_count"], (len(rows), len(section["rows"]))
for c, j in zip(rows, section["rows"]):
    assert set(c) == set(section["columns"])
    for k, v in c.items():
        if k not in j:
            assert v == "", (k, v)
        elif j[k] is None:
            assert v == "not measured" and j[k + "_unmeasured"], k
        elif isinstance(j[k], float):
            assert abs(float(v) - j[k]) <= 1e-4 * abs(j[k]), (k, v)
        else:
            assert v == str(j[k]), (k, v, j[k])
text = open("text").read()
assert sum(line.startswith("  ") and not line.startswith("  (") for line in text.split("\n\n")[-1].split("\n")) >= len(rows)
P
	done
	result diff_text_json_and_csv_are_the_same_tables "${bad[@]}"
}
diff_formats_agree

diff_absent_is_not_zero()
{
	local bad=()
	printf '%s\n' 'took entry' 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' | make_scene host
	is 'd["sections"]["kernels"]["unmeasured_because"]' 'not measured: no device observer in these captures' \
		--allow-cross-environment host host
	is '[(x["count_a"], x["executions_a"], x["executions_a_unmeasured"]) for x in s("totals")][0]' '(1, None, True)' \
		--allow-cross-environment host host
	is 's("apis")[0]["mean_a_ns"], s("apis")[0]["mean_a_ns_unmeasured"], s("apis")[0]["untimed"], "ratio" in s("apis")[0]' \
		'(None, True, 2, False)' --allow-cross-environment host host
	is 'd["sections"]["delays"]["unmeasured_because"][:12]' 'not measured' --join-limit 1 a b
	is 'len(s("delays")), s("delays")[0]["count_a"]' '(1, 220)' a b
	# R1: nothing is not healthy, and nothing differs from it
	: | make_scene empty
	is 'd["verdict"], s("arms")[1]["verdict"], s("arms")[1]["comparable"]' "('inconclusive', 'empty', 'no')" a empty
	result diff_keeps_absent_zero_and_unmeasured_apart_R1_R14 "${bad[@]}"
}
diff_absent_is_not_zero

# Without the host observer nobody counts launches that left no record: the instrument is named, and what stands in for it.
diff_names_the_missing_instrument()
{
	local bad=()
	{ echo alone; python3 -IS "$make_pair" --facts facts k 64 20 10000 0; } | make_scene alone
	"$GPUBPF" diff --allow-cross-environment alone alone >out
	has out 'note: the host observer is missing in alone: a launch that left no record at all is not seen; `gpubpf gate -k NAME -t N`'
	"$GPUBPF" diff a a | grep -q 'host observer is missing' && bad+=('it is not')
	if "$GPUBPF" --help | grep -q '^ *gate '; then
		"$GPUBPF" gate --help | grep -q -e '-k' && "$GPUBPF" gate --help | grep -q -e '-t' || bad+=('no such option of gate')
	fi
	"$GPUBPF" diff --help | grep -q -e --allow-cross-environment || bad+=('no such option')
	"$GPUBPF" diff --help | grep -q -e --join-limit || bad+=('no such option')
	result diff_names_the_missing_instrument_R3_R20 "${bad[@]}"
}
diff_names_the_missing_instrument

diff_other_resources()
{
	local bad=()
	made copies-a --bytes 4096 k 64 100 10000 0
	made copies-b --bytes 8192 --call-ns 1500 k 64 100 10000 0
	is '[(x["bytes_a"], x["bytes_b"], x["direction"]) for x in s("transfers")]' "[(4096, 8192, 'h2d')]" copies-a copies-b
	is '[(x["kind"], x["bytes_a"], x["peak_b_bytes"]) for x in s("memory")]' "[('device', 4096, 8192)]" copies-a copies-b
	is '[(x["finding"], round(x["ratio"], 3)) for x in s("apis") if x["api"] == "cuLaunchKernel"]' "[('more', 1.5)]" copies-a copies-b
	is '[x["what"] for x in s("times")]' \
		"['devices: from the first execution to the last', 'devices: busy', 'devices: idle', 'host: from the first call to the last']" \
		copies-a copies-b
	is 's("delays")[0]["finding"]' 'no difference' copies-a copies-b
	result diff_compares_copies_memory_calls_delay_and_idle_time "${bad[@]}"
}
diff_other_resources

# What a streamed capture says of the device is what the join says.
diff_streamed_is_the_same()
{
	local bad=() section pair
	for pair in "a b" "copies-a copies-b"; do
		for section in kernels names transfers totals apis; do
			# but for p, which is corrected for all tests: there are more where delays are known
			"$GPUBPF" diff --csv $section $pair 2>/dev/null | sed 's/,[0-9.]*e-[0-9]*,/,p,/' >joined
			"$GPUBPF" diff --join-limit 1 --csv $section $pair 2>/dev/null | sed 's/,[0-9.]*e-[0-9]*,/,p,/' >streamed
			cmp -s joined streamed || bad+=("$section: $(diff joined streamed | head -n 4)")
		done
	done
	result diff_of_streamed_captures_is_the_same "${bad[@]}"
}
diff_streamed_is_the_same

diff_refuses()
{
	local bad=() out
	out=$("$GPUBPF" diff a 2>&1); [ $? = 2 ] || bad+=("one capture: $out")
	out=$("$GPUBPF" diff a b a 2>&1); [ $? = 2 ] || bad+=("three: $out")
	[[ $out == *'`gpubpf diff A1 A2 -- B1 B2`'* ]] || bad+=("says: $out")
	out=$("$GPUBPF" diff --csv kernel a b 2>&1); [ $? = 2 ] || bad+=("section: $out")
	[[ $out == *"did you mean 'kernels'"* ]] || bad+=("says: $out")
	out=$("$GPUBPF" diff --floor x a b 2>&1); [ $? = 2 ] || bad+=("floor: $out")
	out=$("$GPUBPF" diff a nothere 2>&1); [ $? = 1 ] || bad+=("no file: $out")
	printf 'no capture' >broken
	out=$("$GPUBPF" diff a broken 2>&1); [ $? = 1 ] || bad+=("no capture: $out")
	"$GPUBPF" diff a b >/dev/null || bad+=('status of a comparison')
	is '[x["finding"] for x in s("kernels") if x["name"] == "k"]' "['within noise']" --floor 5 a b
	result diff_refuses_what_it_cannot_compare "${bad[@]}"
}
diff_refuses

diff_order()
{
	local bad=()
	# b has its new kernel where a has the one that is gone, and ten more
	is '[(x["state"], x["same"], x["length_a"], x["length_b"], x["first_a"], x["first_b"]) for x in s("order")]' 		"[('differ', 1, 220, 230, 'gone 8x1x1 128x1x1', 'new 8x1x1 128x1x1')]" --order a b
	is '[("common" in x) for x in s("order")], "order_places" in d["sections"]' '([False], False)' --order=quick a b
	is '[(x["common"], x["only_a"], x["only_b"], x["places"]) for x in s("order")]' '[(200, 20, 30, 30)]' --order=lcs a b
	is '[(x["at_a"], x["at_b"], x["only_a"], x["only_b"]) for x in s("order_places")][-1]' '(50, 59, 0, 1)' --join-limit 1 --order=lcs a b
	is '[(x["state"], x["same"]) for x in s("order")]' "[('equal', 220)]" --order=lcs a a
	is '"order" in d["sections"]' False a b
	"$GPUBPF" diff --order a1 a2 -- b1 b2 >/dev/null 2>err && bad+=('of several captures')
	has err 'holds one capture against one other'
	result diff_order_finds_the_first_divergence_and_what_is_common "${bad[@]}"
}
diff_order

diff_page()
{
	local bad=()
	made '<i>&"x' k 64 20 10000 0
	"$GPUBPF" diff --allow-cross-environment --order --html page.html a driver >/dev/null || bad+=("status $?")
	python3 -IS - <<'P' || bad+=('the page')
from html.parser import HTMLParser
page = open("page.html").read()
seen, rows, texts = [], 0, []
class P(HTMLParser):
    def handle_starttag(self, tag, attrs):
        global rows
        seen.append(tag)
        rows += tag == "tr"
        assert not any(k in ("src", "href") for k, _ in attrs)
    def handle_data(self, d):
        texts.append(d.strip())
P().feed(page)
assert rows > 20 and "Kernels (not causal)" in texts and "more (not causal)" in texts and "Order (not causal)" in texts
assert "cross_environment" in page and len(page) < 100000
P
	"$GPUBPF" diff --html page.html a '<i>&"x' >/dev/null
	grep -q '<i>' page.html && bad+=('a name is markup')
	grep -q '&lt;i>&amp;&quot;x' page.html || bad+=('a name is lost')
	"$GPUBPF" diff --html nowhere/page.html a b >/dev/null 2>err && bad+=('no folder')
	result diff_page_has_the_tables_and_loads_nothing_R29 "${bad[@]}"
}
diff_page

same diff_golden_text diff.txt a b
same diff_golden_several diff-opposite.txt -s kernels -s names shapes-a shapes-b
same diff_golden_csv_R31 diff-kernels.csv --csv kernels a b
