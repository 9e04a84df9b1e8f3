#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
# gpubpf usdt: its listing against readelf's (and bpftrace's) on every library of the machine that has probes; its
# errors; the check of our own; and what the kernel makes of our sites.
. tests/e2e/lib.sh

# Library folders hold thousands of files: the name of the note's owner in a file is a fast filter.
candidates()
{
	{
		find -L /usr/lib /lib /usr/lib64 /usr/local/lib -xdev -type f -name '*.so*' 2>/dev/null
		for f in /usr/bin/python3 /usr/bin/perl /usr/bin/node /usr/bin/php /usr/sbin/mysqld /usr/bin/postgres /usr/bin/gcc; do
			[ ! -f $f ] || echo $f
		done
	} | xargs -d '\n' readlink -f | sort -u | tr '\n' '\0' | xargs -0 grep -lFa .note.stapsdt 2>/dev/null
}

# Both lists as "provider name location base semaphore arguments", numbers without leading zeros, in the notes' order.
by_readelf()
{
	LC_ALL=C readelf -nW "$1" 2>/dev/null | awk '
		function out() { if (have) print provider, name, place, args; have = 0 }
		/    Provider: / { out(); provider = $0; sub(/.*    Provider: /, "", provider) }
		/^    Name: / { name = substr($0, 11); have = 1 }
		/^    Location: / { gsub(",", ""); gsub(/0x0+/, "0x"); place = $2 " " $4 " " $6 }
		/^    Arguments: / { args = substr($0, 16); out() }
		END { out() }' | sed 's/ *$//'
}

by_gpubpf()
{
	"$GPUBPF" usdt --json "$1" | jq -r '.objects[].sites[] | [.provider, .probe, .note.location, .note.base, .note.semaphore,
		.descriptor] | join(" ")' | sed 's/ 0x0 / 0x /g; s/ 0x0 / 0x /g; s/ *$//'
}

libraries=$(candidates)
compared=0 sites=0 bad=
for lib in $libraries; do
	by_readelf "$lib" >"$T/readelf"
	[ -s "$T/readelf" ] || continue
	by_gpubpf "$lib" >"$T/gpubpf"
	compared=$((compared + 1)) sites=$((sites + $(wc -l <"$T/readelf")))
	cmp -s "$T/readelf" "$T/gpubpf" || bad="$bad$lib: $(diff "$T/readelf" "$T/gpubpf" | head -n 4)
"
done
echo "# $compared libraries with $sites sites"
if [ $compared = 0 ]; then
	echo "skip the listing is readelf's on every library with probes: a library with probes"
elif [ -n "$bad" ]; then
	not_ok "the listing is readelf's on every library with probes" "$bad"
else
	ok "the listing is readelf's on every library with probes"
fi

# No operand of a compiler's is unknown, on the architectures that have a parser.
unknown=
for lib in $libraries; do
	"$GPUBPF" usdt --json "$lib" 2>/dev/null |
		jq -r '.objects[] | select(.architecture == "x86-64" or .architecture == "aarch64" or .architecture == "i386") |
			.sites[].arguments[] | select(.kind == "unknown") | .text' >"$T/unknown"
	[ ! -s "$T/unknown" ] || unknown="$unknown $lib: $(head -n 3 "$T/unknown")"
done
check "every operand of every library is understood" "" "$unknown"

if command -v bpftrace >/dev/null && [ -n "$libraries" ]; then
	bad=
	for lib in $libraries; do
		# It takes a path for a pattern: libstdc++ needs another name.
		ln -sfn "$lib" "$T/plain"
		bpftrace -l "usdt:$T/plain:*" 2>/dev/null | sed "s,^usdt:$T/plain:,," | sort -u >"$T/bpftrace"
		"$GPUBPF" usdt --json "$lib" 2>/dev/null | jq -r '.objects[].sites[] | .provider + ":" + .probe' | sort -u >"$T/gpubpf"
		cmp -s "$T/bpftrace" "$T/gpubpf" || bad="$bad $lib: $(diff "$T/bpftrace" "$T/gpubpf" | head -n 4)"
	done
	check "the names are bpftrace's" "" "$bad"
else
	echo "skip the names are bpftrace's: bpftrace"
fi

# A process: all that it has mapped, a deleted object too.
gcc -shared -fPIC -O2 -I. -o "$T/libsites.so" tests/usdt/sites.c
cat >"$T/host.c" <<-'END'
	#include <dlfcn.h>
	#include <unistd.h>
	int main(int argc, char **argv) { return argc > 1 && dlopen(argv[1], RTLD_NOW) && write(1, "x", 1) ? pause() : 1; }
END
gcc -o "$T/host" "$T/host.c" -ldl
"$T/host" "$T/libsites.so" >"$T/ready" &
host=$!
wait_for 10 test -s "$T/ready"
out=$("$GPUBPF" usdt -p $host)
check_has "a process: what it has loaded is listed" "$T/libsites.so: " "$out"
check "a process: its sites" 8 "$(grep -c ' 8@%rdi 8@%rsi 8@%rdx$\| 8@x0 8@x1 8@x2$' <<<"$out")"
out=$("$GPUBPF" usdt -p $host --check)
check "a process: the check passes" 0 $?
check_has "a process: the check says so" "$T/libsites.so: conforms, 8 sites of 6 probes" "$out"
mv "$T/libsites.so" "$T/elsewhere.so" && cp "$T/elsewhere.so" "$T/libsites.so" && rm "$T/elsewhere.so"
check "a process: a deleted object is listed by its mapping" true \
	"$("$GPUBPF" usdt --json -p $host | jq '.objects[] | select(.file | test("elsewhere")) | .deleted')"
kill $host
wait $host 2>/dev/null

# JSON: absent is absent, and what is there is there.
"$GPUBPF" usdt --json "$T/libsites.so" >"$T/json"
check "JSON: arguments are taken apart" '["register","register","register"]' \
	"$(jq -c '[.objects[0].sites[0].arguments[].kind]' "$T/json")"
check "JSON: no contract without --check" null "$(jq '.objects[0].contract' "$T/json")"
check "JSON: with --check there is" true "$("$GPUBPF" usdt --json --check "$T/libsites.so" | jq '.objects[0].contract.conforms')"
cat >"$T/bare.c" <<-'END'
	int main(void)
	{
		__asm__("1: nop; .pushsection .note.stapsdt, \"?\", %note; .balign 4; .4byte 8, 4f - 3f, 3; .asciz \"stapsdt\"\n"
			"3: .8byte 1b, 0, 0; .asciz \"p\"; .asciz \"n\"; .asciz \"\"; 4: .balign 4; .popsection");
		return 0;
	}
END
gcc -o "$T/bare" "$T/bare.c"
check "JSON: no semaphore: absent" '[false,false,0]' "$("$GPUBPF" usdt --json "$T/bare" |
	jq -c '.objects[0].sites[0] | [has("semaphore"), has("semaphore_offset"), (.arguments | length)]')"
check_has "text: no semaphore: a dash" ' -' "$("$GPUBPF" usdt "$T/bare" | tail -n 1)"

# Errors: a reason on stderr, and the status that the man page says.
fails() # NAME STATUS PART ARG…
{
	local name=$1 status=$2 part=$3 got
	shift 3
	"$GPUBPF" usdt "$@" >"$T/out" 2>"$T/err"
	got=$?
	check "$name: status" "$status" $got
	check_has "$name: says why" "$part" "$(cat "$T/err")"
	check "$name: nothing on stdout" "" "$(cat "$T/out")"
}
echo text >"$T/text"
head -c 100 "$T/libsites.so" >"$T/cut"
fails "no ELF" 1 'is no ELF file' "$T/text"
fails "a folder" 1 'no regular file' "$T"
fails "no such file" 1 'No such file' "$T/nothing"
fails "no probes" 1 'has no USDT probes' "$B/kernels/progload"
fails "no such process" 1 'there is no process 4194304' -p 4194304
fails "a process without probes" 1 'has USDT probes' -p "$(sleep 60 >/dev/null 2>&1 & echo $!)"
fails "no file" 2 'give a FILE or -p PID'
fails "two files" 2 'one FILE at a time' a b
fails "file and process" 2 'not both' -p 1 a
fails "no pid" 2 "'x' is" -p x
fails "a debug file that is none" 1 'No such file' --debug-file "$T/nothing" "$B/kernels/progload"
"$GPUBPF" usdt "$T/cut" >/dev/null 2>"$T/err"
check "a file that is cut: status" 1 $?

# A contract that is broken: each difference by name (the unit tests have every kind).
out=$("$GPUBPF" usdt --check "$T/bare")
check "another object's probes do not conform: status" 1 $?
check "another object's probes do not conform: each missing probe" 6 "$(grep -c ': missing: no site of gpubpf:' <<<"$out")"
objcopy --remove-section .note.stapsdt "$T/libsites.so" "$T/without.so"
"$GPUBPF" usdt --check --debug-file "$T/libsites.so" "$T/without.so" >"$T/out"
check "notes of a separate debug file: they conform" 0 $?
strip -o "$T/stripped.so" "$T/libsites.so" && "$GPUBPF" usdt --check "$T/stripped.so" >"$T/out"
check "a stripped object conforms" 0 $?

# Hostile objects: what the fuzzer starts from and found, and the same mutations every time.
"$B/asan/tests/fuzz/replay_usdt" usdt 20000 tests/fuzz/usdt/* "$B/tests/usdt/sites.o" >"$T/out" 2>&1
check "no mutated object ends the reader" 0 $?
sed '/^ok /!s/^/# /' "$T/out"

if [ "$(id -u)" = 0 ]; then
	timeout 300 "$B/kernels/kernel_view"
else
	echo "skip usdt: the kernel's view: root"
fi
true
