#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `gpubpf report --memory` and `--modules` on made captures: golden text, planted counts, and what nobody observed.
. tests/e2e/lib.sh

golden=tests/e2e/golden
scene=$B/tests/tools/mkscene
report=("$GPUBPF" report)
. tests/e2e/golden.sh

[ -x "$scene" ] || { printf 'skip report_more: %s\n' "$scene"; exit 0; }
make_scene memory <"$golden/memory.scene"
make_scene modules <"$golden/modules.scene"

# is FILE SECTION JQ WANTED; adds to `bad`
is()
{
	local got
	got=$("${report[@]}" --json -s "$2" "$T/$1" 2>/dev/null | jq -c ".sections.$2 | if .unmeasured then .unmeasured_because else [.rows[] | $3] end" 2>&1)
	[ "$got" = "$4" ] || bad+=("$1, $2, $3: $got")
}

same report_memory_golden_R13_R15 memory.txt --memory -n 0 "$T/memory"
same report_modules_golden_R54_R55 modules.txt --modules -n 0 "$T/modules"

memory_of_each_kind()
{
	local bad=()
	is memory memory 'select(.kind == "managed") | [.allocated, .allocated_bytes, .exited]' '[[1,4194304,1]]'
	is memory memory_peaks 'select(.kind == "all") | [.peak_bytes, .allocations, .end_bytes]' '[[6373888,7,700]]'
	is memory memory_live '.peak_bytes' '[6291968,6304160,6373888,6373888]'
	is memory memory_live '[.live, .live_bytes]' '[[3,6291968],[5,6300160],[7,6373888],[3,700]]'
	is memory memory_live '(.device_bytes + .managed_bytes + .pool_bytes + .virtual_bytes + .host_bytes + .registered_bytes) == .live_bytes' \
		'[true,true,true,true]'
	# no launch was decoded, none is needed
	is memory launches . '[]'
	"${report[@]}" --memory "$T/memory" | grep -q 'allocated, not resident' || bad+=('taken for resident')
	result memory_of_each_kind_without_a_launch_R13 "${bad[@]}"
}
memory_of_each_kind

memory_evidence()
{
	local bad=() alone
	is memory memory_evidence 'select(.of == "allocation" and (.kind == "managed" or .kind == "pitch" or .kind == "virtual")) | [.kind, .calls, .evidence]' \
		'[["pitch",0,"recorded zero"],["managed",1,"recorded"],["virtual",null,"none to be had: not in this driver"]]'
	printf '%s\n' 'lose cuMemAlloc_v2' 'lose cuMemAlloc_v2' 'cuInit 0' | make_scene lost
	is lost memory_evidence 'select(.of == "allocation" and .kind == "device") | [.calls, .lost, .evidence]' '[[0,2,"none: the records were lost"]]'
	printf '%s\n' alone arm 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' 'seen launch' 'ran kernel 2000 1000' 'wait 9000' disarm | make_scene alone
	is alone memory_evidence '.calls // .evidence' "$(jq -nc '[range(22) | "none: the host observer was left out"]')"
	alone=$("${report[@]}" --json --memory "$T/alone" | jq -c '[.sections | .memory, .leaks, .placement | .unmeasured]')
	[ "$alone" = '[true,true,true]' ] || bad+=("alone: $alone")
	# omitted, recorded zero and unmeasured, in one row
	is memory memory_evidence 'select(.kind == "virtual" and .of == "allocation") | [.calls, .calls_unmeasured, .refused, has("sorted")]' '[[null,true,0,false]]'
	result memory_evidence_zero_is_not_none_R38_R14 "${bad[@]}"
}
memory_evidence

leaks_by_stack()
{
	local bad=()
	is memory leaks 'select(.stack) | [.stack, .allocations, .bytes, .each_bytes, .state, .pid]' \
		'[["main;train;grow",1,2097152,2097152,"at exit",100],["main;serve",2,400,null,"at the end",200],["main;serve;again",1,300,300,"at the end",200]]'
	is memory leaks 'select(.stack | not) | [.allocations, .bytes, .each_bytes, .stack_unmeasured]' \
		'[[1,4194304,4194304,true],[1,65536,65536,true],[2,8192,4096,true],[1,8192,8192,true],[1,512,512,true]]'
	is memory leaks '[.allocations] | length' '[1,1,1,1,1,1,1,1]'
	result leaks_by_size_and_stack_R12 "${bad[@]}"
}
leaks_by_stack

frees_and_pools()
{
	local bad=()
	is memory free_matches '[.frees, .thread, .allocated, .freed]' \
		'[[1,"another","device","device"],[1,"another","pool","pool"],[1,"the same","pool","device"]]'
	is memory frees 'select(.kind == "device") | [.calls, .matched, .unknown, .null, .failed]' '[[4,2,1,1,1]]'
	is memory memory_pools 'select(.pool == "0x55") | [.allocated, .freed, .other_thread, .peak_bytes, .addresses_bytes, .spread, .stretches, .left, .holes, .holes_bytes, .largest_hole_bytes, .trims, .life, .reserved_bytes, .reserved_most_bytes, .used_bytes]' \
		'[[4,1,1,16384,20480,1.25,2,3,2,57344,53248,1,"created",33554432,67108864,null]]'
	is memory memory_pools 'select(.pool == "current") | [.reserved_bytes, .reserved_bytes_unmeasured]' '[[null,true]]'
	is memory memory_pools 'select(.pool == "current") | [.freed, .other_call, .left, has("holes")]' '[[1,1,0,false]]'
	result frees_across_threads_and_pools_R17 "${bad[@]}"
}
frees_and_pools

placement()
{
	local bad=()
	is memory placement 'select(.operation == "prefetch") | [.location, .calls, .bytes, .managed, .unknown_memory]' \
		'[["device 0",1,4194304,1,0],["host",1,1048576,1,0],["host, NUMA node 3",1,1048576,1,0],["device 2",1,4096,0,1]]'
	is memory placement 'select(.operation == "advise") | [.advice, .location, .calls, .bytes, .failed]' \
		'[["set read mostly",null,1,4194304,0],["set preferred location","device 1",2,131072,0],["set accessed by","device 7",0,0,1]]'
	is memory placement 'select(.operation == "attach") | [.advice, has("location")]' '[["single",false]]'
	result placement_by_advice_and_location_R13 "${bad[@]}"
}
placement

entry_only()
{
	local bad=()
	printf '%s\n' 'took entry' 'cuMemAllocManaged 0 4096 1' 'took entry' 'cuMemPrefetchAsync 0x1000 64 0 0' 'took entry' \
		'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' | make_scene entry
	is entry memory '[.allocated, .live]' '[[1,null]]'
	is entry placement '[.calls, .bytes, .failed, .failed_unmeasured]' '[[1,64,null,true]]'
	is entry load_kernels '[.launches, .first_ns, .load_ns]' '[[1,null,null]]'
	result memory_of_entry_only_R19 "${bad[@]}"
}
entry_only

# Loads = cached + compiled + nothing to compile + what remains, as far as each is known.
load_split()
{
	local bad=() why
	is modules load_calls 'select(.image == "PTX") | [.calls, .cached, .cached_unmeasured, .compiled, .remaining]' '[[14,null,true,1,13]]'
	is modules load_calls 'select(.api == "cuModuleLoadDataEx") | [.calls, .cached, .compiled, .nothing_to_compile, .remaining]' '[[1,0,0,1,0]]'
	is modules load_calls 'select(has("cached")) | .calls - (.cached // 0) - (.compiled // 0) - (.nothing_to_compile // 0) - .remaining' '[0,0,0,0,0,0,0]'
	is modules load_calls 'select(.nested > 0) | [.calls, .nested, .total_ns]' '[[0,1,null]]'
	# nobody was asked: a line says so
	printf '%s\n' 'text .version 8.0' 'out 0x900' 'cuModuleLoadData 0 0x7000' 'text cubin' 'out 0x901' 'cuModuleLoad 0 0' | make_scene plain
	is plain load_calls '[.calls, .compiled, .compiled_unmeasured, .remaining, .image]' '[[1,null,true,1,"PTX"],[1,null,true,1,null]]'
	"${report[@]}" --modules "$T/plain" | grep -q '(no phase of a load was measured; record --cupti overhead asks' || bad+=('no line')
	"${report[@]}" --modules "$T/modules" | grep -q 'no phase of a load was measured' && bad+=('a line where phases were measured')
	"$GPUBPF" record --help | grep -q overhead || bad+=('the advice does not exist')
	is plain module_phases 'select(.source == "CUPTI") | [.count, .count_unmeasured, .state]' \
		"$(printf '[%s,%s,%s]' {,,}'[null,true,"no device observer in this capture"]')"
	# asked for, and no compiler told of: a compilation may have been all the same
	grep -v 'kind 1 id' "$golden/modules.scene" | make_scene silent
	is silent module_phases 'select(.phase | startswith("compiler")) | [.count, .state]' '[[null,"no record (CUPTI does not tell of every compilation)"]]'
	is silent load_calls 'select(.image == "PTX") | [.calls, .compiled, .remaining]' '[[14,null,14]]'
	result load_split_R55 "${bad[@]}"
}
load_split

load_kernels()
{
	local bad=()
	is modules load_kernels '[.name, .launches, .first_ns, .rest_mean_ns, .lookup_ns, .load_ns, .load_kernels, .loaded_by]' \
		'[["lazy",1,200000,null,1000,20000,2,"cuLibraryLoadData"],["axpy(int, float, float const*, float*)",3,9000,2000,30000,90000,1,"cuModuleLoadData"],["other",1,6000,null,1000,20000,2,"cuLibraryLoadData"],["<unresolved 0x9999>",1,1000,null,null,null,null,null]]'
	is modules load_kernels '[.nested, .nested_ns, .lazy, .lazy_ns, .modules_in_first]' '[[0,0,1,20000,1],[0,0,1,25000,0],[1,4000,0,0,0],[0,0,0,0,0]]'
	is modules module_phases '[.phase, .count, .total_ns, .slowest_ns, .ns_per_kernel] | select(.[0] | startswith("first"))' '[["first launches of kernels",4,216000,200000,54000]]'
	result load_kernels_pay_for_themselves_R54 "${bad[@]}"
}
load_kernels

# The other observer's word on the same, also where the calls were not watched (R11).
device_memory()
{
	local bad=()
	printf '%s\n' alone arm 'refused 13 0' 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' 'seen launch' 'ran kernel 2000 1000' \
		'ran memory 0 0 operation 1 of 3 bytes 4096' 'ran memory 10 0 operation 1 of 3 bytes 512' 'ran memory 20 0 operation 2 of 3 bytes 4096' \
		'ran memory 30 0 operation 1 of 77 bytes 1' 'wait 9000' disarm | make_scene told
	is told device_memory '[.operation, .memory, .records, .bytes]' '[["allocation","device",2,4608],["release","device",1,4096],["allocation","kind 77",1,1]]'
	is modules device_memory . '"not asked for: record --cupti memory does"'
	is memory device_memory . '"no device observer in this capture"'
	result memory_by_the_device_observer_R5_R11 "${bad[@]}"
}
device_memory

# Recorded: the first bytes of an image, from the process; memory that is left, with who asked for it.
recorded()
{
	local bad=() image
	sim_record live --stacks --stacks-every 1 -- "$B/tests/callers/fp" leak 3
	is live.gpubpf leaks '[.allocations, .bytes, .each_bytes, .state, .kind, (.stack_unmeasured // (.stack | contains("main;leak") or contains("fp+0x")))]' \
		'[[3,3003,null,"at exit","device",true]]'
	sim_record image -- "$SIM/driver_demo"
	image=$("${report[@]}" --json -s load_calls "$T/image.gpubpf" | jq -c '.sections.load_calls.rows | map([.api, .image])')
	[ "$image" = '[["cuModuleLoadData","PTX"]]' ] || bad+=("image: $image")
	is image.gpubpf load_kernels '.load_kernels' '[2,2]'
	result recorded_images_and_leaks "${bad[@]}"
}
recorded

presets()
{
	local bad=() all one
	all=$("${report[@]}" --json --modules --memory "$T/memory" | jq -r '.sections | keys_unsorted | join(" ")')
	[ "$all" = 'module_loads module_phases load_calls load_kernels modules memory_evidence memory memory_peaks memory_live leaks frees free_matches memory_pools placement device_memory unified_memory' ] || bad+=("$all")
	one=$("${report[@]}" --json -s frees --memory "$T/memory" | jq -r '.sections | keys_unsorted | join(" ")')
	[ "${one%% *}" = frees ] || bad+=("with --section: $one")
	"${report[@]}" --json "$T/memory" | jq -e '.sections | has("leaks") | not' >/dev/null || bad+=('without being asked')
	"${report[@]}" --csv leaks "$T/memory" | grep -q '^2,400,,.*,200,200,at the end,device,main;serve' || bad+=('CSV')
	"${report[@]}" --csv load_calls "$T/modules" | grep -q '^14,0,0,0,.*,not measured,1,0,13,100,PTX,cuModuleLoadData' || bad+=('CSV of loads')
	"${report[@]}" --csv leaks --memory "$T/memory" 2>&1 | grep -q -- '--memory does not go with it' || bad+=('--csv and --memory')
	"${report[@]}" -t 100 --memory "$T/memory" | grep -q '^Placement: not shown for a choice of threads' || bad+=('-t')
	"${report[@]}" -p 200 --json --memory "$T/memory" | jq -e '.sections.leaks.rows | map(.bytes) | add == 700' >/dev/null || bad+=('-p')
	for one in $all; do
		"${report[@]}" --help | tr -d '\n' | tr -s ' ' | grep -q "[ ,]$one[,.]" || bad+=("help: $one")
	done
	result report_presets_R20 "${bad[@]}"
}
presets
