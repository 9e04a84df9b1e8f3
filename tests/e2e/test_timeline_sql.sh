#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 120
# `gpubpf timeline --sql-out`: its views against the canonical JSON, in SQLite and, where one is given, in Perfetto's trace processor.
. tests/e2e/lib.sh

scene=$B/tests/tools/mkscene
device=$B/tests/tools/mkdevice
timeline=("$GPUBPF" timeline -q)

# of NAME: the capture $T/NAME with its module
views_of() # NAME
{
	"${timeline[@]}" "$T/$1" -o "$T/$1.pftrace" --sql-out "$T/$1.sql" 2>/dev/null &&
		"$GPUBPF" export --format json -o "$T/$1.json" "$T/$1" 2>/dev/null
}

ask() # NAME SQL
{
	python3 tests/e2e/trace_sql.py "$T/$1.pftrace" "$T/$1.sql" "$2" 2>&1
}

asks() # NAME SQL WANTED; adds to `bad`
{
	local got
	got=$(ask "$1" "$2")
	[ "$got" = "$3" ] || bad+=("$1: $2: ${got:0:600}, not $3")
}

[ -x "$scene" ] || { printf 'skip timeline_sql: %s\n' "$scene"; exit 0; }
make_scene scene <tests/e2e/golden/device.scene
views_of scene || { not_ok timeline_sql_scene "status $?"; exit 1; }

sql_equals_the_json()
{
	local bad=() out o
	"$B/tests/tools/mkcapture" --calls 300 "$T/host" >/dev/null
	printf '%s\n' 'took entry' 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' 'took open' 'cuCtxSynchronize' | make_scene entries
	for o in '' '--zero 1' '--early 3' '--drop 7 --gap 5' '--silent' '--fail 3' '--alone' '--bare' \
		'--unmeasured --threads 3 --processes 2'; do
		# shellcheck disable=SC2086
		"$device" --calls 300 $o "$T/dev${o// /}" >/dev/null || bad+=("mkdevice $o")
		set -- "$@" "dev${o// /}"
	done
	for o in scene host entries "$@"; do
		views_of "$o" || bad+=("$o: status $?")
		out=$(python3 tests/e2e/trace_sql.py "$T/$o.pftrace" "$T/$o.sql" --json "$T/$o.json" 2>&1)
		case $out in
		[1-9]*' compared') ;;
		*) bad+=("$o: $out") ;;
		esac
	done
	result sql_equals_the_json_R50 "${bad[@]}"
}
sql_equals_the_json

sql_not_measured()
{
	local bad=()
	# omitted, zero and not measured, in one table
	asks scene "SELECT COUNT(*), COUNT(duration_ns), SUM(duration_ns_unmeasured), MIN(duration_ns) > 0 FROM gpubpf_dispatch" '[(23, 22, 1, 1)]'
	asks scene "SELECT kind, start_ts, start_ts_unmeasured, duration_ns, duration_ns_unmeasured, timing_quality FROM gpubpf_dispatch_untimed" \
		"[('kernel', None, 1, None, 1, 'device time unavailable: both ends are 0')]"
	asks scene "SELECT dynamic_shared_bytes, cluster_x, executions, timed, total_ns, total_ns_unmeasured FROM gpubpf_kernel WHERE name = '<unresolved 0x9>'" \
		'[(0, None, 2, 1, 7000, 0)]'
	asks entries "SELECT name, duration_ns, duration_ns_unmeasured, result, result_unmeasured FROM gpubpf_call ORDER BY ts" \
		"[('cuLaunchKernel', None, 1, None, 1), ('cuCtxSynchronize', None, 0, None, 0)]"
	asks entries "SELECT executions, executions_unmeasured, on_device, on_device_unmeasured FROM gpubpf_call ORDER BY ts" \
		'[(None, 1, None, 1), (None, 0, None, 0)]'
	asks dev--zero1 "SELECT name, executions, timed, total_ns, total_ns_unmeasured, mean_ns, mean_ns_unmeasured FROM gpubpf_kernel WHERE untimed LIMIT 1" \
		"$(ask dev--zero1 "SELECT name, executions, 0, NULL, 1, NULL, 1 FROM gpubpf_kernel WHERE untimed LIMIT 1")"
	asks host "SELECT calls, calls_unmeasured, kernels, kernels_unmeasured, absent_device_observer IS NOT NULL FROM gpubpf_capture" '[(300, 0, None, 1, 1)]'
	asks dev--alone "SELECT calls, calls_unmeasured, kernels > 0, kernels_unmeasured FROM gpubpf_capture" '[(None, 1, 1, 0)]'
	# no duration is in a column that is none, and none is invented
	asks entries "SELECT COUNT(*) FROM gpubpf_event WHERE dur < 0 AND timed" '[(0,)]'
	result sql_not_measured_R14_R19_R50 "${bad[@]}"
}
sql_not_measured

sql_unmatched()
{
	local bad=()
	asks scene "SELECT what, kind, reason FROM gpubpf_unmatched ORDER BY id" \
		"[('call', None, 'invalid_time'), ('call', None, 'failed'), ('execution', 'kernel', 'orphan')]"
	asks scene "SELECT COUNT(*) FROM gpubpf_join WHERE early_ns IS NOT NULL AND delay_ns IS NULL AND NOT delay_ns_unmeasured" '[(2,)]'
	asks dev--silent "SELECT COUNT(*) > 0, SUM(reason_unmeasured) FROM gpubpf_unmatched" '[(1, 0)]'
	asks host "SELECT COUNT(*) > 0, COUNT(reason), MIN(reason_unmeasured) FROM gpubpf_unmatched" '[(1, 0, 1)]'
	result sql_unmatched_R50 "${bad[@]}"
}
sql_unmatched

sql_joins_without_arrows()
{
	local bad=() n=1100
	{
		printf '%s\n' arm 'cuGraphLaunch 0x6000 0x70' 'seen graph'
		for ((i = 0; i < n; i++)); do echo "ran kernel $((6000 + 20 * i)) 10 graph 3 node $i"; done
		printf '%s\n' 'wait 50000' disarm
	} | make_scene many
	views_of many || bad+=("status $?")
	asks many "SELECT COUNT(*), COUNT(DISTINCT call_id), SUM(duration_ns) FROM gpubpf_join" "[($n, 1, $((10 * n)))]"
	asks many "SELECT COUNT(*) < $n FROM flow" '[(1,)]'
	asks many "SELECT executions, on_device FROM gpubpf_call WHERE call_for_work IS NOT NULL" "[($n, 'ran')]"
	result sql_joins_without_arrows "${bad[@]}"
}
sql_joins_without_arrows

sql_semantic()
{
	local bad=() out
	sim_record nvtx --cupti nvtx -- "$SIM/annotated" --launches 20 --nvtx 20 || {
		echo "skip sql_semantic: $(tail -n 1 "$T/nvtx.err")"
		return
	}
	mv "$T/nvtx.gpubpf" "$T/nvtx" && views_of nvtx || bad+=("status $?")
	out=$(python3 tests/e2e/trace_sql.py "$T/nvtx.pftrace" "$T/nvtx.sql" --json "$T/nvtx.json" 2>&1)
	[[ $out == [1-9]*' compared' ]] || bad+=("$out")
	asks nvtx "SELECT event, COUNT(*), COUNT(duration_ns) > 0, SUM(duration_ns_unmeasured) FROM gpubpf_semantic WHERE name IN ('inner', 'never ends', 'here') GROUP BY name ORDER BY name" \
		"[('mark', 20, 0, 0), ('range', 20, 1, 0), ('range', 1, 0, 1)]"
	asks nvtx "SELECT nvtx_events = (SELECT COUNT(*) FROM gpubpf_semantic), nvtx_events_unmeasured, absent_nvtx FROM gpubpf_capture" '[(1, 0, None)]'
	asks scene "SELECT (SELECT COUNT(*) FROM gpubpf_semantic), nvtx_events, nvtx_events_unmeasured, absent_nvtx FROM gpubpf_capture" \
		"[(0, None, 1, 'recorded without --cupti nvtx')]"
	result sql_semantic_R50_R53 "${bad[@]}"
}
sql_semantic

sql_version()
{
	local bad=()
	asks scene "SELECT module, version, made_for, fits FROM gpubpf_module" "[('gpubpf.sql.1', 1, 'gpubpf.timeline.1', 1)]"
	grep -q '^-- gpubpf.sql.1:' "$T/scene.sql" || bad+=('the head does not say its version')
	cmp -s "$T/scene.sql" "$T/host.sql" || bad+=('not the same for each capture')
	result sql_version_R50 "${bad[@]}"
}
sql_version

sql_latency()
{
	local bad=()
	sim_record lat --latency -- "$SIM/launchloop" --launches 50 || {
		echo "skip sql_latency: $(tail -n 1 "$T/lat.err")"
		return
	}
	mv "$T/lat.gpubpf" "$T/lat" && views_of lat || bad+=("status $?")
	asks lat "SELECT COUNT(*) >= 50, SUM(duration_ns <> on_cpu_ns + runqueue_ns + throttled_ns + blocked_futex_ns + blocked_ioctl_nvidia_ns +
		blocked_ioctl_ns + blocked_poll_ns + blocked_sleep_ns + blocked_page_fault_ns + blocked_other_ns + unaccounted_ns) FROM gpubpf_call_time" '[(1, 0)]'
	asks scene "SELECT COUNT(*) FROM gpubpf_call_time" '[(0,)]'
	result sql_latency "${bad[@]}"
}
sql_latency

sql_usage()
{
	local bad=() status
	refused() # STATUS WORDS ARG…
	{
		local wanted=$1 words=$2
		shift 2
		(cd "$T" && "${timeline[@]}" "$@") 2>"$T/err"
		status=$?
		[ $status = "$wanted" ] && grep -q -- "$words" "$T/err" || bad+=("$*: status $status, $(cat "$T/err")")
	}
	mkdir "$T/u" && cp "$T/scene" "$T/u/capture"
	refused 2 'Perfetto.s format alone' u/capture -o u/x.json --sql-out u/x.sql
	refused 2 'Perfetto.s format alone' u/capture -o u/x --format chrome --sql-out u/x.sql
	refused 2 'a name of its own' u/capture -o u/x --sql-out u/x
	refused 2 'a name of its own' u/capture -o u/x --sql-out ./u/../u/x
	ln -s x "$T/u/link" && touch "$T/u/x"
	refused 2 'a name of its own' u/capture -o u/x --sql-out u/link
	rm "$T/u/link" "$T/u/x"
	refused 2 'names the capture' u/capture -o u/x --sql-out "$T/u/capture"
	refused 2 'writes a file' u/capture -o u/x --sql-out -
	refused 1 'No such file' u/capture -o u/x --sql-out u/no/such
	refused 1 'No space left' u/capture -o u/x --sql-out /dev/full
	refused 1 'No space left' u/capture -o /dev/full --sql-out u/x.sql
	refused 1 'too few' --max-output-bytes 500 u/capture -o u/x --sql-out u/x.sql
	[ "$(ls "$T/u")" = capture ] || bad+=("left: $(ls "$T/u")")
	cmp -s "$T/scene" "$T/u/capture" || bad+=('the capture was changed')
	# the trace is the same with it
	"${timeline[@]}" "$T/scene" -o - | cmp -s - "$T/scene.pftrace" || bad+=('another trace')
	result sql_usage "${bad[@]}"
}
sql_usage

# ---- The real one ----

sql_in_the_trace_processor()
{
	local bad=() got name
	[ -x "${TRACE_PROCESSOR_SHELL:-}" ] || {
		echo 'skip sql_in_the_trace_processor: TRACE_PROCESSOR_SHELL names no program'
		return
	}
	same() # NAME SQL: what both say
	{
		{ cat "$T/$1.sql"; echo "$2;"; } >"$T/q.sql"
		got=$("$TRACE_PROCESSOR_SHELL" -q "$T/q.sql" "$T/$1.pftrace" 2>"$T/err" | tail -n 1 | tr -d '" ')
		[ "[($got)]" = "$(ask "$1" "$2" | tr -d "' ")" ] || bad+=("$1: $2: $got, not $(ask "$1" "$2") $(tail -n 3 "$T/err")")
	}
	for name in scene host entries dev--zero1 dev--alone many; do
		same $name 'SELECT COUNT(*), COUNT(duration_ns), IFNULL(SUM(duration_ns), 0), IFNULL(SUM(duration_ns_unmeasured), 0) FROM gpubpf_call'
		same $name 'SELECT COUNT(*), COUNT(duration_ns), IFNULL(SUM(duration_ns), 0), IFNULL(SUM(duration_ns_unmeasured), 0),
			IFNULL(SUM(stream), 0), COUNT(DISTINCT pid) FROM gpubpf_dispatch'
		same $name 'SELECT COUNT(*), IFNULL(SUM(executions), 0), IFNULL(SUM(total_ns), 0) FROM gpubpf_kernel'
		same $name 'SELECT COUNT(*), IFNULL(SUM(delay_ns), 0), IFNULL(SUM(early_ns), 0) FROM gpubpf_join'
		same $name 'SELECT COUNT(*), COUNT(reason) FROM gpubpf_unmatched'
		same $name 'SELECT COUNT(*), IFNULL(SUM(value), 0), COUNT(DISTINCT series) FROM gpubpf_counter'
		same $name 'SELECT COUNT(*), IFNULL(SUM(samples), 0) FROM gpubpf_counter_series'
		same $name 'SELECT COUNT(*) FROM gpubpf_call_time'
		same $name 'SELECT fits, version FROM gpubpf_module'
		same $name 'SELECT calls_unmeasured, kernels_unmeasured, call_events, dispatch_events FROM gpubpf_capture'
	done
	result sql_in_the_trace_processor_R50 "${bad[@]}"
}
sql_in_the_trace_processor
