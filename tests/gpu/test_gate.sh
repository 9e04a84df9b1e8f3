#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The capture gate on a real GPU, GATE_RUNS times (50) each way (GATE_ARMS: only these): launched (a program of the runtime, threads that race for the
# first call of the driver, PyTorch), started by hand, late by a delay, attached while the driver comes up, and no CUDA at
# all. No run may hang, none may lose a launch, and where capture was ready the kernel's records prove the order.
set -u
. tests/gpu/lib.sh
gpu_or_skip gate
RUNS=${GATE_RUNS:-50}
gpu_build demo gateapp launchloop firsttouch
"$GPUBPF" shim install "$T/shim" >/dev/null
SHIM=$T/shim/libgpubpf-shim.so

# Runs of ONE_RUN NAME, so many at a time; each leaves NAME.I.{cap,out,status}.
runs() # AT-ONCE ARM FUNCTION ARG…
{
	local at_once=$1 arm=$2 i
	shift 2
	[[ " ${GATE_ARMS:-$arm} " == *" $arm "* ]] || return
	for ((i = 1; i <= RUNS; i++)); do
		while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n; done
		"$@" "$arm.$i" &
	done
	wait
	python3 tests/gpu/gate_judge.py "$GPUBPF" "$T" "$arm" "$RUNS" && ok "$arm" || not_ok "$arm" "see above"
}

launched() # [RECORD-OPTION…] -- COMMAND… NAME
{
	local name=${*: -1} options=()
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	timeout -s KILL 120 "$GPUBPF" record -q -f "${options[@]}" -o "$T/$name.cap" -- "${@:1:$#-1}" >"$T/$name.out" 2>"$T/$name.err"
	echo $? >"$T/$name.status"
}

by_hand() # NAME
{
	GPUBPF_MANUAL_INIT=1 launched -- "$T/firsttouch" --start --launches 1000 cuInit "$1"
}

# The library idles in a process, and the recorder is started so long after the process.
attached() # SECONDS ROUNDS NAME
{
	CUDA_INJECTION64_PATH=$SHIM "$T/launchloop" --launches 50000 --rounds "$2" --sync-every 1000 --rest 100 >"$T/$3.out" 2>"$T/$3.err" &
	local p=$!
	sleep "$1"
	timeout -s KILL 120 "$GPUBPF" record -q -f -o "$T/$3.cap" -p $p 2>"$T/$3.say"
	echo $? >"$T/$3.recorder"
	timeout 60 tail --pid=$p -f /dev/null || kill -KILL $p
	wait $p
	echo $? >"$T/$3.status"
}

runs 8 runtime launched -- "$T/demo" --steps 3 --quiet
runs 8 driver launched -- "$T/gateapp" --threads 8 --launches 50 --status 5
runs 8 manual by_hand
runs 8 none launched -- "$T/firsttouch" --status 4 none
runs 8 warmup_1ms launched --warmup 1ms -- "$T/launchloop" --launches 20000 --rounds 4 --sync-every 1000
runs 8 warmup_100ms launched --warmup 100ms -- "$T/launchloop" --launches 20000 --rounds 4 --sync-every 1000
runs 8 attach_1ms attached 0.001 8
runs 8 attach_100ms attached 0.1 8
runs 8 attach_2s attached 2 12
if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
	runs 6 torch launched -- python3 tests/gpu/torch_loop.py 500 3
else
	skip torch "PyTorch with CUDA"
fi
gpu_totals
