#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 400
# The capture gate from end to end: what the capture says of readiness, held against the simulated driver's log; that the
# application is what it is without gpubpf, whatever happens to its capture; and status files that are not to be believed.
. tests/e2e/lib.sh
SHIM=$B/shim/libgpubpf-shim.so
STANDIN=$B/tests/standin/libgpubpf-shim.so
APP=$SIM/gateapp
export LD_LIBRARY_PATH=$SIM
unset CUDA_INJECTION64_PATH GPUBPF_CUPTI GPUBPF_STATUS_DIR GPUBPF_RUN_TOKEN
WEDGE=cuptiSubscribe:*:60000 # the initializer does not come back

if ! grep -qa gpubpf-gate-1 "$SHIM"; then
	echo "skip gate: a shim with a gate"
	exit 0
fi

# Runs CMD under record, and bare: $T/NAME.out and .status against $T/NAME.bare.out and .status.
record() # NAME ARG… -- CMD…
{
	local name=$1 args=() e
	shift
	while [ "$1" != -- ]; do
		args+=("$1")
		shift
	done
	shift
	SIMCUDA_LOG=$T/$name.simlog "$GPUBPF" record --returns 1 -f -o "$T/$name.gpubpf" --shim "$SHIM" "${args[@]}" -- "$@" \
		>"$T/$name.out" 2>"$T/$name.err"
	e=$?
	echo $e >"$T/$name.status"
}

# Its output and its status are those of a run without gpubpf; STATUS: or this one. Where its capture takes time inside
# cuInit(), the driver alone takes that time in the other run.
unharmed() # NAME [STATUS=N] [VARIABLE=VALUE…] CMD…
{
	local name=$1 want=
	shift
	case $1 in STATUS=*)
		want=${1#*=}
		shift
		;;
	esac
	env -u SIMCUPTI_DELAY -u SIMCUPTI_FAIL "$@" >"$T/$name.bare"
	want=${want:-$?}
	check "${name}_application_is_unharmed" "$want $(cat "$T/$name.bare")" "$(cat "$T/$name.status") $(cat "$T/$name.out")"
}

# Ended by the watchdog: what it had printed is there, and nothing else.
killed() # NAME: of gateapp --greet
{
	check "${1}_application_printed_what_it_could" "137 here" "$(cat "$T/$1.status") $(cat "$T/$1.out")"
}

readiness() # NAME: readiness, reason, before the first context
{
	inspect "$1" '.capture_readiness | if . then ([.processes[0] | .readiness, .reason // "-", .before_first_context] | join(" ")) else "absent" end'
}

codes() # NAME: what limits it
{
	inspect "$1" '[.capture_coverage[]?.code] | sort | join(" ")'
}

# The driver's own log: the first cuInit() and what came before it was armed.
truth_order() # NAME: "before" when capture was armed inside the first cuInit() and before the first context, by the driver's log
{
	"$SIM/simlog" --json "$T/$1.simlog" | jq -s --argjson armed "$(inspect "$1" '.capture_readiness.processes[0].host.armed_ns // 0')" -r '
		(map(select(.symbol == "cuInit" and .depth == 0)) | sort_by(.t_entry)[0]) as $init |
		([.[] | select(.depth == 0 and (.symbol | test("CtxCreate|PrimaryCtxRetain|ModuleLoad|Launch|Memcpy"))) | .t_entry] | min) as $use |
		if $armed > $init.t_entry and $armed < $init.t_exit and ($use == null or $armed < $use) then "before" else "after" end'
}

no_folder_left() # NAME
{
	check "${1}_no_folder_is_left" "" "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'gpubpf-gate.*' -newer "$T/.begin" 2>/dev/null)"
}
mkdir -p "$T/tmp"
export TMPDIR=$T/tmp
touch "$T/.begin"

# ---- ready ----
record ready -- "$APP" --status 5
unharmed ready "$APP" --status 5
check ready_is_ready_and_proven "ready - proven before" "$(readiness ready) $(truth_order ready)"
check ready_is_reconciled "reconciled " "$(inspect ready .verdict) $(codes ready)"
check ready_by_the_file "file finished ready" "$(inspect ready '.capture_readiness.processes[0].shim | [.source, .lifecycle, .readiness] | join(" ")')"
check ready_is_one_line 1 "$("$GPUBPF" report "$T/ready.gpubpf" | grep -ci 'ready')"
check_has ready_line "before its first context, proven" "$("$GPUBPF" report "$T/ready.gpubpf")"
check ready_in_json ready "$(report ready .capture_readiness.readiness)"
no_folder_left ready

record s26 -- "$APP" --threads 8
unharmed s26 "$APP" --threads 8
check s26_threads_racing_for_the_first_touch "ready - proven before reconciled" "$(readiness s26) $(truth_order s26) $(inspect s26 .verdict)"

record kinds --cupti external --cupti nvtx --cupti sync -- "$APP"
unharmed kinds "$APP"
check each_kind_has_its_name "external nvtx sync" "$(inspect kinds '[.capture_readiness.processes[0].shim.kinds[].name | select(. == ("external", "nvtx", "sync"))] | sort | join(" ")')"
# One process that becomes another program: each has its own readiness, and the sequence of its files goes on.
record s27 -- "$SIM/procs" --calls 5 --chain 2
unharmed s27 "$SIM/procs" --calls 5 --chain 2
check s27_exec_replaced "0 ready" "$(cat "$T/s27.status") $(inspect s27 .capture_readiness.readiness)"
check s27_each_program_has_its_own "2 true" "$(inspect s27 '.capture_readiness.processes | length') $(
	inspect s27 '[.capture_readiness.processes | sort_by(.shim.now_ns)[].shim.sequence] as $s | $s == ($s | unique)')"
check_has s27_note exec_replaced "$(codes s27)"
# Without the host observer the shim's word is all there is.
"$GPUBPF" record --no-host -f -o "$T/nohost.gpubpf" --shim "$SHIM" -- "$APP" >"$T/nohost.out" 2>"$T/nohost.err"
"$APP" >"$T/nohost.bare"
check no_host_application_is_unharmed "$(cat "$T/nohost.bare")" "$(cat "$T/nohost.out")"
check no_host_by_the_file "ready - not_shown file " "$(readiness nohost) $(inspect nohost '.capture_readiness.processes[0].shim.source') $(codes nohost)"
if ! command -v setpriv >/dev/null || ! setpriv --reuid=65534 --clear-groups test -x "$APP" 2>/dev/null; then
	echo "skip another_user_writes_its_status: setpriv, and a build folder that other users can enter"
else
	TMPDIR=/tmp record user -- setpriv --reuid=65534 --clear-groups "$APP"
	check another_user_writes_its_status "ready - proven file" "$(readiness user) $(inspect user '.capture_readiness.processes[0].shim.source')"
fi

# ---- the driver does not load the shim ----
record s8 -- env -u CUDA_INJECTION64_PATH "$APP"
unharmed s8 "$APP"
check s8_environment_stripped "failed callback_missing not_shown uncontradicted" "$(readiness s8) $(inspect s8 .verdict)"
check_has s8_report_says_so "NOT READY" "$("$GPUBPF" report "$T/s8.gpubpf")"

# ---- a live process whose first touch is over ----
mkfifo "$T/go"
CUDA_INJECTION64_PATH=$SHIM "$SIM/launchloop" --wait --launches 50 --rest 500 <"$T/go" >"$T/s9.out" 2>&1 &
P=$!
exec 9>"$T/go"
wait_for 20 grep -qs libgpubpf-shim "/proc/$P/maps"
"$GPUBPF" record -f -o "$T/s9.gpubpf" -p $P -d 700ms 2>"$T/s9.err"
echo >&9
exec 9>&-
wait $P
check s9_application_is_unharmed "0 50" "$? $(tail -n 1 "$T/s9.out" | jq .launches)"
check s9_attach_after_the_first_touch "failed unowned_first_touch not_shown late_attach" "$(readiness s9) $(codes s9)"
check s9_by_the_probe_alone probe "$(inspect s9 '.capture_readiness.processes[0].shim.source')"

# ---- a second recorder beside one that probes everybody: its breakpoints stand in every mapping of the files ----
mkfifo "$T/two.go"
CUDA_INJECTION64_PATH=$SHIM "$SIM/launchloop" --wait <"$T/two.go" >/dev/null 2>&1 &
P=$!
exec 9>"$T/two.go"
wait_for 20 grep -qs libgpubpf-shim "/proc/$P/maps"
"$GPUBPF" record -q -f -o "$T/alone.gpubpf" -p $P -d 100ms
"$GPUBPF" record -q -f -o "$T/everybody.gpubpf" -a &
R=$!
wait_for 20 test -s "$T/everybody.gpubpf"
sleep 0.5
check two_recorders_the_shim_conforms 0 "$("$GPUBPF" usdt --check "$SHIM" >/dev/null; echo $?)"
"$GPUBPF" record -q -f -o "$T/beside.gpubpf" -p $P -d 100ms
how='[.entry_points.list[].probe] | group_by(.) | map("\(.[0]) \(length)") | join(" ")'
check two_recorders_find_the_same_code "$(inspect alone "$how")" "$(inspect beside "$how")"
kill -INT $R
wait $R
kill $P
wait $P 2>/dev/null
exec 9>&-

# ---- the trigger, the initializer ----
export SIMCUDA_DEVICES=0
record s12 -- "$APP" --status 3
unharmed s12 "$APP" --status 3
check s12_cuInit_fails_after_the_initializer_succeeded "failed trigger_failed 100" "$(readiness s12 | cut -d' ' -f1-2) $(inspect s12 '.capture_readiness.processes[0].host.init_result')"
unset SIMCUDA_DEVICES

export SIMCUPTI_DELAY=cuptiSubscribe:*:1300
record s15 --init-timeout 1s -- "$APP" --status 4
unharmed s15 "$APP" --status 4
check s15_late_success_is_ignored "failed late_success proven uncontradicted" "$(readiness s15) $(inspect s15 .verdict)"
export SIMCUPTI_DELAY=cuptiSubscribe:*:700
record s17 --init-timeout 5s -- "$APP" --leave 200 --status 7
unharmed s17 SIMCUDA_INIT_MS=700 "$APP" --leave 200 --status 7
check s17_its_session_is_taken_down "0" "$(inspect s17 '[.reasons[] | select(.code == "session_open")] | length')"

export SIMCUPTI_DELAY=$WEDGE
record s16 --init-timeout 1s -- "$APP" --leave 200 --status 7 --greet 1
unharmed s16 STATUS=86 SIMCUDA_INIT_MS=60000 "$APP" --leave 200 --status 7 --greet 1
check s16_exit_with_a_wedged_initializer "86 failed" "$(cat "$T/s16.status") $(readiness s16 | cut -d' ' -f1)"
check_has s16_record_agrees exit_wedged "$(codes s16)"
record s16_kept --init-timeout 1s -- "$APP" --leave 200 --status 7 --keep 1
unharmed s16_kept STATUS=86 SIMCUDA_INIT_MS=60000 "$APP" --leave 200 --status 7 --keep 1

# ---- the watchdog ----
record s23 --init-timeout 1s -- "$APP" --greet 1
killed s23
check s23_watchdog_ends_it "137 failed init_timeout" "$(cat "$T/s23.status") $(readiness s23 | cut -d' ' -f1-2)"
check s23_it_is_a_finding "watchdog wedged_in" "$(codes s23)"
check_has s23_it_is_said "is ended" "$(cat "$T/s23.err")"
# Where a wedged thread is: a stack, from outside, or why there is none.
stack()
{
	inspect "$1" '.capture_coverage[]? | select(.code == "wedged_in") | .text'
}
has_stack() # NAME PART…: in this order
{
	local name=$1 rest part
	shift
	rest=$(stack "$name")
	if [[ $rest == *"built without libdw"* ]]; then
		echo "skip ${name}_stack: libdw, liblzma and libbz2 for static programs"
		return
	fi
	for part; do
		check_has "${name}_stack_${part%% *}" "$part" "$rest"
		rest=${rest#*"$part"}
	done
}
has_stack s23 "cuptiSubscribe (libcupti" "InitializeInjection (libgpubpf-shim.so" "cuInit (libcuda.so.1)"
check_has s23_stack_in_report "wedged_in: $(stack s23)" "$("$GPUBPF" report "$T/s23.gpubpf")"
check_has s23_stack_in_inspect "wedged_in: $(stack s23)" "$("$GPUBPF" inspect "$T/s23.gpubpf")"
check_has s23_stack_is_said "was in: $(stack s23)" "$(cat "$T/s23.err")"
if ! command -v strace >/dev/null; then
	echo "skip traced_stack: strace"
else
	record traced --init-timeout 500ms -- strace -f -o "$T/traced.strace" "$APP" --greet 1
	check traced_is_ended 137 "$(cat "$T/traced.status")"
	check_has traced_stack_says_why "no stack: " "$(stack traced)"
fi
record worker --init-timeout 500ms --warmup 300ms -- "$APP" --greet 1 --rest 20000
check worker_is_ended 137 "$(cat "$T/worker.status")"
has_stack worker "cuptiSubscribe (libcupti" "libgpubpf-shim.so"
record s24 --init-timeout 1s -d 300ms -- "$APP" --greet 1
killed s24
check s24_watchdog_in_a_timed_window "137 pending duration" "$(cat "$T/s24.status") $(readiness s24 | cut -d' ' -f1) $(inspect s24 .footer.end_reason)"
record s24_inside --init-timeout 500ms -d 20s -- "$APP" --greet 1
killed s24_inside
check s24_watchdog_inside_the_window "failed init_timeout target exited" "$(readiness s24_inside | cut -d' ' -f1-2) $(inspect s24_inside .footer.end_reason)"
check_has s24_inside_is_a_finding watchdog "$(codes s24_inside)"
# It goes well past the end of the window, and wedges then: in the initializer, in what the driver does behind it.
SIMCUPTI_DELAY=cuptiSubscribe:*:600,cuptiActivityEnable:10:60000 record s24_later --init-timeout 1s -d 300ms -- "$APP" --greet 1
killed s24_later
check_has s24_later_is_said "was still coming up after the deadline" "$(cat "$T/s24_later.err")"
export SIMCUPTI_DELAY=cuptiSubscribe:*:600
SIMCUDA_INIT_MS=60000 record s24_trigger --init-timeout 1s -d 300ms -- "$APP" --greet 1
killed s24_trigger
check_has s24_trigger_is_said "cuInit() did not return" "$(cat "$T/s24_trigger.err")"
# What is slow, and over by the deadline, is left alone after it, whichever way the probes stand (perf-based ones take seconds to go).
for way in session multi; do
	record "s24_slow_$way" --attach $way --init-timeout 1200ms -d 300ms -- "$APP" --rest 1500 --status 5
	unharmed "s24_slow_$way" "$APP" --status 5
done
check s24_its_calls_add_up "1 0 uncontradicted" "$(inspect s24_slow_session '[.ledger.total.in_flight, .ledger.total.unexplained, .verdict] | map(tostring) | join(" ")')"
unset SIMCUPTI_DELAY
SIMCUDA_INIT_MS=700 record s24_slow_trigger --init-timeout 1s -d 300ms -- "$APP" --rest 1000 --status 5
unharmed s24_slow_trigger "$APP" --status 5
# Another program in its place, which did not wedge.
SIMCUPTI_DELAY=cuptiSubscribe:*:60000 record s24_exec --init-timeout 1s -d 300ms -- "$APP" --leave 700 --become 1 --status 5
unharmed s24_exec "$APP" --leave 700 --become 1 --status 5
SIMCUDA_INIT_MS=60000 record s25 --init-timeout 1s -- "$APP" --greet 1
killed s25
check s25_watchdog_for_a_blocked_trigger "137 failed init_timeout" "$(cat "$T/s25.status") $(readiness s25 | cut -d' ' -f1-2)"
check_has s25_it_is_a_finding watchdog "$(codes s25)"
has_stack s25 "cuInit (libcuda.so.1)"
SIMCUDA_INIT_MS=1200 record s25_slow --init-timeout 10s -- "$APP"
unharmed s25_slow "$APP"
check s25_slow_trigger_in_time "ready - proven" "$(readiness s25_slow)"

# ---- warmup ----
record s18 --warmup 30s -- "$APP" --status 2
unharmed s18 "$APP" --status 2
check s18_exit_during_warmup "failed exit_before_capture" "$(readiness s18 | cut -d' ' -f1-2)"
record s19 --warmup 2s --init-timeout 1s -- "$APP" --rest 3500
unharmed s19 "$APP"
check s19_healthy_warmup_longer_than_the_allowance "ready contradicted warmup_unqualified" "$(readiness s19 | cut -d' ' -f1,3) $(codes s19)"

# ---- 86 of the application's own ----
record s31 -- "$APP" --status 86
unharmed s31 "$APP" --status 86
check s31_an_86_of_its_own "ready - proven " "$(readiness s31) $(codes s31)"

# ---- the folder cannot be written to ----
record s30 -- sh -c 'rm -rf "$GPUBPF_STATUS_DIR"; exec "$0"' "$APP"
unharmed s30 "$APP"
check s30_the_probe_says_it "ready - proven probe final_record" "$(readiness s30) $(inspect s30 '.capture_readiness.processes[0].shim.source') $(codes s30)"

# ---- --require-ready ----
record require --require-ready -- "$APP" --status 5
unharmed require "$APP" --status 5
check require_ready_met "5 yes" "$(cat "$T/require.status") $([ -s "$T/require.gpubpf" ] && echo yes)"
record unmet --require-ready -- env -u CUDA_INJECTION64_PATH "$APP" --status 5
check require_ready_unmet "3 gone" "$(cat "$T/unmet.status") $([ -e "$T/unmet.gpubpf" ] || echo gone)"
"$APP" >"$T/unmet.bare"
check require_ready_unmet_application_runs_on "$(cat "$T/unmet.bare")" "$(cat "$T/unmet.out")"
SIMCUPTI_FAIL=cuptiSubscribe:*:39 record unmet2 --require-ready -- "$APP" --rest 300
check require_ready_unmet_by_the_shims_word "3 gone $(cat "$T/unmet.bare")" "$(cat "$T/unmet2.status") $([ -e "$T/unmet2.gpubpf" ] || echo gone) $(cat "$T/unmet2.out")"
for words in "--init-timeout 1s -a" "--warmup 1s -p 1" "--no-shim --require-ready -- true" "--no-shim --warmup 1s -- true" "--require-ready -o - -- true"; do
	# shellcheck disable=SC2086
	"$GPUBPF" record $words >"$T/usage.out" 2>&1
	status=$?
	check "usage_$(echo "$words" | tr -dc a-z)" 2 $status
done

# ---- status files that are not to be believed: of a stand-in that has no gate, so nothing else speaks. It arms on a
# thread of its own, which the application outlives. ----
cat >"$T/forge" <<'EOF'
# Writes the status that FORGE asks for, as this process, and becomes the application.
d=$GPUBPF_STATUS_DIR pid=$$ token=$GPUBPF_RUN_TOKEN readiness=ready reason= lifecycle=finished more=
start=$(cut -d')' -f2- /proc/$$/stat | cut -d' ' -f21)
now=$(python3 -c 'import time; print(time.monotonic_ns())')
f=$d/status-$$.json
case $FORGE in
recycled_pid) start=$((start - 1)) ;;
foreign_token) token=ffffffffffffffffffffffffffffffff ;;
foreign_pid) pid=1 ;;
impossible_state) lifecycle=callback_seen ;;
extra_member) more=',"more":1' ;;
duplicate_member) more=',"pid":1' ;;
unknown_schema) more= ;;
esac
text='{"schema":"gpubpf-gate-1","token":"'$token'","pid":'$pid',"start_time":'$start',"sequence":1,"lifecycle":"'$lifecycle'","readiness":"'$readiness'","reason":"'$reason'","now":'$now',"first_touch":'$now',"deadline":'$((now + 15000000000))',"warmup":0,"kinds":{"kernel":{"required":true,"result":0}},"notes":[]'$more'}'
case $FORGE in
malformed) printf '%.200s' "$text" >"$f" ;;
unknown_schema) echo "$text" | sed 's/gate-1/gate-9/' >"$f" ;;
oversize) { echo "$text"; head -c 5000 /dev/zero | tr '\0' ' '; } >"$f" ;;
not_a_file) echo "$text" >"$d/../forged"; ln -s "$d/../forged" "$f" ;;
fifo) mkfifo "$f" ;;
directory) echo "$text" >"$f"; chmod 777 "$d" ;;
stranger) echo "$text" >"$f"; chown 65534 "$d" ;;
link) mv "$d" "$d.moved"; mkdir "$d.evil"; echo "$text" >"$d.evil/status-$$.json"; ln -s "$d.evil" "$d" ;;
*) echo "$text" >"$f" ;;
esac
exec "$@"
EOF
"$APP" >"$T/forged.bare"
for what in malformed duplicate_member unknown_schema extra_member impossible_state foreign_token foreign_pid recycled_pid \
	oversize not_a_file fifo directory stranger link; do
	case $what in stranger) want=directory ;; fifo) want=not_a_file ;; link) want= ;; *) want=$what ;; esac
	SHIM=$STANDIN FORGE=$what STANDIN_QUIET=1 record "bad_$what" -- sh "$T/forge" "$APP" --rest 300
	check "bad_${what}_application_is_unharmed" "0 $(cat "$T/forged.bare")" "$(cat "$T/bad_$what.status") $(cat "$T/bad_$what.out")"
	check "bad_${what}_is_not_believed" "absent" "$(readiness "bad_$what")"
	if [ -n "$want" ]; then
		check_has "bad_${what}_says_why" "($want)" "$(inspect "bad_$what" '.capture_coverage[]? | select(.code == "final_record") | .text')"
	fi
done
# s29: a status file of an earlier process with this number is there before the application comes, and it writes its own.
FORGE=recycled_pid record s29 -- sh "$T/forge" "$APP"
unharmed s29 "$APP"
check s29_stale_status_of_a_recycled_pid "ready - proven" "$(readiness s29)"
# The positive control: the same file, whole and its own, is believed as far as the kernel's records let it be.
SHIM=$STANDIN FORGE=own STANDIN_QUIET=1 record forged -- sh "$T/forge" "$APP" --rest 300
check forged_whole_file_is_read "file ready" "$(inspect forged '.capture_readiness.processes[0].shim | .source + " " + .readiness')"
check_has forged_is_contradicted_by_the_records first_touch_contradicted "$(codes forged)"
check bad_folders_are_left_to_whoever_moved_them "" "$(find "$T/tmp" -maxdepth 1 -name 'gpubpf-gate.*' ! -name '*.moved' ! -name '*.evil' ! -type l)"

# ---- hostile bytes: what the fuzzer starts from, and the same mutations every time ----
"$B/asan/tests/fuzz/replay_gate" gate 20000 tests/fuzz/gate/* >"$T/fuzz.out" 2>&1
status=$?
cat "$T/fuzz.out"
check fuzz_replay_status 0 $status
