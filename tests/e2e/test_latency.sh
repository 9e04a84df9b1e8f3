#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# record --latency with real BPF: where the time of calls went, against what the simulated driver did with its thread and
# the kernel's own accounting of it (/proc/thread-self/schedstat, the thread's CPU clock, getrusage).
. tests/e2e/lib.sh

LAUNCHES=5
# Runs launchloop, each launch of which does WHAT for N ms, with COMMAND… before gpubpf; $T/NAME.{do,gpubpf}.
doing() # NAME WHAT:N COMMAND…
{
	local name=$1 what=$2
	shift 2
	LD_LIBRARY_PATH=$SIM SIMCUDA_FAST=1 SIMCUDA_DO=cuLaunchKernel:$what SIMCUDA_DO_LOG=$T/$name.do timeout 60 "$@" \
		"$GPUBPF" record -q -f --no-shim --latency -o "$T/$name.gpubpf" -- "$SIM/launchloop" --launches $LAUNCHES \
		>"$T/$name.out" 2>"$T/$name.err" || not_ok "${name}_recorded" "$(cat "$T/$name.err")"
	"$GPUBPF" inspect --records --json "$T/$name.gpubpf" >"$T/$name.json"
	# beside each call of cuLaunchKernel, the breakdown that came before it
	jq -c -s '[range(1; length) as $i | select(.[$i].api == "cuLaunchKernel" and .[$i - 1].record == "latency" and
		.[$i - 1].t_entry_ns == .[$i].t_entry_ns and .[$i - 1].t_return_ns == .[$i].t_return_ns) | .[$i - 1]]' \
		"$T/$name.json" >"$T/$name.all"
	whole "$name"
}

# Some virtual machines show BPF nothing of what happens while process 1 runs. A launch that came back from it lacks that
# switch, says so, and has the time before it as unaccounted; what it did is compared for the others.
whole() # NAME: $T/NAME.{all,do} to $T/NAME.{launches,did}
{
	jq -r '.[] | select(.call.missed_switches > 0) | "\(.t_entry_ns) \(.t_return_ns) \(.call.ns.unaccounted)"' \
		"$T/$1.all" >"$T/$1.missed"
	jq -c '[.[] | select(.call.missed_switches == 0)]' "$T/$1.all" >"$T/$1.launches"
	awk 'FILENAME == ARGV[1] { from[NR] = $1; to[NR] = $2; n = NR; next }
		{ for (i = 1; i <= n; i++) if ($4 >= from[i] && $4 <= to[i]) next; print }' "$T/$1.missed" "$T/$1.do" >"$T/$1.did"
	[ ! -s "$T/$1.missed" ] ||
		check "$1_missed_is_unaccounted" 0 "$(awk '$3 == 0 { n++ } END { print n + 0 }' "$T/$1.missed")"
	# where calls have many switches, each may lack one: what one holds is little then
	[ -s "$T/$1.did" ] || cp "$T/$1.do" "$T/$1.did"
	[ "$(jq length "$T/$1.launches")" -gt 0 ] || cp "$T/$1.all" "$T/$1.launches"
}

part() # NAME JQ-PATH: the sum over all launches
{
	jq -r "[.[].call$2] | add // 0" "$T/$1.launches"
}

truth() # NAME AWK-EXPRESSION over $5 wall, $6 cpu, $7 delay, $8 minflt, $9 majflt
{
	awk "{ s += $2 } END { printf \"%.0f\", s }" "$T/$1.did"
}

near() # TEST WANTED GOT: within 10 %
{
	if awk -v w="$2" -v g="$3" 'BEGIN { exit !(w > 0 && g >= 0.9 * w && g <= 1.1 * w) }'; then
		ok "$1"
	else
		not_ok "$1" "wanted $2 within 10 %, got $3"
	fi
}

# One cause each: what is neither CPU time nor waiting for a processor.
for pair in sleep:sleep poll:poll futex:futex read:other ioctl:ioctl faultwait:page_fault; do
	what=${pair%:*} cause=${pair#*:}
	doing "$what" "$what:20"
	check "${what}_each_call" $LAUNCHES "$(jq length "$T/$what.all")"
	near "${what}_is_$cause" "$(truth "$what" '$5 - $6 - $7')" "$(part "$what" ".ns.$cause")"
done
check ioctl_device 136 "$(jq -r '.[0].call.ioctl_major' "$T/ioctl.launches")"
check read_is_no_futex_or_poll true "$(jq -r 'all(.[].call.ns; .poll == 0 and .ioctl == 0 and .sleep == 0 and .page_fault == 0)' "$T/read.launches")"

# The same ioctl where that device is one of the GPU's driver: the list of devices is the kernel's, seen through a mount.
sed 's/^136 .*/136 nvidia-test/' /proc/devices >"$T/devices"
if grep -q '^136 nvidia' "$T/devices" && unshare -m true 2>/dev/null; then
	doing nvidia ioctl:20 unshare -m sh -c "mount --bind '$T/devices' /proc/devices && exec \"\$@\"" -
	near ioctl_of_a_gpu_device "$(truth nvidia '$5 - $6 - $7')" "$(part nvidia .ns.ioctl_nvidia)"
	check ioctl_of_a_gpu_device_alone 0 "$(part nvidia .ns.ioctl)"
else
	echo "skip ioctl_of_a_gpu_device: no mount namespace, or no pseudo terminal, on this machine"
fi
check absent_is_named "$(grep -c ' nvidia' /proc/devices)" \
	"$("$GPUBPF" inspect --json "$T/ioctl.gpubpf" | jq '[.latency.told[] | select(. == "ioctl_nvidia")] | length * '"$(grep -c ' nvidia' /proc/devices)")"
check user_and_kernel_mode_absent 1 "$("$GPUBPF" inspect --json "$T/ioctl.gpubpf" | jq '[.latency.absent[] | select(.what == "user_kernel")] | length')"
check_has inspect_says_so "page_fault_cpu" "$("$GPUBPF" inspect "$T/ioctl.gpubpf")"

# A thread that must share its processor.
taskset -c 0 sh -c 'while :; do :; done' &
hog=$!
LAUNCHES=4 doing hog spin:100 taskset -c 0
kill $hog
wait $hog 2>/dev/null
near runqueue "$(truth hog '$7')" "$(part hog .ns.runqueue)"
near on_cpu "$(truth hog '$6')" "$(part hog .ns.on_cpu)"
check involuntary true "$(jq -r '[.[].call.involuntary_switches] | add > 3' "$T/hog.launches")"

# New pages.
doing faults faults:2000
near page_faults "$(truth faults '$8 + $9')" "$(part faults .faults)"
near page_faults_on_cpu "$(truth faults '$6')" "$(part faults .ns.on_cpu)"

# A control group's quota, of version 1 or 2.
quota=
if [ -w /sys/fs/cgroup/cpu/cpu.cfs_period_us ] || [ -e /sys/fs/cgroup/cpu/cgroup.procs ]; then
	quota=/sys/fs/cgroup/cpu/gpubpf-latency-$$
	mkdir $quota 2>/dev/null && echo 100000 >$quota/cpu.cfs_period_us && echo 20000 >$quota/cpu.cfs_quota_us || quota=
elif grep -qw cpu /sys/fs/cgroup/cgroup.subtree_control 2>/dev/null; then
	quota=/sys/fs/cgroup/gpubpf-latency-$$
	mkdir $quota 2>/dev/null && echo "20000 100000" >$quota/cpu.max || quota=
fi
if [ -z "$quota" ]; then
	echo "skip throttled: no control group of processors can be made here"
elif ! "$GPUBPF" inspect --json "$T/ioctl.gpubpf" | jq -e '.latency.told | index("throttled")' >/dev/null; then
	echo "skip throttled: this kernel does not tell"
else
	# one thread alone is in the group, and only while it spins: the time that the group was throttled is the thread's
	LD_LIBRARY_PATH=$SIM SIMCUDA_FAST=1 SIMCUDA_DO=cuLaunchKernel:spin:100 SIMCUDA_DO_LOG=$T/quota.do timeout 60 \
		"$GPUBPF" record -q -f --no-shim --latency -o "$T/quota.gpubpf" -- \
		sh -c "echo \$\$ >$quota/cgroup.procs && exec '$SIM/launchloop' --launches 4" >/dev/null 2>"$T/quota.err"
	"$GPUBPF" inspect --records --json "$T/quota.gpubpf" | jq -c -s '[.[] | select(.record == "latency")]' >"$T/quota.launches"
	cp "$T/quota.do" "$T/quota.did"
	throttled=$(sed -n 's/^throttled_time //p; s/^throttled_usec \(.*\)/\1000/p' $quota/cpu.stat)
	near throttled "$(truth quota '$5 - $6')" "$(part quota '.ns | .throttled + .runqueue + .unaccounted')"
	# A thread that is allowed again may have to wait for others that run: that is counted as throttled too, and only that.
	if awk -v clock="$throttled" -v off="$(truth quota '$5 - $6')" -v got="$(part quota .ns.throttled)" \
		-v missed="$(part quota .ns.unaccounted)" \
		'BEGIN { exit !(clock > 0 && got + missed >= 0.9 * clock && got <= 1.1 * (off > clock ? off : clock)) }'; then
		ok throttled_by_the_groups_clock
	else
		not_ok throttled_by_the_groups_clock "the group's clock has $throttled, the thread $(part quota .ns.throttled)"
	fi
fi
[ -z "$quota" ] || rmdir $quota

# The parts of calls, and of the time between them, add up. Two threads on one processor beside others.
SIMCUDA_FAST=1 sim_record sums --no-shim --latency -- taskset -c 0 "$SIM/launchloop" --launches 20000 --threads 2 --sync-every 100
"$GPUBPF" inspect --records --json "$T/sums.gpubpf" | grep '"record":"latency"' |
	jq -r '.call, .gap // empty | "\(.duration_ns) \([.ns[]] | add) \(.ns.unaccounted) \(.missed_switches)"' >"$T/sums"
out=$(awk '{ n++; d = $2 - $1; d = d < 0 ? -d : d; if (d > 0.01 * $1 || $3 > 0.01 * $1) bad++ }
	END { printf "%d of %d do not add up", bad, n; exit !(n > 80000 && bad <= n / 1000) }' "$T/sums")
if [ $? = 0 ]; then ok sums; else not_ok sums "$out"; fi
check sums_every_call "$(inspect sums '[.counters.by_entry_point[].entered] | add')" "$(inspect sums .latency.records)"
check sums_verdict uncontradicted "$(inspect sums .verdict)"
check_truth sums_log sums

# Without it nothing of it is there; what does not go together is refused.
sim_record plain --no-shim -- "$SIM/launchloop" --launches 10
check plain_has_none "null null" "$(inspect plain '"\(.latency) \(.file.records.breakdowns)"')"
for bad in --no-host --entry-only; do
	"$GPUBPF" record --latency $bad -o "$T/bad" -- true >/dev/null 2>"$T/bad.err"
	check "refused_with$bad" "2 1" "$? $(grep -c -- --latency "$T/bad.err")"
done
