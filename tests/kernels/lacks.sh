#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lacks.sh x86_64|aarch64: exit status 1 and, on stdout, what this machine lacks to build for and boot that one.
arch=$1
cc=$arch-linux-gnu-gcc
[ "$arch" != "$(uname -m)" ] || cc=${CC:-gcc}
for tool in "$cc" "qemu-system-$arch" cpio readelf; do
	if ! command -v "$tool" >/dev/null; then
		echo "$tool"
		exit 1
	fi
done
for lib in libbpf.a libelf.a libz.a libzstd.a libprotobuf-c.a libjansson.a libinih.a libiberty.a; do
	if [ "$("$cc" -print-file-name=$lib)" = $lib ]; then
		echo "$lib for $arch"
		exit 1
	fi
done
