#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `gpubpf gate`: planted truths, their arithmetic and their wording, the exit status, and what it writes for CI.
. tests/e2e/lib.sh

[ -x "$B/tests/tools/mkscene" ] || { printf 'skip gate_checks: %s\n' "$B/tests/tools/mkscene"; exit 0; }
: >"$T/seen" # all that was said, for the advice in it

gate() # STATUS ARG…: the output into $T/out; adds to `bad` what is another status
{
	local want=$1 got
	shift
	"$GPUBPF" gate "$@" >"$T/out" 2>"$T/err"
	got=$?
	cat "$T/out" "$T/err" >>"$T/seen"
	[ "$got" = "$want" ] || bad+=("status $got, not $want: gate $*: $(head -c 300 "$T/out" "$T/err")")
}

says() # WORDS…: each is in the output
{
	local words
	for words; do
		grep -qF -- "$words" "$T/out" || bad+=("not said: $words; but: $(head -c 1500 "$T/out")")
	done
}

says_not()
{
	local words
	for words; do
		! grep -qF -- "$words" "$T/out" || bad+=("said: $words")
	done
}

jq_is() # EXPRESSION VALUE: of the JSON of the last gate --json
{
	local got
	got=$(jq -rc "$1" "$T/out" 2>&1)
	[ "$got" = "$2" ] || bad+=("$1 is $got, not $2")
}

# N launches of `saxpy`, each GAP ns after the one before, which run 20 us.
launches() # N [GAP]
{
	awk -v n="$1" -v gap="${2:-100000}" 'BEGIN { for (i = 0; i < n; i++) {
		print "cuLaunchKernel 0x5000 64 1 1 128 1 1 0 0x70 0 0\nseen launch\nran kernel 5000 20000 name 1 grid 64 block 128"
		print "wait " gap - 1500 } }'
}

head_of()
{
	printf '%s\n' one-gpu attached arm 'clock 40' 'name 1 saxpy' 'text saxpy' 'out 0x5000' 'cuModuleGetFunction 0 0x10'
}

tail_of()
{
	printf '%s\n' cuCtxSynchronize disarm exit
}

{ head_of; launches 250; tail_of; } | make_scene many
{ head_of; launches 99; tail_of; } | make_scene few
tail_of | grep -v disarm | make_scene host_only
printf 'wait 1\n' | make_scene empty

R33_completeness()
{
	local bad=()
	gate 0 -k saxpy -t 101 "$T/many"
	says 'PASS           completeness saxpy: overshoot: 250 kernel records of the device, 101 expected: excess 149, dispatch_ratio 2.475'
	says_not '--149' '-149' 'acceptance' 'because'
	gate 0 --json -k saxpy -t 101 "$T/many"
	jq_is '.captures[0].checks[0].figures | [.expected, .seen, .shortfall, .excess, .slack, (.dispatch_ratio * 1000 | floor)]' \
		'[101,250,0,149,0,2475]'
	gate 0 -k saxpy -t 101 --slack 2 "$T/few"
	says 'PASS           completeness saxpy: 99 kernel records of the device, 101 expected: shortfall 2, within the slack of 2'
	gate 1 -k saxpy -t 101 --slack 1 "$T/few"
	says 'FAIL           completeness saxpy: 99 kernel records of the device, 101 expected: shortfall 2, more than the slack of 1'
	gate 1 --json -k saxpy -t 101 --slack 1 "$T/few"
	jq_is '.captures[0].checks[0].figures | [.shortfall, .excess, .slack]' '[2,0,1]'
	jq_is '[.state, .exit_status]' '["fail",1]'
	gate 0 -k saxpy -t 99 "$T/few"
	says '99 kernel records of the device, as expected'
	gate 1 --slack 0 -k saxpy -t 100 "$T/few"
	gate 0 --slack 1 -k saxpy -t 100 "$T/few"
	gate 1 --slack 1 -k saxpy -t 100 --slack 0 "$T/few"
	says 'shortfall 1, more than the slack of 0'
	gate 1 -k nobody -t 1 "$T/few"
	gate 0 -k 'sax?y' -t 99 "$T/few"
	gate 0 --count launches -k saxpy -t 99 "$T/few"
	says '99 launches by the host observer, as expected'
	{ head_of; launches 9; printf '%s\n' 'result 700' 'cuLaunchKernel 0x5000 64 1 1 128 1 1 0 0x70 0 0' 'seen launch'; tail_of; } | make_scene failing
	gate 1 --count launches -k saxpy -t 10 "$T/failing"
	says '9 launches by the host observer, 10 expected: shortfall 1, more than the slack of 0; 1 more launches failed or were captured into a graph'
	result "$1" "${bad[@]}"
}

# An unresolved name is no proof of absence, and no match (R9).
R33_R9_names()
{
	local bad=()
	{ head_of; launches 9; printf '%s\n' 'cuLaunchKernel 0x5000 64 1 1 128 1 1 0 0x70 0 0' 'seen launch' 'ran kernel 5000 20000 name 7'; tail_of; } | make_scene unnamed
	gate 2 --explain -k saxpy -t 10 "$T/unnamed"
	says 'NOT EVALUABLE  completeness saxpy: 9 kernel records' 'shortfall 1' '1 of no known name may be some of these' 'missing:  names of kernels'
	gate 1 -k saxpy -t 11 "$T/unnamed"
	gate 0 -k saxpy -t 9 "$T/unnamed"
	result "$1" "${bad[@]}"
}

# R1: empty is never healthy; nothing scored is 2, and so is what cannot be read.
R32_R1_exit_status()
{
	local bad=()
	gate 2 -k saxpy -t 1 --ledger --staging managed=none "$T/empty"
	says 'NOT EVALUABLE  completeness saxpy: the capture is empty' 'NOT EVALUABLE  ledger: the capture is empty' \
		'NOT EVALUABLE  staging managed: the capture is empty' '3 checks of 1 capture: 0 passed, 0 failed, 3 not evaluable'
	gate 2 "$T/few"
	says 'NOT EVALUABLE: nothing was scored'
	gate 2 --json "$T/few"
	jq_is '[.state, .exit_status, .passed]' '["not evaluable",2,0]'
	gate 2 -k saxpy -t 99 "$T/few" "$T/nobody" "$T/many"
	says "$T/nobody" 'NOT EVALUABLE  capture: it cannot be read' '3 checks of 3 captures: 2 passed, 0 failed, 1 not evaluable'
	gate 1 -k saxpy -t 100 "$T/few" "$T/nobody" "$T/many"
	says '1 passed, 1 failed, 1 not evaluable'
	head -c 3000 "$T/many" >"$T/cut"
	gate 2 --ledger "$T/cut"
	says 'the capture holds no counters'
	for arg in '-k saxpy' '-t 3' '-k saxpy -t x' '--nested 3:1' '--ledger=whole' '--max-ratio 1' '-c /nowhere' '--json --github --ledger' '--tolerance -1'; do
		# shellcheck disable=SC2086
		gate 2 $arg "$T/few"
		[ -s "$T/err" ] && [ ! -s "$T/out" ] || bad+=("$arg: no message")
	done
	gate 2 -k saxpy -t 1
	result "$1" "${bad[@]}"
}

R32_graph_shortfall_and_unexplained_fail()
{
	local bad=() i
	{
		head_of
		launches 3
		for i in 1 2; do
			printf '%s\n' 'cuGraphLaunch 0x7200 0x70' 'seen graph'
			printf "ran kernel 5000 1000 name 1 graph 3 node %s\n" 10 11
			[ $i = 2 ] || echo 'ran kernel 7000 1000 name 1 graph 3 node 12'
		done
		tail_of
	} | make_scene graphs
	gate 1 -k saxpy -t 8 "$T/graphs"
	says 'PASS           completeness saxpy: 8 kernel' \
		'FAIL           graph shortfall: launches of graphs ran 1 nodes less than the launch of the same graph that ran most'
	gate 1 --json --max-delay-p99 1s "$T/graphs"
	jq_is '[.captures[0].checks[] | select(.check == "graph shortfall") | .figures.graph_shortfall]' '[1]'
	{ head_of; launches 5; printf '%s\n' 'cuLaunchKernel 0x5000 64 1 1 128 1 1 0 0x70 0 0' 'seen launch' 'wait 1000000'; launches 2; tail_of; } | make_scene unexplained
	gate 1 --explain --min-busy 1% "$T/unexplained"
	says 'FAIL           unexplained launches: 1 launches left no trace, and nothing explains it'
	sed 's/^attached$/attached\nalone/' <<<"$(head_of; launches 5; printf '%s\n' 'cuLaunchKernel 0x5000 64 1 1 128 1 1 0 0x70 0 0' 'seen launch' 'wait 1000000'; tail_of)" | make_scene alone
	gate 2 --explain -k saxpy -t 5 "$T/alone"
	says 'NOT EVALUABLE  unexplained launches: 1 launches' 'missing:  the host observer: a launch that left no record on the device has no witness'
	result "$1" "${bad[@]}"
}

ledger_and_readiness_R2_R3()
{
	local bad=()
	gate 0 --ledger=reconciled "$T/few"
	says 'ledger: reconciled: both observers agree on all 99 calls'
	{ printf 'text saxpy\nout 0x5000\ncuModuleGetFunction 0 0x10\n'; launches 9 | grep -v '^seen\|^ran'; printf 'exit\n'; } | make_scene host
	gate 0 --ledger "$T/host"
	says 'uncontradicted: 10 calls counted by the host observer, and nothing contradicts it'
	gate 2 --explain --ledger=reconciled "$T/host"
	says 'NOT EVALUABLE  ledger' 'missing:  the device observer: nothing says what ran on the device' '`gpubpf record -- COMMAND`'
	gate 0 -k saxpy -t 9 "$T/host"
	says '9 launches by the host observer, as expected' 'source: host observer'
	gate 2 --count executions -k saxpy -t 9 --max-delay-p99 1s --min-busy 1% "$T/host"
	says '0 passed, 0 failed, 3 not evaluable'
	{ head_of; launches 5; echo 'lose cuLaunchKernel'; tail_of; } | make_scene lossy
	gate 1 --explain --ledger "$T/lossy"
	says 'FAIL           ledger: incomplete' 'gpubpf record --ring-size SIZE'
	gate 2 --explain --readiness "$T/few"
	says 'NOT EVALUABLE  readiness: the capture says nothing of readiness' 'missing:  a word on readiness'
	{ head_of; echo 'ready ready proven'; launches 5; tail_of; } | make_scene proven
	gate 0 --readiness=proven "$T/proven"
	says "PASS           readiness: capture was ready before its first context, proven by the kernel's records"
	{ head_of; echo 'ready ready not_shown'; launches 5; tail_of; } | make_scene word
	gate 0 --readiness "$T/word"
	gate 2 --readiness=proven "$T/word"
	{ head_of; echo 'ready failed not_shown init_timeout'; launches 5; tail_of; } | make_scene late
	gate 1 --readiness --explain "$T/late"
	says 'FAIL           readiness: '
	result "$1" "${bad[@]}"
}

# 1260 marks, the gaps of which are even, or 20 % longer in the last 400.
R34_stationarity()
{
	local bad=()
	{ head_of; launches 1260; tail_of; } | make_scene even
	gate 0 --stationary saxpy "$T/even"
	says 'stationarity saxpy: process 100: 1259 gaps, 9 blocks of 157 (auto), the last one made of the 3 trailing gaps and 154 before them' \
		'0.0 % apart, within 10.0 %'
	gate 0 --json --stationary saxpy --block-size 100 "$T/even"
	jq_is '.captures[0].checks[0].figures | [.gaps, .block_size, .blocks, .trailing_gaps, .median_ns]' '[1259,100,13,59,100000]'
	{ head_of; launches 860; launches 400 120000; tail_of; } | make_scene drift
	gate 1 --explain --stationary saxpy "$T/drift"
	says 'FAIL           stationarity' 'block medians from 100 us (block 1) to 120 us' '20.0 % apart, more than 10.0 %'
	gate 0 --stationary saxpy --tolerance 0.2 "$T/drift"
	gate 2 --stationary saxpy --block-size 630 "$T/even"
	says '1259 gaps, at least 1260 are needed for blocks of 630'
	{ head_of; launches 32; tail_of; } | make_scene short
	gate 2 --explain --stationary saxpy "$T/short"
	says 'NOT EVALUABLE  stationarity saxpy: process 100: 31 gaps, at least 32 are needed' 'missing:  marks: there are too few gaps'
	gate 0 --stationary saxpy --block-size 3 "$T/short"
	says '11 blocks of 3,' 'the last one made of the 1 trailing gaps and 2 before them'
	gate 0 --stationary saxpy --mark-kind launches "$T/even"
	says 'source: host observer: entries of launch calls (uprobes in libcuda); granularity: one time per call, nanoseconds of CLOCK_MONOTONIC'
	gate 2 --stationary nobody "$T/even"
	says '0 gaps, at least 32'
	result "$1" "${bad[@]}"
}

# A record without a time merges two gaps: said on pass and on fail, with where the times come from.
R35_R36_unusable_marks_and_sources()
{
	local bad=() state
	{ head_of; launches 40; printf '%s\n' 'cuLaunchKernel 0x5000 64 1 1 128 1 1 0 0x70 0 0' 'seen launch' 'ran kernel 0 0 name 1 grid 64 block 128 start 0 end 0' 'wait 98500'; launches 40; tail_of; } | make_scene hole
	gate 0 --stationary saxpy "$T/hole"
	says '79 gaps' 'unusable marks 1, marks of no known name 0, records that do not decode 0, records known to be lost 1 (a hole merges two gaps into one of twice the length)'
	gate 1 --stationary saxpy --block-size 1 "$T/hole"
	says 'block medians from 100 us (block 1) to 200 us (block 40)' 'unusable marks 1,' \
		'source: device observer: kernel records of CUPTI; granularity: one time per record, nanoseconds; off CLOCK_MONOTONIC by at most 40 ns'
	gate 0 --stationary saxpy "$T/even"
	says 'unusable marks 0, marks of no known name 0, records that do not decode 0, records known to be lost 0'
	says_not 'a hole merges'
	for state in many few even; do
		gate 0 --json -k saxpy -t 1 --stationary saxpy --block-size 2 --min-busy 0 --max-delay-p99 1s --ledger --staging host=none "$T/$state"
		jq_is '[.captures[].checks[] | select((.source and .granularity) | not)]' '[]'
	done
	result "$1" "${bad[@]}"
}

nvtx_marks()
{
	local bad=() i
	{
		head_of
		echo 'name 70001 step'
		for i in $(seq 0 39); do
			echo "marker 2 $((i + 1)) 70001"
			launches $((i < 20 ? 2 : 1)) $((i < 20 ? 50000 : 100000))
			echo "marker 3 $((i + 1)) 0"
		done
		tail_of
	} | make_scene steps
	gate 0 --stationary step --mark-kind nvtx "$T/steps"
	says 'stationarity step: process 100: 39 gaps, 10 blocks of 4 (auto)' 'source: device observer: NVTX marks and starts of ranges, as CUPTI stamps them'
	gate 2 --explain --stationary other --mark-kind nvtx "$T/steps"
	says 'missing:  NVTX marks of that name in the capture'
	gate 2 --explain --stationary step --mark-kind nvtx "$T/few"
	says 'missing:  NVTX: its ranges and marks were not recorded' '`gpubpf record --cupti nvtx -- COMMAND`'
	result "$1" "${bad[@]}"
}

# Forty steps, the first twenty with two launches, the others with one.
R37_nested()
{
	local bad=() nested=(--nested-marks step --mark-kind nvtx --nested)
	gate 0 "${nested[@]}" 18:22,10:30,0:40 "$T/steps"
	says 'nested step: process 100, 40 marks: 18:22 has 6, 10:30 has 30, 0:40 has 60 launches; slack 0; unusable marks 0'
	gate 0 --json "${nested[@]}" 20:21,20:22,19:22 "$T/steps"
	jq_is '[.captures[0].checks[0].figures.ranges[].count]' '[1,2,4]'
	gate 0 "${nested[@]}" 39:40,38:40 "$T/steps"
	says '39:40 has 1, 38:40 has 2 launches'
	# a step without a launch: 20 more marks, 19 more launches
	{
		head_of
		echo 'name 70001 step'
		for i in $(seq 0 29); do
			echo "marker 1 $((i + 1)) 70001"
			[ "$i" = 15 ] || launches 1
			echo 'wait 100000'
		done
		tail_of
	} | make_scene holed
	gate 1 --explain "${nested[@]}" 20:25,5:30 "$T/holed"
	says '20:25 has 5, 5:30 has 24 (19 more, at least 20 are wanted) launches; slack 0'
	gate 0 "${nested[@]}" 20:25,5:30 --nested-slack 1 "$T/holed"
	gate 0 "${nested[@]}" 39:40,38:40 --nested-slack 5 "$T/steps" # less than nothing is not wanted
	# whatever the slack: no more than the inner range is no growth
	gate 1 "${nested[@]}" 16:17,15:17 --nested-slack 9 "$T/holed"
	says '16:17 has 1, 15:17 has 1 (no more than the range inside it)'
	gate 2 "${nested[@]}" 20:25,5:31 "$T/holed"
	says '30 marks: the range 5:31 needs 31'
	gate 1 "${nested[@]}" 18:22,10:30 --nested-kernel nobody "$T/steps"
	gate 0 --nested-marks saxpy --nested 4:6,2:50 "$T/few"
	says '4:6 has 2, 2:50 has 48 kernel records'
	result "$1" "${bad[@]}"
}

R38_staging()
{
	local bad=()
	{ head_of; printf 'out 0x7f0000\ncuMemHostAlloc 0 4096 0\n'; launches 3; tail_of; } | make_scene pinned
	gate 0 --staging host=some --staging managed=none "$T/pinned"
	says 'PASS           staging managed: a recorded zero: no call at 1 armed entry points; none is wanted' \
		'PASS           staging host: 1 calls that allocate, 0 of them failed; some are wanted'
	gate 1 --staging host=none --staging device=some "$T/pinned"
	says 'FAIL           staging device: a recorded zero' 'FAIL           staging host: 1 calls'
	{ head_of; echo 'refuse cuMemAllocManaged'; launches 3; tail_of; } | make_scene refused
	gate 2 --explain --staging managed=none "$T/refused"
	says 'NOT EVALUABLE  staging managed: no evidence: of its entry points 0 were armed, 1 refused, 0 are not in the driver' \
		'missing:  probes at the entry points of this kind of memory'
	gate 2 --staging managed=some "$T/refused"
	{ echo 'mode attach'; head_of; launches 3; tail_of; } | make_scene attached
	gate 2 --explain --staging managed=none "$T/attached"
	says 'no evidence: none in the recording, and the recorder came to a program that ran' 'missing:  the allocations from before the recording'
	gate 2 --staging managed=none "$T/alone"
	says 'NOT EVALUABLE  staging managed: no evidence: the host observer was left out'
	# R14: a zero is a figure, no evidence has none
	gate 2 --json --staging managed=none "$T/refused"
	jq_is '.captures[0].checks[0].figures' '{}'
	gate 0 --json --staging managed=none "$T/pinned"
	jq_is '.captures[0].checks[0].figures.calls' 0
	result "$1" "${bad[@]}"
}

budgets()
{
	local bad=()
	gate 0 --max-delay-p99 5us --min-busy 20% "$T/many"
	says 'launch delay p99 5.00 us of 250 calls, within 5.00 us' 'budget min-busy device 0 of process 100: busy 20.' 'of process 100'
	gate 1 --max-delay-p99 4.9us --min-busy 20.1% "$T/many"
	says 'more than 4.90 us' 'with work of this process (others are not seen), less than 20.1 %' '0 passed, 2 failed'
	# what is missing may have filled the gaps: a pass stands, a fail does not
	gate 2 --explain --min-busy 90% "$T/hole"
	says 'NOT EVALUABLE  budget min-busy' 'executions are missing or have no time, and may have filled it'
	gate 0 --min-busy 10% "$T/hole"
	result "$1" "${bad[@]}"
}

# N launches in each of two shapes that run NS and 2 NS, give or take 1 %: always the same noise by the same seed.
noisy() # N NS SEED [GRID]
{
	head_of
	awk -v n="$1" -v ns="$2" -v seed="$3" -v grid="${4:-64}" 'BEGIN { srand(seed); for (i = 0; i < n; i++) for (k = 1; k < 3; k++) {
		print "cuLaunchKernel 0x5000 " grid * k " 1 1 128 1 1 0 0x70 0 0\nseen launch"
		printf "ran kernel 5000 %d name 1 grid %d block 128\nwait 98500\n", ns * k * (1 + (rand() + rand() + rand() - 1.5) / 75), grid * k } }'
	tail_of
}

# R24, R27, R31: by launch key, with the power of the test; what the launches cannot show is no pass.
no_regression()
{
	local bad=()
	noisy 1000 20000 1 | make_scene base
	noisy 1000 20040 2 | make_scene same
	noisy 1000 21200 3 | make_scene slower
	noisy 1000 18800 4 | make_scene faster
	noisy 3 20000 5 | make_scene tiny
	noisy 1000 20000 6 128 | make_scene other
	gate 0 --baseline "$T/base" --allow-cross-environment --max-regression 3% "$T/same" "$T/faster"
	says 'PASS           no-regression: no launch key is slower than the baseline by more than 3.0 %; one of ' \
		' would have been seen with a power of 80.0 %' 'shown of 2 launch keys with 100.0 % of the kernel time; not shown 0, too few launches 0, appeared 0, vanished 0' \
		'cross-environment, non-causal: ' 'the unit of the test is a block of launches'
	gate 1 --baseline "$T/base" --allow-cross-environment --max-regression 3% "$T/slower"
	says 'FAIL           no-regression: 2 of 2 launch keys are slower than the baseline by more than 3.0 %' 'ratio 1.0'
	gate 0 --baseline "$T/base" --allow-cross-environment --max-regression 10% "$T/slower"
	gate 2 --explain --baseline "$T/base" --allow-cross-environment --max-regression 0.1% "$T/same"
	says 'NOT EVALUABLE  no-regression: whether a launch key is slower by more than 0.1 % is not shown with a power of 80.0 %' \
		'missing:  launches: the noise hides a change of this size'
	gate 0 --baseline "$T/base" --allow-cross-environment --max-regression 0.1% "$T/faster"
	gate 2 --baseline "$T/base" --allow-cross-environment "$T/tiny"
	says 'too few launches 2'
	gate 2 --baseline "$T/base" --allow-cross-environment "$T/other"
	says 'appeared 1, vanished 1'
	gate 1 --json --baseline "$T/base" --allow-cross-environment --max-regression 3% "$T/slower"
	jq_is '.captures[0].checks[0].figures | [.slower, .launch_keys, .causal, .power]' '[2,2,false,0.8]'
	gate 2 --explain --baseline "$T/nobody" --allow-cross-environment "$T/same"
	says 'NOT EVALUABLE  no-regression: the baseline cannot be read' 'missing:  a baseline that can be read'
	gate 2 --explain --baseline "$T/host" --allow-cross-environment "$T/same"
	result "$1" "${bad[@]}"
}

made() # NAME ARG…
{
	local name=$1
	shift
	python3 -IS tests/e2e/diff_scene.py --facts "$T/facts" "$@" | make_scene "$name"
}

# What diff would not call controlled is no regression and none that is absent; allowed, it says so wherever it stands.
R29_R30_environments()
{
	local bad=() missing='device GPU 0 UUID = ?'
	# every fact that a scene lacks has a value, so that its machine is known in all that is asked for
	: >"$T/facts"
	made bare k 64 20 10000 0
	"$GPUBPF" diff --json -s environment "$T/bare" "$T/bare" |
		jq -r '.sections.environment.rows[] | select(.state == "missing") | .group + " " + .name + " = made up"' >"$T/facts"
	made good k 64 400 10000 0.01
	made again --seed 2 k 64 400 10000 0.01
	made worse --seed 3 k 64 400 11000 0.01
	gate 0 --baseline "$T/good" "$T/again"
	says 'PASS           no-regression'
	says_not 'causal'
	# an interval that ends below is not enough where one run cannot tell how the next will differ
	gate 2 --baseline "$T/good" --max-regression 0.5% "$T/again"
	gate 1 --json --baseline "$T/good" "$T/worse"
	jq_is '.captures[0].checks[0].figures | [.environment, .causal, .slower]' '["controlled",true,1]'
	made unknown-a --fact "$missing" k 64 400 10000 0.01
	made unknown-b --fact "$missing" --seed 3 k 64 400 11000 0.01
	gate 2 --explain --baseline "$T/unknown-a" "$T/unknown-b"
	says 'NOT EVALUABLE  no-regression: the two captures cannot be compared: device: cannot be verified: GPU 0 UUID' \
		'missing:  equal and available evidence of both environments' '`gpubpf gate --allow-cross-environment`'
	gate 1 --allow-cross-environment -k k --max-ratio 1.05 --max-regression 5% --baseline "$T/unknown-a" "$T/unknown-b"
	[ "$(grep -c 'cross-environment, non-causal: device: cannot be verified: GPU 0 UUID' "$T/out")" = 2 ] || bad+=("$(cat "$T/out")")
	gate 1 --json --allow-cross-environment --baseline "$T/unknown-a" "$T/unknown-b"
	jq_is '.captures[0].checks[0].figures | [.environment, .causal]' '["cross_environment",false]'
	gate 1 --allow-cross-environment --baseline "$T/unknown-a" --junit "$T/x.xml" --github "$T/unknown-b"
	grep -q '^::error .*non-causal' "$T/out" && grep -q 'message=.*non-causal' "$T/x.xml" || bad+=('not labelled in XML or annotations')
	made elsewhere --host node2 --boot 9999 --seed 3 k 64 400 11000 0.01
	gate 2 --baseline "$T/good" "$T/elsewhere"
	gate 1 --allow-cross-environment --baseline "$T/good" "$T/elsewhere"
	says 'cross-host, non-causal: host: '
	# an incomplete arm, whatever is allowed
	made lossy-arm --vanish 7 --seed 3 k 64 400 10000 0.01
	gate 1 --json --allow-cross-environment --baseline "$T/good" "$T/lossy-arm"
	jq_is '[.captures[0].checks[] | [.check, .state, .figures.environment] | join(" ")] | sort' \
		'["no-regression not evaluable inconclusive","unexplained launches fail "]'
	result "$1" "${bad[@]}"
}

kernel_budgets_R24()
{
	local bad=() base=(--baseline "$T/base" --allow-cross-environment)
	gate 0 "${base[@]}" -k saxpy --max-ratio 1.08 "$T/slower"
	says 'PASS           budget saxpy: median ' 'ratio 1.06, within 1.08; the highest of 2 launch keys: saxpy grid '
	gate 1 "${base[@]}" -k saxpy --max-ratio 1.03 "$T/slower"
	says 'FAIL           budget saxpy: median ' 'more than 1.03' 'non-causal'
	says_not 'no-regression'
	gate 1 "${base[@]}" -k saxpy --max-ratio 103% --max-regression 10% "$T/slower"
	says 'PASS           no-regression'
	gate 2 --explain "${base[@]}" -k nobody --max-ratio 1.1 "$T/slower"
	says 'no kernel of this name in the capture'
	gate 0 "${base[@]}" -k saxpy --max-ratio 1.1 "$T/other"
	says 'the highest of 1 launch keys' '1 launch keys appeared, which have no ratio'
	result "$1" "${bad[@]}"
}

file_of_checks()
{
	local bad=()
	mkdir -p "$T/dir"
	cat >"$T/dir/gpubpf.gate" <<-'F'
		# what a run of this has
		[kernel "saxpy"]
		times = 101
		slack = 2
		[ledger]
		require = reconciled
	F
	gate 0 -c "$T/dir/gpubpf.gate" "$T/few"
	says '2 checks of 1 capture: 2 passed'
	gate 1 -c "$T/dir/gpubpf.gate" -k saxpy --slack 1 "$T/few"
	says 'more than the slack of 1'
	(cd "$T/dir" && "$GPUBPF" gate "$T/few") >"$T/out" 2>&1 || bad+=("gpubpf.gate of the directory: $(cat "$T/out")")
	(cd "$T/dir" && "$GPUBPF" gate --ledger "$T/few") >"$T/out" 2>&1
	says '1 check of 1 capture'
	printf '[ledger]\nrequires = reconciled\n' >"$T/bad.gate"
	gate 2 -c "$T/bad.gate" "$T/few"
	grep -qF "$T/bad.gate:2: there is no key 'requires' in [ledger]; did you mean 'require'?" "$T/err" || bad+=("$(cat "$T/err")")
	head -c 100000 /dev/zero >"$T/zero.gate"
	gate 2 -c "$T/zero.gate" "$T/few"
	grep -q 'has at most 64 KiB' "$T/err" || bad+=("$(cat "$T/err")")
	result "$1" "${bad[@]}"
}

"$B/asan/tests/fuzz/replay_checks" checks 20000 tests/fuzz/checks/* >"$T/fuzz.out" 2>&1
status=$?
cat "$T/fuzz.out"
check gate_checks_fuzz_replay_status 0 $status

# The formats tell the same; XML and annotations hold whatever a name holds.
formats()
{
	local bad=() name
	name=$(printf 'a<b>&"c\033[2J%%,:\n::error::x\001')
	gate 1 --junit "$T/gate.xml" --github -k saxpy -t 99 -k "$name" -t 3 --readiness "$T/few" "$T/nobody"
	grep -q $'\033' "$T/out" && bad+=('escape sequences in the output')
	[ "$(grep -c '^::' "$T/out")" = 3 ] || bad+=("annotations: $(grep '^::' "$T/out")")
	grep -qF '::error title=gpubpf gate%3A completeness a<b>&"c%1B[2J%25%2C%3A%0A%3A%3Aerror%3A%3Ax%01::fail: ' "$T/out" || bad+=("$(grep '^::' "$T/out")")
	python3 - "$T/gate.xml" >"$T/py" 2>&1 <<-'P' || bad+=("$(cat "$T/py")")
		import sys, xml.etree.ElementTree as e
		r = e.parse(sys.argv[1]).getroot()
		assert r.tag == 'testsuites' and (r.get('tests'), r.get('failures'), r.get('errors')) == ('4', '1', '2'), r.attrib
		s = r.findall('testsuite')
		assert [(x.get('tests'), x.get('failures'), x.get('errors')) for x in s] == [('3', '1', '1'), ('1', '0', '1')]
		c = {x.get('name'): x for x in s[0]}
		assert c['completeness saxpy'].find('failure') is None and c['completeness saxpy'].find('error') is None
		assert 'granularity: one record per execution' in c['completeness saxpy'].find('system-out').text
		bad = [x for x in c if x.startswith('completeness a<b>&"c\\x1b[2J%,:')]
		assert len(bad) == 1, list(c)
		assert 'shortfall 3' in c[bad[0]].find('failure').get('message')
		assert c['readiness'].find('error').get('type') == 'not evaluable' and 'gpubpf record' in c['readiness'].find('error').text
	P
	gate 2 --junit "$T/none.xml" --github "$T/few"
	says '::error title=gpubpf gate::nothing was scored'
	gate 2 --junit /nowhere/x.xml --ledger "$T/few"
	grep -q 'cannot write /nowhere/x.xml' "$T/err" || bad+=("$(cat "$T/err")")
	gate 1 --json -k saxpy -t 99 -k "$name" -t 3 --readiness "$T/few" "$T/nobody"
	jq_is '[.captures[].checks[].state]' '["not evaluable","pass","fail","not evaluable"]'
	result "$1" "${bad[@]}"
}

# The whole way: recorded with BPF from the simulated stack, held against what the demo says it did.
recorded()
{
	local bad=() k n args=()
	sim_record demo -- "$SIM/demo" --steps 10 || bad+=("record: $(cat "$T/demo.err")")
	# those of the graph were captured once, and run in each of its launches
	n=$(jq .kernels.sgd_update "$T/demo.out")
	for k in sgd_update _Z9normalizePfjf; do
		args+=(-k "$k" -t "$(jq ".kernels.$k" "$T/demo.out")")
	done
	gate 0 "${args[@]}" -k forward_layer -t "$(jq '.kernels.forward_layer - .captured_launches / 6 * 4 + .graph_launches * 2' "$T/demo.out")" \
		--ledger=reconciled --readiness=proven --staging managed=some --staging array=none --max-delay-p99 10m --min-busy 0.001% "$T/demo.gpubpf"
	[ "$(grep -c 'kernel records of the device, as expected$' "$T/out")" = 3 ] || bad+=("$(cat "$T/out")")
	says 'PASS           ledger: reconciled' 'PASS           staging managed: 2 calls' 'PASS           staging array: a recorded zero'
	gate 0 --count launches -k forward_layer -t "$n" "$T/demo.gpubpf"
	says "$n launches by the host observer, as expected; 4 more launches failed or were captured into a graph"
	sim_record plain --no-shim -- "$SIM/demo" --steps 10 || bad+=("record: $(cat "$T/plain.err")")
	gate 2 --explain "${args[@]}" --ledger=reconciled --readiness --max-delay-p99 1s "$T/plain.gpubpf"
	says '2 passed, 0 failed, 3 not evaluable' 'missing:  the device observer'
	result "$1" "${bad[@]}"
}

# R20: every command that any advice of the source or of this test's output names takes the options it is shown with.
R20_advice_names_what_exists()
{
	local bad=() name=$1 words word n=0
	[ "$(grep -c '→' "$T/seen")" -gt 15 ] || bad+=("$(grep -c '→' "$T/seen") lines of advice")
	"$GPUBPF" gate --help >>"$T/seen"
	while read -r words; do
		n=$((n + 1))
		# shellcheck disable=SC2086
		set -- $words
		"$GPUBPF" "$2" --help >"$T/help" 2>&1 || bad+=("$words: no such command")
		for word in "${@:3}"; do
			[ "$word" != -- ] || break
			case $word in -*) grep -qE -e "(^|[ ,])$word([ ,=[]|\$)" "$T/help" || bad+=("$words: no option $word") ;; esac
		done
	done < <({ cat user/check/advice.h "$T/seen"; } | grep -oE '`gpubpf [^`]*`' | tr -d '`' | sort -u)
	[ $n -gt 20 ] || bad+=("only $n commands")
	result "$name" "${bad[@]}"
}

# What --explain says is there for each that did not pass, and in JSON (R20).
explanations()
{
	local bad=()
	gate 1 --explain -k saxpy -t 250 --ledger -k nobody -t 1 --readiness "$T/few"
	[ "$(grep -c '^      seen:' "$T/out")" = 3 ] && [ "$(grep -c '^      missing:' "$T/out")" -ge 3 ] || bad+=("$(cat "$T/out")")
	gate 1 --json -k saxpy -t 250 --ledger -k nobody -t 1 --readiness "$T/few"
	jq_is '[.captures[].checks[] | [.state, (.explain | length > 0)] | join(" ")] | unique' '["fail true","not evaluable true","pass false"]'
	result "$1" "${bad[@]}"
}

# The keys of the file are in the manual, and the options' in the help.
manual()
{
	local bad=() key
	"$GPUBPF" --man gate >"$T/man"
	for key in $(sed -n 's/^\t{ "[a-z0-9-]*", "\([a-z0-9.-]*\)".*/\1/p' user/check/file.c); do
		grep -q -- "${key#*.}" <(sed 's/\\//g' "$T/man") || bad+=("$key is not in the manual")
	done
	result "$1" "${bad[@]}"
}

for t in R33_completeness R33_R9_names R32_R1_exit_status R32_graph_shortfall_and_unexplained_fail ledger_and_readiness_R2_R3 R34_stationarity \
	R35_R36_unusable_marks_and_sources nvtx_marks R37_nested R38_staging budgets no_regression R29_R30_environments kernel_budgets_R24 file_of_checks formats explanations manual \
	recorded R20_advice_names_what_exists; do
	$t gate_$t
done
