#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
# `gpubpf export`: the same tables in JSON, JSON lines, CSV and SQLite, held against each other and against inspect.
. tests/e2e/lib.sh
tools=$B/tests/tools
json() # CAPTURE JQ-EXPRESSION
{
	"$GPUBPF" export --format json "$1" 2>/dev/null | jq -rc "$2"
}
sql() # DATABASE STATEMENT
{
	sqlite3 "$1" "$2" 2>&1
}

"$tools/mkscene" "$T/scene" <tests/e2e/golden/device.scene
"$tools/mkscene" "$T/host" <tests/e2e/golden/report.scene
"$tools/mkdevice" --calls 3000 --processes 2 --threads 3 --zero 7 --drop 11 --early 13 "$T/faulty" >"$T/truth"
"$tools/mkdevice" --calls 500 --unmeasured "$T/entries" >/dev/null
"$tools/mkdevice" --calls 500 --alone "$T/alone" >/dev/null
"$tools/mkcapture" --calls 2000 --lose 5 "$T/lossy" >/dev/null
"$tools/mkcapture" --calls 0 "$T/nothing" >/dev/null
captures="scene host faulty entries alone lossy nothing"
LD_LIBRARY_PATH=$SIM "$GPUBPF" record -q --latency --returns 1 -o "$T/real" -- "$SIM/queued" --rounds 10 >"$T/out" 2>"$T/err" &&
	captures="$captures real" || not_ok export_record "$(cat "$T/err")"
LD_LIBRARY_PATH=$SIM SIMCUDA_FAST=1 SIMCUDA_DO=cuLaunchKernel:heldin:20 "$GPUBPF" record -q --latency -o "$T/locks" -- "$SIM/launchloop" --launches 5 \
	>"$T/out" 2>"$T/err" && captures="$captures locks" || not_ok export_record_locks "$(cat "$T/err")"
LD_LIBRARY_PATH=$SIM "$GPUBPF" record -q --cupti nvtx,external,sync,memory,overhead,unified-memory,latency -o "$T/kinds" -- "$SIM/annotated" --launches 60 --nvtx 50 --external 40 \
	>"$T/out" 2>"$T/err" && captures="$captures kinds" || not_ok export_record_kinds "$(cat "$T/err")"
LD_LIBRARY_PATH=$SIM "$GPUBPF" record -q --no-shim --stacks --stacks-every 1 -o "$T/stacked" -- "$SIM/launchloop" --launches 20 >"$T/out" 2>"$T/err" &&
	captures="$captures stacked" || not_ok export_record_stacks "$(cat "$T/err")"

# ---- One description ----

export_formats_agree()
{
	local bad=() out
	for c in $captures; do
		mkdir -p "$T/same.$c"
		out=$(python3 tests/e2e/export_same.py "$GPUBPF" "$T/$c" "$T/same.$c" 2>&1)
		case $out in
		'0 differences, cells: many') ;;
		*) bad+=("$c: $out") ;;
		esac
	done
	result export_formats_agree "${bad[@]}"
}
export_formats_agree

export_fits_its_schema()
{
	local bad=() out
	"$GPUBPF" export --schema >"$T/schema.json"
	for c in $captures; do
		out=$(python3 - "$T/schema.json" "$T/same.$c/same.json" 2>&1 <<-'EOF'
			import json, sys
			from jsonschema.validators import validator_for
			schema, data = (json.load(open(p)) for p in sys.argv[1:])
			v = validator_for(schema)
			v.check_schema(schema)
			for e in list(v(schema).iter_errors(data))[:5]:
			    print(list(e.path), e.message[:200])
			# and it refuses: an absent key that must be there, null alone, a key that no column has
			for wrong in ({"kind": "x"}, {"id": None}):
			    row = dict(data["tables"]["timings"][0], **wrong)
			    if not list(v(schema).iter_errors({"schema": data["schema"], "tables": {"timings": [row]}})):
			        print("takes", row)
		EOF
		)
		[ -z "$out" ] || bad+=("$c: $out")
	done
	result export_fits_its_schema "${bad[@]}"
}
if python3 -c 'import jsonschema' 2>/dev/null; then export_fits_its_schema; else echo "skip export_fits_its_schema: python3-jsonschema"; fi

# The statements of --schema make the database that an export is.
sqlite3 "$T/empty.db" <<<"$("$GPUBPF" export --schema --format sqlite)"
check export_schema_sql "$(sql "$T/same.scene/same.sqlite" .schema | sort)" "$(sql "$T/empty.db" .schema | sort)"
check export_tables_in_help "$(json "$T/scene" '.tables.tables[].name' | tr '\n' ' ')" \
	"$("$GPUBPF" --man export | sed 's/\\//g' | grep -A1 'Only this table' | sed 's/.*needs it: //; s/ or /, /; s/\.$//; /^.TP/d' | tr -d ',' | tr '\n' ' ' | sed 's/  *$/ /')"

# ---- Totals ----

export_counts_what_inspect_counts()
{
	local bad=() c
	for c in $captures; do
		"$GPUBPF" inspect --json "$T/$c" >"$T/inspect.json"
		jq -c '[([.ledger.populations[]? | [.population, .calls, .recorded, .unexplained]]),
			([.device.ledger.populations[]? | [.population, .calls, .matched, .executions]]),
			(if .device then [.device.executions.kernels, .device.executions.copies, .device.executions.sets] else [0, 0, 0] end),
			(.device.executions.links // {} | with_entries(select(.value > 0))), ((.file.records.calls // 0) + (.file.records.open_calls // 0)), .verdict]' "$T/inspect.json" >"$T/want"
		jq -c '.tables | [([.ledger_host[] | [.population, .calls, .recorded, .unexplained]]),
			([.ledger_device[] | [.population, .calls, .matched, .executions]]),
			([["kernel", "copy", "set"][] as $k | [.executions[] | select(.kind == $k)] | length]),
			([.executions[] | select(.kind == "kernel" or .kind == "copy" or .kind == "set") | .link] | group_by(.) | map({key: .[0], value: length}) | from_entries),
			(.calls | length), .capture[0].verdict]' "$T/same.$c/same.json" >"$T/got"
		jq -s -e '.[0] == .[1]' "$T/want" "$T/got" >/dev/null || bad+=("$c: $(cat "$T/got") is not $(cat "$T/want")")
	done
	result export_counts_what_inspect_counts "${bad[@]}"
}
export_counts_what_inspect_counts

# Each call of the ledger's device lines is in the table with the same word; what losses explain is not in single calls.
export_says_what_became_of_calls()
{
	local bad=() c
	for c in scene faulty entries real; do
		jq -r '.tables | ([.ledger_device[]] | [(map(.matched) | add), (map(.failed) | add), (map(.captured) | add), (map(.no_work) | add), (map(.outside) | add),
				(map(.invalid_time) | add), (map(.ambiguous) | add)]),
			([.calls[] | select(.depth == 0) | .device // "none"] as $d |
				["ran", "failed", "captured", "no_work", "outside", "invalid_time", "ambiguous"] | map(. as $w | [$d[] | select(. == $w)] | length)) | tostring' \
			"$T/same.$c/same.json" >"$T/got"
		[ "$(sed -n 1p "$T/got")" = "$(sed -n 2p "$T/got")" ] || bad+=("$c: $(cat "$T/got")")
	done
	[ "$(jq '[.tables.calls[] | select(.device == "invalid_time")] | length > 0' "$T/same.faulty/same.json")" = true ] || bad+=('no call without times')
	result export_says_what_became_of_calls "${bad[@]}"
}
export_says_what_became_of_calls

# Calls and executions are tied to each other as the simulated stack made them.
check export_ties_calls_to_kernels "40|40|40" \
	"$(sql "$T/same.real/same.sqlite" "SELECT count(*), sum(l.delay_ns >= 0), sum(k.name = n.name) FROM launches l JOIN kernels k ON k.id = l.kernel JOIN launch_keys n ON n.id = l.launch_key")"
check export_call_times_add_up "1" \
	"$(sql "$T/same.real/same.sqlite" "SELECT count(*) > 0 AND total(duration_ns + excess_ns <> on_cpu_ns + runqueue_ns + coalesce(throttled_ns, 0) + futex_ns + ioctl_nvidia_ns + ioctl_ns + poll_ns + sleep_ns + page_fault_ns + other_ns + unaccounted_ns) = 0 FROM call_times")"

check export_waits_are_the_futex_time "1|1" "$(sql "$T/same.locks/same.sqlite" "SELECT count(*) > 0 AND sum(w.woken = 'in_call') > 0,
	sum(w.duration_ns) = (SELECT sum(futex_ns) FROM call_times WHERE interval = 'call') FROM call_waits w JOIN calls c ON c.entry_ns = w.call_entry_ns AND c.tid = w.tid")"

check export_stacks_of_calls "$("$GPUBPF" inspect --json "$T/stacked" | jq .stacks.calls)|20|run" "$(sql "$T/same.stacked/same.sqlite" "SELECT count(*), sum(a.name = 'cuLaunchKernel'),
	max(CASE WHEN a.name = 'cuLaunchKernel' THEN s.folded END) FROM call_stacks k JOIN calls c ON c.entry_ns = k.call_entry_ns AND c.tid = k.tid JOIN apis a ON a.id = c.api
	JOIN stacks s ON s.id = k.stack")"

export_extras()
{
	local bad=() got
	"$GPUBPF" inspect --json "$T/kinds" | jq -c '.device | [.nvtx.marks, .nvtx.ranges, .nvtx.with_payload]' >"$T/want"
	jq -c '.tables.markers | [(map(select(.event == "mark")) | length), (map(select(.event == "start")) | length), (map(select(has("payload_kind"))) | length)]' \
		"$T/same.kinds/same.json" >"$T/got"
	cmp -s "$T/want" "$T/got" || bad+=("markers: $(cat "$T/got"), not $(cat "$T/want")")
	got=$(sql "$T/same.kinds/same.sqlite" "SELECT (SELECT count(*) > 0 FROM markers WHERE end_ns >= time_ns), (SELECT count(*) > 0 FROM external_ids), (SELECT count(DISTINCT kind) FROM executions) > 2, (SELECT count(queued_ns) > 0 FROM executions)")
	[ "$got" = '1|1|1|1' ] || bad+=("$got")
	result export_extras "${bad[@]}"
}
export_extras

# ---- Absent, zero, not measured ----

# One row of each format: a launch that was recorded at its entry alone, of depth zero, that names no bytes.
export_R14()
{
	local bad=() got
	got=$(jq -c '[.tables.calls[] | select(.outcome == "unmeasured")][0] | [.depth, has("bytes"), has("duration_ns"), .duration_ns, .duration_ns_unmeasured]' "$T/same.entries/same.json")
	[ "$got" = '[0,false,true,null,true]' ] || bad+=("JSON: $got")
	got=$("$GPUBPF" export --format csv --table calls "$T/entries" | python3 -c '
import csv, sys
r = [x for x in csv.DictReader(sys.stdin) if x["outcome"] == "unmeasured"][0]
print(r["depth"], repr(r["bytes"]), r["duration_ns"])')
	[ "$got" = "0 '' not measured" ] || bad+=("CSV: $got")
	got=$(sql "$T/same.entries/same.sqlite" "SELECT depth, bytes IS NULL, duration_ns IS NULL, duration_ns_unmeasured, result_unmeasured FROM calls WHERE outcome = 'unmeasured' LIMIT 1")
	[ "$got" = '0|1|1|1|1' ] || bad+=("SQLite: $got")
	got=$(sql "$T/same.entries/same.sqlite" "SELECT sum(timed) + sum(unmeasured) = sum(calls) AND sum(unmeasured) > 0 FROM api_summary")
	[ "$got" = 1 ] || bad+=("a sum of nothing: $got")
	result export_R14 "${bad[@]}"
}
export_R14

# R19, R21, R50: no time is no duration, in tables and views; what CUPTI reported stands apart from what is accepted.
export_R19_untimed()
{
	local bad=() got db=$T/same.faulty/same.sqlite zero
	zero=$(awk '$1 == "zero" { print $2 }' "$T/truth")
	got=$(sql "$db" "SELECT count(*), count(start_ns), count(duration_ns), sum(duration_ns_unmeasured) FROM executions e JOIN timings t ON t.id = e.timing WHERE t.quality = 'zero'")
	[ "$zero" -gt 0 ] && [ "$got" = "$zero|0|0|$zero" ] || bad+=("$got, not $zero")
	got=$(sql "$db" "SELECT sum(executions) = sum(timed) + (SELECT count(*) FROM executions WHERE kind = 'kernel' AND duration_ns IS NULL) FROM kernel_summary")
	[ "$got" = 1 ] || bad+=("kernel_summary counts timed ones alone")
	got=$(sql "$db" "SELECT count(*) FROM dispatches WHERE timed <> (duration_ns IS NOT NULL) OR clock IS NULL OR source IS NULL OR quality IS NULL")
	[ "$got" = 0 ] || bad+=("dispatches: $got")
	got=$(sql "$db" "SELECT count(*) FROM device_gaps WHERE duration_ns <= 0")
	[ "$got" = 0 ] || bad+=("gaps: $got")
	got=$(sql "$db" "SELECT min(delay_ns) >= 0, count(early_ns) > 0 FROM launches")
	[ "$got" = '1|1' ] || bad+=("delays: $got")
	result export_R19_untimed "${bad[@]}"
}
export_R19_untimed

export_says_what_nobody_measured()
{
	local bad=()
	[ "$(json "$T/host" '.tables.tables[] | select(.name == "executions") | [.measured, .why_not]')" = '[false,"no device observer in this capture"]' ] || bad+=(host)
	[ "$(json "$T/alone" '.tables | [(.tables[] | select(.name == "calls") | .measured), (.calls | length), (.device_calls | length), (.executions | map(select(.link == "joined")) | length)]')" = '[false,0,500,500]' ] || bad+=(alone)
	[ "$(json "$T/host" '.tables.calls | map(select(has("device"))) | map(.device_unmeasured) | unique')" = '[true]' ] || bad+=('what became of calls')
	[ "$(json "$T/lossy" '.tables | [.capture[0].verdict, (.ledger_host | map(.lost_ring) | add)]')" = '["incomplete",5]' ] || bad+=(lossy)
	result export_says_what_nobody_measured "${bad[@]}"
}
export_says_what_nobody_measured

export_has_the_values_of_calls()
{
	local bad=() got
	got=$(json "$T/scene" '.tables.calls | map(select(has("bytes")) | .bytes) | [length, add]')
	[ "$got" = '[5,2174976]' ] || bad+=("bytes of copies: $got")
	got=$(json "$T/lossy" '.tables.allocations | [(map(select(.bytes > 0)) | length) == (map(select(.action == "allocate")) | length), all(.address != "0x0"), length > 0]')
	[ "$got" = '[true,true,true]' ] || bad+=("allocations: $got")
	got=$("$GPUBPF" export --format csv --table capture "$T/lossy" 2>/dev/null | grep -o '1760000000000000000')
	[ "$got" ] || bad+=('wall clock at the start')
	result export_has_the_values_of_calls "${bad[@]}"
}
export_has_the_values_of_calls

check export_R25_no_mean_over_shapes "1" "$(sql "$T/same.scene/same.sqlite" "SELECT count(*) > 0 AND count(mean_ns) = 0 FROM kernel_names WHERE shapes > 1")"
check export_incomplete_is_said "1" "$("$GPUBPF" export -f csv --table calls "$T/lossy" 2>&1 >/dev/null | grep -c '^gpubpf: incomplete')"

# ---- The same bytes ----

export_R43_again()
{
	local bad=() f
	for f in json jsonl; do
		"$GPUBPF" export -f $f -o "$T/again.$f" "$T/faulty" 2>/dev/null
		cmp -s "$T/again.$f" "$T/same.faulty/same.$f" || bad+=("$f differs")
	done
	"$GPUBPF" export -f sqlite -o "$T/again.db" "$T/faulty" 2>/dev/null
	cmp -s <(sql "$T/again.db" .dump) <(sql "$T/same.faulty/same.sqlite" .dump) || bad+=('sqlite differs')
	cp "$T/faulty" "$T/other name"
	"$GPUBPF" export -f json "$T/other name" 2>/dev/null | cmp -s - "$T/again.json" || bad+=('its name is in it')
	result export_R43_again "${bad[@]}"
}
export_R43_again

# ---- What can go wrong ----

export_refuses()
{
	local bad=() out status want
	while IFS='|' read -r want args; do
		# shellcheck disable=SC2086
		out=$("$GPUBPF" export $args 2>&1 >/dev/null)
		status=$?
		case "$status $out" in
		$want) ;;
		*) bad+=("export $args: $status $out") ;;
		esac
	done <<-EOF
		2 *needs --format*|$T/scene
		2 *did you mean 'sqlite'*|-f sqlit $T/scene
		2 *'calls'*|-f json --table call $T/scene
		2 *--table*|-f csv $T/scene
		2 *name it with -o*|-f sqlite $T/scene
		2 *--table does not go with*|-f sqlite --table calls -o $T/x $T/scene
		2 *capture file*|-f json
		1 *No such file*|-f json $T/missing
		1 *is a folder*|-f json -o $T $T/scene
		1 *No such file*|-f json -o $T/no/where $T/scene
		1 *regular file*|-f sqlite -o /dev/null $T/scene
		1 *no gpubpf capture*|-f sqlite -o $T/x tests/e2e/lib.sh
	EOF
	[ ! -e "$T/x" ] || bad+=('a file is left')
	result export_refuses "${bad[@]}"
}
export_refuses

"$GPUBPF" export -f jsonl "$T/faulty" 2>"$T/err" | head -n 1 >/dev/null
check export_closed_pipe "1 0 0" "${PIPESTATUS[*]} $(grep -vc incomplete "$T/err")"
"$GPUBPF" export -f json "$T/faulty" >/dev/full 2>"$T/err"
check export_full_stdout "1 No space left on device" "$? $(sed 's/.*: //' "$T/err")"
"$GPUBPF" export -f json -o /dev/stdout "$T/scene" 2>/dev/null | cmp -s - "$T/same.scene/same.json"
check export_to_a_pipe_by_name 0 $?
(program=$(realpath "$GPUBPF") && mkdir "$T/cwd" && cd "$T/cwd" && "$program" export -f json -o - ../scene 2>/dev/null | cmp -s - ../same.scene/same.json && [ -z "$(ls)" ])
check export_to_standard_output_by_dash 0 $?

# A full disk leaves the file that was there, and nothing else.
fill='mount -t tmpfs -o size=200k none "$1/disk" && echo old >"$1/disk/out" && "$2" export -f "$3" -o "$1/disk/out" "$1/faulty" 2>"$1/err"; echo $? $(cat "$1/disk/out"; ls "$1/disk") >"$1/status"'
mkdir "$T/disk"
for f in json sqlite; do
	if unshare -m bash -c 'mount -t tmpfs none "$1"' - "$T/disk" 2>/dev/null; then
		unshare -m bash -c "$fill" - "$T" "$GPUBPF" $f
		check "export_full_disk_$f" "1 old out: No space left on device" "$(cat "$T/status"): $(sed 's/.*: //' "$T/err")"
	else
		echo "skip export_full_disk_$f: the right to mount"
	fi
done

# Damage, anywhere: an error or what is whole, in every format; the sanitizers watch where they are.
export_hostile()
{
	local bad=() program=$GPUBPF status out
	[ -x "$B/asan/gpubpf" ] && program=$B/asan/gpubpf
	for seed in 1 2 3 4 5 6 7 8; do
		python3 - "$T/scene" "$T/bent" $seed <<-'EOF'
			import random, sys
			b = bytearray(open(sys.argv[1], "rb").read())
			r = random.Random(int(sys.argv[3]))
			for _ in range(r.choice([1, 10, 100])):
			    b[r.randrange(16, len(b))] = r.randrange(256)
			open(sys.argv[2], "wb").write(b[: r.randrange(16, len(b))] if r.random() < 0.3 else b)
		EOF
		for f in jsonl sqlite; do
			out=$("$program" export -f $f -o "$T/bent.out" "$T/bent" 2>&1)
			status=$?
			{ [ $status -le 1 ] && ! grep -q 'ERROR: \|runtime error' <<<"$out"; } || bad+=("seed $seed, $f: $status $out")
			rm -f "$T/bent.out"
		done
	done
	"$tools/mkcapture" --calls 5 --text $'a\e[31m"\nc,d' "$T/escape" >/dev/null
	for f in json jsonl; do
		"$GPUBPF" export -f $f "$T/escape" >"$T/out" && jq . "$T/out" >/dev/null && ! grep -q $'\e' "$T/out" || bad+=("$f and an escape sequence")
	done
	out=$(python3 tests/e2e/export_same.py "$GPUBPF" "$T/escape" "$T" 2>&1)
	[ "$out" = '0 differences, cells: many' ] || bad+=("$out")
	result export_hostile "${bad[@]}"
}
export_hostile

# ---- The examples of the README ----

export_readme()
{
	local bad=() n=0 out
	cp "$T/same.scene/same.sqlite" "$T/run.sqlite"
	cp "$T/scene" "$T/run.gpubpf"
	while IFS= read -r line; do
		n=$((n + 1))
		out=$(cd "$T" && PATH=$(dirname "$GPUBPF"):$PATH bash -c "$line" 2>"$T/err") && [ -n "$out" ] ||
			bad+=("$line: $(cat "$T/err")")
	done < <(sed -n '/^## Asking with SQL/,/^## The GPU/p' README.md | grep -E '^(sqlite3|gpubpf) ')
	[ $n -ge 14 ] || bad+=("$n examples")
	result export_readme "${bad[@]}"
}
export_readme
