#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Both observers on a real GPU: the ledger closes, times are there, others are not harmed, and what it costs beside a
# bare CUPTI client. Needs what test_gpu.sh needs, and CUPTI.
set -u
. tests/gpu/lib.sh
gpu_or_skip both
ROUNDS=${ROUNDS:-7}

gpu_build demo launchloop
CUPTI_LIB=$(find "$CUDA_HOME"/ -name libcupti.so | head -n 1)
gcc -std=gnu17 -O2 -shared -fPIC -I"$CUDA_HOME/include" -o "$T/cuptibare.so" tests/gpu/cuptibare.c \
	-L"${CUPTI_LIB%/*}" -lcupti -Wl,-rpath,"${CUPTI_LIB%/*}" || not_ok build_cuptibare "it does not compile"

verdict() { inspect "$1" "d['verdict']"; }
# Calls, matched and executions of a population.
row() # CAPTURE POPULATION
{
	report "$1" "*[(r['calls'], r['matched'], r['captured'], r['executions']) for r in d['sections']['observers']['rows'] if r['population'] == '$2']"
}
# Zero times, ends before starts, starts before calls beyond the clock's error, of all kinds.
bad_times()
{
	report "$1" "sum(r['zero'] + r['end_first'] + r['outside'] + r['early_beyond'] for r in d['sections']['timestamps']['rows'])"
}
judge() # NAME CAPTURE
{
	check "$1_reconciled" reconciled "$(verdict "$2")"
	"$GPUBPF" inspect "$T/$2" | head -n 4
	check "$1_times" 0 "$(bad_times "$2")"
}

# A program of the runtime, with graphs.
"$GPUBPF" record -f -o "$T/demo.cap" -- "$T/demo" --steps 50 --quiet >"$T/demo.out" 2>"$T/demo.err"
check demo_status 0 $?
tail -n 3 "$T/demo.err"
judge demo demo.cap
# Each graph of the demo has three kernels and a set.
check demo_kernels_on_the_device "$(py "$T/demo.out" "d['launches'] - d['captured_launches'] + 3 * d['graph_launches']")" \
	"$(report demo.cap "[r['records'] for r in d['sections']['timestamps']['rows'] if r['kind'] == 'kernels'][0]")"

# 600,000 launches; 8 threads.
"$GPUBPF" record -q -f -o "$T/many.cap" -- "$T/launchloop" --launches 600000 --sync-every 1000 >/dev/null
judge launches_600000 many.cap
check launches_600000_each "(600000, 600000, 0, 600000)" "$(row many.cap launches)"
"$GPUBPF" record -q -f -o "$T/threads.cap" -- "$T/launchloop" --launches 20000 --threads 8 --sync-every 1000 >/dev/null
judge threads_8 threads.cap
check threads_8_each "(160000, 160000, 0, 160000)" "$(row threads.cap launches)"

# Calls before and after the session keep such a capture from being reconciled; nothing may be unexplained in it.
# C4: a graph that was there before the recorder, in a live process; C27, C23: recorded ten times, then at its old speed.
mkfifo "$T/go"
SHIM=$("$GPUBPF" shim install "$T/shim" >/dev/null && echo "$T/shim/libgpubpf-shim.so")
CUDA_INJECTION64_PATH=$SHIM "$T/launchloop" --wait --launches 200000 --sync-every 1000 --rounds 40 <"$T/go" >"$T/rounds" 2>/dev/null &
P=$!
exec 9>"$T/go"
sleep 3
echo >&9
exec 9>&-
for _ in $(seq 100); do [ "$(wc -l <"$T/rounds")" -ge 5 ] && break; sleep 0.1; done
n0=$(wc -l <"$T/rounds")
good=0
for i in 1 2 3 4 5 6 7 8 9 10; do
	"$GPUBPF" record -q -f -d 1s -o "$T/arm$i.cap" -p $P
	[ "$(verdict "arm$i.cap")" = uncontradicted ] && good=$((good + 1)) || "$GPUBPF" inspect "$T/arm$i.cap" | head -n 6
done
n1=$(wc -l <"$T/rounds")
check C27_ten_sessions 10 $good
row arm10.cap launches
wait $P
python3 - "$T/rounds" "$n0" "$n1" <<'P'
import json, sys, statistics
r = [json.loads(l)["ns_per_launch"] for l in open(sys.argv[1])]
a, b = int(sys.argv[2]), int(sys.argv[3])
before, during, after = r[:a], r[a:b], r[b + 1:]
if before and after:
    print(f"C23 launch loop of one process: {statistics.median(before):.0f} ns before, {statistics.median(during):.0f} while recorded, "
          f"{statistics.median(after):.0f} after: {statistics.median(after) / statistics.median(before):.3f} x")
P

# PyTorch: a training step captured and replayed; C22: a program with its own profiler.
if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
	"$GPUBPF" record -q -f -o "$T/train.cap" -- python3 tests/gpu/torch_train.py 20 >"$T/train.out"
	check torch_train_ok True "$(py "$T/train.out" "d['ok']")"
	judge torch_train train.cap
	row train.cap launches
	row train.cap "graph launches"
	"$GPUBPF" record -f -o "$T/prof.cap" -- python3 tests/gpu/torch_profiled.py >"$T/prof.out" 2>"$T/prof.err"
	check C22_application_unharmed True "$(py "$T/prof.out" "d['ok']")"
	cat "$T/prof.out"
	grep -i -m 3 'subscriber' "$T/prof.err"
	judge C22_recorded_first prof.cap
else
	skip torch "PyTorch with CUDA"
fi

# Cost: of fresh processes, which differ by a third of it among themselves; then inside one process, paired.
for _ in $(seq "$ROUNDS"); do
	loop env >>"$T/bare"
	loop env CUDA_INJECTION64_PATH="$SHIM" >>"$T/idle"
	loop env CUDA_INJECTION64_PATH="$T/cuptibare.so" >>"$T/cupti"
	loop "$GPUBPF" record -q -f -o "$T/cost.cap" -- >>"$T/both"
	if command -v nsys >/dev/null; then
		loop nsys profile -t cuda -o "$T/n" -f true -- >>"$T/nsys"
	fi
done
b=$(median <"$T/bare") c=$(median <"$T/cupti")
for arm in bare idle cupti both nsys; do
	[ -s "$T/$arm" ] && awk -v a=$arm -v b="$b" -v c="$c" -v r="$(median <"$T/$arm")" -v l="$(sort -n "$T/$arm" | head -n 1)" 'BEGIN {
		printf "launch loop, %-6s %5.0f ns a launch (least %5.0f): %.3f x bare, %.3f x bare CUPTI client\n", a ":", r, l, r / b, r / c }'
done
export T CUPTIBARE=$T/cuptibare.so
SHIM=$SHIM python3 tests/gpu/paired.py --cycles 100 --seconds "${PAIRED_SECONDS:-120}" -- "$T/launchloop" --launches 50000 --sync-every 1000 --step
"$GPUBPF" inspect "$T/cost.cap" | sed -n '/API calls by/,/^$/p'

# C20: how long the calls themselves took.
for arm in bare both; do
	if [ $arm = bare ]; then "$T/launchloop" --launches 100000 --sync-every 1000 --latency; else
		"$GPUBPF" record -q -f -o "$T/lat.cap" -- "$T/launchloop" --launches 100000 --sync-every 1000 --latency; fi >"$T/o"
	echo "C20 launch call, $arm: $(py "$T/o" "d['call_ns']")"
done
# C1: launches of a graph of 50 nodes.
graphs() { "$@" "$T/launchloop" --graph --nodes 50 --launches 1000 --sync-every 100 >"$T/o" && py "$T/o" "d['ns_per_launch']"; }
for _ in 1 2 3 4 5; do
	graphs env >>"$T/g.bare"
	graphs env CUDA_INJECTION64_PATH="$SHIM" >>"$T/g.idle"
	graphs env CUDA_INJECTION64_PATH="$T/cuptibare.so" >>"$T/g.cupti"
	graphs "$GPUBPF" record -q -f -o "$T/graphs.cap" -- >>"$T/g.both"
done
judge C1_graphs graphs.cap
check C1_nodes "(1000, 1000, 0, 50000)" "$(row graphs.cap "graph launches")"
for arm in idle cupti both; do
	awk -v a=$arm -v b="$(median <"$T/g.bare")" -v r="$(median <"$T/g.$arm")" 'BEGIN {
		printf "C1 graph of 50 kernels, %-6s %.0f ns a launch, bare %.0f: %.3f x\n", a ":", r, b, r / b }'
done

if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
	for _ in 1 2 3; do
		python3 tests/gpu/torch_loop.py 20000 10 >"$T/o" && py "$T/o" "d['us_per_add']" >>"$T/t.bare"
		CUDA_INJECTION64_PATH="$T/cuptibare.so" python3 tests/gpu/torch_loop.py 20000 10 >"$T/o" 2>/dev/null && py "$T/o" "d['us_per_add']" >>"$T/t.cupti"
		"$GPUBPF" record -q -f -o "$T/torch.cap" -- python3 tests/gpu/torch_loop.py 20000 10 >"$T/o" && py "$T/o" "d['us_per_add']" >>"$T/t.both"
	done
	for arm in cupti both; do
		awk -v a=$arm -v b="$(median <"$T/t.bare")" -v r="$(median <"$T/t.$arm")" 'BEGIN {
			printf "PyTorch elementwise loop, %-6s %.2f us, bare %.2f: %.3f x\n", a ":", r, b, r / b }'
	done
	judge torch_loop torch.cap
fi
gpu_totals
