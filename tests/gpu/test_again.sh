#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A live process on a real GPU that is recorded more than once, or has a profiler of its own, or graphs that nobody can
# count beforehand: it goes on as it did.
set -u
. tests/gpu/lib.sh
gpu_or_skip again
gpu_build launchloop
CUPTI_LIB=$(find "$CUDA_HOME"/ -name libcupti.so | head -n 1)
gcc -std=gnu17 -O2 -shared -fPIC -I"$CUDA_HOME/include" -o "$T/cuptibare.so" tests/gpu/cuptibare.c \
	-L"${CUPTI_LIB%/*}" -lcupti -lpthread -Wl,-rpath,"${CUPTI_LIB%/*}" || not_ok build_cuptibare "it does not compile"
"$GPUBPF" shim install "$T/shim" >/dev/null
SHIM=$T/shim/libgpubpf-shim.so
verdict() { inspect "$1" "d['verdict']"; }
bad_times()
{
	report "$1" "sum(r['zero'] + r['end_first'] + r['outside'] + r['early_beyond'] for r in d['sections']['timestamps']['rows'])"
}
# Runs COMMAND, which says ready and then waits for a line, in the background as $P.
start() # NAME COMMAND…
{
	local name=$1
	shift
	rm -f "$T/go"
	mkfifo "$T/go"
	"$@" <"$T/go" >"$T/$name.out" 2>"$T/$name.err" &
	P=$!
	exec 9>"$T/go"
	for _ in $(seq 600); do grep -q ready "$T/$name.err" && return; sleep 0.1; done
}
go_on() { echo >&9; exec 9>&-; }

# C23, C27: a loop of launches, and one of graph launches, recorded ten times; how fast before, meanwhile and after.
sessions() # NAME LOOP-ARG…
{
	local name=$1 good=0 i n0 n1
	shift
	start "$name" env CUDA_INJECTION64_PATH="$SHIM" "$T/launchloop" --wait --sync-every 500 --rounds 100 "$@"
	go_on
	for _ in $(seq 100); do [ "$(wc -l <"$T/$name.out")" -ge 5 ] && break; sleep 0.1; done
	n0=$(wc -l <"$T/$name.out")
	for i in 1 2 3 4 5 6 7 8 9 10; do
		"$GPUBPF" record -q -f -d 500ms -o "$T/$name.$i" -p $P
		[ "$(verdict "$name.$i") $(bad_times "$name.$i")" = "uncontradicted 0" ] && good=$((good + 1)) || "$GPUBPF" inspect "$T/$name.$i" | head -n 6
	done
	n1=$(wc -l <"$T/$name.out")
	wait $P
	check "C27_ten_sessions_$name" "10 0" "$good $?"
	python3 - "$T/$name.out" "$n0" "$n1" "$name" <<'P'
import json, sys, statistics
r = [json.loads(l)["ns_per_launch"] for l in open(sys.argv[1])]
a, b = int(sys.argv[2]), int(sys.argv[3])
before, during, after = (statistics.median(x) if x else float("nan") for x in (r[:a], r[a:b], r[b + 1:]))
print(f"C23 {sys.argv[4]}: {before:.0f} ns a launch before, {during:.0f} while recorded, {after:.0f} after: {after / before:.3f} x")
P
}
sessions attached --launches 50000
sessions graphs --launches 60000 --graph --nodes 4

# C2: a pool of eight buffers on the device, a million kernels: what went wrong is counted by kind, no launch is lost.
start pool env CUDA_INJECTION64_PATH="$T/cuptibare.so" CUPTIBARE_NEXT="$SHIM" CUPTIBARE_CONTROL=/dev/null CUPTIBARE_POOL=8 \
	"$T/launchloop" --wait --launches 50000 --graph --nodes 20 --sync-every 500
"$GPUBPF" record -q -f -o "$T/pool.cap" -p $P &
R=$!
sleep 1
go_on
wait $P $R
check C2_all_launches 50000 "$(entered pool.cap cuGraphLaunch)"
"$GPUBPF" inspect "$T/pool.cap" | head -n 8
report pool.cap "*[(r['kind'], r['records'], r['zero'], r['end_first'], r['outside'], r['early_beyond']) for r in d['sections']['timestamps']['rows']]"

# C24: a WHILE node, the recorder there from the beginning, and coming in between.
if "$CUDA_HOME/bin/nvcc" -o "$T/while_graph" tests/gpu/while_graph.cu 2>"$T/nvcc.err"; then
	echo | "$GPUBPF" record -q -f -o "$T/while.cap" -- "$T/while_graph" 200 5 >"$T/while.out" 2>/dev/null
	check C24_launched "0 True" "$? $(py "$T/while.out" "d['ok']")"
	check C24_launches_are_explained "uncontradicted 200 0" \
		"$(verdict while.cap) $(inspect while.cap "d['device']['ledger']['total']['device_launched'], d['device']['ledger']['total']['unexplained']" | tr -d '(,)')"
	"$GPUBPF" inspect "$T/while.cap" | head -n 6
	start while_live env CUDA_INJECTION64_PATH="$SHIM" "$T/while_graph" 200 5
	"$GPUBPF" record -q -f -o "$T/while_live.cap" -p $P &
	R=$!
	sleep 1
	go_on
	wait $P
	check C24_live "0 True" "$? $(py "$T/while_live.out" "d['ok']")"
	wait $R
	"$GPUBPF" inspect "$T/while_live.cap" | head -n 6
else
	skip C24 "nvcc that compiles: $(head -n 1 "$T/nvcc.err")"
fi

# C22: the program's own profiler was there first. It keeps every record, and we say why we have none.
if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
	start profiled env CUDA_INJECTION64_PATH="$SHIM" python3 tests/gpu/torch_profiled.py --wait
	"$GPUBPF" record -f -o "$T/profiled.cap" -p $P 2>"$T/profiled.say" &
	R=$!
	sleep 1
	go_on
	wait $P $R
	check C22_application_first "2000 True" "$(py "$T/profiled.out" "d['seen'], d['ok']" | tr -d '(),')"
	check C22_is_said True "$(inspect profiled.cap "'second_subscriber' in [n['code'] for n in d['metadata']['notes']]")"
	cat "$T/profiled.say"
else
	skip C22_application_first "PyTorch with CUDA"
fi
gpu_totals
