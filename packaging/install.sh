#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs the unpacked release it stands in: ./install.sh [--prefix DIR] (default /usr/local).
set -eu
prefix=/usr/local

usage()
{
	echo "usage: ./install.sh [--prefix DIR]"
}

while [ $# -gt 0 ]; do
	case $1 in
	--prefix)
		[ $# -gt 1 ] || { usage >&2; exit 2; }
		prefix=$2
		shift 2
		;;
	--prefix=*)
		prefix=${1#--prefix=}
		shift
		;;
	-h | --help)
		usage
		exit 0
		;;
	*)
		usage >&2
		exit 2
		;;
	esac
done
[ -n "$prefix" ] || { usage >&2; exit 2; }

here=$(cd "$(dirname "$0")" && pwd)
# A relative prefix is meant from where the user stands.
case $prefix in
/*) ;;
*) prefix=$(pwd)/$prefix ;;
esac
cd "$here"
sha256sum -c --quiet --strict SHA256SUMS || {
	echo "install.sh: this release is damaged (SHA256SUMS does not match); nothing was installed" >&2
	exit 1
}

# Each file appears whole: written beside its place, then renamed.
while read -r sum file; do
	case $file in
	bin/* | lib/*) mode=755 ;;
	share/*) mode=644 ;;
	*) continue ;;
	esac
	mkdir -p "$prefix/$(dirname "$file")"
	new="$prefix/$file.new.$$"
	if ! { cp "$file" "$new" && chmod $mode "$new" && mv -f "$new" "$prefix/$file"; }; then
		rm -f "$new"
		echo "install.sh: $prefix/$file could not be written" >&2
		exit 1
	fi
done <SHA256SUMS
echo "installed: $prefix/bin/gpubpf ($("$prefix/bin/gpubpf" --version))"
