#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# gpubpf's host observer on a real GPU: counts held against what the programs did, and what recording costs them.
# Needs: an NVIDIA GPU, the CUDA toolkit (nvcc is not needed), python3; root. GPUBPF: a static program will do.
set -u
. tests/gpu/lib.sh
gpu_or_skip gpu

"$GPUBPF" doctor
check doctor 0 $?
gpu_build demo driver_demo launchloop procs

# Counts of the runtime and of the driver API.
"$GPUBPF" record --no-shim -v -o "$T/demo.cap" -- "$T/demo" --steps 50 --quiet >"$T/demo.out" 2>"$T/demo.err"
check demo_status 0 $?
grep 'attached by' "$T/demo.err"
check demo_verdict uncontradicted "$(inspect demo.cap "d['verdict']")"
check demo_launches "$(py "$T/demo.out" "d['launches']")" "$(entered demo.cap cuLaunchKernel)"
check demo_graph_launches "$(py "$T/demo.out" "d['graph_launches']")" "$(entered demo.cap cuGraphLaunch)"
for k in h2d d2h d2d; do
	check "demo_copies_$k" "$(py "$T/demo.out" "(d['copies']['$k'], d['copy_bytes']['$k'])")" \
		"$(report demo.cap "*[(r['copies'], r['bytes']) for r in d['sections']['copies']['rows'] if r['direction'] == '$k']")"
done
"$GPUBPF" report -n 12 "$T/demo.cap" | cut -c1-150
"$GPUBPF" record --no-shim -q -o "$T/driver.cap" -- "$T/driver_demo" >"$T/driver.out" 2>"$T/driver.err"
check driver_status 0 $?
check driver_launches "$(py "$T/driver.out" "d['launches_plain'] + d['launches_ex'] + d['launches_cooperative']")" \
	"$(($(entered driver.cap cuLaunchKernel) + $(entered driver.cap cuLaunchCooperative)))"
tail -n 3 "$T/driver.err"

# A live process.
mkfifo "$T/go"
"$T/launchloop" --wait --launches 100000 --threads 2 <"$T/go" >"$T/live.out" 2>/dev/null &
P=$!
exec 9>"$T/go"
sleep 3
"$GPUBPF" record -q -o "$T/live.cap" -p $P &
R=$!
sleep 1
echo >&9
exec 9>&-
wait $R
check live_status 0 $?
wait $P
check live_launches 200000 "$(entered live.cap cuLaunchKernel)"
check live_verdict uncontradicted "$(inspect live.cap "d['verdict']")"

# Cost: the arms take turns. "floor" is an empty program at entry and return, the least that any observer of both pays.
LIB=$(ldconfig -p | awk '/libcuda.so.1 /{print $NF; exit}')
for _ in 1 2 3 4 5 6 7; do
	loop env >>"$T/bare"
	loop "$GPUBPF" record --no-shim -q -f -o "$T/cost.cap" -- >>"$T/recorded"
	check cost_run_counts_all 200000 "$(entered cost.cap cuLaunchKernel)"
	loop "$GPUBPF" record --no-shim -q -f --returns 1 -o "$T/cost.cap" -- >>"$T/all"
	loop "$GPUBPF" record --no-shim -q -f --entry-only -o "$T/cost.cap" -- >>"$T/entry"
	if [ -x "${CALLCOST:-}" ]; then
		"$CALLCOST" "$LIB" hold 4 >/dev/null &
		sleep 0.5
		loop env >>"$T/floor"
		wait
	fi
done
b=$(median <"$T/bare")
for arm in recorded all entry floor; do
	[ -s "$T/$arm" ] && awk -v a=$arm -v b="$b" -v r="$(median <"$T/$arm")" 'BEGIN {
		printf "launch loop, %-9s %.0f ns a launch, bare %.0f: %.3f x\n", a ":", r, b, r / b }'
done
if [ -x "${CALLCOST:-}" ]; then
	"$CALLCOST" "$LIB" 500000 5
fi

# PyTorch: the counted part has launches of one shape and replays of one graph.
if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
	for _ in 1 2 3; do
		python3 tests/gpu/torch_loop.py 20000 10 >"$T/o" && py "$T/o" "d['us_per_add']" >>"$T/torch.bare"
		"$GPUBPF" record --no-shim -q -f -o "$T/torch.cap" -- python3 tests/gpu/torch_loop.py 20000 10 >"$T/torch.out"
		check torch_status 0 $?
		py "$T/torch.out" "d['us_per_add']" >>"$T/torch.recorded"
	done
	awk -v b="$(median <"$T/torch.bare")" -v r="$(median <"$T/torch.recorded")" 'BEGIN {
		printf "PyTorch elementwise loop: %.2f us bare, %.2f recorded (%.3f x)\n", b, r, r / b }'
	check torch_verdict uncontradicted "$(inspect torch.cap "d['verdict']")"
	check torch_adds "$(py "$T/torch.out" "d['adds']")" \
		"$(report torch.cap "max(r['launches'] for r in d['sections']['launches']['rows'])")"
	check torch_replays 10 "$(entered torch.cap cuGraphLaunch)"
	check torch_captured 3 "$(report torch.cap "sum(r['captured'] for r in d['sections']['launches']['rows'])")"
	"$GPUBPF" report -n 8 "$T/torch.cap" | cut -c1-150
	mkfifo "$T/go2"
	python3 tests/gpu/torch_loop.py 20000 10 --wait <"$T/go2" >"$T/tl.out" 2>"$T/tl.err" &
	P=$!
	exec 9>"$T/go2"
	for _ in $(seq 200); do grep -q ready "$T/tl.err" && break; sleep 0.2; done
	"$GPUBPF" record -q -o "$T/tl.cap" -p $P &
	R=$!
	sleep 1
	echo >&9
	exec 9>&-
	wait $R $P
	check torch_live_adds 20000 "$(report tl.cap "max(r['launches'] for r in d['sections']['launches']['rows'])")"
	check torch_live_replays 10 "$(entered tl.cap cuGraphLaunch)"
else
	skip torch "PyTorch with CUDA"
fi
gpu_totals
