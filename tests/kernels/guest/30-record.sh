# SPDX-License-Identifier: GPL-2.0-or-later
# The workloads on the simulated CUDA stack, recorded in each way that the kernel offers, against the truth.
. /t/guest/offers
export LD_LIBRARY_PATH=/t

record() { # record NAME WORKLOAD [OPTION…]
	name=$1 workload=$2 stub= argument=
	shift 2
	# callall's arguments are no addresses: the driver only logs them.
	[ $workload != callall ] || stub=1 argument=/tmp/passed
	rm -f /tmp/capture /tmp/simlog
	if SIMCUDA_STUB=${stub:-0} SIMCUDA_LOG=/tmp/simlog timeout 120 \
		/t/gpubpf record --no-shim "$@" -o /tmp/capture -- /t/$workload $argument >/tmp/out 2>&1; then
		echo "ok $name: recorded"
	else
		echo "# exit status $?"
		tail -n 20 /tmp/out | sed 's/^/# /'
		echo "not ok $name: recorded"
		return
	fi
	if [ $workload = callall ]; then
		/t/capcheck "$name" /tmp/capture /tmp/simlog launch
		if /t/truth args /tmp/capture /tmp/passed >/tmp/truth; then
			echo "ok $name: strings and structs are those passed"
		else
			cat /tmp/truth
			echo "not ok $name: strings and structs are those passed"
		fi
	else
		/t/capcheck "$name" /tmp/capture /tmp/simlog
	fi
	if /t/gpubpf inspect --json /tmp/capture >/tmp/inspect 2>&1 && grep -q uncontradicted /tmp/inspect; then
		echo "ok $name: inspect says uncontradicted"
	else
		head -n 20 /tmp/inspect | sed 's/^/# /'
		echo "not ok $name: inspect says uncontradicted"
	fi
}

first=
for method in $methods; do
	if offers $method && [ -z "$first" ]; then
		first=$method
		record "record $method callall" callall --attach $method
		# What gpubpf takes by itself; perf-based probes are slow to remove, so not once more with the option.
		record "record demo" demo
		record "record demo --latency" demo --latency
		told=$(sed -n '/"told": \[/,/\]/p' /tmp/inspect | tr -d ' \n"')
		parts=$(/t/gpubpf inspect --records /tmp/capture | grep -c '^latency .*on_cpu_ns=')
		missing=$(/t/gpubpf inspect --records /tmp/capture | grep '^latency ' | grep -c 'unaccounted_ns=\|excess_ns=')
		echo "# $told, $(sed -n 's/.*"store": //p' /tmp/inspect) $parts calls, $missing that do not add up"
		if [ "${parts:-0}" -gt 100 ] && [ $((missing * 1000)) -le "$parts" ]; then
			echo "ok record demo --latency: the parts of $parts calls add up"
		else
			echo "not ok record demo --latency: the parts of calls add up"
		fi
		# a lock that another thread holds inside a call, and time limits: whom this kernel lets be named
		SIMCUDA_DO=cuMemAlloc_v2:heldin:20,cuStreamDestroy_v2:expires:20 record "record demo --latency, futexes" demo --latency
		/t/gpubpf inspect --records /tmp/capture | grep '^futex_wait ' >/tmp/waits
		held=$(grep 'api=cuMemAlloc_v2 ' /tmp/waits | grep -c 'woken=in_call .*waker_api=cuCtxSynchronize')
		over=$(grep 'api=cuStreamDestroy_v2 ' /tmp/waits | grep -c 'woken=timeout')
		others=$(grep 'api=cuStreamDestroy_v2 ' /tmp/waits | grep -vc 'woken=timeout')
		if ! sed -n '/"told": \[/,/\]/p' /tmp/inspect | grep -q '"wakers"'; then
			# it does not tell interrupts from threads: then nobody is named, and that is said
			named=$(grep -c 'waker_tid=' /tmp/waits)
			held=$((named ? 0 : 4)) over=6 others=0
			grep -q 'does not tell interrupts from threads' /tmp/inspect || held=0
		fi
		# an interrupt that is no timer's, or early by more than is taken for its own, blames nobody: that is right, too
		blamed=$(grep 'api=cuStreamDestroy_v2 ' /tmp/waits | grep -c 'waker_tid=')
		if [ $held -ge 4 ] && [ $((over + others)) -ge 6 ] && [ $others -le 2 ] && [ $blamed = 0 ]; then
			echo "ok record demo --latency: who ended waits in futexes"
		else
			head -n 20 /tmp/waits | sed 's/^/# /'
			echo "not ok record demo --latency: who ended waits in futexes"
		fi
		timeout 300 /t/gpubpf top --lines --no-shim -- /t/demo --steps 50 >/tmp/out 2>&1
		shown=$(awk '$1 == "rates" { n += $4 } END { print n + 0 }' /tmp/out)
		did=$(sed -n 's/.*"launches":\([0-9]*\),.*/\1/p' /tmp/out)
		waits=$(grep -c '^waits .* on_cpu$' /tmp/out)
		if [ "$shown" = "$did" ] && [ "$waits" -gt 0 ] && ! grep '^losses' /tmp/out | grep -qv ' none '; then
			echo "ok top: $shown launches, waits accounted for"
		else
			tail -n 30 /tmp/out | sed 's/^/# /'
			echo "not ok top: $shown launches of $did, waits accounted for in $waits blocks"
		fi
		for how in fp dwarf; do
			record "record demo --stacks=$how" demo --stacks=$how --stacks-every 1 --ring-size 64M
			lines=$(/t/gpubpf inspect --records /tmp/capture | grep '^stack ')
			taken=$(echo "$lines" | grep -c ' at=entry') complete=$(echo "$lines" | grep -c 'quality=complete')
			if [ "$taken" -gt 100 ] && { [ $how = fp ] || [ $((complete * 10)) -ge $((taken * 9)) ]; }; then
				echo "ok record demo --stacks=$how: $taken stacks, $complete complete"
			else
				echo "not ok record demo --stacks=$how: $taken stacks, $complete complete"
			fi
		done
		if grep -q "\"attach\": \"$first\"" /tmp/inspect; then
			echo "ok record: takes $first by itself"
		else
			echo "not ok record: takes $first by itself"
		fi
	elif offers $method && grep -q gpubpf_short /proc/cmdline; then
		echo "skip record $method: only $first in the short run"
	elif offers $method; then
		record "record $method callall" callall --attach $method
		record "record $method demo" demo --attach $method
	elif /t/gpubpf record --attach $method -o /tmp/capture -- /bin/true >/tmp/out 2>&1; then
		echo "not ok record $method: refused where the kernel does not have it"
	elif grep -qi 'error\|cannot\|needs\|lacks\|not' /tmp/out; then
		echo "ok record $method: refused where the kernel does not have it"
	else
		sed 's/^/# /' /tmp/out
		echo "not ok record $method: refused with a reason"
	fi
done
