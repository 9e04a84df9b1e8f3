#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bench.sh CALLS ROUNDS REPORT_CALLS: what recording costs, and what reading does. Numbers are this machine's.
set -euo pipefail
: "${GPUBPF:?}" "${B:?}" "${SIM:?}"
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
export LD_LIBRARY_PATH=$SIM SIMCUDA_FAST=1

echo "== cost per call, on the thread that makes it"
"$B/tests/bench/callcost" "$SIM/libcuda.so.1" "$1" "$2"

echo
echo "== a USDT probe site, on the thread that passes it"
"$B/tests/bench/usdtcost" "$(($1 / 2))" "$((2 * $2 + 1))"

echo
echo "== two threads as fast as they can for ten seconds, default ring"
"$GPUBPF" record -q -d 10s -o "$T/rate" -- "$SIM/launchloop" --threads 2 --launches 100000000 >"$T/loop" &
R=$!
sleep 12
pkill -P $R launchloop || true
wait $R || true
"$GPUBPF" inspect --json --apis "$T/rate" | jq -r '.counters.by_entry_point | map({e: (.entered + .nested), r: .recorded, l: .lost_ring, f: .records_in_file}) |
	{e: (map(.e) | add), r: (map(.r) | add), l: (map(.l) | add), f: (map(.f) | add)} |
	"\(.e) calls counted = \(.r) records + \(.l) lost in the ring (\(.f) in the file): \(.e / 10 | floor) calls a second"'

echo
echo "== a launch loop of the simulated driver, bare and recorded"
for arm in bare recorded; do
	for _ in 1 2 3 4 5; do
		if [ $arm = bare ]; then
			"$SIM/launchloop" --launches 200000
		else
			"$GPUBPF" record -q -f -o "$T/loop" -- "$SIM/launchloop" --launches 200000
		fi | jq -r '.ns_per_launch // .ns'
	done | sort -n | sed -n 3p >"$T/$arm"
done
awk -v b="$(cat "$T/bare")" -v r="$(cat "$T/recorded")" 'BEGIN { printf "%.0f ns a launch bare, %.0f recorded\n", b, r }'

echo
echo "== report of a capture of $3 calls"
"$B/tests/tools/mkcapture" --calls "$3" "$T/large" >/dev/null
ls -l "$T/large" | awk '{ printf "%.1f MiB in the file\n", $5 / 1048576 }'
/usr/bin/time -f '%e s, %M KiB of memory' "$GPUBPF" report "$T/large" >/dev/null

echo "== $3 calls, as many of the shim, as many activities"
for arm in '' --alone; do
	# shellcheck disable=SC2086
	"$B/tests/tools/mkdevice" --calls "$3" --unmeasured $arm "$T/both" >/dev/null
	for verb in inspect report; do
		/usr/bin/time -f "$verb${arm:+ of the device observer alone}: %U + %S s of CPU, %M KiB of memory" "$GPUBPF" $verb "$T/both" >/dev/null
	done
done

echo
echo "== elfgate of the three largest libraries of this machine"
{ find -L /usr/lib /usr/local -xdev -type f -name '*.so*' -size +8M -printf '%s %p\n' 2>/dev/null || true; } | sort -rn |
	awk '!seen[$1]++' | head -n 3 | while read -r size file; do
	printf '%s, %s MB: ' "$(basename "$file")" $((size / 1000000))
	/usr/bin/time -f '%e s, %M KiB of memory' "$GPUBPF" elfgate "$file" 2>&1 >/dev/null
done
