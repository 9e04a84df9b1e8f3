#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `gpubpf report` on made captures: golden text, JSON and CSV, filters, what is absent, what is refused.
. tests/e2e/lib.sh

golden=tests/e2e/golden
scene=$B/tests/tools/mkscene
report=("$GPUBPF" report)
. tests/e2e/golden.sh

# query FILE EXPRESSION: a Python expression over the JSON report `r`; s(name) is a section's rows.
query()
{
	"${report[@]}" --json "$1" | python3 -c '
import json, sys
r = json.load(sys.stdin)
s = lambda name: r["sections"][name]["rows"]
print(eval(sys.argv[1]))' "$2"
}

# is FILE EXPRESSION VALUE: adds to `bad` what is not so.
is()
{
	local got
	got=$(query "$1" "$2" 2>&1)
	[ "$got" = "$3" ] || bad+=("$2 is $got, not $3")
}

# refused NAME STATUS TEXT ARG…: exits so, says so on stderr, prints nothing on stdout.
refused()
{
	local name=$1 want=$2 text=$3 bad=() got
	shift 3
	"${report[@]}" "$@" >"$T/out" 2>"$T/err"
	got=$?
	[ $got = "$want" ] || bad+=("status $got, not $want")
	[ -s "$T/out" ] && bad+=('something on standard output')
	grep -qF -- "$text" "$T/err" || bad+=("says: $(head -n 1 "$T/err")")
	result "$name" "${bad[@]}"
}

for tool in "$scene" "$B/tests/tools/mkcapture"; do
	[ -x "$tool" ] || { printf 'skip report: %s\n' "$tool"; exit 0; }
done

"$scene" "$T/scene" <"$golden/report.scene" || {
	not_ok report_scene "mkscene: status $?"
	exit 1
}

same report_golden_text_R15_R18 report.txt "$T/scene"
same report_golden_csv report-launches.csv --csv launches "$T/scene"
same report_golden_csv_copies_C29 report-copies.csv --csv copies "$T/scene"
same report_golden_threads_C28 report-threads.txt --threads -s threads -n 0 "$T/scene"
"${report[@]}" --json "$T/scene" | sed "s|\"file\":\"[^\"]*\"|\"file\":\"scene\"|" >"$T/json"
[ "${GOLDEN_UPDATE:-}" ] && cp "$T/json" $golden/report.json
if cmp -s "$T/json" $golden/report.json && python3 -m json.tool "$T/json" >/dev/null; then
	ok report_golden_json
else
	not_ok report_golden_json "$(diff $golden/report.json "$T/json" | head -n 20 | cut -c 1-300)"
fi

report_counts_what_was_planted()
{
	local bad=()
	is "$T/scene" 'sum(x["launches"] for x in s("launches"))' 5
	is "$T/scene" 'sum(x["captured"] for x in s("launches"))' 1
	is "$T/scene" 'sum(x["failed"] for x in s("launches"))' 1
	is "$T/scene" '[x["nested"] for x in s("apis") if x["api"] == "cuLaunchKernel"]' '[1]'
	is "$T/scene" '[x["name"] for x in s("launches") if "handle" in x]' "['<unresolved 0x6000>']"
	is "$T/scene" '[x["in_flight"] for x in s("apis") if x["api"] == "cuStreamSynchronize"]' '[1]'
	is "$T/scene" '[x["not_ready"] for x in s("apis") if x["api"] == "cuStreamQuery"]' '[1]'
	is "$T/scene" '[(x["matched"], x["unknown"]) for x in s("frees")]' '[(1, 1)]'
	is "$T/scene" 'r["verdict"]["verdict"]' uncontradicted
	result report_counts_what_was_planted_C16_C28 "${bad[@]}"
}
report_counts_what_was_planted

# One row with a key left out, a recorded zero and a null.
report_keeps_absent_zero_and_unmeasured_apart()
{
	local bad=() row='[x for x in s("copies") if x["direction"] == "batch"][0]'
	is "$T/scene" "$row[\"bytes\"], $row[\"bytes_unmeasured\"], $row[\"failed\"]" '(None, True, 0)'
	is "$T/scene" '"pid" in [x for x in s("launches") if "axpy" in x["name"]][0]' False
	is "$T/scene" '[(x["total_ns"] if "total_ns" in x else "absent") for x in s("apis") if x["in_flight"]]' \
		"['absent']"
	"${report[@]}" --csv copies "$T/scene" | grep -q '^1,0,0,0,3,not measured,3,0,not measured,' || bad+=('CSV')
	result report_keeps_absent_zero_and_unmeasured_apart_R14 "${bad[@]}"
}
report_keeps_absent_zero_and_unmeasured_apart

report_of_entry_only_measures_no_time()
{
	local bad=()
	printf '%s\n' 'took entry' 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' 'took entry' \
		'cuMemAlloc_v2 0 4096' 'took entry' 'cuMemFree_v2 0x1000' | "$scene" "$T/entry"
	"${report[@]}" "$T/entry" >"$T/out" || bad+=("status $?")
	grep -q 'entry-only capture: results and durations were not measured' "$T/out" || bad+=('no note')
	is "$T/entry" '[(x["calls"], x["total_ns"], x["failed"], x["p99_ns_unmeasured"]) for x in s("apis")]' \
		'[(1, None, None, True), (1, None, None, True), (1, None, None, True)]'
	is "$T/entry" '[(x["launches"], x["failed"], x["host_ns"]) for x in s("launches")]' '[(1, None, None)]'
	is "$T/entry" '[(x["allocated"], x["live"], x["freed"]) for x in s("memory")]' '[(1, None, None)]'
	is "$T/entry" '[(x["calls"], x["matched"], x["unknown"]) for x in s("frees")]' '[(1, None, None)]'
	result report_of_entry_only_measures_no_time_R14_R19 "${bad[@]}"
}
report_of_entry_only_measures_no_time

report_of_nothing_is_empty()
{
	local bad=()
	: | "$scene" "$T/empty"
	"${report[@]}" "$T/empty" >"$T/out" || bad+=("status $?")
	head -n 1 "$T/out" | grep -q '^empty' || bad+=("first line: $(head -n 1 "$T/out")")
	grep -q '^Launches: none recorded' "$T/out" || bad+=('launches')
	"${report[@]}" --json "$T/empty" | python3 -m json.tool >/dev/null || bad+=('JSON')
	"${report[@]}" --csv launches "$T/empty" 2>"$T/err" | grep -q '^launches,' || bad+=('CSV header')
	grep -q 'empty' "$T/err" || bad+=('CSV does not warn')
	result report_of_nothing_is_empty_R1 "${bad[@]}"
}
report_of_nothing_is_empty

report_names_losses_first()
{
	local bad=()
	printf '%s\n' 'cuInit 0' 'lose cuLaunchKernel' 'lose cuLaunchKernel' | "$scene" "$T/lossy"
	"${report[@]}" "$T/lossy" >"$T/out" || bad+=("status $?")
	head -n 1 "$T/out" | grep -q '^incomplete' || bad+=("first line: $(head -n 1 "$T/out")")
	sed -n 2p "$T/out" | grep -q 'missing: .*2' || bad+=("second line: $(sed -n 2p "$T/out")")
	result report_names_losses_first_R2 "${bad[@]}"
}
report_names_losses_first

report_filters()
{
	local bad=()
	"${report[@]}" --json -p 200 "$T/scene" | grep -q '"filtered_calls":27' || bad+=('-p 200')
	"${report[@]}" -t 101 "$T/scene" | grep -q '^Memory: not shown for a choice of threads' || bad+=('-t 101')
	[ "$("${report[@]}" -p 200 --csv launches "$T/scene" | wc -l)" = 2 ] || bad+=('-p 200 --csv')
	result report_filters "${bad[@]}"
}
report_filters

report_sorts_and_limits()
{
	local bad=() first
	"${report[@]}" -s apis -n 2 "$T/scene" | grep -q '^  15 more (-n 0 shows all)$' || bad+=('limit')
	"${report[@]}" -s apis -n 0 "$T/scene" | grep -q ' more ' && bad+=('-n 0')
	first=$("${report[@]}" --csv apis --sort api "$T/scene" | sed -n 2p | tr -d '\r')
	[ "${first##*,}" = cuArrayCreate_v2 ] || bad+=("--sort api starts with ${first##*,}")
	first=$("${report[@]}" --csv launches --sort blocks "$T/scene" | sed -n 4p | cut -d , -f 5)
	[ "$first" = 1 ] || bad+=("--sort blocks ends with $first")
	result report_sorts_and_limits "${bad[@]}"
}
report_sorts_and_limits

# Names come from the process: they reach the terminal as text, never as commands to it.
report_obeys_no_name()
{
	local bad=()
	printf '%s\n' 'out 0x5000' $'text a\033[2J,"b\377' 'cuModuleGetFunction 0 0x900 0' \
		'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' | "$scene" "$T/names"
	"${report[@]}" "$T/names" | grep -qaF $'\033' && bad+=('an escape character in text')
	"${report[@]}" "$T/names" | grep -qF 'a\x1b[2J,"b\xff' || bad+=('the name is not shown')
	"${report[@]}" --json "$T/names" | python3 -m json.tool >/dev/null || bad+=('JSON')
	NO_COLOR=1 script -qec "${report[*]} $T/names" /dev/null 2>/dev/null | grep -qaF $'\033' && bad+=('NO_COLOR')
	result report_obeys_no_name "${bad[@]}"
}
report_obeys_no_name

# R20: what the output advises exists.
report_advises_what_exists()
{
	local bad=() command
	for command in inspect report; do
		"$GPUBPF" "$command" --help >/dev/null 2>&1 || bad+=("gpubpf $command --help")
	done
	for command in --threads --section --limit --sort --pid --thread --csv --json; do
		"${report[@]}" --help | grep -q -- "$command" || bad+=("report $command")
	done
	"$GPUBPF" inspect --help | grep -q -- --records || bad+=('inspect --records')
	result report_advises_what_exists_R20 "${bad[@]}"
}
report_advises_what_exists

report_is_the_same_every_time()
{
	local bad=()
	"$B/tests/tools/mkcapture" --calls 20000 --threads 3 --keys 20 -f "$T/c" >/dev/null
	"${report[@]}" --json "$T/c" >"$T/a"
	"${report[@]}" --json "$T/c" >"$T/b"
	cmp -s "$T/a" "$T/b" || bad+=('two runs differ')
	is "$T/c" 'sum(x["calls"] for x in s("apis"))' 20000
	is "$T/c" 'sum(x["launches"] for x in s("launches")) == [x["calls"] for x in s("apis") if x["api"] == "cuLaunchKernel"][0]' True
	result report_is_the_same_every_time_R43 "${bad[@]}"
}
report_is_the_same_every_time

refused report_needs_a_file 2 'report needs the name of a capture file'
refused report_of_a_missing_file_R7 1 'No such file' "$T/none"
refused report_of_no_capture_R7 1 'is no gpubpf capture' "$0"
refused report_unknown_section 2 "did you mean 'launches'?" -s launchs "$T/scene"
refused report_unknown_column 2 "no section that is printed has a column 'spin'" --sort spin "$T/scene"
refused report_unknown_process 1 'no process 4711 in this capture' -p 4711 "$T/scene"
refused report_unknown_thread 1 'no thread 4711 in this capture' -t 4711 "$T/scene"
refused report_csv_and_json 2 'exclude each other' --csv apis --json "$T/scene"
