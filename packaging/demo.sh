#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `make demo`: records the demo workload and reports it. On the GPU where there is one with its driver library and
# the CUDA toolkit, else on the simulated CUDA stack; it says which.
set -euo pipefail

CUDA_HOME=${CUDA_HOME:-/usr/local/cuda}
capture=$B/demo.gpubpf
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)

# What is lacking for a run on the GPU; nothing when all is there.
gpu_lacks()
{
	if [ ! -e /dev/nvidiactl ]; then
		echo 'no NVIDIA GPU (/dev/nvidiactl)'
	elif ! PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep -q 'libcuda\.so\.1 '; then
		echo 'no driver library libcuda.so.1'
	elif [ ! -e "$CUDA_HOME/include/cuda_runtime_api.h" ] || [ ! -e "$CUDA_HOME/lib64/libcudart.so" ]; then
		echo "no CUDA toolkit in $CUDA_HOME (set CUDA_HOME)"
	fi
}

lack=$(gpu_lacks)
if [ -z "$lack" ]; then
	echo "demo: on the GPU, with the CUDA toolkit in $CUDA_HOME"
	mkdir -p "$B/demo"
	"${CC:-cc}" -std=gnu17 -O2 -g -D_GNU_SOURCE -pthread -Ibpf -Itests/simcuda -I"$CUDA_HOME/include" \
		-o "$B/demo/demo" tests/workload/demo.c -L"$CUDA_HOME/lib64" -Wl,-rpath,"$CUDA_HOME/lib64" -lcudart
	command=("$B/demo/demo")
else
	echo "demo: on the simulated CUDA stack, because there is $lack"
	make --no-print-directory B="$B" ${CC:+CC="$CC"} sim
	command=("$B/sim/demo") # finds the libraries beside it
fi

if ! "${as_root[@]}" "$B/gpubpf" doctor >"$B/demo.doctor"; then
	cat "$B/demo.doctor"
	exit 1
fi
printf '\n$ gpubpf record -o %s -f -- %s\n' "$capture" "${command[*]}"
"${as_root[@]}" "$B/gpubpf" record -o "$capture" -f -- "${command[@]}"
[ "$(id -u)" = 0 ] || sudo chown "$(id -u):$(id -g)" "$capture"
printf '\n$ gpubpf report %s\n' "$capture"
"$B/gpubpf" report "$capture"
if [ -n "$lack" ]; then
	printf '\nThe calls are real and were recorded by BPF; the GPU behind them was simulated (there is %s).\n' "$lack"
fi
