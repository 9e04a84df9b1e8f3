#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# boot.sh ARCH VMLINUZ INITRD LOG: boots under QEMU without KVM and waits for the end. LOG gets the console.
# KERNEL_APPEND goes to the guest's command line.
# A guest kernel that panics before its tests began is booted again, twice at most, and says so on stdout: emulated
# machines lose a race that real ones do not. From then on a panic is a finding, and nothing is tried again.
# Exit status 1: no orderly end.
set -eu
arch=$1 vmlinuz=$2 initrd=$3 log=$4
limit=${KERNEL_TIMEOUT:-600}

case $arch in
# One CPU in one thread: with two, the emulator breaks x86's code patching now and then (int3 in __schedule).
amd64) qemu=(qemu-system-x86_64 -M q35 -cpu max -accel "tcg,thread=single" -smp 1) console=ttyS0 ;;
arm64) qemu=(qemu-system-aarch64 -M "virt,gic-version=3" -cpu cortex-a57 -accel "tcg,thread=multi" -smp 2) console=ttyAMA0 ;;
esac
# preempt=full: what a probe's program is inside of when another task gets the CPU shows here first.
# Removing some 500 perf-based probes waits for as many grace periods of RCU: minutes unless they are expedited.
for attempt in 1 2 3; do
	timeout --foreground -k 5 "$limit" "${qemu[@]}" -m 1G -nographic -no-reboot -nodefaults -serial stdio -kernel "$vmlinuz" \
		-initrd "$initrd" -append "console=$console quiet loglevel=3 panic=-1 rcupdate.rcu_expedited=1 preempt=full ${KERNEL_APPEND:-}" </dev/null >"$log" 2>&1 || true
	! grep -aq '^@@ end' "$log" || exit 0
	if grep -aq '^@@ boot' "$log" || ! grep -aqE 'Kernel panic|Oops|BUG: ' "$log"; then
		break
	fi
	[ $attempt != 3 ] || break
	echo "booted again, the guest kernel panicked: $(grep -aom1 -E '(Kernel panic|Oops|BUG: ).*' "$log" | tr -d '\r')"
	cp "$log" "$log.panic$attempt"
done
exit 1
