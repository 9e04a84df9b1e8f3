#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `gpubpf report` on made captures of both observers: golden text, JSON and CSV, what is absent, what nobody observed.
. tests/e2e/lib.sh

golden=tests/e2e/golden
scene=$B/tests/tools/mkscene
report=("$GPUBPF" report)
. tests/e2e/golden.sh

# is FILE EXPRESSION VALUE: a Python expression over the JSON report `r`, s(name) a section's rows; adds to `bad`.
is()
{
	local got
	got=$("${report[@]}" --json "$1" | python3 -c '
import json, sys
r = json.load(sys.stdin)
s = lambda name: r["sections"][name]["rows"]
print(eval(sys.argv[1]))' "$2" 2>&1)
	[ "$got" = "$3" ] || bad+=("$2 is $got, not $3")
}

[ -x "$scene" ] || { printf 'skip report_device: %s\n' "$scene"; exit 0; }
"$scene" "$T/scene" <"$golden/device.scene" || {
	not_ok report_device_scene "mkscene: status $?"
	exit 1
}

same report_device_golden_text_R15_R18_R25 device.txt "$T/scene"
same report_device_golden_csv_kernels_R24 device-kernels.csv --csv kernels "$T/scene"
same report_device_golden_csv_copies_C29 device-copies.csv --csv device_copies "$T/scene"
same report_device_golden_of_one_thread_C28 device-thread.txt -t 101 -s kernels -s devices "$T/scene"
"${report[@]}" --json "$T/scene" | sed "s|\"file\":\"[^\"]*\"|\"file\":\"scene\"|" >"$T/json"
[ "${GOLDEN_UPDATE:-}" ] && cp "$T/json" $golden/device.json
if cmp -s "$T/json" $golden/device.json && python3 -m json.tool "$T/json" >/dev/null; then
	ok report_device_golden_json
else
	not_ok report_device_golden_json "$(diff $golden/device.json "$T/json" | head -n 20 | cut -c 1-300)"
fi

report_device_counts_what_was_planted()
{
	local bad=()
	is "$T/scene" 'sum(x["launches"] + x["graph_nodes"] for x in s("kernels"))' 13
	is "$T/scene" 'sum(x["copies"] for x in s("device_copies")), sum(x["sets"] for x in s("device_sets"))' '(7, 3)'
	is "$T/scene" 'sum(x["records"] for x in s("timestamps"))' 23
	is "$T/scene" '[(x["launches"], x["least_nodes"], x["most_nodes"]) for x in s("graph_runs")]' '[(2, 3, 3)]'
	is "$T/scene" 'sorted((x["direction"], x["bytes"]) for x in s("device_copies"))' \
		"[('d2d', 16384), ('d2h', 4096), ('h2d', 1048576), ('h2d', 1048576), ('peer', 65536)]"
	is "$T/scene" '[x["loads"] for x in s("modules")], s("module_loads")[0]["unclassified"]' '([2, 1], 3)'
	result report_device_counts_what_was_planted_C5_C29 "${bad[@]}"
}
report_device_counts_what_was_planted

# What waited behind a kernel of 1 ms waited 1 ms; what overlaps on one stream is there twice and busy once.
report_device_delays_and_overlap()
{
	local bad=()
	is "$T/scene" '[x["delay_p99_ns"] // 10000 for x in s("kernels") if x["grid"] == "64x1x1"]' '[100]'
	is "$T/scene" '[(x["busy_ns"], x["overlap_ns"], x["work_ns"]) for x in s("streams") if x["stream"] == 8]' \
		'[(217500, 22500, 240000)]'
	is "$T/scene" '[x["depth_peak"] for x in s("streams") if x["stream"] == 8]' '[3]'
	result report_device_delays_and_overlap_C19_C25 "${bad[@]}"
}
report_device_delays_and_overlap

report_device_lists_violations()
{
	local bad=()
	is "$T/scene" '[(x["early_ns"], x["judgement"]) for x in s("causality")]' \
		"[(900, 'beyond the bound'), (30, 'within the bound')]"
	is "$T/scene" 's("timestamps")[0]["early"], s("timestamps")[0]["early_beyond"]' '(2, 1)'
	is "$T/scene" 'min(x["delay_p50_ns"] or 0 for x in s("streams")) >= 0' True
	is "$T/scene" '[x["clock_error_ns"] for x in s("sessions")]' '[40, 40]'
	result report_device_lists_violations_C18_R22 "${bad[@]}"
}
report_device_lists_violations

# The instruments' own absence, a recorded zero and a missing key, in one row.
report_device_keeps_absent_zero_and_unmeasured_apart()
{
	local bad=() row='[x for x in s("kernels") if x["grid"] == "1x1x1"][0]'
	is "$T/scene" "$row[\"delay_p50_ns\"], $row[\"delay_p50_ns_unmeasured\"], $row[\"static_shared_bytes\"], \"cluster\" in $row" \
		'(None, True, 0, False)'
	"${report[@]}" --csv kernels "$T/scene" | grep -q '^2,0,0,.*,not measured,not measured,1,1x1x1,32x1x1,,40,0,0,0,' ||
		bad+=('CSV')
	"${report[@]}" -s kernels "$T/scene" | grep -q 'not measured  not measured  *1  1x1x1  *32x1x1  *-  *40  *0 B' ||
		bad+=('text')
	is "$T/scene" '[(x["others_busy_ns"], x["others_busy_ns_unmeasured"]) for x in s("devices")][0]' '(None, True)'
	result report_device_keeps_absent_zero_and_unmeasured_apart_R14_R16 "${bad[@]}"
}
report_device_keeps_absent_zero_and_unmeasured_apart

report_device_counts_shapes()
{
	local bad=()
	is "$T/scene" '[x["gpu_mean_ns"] for x in s("kernel_names") if "axpy" in x["name"]]' "['2 shapes']"
	"${report[@]}" -s kernel_names "$T/scene" | grep -q '2  2 shapes  *1.00 ms  axpy' || bad+=('text')
	"${report[@]}" --csv kernel_names "$T/scene" | grep -q ',2,2 shapes,' || bad+=('CSV')
	result report_device_counts_shapes_R25 "${bad[@]}"
}
report_device_counts_shapes

# Launches that the device observer did not deliver are said before anything else, with what may be behind it.
report_device_silence_is_loud()
{
	local bad=() first
	printf '%s\n' arm 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' 'wait 10000' disarm | "$scene" "$T/silent"
	first=$("${report[@]}" "$T/silent" | head -n 1)
	[[ $first == incomplete:*'not one record'*'second profiler'*permission* ]] || bad+=("says: $first")
	is "$T/silent" 'r["verdict"]["verdict"], s("observers")[0]["unexplained"]' "('incomplete', 1)"
	"${report[@]}" --csv kernels "$T/silent" 2>&1 >/dev/null | grep -q 'not one record' || bad+=('CSV does not warn')
	result report_device_silence_is_loud_R1_R3 "${bad[@]}"
}
report_device_silence_is_loud

report_device_never_armed_measured_nothing()
{
	local bad=()
	printf '%s\n' 'failed 3' 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' | "$scene" "$T/failed"
	"${report[@]}" "$T/failed" >"$T/out"
	head -n 1 "$T/out" | grep -q 'another profiler in the process holds CUPTI' || bad+=("$(head -n 1 "$T/out")")
	grep -q '^Kernels on the device' "$T/out" && bad+=('tables of what was not observed')
	"${report[@]}" -s kernels "$T/failed" |
		grep -q '^Kernels on the device: not measured (the device observer was never armed)' || bad+=('by name')
	is "$T/failed" '[x["end"] for x in s("sessions")]' "['never armed: second_subscriber']"
	result report_device_never_armed_measured_nothing_C22_R5 "${bad[@]}"
}
report_device_never_armed_measured_nothing

report_of_one_observer_is_as_before()
{
	local bad=()
	"$scene" "$T/host" <"$golden/report.scene"
	"${report[@]}" "$T/host" | grep -q 'on the device' && bad+=('sections of the device')
	"${report[@]}" -s kernels "$T/host" |
		grep -q '^Kernels on the device: not measured (no device observer in this capture)' || bad+=('text')
	"${report[@]}" --json -s devices "$T/host" | grep -q '"devices":{.*"unmeasured":true' || bad+=('JSON')
	"${report[@]}" --csv gaps "$T/host" 2>&1 >/dev/null | grep -q 'gaps: not measured' || bad+=('CSV')
	"${report[@]}" -s waits "$T/host" | grep -q cuStreamSynchronize || bad+=('waits are seen by the host')
	result report_of_one_observer_is_as_before_R14 "${bad[@]}"
}
report_of_one_observer_is_as_before

report_device_filters()
{
	local bad=()
	"${report[@]}" -p 200 "$T/scene" | grep -q 'note: 22 records of the device belong to other' || bad+=('-p 200')
	[ "$("${report[@]}" -p 200 --csv kernels "$T/scene" | wc -l)" = 2 ] || bad+=('-p 200 --csv')
	"${report[@]}" -t 101 "$T/scene" | grep -q "^Devices: not shown for a choice of threads" || bad+=('-t 101')
	result report_device_filters "${bad[@]}"
}
report_device_filters

report_device_obeys_no_name()
{
	local bad=()
	printf '%s\n' arm $'name 1 a\033[2J,"b\377' 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' 'seen launch' \
		'ran kernel 2000 1000 name 1' 'wait 10000' disarm | "$scene" "$T/names"
	"${report[@]}" "$T/names" | grep -qaF $'\033' && bad+=('an escape character in text')
	"${report[@]}" "$T/names" | grep -qF 'a\x1b[2J,"b\xff' || bad+=('the name is not shown')
	"${report[@]}" --json "$T/names" | python3 -m json.tool >/dev/null || bad+=('JSON')
	result report_device_obeys_no_name "${bad[@]}"
}
report_device_obeys_no_name

report_device_help_names_every_section()
{
	local bad=() name
	for name in $("${report[@]}" --json "$T/scene" | jq -r '.sections | keys[]'); do
		"${report[@]}" --help | tr -d '\n' | tr -s ' ' | grep -q "[ ,]$name[,.]" || bad+=("$name")
	done
	result report_device_help_names_every_section_R20 "${bad[@]}"
}
report_device_help_names_every_section
