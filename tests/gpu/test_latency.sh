#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# record --latency on a real GPU: two threads in one context, a processor shared with a neighbour, code that is loaded at
# its first launch, an allocator that grows. What each program measured itself is the truth; the rest is printed to be read.
set -u
. tests/gpu/lib.sh
gpu_or_skip latency
gpu_build launchloop
lat() { "$GPUBPF" record -q -f --latency -o "$T/$1.cap" "${@:2}"; }
records() { "$GPUBPF" inspect --records --json "$T/$1.cap" >"$T/$1.records"; }
sum() { python3 tests/gpu/breakdowns.py total "${@:2}" <"$T/$1.records"; } # NAME PREFIX call|all KEY…
near() # TEST WANTED GOT PERCENT
{
	if awk -v w="$2" -v g="$3" -v p="$4" 'BEGIN { exit !(w > 0 && g >= w * (1 - p / 100) && g <= w * (1 + p / 100)) }'; then
		ok "$1"
	else
		not_ok "$1" "wanted $2 within $4 %, got $3"
	fi
}
sums() # NAME: the parts of 99.9 % of calls add up within 1 %
{
	if python3 tests/gpu/breakdowns.py sums <"$T/$1.records" >"$T/$1.sums"; then
		ok "sums_$1"
	else
		not_ok "sums_$1" "parts, and how many do not add up: $(cat "$T/$1.sums")"
	fi
}
read_it() # NAME LINES PATTERN…: the sections that a reader would look at
{
	"$GPUBPF" latency --rows 6 -n 2 "${@:3}" "$T/$1.cap" 2>&1 | head -n "$2"
}

# Two threads launch into one context.
lat two -- "$T/launchloop" --launches 30000 --threads 2 --sync-every 1000 >"$T/two.out"
records two
check two_threads_verdict reconciled "$(inspect two.cap "d['verdict']")"
sums two
echo "two threads, one context: $(cat "$T/two.out")"
read_it two 70

# One processor, and a neighbour that does not sleep.
cpu=$(python3 -c 'import os; print(max(os.sched_getaffinity(0)))')
taskset -c "$cpu" sh -c 'while :; do :; done' &
hog=$!
lat hog -- taskset -c "$cpu" "$T/launchloop" --launches 100000 --sync-every 1000 >"$T/hog.out"
kill $hog
wait $hog 2>/dev/null
records hog
sums hog
found=$(($(sum hog cuLaunchKernel all runqueue throttled) + $(sum hog cuStreamSynchronize all runqueue throttled)))
near busy_neighbour_is_runqueue "$(py "$T/hog.out" "d['run_delay_ns']")" "$found" 10
echo "a busy neighbour: $(cat "$T/hog.out")"
read_it hog 40

# Lazily loaded code.
if "$CUDA_HOME/bin/nvcc" -std=c++17 -arch=native -o "$T/lazy" tests/gpu/lazy.cu 2>"$T/nvcc.err"; then
	CUDA_MODULE_LOADING=LAZY lat lazy -- "$T/lazy" >"$T/lazy.out"
	records lazy
	sums lazy
	check lazy_launches 96 "$(entered lazy.cap cuLaunchKernel)"
	echo "lazily loaded: $(cat "$T/lazy.out")"
	"$GPUBPF" report -s calls "$T/lazy.cap" 2>/dev/null | head -n 24
	read_it lazy 60
else
	skip lazy "nvcc that compiles: $(head -n 1 "$T/nvcc.err")"
fi

# PyTorch's allocator.
if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
	lat alloc -- python3 tests/gpu/torch_alloc.py 200 >"$T/alloc.out"
	records alloc
	sums alloc
	check alloc_grows 1 "$(($(entered alloc.cap cuMemAlloc) >= 200))"
	near alloc_is_the_call "$(py "$T/alloc.out" "d['alloc_ns']")" "$(sum alloc cuMem call duration)" 25
	echo "an allocator that grows: $(cat "$T/alloc.out")"
	read_it alloc 60 --api 'cuMemAlloc*'
else
	skip alloc "PyTorch with CUDA"
fi
gpu_totals
