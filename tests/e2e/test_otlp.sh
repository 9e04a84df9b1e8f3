#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `gpubpf export --format otlp`: traces, logs and metrics as OTLP's JSON encoding has them, held against the report.
. tests/e2e/lib.sh

golden=tests/e2e/golden
start=1700000000000000000 # of the capture, whose own clock shows 1000000 then

{ echo "wall $start"; cat "$golden/device.scene"; } | make_scene scene
{ echo "wall $start"; echo alone; cat "$golden/device.scene"; } | make_scene alone
{ echo "wall $start"; cat "$golden/report.scene"; } | make_scene host

otlp() # NAME: all signals into $T/NAME.SIGNAL
{
	local s
	for s in traces logs metrics; do
		"$GPUBPF" export --format otlp --signal $s -o "$T/$1.$s" "$T/$1" 2>"$T/err" || not_ok "otlp_$1_$s" "$(cat "$T/err")"
	done
}

# What follows works on plain objects: attributes by key, integers as numbers (jq's are exact up to 2^53: times stay texts).
plain='def value: .stringValue // (.intValue | values | tonumber) // .boolValue // .doubleValue //
		(.arrayValue.values | values | map(value));
	def attributes: map({(.key): (.value | if has("boolValue") then .boolValue else value end)}) | add // {};
	def spans: [.[].resourceSpans[].scopeSpans[].spans[] | .attributes |= attributes];
	def logs: [.[].resourceLogs[].scopeLogs[].logRecords[] | .attributes |= attributes];
	def metric($n): [.[].resourceMetrics[].scopeMetrics[].metrics[] | select(.name == $n) |
		(.sum // .gauge // .histogram).dataPoints[] | .attributes |= attributes];
	def calls: map(select(.attributes | has("gpubpf.population")));
	def ran: map(select(.attributes | has("gpubpf.kind")));'

is() # FILE EXPRESSION VALUE: adds to `bad`
{
	local got
	got=$(jq -cs "$plain $2" "$T/$1" 2>&1)
	[ "$got" = "$3" ] || bad+=("$1: $2 is $got, not $3")
}

reported() # NAME JQ-EXPRESSION
{
	"$GPUBPF" report --json "$T/$1" | jq "$2"
}

otlp_counts_what_the_report_counts() # NAME …
{
	local bad=() name n
	for name in "$@"; do
		n=$(jq -s "$plain spans | calls | map(select(.attributes[\"gpubpf.call.depth\"] == null)) | length" "$T/$name.traces")
		n=$((n + $(jq -s "$plain logs | calls | map(select(.attributes[\"gpubpf.call.depth\"] == null)) | length" "$T/$name.logs")))
		[ $n = "$(reported "$name" '[.sections.apis.rows[].calls] | add')" ] || bad+=("$name: $n calls")
		[ "$name" != host ] || continue # nobody saw what ran
		n=$(jq -s "$plain spans | ran | length" "$T/$name.traces")
		n=$((n + $(jq -s "$plain logs | ran | length" "$T/$name.logs")))
		[ $n = "$(reported "$name" '.capture.device_records')" ] || bad+=("$name: $n executions")
		is "$name.metrics" 'metric("gpubpf.calls") | map(.asInt | tonumber) | add' \
			"$(reported "$name" '[.sections.apis.rows[].calls] | add')"
		is "$name.metrics" 'metric("gpubpf.execution.time") | map(.asInt | tonumber) | add' \
			"$(reported "$name" '[.sections | .kernels, .device_copies, .device_sets | .rows[].gpu_ns // 0] | add')"
		is "$name.metrics" 'metric("gpubpf.execution.bytes") | map(.asInt | tonumber) | add' \
			"$(reported "$name" '[.sections | .device_copies, .device_sets | .rows[].bytes] | add')"
		is "$name.metrics" 'metric("gpubpf.executions") | map(.asInt | tonumber) | add' \
			"$(reported "$name" '[.sections.timestamps.rows[].records] | add')"
		is "$name.metrics" 'metric("gpubpf.device.busy_time") | map(.asInt | tonumber)' \
			"$(reported "$name" '[.sections.devices.rows[].busy_ns]' | jq -c .)"
		is "$name.metrics" 'metric("gpubpf.launch.delay") | map([.count, (.bucketCounts | map(tonumber) | add | tostring), .max])' \
			"$(reported "$name" '[.sections.devices.rows[] | [(.delays | tostring), (.delays | tostring), .delay_max_ns]]' | jq -c .)"
		is "$name.metrics" 'metric("gpubpf.device.calls") | map(.asInt | tonumber) | add' \
			"$(reported "$name" '[.sections.observers.rows[].calls] | add')"
		is "$name.metrics" 'metric("gpubpf.verdict") | map(select(.asInt == "1").attributes["gpubpf.verdict"])' \
			"$(reported "$name" '[.verdict.verdict]' | jq -c .)"
	done
	result otlp_counts_what_the_report_counts "${bad[@]}"
}

otlp_ids_lead_somewhere()
{
	local bad=() name
	for name in "$@"; do
		is "$name.traces" 'spans | [length, (map(.spanId) | unique | length)] | .[0] == .[1] and .[0] > 0' true
		is "$name.traces" 'spans | (map({(.spanId): .traceId}) | add) as $of |
			map(select(.parentSpanId) | $of[.parentSpanId] == .traceId) | all' true
		is "$name.traces" 'spans | map(.spanId) as $ids | map(.links // [] | .[].spanId) - $ids' '[]'
		is "$name.traces" 'spans | map(select(.parentSpanId | not).traceId) | [length, (unique | length)] | .[0] == .[1]' true
		is "$name.traces" 'spans | map((.spanId | test("^[0-9a-f]{16}$")) and (.traceId | test("^[0-9a-f]{32}$"))) | all' true
		is "$name.traces" 'spans | map(.endTimeUnixNano >= .startTimeUnixNano) | all' true
	done
	is scene.logs 'logs | map(.spanId) | unique | length' 1
	[ "$(jq -r '.resourceLogs[].scopeLogs[].logRecords[0] | .traceId, .spanId' "$T/scene.logs")" = \
		"$(jq -rs "$plain spans | .[] | select(.parentSpanId | not) | select(.attributes[\"process.pid\"] == 100) | .traceId, .spanId" "$T/scene.traces")" ] ||
		bad+=('logs belong to another trace')
	result otlp_ids_lead_somewhere "${bad[@]}"
}

# Exactly, which is more than a double holds.
otlp_times_are_the_wall_clocks()
{
	local bad=() first
	first=$("$GPUBPF" inspect --records --json "$T/scene" 2>/dev/null | jq -r 'select(.record == "call") | .t_entry_ns' | head -n 1)
	is scene.traces 'spans | calls | .[0].startTimeUnixNano' "\"$((start + first - 1000000))\""
	is scene.traces 'spans | map(select(.attributes["gpubpf.grid"] == "1024x1x1" and .attributes["gpubpf.kind"]))[0] |
		(.endTimeUnixNano[10:] | tonumber) - (.startTimeUnixNano[10:] | tonumber), .attributes["gpubpf.since_call_ns"]' $'1000000\n5000'
	make_scene none <"$golden/device.scene"
	for s in traces logs metrics; do
		"$GPUBPF" export --format otlp --signal $s -o "$T/none.$s" "$T/none" 2>"$T/err" && bad+=("$s without a clock pair")
		grep -q 'no clock pair ties this capture to the wall clock' "$T/err" || bad+=("says $(cat "$T/err")")
		[ -e "$T/none.$s" ] && bad+=("$s: something is left")
	done
	{ echo 'wall 18446744073709551615'; cat "$golden/device.scene"; } | make_scene late
	"$GPUBPF" export --format otlp "$T/late" >/dev/null 2>"$T/err" && bad+=('a clock that wraps')
	result otlp_times_are_the_wall_clocks_R23 "${bad[@]}"
}

otlp_says_how_far_an_event_can_be_trusted()
{
	local bad=()
	is scene.traces 'spans | map(.attributes | has("gpubpf.timing.source") and has("gpubpf.timing.quality")) | all' true
	is scene.logs 'logs | map(.attributes | has("gpubpf.timing.source") and has("gpubpf.timing.quality")) | all' true
	is scene.traces '[.[].resourceSpans[].resource.attributes | attributes | .["gpubpf.clock.domain"] | contains("CLOCK_MONOTONIC")] | all' true
	is scene.traces 'spans | ran | map(.attributes["gpubpf.link"]) | group_by(.) | map([.[0], length])' '[["joined",21],["orphan",1]]'
	is scene.traces 'spans | ran | map(select(.links)) | length' 21
	is scene.traces 'spans | ran | map(select(.attributes["gpubpf.started_before_call"]) | .attributes | has("gpubpf.since_call_ns"))' '[false,false]'
	is scene.traces 'spans | map(select(.parentSpanId | not) | .attributes["gpubpf.notes"][0] | startswith("verdict: incomplete: ")) | all' true
	is scene.traces 'spans | map(select(.status)) | map(.status)' '[{"code":2,"message":"CUDA_ERROR_ILLEGAL_ADDRESS"}]'
	result otlp_says_how_far_an_event_can_be_trusted_R22_R47 "${bad[@]}"
}

# No span without a duration: a moment is a log record, and what has no time has none there either.
otlp_invents_no_time()
{
	local bad=()
	is scene.logs 'logs | map([.eventName, .body.stringValue, has("timeUnixNano"), .attributes["gpubpf.timing.quality"], .attributes["gpubpf.link"]])' \
		'[["gpubpf.execution","<unresolved 0x9>",false,"zero","joined"]]'
	printf '%s\n' "wall $start" 'took entry' 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' 'took open' cuCtxSynchronize |
		make_scene entry
	otlp entry
	[ -s "$T/entry.traces" ] && bad+=("spans of nothing: $(cat "$T/entry.traces")")
	is entry.logs 'logs | map([.body.stringValue, has("timeUnixNano"), .attributes["gpubpf.timing.quality"]])' \
		'[["cuLaunchKernel",true,"entry_only"],["cuCtxSynchronize",true,"open_at_the_end"]]'
	is host.metrics 'metric("gpubpf.device.busy_time"), metric("gpubpf.executions"), metric("gpubpf.device.calls")' $'[]\n[]\n[]'
	is alone.metrics 'metric("gpubpf.calls"), (metric("gpubpf.device.calls") | map(select(.attributes["gpubpf.term"] == "captured")))' \
		$'[]\n[]'
	is alone.traces 'spans | map(select(.attributes["gpubpf.timing.source"] == "cupti_callback")) | length > 0' true
	result otlp_invents_no_time_R14_R19 "${bad[@]}"
}

# 5000 ns are in the bucket up to 8191, and in no other.
otlp_histograms()
{
	local bad=()
	is scene.metrics 'metric("gpubpf.launch.delay") | .[] | select(.attributes["process.pid"] == 200) |
		[.bucketCounts | to_entries[] | select(.value != "0")] as $full |
		[$full[0].value, .explicitBounds[$full[0].key], .explicitBounds[$full[0].key - 1], ($full | length), .sum, .min, .max]' \
		'["1",8191,4095,1,5000,5000,5000]'
	is scene.metrics '[metric("gpubpf.launch.delay")[] | (.bucketCounts | length) - (.explicitBounds | length)] | unique' '[1]'
	result otlp_histograms "${bad[@]}"
}

otlp_is_the_same_again()
{
	local bad=() s
	cp "$T/scene" "$T/other-name"
	for s in traces logs metrics; do
		"$GPUBPF" export --format otlp --signal $s "$T/other-name" 2>/dev/null | cmp -s - "$T/scene.$s" || bad+=("$s")
	done
	result otlp_is_the_same_again_R43 "${bad[@]}"
}

# As the protocol's own messages have it: a field that is misspelt or of another type is refused.
otlp_by_its_own_messages()
{
	local python bad=() s
	for python in python3 /usr/bin/python3; do
		"$python" -c 'import opentelemetry.proto.trace.v1.trace_pb2, google.protobuf.json_format' 2>/dev/null && break
		python=
	done
	[ -n "$python" ] || { echo 'skip otlp_by_its_own_messages: python3 with opentelemetry-proto'; return; }
	for s in traces logs metrics; do
		"$python" - "$T/scene.$s" <<-'PYTHON' || bad+=("$s")
			import base64, json, sys
			from google.protobuf import json_format
			from opentelemetry.proto.logs.v1 import logs_pb2
			from opentelemetry.proto.metrics.v1 import metrics_pb2
			from opentelemetry.proto.trace.v1 import trace_pb2
			types = {'resourceSpans': trace_pb2.TracesData, 'resourceLogs': logs_pb2.LogsData,
			         'resourceMetrics': metrics_pb2.MetricsData}
			def base(x):
			    if isinstance(x, list):
			        return [base(v) for v in x]
			    if not isinstance(x, dict):
			        return x
			    return {k: base64.b64encode(bytes.fromhex(v)).decode() if k.lower().endswith(('traceid', 'spanid'))
			            else base(v) for k, v in x.items()}
			for line in open(sys.argv[1]):
			    data = json.loads(line)
			    json_format.ParseDict(base(data), types[next(iter(data))]())
		PYTHON
	done
	result otlp_by_its_own_messages "${bad[@]}"
}

otlp_of_hostile_captures()
{
	local bad=() n size status s program=$GPUBPF
	[ -x "$B/asan/gpubpf" ] && program=$B/asan/gpubpf
	size=$(stat -c %s "$T/scene")
	for ((n = 0; n < 30; n++)); do
		cp "$T/scene" "$T/hostile"
		if [ $((n % 2)) = 0 ]; then
			truncate -s $((size * n / 30)) "$T/hostile"
		else
			printf "\\x$(printf %x $((n * 37 % 256)))" |
				dd of="$T/hostile" bs=1 seek=$((size * n / 30)) conv=notrunc 2>/dev/null
		fi
		for s in traces logs metrics; do
			"$program" export --format otlp --signal $s -o "$T/hostile.out" "$T/hostile" >/dev/null 2>"$T/err"
			status=$?
			[ $status -le 1 ] || bad+=("$n $s: status $status: $(head -n 3 "$T/err")")
			grep -qE 'AddressSanitizer|runtime error|LeakSanitizer' "$T/err" && bad+=("$n: $(grep -E 'ERROR|runtime error' "$T/err" | head -n 2)")
			[ $status = 0 ] || continue
			[ ! -s "$T/hostile.out" ] || jq -e . "$T/hostile.out" >/dev/null || bad+=("$n $s: no JSON")
		done
	done
	printf '%s\n' "wall $start" arm $'name 1 a"b\\c\x01\xff' 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' 'seen launch' \
		'ran kernel 1000 10 name 1 grid 1 block 32' 'wait 10000' disarm | make_scene odd
	otlp odd
	is odd.traces 'spans | ran | map(.name)' '["a\"b\\c\\x01\\xff"]'
	result otlp_of_hostile_captures "${bad[@]}"
}

otlp_full_disk_and_closed_pipe()
{
	local bad=()
	"$GPUBPF" export --format otlp "$T/scene" >/dev/full 2>"$T/err"
	[ $? = 1 ] || bad+=('a full disk is no failure')
	grep -q 'No space left' "$T/err" || bad+=("says $(cat "$T/err")")
	{ "$GPUBPF" export --format otlp "$T/scene" 2>"$T/err"; echo $? >"$T/status"; } | true
	[ "$(cat "$T/status")" -le 1 ] || bad+=("closed pipe: status $(cat "$T/status")")
	grep -q 'standard output' "$T/err" && bad+=("closed pipe: $(cat "$T/err")")
	"$GPUBPF" export --format otlp --signal trace "$T/scene" >/dev/null 2>"$T/err"
	[ $? = 2 ] && grep -q "did you mean 'traces'" "$T/err" || bad+=("a signal that does not exist: $(cat "$T/err")")
	result otlp_full_disk_and_closed_pipe "${bad[@]}"
}

captures=(scene)
if [ -e "$SIM/libcuda.so.1" ] && [ "$(id -u)" = 0 ]; then
	if LD_LIBRARY_PATH=$SIM "$GPUBPF" record -q -o "$T/demo" -- "$SIM/demo" >/dev/null 2>"$T/err"; then
		captures+=(demo)
	else
		not_ok otlp_of_a_recording "$(cat "$T/err")"
	fi
else
	echo 'skip otlp_of_a_recording: root and the simulated stack'
fi
for name in "${captures[@]}" alone host; do
	otlp "$name"
done
otlp_counts_what_the_report_counts "${captures[@]}" host
otlp_ids_lead_somewhere "${captures[@]}" alone
otlp_times_are_the_wall_clocks
otlp_says_how_far_an_event_can_be_trusted
otlp_invents_no_time
otlp_histograms
otlp_is_the_same_again
otlp_by_its_own_messages
otlp_of_hostile_captures
otlp_full_disk_and_closed_pipe
