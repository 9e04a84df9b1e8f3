#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# gpubpf inspect on captures whose truth is known: mkcapture prints it.
. tests/e2e/lib.sh
MK=$B/tests/tools/mkcapture

# json FILE EXPRESSION: d is the object
json()
{
	"$GPUBPF" inspect --json --apis "$1" | python3 -c "import json,sys; d=json.load(sys.stdin); print($2)"
}

have_python()
{
	command -v python3 >/dev/null
}

"$MK" --calls 5000 "$T/clean" >"$T/truth" || not_ok mkcapture "exit status $?"
"$MK" --calls 5000 --lose 7 "$T/lossy" >"$T/truth.lossy"
"$MK" --calls 5000 --no-footer "$T/killed" >/dev/null
"$MK" --calls 0 "$T/empty" >/dev/null
"$MK" --calls 50 --no-counts "$T/uncounted" >/dev/null

first=$("$GPUBPF" inspect "$T/clean" | head -n 1)
case $first in
"uncontradicted: 5000 calls"*"nothing contradicts it"*"no device observer"*) ok R2_clean_capture_first_line ;;
*) not_ok R2_clean_capture_first_line "$first" ;;
esac

for pair in lossy:incomplete killed:incomplete empty:empty uncounted:"not evaluable"; do
	first=$("$GPUBPF" inspect "$T/${pair%%:*}" | head -n 1)
	check "R1_verdict_of_${pair%%:*}" "${pair#*:}" "${first%%:*}"
done

"$GPUBPF" inspect "$T/lossy" >"$T/out"
if grep -q '7 records of calls found no room in the ring' "$T/out" && grep -q -- 'gpubpf record --ring-size' "$T/out"; then
	ok R4_loss_is_named_with_its_remedy
else
	not_ok R4_loss_is_named_with_its_remedy "$(head -n 4 "$T/out")"
fi

if "$GPUBPF" inspect "$T/killed" | grep -q 'without a footer: the recorder was killed or the disk was full'; then
	ok missing_footer_is_said
else
	not_ok missing_footer_is_said "not in the output"
fi

# Every count of the text, by its table, against the truth.
"$GPUBPF" inspect "$T/lossy" | awk '/^API calls/ { on = 1; getline; next } /^$/ { on = 0 } on { gsub(",", ""); print $1, $2, $4, $6 }' >"$T/seen"
if diff "$T/truth.lossy" "$T/seen" >"$T/diff"; then ok text_counts_equal_the_truth; else not_ok text_counts_equal_the_truth "$(head -n 3 "$T/diff")"; fi

# Every record, decoded, against the truth.
"$GPUBPF" inspect --records "$T/clean" | sed -n 's/^call .* api=\([^ ]*\).*/\1/p' | sort | uniq -c | awk '{ print $2, $1 }' >"$T/seen"
awk '{ print $1, $2 }' "$T/truth" | sort >"$T/want"
sort -o "$T/seen" "$T/seen"
if diff "$T/want" "$T/seen" >"$T/diff"; then ok R10_every_record_is_listed; else not_ok R10_every_record_is_listed "$(head -n 3 "$T/diff")"; fi

"$MK" --calls 1 --apis cuLaunchKernel "$T/one" >/dev/null
got=$("$GPUBPF" inspect --records "$T/one" | sed -n 's/.*api=//p')
check arguments_stand_by_name "cuLaunchKernel func=0x100 gx=257 gy=258 gz=259 bx=260 by=261 bz=262 smem=263 stream=0x108 params=0x109 extra=0x10a" "$got"

if have_python; then
	check json_counts "5000 7 5 incomplete" "$(json "$T/lossy" 'd["ledger"]["total"]["calls"], d["ledger"]["total"]["lost_ring"], len(d["ledger"]["populations"]), d["verdict"]' | tr -d "(),'")"
	check R14_absent_is_absent "False False True" "$(json "$T/uncounted" '"counters" in d, "footer" in d, "exit_status" not in d' | tr -d '(),')"
	check json_lists_entry_points "True" "$(json "$T/clean" 'len(d["entry_points"]["list"]) == d["entry_points"]["armed"] + d["entry_points"]["missing"] + d["entry_points"]["refused"] > 200')"
	check json_lines "5005" "$("$GPUBPF" inspect --records --json "$T/clean" | python3 -c 'import json,sys; print(sum(1 for l in sys.stdin if json.loads(l)))')"
else
	echo "skip json_of_inspect: python3"
fi

# A missing file, a directory, something else and a cut header are told apart (R7).
for case in "missing:No such file" "$T:is a directory" "text:no gpubpf capture" "nothing:is empty" "short:cut off"; do
	case ${case%%:*} in
	text) echo hello >"$T/text"; f=$T/text ;;
	nothing) : >"$T/nothing"; f=$T/nothing ;;
	short) head -c 10 "$T/clean" >"$T/short"; f=$T/short ;;
	missing) f=$T/missing ;;
	*) f=$T ;;
	esac
	out=$("$GPUBPF" inspect "$f" 2>&1)
	status=$?
	name=R7_$(basename "${case#*:}" | tr ' ' '_')
	case $status:$out in
	1:*"${case#*:}"*) ok "$name" ;;
	*) not_ok "$name" "status $status: $out" ;;
	esac
done

"$GPUBPF" inspect >/dev/null 2>&1
check usage_is_status_2 2 $?
"$GPUBPF" inspect --records "$T/clean" 2>"$T/err" | head -n 1 >/dev/null
check closed_pipe_is_quiet "1 0 " "${PIPESTATUS[*]} $(cat "$T/err")"
if [ -w /dev/full ]; then
	"$GPUBPF" inspect "$T/clean" >/dev/full 2>"$T/err"
	check full_stdout_is_an_error "1 No space left on device" "$? $(sed 's/.*: //' "$T/err")"
fi

# Names in a capture do not drive the terminal.
"$MK" --calls 5 --text $'a\e[31mb\nc"d' "$T/escape" >/dev/null
{
	"$GPUBPF" inspect "$T/escape"
	"$GPUBPF" inspect --records "$T/escape"
	"$GPUBPF" inspect --json "$T/escape"
} >"$T/out"
if ! grep -q $'\e' "$T/out" && grep -qF 'comm="a\x1b[31mb\x0ac\"d"' "$T/out"; then
	ok escapes_are_shown_not_obeyed
else
	not_ok escapes_are_shown_not_obeyed "$(grep -a 'comm=' "$T/out" | head -n 1 | cat -v)"
fi

# A disk that fills: the error says what to do, the file is whole blocks, the verdict names it.
fill='mount -t tmpfs -o size=320k none "$1/disk" && "$2" --calls 200000 --level 0 "$1/disk/c" >/dev/null 2>"$1/err"; echo $? >"$1/status"; "$3" inspect "$1/disk/c" >"$1/out"'
mkdir "$T/disk"
if unshare -m bash -c 'mount -t tmpfs none "$1"' - "$T/disk" 2>/dev/null; then
	unshare -m bash -c "$fill" - "$T" "$MK" "$GPUBPF"
	case $(cat "$T/status"):$(cat "$T/err"):$(cat "$T/out") in
	1:*"No space left"*"stay readable"*"free some space"*:incomplete:*"could not be written to the file"*"write error"*"0 bytes outside blocks, 0 bytes of a torn last block"*) ok full_disk ;;
	*) not_ok full_disk "$(cat "$T/status" "$T/err"; head -n 2 "$T/out")" ;;
	esac
else
	echo "skip full_disk: the right to mount"
fi
