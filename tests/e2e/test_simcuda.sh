#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The simulated CUDA stack itself: what the other end-to-end tests stand on.
. tests/e2e/lib.sh
export LD_LIBRARY_PATH=$SIM
unset SIMCUDA_LOG SIMCUDA_FAIL SIMCUDA_STUB SIMCUDA_FAST CUDA_INJECTION64_PATH

bad=()
reason() { bad+=("${*//$'\n'/ | }"); }
verdict() {
	result "$1" "${bad[@]}"
	bad=()
}
# number KEY: of a flat JSON line on standard input
number() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; }
# of `simlog --counts`: calls made by the program itself
calls() { "$SIM/simlog" --counts "$T/log" | awk -v re="^($1)\$" '$1 ~ re { n += $2 } END { print n + 0 }'; }
same() { [ "$2" = "$3" ] || reason "$1: the program says '$2', the log '$3'"; }

# Every exported function is one of its own and starts like the driver's.
simcuda_exports() {
	local n uniq
	n=$(nm -D --defined-only "$SIM/libcuda.so.1" | grep -c ' T cu')
	uniq=$(nm -D --defined-only "$SIM/libcuda.so.1" | grep ' T cu' | cut -d' ' -f1 | sort -u | wc -l)
	[ "$n" -ge 300 ] || reason "only $n functions"
	[ "$n" = "$uniq" ] || reason "$n symbols at $uniq addresses"
	readelf -d "$SIM/libcuda.so.1" | grep -q 'SONAME.*\[libcuda.so.1\]' || reason "no SONAME libcuda.so.1"
	if [ "$(uname -m)" = x86_64 ]; then
		objdump -d --no-show-raw-insn "$SIM/libcuda.so.1" |
			awk '/^[0-9a-f]+ <cu[A-Z].*>:/ { n = $2; getline; if ($2 != "push" || $3 != "%rbp") print n, $2, $3 }' \
				>"$T/prologues"
		[ -s "$T/prologues" ] && reason "not push %rbp first: $(head -3 "$T/prologues")"
	fi
	verdict simcuda_exports
}

# The demo's own counts are the log's: the driver was asked for exactly what the program asked for.
demo_counts() { # program, suffix of stream functions
	local out s=$2 p=$1
	rm -f "$T/log"
	out=$(SIMCUDA_LOG=$T/log "$p" --steps 25 --quiet) || reason "$p failed"
	same launches "$(number launches <<<"$out")" "$(calls "cuLaunchKernel$s")"
	same 'graph launches' "$(number graph_launches <<<"$out")" "$(calls "cuGraphLaunch$s")"
	same h2d "$(number h2d <<<"${out%%copy_bytes*}")" "$(calls "cuMemcpyHtoDAsync_v2$s")"
	same d2h "$(number d2h <<<"${out%%copy_bytes*}")" "$(calls "cuMemcpyDtoHAsync_v2$s")"
	same d2d "$(number d2d <<<"${out%%copy_bytes*}")" "$(calls "cuMemcpyDtoDAsync_v2$s")"
	same sets "$(number sets <<<"${out%%captured_sets*}")" "$(calls "cuMemsetD8Async$s")"
	same 'device allocations' "$(number device <<<"${out%%alloc_bytes*}")" "$(calls cuMemAlloc_v2)"
	same 'pool allocations' "$(number pool <<<"${out%%alloc_bytes*}")" "$(calls "cuMemAllocAsync$s")"
	same 'pool frees' "$(number pool <<<"$out")" "$(calls "cuMemFreeAsync$s")"
}

simcuda_log_equals_program() {
	demo_counts "$SIM/demo" ''
	demo_counts "$SIM/demo-static" ''
	demo_counts "$SIM/demo-ptds" _ptsz
	verdict simcuda_log_equals_program
}

simcuda_driver_demo() {
	local out
	rm -f "$T/log"
	out=$(SIMCUDA_LOG=$T/log "$SIM/driver_demo" --rounds 4) || reason "driver_demo failed"
	same launches "$(number launches_plain <<<"$out")" "$(calls cuLaunchKernel)"
	same extended "$(number launches_ex <<<"$out")" "$(calls cuLaunchKernelEx)"
	same cooperative "$(number launches_cooperative <<<"$out")" "$(calls cuLaunchCooperativeKernel)"
	same 'graph launches' "$(number graph_launches <<<"$out")" "$(calls cuGraphLaunch)"
	same 2d "$(number copies_2d <<<"$out")" "$(calls 'cuMemcpy2D(Async)?_v2')"
	same 3d "$(number copies_3d <<<"$out")" "$(calls 'cuMemcpy3D(Async)?_v2')"
	same batch "$(number copies_batch <<<"$out")" "$(calls cuMemcpyBatchAsync_v2)"
	same sets "$(number sets <<<"${out%%sets_2d*}")" "$(calls 'cuMemsetD(8|16|32)(Async|_v2)')"
	same 'host functions' "$(number host_functions <<<"$out")" "$(calls cuLaunchHostFunc)"
	# The one real nesting: a pitched allocation is a device allocation inside.
	same nested "$(number allocs_pitch <<<"$out")" \
		"$("$SIM/simlog" --counts "$T/log" | awk '$1 == "cuMemAlloc_v2" { print $3 }')"
	same 'failed frees' "$(number failed_frees <<<"$out")" \
		"$("$SIM/simlog" --counts "$T/log" | awk '$1 == "cuMemFree_v2" { print $4 }')"
	verdict simcuda_driver_demo
}

# Every kind of process end keeps its records.
simcuda_log_survives_processes() {
	local out
	rm -f "$T/log"
	out=$(SIMCUDA_LOG=$T/log timeout 60 "$SIM/procs" --calls 7 --fork 3 --quick-exit 3 --double-fork 2 --exec 3 \
		--vfork 2 --short 5 --chain 3 --threads 3 --self) || reason "procs: $out"
	same launches "$(number launches <<<"$out")" "$(calls cuLaunchKernel)"
	same expected "$(number expected <<<"$out")" "$(calls cuLaunchKernel)"
	rm -f "$T/log"
	SIMCUDA_LOG=$T/log "$SIM/demo" --steps 10000000 --quiet >/dev/null &
	for _ in $(seq 100); do
		sleep 0.1
		[ -s "$T/log" ] && [ "$(calls cuLaunchKernel)" -gt 1000 ] && break
	done
	kill -9 $!
	wait $! 2>/dev/null || true
	out=$("$SIM/simlog" --counts "$T/log" 2>/dev/null | awk '$1 == "cuLaunchKernel" { print $2, $5 }')
	[ "${out% *}" -gt 1000 ] || reason "after SIGKILL: $out"
	# At most the call that each of two threads was killed in stays open.
	[ "${out#* }" -le 2 ] || reason "open calls after SIGKILL: $out"
	verdict simcuda_log_survives_processes
}

simcuda_failures_on_demand() {
	local out
	rm -f "$T/log"
	out=$(SIMCUDA_LOG=$T/log SIMCUDA_FAIL=cuMemAlloc_v2:2:3 "$SIM/driver_demo" 2>&1) && reason "did not fail: $out"
	case $out in *CUDA_ERROR_OUT_OF_MEMORY*) ;; *) reason "said: $out" ;; esac
	same 'calls until then' 3 "$(calls cuMemAlloc_v2)"
	out=$(SIMCUDA_FAIL='cuLaunchKernel:719:*,cuMemFree_v2:1:1' "$SIM/demo" --quiet 2>&1) && reason "did not fail"
	case $out in *'unspecified launch failure'*) ;; *) reason "said: $out" ;; esac
	out=$(SIMCUDA_FAIL=cuInit:100:* "$SIM/demo" --quiet 2>&1) && reason "worked with no device"
	case $out in *'no CUDA-capable device'*) ;; *) reason "said: $out" ;; esac
	verdict simcuda_failures_on_demand
}

# What a test of argument capture takes as truth is what the driver saw.
simcuda_callall() {
	local field
	rm -f "$T/log"
	SIMCUDA_STUB=1 SIMCUDA_LOG=$T/log "$SIM/callall" "$T/truth" >"$T/called" || reason "callall failed"
	"$SIM/simlog" --json "$T/log" >"$T/seen"
	[ "$(number missing <"$T/called")" = 0 ] || reason "not exported: $(cat "$T/called")"
	for field in symbol words out out2; do
		sed -n "s/.*\(\"$field\":\(\[[^]]*\]\|\"[^\"]*\"\)\).*/\1/p" "$T/truth" >"$T/a"
		sed -n "s/.*\(\"$field\":\(\[[^]]*\]\|\"[^\"]*\"\)\).*/\1/p" "$T/seen" >"$T/b"
		cmp -s "$T/a" "$T/b" || reason "$field: $(diff "$T/a" "$T/b" | head -4)"
	done
	[ "$(sort -u "$T/a" | wc -l)" -gt 0 ] || reason "no results"
	verdict simcuda_callall
}

# Every argument of 32 bits and more of a whole run differs from every other (booleans aside).
simcuda_callall_distinct() {
	local dup
	sed -n 's/.*"words":\[\([^]]*\)\].*/\1/p' "$T/truth" | tr ',' '\n' | grep -E '0x[0-9a-f]{5,}' | sort | uniq -d >"$T/dups"
	dup=$(grep -cv '"0x7ff' "$T/dups")
	[ "$dup" = 0 ] || reason "repeated: $(head -3 "$T/dups" | tr '\n' ' ')"
	verdict simcuda_callall_distinct
}

# Cheap enough to measure probes on.
simcuda_launch_is_cheap() {
	local ns
	ns=$(for _ in 1 2 3; do SIMCUDA_FAST=1 "$SIM/launchloop" --launches 300000 | number ns_per_launch; done | sort -n | head -1)
	[ "$ns" -lt 200 ] || reason "$ns ns per launch"
	verdict simcuda_launch_is_cheap
}

# The same sources built with the real headers run on the same libraries; the headers agree (abi_check.o built).
simcuda_real_headers() {
	local p
	if [ ! -e "$SIM/real/abi_check.o" ]; then
		echo "skip simcuda_real_headers: no CUDA headers (CUDA_HOME) when it was built"
		return
	fi
	demo_counts "$SIM/real/demo" ''
	demo_counts "$SIM/real/demo-static" ''
	demo_counts "$SIM/real/demo-ptds" _ptsz
	for p in "driver_demo --rounds 1" "launchloop --launches 1000 --threads 2 --sync-every 10" \
		"launchloop --launches 100 --graph" "procs --fork 2"; do
		# shellcheck disable=SC2086
		"$SIM"/real/$p >"$T/out" 2>&1 || reason "$p: $(tail -2 "$T/out")"
	done
	SIMCUDA_STUB=1 "$SIM/real/callall" "$T/truth.real" >/dev/null || reason callall
	timeout 120 "$SIM/real/selftest" >"$T/out" || reason "selftest: $(grep -B3 '^not ok' "$T/out" | head)"
	verdict simcuda_real_headers
}

# A default nvcc program, its runtime linked in statically (C13), sees the same driver.
simcuda_nvcc() {
	local nvcc=${NVCC:-/usr/local/cuda/bin/nvcc}
	if ! command -v "$nvcc" >/dev/null; then
		echo "skip simcuda_nvcc: no nvcc"
		return
	fi
	cat >"$T/saxpy.cu" <<-'EOF'
		#include <cstdio>
		__device__ int table[4];
		__global__ void saxpy(float *y, const float *x, float a, int n)
		{
			int i = blockIdx.x * blockDim.x + threadIdx.x;
			if (i < n) y[i] += a * x[i] + table[i & 3];
		}
		template <typename T> __global__ void fill(T *p, T v) { p[threadIdx.x] = v; }
		int main()
		{
			float *x, *y;
			cudaMalloc(&x, 4096);
			cudaMalloc(&y, 4096);
			for (int i = 0; i < 5; i++) saxpy<<<4, 256, 128>>>(y, x, 2.0f, 1024);
			fill<float><<<1, 64>>>(x, 1.0f);
			cudaError_t e = cudaDeviceSynchronize();
			printf("%d %d\n", (int)e, (int)cudaGetLastError());
			return 0;
		}
	EOF
	for stream in legacy per-thread; do
		local s=
		[ $stream = per-thread ] && s=_ptsz
		if ! "$nvcc" -cudart none --default-stream $stream -o "$T/saxpy" "$T/saxpy.cu" "$SIM/libcudart_static.a" -ldl \
			-lpthread >"$T/out" 2>&1; then
			reason "nvcc: $(tail -3 "$T/out")"
			break
		fi
		rm -f "$T/log"
		[ "$(SIMCUDA_LOG=$T/log "$T/saxpy")" = "0 0" ] || reason "the program failed ($stream)"
		same launches 6 "$(calls "cuLaunchKernel$s")"
		same kernels 2 "$(calls cuLibraryGetKernel)"
		same libraries 1 "$(calls cuLibraryLoadData)"
	done
	verdict simcuda_nvcc
}

# CUPTI's names and nothing else, each of which the real library has in the same version.
simcuda_cupti_exports() {
	local real=${CUDA_HOME:-/usr/local/cuda}/lib/libcupti.so.13 lack
	nm -D --defined-only "$SIM/libcupti.so.13" | sed -n 's/.* [TDBR] //p' | sort >"$T/cupti"
	same functions "$(grep -c '^CUptiResult cupti' tests/simcuda/include/cupti.h)" "$(grep -c '^cupti.*@@libcupti.so.13$' "$T/cupti")"
	grep -v -e '^cupti' -e '^InitializeInjectionNvtx2@' "$T/cupti" >"$T/other" && reason "exports $(tr '\n' ' ' <"$T/other")"
	readelf -d "$SIM/libcupti.so.13" | grep -q 'SONAME.*\[libcupti.so.13\]' || reason "no SONAME libcupti.so.13"
	if [ -e "$real" ]; then
		lack=$(nm -D --defined-only "$real" | sed -n 's/.* [TDBR] //p' | sort | comm -13 - "$T/cupti" | tr '\n' ' ')
		[ -z "$lack" ] || reason "the real library has no $lack"
	fi
	verdict simcuda_cupti_exports
}

simcuda_cupti_real_headers() {
	local p
	if [ ! -e "$SIM/real/abi_check_cupti.o" ]; then
		echo "skip simcuda_cupti_real_headers: no CUPTI headers (CUDA_HOME) when it was built"
		return
	fi
	for p in selftest_cupti selftest_cupti_order; do
		timeout 120 "$SIM/real/$p" >"$T/out" || reason "$p: $(grep -B3 '^not ok' "$T/out" | head)"
	done
	verdict simcuda_cupti_real_headers
}

# The program that is a client itself has all of its own, whenever it comes.
simcuda_cuptiapp() {
	local at want out
	for at in "" --early --late "--leave" "--unsubscribed"; do
		want='"subscribe":0,"enable":0,"kernels":400,"callbacks":400'
		[ "$at" = --late ] && want='"subscribe":0,"enable":0,"kernels":200,"callbacks":200'
		[ "$at" = --leave ] && want='"subscribe":0,"enable":-1,"kernels":300,"callbacks":300'
		[ "$at" = --unsubscribed ] && want='"subscribe":-1,"enable":0,"kernels":400,"callbacks":0'
		# shellcheck disable=SC2086
		out=$("$SIM/cuptiapp" --launches 400 $at)
		[ "$out" = "{\"launches\":400,$want}" ] || reason "$at: $out"
	done
	verdict simcuda_cuptiapp
}

simcuda_exports
simcuda_log_equals_program
simcuda_driver_demo
simcuda_log_survives_processes
simcuda_failures_on_demand
simcuda_callall
simcuda_callall_distinct
simcuda_launch_is_cheap
simcuda_real_headers
simcuda_nvcc
simcuda_cupti_exports
simcuda_cupti_real_headers
simcuda_cuptiapp
for p in selftest selftest_cupti selftest_cupti_order; do
	timeout 120 "$SIM/$p"
	rc=$?
	[ $rc -le 1 ] || reason "$p ended with $rc"
done
verdict simcuda_selftest_ends
