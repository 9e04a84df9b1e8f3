#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
# `gpubpf latency`: delays of a known length on the simulated stack, made captures, what is absent, wrong usage.
. tests/e2e/lib.sh
scene=$B/tests/tools/mkscene
rounds=20

# value FILE EXPRESSION: of the JSON `r`; s(name) a table's rows, part(population, measure, name) one row of `parts`.
value()
{
	local file=$1 expression=$2
	shift 2
	"$GPUBPF" latency --json "$@" "$file" | python3 -c '
import json, sys
r = json.load(sys.stdin)
s = lambda name: r["sections"][name]["rows"]
part = lambda p, m, name: [x for x in s("parts") if (x["population"], x["measure"], x["part"]) == (p, m, name)][0]
print(eval(sys.argv[1]))' "$expression" 2>&1
}

is() # FILE EXPRESSION WANTED [OPTION …]; adds to `bad`
{
	local file=$1 expression=$2 wanted=$3 got
	shift 3
	got=$(value "$file" "$expression" "$@")
	[ "$got" = "$wanted" ] || bad+=("$expression is $got, not $wanted")
}

near() # FILE EXPRESSION ABOUT [OPTION …]: within 10 %
{
	local file=$1 expression=$2 about=$3
	shift 3
	is "$file" "abs(($expression) - $about) <= $about / 10 or ($expression)" True "$@"
}

# ---- The simulated stack ----

LD_LIBRARY_PATH=$SIM "$GPUBPF" record -q --returns 1 -o "$T/q" -- "$SIM/queued" --rounds $rounds >"$T/out" 2>"$T/err" ||
	not_ok latency_record "$(cat "$T/err")"

# The kernel in front takes 1 ms. Half the calls are the measure: a thread that loses its processor launches late.
latency_busy_with_earlier_work()
{
	local bad=()
	near "$T/q" 's("kernels")[0]["queue_p50_ns"]' 1000000 --kernel behind
	near "$T/q" 's("kernels")[0]["start_p50_ns"]' 1000000 --kernel behind
	is "$T/q" 'part("launches", "queue", "stream_busy")["share"] > 0.9' True --kernel behind
	is "$T/q" 'part("launches", "queue", "event_wait")["mean_ns"]' 0 --kernel behind
	result latency_busy_with_earlier_work "${bad[@]}"
}
latency_busy_with_earlier_work

latency_event_wait()
{
	local bad=()
	near "$T/q" 's("kernels")[0]["queue_p50_ns"]' 1000000 --kernel awaiting
	is "$T/q" 'part("launches", "queue", "event_wait")["share"] > 0.9' True --kernel awaiting
	is "$T/q" 'part("launches", "queue", "stream_busy")["mean_ns"]' 0 --kernel awaiting
	is "$T/q" "$((rounds - 2)) <= part('launches', 'queue', 'event_wait')['calls_with'] <= $rounds" True
	result latency_event_wait "${bad[@]}"
}
latency_event_wait

latency_parts_add_up()
{
	local bad=()
	for m in start queue; do
		is "$T/q" "sum(x['total_ns'] for x in s('parts') if x['measure'] == '$m') == [x['${m}_ns'] for x in s('apis') if x['api'] == 'cuLaunchKernel'][0]" True
	done
	is "$T/q" 'all(sum(v for k, v in x.items() if k in ("in_call_ns", "stream_busy_ns", "event_wait_ns", "device_busy_others_ns", "submission_ns", "submitted_ns", "unknown_ns")) == x["start_ns"] for x in s("slowest") if x["measure"] == "start")' True
	result latency_parts_add_up "${bad[@]}"
}
latency_parts_add_up

latency_counts_every_call()
{
	local bad=() launches=$((4 * rounds))
	is "$T/q" '[(x["calls"], x["measured"]) for x in s("apis") if x["api"] == "cuLaunchKernel"]' "[($launches, $launches)]"
	is "$T/q" 'sum(x["calls"] for x in s("histogram") if x["name"] == "cuLaunchKernel" and x["measure"] == "own")' $launches
	is "$T/q" 'sum(x["calls"] for x in s("histogram") if x["of"] == "kernel" and x["measure"] == "start")' $launches
	is "$T/q" 'sorted((x["kernel"], x["calls"]) for x in s("kernels"))' \
		"[('awaiting', $rounds), ('behind', $rounds), ('hold', $((2 * rounds)))]"
	is "$T/q" '[x["calls"] == sum(v for k, v in x.items() if isinstance(v, int) and k != "calls") for x in s("starts")]' '[True]'
	is "$T/q" '[x["calls"] for x in s("apis")]' "[$rounds]" --api cuEventRecord
	result latency_counts_every_call_R15 "${bad[@]}"
}
latency_counts_every_call

latency_tells_stories()
{
	local bad=()
	is "$T/q" 'len([x for x in r["stories"] if x["measure"] == "start"])' 5 -n 5 --kernel awaiting
	is "$T/q" 'set((x["before"]["api"], x["waited_for_event"]) for x in r["stories"] if x["measure"] == "start")' \
		"{('cuStreamWaitEvent', True)}" --kernel awaiting
	is "$T/q" 'all(x["before"]["return_ns"] <= 0 < x["return_ns"] and 0 < x["start_ns"] < x["end_ns"] for x in r["stories"] if x["measure"] == "start")' True --kernel awaiting
	is "$T/q" 'r["stories"]' '[]' -n 0
	"$GPUBPF" latency --kernel behind "$T/q" >"$T/out"
	grep -q "the stream's work before it ended: hold" "$T/out" || bad+=('no word of what was before')
	result latency_tells_stories "${bad[@]}"
}
latency_tells_stories

latency_inside_calls()
{
	local bad=()
	LD_LIBRARY_PATH=$SIM "$GPUBPF" record -q --latency -o "$T/inside" -- "$SIM/queued" --rounds $rounds >"$T/out" 2>"$T/err" ||
		bad+=("$(cat "$T/err")")
	is "$T/inside" 'sum(x["total_ns"] for x in s("parts") if x["measure"] == "own" and x["population"] == "other calls") == sum(x["own_ns"] for x in s("apis") if x["api"] not in ("cuLaunchKernel",))' True
	# the thread sleeps until the stream is done
	near "$T/inside" '(part("other calls", "own", "sleep")["total_ns"] + part("other calls", "own", "on_cpu")["total_ns"] + part("other calls", "own", "runqueue")["total_ns"]) / sum(x["own_ns"] for x in s("apis"))' 1 --api cuStreamSynchronize
	is "$T/inside" 'r["inside_unmeasured_because"]' None
	is "$T/q" 'r["inside_unmeasured_because"]' 'recorded without --latency'
	result latency_inside_calls "${bad[@]}"
}
latency_inside_calls

# Every launch waits for a lock for about 20 ms, longer where the machine has no time for the thread that lets go of it.
# test_latency.sh holds the records against the kernel's own accounting; here they are the truth.
latency_names_what_blocked_a_call()
{
	local bad=() waited
	LD_LIBRARY_PATH=$SIM SIMCUDA_FAST=1 SIMCUDA_DO=cuLaunchKernel:futex:20 "$GPUBPF" record -q --no-shim \
		--latency -o "$T/futex" -- "$SIM/launchloop" --launches 5 >"$T/out" 2>"$T/err" || bad+=("$(cat "$T/err")")
	waited=$("$GPUBPF" inspect --records --json "$T/futex" | jq -s 'map(select(.record == "latency")) | map(.call.ns.futex) | add')
	[ "$waited" -gt 90000000 ] || bad+=("waited for $waited ns in all")
	is "$T/futex" 'sum(x["total_ns"] for x in s("parts") if (x["measure"], x["part"]) == ("own", "futex"))' "$waited"
	is "$T/futex" 'part("launches", "own", "futex")["mean_ns"] > 18000000' True
	is "$T/futex" '[(x["slow_share"], x.get("other_share", 1.0)) for x in s("differences") if x["measure"] == "own" and x["feature"] == "futex"]' \
		'[(1.0, 1.0)]'
	is "$T/futex" '[x["inside"]["futex_ns"] > 18000000 for x in r["stories"] if x["population"] == "launches"]' '[True, True, True]'
	is "$T/futex" 'all(sum(v for k, v in x["inside"].items() if k.endswith("_ns")) == x["return_ns"] for x in r["stories"])' True
	"$GPUBPF" latency "$T/futex" | grep -q '[0-9] ms  *[0-9.]* %  *[0-9.]* ms  *[0-9.]* %  blocked in futex$' || bad+=('text')
	result latency_names_what_blocked_a_call "${bad[@]}"
}
latency_names_what_blocked_a_call

latency_picture_stands_alone()
{
	local bad=()
	"$GPUBPF" latency --svg "$T/q.svg" "$T/q" >/dev/null || bad+=("status $?")
	python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$T/q.svg" || bad+=('not XML')
	grep -qE 'href|url\(|<script|<image' "$T/q.svg" && bad+=('asks for something beside it')
	grep -q 'earlier work of the stream' "$T/q.svg" || bad+=('no parts')
	result latency_picture_stands_alone "${bad[@]}"
}
latency_picture_stands_alone

# ---- Made captures ----

"$scene" "$T/both" <tests/e2e/golden/device.scene
"$scene" "$T/host" <tests/e2e/golden/report.scene

latency_says_the_verdict_first()
{
	local bad=()
	for f in both host q; do
		[ "$("$GPUBPF" latency "$T/$f" | head -n 1)" = "$("$GPUBPF" report "$T/$f" | head -n 1)" ] || bad+=("$f")
	done
	result latency_says_the_verdict_first_R1 "${bad[@]}"
}
latency_says_the_verdict_first

latency_without_a_device_observer()
{
	local bad=()
	is "$T/host" 'r["start_unmeasured_because"]' 'no device observer in this capture'
	is "$T/host" 's("starts"), [x for x in s("parts")]' '([], [])'
	"$GPUBPF" latency "$T/host" | grep -q 'calls to the start on the GPU: not measured (no device observer' || bad+=('text')
	"$GPUBPF" latency --csv starts "$T/host" 2>&1 >/dev/null | grep -q 'not measured' || bad+=('CSV')
	result latency_without_a_device_observer_R14 "${bad[@]}"
}
latency_without_a_device_observer

latency_default_stream_waits_for_the_others()
{
	local bad=()
	"$scene" "$T/legacy" <<'SCENE'
arm
clock 40
name 1 long
name 2 short
out 0x71
cuStreamCreate 0 0
cuLaunchKernel 0x5000 64 1 1 128 1 1 0 0x71 0 0
seen launch
ran kernel 5000 1000000 stream 8 name 1 grid 64 block 128
cuLaunchKernel 0x5001 1 1 1 128 1 1 0 0 0 0
seen launch
ran kernel 1004500 1000 stream 7 name 2 grid 1 block 128
wait 2000000
disarm
SCENE
	near "$T/legacy" 'part("launches", "queue", "event_wait")["mean_ns"]' 1000000 --kernel short
	result latency_default_stream_waits_for_the_others "${bad[@]}"
}
latency_default_stream_waits_for_the_others

latency_chooses()
{
	local bad=()
	is "$T/both" 'r["calls"], [x["api"] for x in s("apis")]' "(3, ['cuLaunchKernel'])" -t 101
	is "$T/both" 'r["calls"]' 1 -p 200
	is "$T/both" 'sorted(set(x["api"][:9] for x in s("apis")))' "['cuMemcpyD', 'cuMemcpyH', 'cuMemcpyP']" --api 'cuMemcpy*'
	is "$T/both" 'r["calls"] + '"$(value "$T/both" 'r["calls"]' --to 1ms)" "$(value "$T/both" 'r["calls"]')" --from 1ms
	for choice in '2 --kernel behind' '2 --api cuEventRecord --api cuStreamWaitEvent'; do
		set -- $choice
		[ "$("$GPUBPF" latency "${@:2}" "$T/q" | grep -c '^Histogram of .* entry → return: ')" = "$1" ] ||
			bad+=("histograms of ${*:2}")
	done
	result latency_chooses_C28 "${bad[@]}"
}
latency_chooses

latency_refuses()
{
	local bad=() status
	refused() # STATUS PART ARG…
	{
		local want=$1 part=$2
		shift 2
		"$GPUBPF" latency "$@" >"$T/out" 2>"$T/err"
		status=$?
		[ $status = "$want" ] || bad+=("$*: status $status")
		grep -q -- "$part" "$T/err" || bad+=("$*: $(cat "$T/err")")
		[ -s "$T/out" ] && bad+=("$*: prints something")
	}
	refused 2 'needs the name of a capture'
	refused 2 'takes one capture file' "$T/q" "$T/q"
	refused 2 "did you mean 'histogram'" --csv histogran "$T/q"
	refused 2 'exclude each other' --csv apis --json "$T/q"
	refused 2 'must be before' --from 2s --to 1s "$T/q"
	refused 2 'at most 100' -n 101 "$T/q"
	refused 2 'no process or thread id' -t 0 "$T/q"
	refused 1 'No such file' "$T/none"
	refused 1 "did you mean 'cuLaunchKernel'" --api cuLaunchKernal "$T/q"
	refused 1 "no kernel 'nothing'" --kernel nothing "$T/q"
	refused 1 'no thread 99' -t 99 "$T/q"
	refused 1 'no/where.svg' --svg "$T/no/where.svg" "$T/q"
	refused 1 '' "$0"
	result latency_refuses_what_it_cannot_do "${bad[@]}"
}
latency_refuses
