#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
# `gpubpf latency`: what kept a GPU waiting. On the simulated stack with real BPF, against what the program did between its
# launches by the kernel's own accounting of its thread; then made captures, where every nanosecond is known.
. tests/e2e/lib.sh
scene=$B/tests/tools/mkscene

# value FILE EXPRESSION [OPTION …]: of the JSON `r`. s(name): a table's rows; lost(cause, …): time of them in `idle`
value()
{
	local file=$1 expression=$2
	shift 2
	"$GPUBPF" latency --json "$@" "$file" | python3 -c '
import json, sys
r = json.load(sys.stdin)
s = lambda name: r["sections"][name]["rows"]
lost = lambda *causes: sum(x["lost_ns"] for x in s("idle") if x["cause"] in causes)
print(eval(sys.argv[1]))' "$expression" 2>&1
}

is() # FILE EXPRESSION WANTED [OPTION …]; adds to `bad`
{
	local file=$1 expression=$2 wanted=$3 got
	shift 3
	got=$(value "$file" "$expression" "$@")
	[ "$got" = "$wanted" ] || bad+=("$expression is $got, not $wanted")
}

near() # FILE EXPRESSION ABOUT: within 10 %
{
	is "$1" "$3 > 0 and abs(($2) - $3) <= $3 / 10 or ($2)" True
}

# The same of the time by one cause: what the kernel's events leave unaccounted, where the machine has no time for them, is
# the GPU's loss, too, and named as that.
lost_by() # FILE CAUSE ABOUT
{
	local unaccounted
	unaccounted=$(value "$1" "lost('outside_unaccounted', 'in_call_unaccounted')")
	is "$1" "$unaccounted < $3 / 2" True
	near "$1" "lost('$2')" $(($3 - unaccounted))
}

ROUNDS=8
# Records the program that does WHAT for N ms between its launches, with COMMAND… before it; $T/NAME, $T/NAME.do.
idling() # NAME WHAT N [COMMAND …]
{
	local name=$1 what=$2 ms=$3
	shift 3
	LD_LIBRARY_PATH=$SIM timeout 60 "$@" "$GPUBPF" record -q -f ${LATENCY---latency} -o "$T/$name" -- \
		"$SIM/idler" --rounds $ROUNDS --do "$what" --ms "$ms" --log "$T/$name.do" >"$T/out" 2>"$T/err" ||
		bad+=("$(cat "$T/err")")
}

truth() # NAME AWK-EXPRESSION over $2 wall, $3 cpu, $4 delay
{
	awk "{ s += $2 } END { printf \"%.0f\", s }" "$T/$1.do"
}

# All rows of a device are its idle time, which the report knows from elsewhere.
adds_up() # FILE [OPTION …]
{
	local file=$1 idle
	shift
	idle=$("$GPUBPF" report --json "$file" | jq -c '[.sections.devices.rows[].idle_ns] | sort')
	is "$file" 'sorted(x["idle_ns"] for x in s("idle_devices"))' "${idle//,/, }" "$@"
	is "$file" 'sum(x["lost_ns"] for x in s("idle")) == sum(x["idle_ns"] for x in s("idle_devices"))' True "$@"
	is "$file" 'all(sum(x["causes_ns"].values()) == x["ns"] for x in r["idle_stories"])' True -n 100 "$@"
	is "$file" 'all(x["blamed_ns"] + x["nobody_ns"] + x["not_chosen_ns"] + x["short_ns"] == x["idle_ns"] for x in s("idle_devices"))' True "$@"
}

blames() # WHAT CAUSE
{
	local bad=() what=$1 cause=$2
	idling "$what" "$what" 20
	lost_by "$T/$what" "outside_$cause" "$(truth "$what" '$2 - $3 - $4')"
	is "$T/$what" "max(s('idle'), key=lambda x: x['lost_ns'])['cause']" "outside_$cause"
	is "$T/$what" "max(s('idle'), key=lambda x: x['lost_ns'])['process']" idler
	is "$T/$what" "[x['cause'] for x in s('idle_gaps')].count('outside_$cause') > 4" True -n $ROUNDS
	adds_up "$T/$what"
	adds_up "$T/$what" --idle 0
	result "idle_${what}_is_$cause" "${bad[@]}"
}
blames sleep sleep
blames futex futex
blames pipe other

idle_on_cpu()
{
	local bad=()
	idling spin spin 20
	lost_by "$T/spin" outside_on_cpu "$(truth spin '$3')"
	adds_up "$T/spin"
	"$GPUBPF" latency "$T/spin" | grep -q 'on CPU outside of CUDA$' || bad+=('text')
	result idle_on_cpu_outside_of_cuda "${bad[@]}"
}
idle_on_cpu

idle_names_who_called()
{
	local bad=()
	LATENCY="--latency --stacks --stacks-every 1" idling called sleep 5
	"$GPUBPF" latency -n 1 "$T/called" | grep -A4 ' cuLaunchKernel was entered: launch delay' | grep -q ' main (idler.c:' || bad+=('text')
	"$GPUBPF" latency --json -n 1 "$T/called" | jq -e '.idle_stories[0].next.stack.frames[0].function == "main"' >/dev/null || bad+=('json')
	result idle_names_who_called "${bad[@]}"
}
idle_names_who_called

# A thread that must share its processor.
idle_runqueue()
{
	local bad=() hog
	taskset -c 0 sh -c 'while :; do :; done' &
	hog=$!
	ROUNDS=4 idling hog spin 100 taskset -c 0
	kill $hog
	wait $hog 2>/dev/null
	lost_by "$T/hog" outside_runqueue "$(truth hog '$4')"
	lost_by "$T/hog" outside_on_cpu "$(truth hog '$3')"
	adds_up "$T/hog"
	result idle_waiting_for_a_processor "${bad[@]}"
}
idle_runqueue

idle_in_a_call()
{
	local bad=()
	SIMCUDA_DO=cuMemAlloc_v2:sleep:20 SIMCUDA_DO_LOG=$T/alloc.log idling alloc alloc 0
	lost_by "$T/alloc" in_call_sleep "$(awk '{ s += $5 - $6 - $7 } END { printf "%.0f", s }' "$T/alloc.log")"
	near "$T/alloc" "[x['lost_ns'] for x in s('idle_apis') if x['api'] == 'cuMemAlloc_v2'][0]" \
		"$(awk '{ s += $5 } END { printf "%.0f", s }' "$T/alloc.log")"
	is "$T/alloc" "[(x['calls'], x['ended']) for x in s('idle_apis') if x['api'] == 'cuMemAlloc_v2']" "[($ROUNDS, 0)]"
	is "$T/alloc" "[(x['ended']) for x in s('idle_apis') if x['api'] == 'cuLaunchKernel']" "[$ROUNDS]"
	is "$T/alloc" "all('cuMemAlloc_v2' in [y.get('api') for y in x['timeline']] for x in r['idle_stories'])" True
	adds_up "$T/alloc"
	"$GPUBPF" latency "$T/alloc" | grep -q 'in cuMemAlloc_v2 for [0-9.]* ms: .* ms asleep' || bad+=('text')
	result idle_inside_a_slow_call "${bad[@]}"
}
idle_in_a_call

# The same without record --latency: where the thread was, not why.
idle_without_causes()
{
	local bad=()
	LATENCY= idling bare sleep 20
	near "$T/bare" "lost('outside_unmeasured')" "$(truth bare '$2')"
	is "$T/bare" "[x for x in s('idle') if x['cause'] in ('outside_sleep', 'in_call_sleep')]" '[]'
	adds_up "$T/bare"
	"$GPUBPF" latency "$T/bare" | grep -q 'outside of CUDA, why is not known (recorded without --latency)' || bad+=('text')
	result idle_without_causes_R14 "${bad[@]}"
}
idle_without_causes

idle_without_the_host_observer()
{
	local bad=()
	LATENCY=--no-host idling nohost sleep 20
	near "$T/nohost" "lost('before_call')" "$(truth nohost '$2')"
	adds_up "$T/nohost"
	result idle_without_the_host_observer "${bad[@]}"
}
idle_without_the_host_observer

# The command's name decides.
idle_in_a_python_process()
{
	local bad=()
	cp "$SIM/idler" "$T/python3"
	LD_LIBRARY_PATH=$SIM "$GPUBPF" record -q -f --latency -o "$T/py" -- "$T/python3" --rounds 2 --do spin --ms 5 >/dev/null 2>"$T/err" ||
		bad+=("$(cat "$T/err")")
	"$GPUBPF" latency "$T/py" | grep -q 'on CPU outside of CUDA, in a Python process$' || bad+=('not said')
	result idle_in_a_python_process "${bad[@]}"
}
idle_in_a_python_process

# ---- Made captures: t0 is the entry of the first launch ----

K='cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0x70 0 0'
scene() # NAME <LINES
{
	{
		printf 'arm\nclock 40\nname 1 first\nname 2 second\n'
		cat
		printf 'wait 200000\ndisarm\n'
	} | "$scene" "$T/$1" || bad+=("scene $1")
}

# What each thread lost by which cause: {(tid, cause): (ns, of that shared by overlap)}; tid None: nobody
rows_are() # FILE ROWS [OPTION …]
{
	local rows='{(x.get("tid"), x["cause"]): (x["lost_ns"], x["shared_ns"]) for x in s("idle")}' file=$1 wanted=$2
	shift 2
	is "$file" "(lambda rows: 'right' if rows == $wanted else rows)($rows)" right "$@"
}

# The first device record ends at t0 + 10000; the next starts at t0 + 35000.
idle_cut()
{
	local bad=()
	scene cut <<-SCENE
		inside on_cpu 0
		$K
		seen launch
		ran kernel 2000 8000 name 1
		wait 5500
		took 5000
		inside sleep 4000
		between on_cpu 0
		cuStreamSynchronize 0x70
		wait 19500
		inside ioctl_nvidia 600
		between futex 12000
		between runqueue 3000
		$K
		seen launch
		ran kernel 3000 1000 name 2
	SCENE
	rows_are "$T/cut" "{(100, 'submission'): (2000, 0), (100, 'in_call_on_cpu'): (800, 400), (100, 'in_call_sleep'): (1600, 1600), (100, 'outside_on_cpu'): (5000, 0), (100, 'outside_runqueue'): (3000, 0), (100, 'outside_futex'): (12000, 0), (100, 'in_call_ioctl_nvidia'): (600, 0)}"
	is "$T/cut" '[(x["ended"], x["started"], x["ns"], x["next"]["entry_ns"], x["next"]["return_ns"], x["next"]["delay_ns"]) for x in r["idle_stories"]]' \
		"[('first', 'second', 25000, 22000, 23000, 3000)]"
	is "$T/cut" '[(x["what"], x.get("api"), x["from_ns"], x["to_ns"], x["shared_by_overlap"]) for x in r["idle_stories"][0]["timeline"]]' \
		"[('in_call', 'cuStreamSynchronize', 0, 2000, True), ('outside', None, 2000, 22000, False), ('in_call', 'cuLaunchKernel', 22000, 23000, False)]"
	is "$T/cut" '[(x["api"], x["lost_ns"], x["calls"], x["ended"], x["ended_ns"], x["submission_ns"]) for x in s("idle_apis")]' \
		"[('cuStreamSynchronize', 2000, 1, 0, 0, 0), ('cuLaunchKernel', 1000, 1, 1, 25000, 2000)]"
	is "$T/cut" '[(x["gap_ns"], x["in_call_ns"], x["outside_ns"], x["submission_ns"], x["cause"], x["kernel"]) for x in s("idle_gaps")]' \
		"[(25000, 3000, 20000, 2000, 'outside_futex', 'second')]"
	adds_up "$T/cut"
	rows_are "$T/cut" "{(None, 'short'): (25000, 0)}" --idle 26us
	is "$T/cut" 'lost("short")' 0 --idle 25us
	result idle_is_cut_at_calls "${bad[@]}"
}
idle_cut

# Only half of what lies between the calls, and of the call that ends the gap, is in it.
idle_shared()
{
	local bad=()
	scene shared <<-SCENE
		inside on_cpu 0
		$K
		seen launch
		ran kernel 2000 49000 name 1
		wait 99500
		took 10000
		inside poll 8000
		between sleep 40000
		$K
		seen launch
		ran kernel 5000 1000 name 2
	SCENE
	rows_are "$T/shared" "{(100, 'in_call_on_cpu'): (1000, 1000), (100, 'in_call_poll'): (4000, 4000), (100, 'outside_on_cpu'): (30000, 30000), (100, 'outside_sleep'): (20000, 20000)}"
	is "$T/shared" 'r["idle_stories"][0]["shared_by_overlap"]' True
	"$GPUBPF" latency "$T/shared" | grep -q 'shared by overlap' || bad+=('text')
	adds_up "$T/shared"
	result idle_is_shared_by_overlap "${bad[@]}"
}
idle_shared

idle_nobody()
{
	local bad=()
	scene nobody <<-SCENE
		cuGraphLaunch 0x6000 0x70
		seen graph
		ran kernel 6000 10000 name 1 graph 3 node 1
		ran kernel 36000 1000 name 1 graph 3 node 2
		ran kernel 60000 1000 name 1 id 0
		ran kernel 90000 1000 name 1 id 7777
		wait 100000
		$K
		seen launch 100 300
		ran kernel 29500 1000 name 1
		seen launch 400 600
		ran kernel 30500 1000 name 1
		wait 50000
		$K
		seen launch
		ran kernel -900 1000 name 1
	SCENE
	rows_are "$T/nobody" "{(None, 'graph_node'): (20000, 0), (None, 'device_launched'): (23000, 0), (None, 'orphan'): (29000, 0), (None, 'ambiguous'): (40000, 0), (None, 'early'): (19100, 0)}"
	is "$T/nobody" 's("idle_apis"), [(x["blamed_ns"], x["nobody_ns"]) for x in s("idle_devices")]' '([], [(0, 131100)])'
	is "$T/nobody" '[x["next"] for x in r["idle_stories"]]' '[None, None, None]'
	"$GPUBPF" latency "$T/nobody" | grep -q 'no thread: ended by what the device launched itself' || bad+=('text')
	adds_up "$T/nobody"
	result idle_that_is_nobodys "${bad[@]}"
}
idle_nobody

# The call was made, and had returned, before the gap began.
idle_submission()
{
	local bad=()
	scene early <<-SCENE
		$K
		seen launch
		ran kernel 2000 20000 name 1
		$K
		seen launch
		ran kernel 50500 1000 name 2
		took entry
		$K
		seen launch
		ran kernel 90000 1000 name 2
	SCENE
	rows_are "$T/early" "{(100, 'submission'): (30000, 0), (100, 'launch'): (40000, 0)}"
	"$GPUBPF" latency "$T/early" | grep -q 'cuLaunchKernel had been entered 20.5 us before the gap: launch delay 50.5 us' || bad+=('text')
	adds_up "$T/early"
	result idle_behind_the_call_is_submission "${bad[@]}"
}
idle_submission

# Device 0 has nothing to do: what was launched on it waits for an event behind a kernel on device 1.
idle_event()
{
	local bad=()
	scene event <<-SCENE
		out 0x70
		cuStreamCreate 0 1
		out 0x71
		cuStreamCreate 0 1
		out 0x99
		cuEventCreate 0 2
		$K
		seen launch
		ran kernel 2000 18000 name 1
		${K/0x70/0x71}
		seen launch
		ran kernel 2000 80000 name 2 stream 8 device 1
		cuEventRecord 0x99 0x71
		cuStreamWaitEvent 0x70 0x99 0
		$K
		seen launch
		ran kernel 80000 1000 name 1
	SCENE
	# t0 + 20000 to t0 + 86000; the event is there at t0 + 83500
	rows_are "$T/event" "{(100, 'event_wait'): (63500, 0), (100, 'submission'): (2500, 0)}"
	is "$T/event" '[(x["event_wait_ns"], x["submission_ns"]) for x in s("idle_gaps")]' '[(63500, 2500)]'
	"$GPUBPF" latency "$T/event" | grep -q '+0 ns       waiting for an event or another stream: 63.5 us$' || bad+=('text')
	adds_up "$T/event"
	result idle_for_an_event_of_another_device "${bad[@]}"
}
idle_event

idle_entry_only()
{
	local bad=()
	scene entry <<-SCENE
		took entry
		$K
		seen launch
		ran kernel 2000 8000 name 1
		wait 20000
		took entry
		cuStreamSynchronize 0x70
		wait 30000
		took entry
		$K
		seen launch
		ran kernel 5000 1000 name 2
	SCENE
	rows_are "$T/entry" "{(100, 'launch'): (5000, 0), (100, 'in_call_or_outside'): (41000, 0)}"
	adds_up "$T/entry"
	result idle_with_entries_alone_R14 "${bad[@]}"
}
idle_entry_only

idle_unwatched()
{
	local bad=()
	scene twice <<-SCENE
		$K
		seen launch
		ran kernel 2000 8000 name 1
		wait 20000
		disarm
		wait 20000
		arm
		$K
		seen launch
		ran kernel 5000 1000 name 1
	SCENE
	is "$T/twice" '[x["cause"] for x in s("idle")]' "['unwatched']"
	adds_up "$T/twice"
	result idle_is_not_what_nobody_watched "${bad[@]}"
}
idle_unwatched

# Thread 101 launches on device 1 while thread 100's device 0 has nothing to do, and another process uses device 0, too.
idle_devices()
{
	local bad=()
	cat >"$T/devices.scene" <<-SCENE
		$K
		seen launch
		ran kernel 2000 8000 name 1
		wait 10000
		tid 101
		${K/0x5000/0x5001}
		seen launch
		ran kernel 2000 1000 name 2 device 1
		wait 40000
		${K/0x5000/0x5001}
		seen launch
		ran kernel 2000 1000 name 2 device 1
		pid 200
		arm
		clock 40
		name 1 other
		$K
		seen launch
		ran kernel 3000 20000 name 1
		wait 50000
		pid 100
		$K
		seen launch
		ran kernel 2000 1000 name 1
		wait 1000
		pid 200
		wait 30000
		disarm
		pid 100
	SCENE
	scene devices <"$T/devices.scene"
	sed '$a one-gpu' "$T/devices.scene" | scene one
	is "$T/devices" 'sorted((x["pid"], x["device"], x["idle_ns"]) for x in s("idle_devices"))' \
		'[(100, 0, 100100), (100, 1, 40500), (200, 0, 0)]'
	is "$T/devices" 'sorted((x["pid"], x["device"], x["tid"], x["cause"], x["lost_ns"]) for x in s("idle") if x["cause"] != "submission")' \
		"[(100, 0, 100, 'in_call_unmeasured', 1000), (100, 0, 100, 'outside_unmeasured', 98100), (100, 1, 101, 'in_call_unmeasured', 1000), (100, 1, 101, 'outside_unmeasured', 38500)]"
	is "$T/devices" 'sorted((x.get("pid"), x["device"], x["processes"], x["idle_ns"]) for x in s("idle_devices") if not x["device"])' \
		'[(None, 0, 2, 80100)]' --same-devices
	is "$T/devices" 'sorted((x["device"], x["pid"], x["tid"], x["ended_ns"]) for x in s("idle_apis") for x["tid"] in [0])' \
		'[(0, 100, 0, 30500), (0, 200, 0, 49600), (1, 100, 0, 40500)]' --same-devices
	is "$T/devices" 'sum(x["lost_ns"] for x in s("idle")) == sum(x["idle_ns"] for x in s("idle_devices"))' True --same-devices
	is "$T/one" 'sorted((x["device"], x["processes"]) for x in s("idle_devices"))' '[(0, 2), (1, 1)]'
	is "$T/devices" 'sorted((x["device"], x["processes"]) for x in s("idle_devices"))' '[(0, 1), (0, 1), (1, 1)]'
	"$GPUBPF" latency "$T/devices" | grep -q 'note: processes have devices of one number' || bad+=('no note')
	"$GPUBPF" latency --same-devices "$T/devices" | grep -q 'note: processes have devices of one number' && bad+=('note')
	# what was not asked for stays in the sum
	is "$T/devices" 'lost("not_chosen"), set(x.get("tid") for x in s("idle") if x["cause"] != "not_chosen")' '(100100, {101})' -t 101
	is "$T/devices" 'sum(x["lost_ns"] for x in s("idle")) == sum(x["idle_ns"] for x in s("idle_devices"))' True -t 101
	is "$T/devices" 'lost("not_chosen")' 100100 --kernel second
	is "$T/devices" 'lost("not_chosen")' 140600 --to 1us
	result idle_of_each_device "${bad[@]}"
}
idle_devices

idle_absent()
{
	local bad=()
	"$scene" "$T/host" <tests/e2e/golden/report.scene
	is "$T/host" 'r["idle_unmeasured_because"], s("idle"), s("idle_devices"), r["idle_stories"]' \
		"('no device observer in this capture', [], [], [])"
	"$GPUBPF" latency "$T/host" | grep -q 'Idle time of the GPU: not measured (no device observer in this capture)' || bad+=('text')
	"$GPUBPF" latency --csv idle "$T/host" 2>&1 >/dev/null | grep -q 'idle time: not measured' || bad+=('CSV')
	is "$T/cut" 'r["idle_unmeasured_because"]' None
	result idle_without_a_device_observer_R14 "${bad[@]}"
}
idle_absent

idle_csv()
{
	local bad=()
	for table in idle_devices idle idle_apis idle_gaps; do
		"$GPUBPF" latency --csv $table "$T/cut" >"$T/csv" || bad+=("$table: status $?")
		"$GPUBPF" latency --json "$T/cut" | python3 -c '
import csv, json, sys
rows = list(csv.reader(open(sys.argv[1])))
r = json.load(sys.stdin)["sections"][sys.argv[2]]["rows"]
assert len(rows) == len(r) + 1, (len(rows), len(r))
for x, y in zip(rows[1:], r):
    for k, v in zip(rows[0], x):
        assert k not in y or isinstance(y[k], float) or str(y[k]) == v, (k, v, y.get(k))
' "$T/csv" $table 2>"$T/err" || bad+=("$table: $(tail -n 1 "$T/err")")
	done
	result idle_as_csv "${bad[@]}"
}
idle_csv

# Whatever the times: a capture with a graph, copies, records without times, two processes.
idle_golden()
{
	local bad=()
	"$scene" "$T/both" <tests/e2e/golden/device.scene
	adds_up "$T/both"
	adds_up "$T/both" --idle 0
	result idle_adds_up_R15 "${bad[@]}"
}
idle_golden
