#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Both observers in one capture, read: verdict, ledger, what is wrong and why. mkdevice says what is true of its files.
. tests/e2e/lib.sh

MK=$B/tests/tools/mkdevice

truth() { sed -n "s/^$2 //p" "$T/$1.truth"; }
make_capture() {
	local name=$1
	shift
	"$MK" "$@" "$T/$name" >"$T/$name.truth"
}
first() { "$GPUBPF" inspect "$T/$1" | head -n 1; }

make_capture whole --calls 5000 --processes 3 --threads 2 --unmeasured
make_capture dropped --calls 5000 --drop 100
make_capture zero --calls 5000 --zero 50
make_capture gap --calls 5000 --gap 10
make_capture early --calls 5000 --early 500
make_capture silent --calls 300 --silent
make_capture second --calls 300 --fail 3
make_capture killed --calls 5000 --no-footer
make_capture bare --calls 5000 --bare

case $(first whole) in
"reconciled: both observers agree on all 5000 calls"*"5000 executions") ok R2_reconciled_first_line ;;
*) not_ok R2_reconciled_first_line "$(first whole)" ;;
esac
for name in dropped zero gap early silent killed; do
	line=$(first $name)
	check "R1_verdict_of_$name" incomplete "${line%%:*}"
done

# The report and inspect read one file, and say one thing.
for name in whole dropped silent second; do
	check "report_agrees_on_$name" "$(first $name)" "$("$GPUBPF" report "$T/$name" | head -n 1)"
done

if first silent | grep -q '^incomplete: 300 calls asked the device for work and CUPTI delivered not one record'; then
	ok R3_silence_comes_first
else
	not_ok R3_silence_comes_first "$(first silent)"
fi
if "$GPUBPF" inspect "$T/silent" | grep -q 'a bigger buffer would make it worse'; then
	ok R4_no_bigger_buffer_for_silence
else
	not_ok R4_no_bigger_buffer_for_silence "$("$GPUBPF" inspect "$T/silent" | head -n 4)"
fi
case $(first second) in
"uncontradicted: 300 calls"*"the device observer saw nothing: another profiler in the process holds CUPTI"*) ok C22_second_subscriber_is_said_first ;;
*) not_ok C22_second_subscriber_is_said_first "$(first second)" ;;
esac

field() { "$GPUBPF" inspect --json "$T/$1" | jq -r "$2"; }

if command -v jq >/dev/null; then
	total='.device.ledger.total'
	check matched_and_unexplained "5000 5000 0" "$(field whole "$total | \"\(.calls) \(.matched) \(.unexplained)\"")"
	check dropped_is_exact "$(truth dropped dropped) 0" "$(field dropped "$total | \"\(.dropped) \(.unexplained)\"")"
	check R21_zero_times_are_counted "$(truth zero zero)" "$(field zero '[.device.executions.times[].zero] | add')"
	check R21_zero_times_are_a_term "$(truth zero zero)" "$(field zero "$total.invalid_time")"
	check C7_lost_batches_are_a_term "$(truth gap gone) 0" "$(field gap "$total | \"\(.lost_ring) \(.unexplained)\"")"
	check C18_early_starts_are_counted "$(truth early early) 700" \
		"$(field early '.device.causality | "\(.starts_before_entry) \(.worst_ns)"')"
	check C18_early_starts_are_listed "10 true" \
		"$(field early '.device.causality.worst | "\(length) \(all(.entry_ns - .start_ns == .early_ns))"')"
	check R5_facilities_by_name 0 "$(field whole '.device.sessions[0].facilities.kernel')"
	check R5_why_it_failed "second_subscriber failed" "$(field second '.device.sessions[0] | "\(.reason) \(.state)"')"
	# every term of every line, summed
	sums='[.device.ledger.populations[] | .calls == ([del(.population, .calls, .executions)[]] | add)] | all'
	for name in whole dropped zero gap early silent second killed; do
		check "terms_add_up_$name" true "$(field $name "$sums")"
	done
	# no word of a shim but its batches: the file is read once more
	check a_cut_file_is_joined_all_the_same "5000 not evaluable" "$(field bare "\"\($total.matched) \(.verdict)\"")"
	"$B/tests/tools/mkcapture" --calls 50 "$T/host" >/dev/null
	check R14_no_device_no_key false "$(field host 'has("device")')"
	# a shim was there and said nothing: nothing of the device was measured, and nothing of it is 0
	printf '%s\n' attached 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' | "$B/tests/tools/mkscene" "$T/mute"
	check R14_a_shim_that_never_spoke_has_no_ledger "false 1 uncontradicted" \
		"$(field mute '"\(has("device")) \(.metadata.shims | length) \(.verdict)"')"
else
	echo "skip json_of_the_device_ledger: jq"
fi

# A capture of the host alone costs no more than it did: nothing is kept by call.
"$B/tests/tools/mkcapture" --calls 4000000 "$T/big" >/dev/null # a join would keep 24 bytes of each
rss=$(bash -c 'ulimit -v 90000; exec "$0" report "$1"' "$GPUBPF" "$T/big" 2>&1 | head -n 1)
case $rss in
uncontradicted:*) ok host_alone_is_cheap ;;
*) not_ok host_alone_is_cheap "$rss" ;;
esac
