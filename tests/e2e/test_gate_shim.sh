#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 600
# The shim's half of the capture gate: what stands in its status file, and what it does to the process. A recorder raises the
# probes; the file's folder is the test's own, set below it.
. tests/e2e/lib.sh
OURS=$B/shim/libgpubpf-shim.so
TOKEN=0123456789abcdef0123456789abcdef
export LD_LIBRARY_PATH=$SIM SIMCUPTI_ABORT=callback,init
unset CUDA_INJECTION64_PATH GPUBPF_CUPTI GPUBPF_MANUAL_INIT GPUBPF_WARMUP_MS GPUBPF_INIT_TIMEOUT_MS
READY="finished ready"
FAILED="finished failed"

# Output in $T/NAME.out; the status is the command's.
gated() # NAME [VARIABLE=VALUE…] COMMAND…
{
	local name=$1
	shift
	COMMAND=("$@")
	mkdir -p "$T/$name.d"
	timeout -s KILL 60 "$GPUBPF" record -f -q --shim "$OURS" -o "$T/$name" -- sh -c 'code=$1; shift; env "$@"; echo $? >"$code"' sh "$T/$name.code" \
		GPUBPF_STATUS_DIR="$T/$name.d" GPUBPF_RUN_TOKEN=$TOKEN GPUBPF_MANUAL_INIT= GPUBPF_WARMUP_MS= GPUBPF_INIT_TIMEOUT_MS= "$@" >"$T/$name.out" 2>"$T/$name.err"
	return "$(cat "$T/$name.code")"
}

# What the application says for itself: not the status file behind its lines, not what the shim's own function answered it.
own() # FILE
{
	sed -e '/^start /d' -e 's/ {.*//' -e 's/ -$//' "$1"
}

# The last command of gated() without gpubpf: the same output, the same status. STATUS: or this one; VARIABLE=VALUE: for
# the run without.
unharmed() # NAME [STATUS=N] [VARIABLE=VALUE…]
{
	local name=$1 want=
	shift
	case ${1:-} in STATUS=*)
		want=${1#*=}
		shift
		;;
	esac
	env "$@" "${COMMAND[@]}" >"$T/$name.bare" 2>"$T/$name.bare.err"
	want=${want:-$?}
	check "${name}_application_is_unharmed" "$want $(own "$T/$name.bare")" "$(cat "$T/$name.code") $(own "$T/$name.out")"
}

# The last word: lifecycle, readiness, reason, notes.
last() # NAME
{
	jq -r '[.lifecycle, .readiness, .reason, (.notes | join(" "))] | map(select(. != "")) | join(" ")' "$T/$1".d/status-*.json
}

# The same of what the program saw when the call came back.
seen() # NAME [WHAT]
{
	sed -n "s/^${2:-[a-zA-Z0-9]*} -*[0-9]* {/{/p" "$T/$1.out" | jq -r '[.lifecycle, .readiness, .reason] | map(select(. != "")) | join(" ")'
}

field() # NAME JQ
{
	jq -r "$2" "$T/$1".d/status-*.json
}

left() # NAME: files of the folder
{
	find "$T/$1.d" -mindepth 1 | wc -l
}

# ---- 1 to 7: whatever comes first, capture is ready when it returns ----
mkdir -p "$T/plain" "$T/first.d"
calls=$("$SIM/firsttouch" --list)
for program in firsttouch firsttouch-static; do
	# shellcheck disable=SC2086
	gated "first-$program" sh -c 'p=$1; shift; for c; do "$p" "$c"; done' sh "$SIM/$program" $calls cuInit
	unharmed "first-$program"
	bad=()
	for c in $calls cuInit; do
		is=$(seen "first-$program" "$c")
		[ "$is" = "$READY" ] || bad+=("$c: $is $(grep "^$c " "$T/first-$program.out")")
		# and the application is told what it is told without us
		"$SIM/$program" "$c" | cut -d' ' -f1,2 >"$T/plain/$c"
		grep -q "^$(cat "$T/plain/$c") " "$T/first-$program.out" || bad+=("$c: its result is not $(cat "$T/plain/$c")")
	done
	case $program in
	firsttouch) result s1_to_5_7_any_call_first_finds_it_ready "${bad[@]}" ;;
	*) result s6_static_runtime "${bad[@]}" ;;
	esac
done
check first_touches_were_many 38 "$(wc -l <"$T/first-firsttouch.out")"

gated healthy "$SIM/firsttouch" --launches 20 --status 7 cudaMalloc
check healthy_status 7 $?
unharmed healthy
check healthy "$READY" "$(last healthy)"
check healthy_fields "gpubpf-gate-1 $TOKEN 3 true 15000 0" "$(field healthy '"\(.schema) \(.token) \(.sequence) \(.now < .deadline) \((.deadline - .first_touch) / 1000000) \(.warmup)"')"
check healthy_kinds "buffers copy kernel set subscribe" "$(field healthy '[.kinds | to_entries[] | select(.value.required and .value.result == 0) | .key] | sort | join(" ")')"
check healthy_names "schema token pid start_time sequence lifecycle readiness reason now first_touch deadline warmup kinds notes" "$(field healthy 'keys_unsorted | join(" ")')"
check healthy_nothing_else_left 1 "$(left healthy)"
check healthy_capture reconciled "$("$GPUBPF" inspect --json "$T/healthy" | jq -r .verdict)"

# ---- 10, 11: manual ----
gated manual GPUBPF_MANUAL_INIT=1 "$SIM/firsttouch" --start --launches 5 cuInit
check s10_callback_only_records "callback_seen pending" "$(seen manual cuInit)"
unharmed manual
check s10_manual_start "1 $READY" "$(grep -o '^start 1' "$T/manual.out" | cut -d' ' -f2) $(last manual)"
gated manual-thread GPUBPF_MANUAL_INIT=1 "$SIM/firsttouch" --start-thread --launches 3000 cudaFree
check s11_manual_while_others_launch "0 1 $READY" "$? $(grep -o '^start 1' "$T/manual-thread.out" | cut -d' ' -f2) $(last manual-thread)"
unharmed manual-thread
gated manual-never GPUBPF_MANUAL_INIT=1 "$SIM/firsttouch" --launches 5 --status 4 cuInit
check s10_never_started "4 stopped failed exit_before_capture" "$? $(last manual-never)"
unharmed manual-never
gated manual-late GPUBPF_MANUAL_INIT=1 GPUBPF_INIT_TIMEOUT_MS=200 SIMCUPTI_DELAY=cuptiSubscribe:0:400 "$SIM/firsttouch" --start cuInit
check s10_late_is_not_ready "0 $FAILED late_success" "$(sed -n 's/^start \([0-9]\).*/\1/p' "$T/manual-late.out") $(last manual-late)"
unharmed manual-late

# ---- 13, 14, 32: initializers that fail; the application does not ----
fails() # SCENARIO REASON VARIABLE=VALUE
{
	local name=$1
	gated "$name" "$3" "$SIM/firsttouch" --launches 20 --status 5 cudaMalloc
	check "$name" "5 $FAILED $2" "$? $(last "$name")"
	unharmed "$name"
}
fails s13_subscribe_fails initializer_failed SIMCUPTI_FAIL=cuptiSubscribe:0:999
fails s13_no_cupti cupti_missing GPUBPF_CUPTI_PATH=/nonexistent
fails s13_not_permitted cupti_not_permitted SIMCUPTI_FAIL=cuptiActivityEnable:10:35
fails s13_buffers facility_enable_failed SIMCUPTI_FAIL='cuptiActivityRegisterCallbacks:*:7'
# No result but success is one, whichever CUPTI's log takes lightly.
for kind in 10:kernel 1:copy 2:set; do
	for code in 7 13 14 15 21 23 26 27; do
		fails "s14_${kind#*:}_refused_with_$code" facility_enable_failed "SIMCUPTI_FAIL=cuptiActivityEnable:${kind%:*}:$code"
		check "s14_${kind#*:}_${code}_is_in_the_file" $code "$(field "s14_${kind#*:}_refused_with_$code" ".kinds.${kind#*:}.result")"
		[ -n "${GATE_LONG:-}" ] || [ "$kind" = 10:kernel ] || break
	done
done
gated s14_peer SIMCUPTI_FAIL=cuptiActivityEnable:22:27 "$SIM/firsttouch" cudaMalloc
check s14_one_that_is_not_required "$READY 27" "$(last s14_peer) $(field s14_peer .kinds.copy_peer.result)"
unharmed s14_peer
gated s32 "$SIM/cuptiapp" --early --launches 50
check s32_second_client "0 $FAILED second_subscriber" "$? $(last s32)"
unharmed s32
check s32_keeps_its_records 50 "$(jq .kernels "$T/s32.out")"

# ---- 12: cuInit fails after the initializer was done: that is the host observer's to see ----
gated s12 SIMCUDA_INIT_RESULT=100 "$SIM/firsttouch" cuInit
check s12_result_is_the_drivers "0 cuInit 100" "$? $(cut -d' ' -f1,2 "$T/s12.out")"
unharmed s12
check s12_the_initializer_was_well "$READY" "$(last s12)"

# ---- 15, 16, 17: past the deadline ----
gated s15 GPUBPF_INIT_TIMEOUT_MS=200 SIMCUPTI_DELAY=cuptiActivityEnable:10:500 "$SIM/firsttouch" --launches 20 --status 6 cudaMalloc
check s15_late_success_is_none "6 $FAILED late_success" "$? $(last s15)"
unharmed s15
# Nothing lost; but what is not ready is not vouched for.
check s15_is_captured_all_the_same uncontradicted "$("$GPUBPF" inspect --json "$T/s15" | jq -r .verdict)"
gated s15fail GPUBPF_INIT_TIMEOUT_MS=200 SIMCUPTI_FAIL=cuptiActivityEnable:10:27 SIMCUPTI_DELAY=cuptiActivityEnable:10:500 "$SIM/firsttouch" cudaMalloc
check s15_late_failure "$FAILED init_timeout" "$(last s15fail)"
unharmed s15fail

WEDGE=SIMCUPTI_DELAY=cuptiSubscribe:0:600000
t0=$(date +%s%N)
gated s16 GPUBPF_INIT_TIMEOUT_MS=700 $WEDGE "$SIM/firsttouch" --thread --exit-after 200 --status 3 cudaMalloc
check s16_wedged "86 initializing failed exit_wedged" "$? $(last s16)"
unharmed s16 STATUS=86 SIMCUDA_INIT_MS=60000
gated s16enable GPUBPF_INIT_TIMEOUT_MS=300 SIMCUPTI_DELAY=cuptiActivityEnable:1:600000 "$SIM/firsttouch" --thread --exit-after 600 cudaMalloc
check s16_wedged_after_the_deadline "86 initializing failed exit_wedged" "$? $(last s16enable)"
unharmed s16enable STATUS=86 SIMCUDA_INIT_MS=60000
check s16_nobody_waited_for_the_wedge 1 $((($(date +%s%N) - t0) / 1000000 < 30000))
# One that does not exit is left alone, and so is one that exits by itself with a status of its own.
gated s16kill GPUBPF_INIT_TIMEOUT_MS=300 $WEDGE timeout -s KILL 2 "$SIM/firsttouch" --thread --exit-after 60000 cudaMalloc
check s16_no_exit_no_86 "137 initializing pending" "$? $(last s16kill)"
unharmed s16kill SIMCUDA_INIT_MS=60000
gated s17 GPUBPF_INIT_TIMEOUT_MS=5000 SIMCUPTI_LOG=$T/s17.log SIMCUPTI_DELAY=cuptiSubscribe:0:1000 "$SIM/firsttouch" --thread --exit-after 200 --status 9 cudaMalloc
check s17_exit_waits_for_a_slow_one "9 $READY" "$? $(last s17)"
check s17_teardown_after_it "cuptiUnsubscribe 0" "$(grep '< cuptiUnsubscribe' "$T/s17.log" | tail -n 1 | sed 's/.*< //')"
gated s17late GPUBPF_INIT_TIMEOUT_MS=200 SIMCUPTI_LOG=$T/s17late.log SIMCUPTI_DELAY=cuptiSubscribe:0:700 "$SIM/firsttouch" --thread --exit-after 1200 --status 9 cudaMalloc
check s17_late_but_finished "9 $FAILED late_success" "$? $(last s17late)"
unharmed s17late
check s17_late_teardown "cuptiUnsubscribe 0" "$(grep '< cuptiUnsubscribe' "$T/s17late.log" | tail -n 1 | sed 's/.*< //')"

# ---- 18, 19, 20: warmup ----
gated s18 GPUBPF_WARMUP_MS=20000 SIMCUPTI_LOG=$T/s18.log "$SIM/firsttouch" --launches 10 --status 2 cudaMalloc
check s18_exit_during_warmup "2 stopped failed exit_before_capture warmup_unqualified" "$? $(last s18)"
unharmed s18
check s18_no_cupti "" "$(cat "$T/s18.log" 2>/dev/null)"
check s18_seen "warmup pending" "$(seen s18 cudaMalloc)"
gated s19 GPUBPF_WARMUP_MS=1200 GPUBPF_INIT_TIMEOUT_MS=500 "$SIM/firsttouch" --rest 2500 cudaMalloc
check s19_warmup_longer_than_the_allowance "0 $READY warmup_unqualified 1700" "$? $(last s19) $(field s19 '(.deadline - .first_touch) / 1000000')"
unharmed s19
gated s20 GPUBPF_WARMUP_MS=300 GPUBPF_INIT_TIMEOUT_MS=700 $WEDGE "$SIM/firsttouch" --rest 800 --status 3 cudaMalloc
check s20_wedge_after_warmup "86 initializing failed exit_wedged warmup_unqualified" "$? $(last s20)"
unharmed s20 STATUS=86
gated s20slow GPUBPF_WARMUP_MS=300 GPUBPF_INIT_TIMEOUT_MS=3000 SIMCUPTI_DELAY=cuptiSubscribe:0:700 "$SIM/firsttouch" --rest 500 --status 3 cudaMalloc
check s20_slow_after_warmup "3 $READY warmup_unqualified" "$? $(last s20slow)"
unharmed s20slow

# ---- 21, 22: nothing to do ----
gated s21 "$SIM/firsttouch" --status 11 none
check s21_no_cuda_used "11 none 0 - 0" "$? $(cat "$T/s21.out") $(left s21)"
unharmed s21
mkdir "$T/s22.d"
GPUBPF_STATUS_DIR=$T/s22.d LD_PRELOAD=$OURS "$SIM/firsttouch" --launches 10 --status 12 cudaMalloc >"$T/s22.out"
check s22_preloaded_by_accident "12 cudaMalloc 0 - 0" "$? $(cat "$T/s22.out") $(left s22)"
CUDA_INJECTION64_PATH=$OURS "$SIM/firsttouch" --status 12 cudaMalloc >"$T/s22.out"
check s22_injected_with_nobody_there "12 cudaMalloc 0 -" "$? $(cat "$T/s22.out")"
GPUBPF_STATUS_DIR=$T/s22.d CUDA_INJECTION64_PATH=$OURS "$SIM/firsttouch" --status 12 cudaMalloc >"$T/s22.out"
check s22_idle_says_that_it_was_called "12 callback_seen pending stopped failed exit_before_capture" "$? $(seen s22) $(last s22)"
if command -v strace >/dev/null; then
	CUDA_INJECTION64_PATH=$OURS strace -f -o "$T/s22.strace" "$SIM/firsttouch" cuInit >/dev/null
	check s22_idle_costs_nothing_new "" "$(grep -E 'status-|proc/self/stat"' "$T/s22.strace")"
else
	echo "skip s22_idle_costs_nothing_new: strace"
fi

# ---- 27: forks and exec ----
gated s27 "$SIM/firsttouch" --fork --launches 10 --status 2 cudaMalloc
check s27_fork_behind "2 $READY 1 child's status 3" "$? $(last s27) $(left s27) $(grep 'child.s' "$T/s27.out")"
unharmed s27
check s27_child_says_nothing "-" "$(sed -n 's/^child [0-9]* //p' "$T/s27.out")"
gated s27first "$SIM/firsttouch" --fork-first --launches 10 --status 2 cudaMalloc
check s27_fork_before "2 2 child's status 3" "$? $(left s27first) $(grep 'child.s' "$T/s27first.out")"
unharmed s27first
check s27_both_ready "$READY $READY" "$(last s27first | tr '\n' ' ' | sed 's/ $//')"
gated s27exec "$SIM/firsttouch" --exec cudaMalloc
check s27_exec "0 $READY exec_replaced 6 1" "$? $(last s27exec) $(field s27exec .sequence) $(left s27exec)"
unharmed s27exec

# ---- 28: a required kind that a later session is refused ----
mkfifo "$T/go"
mkdir "$T/s28.d"
CUDA_INJECTION64_PATH=$OURS GPUBPF_STATUS_DIR=$T/s28.d GPUBPF_RUN_TOKEN=$TOKEN SIMCUPTI_FAIL=cuptiActivityEnable:10:27:2 \
	"$SIM/launchloop" --wait <"$T/go" >"$T/s28.out" 2>&1 &
P=$!
exec 9>"$T/go"
wait_for 20 grep -qs callback_seen "$T/s28.d/status-$P.json"
"$GPUBPF" record -f -q -d 500ms -o "$T/s28a" -p $P 2>/dev/null
check s28_attached "$READY late_attach" "$(last s28)"
"$GPUBPF" record -f -q -d 500ms -o "$T/s28b" -p $P 2>/dev/null
check s28_kind_lost "$FAILED trace_facility_lost late_attach 27" "$(last s28) $(field s28 .kinds.kernel.result)"
"$GPUBPF" record -f -q -d 500ms -o "$T/s28c" -p $P 2>/dev/null
check s28_stays_lost "$FAILED trace_facility_lost late_attach" "$(last s28)"
exec 9>&-
wait $P
check s28_application_is_unharmed "0 $("$SIM/launchloop" | jq .launches)" "$? $(tail -n 1 "$T/s28.out" | jq .launches)"

# ---- 30, 31 ----
for d in /nonexistent/folder /proc "$T/file"; do
	touch "$T/file"
	gated s30 GPUBPF_STATUS_DIR="$d" "$SIM/firsttouch" --launches 20 --status 8 cudaMalloc
	status=$?
	check "s30_unwritable_$(basename "$d")" "8 cudaMalloc 0 - 0" "$status $(cat "$T/s30.out") $(left s30)"
	unharmed s30
	check "s30_captured_$(basename "$d")" reconciled "$("$GPUBPF" inspect --json "$T/s30" | jq -r .verdict)"
done
gated s31 "$SIM/firsttouch" --status 86 cudaMalloc
check s31_the_applications_own_86 "86 $READY" "$? $(last s31)"
unharmed s31
