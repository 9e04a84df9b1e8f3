#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a capture says of where and how it was made (R29, R5, R6, R14): programs, scripts, GPUs by an nvidia-smi of our own, and
# that recording waits for none of it.
. tests/e2e/lib.sh
MK=$B/tests/tools/mkcapture
export LD_LIBRARY_PATH=$SIM
unset CUDA_VISIBLE_DEVICES CUDA_MPS_PIPE_DIRECTORY CUDA_INJECTION64_PATH
mkdir "$T/bin"
PLAIN=$PATH

record() # NAME ARG…
{
	local name=$1
	shift
	"$GPUBPF" record -q --no-cost -f -o "$T/$name" "$@" >"$T/$name.out" 2>"$T/$name.err"
}

fact() # CAPTURE GROUP KEY: its value; "absent: " and the reason; "no such fact"
{
	"$GPUBPF" inspect --environment --json "$T/$1" |
		jq -r --arg g "$2" --arg k "$3" '.environment[$g] | if has($k) then .[$k] elif has($k + "_absent") then "absent: " + .[$k + "_absent"] else "no such fact" end'
}

# An nvidia-smi that does what the script on standard input says.
smi()
{
	{ echo '#!/bin/bash'; cat; } >"$T/bin/nvidia-smi"
	chmod 755 "$T/bin/nvidia-smi"
	PATH=$T/bin:$PLAIN
}

smi_good()
{
	smi <<-EOS
		echo "\$*" >>$T/asked
		env | sort | grep -v -e '^_=' -e '^PWD=' -e '^SHLVL=' >$T/smi.env
		case "\$*" in
		*enforced.power*) echo 'Field "enforced.power.limit" is not a valid field to query.'; exit 2 ;;
		*vbios*) echo "GPU-aa, 00000000:61:00.0, 1980, 2619, NVIDIA H200, 580.159.03, 96.00.AF, Enabled, Default, Disabled, [N/A], 1980, 3201, [Unknown Error], 0, 650.00, 700.00, 700.00" ;;
		*) echo "GPU-aa, 00000000:61:00.0, 345, [N/A]" ;;
		esac
	EOS
}

good()
{
	local bad=() got
	: >"$T/asked"
	smi_good
	SECRET=1 record good -- "$SIM/demo" --steps 20 || bad+=("status $?: $(cat "$T/good.err")")
	for pair in GPUs=1 GPU_0_UUID=GPU-aa 'GPU_0_name=NVIDIA H200' 'GPU_0_power_limit=650.00 W' GPU_0_MIG_mode=Disabled \
		'GPU_0_SM_clock_at_the_end=1980 MHz' 'GPU_0_memory_clock_for_applications=0 MHz' \
		'GPU_0_ECC_mode=absent: nvidia-smi says "[N/A]"' 'GPU_0_SM_clock_for_applications=absent: nvidia-smi says "[Unknown Error]"' \
		'GPU_0_power_limit_enforced=absent: this nvidia-smi does not know it' 'clocks_and_power=no such fact'; do
		got=$(fact good device "${pair%%=*}")
		[ "$got" = "${pair#*=}" ] || bad+=("${pair%%=*}: $got")
	done
	[ "$(fact good driver driver_version)" = 580.159.03 ] || bad+=('driver version')
	[ "$(tr '\n' ' ' <"$T/smi.env")" = 'LC_ALL=C PATH=/usr/bin:/bin ' ] || bad+=("its environment: $(cat "$T/smi.env")")
	# one that was refused for the field, and one without it
	[ "$(wc -l <"$T/asked")" = 2 ] || bad+=("asked: $(cat "$T/asked")")
	"$GPUBPF" inspect --json "$T/good" | jq -r '.metadata.processes[].comm' | grep -q smi && bad+=('R8: a traced process')
	result R14_gpu_facts_by_nvidia_smi "${bad[@]}"
}
good

# The program, what CUDA obeys, the observers; of what is not set, that is known.
program()
{
	local bad=() got
	[ "$(fact good workload executable)" = "$(realpath "$SIM/demo")" ] || bad+=("executable: $(fact good workload executable)")
	got=$(readelf -n "$SIM/demo" | sed -n 's/.*Build ID: //p')
	case $(fact good workload executable_identity) in
	"build id $got, $(stat -c %s "$SIM/demo") bytes") ;;
	*) bad+=("identity: $(fact good workload executable_identity), not $got") ;;
	esac
	[ "$(fact good workload command)" = "$SIM/demo --steps 20" ] || bad+=("command: $(fact good workload command)")
	[ "$(fact good workload CUDA_VISIBLE_DEVICES)" = 'not set' ] || bad+=('CUDA_VISIBLE_DEVICES')
	[ "$(fact good workload script)" = none ] || bad+=('script')
	case $(fact good runtime libcudart) in "libcudart.so.13, build id "[0-9a-f]*) ;; *) bad+=("libcudart: $(fact good runtime libcudart)") ;; esac
	case $(fact good runtime CUPTI_version) in [0-9]*) ;; *) bad+=("CUPTI: $(fact good runtime CUPTI_version)") ;; esac
	[ "$(fact good driver CUDA_driver_version)" = 13.0 ] || bad+=("CUDA: $(fact good driver CUDA_driver_version)")
	[ "$(fact good host kernel)" = "$(uname -r)" ] || bad+=('kernel')
	[ "$(fact good device MPS)" = "no control daemon's pipe in /tmp/nvidia-mps" ] || [ -e /tmp/nvidia-mps ] || bad+=("MPS: $(fact good device MPS)")
	case $(fact good host CPU_model) in absent*) bad+=('CPU model') ;; esac
	[ "$(fact good timing "clock_of_the_device_s_times")" = "CLOCK_MONOTONIC, by CUPTI's timestamp callback" ] || bad+=('clock')
	[ "$(fact good timing times_of_kernel_records)" = valid ] || bad+=('times')
	[ "$("$GPUBPF" inspect --environment --json "$T/good" | jq -c '[.differ_from_run_to_run | .host[], .device[]] | sort')" = '["GPU_0_SM_clock_at_the_end","GPU_0_memory_clock_at_the_end","boot_id"]' ] || bad+=('run to run')
	got=$("$GPUBPF" inspect --environment "$T/good")
	for want in 'Workload' '  GPU 0 power limit  *650.00 W' '  GPU 0 ECC mode  *absent: nvidia-smi says' '  CUDA_VISIBLE_DEVICES  *not set'; do
		grep -q "^$want" <<<"$got" || bad+=("text: $want")
	done
	result R29_program_and_observers "${bad[@]}"
}
program

# Each way in which it tells nothing is a reason, and no recording fails of it.
refusals()
{
	local bad=() got pid start=$SECONDS
	absent() # NAME PART
	{
		record "$1" --no-shim -- "$SIM/launchloop" --launches 10 || bad+=("$1: status $?: $(cat "$T/$1.err")")
		got=$(fact "$1" device clocks_and_power)
		case $got in "absent: "*"$2"*) ;; *) bad+=("$1: $got") ;; esac
		[ "$(fact "$1" device GPU_0_power_limit)" = 'no such fact' ] || bad+=("$1: a power limit")
	}
	smi <<<'echo "what, is, this"'
	absent garbage 'cannot be read'
	smi <<<'echo "NVIDIA-SMI has failed: no driver"; exit 9'
	absent failing 'status 9: NVIDIA-SMI has failed: no driver'
	smi <<<'exit 0'
	absent mute 'nothing of any GPU'
	smi <<<'yes'
	absent endless 'too long'
	chmod 757 "$T/bin/nvidia-smi"
	absent writable 'written by others'
	chmod 755 "$T/bin/nvidia-smi"
	chmod 777 "$T/bin"
	absent folder 'written by others'
	chmod 755 "$T/bin"
	record none --no-smi -- "$SIM/launchloop" --launches 10
	case $(fact none device clocks_and_power) in *--no-smi*) ;; *) bad+=(--no-smi) ;; esac
	rm "$T/bin/nvidia-smi"
	[ -e /usr/bin/nvidia-smi ] || absent missing 'no nvidia-smi in PATH'
	PATH=$PLAIN
	result R5_nvidia_smi_that_tells_nothing "${bad[@]}"
}
refusals

# One that hangs delays the end by 2 s and the start not at all, and is ended with what it started.
slow()
{
	local bad=() t
	smi <<-EOS
		sleep 61 & echo \$\$ \$! >$T/pids
		wait
	EOS
	t=$(date +%s%N)
	record slow --no-shim -- "$SIM/launchloop" --launches 10 || bad+=("status $?")
	t=$((($(date +%s%N) - t) / 1000000))
	[ "$t" -lt 6000 ] || bad+=("$t ms")
	PATH=$PLAIN
	[ "$(fact slow device clocks_and_power)" = 'absent: nvidia-smi did not answer within 2 s' ] ||
		[ "$(fact slow device clocks_and_power)" = 'absent: nvidia-smi had not answered when the recording ended' ] || bad+=("$(fact slow device clocks_and_power)")
	for pid in $(cat "$T/pids"); do
		wait_for 2 bash -c "! grep -qs '^State:.[RSD]' /proc/$pid/status" || bad+=("$pid lives")
	done
	result nvidia_smi_has_a_deadline "${bad[@]}"
}
slow

# A script by its content; of a module, that it is not known; through another program's exec, what it became.
scripts()
{
	local bad=() a b
	cd "$T" || return
	mkdir work
	echo "$SIM/launchloop --launches 20000; true" >work/x.sh
	record one --no-shim -- bash -e work/x.sh
	record same --no-shim -- bash work/x.sh
	echo '# more' >>work/x.sh
	record other --no-shim -- bash work/x.sh
	a=$(fact one workload script_identity)
	case $a in "CRC-32C "*", $(($(stat -c %s work/x.sh) - 7)) bytes") ;; *) bad+=("one: $a") ;; esac
	[ "$(fact one workload script)" = work/x.sh ] || bad+=("name: $(fact one workload script)")
	[ "$(fact same workload script_identity)" = "$a" ] || bad+=('the same differs')
	b=$(fact other workload script_identity)
	[ "$b" != "$a" ] || bad+=('another is the same')
	# launchloop uses CUDA and is not the first: its facts bear its name
	case $(fact one workload launchloop_executable_identity) in "build id "*) ;; *) bad+=("launchloop: $(fact one workload launchloop_executable_identity)") ;; esac
	record inline --no-shim -- bash -c "$SIM/launchloop --launches 20000; sleep 0.01"
	[ "$(fact inline workload script_identity)" = 'the command line' ] || bad+=("inline: $(fact inline workload script)")
	CUDA_VISIBLE_DEVICES=0 record execed --no-shim -- env A=1 "$SIM/launchloop" --launches 20000
	[ "$(fact execed workload executable)" = "$(realpath "$SIM/launchloop")" ] || bad+=("execed: $(fact execed workload executable)")
	[ "$(fact execed workload CUDA_VISIBLE_DEVICES)" = 0 ] || bad+=("variable: $(fact execed workload CUDA_VISIBLE_DEVICES)")
	cd - >/dev/null || return
	result R29_scripts_by_content "${bad[@]}"
}
scripts

# A live process; a recorder that is killed has said what it knew; -a asks once, behind the recording.
live()
{
	local bad=() loop rec
	mkfifo "$T/go"
	"$SIM/launchloop" --wait --launches 100000000 <"$T/go" >/dev/null 2>&1 &
	loop=$!
	exec 9>"$T/go"
	wait_for 10 grep -qs libcuda "/proc/$loop/maps" || bad+=('no loop')
	record attached --no-shim -d 0.2 -p $loop || bad+=("attach: $(cat "$T/attached.err")")
	[ "$(fact attached workload executable)" = "$(realpath "$SIM/launchloop")" ] || bad+=("attached: $(fact attached workload executable)")
	case $(fact attached workload command) in "$SIM/launchloop --wait"*) ;; *) bad+=("command: $(fact attached workload command)") ;; esac
	"$GPUBPF" record -q -f --no-shim -o "$T/killed" -p $loop 2>/dev/null &
	rec=$!
	wait_for 10 test -s "$T/killed"
	sleep 0.5
	kill -9 $rec
	wait $rec 2>/dev/null
	case $(fact killed workload executable_identity) in "build id "*) ;; *) bad+=("killed: $(fact killed workload executable_identity)") ;; esac
	smi_good
	: >"$T/asked"
	record all --no-shim -d 2.3 -a || bad+=("-a: $(cat "$T/all.err")")
	PATH=$PLAIN
	[ "$(wc -l <"$T/asked")" = 2 ] || bad+=("asked: $(cat "$T/asked")")
	case $(fact all workload executable) in "absent: all processes"*) ;; *) bad+=("-a: $(fact all workload executable)") ;; esac
	[ "$(fact all device GPU_0_SM_clock_after_2_s)" = 'no such fact' ] || bad+=('R8: asked while all is traced')
	exec 9>&-
	kill $loop
	wait $loop 2>/dev/null
	result R8_live_processes "${bad[@]}"
}
live

# Captures from before there were facts are read, and say what nobody looked for; of a merged one, each member has its own.
others()
{
	local bad=() got
	"$MK" --calls 100 "$T/old" >/dev/null
	case $(fact old device clocks_and_power)$(fact old workload executable_identity) in
	"absent: recorded by a gpubpf that did not look for it"*"absent: recorded by a gpubpf that did not look for it") ;;
	*) bad+=("old: $(fact old device clocks_and_power)") ;;
	esac
	[ "$(fact old workload command)" = 'trainer --epochs 3' ] || bad+=("old command: $(fact old workload command)")
	[ "$(fact old capture entries_only)" = 'absent: the capture does not say' ] || bad+=("old: $(fact old capture entries_only)")
	"$GPUBPF" merge -q "$T/good" "$T/one" -o "$T/merged" 2>"$T/merge.err" || bad+=("merge: $(cat "$T/merge.err")")
	[ "$(fact merged device member_1_GPU_0_power_limit)" = '650.00 W' ] || bad+=("member 1: $(fact merged device member_1_GPU_0_power_limit)")
	[ "$(fact merged workload member_2_script)" = work/x.sh ] || bad+=("member 2: $(fact merged workload member_2_script)")
	[ "$(fact merged runtime member_1_CUPTI_version)" = "$(fact good runtime CUPTI_version)" ] || bad+=('CUPTI of member 1')
	[ "$(fact merged runtime GPU_0_power_limit)" = 'no such fact' ] || bad+=('a fact of no member')
	# the export says the same
	"$GPUBPF" export --format jsonl --table environment "$T/good" 2>/dev/null | jq -r '.fact_group + "|" + (.value // "absent: " + .why_absent)' >"$T/exported"
	"$GPUBPF" inspect --environment --json "$T/good" | jq -r '.environment | to_entries[] | .key as $g | .value | to_entries[] | $g + "|" + (if .key | endswith("_absent") then "absent: " else "" end) + .value' >"$T/inspected"
	cmp -s "$T/exported" "$T/inspected" || bad+=("export: $(diff "$T/exported" "$T/inspected" | head -n 3)")
	for o in --records --apis; do
		"$GPUBPF" inspect --environment $o "$T/old" >/dev/null 2>&1
		[ $? = 2 ] || bad+=("$o")
	done
	"$GPUBPF" inspect --environment "$T/nowhere" >/dev/null 2>&1
	[ $? = 1 ] || bad+=('a missing file')
	result R14_old_and_merged_captures "${bad[@]}"
}
others
