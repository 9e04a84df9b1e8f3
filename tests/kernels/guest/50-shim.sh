# SPDX-License-Identifier: GPL-2.0-or-later
# From the shim's probe sites to the capture under this kernel, with a stand-in for the shim; in each way to attach.
. /t/guest/offers

verdict() { # verdict NAME STATUS: with what came out as the reason
	if [ "$2" = 0 ]; then
		echo "ok $1"
	else
		sed 's/^/# /' /tmp/out
		echo "not ok $1"
	fi
}

holds() { # holds NAME: the capture against the stand-in's log
	/t/shimcheck /tmp/shim-capture /tmp/shim-log >/tmp/out 2>&1
	verdict "$1" $?
}

first=
for method in $methods; do
	offers $method || continue
	if [ "$first" ] && grep -q gpubpf_short /proc/cmdline; then
		echo "skip shim $method: only $first in the short run"
		continue
	fi
	first=$method
	rm -f /tmp/shim-capture /tmp/shim-log
	STANDIN_LOG=/tmp/shim-log timeout 120 /t/gpubpf record -f --attach $method --shim /t/libgpubpf-shim.so -o /tmp/shim-capture -- \
		/t/host 3000 >/tmp/out 2>&1
	verdict "shim $method: recorded" $?
	holds "shim $method: every batch of a launched command"
	grep -q 'armed 1 inline' /tmp/shim-log
	verdict "shim $method: armed before InitializeInjection returns" $?

	# A live process and another one with the same file: one is armed, is asked to end, and ends; twice.
	rm -f /tmp/shim-log /tmp/other-log
	CUDA_INJECTION64_PATH=/t/libgpubpf-shim.so STANDIN_LOG=/tmp/other-log /t/host 60000 &
	other=$!
	CUDA_INJECTION64_PATH=/t/libgpubpf-shim.so STANDIN_LOG=/tmp/shim-log /t/host 60000 &
	target=$!
	sleep 2
	for session in 1 2; do
		before=$(wc -l </tmp/shim-log)
		timeout 120 /t/gpubpf record -f --attach $method -d 3s -p $target -o /tmp/shim-capture >/tmp/out 2>&1
		verdict "shim $method: live process recorded, session $session" $?
		tail -n +$((before + 1)) /tmp/shim-log >/tmp/part-log
		/t/shimcheck /tmp/shim-capture /tmp/part-log >/tmp/out 2>&1
		verdict "shim $method: every batch of a live process, session $session" $?
		grep -q "disarmed $session" /tmp/part-log
		verdict "shim $method: session $session is asked to end, and does" $?
	done
	[ "$(grep -c armed /tmp/other-log)" = 0 ]
	verdict "shim $method: another process with the same file stays idle" $?
	kill -9 $other $target
done
