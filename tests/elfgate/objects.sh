#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the objects of objects.table for one architecture.
#
#   objects.sh ARCH OUTDIR ELFPATCH     in the environment: CC CLANG FLOOR_CFLAGS FLOOR_LDFLAGS FLOOR_LIBS
set -euo pipefail
arch=$1 out=$2 patch=$3
loader=ld-linux-x86-64.so.2
[ "$arch" = x86_64 ] || loader=ld-linux-aarch64.so.1
here=$(dirname "$0")
read -ra cc <<<"$CC"
read -ra cflags <<<"-O2 -I. $FLOOR_CFLAGS"
read -ra ldflags <<<"$FLOOR_LDFLAGS"
read -ra libs <<<"$FLOOR_LIBS"
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shim NAME 'COMPILER FLAGS' 'LINKER FLAGS' LIBRARY…: a variant of the library that keeps every rule.
shim()
{
	local name=$1 c l
	read -ra c <<<"$2"
	read -ra l <<<"$3"
	[ -n "${nosoname:-}" ] || l=(-Wl,-soname,libgpubpf-shim.so "${l[@]}")
	"${cc[@]}" "${cflags[@]}" "${c[@]}" -c -o "$work/$name.o" "$here/shim_like.c"
	"${cc[@]}" "${ldflags[@]}" "${l[@]}" -o "$work/$name.so" "$work/$name.o" "${@:4}" "${libs[@]}"
	mv "$work/$name.so" "$out/$name.so"
}

# stub FILE SONAME SYMBOL VERSION
stub()
{
	printf '.text\n.globl %s\n.type %s, %%function\n%s: .quad 0\n.section .note.GNU-stack, "", %%progbits\n' "$3" "$3" "$3" >"$work/$1.s"
	printf '%s { global: %s; };\n' "$4" "$3" >"$work/$1.map"
	"${cc[@]}" -shared -nostdlib -Wl,-soname,"$2" -Wl,--version-script="$work/$1.map" -o "$work/$1" "$work/$1.s"
}

# versioned NAME VERSION: calls a function that a library of glibc has under this version. It is the loader, which the
# others do not use: ld takes only one library of a name.
versioned()
{
	stub "$1.stub" "$loader" wanted_function "$2"
	shim "$1" -DCALLS=wanted_function '' "$work/$1.stub"
}

# patched NAME ARG…: the good library, changed by elfpatch.
patched()
{
	cp "$out/good.so" "$work/$1.so"
	"$patch" "$work/$1.so" "${@:2}"
	mv "$work/$1.so" "$out/$1.so"
}

shim good '' ''
patched machine machine 243 # RISC-V
patched osabi ident 7 9     # FreeBSD
patched file-type dyn-or 0x6ffffffb 0x08000000 # DF_1_PIE
patched relr dyn-add 36 0
patched static-tls dyn-or 30 0x10
patched exec-stack-unmarked phdr-type 0x6474e551 0
patched rwx-segment phdr-or 1 1 2

printf '.text\nnop\n' >"$work/class.s"
if [ "$arch" = aarch64 ]; then
	"${cc[@]}" -Wa,-mabi=ilp32 -c -o "$out/class.so" "$work/class.s"
	shim page-align '' -Wl,-z,max-page-size=4096
else
	"${cc[@]}" -Wa,--32 -c -o "$out/class.so" "$work/class.s"
	shim isa-level '' -Wl,-z,x86-64-v3
	versioned marker-gnu2-tls GLIBC_ABI_GNU2_TLS
fi
printf '\0%.0s' {1..64} >"$work/byte-order.so"
"$patch" "$work/byte-order.so" header 183
mv "$work/byte-order.so" "$out/byte-order.so"

nosoname=1 shim soname '' -Wl,-soname,libother.so
nosoname=1 shim soname-none '' ''
stub libother.so libother.so.1 other OTHER_1
shim needed '' "-Wl,--no-as-needed $work/libother.so -Wl,--as-needed"
versioned glibc-floor GLIBC_2.34
versioned marker-future GLIBC_ABI_NOT_YET_THOUGHT_OF
versioned marker-private GLIBC_PRIVATE
versioned marker-relr GLIBC_ABI_DT_RELR
versioned glibcxx GLIBCXX_3.4.30
versioned cxxabi CXXABI_1.3.13
versioned gcc GCC_3.0
shim tls-segment -DTLS_VARIABLE ''
shim tls-model -DTLS_DYNAMIC ''
shim tls-descriptor -DTLS_DESCRIPTOR ''
shim tls-initial-exec -DTLS_INITIAL_EXEC ''
"$patch" "$out/tls-initial-exec.so" dyn-not 30 0x10 # the linker says so in DF_STATIC_TLS too, which is another rule
shim rpath '' '-Wl,--disable-new-dtags,-rpath,/opt/lib'
shim runpath '' '-Wl,--enable-new-dtags,-rpath,/opt/lib'
shim textrel -DADDRESS_IN_CODE '-Wl,-z,notext -Wl,--no-warnings'
shim exec-stack '' -Wl,-z,execstack
shim relro '' -Wl,-z,norelro
shim bind-now '' -Wl,-z,lazy
shim exports-more -DMORE_EXPORTS ''
shim exports-fewer -DFEWER_EXPORTS ''
shim exports-type -DEXPORT_OF_ANOTHER_TYPE ''
shim undefined -DCALLS=nowhere_to_be_found -Wl,-z,undefs
shim build-id '' -Wl,--build-id=none
shim stapsdt-none -DNO_PROBES ''
shim stapsdt-register -DWRONG_REGISTER ''
shim stapsdt-missing -DMISSING_PROBE ''

bpf()
{
	"$CLANG" -target bpf -O2 "${@:2}" -c -o "$out/$1.so" "$here/bpf_like.c"
}
bpf bpf-good -g
bpf bpf-arch -g -DARM64
cp "$out/bpf-good.so" "$work/btf.o"
"$LLVM_OBJCOPY" --remove-section .BTF --remove-section .rel.BTF "$work/btf.o" "$out/btf.so"
"$LLVM_OBJCOPY" --remove-section .BTF.ext --remove-section .rel.BTF.ext "$work/btf.o" "$out/btf-ext.so"
