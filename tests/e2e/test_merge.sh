#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `gpubpf merge`: captures of several machines on one clock, what is refused, that nothing is lost and no two processes mix.
. tests/e2e/lib.sh

scene=$B/tests/tools/mkscene
mkcapture=$B/tests/tools/mkcapture
[ -x "$scene" ] && [ -x "$mkcapture" ] || { printf 'skip merge: %s\n' "$scene"; exit 0; }
merge=(quietly "$GPUBPF" merge -q)
quietly() { "$@" 2>"$T/err"; }
json() { "$GPUBPF" inspect --json "$T/$1" | jq -r "$2"; }
read_trace() { python3 tests/e2e/trace_read.py "$@"; }

# A rank on a machine: three launches with their kernels, 1 ms apart; what stands on the wall clock at the beginning.
rank() # FILE HOST BOOT WALL [LINE…]: more lines come last
{
	local file=$1 host=$2 boot=$3 wall=$4
	shift 4
	{
		echo "machine $host $boot"
		[ "$wall" = none ] || echo "wall $wall"
		echo arm
		echo clock 40
		echo name 1 step
		for _ in 1 2 3; do
			echo cuLaunchKernel 0x5000 64 1 1 128 1 1 0 0x70 0 0
			echo seen launch
			echo ran kernel 5000 20000 name 1 grid 64 block 128
			echo wait 1000000
		done
		echo cuCtxSynchronize
		printf '%s\n' "$@"
		echo disarm
		echo exit
	} | make_scene "$file"
}

rank a alpha boot-a '1700000000001000000 100 2000'
rank b beta boot-b '1700000000501000000 300 5000'

# The kernels of the two stand as far apart as the wall clocks say, in the trace, on its wall clock, and in the exports.
true_offset()
{
	local bad=() got
	"${merge[@]}" "$T/a" "$T/b" -o "$T/ab" || bad+=("status $?")
	"$GPUBPF" timeline -q "$T/ab" -o "$T/ab.pftrace" || bad+=('timeline')
	got=$(read_trace "$T/ab.pftrace" "(lambda k: [[b['ts'] - a['ts'] for a, b in zip(k('alpha'), k('beta'))], [len(k('alpha')), len(k('beta'))]])(lambda h: [e for e in by('gpu_slice') if f'({h})' in e['track']])" 2>&1)
	[ "$got" = '[[500000000, 500000000, 500000000], [3, 3]]' ] || bad+=("trace: $got")
	got=$(read_trace "$T/ab.pftrace" "(lambda c: [c[1] - c[3], primary])(clocks[0])" 2>&1)
	[ "$got" = '[1700000000000000000, 1]' ] || bad+=("wall clock of the trace: $got")
	got=$("$GPUBPF" export --format jsonl --table executions "$T/ab" 2>/dev/null | jq -s -c '[.[].start_ns] | sort | [.[3] - .[0], .[4] - .[1], .[5] - .[2]]')
	[ "$got" = '[500000000,500000000,500000000]' ] || bad+=("export: $got")
	got=$("$GPUBPF" report --json --section processes "$T/ab" | jq -c '[.sections.processes.rows[].pid] | sort')
	[ "$got" = '[10000100,20000100]' ] || bad+=("processes: $got")
	result merge_true_offset_R46 "${bad[@]}"
}
true_offset

# The machine that runs for the longest gives the clock, whichever file comes first; one boot has one clock, whatever its pairs say.
clocks()
{
	local bad=()
	"${merge[@]}" "$T/b" "$T/a" -o "$T/ba" || bad+=("status $?")
	[ "$(json ab '[.members[].shift_ns] | join(" ")')" = '0 500000000' ] || bad+=("ab: $(json ab '[.members[].shift_ns]')")
	[ "$(json ba '[.members[].shift_ns] | join(" ")')" = '500000000 0' ] || bad+=("ba: $(json ba '[.members[].shift_ns]')")
	[ "$(json ab '[.members[] | .error_ns, .error_from] | join(" ")')" = '2100 kernel 5300 kernel' ] ||
		bad+=("errors: $(json ab '[.members[].error_ns]')")
	rank a2 alpha boot-a '1700000000001000070 20 2000' 'wait 5'
	"${merge[@]}" "$T/a" "$T/a2" "$T/b" -o "$T/aab" || bad+=("three: status $?")
	[ "$(json aab '[.members[].shift_ns] | join(" ")')" = '0 0 499999930' ] || bad+=("aab: $(json aab '[.members[].shift_ns]')")
	"${merge[@]}" --host-error 1us "$T/a" "$T/b" -o "$T/given" || bad+=("host error: status $?")
	[ "$(json given '[.members[] | .error_ns, .error_from] | join(" ")')" = '600 given 800 given' ] ||
		bad+=("given: $(json given '[.members[].error_ns]')")
	rank plain beta boot-b '1700000000501000000 300'
	"${merge[@]}" "$T/a" "$T/plain" -o "$T/unknown" || bad+=("unknown: status $?")
	[ "$(json unknown '[.members[] | has("error_ns")] | join(" ")')" = 'true false' ] || bad+=('unknown')
	result merge_clocks_and_their_errors_R14_R23 "${bad[@]}"
}
clocks

# refused NAME WORDS ARG…: status 1, the words in the message, no file
refused()
{
	local name=$1 words=$2 out rc
	shift 2
	"${merge[@]}" "$@" -o "$T/none"
	rc=$?
	out=$(cat "$T/err")
	case $rc-$out in
	1-*"$words"*) [ ! -e "$T/none" ] && ! compgen -G "$T/none.*" >/dev/null && return ;;
	esac
	bad+=("$name: status $rc, $out")
}

refusals()
{
	local bad=()
	rank mute beta boot-b none
	refused 'no pair' "$T/mute: no clock pair" "$T/a" "$T/mute"
	rank step beta boot-b '1700000000501000000 300' 'wall 1700000000600000000 300'
	refused 'clock set' "$T/step: the wall clock was set" "$T/a" "$T/step"
	refused 'twice' 'are the same capture' "$T/a" "$T/b" "$T/a"
	cp "$T/a" "$T/copy"
	refused 'a copy' "$T/a and $T/copy are the same capture" "$T/a" "$T/copy"
	refused 'merged' "$T/ab is a merged capture" "$T/ab" "$T/a"
	refused 'max error' 'more than 7.30 us' --max-error 7.3us "$T/a" "$T/b"
	"${merge[@]}" --max-error 7.4us "$T/a" "$T/b" -o "$T/within" || bad+=('within the bound')
	refused 'nobody knows' 'nobody knows how far' --max-error 1s "$T/a" "$T/plain"
	rank wide beta boot-b '1700000000501000000 300 2000000000'
	refused 'far' 'can be 2.00 s apart' "$T/a" "$T/wide"
	rank alone gamma boot-c '1700000000001000000 100' alone
	refused 'no host observer' "$T/alone was recorded with --no-host" "$T/a" "$T/alone"
	rank reset alpha boot-a '1700000009001000000 100 2000'
	refused 'set in between' 'was set between the two' "$T/a" "$T/reset" "$T/b"
	"${merge[@]}" "$T/a" "$T/reset" -o "$T/between" || bad+=('one clock needs no wall clock')
	refused 'no capture' 'is no gpubpf capture' "$T/a" "$scene"
	refused 'not there' 'cannot open' "$T/a" "$T/nobody"
	"${merge[@]}" "$T/a" "$T/b" -o "$T/ab"
	[ "$(cat "$T/err")" = "gpubpf: $T/ab exists: name another output file, or replace it with -f" ] ||
		bad+=('exists')
	"${merge[@]}" -f "$T/a" "$T/b" -o "$T/a"
	grep -q 'one of the captures to merge' "$T/err" || bad+=('own input')
	"${merge[@]}" "$T/a" -o "$T/none"
	[ $? = 2 ] || bad+=('one file')
	"${merge[@]}" "$T/a" "$T/b"
	[ $? = 2 ] || bad+=('no output')
	result merge_refuses_what_has_no_anchor_R23 "${bad[@]}"
}
refusals

# Overlap is not asked for, and said.
apart=$("$GPUBPF" merge -q "$T/a" "$T/b" -f -o "$T/ab" 2>&1)
check merge_says_what_shares_no_moment "gpubpf: warning: $T/a ended before $T/b began: they share no moment" "$apart"

# The whole is the worst of its members, and each keeps its own ledger; the sums are theirs.
ledgers()
{
	local bad=() got
	[ "$(json a .verdict) $(json b .verdict) $(json ab .verdict)" = 'reconciled reconciled reconciled' ] ||
		bad+=("$(json a .verdict) $(json b .verdict) $(json ab .headline)")
	rank lossy gamma boot-c '1700000000301000000 100' 'lose cuLaunchKernel'
	"${merge[@]}" "$T/a" "$T/lossy" -o "$T/al" || bad+=("status $?")
	[ "$(json al .verdict)" = incomplete ] || bad+=("lossy: $(json al .headline)")
	[ "$(json al '[.members[].verdict] | join(" ")')" = 'reconciled incomplete' ] || bad+=("$(json al '[.members[].verdict]')")
	json al '.reasons[].text' | grep -q 'member 2 (gamma) was incomplete: ' || bad+=('no word of the member')
	got=$(json al '[.members[].ledger[0] | .calls, .recorded, .lost_ring, .unexplained] | join(" ")')
	[ "$got" = '3 3 0 0 4 3 1 0' ] || bad+=("members' ledgers: $got")
	got=$(json al '.ledger.populations[0] | [.calls, .recorded, .lost_ring, .unexplained, .in_file] | join(" ")')
	[ "$got" = '7 6 1 0 6' ] || bad+=("ledger: $got")
	# one that was alone makes the whole uncontradicted, though all that both saw agrees
	{ echo machine delta boot-d; echo 'wall 1700000000001000000 100'; echo cuCtxSynchronize; } | make_scene host
	"${merge[@]}" "$T/a" "$T/host" -o "$T/ah" || bad+=("status $?")
	[ "$(json ah .verdict)" = uncontradicted ] || bad+=("one observer: $(json ah .headline)")
	result merge_is_the_worst_of_its_members_R1 "${bad[@]}"
}
ledgers

# Stacks and entry points are numbered in each capture anew.
numbers()
{
	local bad=() one two
	"$mkcapture" --calls 3000 --stacks --machine 1 "$T/s1" >/dev/null && "$mkcapture" --calls 2000 --stacks --keys 9 --machine 2 "$T/s2" >/dev/null ||
		bad+=('mkcapture')
	"${merge[@]}" --host-error 1ms "$T/s1" "$T/s2" -o "$T/s" || bad+=("status $?")
	for f in s1 s2 s; do
		"$GPUBPF" export --format folded --value launches "$T/$f" 2>/dev/null | sed -E 's/[0-9]+0{3}4242/PID/' >"$T/$f.folded"
	done
	one=$(awk '{ n += $NF } END { print n }' "$T/s1.folded" "$T/s2.folded")
	two=$(awk '{ n += $NF } END { print n }' "$T/s.folded")
	[ -n "$one" ] && [ "$one" = "$two" ] || bad+=("folded stacks: $one, merged $two")
	for f in s1 s2; do "$GPUBPF" export --format jsonl --table call_stacks "$T/$f" 2>/dev/null | wc -l; done | paste -sd+ | bc >"$T/apart.n"
	[ "$("$GPUBPF" export --format jsonl --table call_stacks "$T/s" 2>/dev/null | wc -l)" = "$(cat "$T/apart.n")" ] || bad+=('stacks of calls')
	[ "$(json ab '[.counters.by_entry_point[].symbol] | join(" ")')" = 'cuLaunchKernel cuCtxSynchronize' ] ||
		bad+=('entry points are there twice')
	# of a library that may be another one on the other machine
	[ "$(json s '[.counters.by_entry_point[] | select(.symbol == "cuInit")] | length')" = 2 ] || bad+=('entry points of two libraries are one')
	# each call's frames by name, whoever made them
	for f in s1 s2 s; do
		"$GPUBPF" inspect --records --json "$T/$f" | python3 -c '
import json, sys
frames, chains, stacks = {}, {}, []
for r in map(json.loads, sys.stdin):
    if r["record"] == "stack_frame":
        frames[r["id"]] = [r.get(k) for k in ("function", "module", "source", "offset")]
    elif r["record"] == "stack_chain":
        chains[r["id"]] = r["frames"]
    elif r["record"] == "stack":
        stacks.append(r)
for r in stacks:
    print(r["tid"] % 10000000, r["api"], r["at"], r["quality"], [frames[i] for i in chains[r["chain"]]])' | sort >"$T/$f.frames"
	done
	[ -s "$T/s1.frames" ] && sort "$T/s1.frames" "$T/s2.frames" | cmp -s - "$T/s.frames" || bad+=('frames')
	result merge_numbers_of_stacks_and_entry_points "${bad[@]}"
}
numbers

# What is broken gives an error or a smaller capture, never a crash; a killed recorder's part is merged as far as it goes.
hostile()
{
	local bad=() n size rc
	size=$(stat -c %s "$T/s2")
	for n in 0 7 16 40 $((size / 2)) $((size - 1)); do
		head -c "$n" "$T/s2" >"$T/cut"
		"${merge[@]}" -f "$T/s1" "$T/cut" -o "$T/m"
		rc=$?
		[ $rc -le 1 ] || bad+=("cut at $n: status $rc")
		[ $rc = 0 ] || continue
		[ "$(json m .verdict)" = incomplete ] || [ "$(json m .verdict)" = 'not evaluable' ] || bad+=("cut at $n: $(json m .verdict)")
	done
	python3 - "$T" <<'EOF' || bad+=('python')
import random, sys
for seed in range(12):
    b = bytearray(open(f"{sys.argv[1]}/{'ab'[seed % 2]}", "rb").read())
    r = random.Random(seed)
    for _ in range(1 + seed):
        b[r.randrange(len(b))] = r.randrange(256)
    open(f"{sys.argv[1]}/bad{seed}", "wb").write(b)
EOF
	for n in 0 1 2 3 4 5 6 7 8 9 10 11; do
		"${merge[@]}" -f "$T/s1" "$T/bad$n" -o "$T/m"
		rc=$?
		[ $rc = 0 ] || [ $rc = 1 ] || bad+=("bytes $n: status $rc")
		[ $rc = 1 ] || "$GPUBPF" report "$T/m" >/dev/null || bad+=("bytes $n: report")
	done
	result merge_of_broken_captures "${bad[@]}"
}
hostile

full_disk()
{
	local bad=() rc
	(ulimit -f 8; "${merge[@]}" "$T/s1" "$T/s2" -o "$T/full")
	rc=$?
	[ $rc = 1 ] || bad+=("status $rc")
	compgen -G "$T/full*" >/dev/null && bad+=('something is left')
	"${merge[@]}" "$T/a" "$T/b" -o - >"$T/piped"
	cmp -s "$T/piped" "$T/ab" || bad+=('standard output')
	"${merge[@]}" -f "$T/a" "$T/b" -o "$T/again" && cmp -s "$T/again" "$T/ab" || bad+=('not the same bytes')
	result merge_leaves_nothing_half_written_R43 "${bad[@]}"
}
full_disk
