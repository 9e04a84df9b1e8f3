#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 600
# gpubpf elfgate as a user runs it, and the libraries that are linked for glibc 2.17.
. tests/e2e/lib.sh

machine=$(uname -m)
case $machine in
x86_64) other=aarch64 ;;
*) other=x86_64 ;;
esac
here=$B/elfgate there=$B/cross/$other/elfgate

run() # ARG…: status in $status, output in $out and $err
{
	"$GPUBPF" elfgate "$@" >"$T/out" 2>"$T/err" </dev/null
	status=$?
	out=$(cat "$T/out") err=$(cat "$T/err")
}

run --profile shim "$here/good.so"
check elfgate_pass_is_0 0 "$status"
run --profile shim "$here/relro.so"
check elfgate_fail_is_1 1 "$status"
check_has elfgate_failure_names_the_rule "fail           relro" "$out"
check_has elfgate_failure_has_a_remedy "remedy: link it with -Wl,-z,relro" "$out"
run /etc/passwd
check elfgate_no_elf_is_2 2 "$status"
check_has elfgate_no_elf_is_said "/etc/passwd: not an ELF file" "$err"
head -c 9000 "$here/good.so" >"$T/cut.so"
run --profile shim "$T/cut.so"
check elfgate_damaged_is_2 2 "$status"
check_has elfgate_damage_is_said "beyond the file" "$out"
run /no/such/file "$here/good.so"
check elfgate_missing_file_is_2 2 "$status"
check_has elfgate_goes_on_with_the_next_file "good.so: " "$out"
run --profile shim "$here/relro.so" /etc/passwd
check elfgate_a_failure_outweighs_an_unknown 1 "$status"
run "$here/relro.so"
check elfgate_any_judges_nothing 0 "$status"
mkfifo "$T/fifo"
run "$T/fifo"
check elfgate_fifo_is_2 2 "$status"
run --profile shin "$here/good.so"
check elfgate_unknown_profile_is_2 2 "$status"
check_has elfgate_unknown_profile_is_said "there is no profile 'shin'" "$err"
printf 'class = 64\nclas = 64\n' >"$T/bad.profile"
run --profile "$T/bad.profile" "$here/good.so"
check_has elfgate_profile_error_has_a_line "bad.profile:2: there is no rule 'clas'" "$err"
"$GPUBPF" elfgate --show-profile shim >"$T/my.profile"
run --profile "$T/my.profile" "$here/good.so"
check elfgate_shown_profile_is_one 0 "$status"
"$GPUBPF" elfgate --show-profile any >"$T/any.profile"
run --profile "$T/any.profile" "$here/relro.so"
check_has elfgate_shown_any_judges_nothing "reported (profile $T/any.profile)" "$out"
[ -s "$T/any.profile" ] && ok elfgate_shown_any_says_what_it_is || not_ok elfgate_shown_any_says_what_it_is "it is empty"

run --glibc-floor 2.33 "$here/glibc-floor.so"
check elfgate_floor_above_fails 1 "$status"
check_has elfgate_floor_names_the_symbol "GLIBC_2.34 (wanted_function)" "$out"
run --glibc-floor 2.34 "$here/glibc-floor.so"
check elfgate_floor_reached_passes 0 "$status"
check_has elfgate_oldest_distribution "Debian             12 and newer; not 11: it has glibc 2.31;" "$out"
run --glibc-floor new "$here/good.so"
check elfgate_bad_floor_is_2 2 "$status"
run "$here/good.so"
check_has elfgate_old_distributions "RHEL, Rocky, Alma  7 and newer" "$out"
check_has elfgate_musl_is_said "Alpine             none: its C library is musl" "$out"
run "$here/glibcxx.so"
check_has elfgate_updates_may_bring_it "SLES               15 SP6 and newer; perhaps 15 SP3: it has GLIBCXX_3.4.28 or, by updates, a newer one;" "$out"
if [ "$machine" = x86_64 ]; then
	run "$here/marker-gnu2-tls.so"
	check_has elfgate_backports_are_said \
		"RHEL, Rocky, Alma  not known of 10: it has glibc 2.39 and, by updates, some of what newer ones have;" "$out"
	check_has elfgate_a_marker_has_its_release "Fedora             43 and newer; not 42: it has glibc 2.41;" "$out"
fi
run "$here/marker-private.so"
check_has elfgate_private_is_of_no_release "no release of glibc promises it" "$out"

# What is said here is what the libraries of this machine say.
libc=$(ldd /bin/ls | sed -n 's/.* \(\/.*libc\.so\.6\) .*/\1/p')
"$GPUBPF" elfgate --json "$here/good.so" >"$T/json"
check elfgate_json_verdict reported "$(jq -r '.files[0].verdict' "$T/json")"
check elfgate_json_states "n/a reported" "$(jq -r '[.files[0].rules[].state] | unique | join(" ")' "$T/json")"
"$GPUBPF" elfgate --json --profile shim "$here/tls-model.so" "$T/cut.so" /etc/passwd >"$T/json" 2>/dev/null
check elfgate_json_files "fail,not evaluable,not evaluable" "$(jq -r '[.files[].verdict] | join(",")' "$T/json")"
check elfgate_json_remedy true "$(jq '.files[0].rules[] | select(.state == "fail") | has("remedy") and .rule == "tls-model"' "$T/json")"
printf '\x7fELF' >"$T/"$'\xff'.so
"$GPUBPF" elfgate --json "$T/"$'\xff'.so 2>/dev/null | jq -e '.files[0].error' >/dev/null && ok elfgate_json_of_any_name ||
	not_ok elfgate_json_of_any_name "no valid JSON"

# Against readelf, on libraries of the machine: needed libraries, and the highest version of each.
agree() # FILE
{
	local want got
	want=$(readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort)
	got=$("$GPUBPF" elfgate --profile "$T/none.profile" --json "$1" | jq -r '.files[0].rules[] | select(.rule == "needed").found' |
		sed 's/, /\n/g; s/^none$//' | sort)
	[ "$want" = "$got" ] || { echo "$1: needed: $want / $got"; return; }
	want=$(readelf -VW "$1" | awk '/File:/ { f = $5 } /Name: GLIBC_[0-9.]+ / { print f, $3 }' | sort -V | awk '{ h[$1] = $2 } END { for (f in h) print f, h[f] }' | sort)
	got=$("$GPUBPF" elfgate --json "$1" | jq -r '.files[0].rules[] | select(.rule == "glibc-floor").found' |
		sed 's/, /\n/g; s/ *([^)]*)//g' | grep GLIBC | sort)
	[ "$want" = "$got" ] || echo "$1: versions: $want / $got"
}
printf 'needed = any\n' >"$T/none.profile"
bad=$(for f in "$libc" "$SIM/libcupti.so.13" /bin/ls /bin/tar /usr/bin/gcc; do agree "$f"; done 2>&1)
check elfgate_agrees_with_readelf "" "$bad"

run --profile host "$GPUBPF"
check elfgate_the_program_keeps_its_own_rules "0" "$status"
bpf=$B/bpf/gpubpf.bpf.o
case $machine in
x86_64) arch=x86_64 ;;
*) arch=aarch64 ;;
esac
printf 'machine = bpf\nbpf-arch = %s\n' "$arch" >"$T/bpf.profile"
run --profile "$T/bpf.profile" "$bpf"
check_has elfgate_bpf_object_has_its_registers "pass           bpf-arch         $arch" "$out"

# A library of 100 MB and more in half a second. Judged is the time of the processor, as tests run beside each other;
# both are printed.
big=
for f in /usr/local/cuda/lib64/lib*.so.* /usr/lib/*-linux-gnu/libLLVM-*.so* /usr/lib/*-linux-gnu/*.so.*; do
	[ ! -L "$f" ] && [ -f "$f" ] && [ "$(stat -c %s "$f")" -ge 100000000 ] && big="$big $f"
done
if [ -n "$big" ]; then
	for f in $(ls -S $big | head -n 3); do
		TIMEFORMAT='%R %U %S'
		took=$({ time "$GPUBPF" elfgate --profile shim "$f" >/dev/null; } 2>&1)
		read -r wall cpu <<<"$(awk '{ print int($1 * 1000), int(($2 + $3) * 1000) }' <<<"$took")"
		echo "# $(basename "$f"): $(($(stat -c %s "$f") / 1000000)) MB in $wall ms, $cpu ms of a processor"
		[ "$cpu" -lt 500 ] && ok "elfgate_speed_$(basename "$f")" || not_ok "elfgate_speed_$(basename "$f")" "$cpu ms"
	done
else
	echo 'skip elfgate_speed: a library of 100 MB on this machine'
fi

# --- the floor ---
stubs_match() # ARCH LIBC LOADER: every line of floor.syms is in the C library of the building machine
{
	readelf --dyn-syms -W "$2" "$3" 2>/dev/null | awk '{ sub(/@@/, "@", $8); print $8 }' | sort -u >"$T/has"
	awk -v a="$1" '!/^#/ && ($1 !~ /^ld-/ || a == "aarch64") { print $2 "@GLIBC_" (a == "aarch64" ? "2.17" : $4) }' \
		packaging/floor.syms | sort -u | comm -23 - "$T/has"
}
floor() # ARCH DIR: rules, and the names of the table
{
	run --glibc-floor 2.17 "$2/floor_sample.so"
	check "floor_sample_needs_glibc_2.17_$1" 0 "$status"
	printf 'needed = libc.so.6 libpthread.so.0 libdl.so.2 ld-linux-*\nundefined = none\nversion-markers = none\ntls-segment = absent\nexports = floor_sample:func\n' >"$T/floor.profile"
	run --profile "$T/floor.profile" "$2/floor_sample.so"
	check "floor_sample_keeps_the_rules_$1" 0 "$status"
}
loads() # NAME ARCH SAMPLE LIBDIR PROGRAM: runs the program by the loader of its own root
{
	local loader runner=()
	loader=$(ls "$4"/ld-*.so "$4"/ld-linux-*.so.* 2>/dev/null | head -n 1)
	[ "$2" = "$machine" ] || runner=("qemu-$2-static")
	if [ ${#runner[@]} -gt 0 ] && ! command -v "${runner[0]}" >/dev/null; then
		echo "skip $1: ${runner[0]}"
		return
	fi
	if [ ${#runner[@]} -gt 0 ]; then
		out=$(TMPDIR=$T "${runner[@]}" -E LD_PRELOAD="$3" "$loader" --library-path "$4" "$5" 2>&1)
	else
		out=$(TMPDIR=$T LD_PRELOAD=$3 "$loader" --library-path "$4" "$5" 2>&1)
	fi
	check "$1" "floor sample: ok" "$out"
}

for arch in "$machine" "$other"; do
	dir=$here
	[ "$arch" = "$machine" ] || dir=$there
	debian=amd64
	[ "$arch" = x86_64 ] || debian=arm64
	if [ ! -f "$dir/floor_sample.so" ]; then
		echo "skip floor_$arch: a compiler for $arch when it was made"
		continue
	fi
	floor "$arch" "$dir"
	root=$(tests/elfgate/root.sh "${FLOOR_CACHE:-$B/../floor-roots}" "$debian" 2>/dev/null)
	if [ $? = 0 ]; then
		loads "floor_sample_runs_in_${root##*-}_$arch" "$arch" "$dir/floor_sample.so" \
			"$root/lib/$arch-linux-gnu" "$root/bin/true"
	else
		echo "skip floor_sample_runs_in_an_old_root_$arch: ${root:-an old Debian}"
	fi
done
check floor_sample_runs_here "floor sample: ok" "$(TMPDIR=$T LD_PRELOAD=$here/floor_sample.so /bin/true 2>&1)"
check floor_symbols_are_those_of_glibc "" "$(stubs_match "$machine" "$libc" "$(ls /lib*/ld-linux-*.so.* | head -n 1)")"
if [ -f /usr/$other-linux-gnu/lib/libc.so.6 ]; then
	check "floor_symbols_are_those_of_glibc_$other" "" "$(stubs_match "$other" /usr/$other-linux-gnu/lib/libc.so.6 \
		"$(ls /usr/$other-linux-gnu/lib/ld-linux-*.so.* | head -n 1)")"
else
	echo "skip floor_symbols_are_those_of_glibc_$other: the C library of $other"
fi

# A newer function is an error of the linker, which names it.
printf 'int gettid(void); int f(void) { return gettid(); }\n' >"$T/new.c"
${CC:-gcc} -fPIC -c -o "$T/new.o" "$T/new.c"
out=$(${CC:-gcc} -shared -nostdlib -Wl,-z,defs -o "$T/new.so" "$T/new.o" "$B"/floor/lib*.so.* 2>&1)
check_has floor_refuses_a_newer_function "undefined reference to \`gettid'" "$out"
