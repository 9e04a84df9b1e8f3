#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 600
# From the shim's probe sites to the capture, proven with a stand-in for the shim that needs no CUPTI (tests/standin):
# what BPF copies, whom the probes stand in, how a session begins and ends, what a recorder says that cannot have it.
. tests/e2e/lib.sh
STANDIN=$B/tests/standin/libgpubpf-shim.so
STANDIN_HOST=$B/tests/standin/host
SHIMCHECK=$B/tests/standin/shimcheck
export LD_LIBRARY_PATH=$SIM
unset CUDA_INJECTION64_PATH GPUBPF_CUPTI

record() # NAME ARG…: stderr in $T/NAME.err
{
	local name=$1
	shift
	"$GPUBPF" record -f -o "$T/$name" "$@" >"$T/$name.out" 2>"$T/$name.err"
}

check_batches() # TEST NAME [lossy]: the capture NAME holds what the log of the same name says
{
	local out
	if out=$("$SHIMCHECK" "$T/$2" "$T/$2.log" ${3:+"$3"} 2>&1); then
		ok "$1"
	else
		not_ok "$1" "$out $(cat "$T/$2.err")"
	fi
}

logged() # NAME WORD: the lines of the log with it, without their numbers
{
	grep -c " $2" "$T/$1.log" 2>/dev/null
}

meta() # NAME JQ
{
	"$GPUBPF" inspect --json "$T/$1" | jq -r "$2"
}

notes() # NAME: codes
{
	meta "$1" '[.metadata.notes[].code] | map(select(. != "no_xid_events")) | sort | unique | join(" ")'
}

entered() # NAME: launches that BPF counted
{
	"$GPUBPF" inspect --json --apis "$T/$1" | jq '[.counters.by_entry_point[] | select(.symbol == "cuLaunchKernel") | .entered] | add // 0'
}

# A launch loop with the stand-in, idle, that begins when told to.
start_loop() # NAME ARG…
{
	local name=$1
	shift
	rm -f "$T/$name.go" "$T/$name.log"
	mkfifo "$T/$name.go"
	CUDA_INJECTION64_PATH=$STANDIN STANDIN_LOG=$T/$name.log "$SIM/launchloop" --wait "$@" <"$T/$name.go" >/dev/null 2>&1 &
	LOOP_PID=$!
	exec 9>"$T/$name.go"
	wait_for 20 grep -q loaded "$T/$name.log"
}

end_loop()
{
	kill -9 "$LOOP_PID"
	wait "$LOOP_PID" 2>/dev/null
	exec 9>&-
}

# ---- a launched command ----
STANDIN_LOG=$T/launch.log record launch --shim "$STANDIN" -- "$SIM/launchloop" --launches 200 --rest 500
check_batches launch_every_size_arrives launch
check launch_armed_before_the_first_call_returns "1 1" "$(logged launch 'loaded up') $(logged launch 'armed 1 inline')"
check launch_tracer_is_no_workload "7 0" "$(meta launch .counters.global.tracer_calls) $(
	"$GPUBPF" inspect --json --apis "$T/launch" | jq '[.counters.by_entry_point[] | select(.symbol == "cuCtxSynchronize") | .entered + .orphan_return] | add // 0')"
check launch_launches 200 "$(entered launch)"

# Each way to attach, without a libcuda: taking perf-based probes off that takes its time.
for method in session multi perf percall; do
	LD_LIBRARY_PATH='' STANDIN_LOG=$T/way-$method.log record "way-$method" --attach "$method" --shim "$STANDIN" -- "$STANDIN_HOST" 500
	if [ $? != 0 ] && grep -q 'kernel refuses a' "$T/way-$method.err"; then
		echo "skip way_$method: $(tail -n 1 "$T/way-$method.err")"
		continue
	fi
	check_batches "way_${method}_every_size_arrives" "way-$method"
	check "way_${method}_armed_inline" 1 "$(logged "way-$method" 'armed 1 inline')"
done

# ---- the private copy ----
mkdir "$T/tmp"
TMPDIR=$T/tmp record copy --shim "$STANDIN" -- sh -c 'echo "$CUDA_INJECTION64_PATH"; stat -c %a "$CUDA_INJECTION64_PATH"; cmp "$CUDA_INJECTION64_PATH" '"$STANDIN"' && echo same'
check copy_in_tmpdir "$T/tmp/libgpubpf-shim.so. 755 same" "$(sed 's/\(libgpubpf-shim.so\.\).*/\1/' "$T/copy.out" | tr '\n' ' ' | sed 's/ $//')"
check copy_removed 0 "$(find "$T/tmp" -type f | wc -l)"
TMPDIR=$T/tmp record copy -- /nonexistent/command
TMPDIR=$T/tmp record copy --libcuda /nonexistent/libcuda.so -- true
check copy_removed_when_nothing_begins 0 "$(find "$T/tmp" -type f | wc -l)"
"$GPUBPF" record -q -f -o "$T/embedded" -- sh -c 'cmp "$CUDA_INJECTION64_PATH" '"$B/shim/libgpubpf-shim.so"' && echo same' >"$T/embedded.out"
check embedded_shim_is_the_built_one same "$(cat "$T/embedded.out")"
if mkdir "$T/noexec-fs" && mount -t tmpfs -o noexec tmpfs "$T/noexec-fs" 2>/dev/null; then
	TMPDIR=$T/noexec-fs record noexec --shim "$STANDIN" -- sh -c 'echo "$CUDA_INJECTION64_PATH"'
	check_has noexec_folder_is_passed_over "/tmp/libgpubpf-shim.so." "$(grep -v noexec-fs "$T/noexec.out")"
	umount "$T/noexec-fs"
else
	echo "skip noexec_folder_is_passed_over: a tmpfs of its own"
fi
if ! command -v setpriv >/dev/null || ! setpriv --reuid=65534 --clear-groups true 2>/dev/null; then
	echo "skip copy_for_another_user: setpriv"
elif ! setpriv --reuid=65534 --clear-groups test -x "$SIM/launchloop"; then
	echo "skip copy_for_another_user: a build folder that other users can enter"
else
	# The stand-in arms on a thread of its own: the program lives long enough for it.
	user_log=$(TMPDIR=/tmp mktemp) # $T and the runner's TMPDIR may be folders that only root can enter
	chmod 666 "$user_log"
	TMPDIR=/tmp STANDIN_LOG=$user_log STANDIN_QUIET=1 record user --shim "$STANDIN" -- setpriv --reuid=65534 --clear-groups "$SIM/launchloop" --launches 10 --rest 300
	mv "$user_log" "$T/user.log"
	check copy_for_another_user 1 "$(logged user 'armed 1 inline')"
fi
# A command that outlives the recorder may still start programs.
STANDIN_QUIET=1 record outlived -d 200ms --shim "$STANDIN" -- sh -c 'sleep 1; [ -e "$CUDA_INJECTION64_PATH" ] && echo there'
check copy_stays_for_a_command_that_goes_on there "$(cat "$T/outlived.out")"

# ---- the injection path is somebody else's ----
CUDA_INJECTION64_PATH=$SIM/libsiminject.so record taken -- sh -c 'echo "$CUDA_INJECTION64_PATH"'
check injection_taken_is_respected "$SIM/libsiminject.so injection_taken" "$(cat "$T/taken.out") $(notes taken)"
check_has injection_taken_is_said "$SIM/libsiminject.so" "$(cat "$T/taken.err")"
CUDA_INJECTION64_PATH=$STANDIN record ours --shim "$STANDIN" -- sh -c '[ "$CUDA_INJECTION64_PATH" = '"$STANDIN"' ] || echo replaced'
check injection_of_ours_gives_way_to_a_private_copy replaced "$(cat "$T/ours.out")"
record cupti --cupti sync,latency --cupti sync -- sh -c 'echo "$GPUBPF_CUPTI"'
check cupti_kinds sync,latency "$(cat "$T/cupti.out")"
record plain -- sh -c 'echo "${GPUBPF_CUPTI-none}"'
check cupti_kinds_none none "$(cat "$T/plain.out")"
record noshim --no-shim -- sh -c 'echo "${CUDA_INJECTION64_PATH-none}"'
check no_shim_leaves_the_environment none "$(cat "$T/noshim.out")"

# An environment that is cleared on the way: the driver loads nothing, and that is said.
record stripped --shim "$STANDIN" -- env -u CUDA_INJECTION64_PATH "$SIM/launchloop" --launches 20
check callback_missing_is_noted callback_missing "$(notes stripped)"
check_has callback_missing_is_said "did not load it" "$(cat "$T/stripped.err")"
check no_cuda_nothing_missing "" "$(notes plain)"

# ---- live processes: one of two with the same file is recorded ----
start_loop other --launches 10
OTHER=$LOOP_PID
exec 8>&9
start_loop live --launches 100
record live -d 1s -p "$LOOP_PID"
check live_status 0 $?
check_batches live_every_size_arrives live
check live_armed_on_arrival "1 1" "$(logged live 'loaded down') $(logged live 'armed 1 attach')"
check live_asked_then_disarmed "1 1 0" "$(logged live asked) $(logged live 'disarmed 1') $(logged live dead)"
check live_hello_is_attached_last 0 "$(logged live early)"
check live_others_stay_idle 0 "$(logged other armed)"
check live_shim_is_described "mapped $STANDIN $LOOP_PID" "$("$GPUBPF" inspect --json "$T/live" | jq -r '.metadata.shims[]? // empty | "\(.origin) \(.path) \(.view_pid)"')"
check live_no_note "" "$(notes live)"

# C27: ten sessions on one process; each has all its records, and the shim is idle in between.
bad=()
for n in 2 3 4 5 6 7 8 9 10 11; do
	: >"$T/again.log"
	cp "$T/live.log" "$T/before.log"
	record again -d 400ms -p "$LOOP_PID" || bad+=("session $n: status $?")
	tail -c "+$(($(stat -c %s "$T/before.log") + 1))" "$T/live.log" >"$T/again.log"
	out=$("$SHIMCHECK" "$T/again" "$T/again.log") || bad+=("session $n: $out")
	grep -q "disarmed $n" "$T/again.log" || bad+=("session $n did not end: $(grep -v hit "$T/again.log")")
done
result C27_ten_sessions "${bad[@]}"

# The recorder dies: everything falls at once.
STANDIN_QUIET=1 "$GPUBPF" record -q -f -o "$T/dies" -p "$LOOP_PID" &
R=$!
wait_for 20 grep -q 'armed 12' "$T/live.log"
kill -9 $R
wait $R 2>/dev/null
# the kernel takes the probes away in its own time: that hello_v1 falls first may look like an orderly end
wait_for 20 grep -qE '(dead|disarmed) 12' "$T/live.log"
check recorder_killed_shim_idles 0 $?

# The target dies while it is recorded: nobody is waited for.
record dead -p "$LOOP_PID" &
R=$!
wait_for 20 grep -q 'armed 13' "$T/live.log"
t0=$(date +%s%N)
end_loop
wait $R
check target_killed_is_not_waited_for "0 1" "$? $((($(date +%s%N) - t0) / 1000000 < 2000))"
check target_killed_no_note "" "$(notes dead)"
kill -9 "$OTHER"
wait "$OTHER" 2>/dev/null
exec 8>&-

# A shim that never says that it is done: three seconds, and that is said.
export STANDIN_STUCK=1 STANDIN_QUIET=1
start_loop stuck
unset STANDIN_STUCK STANDIN_QUIET
t0=$(date +%s%N)
record stuck -d 300ms -p "$LOOP_PID"
ms=$((($(date +%s%N) - t0) / 1000000))
check stuck_shim_is_waited_for_3_s "1 not_disarmed" "$((ms > 3000 && ms < 6000)) $(notes stuck)"
check_has stuck_shim_is_said "$LOOP_PID did not say" "$(cat "$T/stuck.err")"
# A signal ends that wait.
record hurry -p "$LOOP_PID" &
R=$!
wait_for 20 grep -q 'armed 2' "$T/stuck.log"
sleep 0.2
GP=$(pgrep -P $R gpubpf || echo $R)
kill -INT "$GP"
sleep 0.5
t0=$(date +%s%N)
kill -INT "$GP"
wait $R
check a_second_signal_ends_the_wait "1 SIGINT" "$((($(date +%s%N) - t0) / 1000000 < 1500)) $(meta hurry .footer.end_reason)"
end_loop

# ---- without the shim ----
"$SIM/launchloop" --wait <"$T/live.go" >/dev/null 2>&1 &
P=$!
exec 9>"$T/live.go"
wait_for 20 grep -q libcuda "/proc/$P/maps"
record without -d 300ms -p $P
check no_shim_is_noted "0 no_shim" "$? $(notes without)"
check_has no_shim_says_what_to_do "gpubpf shim env" "$(cat "$T/without.err")"
record unwanted --no-shim -d 300ms -p $P
check no_shim_wanted_no_note "" "$(notes unwanted)"
kill -9 $P
wait $P 2>/dev/null
exec 9>&-

# One that will load it: the probes wait for it, and it is armed inside its first cuInit. One that becomes such a program.
for how in waits becomes; do
	rm -f "$T/late.go" "$T/$how.log"
	mkfifo "$T/late.go"
	if [ $how = waits ]; then
		CUDA_INJECTION64_PATH=$STANDIN STANDIN_LOG=$T/$how.log sh -c "read x; exec $SIM/launchloop --launches 50 --rest 500" <"$T/late.go" >/dev/null &
	else
		sh -c "read x; CUDA_INJECTION64_PATH=$STANDIN STANDIN_LOG=$T/$how.log exec $SIM/launchloop --launches 50 --rest 1000" <"$T/late.go" >/dev/null &
	fi
	P=$!
	exec 9>"$T/late.go"
	sleep 0.2
	record $how -p $P &
	R=$!
	wait_for 20 test -s "$T/$how"
	sleep 1
	echo >&9
	exec 9>&-
	wait $R $P
	check_batches "late_${how}_every_size_arrives" $how
	check "late_${how}_armed" 1 "$(logged $how 'armed 1')"
done
check late_waits_is_armed_inline 1 "$(logged waits 'armed 1 inline')"

# ---- everybody ----
start_loop one --launches 10
P1=$LOOP_PID
exec 8>&9
start_loop two --launches 10
P2=$LOOP_PID
record all -a -d 1s
cat "$T/one.log" "$T/two.log" >"$T/all.log"
check_batches all_every_size_arrives all
check all_both_armed "1 1" "$(logged one 'disarmed 1') $(logged two 'disarmed 1')"
check all_described_once 1 "$("$GPUBPF" inspect --json "$T/all" | jq -r --arg p "$STANDIN" '[.metadata.shims[]? | select(.path == $p)] | length')"
# One that comes later.
record latecomer -a -d 3s &
R=$!
wait_for 20 grep -q 'armed 2' "$T/two.log"
start_loop three --launches 10
wait $R
check all_a_latecomer_is_armed 1 "$(logged three 'armed 1 inline')"
kill -9 $P1 $P2 $LOOP_PID
wait $P1 $P2 $LOOP_PID 2>/dev/null
exec 8>&- 9>&-

# ---- losses, and what shims say ----
STANDIN_STORM=2000 STANDIN_LOG=$T/tiny.log record tiny --ring-size 64K --shim "$STANDIN" -- "$SIM/launchloop" --launches 10 --rest 500
check_batches C7_losses_are_counted tiny lossy
check C7_there_were_losses true "$("$GPUBPF" inspect --json "$T/tiny" | jq '[.counters.probes[]? | .lost_hits] | add > 0')"
for reason in 1:cupti_missing:GPUBPF_CUPTI_PATH 3:second_subscriber:profiler 4:cupti_not_permitted:NVreg_RestrictProfilingToAdminUsers; do
	number=${reason%%:*} word=${reason##*:} code=${reason#*:}
	code=${code%:*}
	STANDIN_REASON=$number record "reason$number" --shim "$STANDIN" -- "$SIM/launchloop" --launches 30 --rest 300
	check "C26_${code}_is_noted" "true 30" "$(meta "reason$number" "[.metadata.notes[].code] | any(. == \"$code\") and any(. == \"facility_refused\")") $(entered "reason$number")"
	check_has "C26_${code}_in_plain_words" "$word" "$(grep 'no GPU times' "$T/reason$number.err")"
done

# ---- files that are not to be attached to ----
mkdir "$T/bad"
sed 's/8@%rdi 8@%rsi 8@%rdx/8@%rdi 8@%rdx 8@%rsi/; s/8@x0 8@x1 8@x2/8@x0 8@x2 8@x1/' "$STANDIN" >"$T/bad/libgpubpf-shim.so"
STANDIN_LOG=$T/refused.log record refused --shim "$T/bad/libgpubpf-shim.so" -- "$SIM/launchloop" --launches 20
check refused_is_noted "shim_refused 20 1" "$(notes refused) $(entered refused) $(logged refused 'loaded down')"
check_has refused_names_the_difference "8@%rdi 8@%rdx 8@%rsi" "$(tr -d "'" <"$T/refused.err" | sed 's/8@x0 8@x2 8@x1/8@%rdi 8@%rdx 8@%rsi/')"
record nofile --shim /nonexistent -- true
check named_file_must_be_there 1 $?

# ---- gpubpf shim ----
check shim_install "$T/inst/lib/libgpubpf-shim.so" "$("$GPUBPF" shim install "$T/inst/lib")"
check shim_install_whole "0 755" "$(cmp "$B/shim/libgpubpf-shim.so" "$T/inst/lib/libgpubpf-shim.so"; echo $?) $(stat -c %a "$T/inst/lib/libgpubpf-shim.so")"
ino=$(stat -c %i "$T/inst/lib/libgpubpf-shim.so")
exec 7<"$T/inst/lib/libgpubpf-shim.so"
"$GPUBPF" shim install "$T/inst/lib" >/dev/null
check shim_install_replaces_by_name "yes 1" "$([ "$ino" != "$(stat -c %i "$T/inst/lib/libgpubpf-shim.so")" ] && echo yes) $(find "$T/inst/lib" -type f | wc -l)"
exec 7<&-
mkdir -p "$T/it's/bin"
cp "$GPUBPF" "$T/it's/bin/gpubpf"
"$T/it's/bin/gpubpf" shim install >"$T/usual"
check shim_beside_the_program "$T/it's/lib/gpubpf/libgpubpf-shim.so" "$(cat "$T/usual")"
check shim_path "$(cat "$T/usual")" "$("$T/it's/bin/gpubpf" shim path)"
check shim_env "$(cat "$T/usual")" "$(eval "$("$T/it's/bin/gpubpf" shim env)" && echo "$CUDA_INJECTION64_PATH")"
cp "$STANDIN" "$T/it's/lib/gpubpf/libgpubpf-shim.so"
check_has shim_of_another_version_is_said "another version" "$("$T/it's/bin/gpubpf" shim path 2>&1)"
for words in "" "walk" "path x" "install a b"; do
	# shellcheck disable=SC2086
	"$GPUBPF" shim $words >"$T/shim.out" 2>&1
	status=$?
	check "shim_usage_$(echo "$words" | tr -dc a-z)" 2 $status
done
"$GPUBPF" shim install /proc/nowhere >"$T/shim.out" 2>&1
status=$?
check shim_install_fails "1 1" "$status $(grep -c /proc/nowhere "$T/shim.out")"
for words in "--cupti walk -- true" "--no-shim --cupti sync -- true" "--cupti sync -a" "--no-shim --shim x -- true"; do
	# shellcheck disable=SC2086
	"$GPUBPF" record $words >"$T/usage.out" 2>&1
	status=$?
	check "record_usage_$(echo "$words" | tr -dc a-z)" 2 $status
done
