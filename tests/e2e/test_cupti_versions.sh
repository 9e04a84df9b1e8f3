#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
# The layouts of CUPTI 11.0 to 13.0: the simulated one writes each version's records, one right behind the other, and what
# comes out is the same but for what a version does not have.
. tests/e2e/lib.sh
export LD_LIBRARY_PATH=$SIM
unset CUDA_INJECTION64_PATH GPUBPF_CUPTI GPUBPF_CUPTI_PATH NVTX_INJECTION64_PATH SIMCUPTI_VERSION

if ! command -v jq >/dev/null; then
	echo "skip cupti_versions: jq"
	exit 0
fi

record() # NAME KINDS WORKLOAD ARG…
{
	local name=$1 kinds=$2
	shift 2
	"$GPUBPF" record -q -f -o "$T/$name" --cupti "$kinds" -- "$@" >"$T/$name.out" 2>"$T/$name.err" ||
		not_ok "record_$name" "$(cat "$T/$name.err")"
}

# What ran, its shape and size; no times.
work='.sections | [
	(.kernels.rows[] | "kernel \(.name) \(.grid) \(.block) cluster \(.cluster) \(.registers) \(.dynamic_shared_bytes) \(.launches) \(.graph_nodes)"),
	(.device_copies.rows[] | "copy \(.direction) \(.copies) \(.graph_nodes) \(.bytes)"),
	(.device_sets.rows[] | "set \(.memory) \(.sets) \(.graph_nodes) \(.bytes) \(.min_bytes) \(.max_bytes)"),
	(.graph_runs.rows[] | "graph \(.graph != null) \(.launches) \(.nodes) \(.least_nodes) \(.most_nodes)"),
	(.streams.rows[] | "stream \(.device) \(.stream) \(.kernels) \(.copies) \(.sets)"),
	(.timestamps.rows[] | select(.kind == "kernel" or .kind == "copy" or .kind == "set" or .kind == "sync") | "times \(.kind) \(.records) \(.valid)")
] | sort | .[]'
sound='"\(.verdict) \(.device.losses.unknown_kind) \(.device.losses.cupti_dropped) \([.device.sessions[0].facilities | to_entries[] | select(.value != 0) | .key] | join(" "))"'

same_work() # NAME FILTER: as of 13.0, each behind the filter
{
	"$GPUBPF" report --json "$T/$1" | jq -r "$work" >"$T/$1.work"
	if diff <(sed "$2" "$T/newest.work" | sort -u) <(sort -u "$T/$1.work") >"$T/$1.diff"; then
		ok "work_of_$1"
	else
		not_ok "work_of_$1" "$(cat "$T/$1.diff")"
	fi
}

kinds=sync,memory,overhead,latency
record newest $kinds "$SIM/driver_demo" --rounds 3
"$GPUBPF" report --json "$T/newest" | jq -r "$work" >"$T/newest.work"
check newest_has_it_all "1 6 5 1" \
	"$(grep -c 'cluster 2x1x1' "$T/newest.work") $(grep -c '^graph true 3 6' "$T/newest.work") $(grep -c ^copy "$T/newest.work") $(grep -c ^set "$T/newest.work")"
check newest_sound "reconciled 0 0 " "$("$GPUBPF" inspect --json "$T/newest" | jq -r "$sound")"

# 11.0 11.1 11.2 11.5 11.6 11.8 12.0 12.2 12.3 12.4 12.6 12.8 12.9 13.0
for v in 13 14 15 16 17 18 19 20 21 22 24 26 28 130000; do
	no=
	filter=
	[ $v -ge 15 ] || no=memory
	[ $v -ge 18 ] || filter='s/cluster 2x1x1/cluster null/;'
	[ $v -ge 14 ] || filter+='s/^graph true.*/graph false 18 36 2 2/'
	SIMCUPTI_VERSION=$v record v$v $kinds "$SIM/driver_demo" --rounds 3
	same_work v$v "$filter"
	check sound_of_v$v "reconciled 0 0 $no" "$("$GPUBPF" inspect --json "$T/v$v" | jq -r "$sound")"
	check version_of_v$v $v "$("$GPUBPF" inspect --json "$T/v$v" | jq '.device.sessions[0].cupti_version')"
done

# The library of 11.0 itself, without what came later.
GPUBPF_CUPTI_PATH=$SIM/cupti11/libcupti.so.11.0 record library_11 $kinds "$SIM/driver_demo" --rounds 3
same_work library_11 's/cluster 2x1x1/cluster null/; s/^graph true.*/graph false 18 36 2 2/'
check library_11_sound "reconciled 0 0 memory timestamp" \
	"$("$GPUBPF" inspect --json "$T/library_11" | jq -r "$sound" | tr ' ' '\n' | sort -r | tr '\n' ' ' | sed 's/timestamp reconciled memory 0 0 */reconciled 0 0 memory timestamp/')"

# What runs on no device: a structure as payload came with 13.0.1.
kinds=external,nvtx,unified-memory
extras='.sections | [
	(.nvtx.rows[] | "nvtx \(.domain) \(.name) \(.ranges) \(.open) \(.marks) \(.payloads) \(.payload_kind) \(.payload_min) \(.payload_max) \(.categories) \(.category)"),
	(.unified_memory.rows[] | "unified \(.counter) \(.events) \(.bytes) \(.fault_groups) \(.from) \(.to) \(.devices) \(.cause)"),
	(.external.rows[] | "external \(.kind) \(.records) \(.ids) \(.calls)")
] | sort | .[]'
for v in 130001 13 15 18 24 28 130000; do
	SIMCUPTI_VERSION=$v record extras_v$v $kinds "$SIM/annotated" --launches 20 --nvtx 10 --external 10 --managed 4096
	"$GPUBPF" report --json "$T/extras_v$v" | jq -r "$extras" >"$T/extras_v$v.rows"
	[ $v -ge 130001 ] || sed -i 's/\(annotated blob 0 0 1\) 0 null/\1 1 extended/' "$T/extras_v$v.rows"
	if [ -s "$T/extras_v$v.rows" ] && diff "$T/extras_v130001.rows" "$T/extras_v$v.rows" >"$T/diff"; then
		ok "extras_of_v$v"
	else
		not_ok "extras_of_v$v" "$(cat "$T/diff")"
	fi
	check extras_sound_of_v$v "reconciled 0 0 " "$("$GPUBPF" inspect --json "$T/extras_v$v" | jq -r "$sound")"
done
