#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Collectives of NCCL across ranks: skew, who was the last, what the clocks allow to say, and what is not said.
. tests/e2e/lib.sh

[ -x "$B/tests/tools/mkscene" ] || { printf 'skip collectives: %s\n' "$B/tests/tools/mkscene"; exit 0; }
AR=ncclDevKernel_AllReduce_Sum_f32_RING_LL
merge() { "$GPUBPF" merge -q -f "$@" 2>"$T/err"; }
capture() { python3 tests/e2e/collectives.py | make_scene "$1"; }
# The rows of a section as JSON; of sections that were not measured, why.
rows() # FILE SECTION JQ
{
	"$GPUBPF" report --json -n 0 -s "$2" "$T/$1" 2>/dev/null | jq -c ".sections.$2 | if .unmeasured then .unmeasured_because else [.rows | (if .[0].pid then sort_by(.pid, .device) else . end)[] | $3] end"
}
# is FILE SECTION JQ WANTED; adds to `bad`
is()
{
	local got
	got=$(rows "$1" "$2" "$3")
	[ "$got" = "$4" ] || bad+=("$1, $2, $3: $got")
}

# One rank on each of three clocks, but the last two of one machine. UTC: what the kernels say of their clocks.
three() # NAME UTC OFFSET-NS NAMES…: beta's wall clock shows so much more
{
	local name=$1 utc=$2 off=$3 kernel=${4:-$AR}
	printf '%s\n' 'machine alpha boot-a' "wall 1700000000001000000 100 $utc" 'rank 100 0' "$kernel 1000 1510" "$kernel 2000 2110" "$kernel 3000 3010" | capture r0
	printf '%s\n' 'machine beta boot-b' "wall $((1700000000001000000 + off)) 100 $utc" 'rank 100 0' "$kernel 1500 1510" "$kernel 2001 2110" "$kernel 3002 3010" | capture r1
	printf '%s\n' 'machine beta boot-b' "wall $((1700000000001000001 + off)) 100 $utc" 'rank 101 1' "$kernel 1100 1510" "$kernel 2100 2110" "$kernel 3001 3010" | capture r2
	merge "$T/r0" "$T/r1" "$T/r2" -o "$T/$name" || bad+=("merge: $(cat "$T/err")")
}

# 500 µs late: rank 1, for which the others waited 500 and 400; 100 µs: rank 2, 100 and 99; 2 µs: the clocks are no better.
straggler()
{
	local bad=()
	three known 2500 0
	is known collectives '[.collectives, .ranks, .skew_max_ns, .wait_ns, .clock_error_ns, .beyond_error, .within_error, .unknown_error, .contradicted, .tied]' \
		'[[3,3,500000,1099000,5400,2,1,0,0,0]]'
	is known collectives '[.kind, .straggler, .straggler_last, .straggler_wait_ns]' '[["AllReduce","member 2 (beta), process 100, device 0",1,900000]]'
	is known collective_ranks '[.pid, .device, .hostname, .collectives, .last, .made_wait_ns, .waited_ns]' \
		'[[10000100,0,"alpha",3,0,0,600000],[20000100,0,"beta",3,1,900000,99000],[30000101,1,"beta",3,1,199000,400000]]'
	is known collective_skews '[.skew_ns, .clock_error_ns, .index, .judgement, .last]' \
		'[[500000,5400,0,"one rank was last","member 2 (beta), process 100, device 0"],[100000,5400,1,"one rank was last","member 3 (beta), process 101, device 1"],[2000,5400,2,"within the clocks'"'"' error",null]]'
	is known collective_clocks '[.collectives, .low_ns, .high_ns, .known_error_ns, .judgement]' '[[3,-8000,10000,5200,"they agree with what is known"]]'
	"$GPUBPF" report "$T/known" >"$T/text" && grep -q 'which communicator a kernel belongs to is not recorded' "$T/text" || bad+=('what is assumed is not said')
	"$GPUBPF" report --csv collectives "$T/known" | grep -q ',AllReduce,"member 2 (beta)' || bad+=('CSV')
	result collectives_and_their_straggler "${bad[@]}"
}
straggler

# Nobody knows the clocks: collectives of all hold them together; others do not, and then nothing is said.
unknown_clocks()
{
	local bad=()
	three held '' 0
	is held collectives '[.clock_error_ns, .beyond_error, .within_error, .unknown_error, .straggler]' '[[10400,2,1,0,"member 2 (beta), process 100, device 0"]]'
	is held collective_clocks '[.low_ns, .high_ns, .known_error_ns, .known_error_ns_unmeasured]' '[[-8000,10000,null,true]]'
	three broadcast '' 0 ncclDevKernel_Broadcast_RING_LL
	is broadcast collectives '[.collectives, .unknown_error, .skew_max_ns, .skew_max_ns_unmeasured, .straggler, .wait_ns]' '[[3,3,null,true,null,null]]'
	is broadcast collective_skews '.skew_ns' '[]'
	is broadcast collective_clocks '[.collectives, .low_ns_unmeasured, .judgement]' '[[0,true,"nothing: no collective of both"]]'
	three cast 2500 0 ncclDevKernel_Broadcast_RING_LL
	is cast collectives '[.skew_max_ns, .beyond_error, .straggler_last, .wait_ns, has("wait_ns")]' '[[500000,2,1,null,false]]'
	is cast collective_ranks '.collectives' '[0,0,0]'
	result collectives_of_clocks_that_nobody_knows_R14 "${bad[@]}"
}
unknown_clocks

# No rank can end before another begins: either they are not the same, or the clocks are not what they are said to be.
contradictions()
{
	local bad=()
	three off 2500 600000
	is off collectives '[.contradicted, .beyond_error, .beyond_error_unmeasured, .skew_max_ns, .straggler]' '[[3,null,true,null,null]]'
	is off collective_ranks '[.collectives, .last]' '[[0,null],[0,null],[0,null]]'
	is off collective_clocks '[.low_ns, .high_ns, .judgement]' '[[592000,610000,"they are further apart than is known of them"]]'
	# of one clock: two communicators of the same shape
	printf '%s\n' 'rank 100 0' "$AR 1000 1010" "$AR 3000 3010" 'rank 200 0' "$AR 1005 1015" "$AR 4000 4010" | capture two
	is two collectives '[.collectives, .contradicted, .straggler]' '[[2,1,null]]'
	is two collective_clocks . '"all ranks have one clock"'
	three apart '' 0
	printf '%s\n' 'machine beta boot-b' 'wall 1700000000001000000 100' 'rank 100 0' "$AR 1500 1510" "$AR 2001 2110" "$AR 4002 4010" | capture r1
	merge "$T/r0" "$T/r1" -o "$T/apart"
	is apart collective_clocks '.judgement' '["no constant difference of the clocks: not the same collectives"]'
	is apart collectives '[.unknown_error, .straggler]' '[[3,null]]'
	result collectives_that_contradict_the_clocks "${bad[@]}"
}
contradictions

# Ranks of one capture have one clock. What has no like is said, and not guessed at.
matching()
{
	local bad=()
	printf '%s\n' 'rank 100 0' "$AR 1000 1200" "$AR 2000 2200 9" 'rank 100 1' "$AR 1100 1200 8" "$AR 2150 2200 6" | capture one
	is one collectives '[.ranks, .set, .collectives, .skew_max_ns, .straggler]' '[[2,2,1,150000,"process 100, device 1"],[2,1,1,100000,"process 100, device 1"]]'
	printf '%s\n' 'rank 100 0' "$AR 1000 1200" "$AR 2000 2200" 'rank 200 1' "$AR 1100 1200" "$AR 2150 2200" 'rank 300 2' "$AR 1100 1200" | capture uneven
	is uneven collectives '[.ranks, .collectives]' '[[2,2]]'
	is uneven collective_ranks '[.pid, .kernels, .matched, .unmatched]' '[[100,2,2,0],[200,2,2,0],[300,1,0,1]]'
	printf '%s\n' 'rank 100 0' "$AR 1000 1200" 'rank 200 1' "$AR 1100 1200" "$AR 2150 2200" | capture none
	is none collectives . '"no two ranks ran kernels of NCCL with the same names in the same order, all through the capture"'
	is none collective_ranks '.unmatched' '[1,2]'
	# of one name each, in another order
	printf '%s\n' 'rank 100 0' "$AR 1000 1200" 'ncclDevKernel_AllGather_RING_LL 2000 2200' 'rank 200 1' 'ncclDevKernel_AllGather_RING_LL 1000 1200' "$AR 2000 2200" | capture order
	is order collective_ranks '.matched' '[0,0]'
	# sends and receives are no collectives; what surrounds them is
	printf '%s\n' 'rank 100 0' "$AR 1000 1200" 'ncclDevKernel_SendRecv 1300 1400' 'ncclDevKernel_SendRecv 1500 1600' "$AR 2000 2200" \
		'rank 200 1' "$AR 1100 1200" 'ncclDevKernel_SendRecv 1300 1400' "$AR 2050 2200" | capture pairs
	is pairs collectives '[.collectives, .kind]' '[[2,"AllReduce"]]'
	is pairs collective_ranks '[.kernels, .matched, .point_to_point]' '[[4,2,2],[3,2,1]]'
	# one without a time has no place in the order
	printf '%s\n' 'rank 100 0' "$AR 1000 1200" "$AR - -" 'rank 200 1' "$AR 1100 1200" "$AR 2050 2200" | capture untimed
	is untimed collective_ranks '[.untimed, .unmatched]' '[[1,2],[0,2]]'
	# two that are the last together
	printf '%s\n' 'rank 100 0' "$AR 1000 1300" 'rank 200 1' "$AR 1200 1300" 'rank 300 2' "$AR 1200.1 1300" | capture tied
	is tied collectives '[.beyond_error, .tied, .straggler, .wait_ns]' '[[1,1,null,200200]]'
	is tied collective_skews '[.judgement, .last]' '[["several ranks were last",null]]'
	is one collective_ranks '.member' '[null,null]'
	printf '%s\n' 'rank 100 0' "$AR 1000 1200" | capture alone
	rows alone collectives . | grep -q 'in one rank alone' || bad+=("alone: $(rows alone collectives .)")
	"$GPUBPF" report "$T/none" | grep -q '^Ranks: one row' || bad+=('ranks without a match are not shown')
	"$GPUBPF" report "$T/alone" | grep -q '^Collectives' && bad+=('one rank alone has a section')
	"$GPUBPF" report -p 100 --json -s collectives "$T/one" >/dev/null || bad+=('a filter')
	result collectives_matched_by_name_and_order "${bad[@]}"
}
matching
