#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
# The probe macro as compilers make it: each object conforms to the contract, and a breakpoint on each site finds
# pointer, count, sequence and the record's bytes. x86-64 and aarch64, natively or under user-mode emulation; mutated
# macros must be found out.
. tests/e2e/lib.sh

ARCHES=$(uname -m)
[ "$ARCHES" != x86_64 ] || ARCHES="x86_64 aarch64"

gcc_of()
{
	if [ "$1" = "$(uname -m)" ]; then echo gcc; else echo "$1-linux-gnu-gcc"; fi
}

clang_of()
{
	local clang=${CLANG:-} c
	for c in clang clang-{21,20,19,18,17,16,15,14}; do
		[ -n "$clang" ] || ! command -v $c >/dev/null || clang=$c
	done
	echo "$clang -Wno-unused-command-line-argument --target=$1-linux-gnu"
}

runner_of()
{
	[ "$1" = "$(uname -m)" ] || echo "qemu-$1-static"
}

# make_program OUT INCLUDE COMPILER OPTION…: $driver is the source of the driver, $lang the language of the sites.
driver=tests/usdt/argtest.c lang=c
make_program()
{
	local out=$1 include=$2 cc=$3
	shift 3
	# A cross-built program must not look for a loader that is not there.
	case $cc in
	"$(gcc_of "$(uname -m)")" | *"--target=$(uname -m)-"*) ;;
	*) set -- "$@" -static ;;
	esac
	# shellcheck disable=SC2086
	$cc -Wall -Wextra -Werror -D_GNU_SOURCE -I"$include" -I. "$@" -x $lang -c -o "$out.sites.o" tests/usdt/sites.c &&
		$cc -Wall -Wextra -Werror -D_GNU_SOURCE -Itests/usdt "$@" -o "$out" -x c "$driver" -x none "$out.sites.o"
}

sites_of()
{
	"$GPUBPF" usdt "$1" | awk '$1 == "gpubpf" { print $2 "@" $3 }'
}

# run_program ARCH PROGRAM: its lines in $T/lines.
run_program()
{
	# shellcheck disable=SC2046
	$(runner_of "$1") "$2" $(sites_of "$2") >"$T/lines" 2>&1
}

good() # NAME ARCH COMPILER OPTION…
{
	local name=$1 arch=$2 cc=$3
	shift 3
	if ! make_program "$T/p" . "$cc" "$@" >"$T/log" 2>&1; then
		not_ok "$name" "it does not compile: $(head -n 5 "$T/log")"
		return
	fi
	if ! "$GPUBPF" usdt --check "$T/p" >"$T/log" 2>&1; then
		not_ok "$name" "$(cat "$T/log")"
	elif ! run_program "$arch" "$T/p" || [ "$(grep -c '^ok ' "$T/lines")" != 7 ]; then
		not_ok "$name" "$(cat "$T/lines")"
	else
		ok "$name"
	fi
}

# The macro with one thing wrong: `sed` makes a copy of it that differs.
mutate() # DIR FILE SED-EXPRESSION
{
	rm -rf "$1"
	mkdir -p "$1/usdt"
	cp usdt/probe*.h "$1/usdt/"
	sed -i "$3" "$1/usdt/$2"
	! cmp -s "usdt/$2" "$1/usdt/$2"
}

bad_run() # NAME ARCH WANTED OPTION…: the macro in $T/mutant fails the argument test with this complaint
{
	local name=$1 arch=$2 wanted=$3
	shift 3
	if ! make_program "$T/p" "$T/mutant" "$(gcc_of "$arch")" "$@" >"$T/log" 2>&1; then
		not_ok "$name" "it does not compile: $(head -n 5 "$T/log")"
	elif run_program "$arch" "$T/p"; then
		not_ok "$name" "nothing was found: $(cat "$T/lines")"
	else
		check_has "$name" "$wanted" "$(cat "$T/lines")"
	fi
}

bad_check() # NAME ARCH WANTED: the macro in $T/mutant fails the contract check with this difference
{
	if ! make_program "$T/p" "$T/mutant" "$(gcc_of "$2")" -O2 >"$T/log" 2>&1; then
		not_ok "$1" "it does not compile: $(head -n 5 "$T/log")"
	elif "$GPUBPF" usdt --check "$T/p" >"$T/log" 2>&1; then
		not_ok "$1" "it conforms"
	else
		check_has "$1" "$3" "$(cat "$T/log")"
	fi
}

mutants() # ARCH
{
	local arch=$1 header=probe_$1.h r2=rsi r3=rdx
	[ "$arch" = x86_64 ] || r2=x1 r3=x2
	mutate "$T/mutant" "$header" "/_REG2/s/$r2/$r3/; /_REG3/s/$r3/$r2/" || not_ok "mutant" "sed changed nothing"
	# Nothing but running it can find this one: the note says what it should.
	bad_run "$arch: two registers swapped are found out" "$arch" 'count 0x5e' -O2
	bad_run "$arch: two registers swapped are found out at -O0" "$arch" 'count 0x5e' -O0
	mutate "$T/mutant" probe.h 's/: "memory")/: )/' || not_ok "mutant" "sed changed nothing"
	bad_run "$arch: a macro that does not clobber memory is found out" "$arch" 'of the record is' -O2
	mutate "$T/mutant" "$header" "/_ARGS/s/$r3/$r2/" || not_ok "mutant" "sed changed nothing"
	bad_check "$arch: another descriptor is named" "$arch" 'descriptor: calls_v1 at 0x'
	mutate "$T/mutant" "$header" '/_INSN/s/nop/.4byte 0xd503233f/' || not_ok "mutant" "sed changed nothing"
	bad_check "$arch: another instruction is named" "$arch" 'instruction: calls_v1 at 0x'
	mutate "$T/mutant" probe.h 's/gpubpf_" #name "_semaphore/0/' || not_ok "mutant" "sed changed nothing"
	bad_check "$arch: a site without a semaphore is named" "$arch" 'it has no semaphore'
}

# What the driver does when things go wrong.
driver_tests() # ARCH
{
	local arch=$1 cc page
	cc=$(gcc_of "$arch")
	make_program "$T/p" . "$cc" -O1 >"$T/log" 2>&1
	page=$(getconf PAGESIZE)
	# The first page is nobody's.
	$(runner_of "$arch") "$T/p" --protect $((page - 4)) >"$T/lines" 2>&1
	check "$arch: a failing mprotect: status" 1 $?
	check_has "$arch: a failing mprotect says errno, address and page size" \
		"mprotect of 0 to $(printf '%#x' "$page") (protection 7): errno 12, Cannot allocate memory; page size $page" "$(cat "$T/lines")"
	sed 's/u->uc_mcontext.pc += .*/(void)u;/; s/SECONDS = 20/SECONDS = 2/' tests/usdt/argtest.c >"$T/hangs.c"
	if [ "$arch" = aarch64 ]; then
		driver=$T/hangs.c
		make_program "$T/p" . "$cc" -O1 >"$T/log" 2>&1
		driver=tests/usdt/argtest.c
		run_program "$arch" "$T/p"
		check "$arch: a probe that does not come back: status" 1 $?
		check_has "$arch: a probe that does not come back is a failure" 'not ok ended in time' "$(cat "$T/lines")"
	fi
}

can_lto() # COMPILER…: some linkers lack the plugin
{
	echo 'int main(void) { return 0; }' >"$T/lto.c"
	"$@" -flto -O2 -o "$T/lto" "$T/lto.c" >/dev/null 2>&1
}

for arch in $ARCHES; do
	for kind in gcc clang; do
		cc=$(${kind}_of "$arch")
		for o in -O0 -O1 -O2 -O3; do
			good "$arch $kind $o" "$arch" "$cc" $o
		done
		good "$arch $kind -Os, sections that are collected" "$arch" "$cc" -Os -ffunction-sections -fdata-sections \
			-Wl,--gc-sections
		[ "$arch" != "$(uname -m)" ] || good "$arch $kind -fno-pie" "$arch" "$cc" -O2 -fno-pie -no-pie
		good "$arch $kind -fPIC" "$arch" "$cc" -O2 -fPIC
		# shellcheck disable=SC2086
		if can_lto $cc; then
			good "$arch $kind -flto" "$arch" "$cc" -O2 -flto
		else
			echo "skip $arch $kind -flto: a linker with the compiler's plugin"
		fi
		# clang is a C++ compiler for every architecture; a cross g++ is one more package.
		if [ "$kind" = clang ] || [ "$arch" = "$(uname -m)" ]; then
			lang=c++
			good "$arch $kind C++" "$arch" "$cc" -O2
			lang=c
		fi
	done
	mutants "$arch"
	driver_tests "$arch"
done

# An architecture that nobody wrote a header for does not compile.
echo '#include "usdt/probe.h"' >"$T/unknown.c"
out=$(gcc -m32 -I. -c -o "$T/unknown.o" "$T/unknown.c" 2>&1)
case $(uname -m) in
x86_64) check_has "an unknown architecture is a compile error" '#error "gpubpf has probes for x86-64' "$out" ;;
*)
	out=$($(clang_of riscv64) -I. -c -o "$T/unknown.o" "$T/unknown.c" 2>&1)
	check_has "an unknown architecture is a compile error" '#error' "${out/error: /#error }"
	;;
esac
