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

# Arms take turns, so that a machine whose speed drifts moves all of them; ratios are of each arm's lowest round: other work
# on the machine only ever adds.
lowest() # FILE COLUMN
{
	awk -v c="$2" 'NR == 1 || $c < low { low = $c } END { print low }' "$1"
}

loop() # RECORD-OPTION…: ns a launch; "-": not recorded
{
	if [ "$1" = - ]; then
		"$SIM/launchloop" --launches 200000
	else
		"$GPUBPF" record -q -f -o "$T/loop" "$@" -- "$SIM/launchloop" --launches 200000
	fi | jq -r '.ns_per_launch'
}

arm() # COLUMN WORDS [COLUMN-OF-THE-SAME-WITHOUT]
{
	awk -v w="$2" -v n="$(lowest "$T/arms" "$1")" -v b="$(lowest "$T/arms" 1)" -v o="$([ -z "${3:-}" ] || lowest "$T/arms" "$3")" \
		'BEGIN { printf "%-40s %8.0f ns, %6.0f more, %6.2f x bare%s\n", w, n, n - b, n / b,
			o ? sprintf(", %.2f x the same without it", n / o) : "" }'
}

echo
echo "== a launch loop of the simulated driver, whose launch is next to nothing, bare and recorded"
for _ in $(seq "$2"); do
	echo "$(loop -) $(loop --no-shim) $(loop --no-shim --returns 1) $(loop --no-shim --latency) $(loop --returns 1) $(loop --latency)"
done >"$T/arms"
arm 1 bare
arm 2 "host alone"
arm 3 "host alone, --returns 1"
arm 4 "host alone, --latency" 3
arm 5 "both observers, --returns 1"
arm 6 "both observers, --latency" 5

echo
echo "== two processes that wake each other and are not recorded, while another one is"
beside() # RECORD-OPTION…: ns a turn, beside a recorded loop on another processor; "-": that is not recorded
{
	local pid target
	taskset -c 1 "$SIM/launchloop" --launches 100 --rest 600000 >/dev/null &
	target=$!
	sleep 0.3
	if [ "$1" != - ]; then
		taskset -c 1 "$GPUBPF" record -q -f -o "$T/beside" "$@" -p $target &
		pid=$!
		sleep 1
	fi
	"$B/tests/bench/pingpong" "$((CALLS / 2))"
	[ "$1" = - ] || { kill $pid && wait $pid || true; }
	kill $target
	wait $target 2>/dev/null || true
}
CALLS=$1
if [ "$(nproc)" -lt 2 ]; then
	echo "left out: there is one processor"
else
	for _ in $(seq "$2"); do
		echo "$(beside -) $(beside --no-shim) $(beside --no-shim --latency)"
	done >"$T/turns"
	awk -v b="$(lowest "$T/turns" 1)" -v r="$(lowest "$T/turns" 2)" -v l="$(lowest "$T/turns" 3)" 'BEGIN {
		printf "a turn of two switches: %.0f ns; %.3f x while another process is recorded, %.3f x with --latency (%.0f ns a switch)\n",
			b, r / b, l / b, (l - b) / 2 }'
fi

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
echo "== diff of two captures of $3 calls, as many of the shim, as many executions"
"$B/tests/tools/mkdevice" --calls "$3" "$T/both" >/dev/null
for how in "" --order --order=lcs; do
	/usr/bin/time -f "diff $how: %U s user, %S s system, %M KiB at most" \
		"$GPUBPF" diff --allow-cross-environment $how "$T/both" "$T/both" >/dev/null
done
rm "$T/both"

echo
echo "== export of $3 rows: a third each calls, calls of the shim, executions"
"$B/tests/tools/mkdevice" --calls "$(($3 / 3))" "$T/rows" >/dev/null
for f in sqlite json jsonl; do
	/usr/bin/time -f "$f: %e s, %U + %S s of CPU, %M KiB of memory" "$GPUBPF" export -f $f -o "$T/rows.$f" "$T/rows"
	ls -l "$T/rows.$f" | awk '{ printf "%.0f MiB\n", $5 / 1048576 }'
	rm "$T/rows.$f"
done
time_of() # NAME STATEMENT
{
	/usr/bin/time -f "$1: %e s" sqlite3 "$T/rows.sqlite" "$2" >/dev/null
}
"$GPUBPF" export -f sqlite -o "$T/rows.sqlite" "$T/rows"
time_of kernel_summary 'SELECT * FROM kernel_summary'
time_of 'slowest launches' 'SELECT * FROM launches ORDER BY delay_ns DESC LIMIT 10'
time_of device_gap_summary 'SELECT * FROM device_gap_summary'
time_of api_summary 'SELECT * FROM api_summary'
rm "$T/rows.sqlite"
echo
echo "== the same calls into SQLite: beside sqlite3's own import of them from CSV, without indexes"
"$GPUBPF" export -f csv --table calls -o "$T/calls.csv" "$T/rows"
/usr/bin/time -f "sqlite3 .import of $(($3 / 3)) calls: %e s" sqlite3 "$T/peer" ".import --csv $T/calls.csv calls"
rm "$T/rows" "$T/peer" "$T/calls.csv"

echo
echo "== a trace of that capture, to /dev/null: beyond what reading and joining it takes"
"$B/tests/tools/mkdevice" --calls "$(($3 / 5))" "$T/both" >/dev/null
used() # COMMAND…: "SECONDS KIB"
{
	/usr/bin/time -f '%U %S %M' "$@" 2>&1 >/dev/null | tail -n 1 | awk '{ print $1 + $2, $3 }'
}
read -r join_s join_kib <<<"$(used "$GPUBPF" inspect "$T/both")"
bytes=$("$GPUBPF" timeline -q "$T/both" -o - | wc -c)
for format in perfetto chrome; do
	read -r s kib <<<"$(used "$GPUBPF" timeline -q --format $format "$T/both" -o /dev/null)"
	[ $format = perfetto ] || bytes=$("$GPUBPF" timeline -q --format $format "$T/both" -o - | wc -c)
	awk -v f=$format -v n="$((2 * $3 / 5))" -v b="$bytes" -v s="$s" -v j="$join_s" -v k="$kib" -v jk="$join_kib" 'BEGIN {
		printf "%s: %.2f million slices/s, %.0f MB/s (%.2f s of CPU for %d slices, %.0f MB); with the join %.2f million/s; %.0f MiB of memory beyond the join of %.0f MiB\n",
			f, n / (s - j) / 1e6, b / (s - j) / 1e6, s - j, n, b / 1e6, n / s / 1e6, (k - jk) / 1024, jk / 1024 }'
done

echo
echo "== elfgate of the three largest libraries of this machine"
{ find -L /usr/lib /usr/local -xdev -type f -name '*.so*' -size +8M -printf '%s %p\n' 2>/dev/null || true; } | sort -rn |
	awk '!seen[$1]++' | head -n 3 | while read -r size file; do
	printf '%s, %s MB: ' "$(basename "$file")" $((size / 1000000))
	/usr/bin/time -f '%e s, %M KiB of memory' "$GPUBPF" elfgate "$file" 2>&1 >/dev/null
done
