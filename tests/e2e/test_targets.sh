#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Whom gpubpf record watches and when it ends: live processes, children, containers' views, signals, deaths.
. tests/e2e/lib.sh

LOOP="$SIM/launchloop --wait"
export LD_LIBRARY_PATH=$SIM
GO=$T/go

# A launch loop that begins when told to: its input is a FIFO.
start_loop() # ARG…
{
	rm -f "$GO"
	mkfifo "$GO"
	"$SIM/launchloop" --wait "$@" <"$GO" >"$T/loop.out" 2>/dev/null &
	LOOP_PID=$!
	exec 9>"$GO"
	wait_for 20 grep -q libcuda "/proc/$LOOP_PID/maps"
}

go()
{
	echo >&9
	exec 9>&-
}

# Has a recorder reached the point where its targets are being watched?
attached() # CAPTURE
{
	[ -s "$1" ] && "$GPUBPF" inspect --json "$1" 2>/dev/null | jq -e '.metadata.processes | length > 0' >/dev/null
}

start_loop --launches 3000 --threads 2
"$GPUBPF" record -q -o "$T/live" -p $LOOP_PID &
R=$!
wait_for 20 attached "$T/live"
go
wait $R
check C12_live_process_status 0 $?
wait $LOOP_PID
check live_application_status 0 $?
check live_launches 6000 "$("$GPUBPF" inspect --json --apis "$T/live" | jq '.counters.by_entry_point[] | select(.symbol == "cuLaunchKernel") | .entered')"
check live_ends_with_the_target "target exited" "$("$GPUBPF" inspect --json "$T/live" | jq -r .footer.end_reason)"
check live_origin attached "$("$GPUBPF" inspect --json "$T/live" | jq -r '.metadata.processes[0].origin')"

# --no-follow: the probes stand in that process alone; another one with the same library runs free.
start_loop --launches 2000
"$GPUBPF" record -q --no-follow -o "$T/alone" -p $LOOP_PID &
R=$!
wait_for 20 attached "$T/alone"
"$SIM/launchloop" --launches 500 >/dev/null
go
wait $R $LOOP_PID
check no_follow_only_the_target 2000 "$("$GPUBPF" inspect --json --apis "$T/alone" | jq '.counters.by_entry_point[] | select(.symbol == "cuLaunchKernel") | .entered')"
check no_follow_others_do_not_hit 0 "$("$GPUBPF" inspect --json "$T/alone" | jq .counters.global.other_process)"

# A process that has not loaded libcuda yet, and becomes another program before it does.
rm -f "$GO"
mkfifo "$GO"
sh -c "read x; exec $SIM/launchloop --launches 700" <"$GO" >/dev/null &
P=$!
exec 9>"$GO"
"$GPUBPF" record -q -o "$T/before" -p $P &
R=$!
wait_for 20 attached "$T/before"
go
wait $R $P
check not_loaded_yet 700 "$("$GPUBPF" inspect --json --apis "$T/before" | jq '.counters.by_entry_point[] | select(.symbol == "cuLaunchKernel") | .entered')"

# Several processes by -p, and the whole machine.
"$SIM/launchloop" --launches 100000000000 >/dev/null &
P1=$!
"$SIM/launchloop" --launches 100000000000 >/dev/null &
P2=$!
wait_for 20 grep -q libcuda /proc/$P1/maps
wait_for 20 grep -q libcuda /proc/$P2/maps
"$GPUBPF" record -q -d 500ms -o "$T/several" -p $P1,$P2
check several_processes 2 "$("$GPUBPF" inspect --records --json "$T/several" | jq -s '[.[] | select(.api == "cuLaunchKernel") | .pid] | unique | length')"
"$GPUBPF" record -q -a -d 500ms -o "$T/all"
check whole_machine "true system" "$("$GPUBPF" inspect --records --json "$T/all" | jq -s "[.[] | .pid] | any(. == $P1) and any(. == $P2)"
	) $("$GPUBPF" inspect --json "$T/all" | jq -r '.metadata.processes[0].origin')"
kill -9 $P1 $P2
wait $P1 $P2 2>/dev/null

# Ends: duration, calls, signals. Nothing that was counted may be missing.
for end in "-d 300ms:duration" "--calls 500:calls"; do
	start_loop --launches 100000000000
	go
	"$GPUBPF" record -q ${end%%:*} -o "$T/end-${end##*:}" -p $LOOP_PID
	check "end_${end##*:}" "0 ${end##*:}" "$? $("$GPUBPF" inspect --json "$T/end-${end##*:}" | jq -r .footer.end_reason)"
	check "end_${end##*:}_verdict" uncontradicted "$("$GPUBPF" inspect --json "$T/end-${end##*:}" | jq -r .verdict)"
	kill -9 $LOOP_PID
	wait $LOOP_PID 2>/dev/null
done
for sig in INT TERM; do
	start_loop --launches 100000000000
	go
	"$GPUBPF" record -q -o "$T/sig-$sig" -p $LOOP_PID &
	R=$!
	wait_for 20 attached "$T/sig-$sig"
	kill -$sig $R
	wait $R
	check "clean_stop_SIG$sig" "0 SIG$sig uncontradicted" "$? $("$GPUBPF" inspect --json "$T/sig-$sig" | jq -r '.footer.end_reason + " " + .verdict')"
	kill -9 $LOOP_PID
	wait $LOOP_PID 2>/dev/null
done

# A target that is killed inside its loop; and a recorder that is.
start_loop --launches 100000000000
"$GPUBPF" record -q -o "$T/killed-target" -p $LOOP_PID &
R=$!
wait_for 20 attached "$T/killed-target"
go
sleep 0.3
kill -9 $LOOP_PID
wait $R
check target_killed "0 target exited uncontradicted" "$? $("$GPUBPF" inspect --json "$T/killed-target" | jq -r '.footer.end_reason + " " + .verdict')"
wait $LOOP_PID 2>/dev/null
start_loop --launches 3000000
"$GPUBPF" record -q -o "$T/killed" -p $LOOP_PID &
R=$!
wait_for 20 attached "$T/killed"
go
sleep 0.5
kill -9 $R
wait $R 2>/dev/null
wait $LOOP_PID
check application_outlives_the_recorder 0 $?
check recorder_killed "incomplete null" "$("$GPUBPF" inspect --json "$T/killed" | jq -r '"\(.verdict) \(.footer)"')"
check_has recorder_killed_says_so "without a footer" "$("$GPUBPF" inspect "$T/killed")"

# A launched command: exit status, signals, a command that is none.
sim_record status -- sh -c 'exit 7'
check exit_status_is_passed_on 7 $?
sim_record killed-command -- sh -c 'kill -9 $$'
check exit_by_signal 137 $?
sim_record none -- /nonexistent/command
check no_such_command "1 no" "$? $([ -e "$T/none.gpubpf" ] && echo yes || echo no)"
"$GPUBPF" record -q -o "$T/term" -- "$SIM/launchloop" --launches 100000000000 &
R=$!
wait_for 20 attached "$T/term"
sleep 0.3
kill -TERM $R
wait $R
check signal_is_given_on "143 target exited" "$? $("$GPUBPF" inspect --json "$T/term" | jq -r .footer.end_reason)"

# What the command inherits is what it had without us.
env -i PATH="$PATH" LD_LIBRARY_PATH="$SIM" sh -c 'ulimit -n; trap; grep -E "Sig(Blk|Ign)" /proc/self/status' >"$T/bare"
env -i PATH="$PATH" LD_LIBRARY_PATH="$SIM" "$GPUBPF" record -q -o "$T/inherit" -- \
	sh -c 'ulimit -n; trap; grep -E "Sig(Blk|Ign)" /proc/self/status' >"$T/recorded"
check command_inherits_nothing_of_ours "$(cat "$T/bare")" "$(cat "$T/recorded")"
unset LD_LIBRARY_PATH

# Lives: children of every kind, by the log of the driver.
sim_record lives -- "$SIM/procs" --calls 20 --fork 3 --quick-exit 3 --double-fork 3 --exec 3 --vfork 3 --chain 3
check_truth children lives
check children_counted "$(jq -r .launches "$T/lives.out")" "$(inspect lives '.counters.by_entry_point[] | select(.symbol == "cuLaunchKernel") | .entered')"
sim_record short -- "$SIM/procs" --calls 5 --short 100
check_truth a_hundred_short_processes short
sim_record storm -- sh -c "for i in 1 2 3 4 5 6 7 8; do \"$SIM/procs\" --calls 3 --fork 20 --quick-exit 5 & done >/dev/null; wait"
check_truth fork_storm storm
sim_record nofollow --no-follow -- "$SIM/procs" --calls 20 --fork 3
check no_follow_children "$("$SIM/simlog" --counts "$T/nofollow.simlog" | awk '$1 == "cuLaunchKernel" {n += $2} END {print n - 60}')" \
	"$(inspect nofollow '[.counters.by_entry_point[] | select(.symbol == "cuLaunchKernel") | .entered] | add // 0')"

# Two copies of libcuda in two processes of one tree: both are probed, each symbol under its own id.
mkdir "$T/copy"
cp "$SIM/libcuda.so.1" "$T/copy/"
sim_record two --libcuda "$T/copy/libcuda.so.1" -- sh -c \
	"\"$SIM/launchloop\" --launches 100; LD_LIBRARY_PATH=$T/copy \"$SIM/launchloop\" --launches 50"
check two_copies "50 100" "$(inspect two '[.counters.by_entry_point[] | select(.symbol == "cuLaunchKernel") | .entered] | sort | join(" ")')"

# A wrapper that sets the library path: found when it becomes the program. Should the search lose the race against a
# loader that is faster, the capture must say so.
rm -f "$T/wrapper.simlog"
SIMCUDA_LOG=$T/wrapper.simlog "$GPUBPF" record -q --returns 1 -o "$T/wrapper.gpubpf" -- \
	env LD_LIBRARY_PATH="$SIM" "$SIM/launchloop" --launches 500 >/dev/null
if [ "$(inspect wrapper '[.metadata.notes[].code] | any(. == "late_library" or . == "library_missed")')" = true ]; then
	ok wrapper_sets_library_path
else
	check_truth wrapper_sets_library_path wrapper
fi

# One that nobody looked for: probed once it is mapped, and the capture says that calls before were not seen.
mkdir "$T/late"
cp "$SIM/libcuda.so.1" "$T/late/"
sim_record late -- sh -c "sleep 0.2; LD_LIBRARY_PATH=$T/late \"$SIM/launchloop\" --launches 300000"
check late_library_is_said late_library "$(inspect late '[.metadata.notes[].code] | map(select(. == "late_library")) | first')"
check late_library_is_seen true "$(inspect late '[.counters.by_entry_point[].entered] | add > 1000')"

# Bad words.
for bad in "-p 999999999:1:no process" "-p 1x:2:no process id" "-p $$,$$:2:named twice" "-p 2:1:kernel thread" \
	"-a true:2:one of" "--calls -1 -a:2:" "--attach up -a:2:attach method" "--ring-size 1 -a:2:4K" "-p $$ -o /nonexistent/x:1:/nonexistent"; do
	args=${bad%%:*} rest=${bad#*:}
	out=$("$GPUBPF" record $args 2>&1)
	status=$?
	name=$(echo "${args//$$/self}" | tr -dc a-z0-9)
	check "usage_$name" "${rest%%:*}" $status
	check_has "says_$name" "${rest#*:}" "$out"
done
touch "$T/there"
out=$("$GPUBPF" record -o "$T/there" -- true 2>&1)
check existing_file_is_kept "1 0" "$? $(stat -c %s "$T/there")"
"$GPUBPF" record -q -f -o "$T/there" -- true
check force_replaces "0 yes" "$? $([ -s "$T/there" ] && echo yes)"

# A full disk: what was written stays readable, the error says it, the command runs to its end.
if mkdir "$T/small" && mount -t tmpfs -o size=256k tmpfs "$T/small" 2>/dev/null; then
	LD_LIBRARY_PATH=$SIM "$GPUBPF" record -o "$T/small/c" --compress 0 -- sh -c "\"$SIM/launchloop\" --launches 100000; exit 0" >"$T/full.out" 2>&1
	check disk_full_status 1 $?
	check_has disk_full_is_said "space" "$(cat "$T/full.out")"
	check disk_full_readable incomplete "$("$GPUBPF" inspect --json "$T/small/c" | jq -r .verdict)"
	umount "$T/small"
else
	echo "skip disk_full: a tmpfs of its own"
fi

# C8: the driver is visible only in the target's mount namespace.
if unshare -m true 2>/dev/null; then
	mkdir -p "$T/hidden"
	unshare -m sh -c "mount -t tmpfs tmpfs $T/hidden && cp $SIM/libcuda.so.1 $T/hidden/ &&
		LD_LIBRARY_PATH=$T/hidden exec $SIM/launchloop --launches 100000000000" >/dev/null &
	P=$!
	wait_for 20 grep -q hidden/libcuda "/proc/$P/maps"
	"$GPUBPF" record -q -d 500ms -o "$T/ns" -p $P
	check C8_other_mount_namespace "0 true" "$? $("$GPUBPF" inspect --json --apis "$T/ns" | jq '[.counters.by_entry_point[].entered] | add > 100')"
	kill -9 $P
	wait $P 2>/dev/null
else
	echo "skip C8_other_mount_namespace: a mount namespace"
fi

# Pid namespaces: a target inside one (both numbers are recorded), and a recorder inside one.
if unshare -fp --mount-proc true 2>/dev/null; then
	sim_record pidns -- unshare -fp --mount-proc "$SIM/launchloop" --launches 50
	check pid_namespace_of_the_target "50 true" "$(inspect pidns '[.counters.by_entry_point[] | select(.symbol == "cuLaunchKernel") | .entered] | add'
		) $(inspect pidns '[.metadata.processes[] | .ns_pid == 1 and .pid != 1] | any')"
	unshare -fp --mount-proc env LD_LIBRARY_PATH="$SIM" "$GPUBPF" record -q -o "$T/inside" -- "$SIM/procs" --calls 10 --fork 2 >/dev/null
	check pid_namespace_of_the_recorder "0 20" "$? $("$GPUBPF" inspect --json --apis "$T/inside" | jq '[.counters.by_entry_point[] | select(.symbol == "cuLaunchKernel") | .entered] | add')"
else
	echo "skip pid_namespaces: a pid namespace"
fi
