#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# initrd.sh BUSYBOX CC OUT FILE…: an initramfs with the guest's scripts, the named programs in /t and the
# libraries that the dynamic ones of them need. FILE may be SOURCE=NAME. CC knows where its libraries are.
set -Eeu -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
busybox=$1 cc=$2 out=$3
shift 3
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
trap 'echo "initrd.sh: line $LINENO failed" >&2' ERR

# The shared libraries that FILE asks for and that did not come with the tests.
needs() {
	local file=$1 lib path interp
	interp=$(LC_ALL=C readelf -lW "$file" 2>/dev/null | sed -n 's/.*program interpreter: \(.*\)\]$/\1/p')
	if [ -n "$interp" ] && [ ! -e "$root$interp" ]; then
		install -D "$("$cc" -print-file-name="$(basename "$interp")")" "$root$interp"
	fi
	for lib in $(LC_ALL=C readelf -dW "$file" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p'); do
		[ ! -e "$root/t/$lib" ] && [ ! -e "$root/lib/$lib" ] || continue
		path=$("$cc" -print-file-name="$lib")
		if [ "$path" = "$lib" ]; then
			echo "initrd.sh: $file needs $lib, which $cc does not find" >&2
			exit 1
		fi
		install -D "$path" "$root/lib/$lib"
		needs "$path"
	done
}

mkdir -p "$root/bin" "$root/t"
install -m 755 "$busybox" "$root/bin/busybox"
ln -s busybox "$root/bin/sh"
install -m 755 "$here/guest/init" "$root/init"
cp -r "$here/guest" "$root/t/guest"
rm "$root/t/guest/init"
for file in "$@"; do
	install -m 755 "${file%%=*}" "$root/t/$(basename "${file##*=}")"
done
for file in "$@"; do
	needs "${file%%=*}"
done
mkdir -p "$(dirname "$out")"
(cd "$root" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet | gzip -1) >"$out.tmp"
mv "$out.tmp" "$out"
