#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 6000
# Large captures in every form: each export is read back by another reader, its totals are those of the canonical JSON, and
# what writing takes in memory does not grow with the capture. Nothing large touches the disk but the capture, the database,
# and one trace at a time.
#
#   test_exports.sh [CALLS]    calls, as many of the shim and as many executions (default: 30000; `make test-long`: 10 million)
. tests/e2e/lib.sh
CALLS=${1:-30000}
tools=$B/tests/tools
ROOM_KB=153600 # of memory, for what a form takes beyond reading and joining: 150 MiB (issue: timeline)

"$tools/mkdevice" --wall --calls "$CALLS" "$T/large" >/dev/null
/usr/bin/time -f %M -o "$T/join.kb" "$GPUBPF" inspect "$T/large" >/dev/null
totals() { python3 tests/long/totals.py "$@"; }
# form NAME COMMAND…: standard output is what the form is; its memory into $T/NAME.kb
form()
{
	local name=$1
	shift
	/usr/bin/time -q -f %M -o "$T/$name.kb" "$GPUBPF" "$@" 2>"$T/$name.err"
}
lean() # NAME: adds to `bad` when it took more memory than the join and some
{
	local more=$(($(cat "$T/$1.kb") - $(cat "$T/join.kb")))
	[ $more -le $ROOM_KB ] || bad+=("$1: $more KiB of memory beyond the join")
	echo "# $1: $((more / 1024)) MiB of memory beyond reading and joining"
}

tables_of_a_large_capture()
{
	local bad=() t
	form json export -f json "$T/large" | totals json >"$T/want"
	[ "$(sed -n 's/^calls \([0-9]*\) .*/\1/p' "$T/want")" = "$CALLS" ] || bad+=("$(cat "$T/want")")
	form jsonl export -f jsonl "$T/large" | totals jsonl | cmp -s "$T/want" - || bad+=('JSON lines')
	form sqlite export -f sqlite -o "$T/large.sqlite" "$T/large"
	totals sqlite "$T/large.sqlite" | cmp -s "$T/want" - || bad+=("SQLite: $(totals sqlite "$T/large.sqlite")")
	rm -f "$T/large.sqlite"
	for t in calls device_calls executions copies; do
		form csv export -f csv --table $t "$T/large" | totals csv $t
	done | cmp -s "$T/want" - || bad+=('CSV')
	lean json && lean jsonl && lean sqlite && lean csv
	result tables_of_a_large_capture "${bad[@]}"
}
tables_of_a_large_capture

# GPU time and executions; the profile is small, whatever it was made of.
profiles_of_a_large_capture()
{
	local bad=() ran time
	read -r _ ran time <<<"$(grep '^executions' "$T/want")"
	form folded export -f folded "$T/large" | totals folded | grep -qx "executions - $time" || bad+=('folded')
	form pprof export -f pprof "$T/large" >"$T/large.pb.gz"
	python3 tests/tools/pprof.py "$T/large.pb.gz" >"$T/pprof.json" || bad+=('pprof is wrong')
	[ "$(jq -c '[([.samples[].values.executions] | add), ([.samples[].values.gpu_time] | add)]' "$T/pprof.json")" = "[$ran,$time]" ] ||
		bad+=('pprof has other totals')
	lean folded && lean pprof
	result profiles_of_a_large_capture "${bad[@]}"
}
profiles_of_a_large_capture

# Spans of OpenTelemetry: one for each of what there is three of, and the process.
spans_of_a_large_capture()
{
	local bad=() spans
	spans=$(form otlp export -f otlp "$T/large" | grep -o '"spanId":' | wc -l)
	[ "$spans" = $((3 * CALLS + 1)) ] || bad+=("$spans spans of $CALLS calls, as many of the shim and executions, and a process")
	lean otlp
	result spans_of_a_large_capture "${bad[@]}"
}
spans_of_a_large_capture

# Every execution and every call is a slice of the trace, and the size that was computed first is the one that was written.
traces_of_a_large_capture()
{
	local bad=() said bytes
	form perfetto timeline "$T/large" -o "$T/large.pftrace"
	said=$(sed -n 's/.*: \([0-9,]*\) slices.*/\1/p' "$T/perfetto.err" | tr -d ,)
	[ "$said" = $((2 * CALLS)) ] || bad+=("Perfetto: $(cat "$T/perfetto.err")")
	bytes=$(stat -c %s "$T/large.pftrace")
	[ "$(form perfetto timeline -q "$T/large" -o - | wc -c)" = "$bytes" ] || bad+=('Perfetto: another size through a pipe')
	rm -f "$T/large.pftrace"
	[ "$(form chrome timeline -q --format chrome "$T/large" -o - | grep -c '"ph":"X"')" = $((2 * CALLS)) ] || bad+=('Chrome')
	form page timeline "$T/large" --html "$T/large.html"
	[ "$(sed -n 's/.*: \([0-9,]*\) slices.*/\1/p' "$T/page.err" | tr -d ,)" = $((2 * CALLS)) ] || bad+=("page: $(cat "$T/page.err")")
	rm -f "$T/large.html"
	lean perfetto && lean chrome && lean page
	result traces_of_a_large_capture "${bad[@]}"
}
traces_of_a_large_capture
