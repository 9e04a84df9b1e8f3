# SPDX-License-Identifier: GPL-2.0-or-later
# For the tests on a real GPU: results by name, captures read as JSON, medians. Sourced.
: "${GPUBPF:?}"
CUDA_HOME=${CUDA_HOME:-/usr/local/cuda}
T=${T:-$(mktemp -d)}
passed=0 failed=0 skipped=0

ok() { echo "ok $1"; passed=$((passed + 1)); }
not_ok() { echo "# $2"; echo "not ok $1"; failed=$((failed + 1)); }
skip() { echo "skip $1: $2"; skipped=$((skipped + 1)); }
check() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "wanted '$2', got '$3'"; fi; }
py() { python3 -c "import json,sys; d=json.load(open(sys.argv[1])); print($2)" "$1"; }
inspect() { "$GPUBPF" inspect --json --apis "$T/$1" >"$T/$1.json"; py "$T/$1.json" "$2"; }
report() { "$GPUBPF" report --json "$T/$1" >"$T/$1.rep"; py "$T/$1.rep" "$2"; }
entered() { inspect "$1" "sum(a['entered'] for a in d['counters']['by_entry_point'] if a['symbol'].startswith('$2'))"; }
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# What this machine has not; empty: nothing.
gpu_lacks()
{
	[ -e /dev/nvidiactl ] || { echo "an NVIDIA GPU"; return; }
	[ -e "$CUDA_HOME/include/cuda.h" ] || { echo "the CUDA toolkit in $CUDA_HOME"; return; }
	[ "$(id -u)" = 0 ] || echo "root"
}

# Ends the script when something is lacking: a named skip, and a failure where a GPU is demanded (the default).
gpu_or_skip() # NAME
{
	local lack
	lack=$(gpu_lacks)
	if [ -n "$lack" ]; then
		echo "skip $1: $lack"
		echo "0 passed, 0 failed, 1 skipped"
		exit "${GPU_REQUIRED:-1}"
	fi
}

gpu_build() # PROGRAM…: of tests/workload, into $T
{
	local p rt dirs="-L$CUDA_HOME/lib64 -L$CUDA_HOME/lib64/stubs -L$CUDA_HOME/lib/stubs -Wl,-rpath,$CUDA_HOME/lib64"
	for p; do
		rt=$(case $p in demo | firsttouch) echo "-lcudart -ldl" ;; esac)
		gcc -std=gnu17 -O2 -D_GNU_SOURCE -pthread -Ibpf -Itests/simcuda -I"$CUDA_HOME/include" -o "$T/$p" \
			"tests/workload/$p.c" $dirs $rt -lcuda || not_ok "build_$p" "it does not compile"
	done
}

loop() { "$@" "$T/launchloop" --launches 200000 --sync-every 1000 >"$T/o" 2>>"$T/loop.err" && py "$T/o" "d['ns_per_launch']"; }

gpu_totals()
{
	echo "$passed passed, $failed failed, $skipped skipped"
	[ $failed = 0 ]
}
