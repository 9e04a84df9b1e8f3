#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the stub libraries of packaging/floor.syms: each name under the version that glibc 2.17 had it under, and no
# code behind it. They are only linked against.
#
#   packaging/floor.sh ARCH OUTDIR COMPILER…     ARCH: x86_64 or aarch64
set -euo pipefail
table=$(dirname "$0")/floor.syms
arch=$1 out=$2
shift 2
mkdir -p "$out"
for lib in $(awk '!/^#/ && NF == 4 { print $1 }' "$table" | sort -u); do
	case $lib in
	ld-linux-*) [ "$lib" = "ld-linux-${arch//_/-}.so.1" ] || continue ;;
	esac
	# One label per name; the version script gives it its version and hides nothing else, as there is nothing else.
	awk -v lib="$lib" '!/^#/ && $1 == lib {
		printf "%s\n.globl %s\n.type %s, %%%s\n%s:\n.quad 0\n.size %s, 8\n", $3 == "object" ? ".data" : ".text",
			$2, $2, $3 == "object" ? "object" : "function", $2, $2
	} END { print ".section .note.GNU-stack, \"\", %progbits" }' "$table" >"$out/$lib.s"
	awk -v lib="$lib" -v arch="$arch" '!/^#/ && $1 == lib { v = arch == "aarch64" ? "2.17" : $4; names[v] = names[v] " " $2 ";" }
		END { for (v in names) printf "GLIBC_%s { global:%s };\n", v, names[v] }' "$table" | sort >"$out/$lib.map"
	"$@" -shared -nostdlib -Wl,-soname,"$lib" -Wl,--version-script="$out/$lib.map" -o "$out/$lib.tmp" "$out/$lib.s"
	mv "$out/$lib.tmp" "$out/$lib"
	rm "$out/$lib.s" "$out/$lib.map"
done
