#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fetch.sh CACHE 6.1-arm64     puts CACHE/6.1-arm64/{vmlinuz,package} there, out of a Debian package
# fetch.sh CACHE busybox-arm64 puts CACHE/busybox-arm64/{busybox,package} there
#
# Nothing is asked of the mirror when the cache has it. Exit status 3, with the reason on stdout: it cannot be had;
# 4: no such thing.
# The packages are fetched and verified by apt with a state of its own, so that neither the suites nor the
# architectures of this machine change. DEBIAN_MIRROR names another mirror.
set -eu -o pipefail
shopt -s nullglob
here=$(cd "$(dirname "$0")" && pwd)
cache=$1 name=$2
arch=${name##*-} version=${name%-*}

unavailable() {
	echo "$*"
	exit 3
}

mirror() {
	local uri
	uri=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 2>/dev/null |
		sed -n 's,^\(.*/debian\)/*$,\1,p' | head -n 1) || true
	echo "${uri:-http://deb.debian.org/debian}"
}

# apt's options for a private state that knows one suite and one architecture.
reason=
private_apt() {
	local suite=$1 root=$cache/apt/$1-$arch uri=${DEBIAN_MIRROR:-$(mirror)}
	mkdir -p "$root/lists/partial" "$root/archives/partial"
	echo "deb [arch=$arch] $uri $suite main" >"$root/sources.list"
	# Kernels in -security are newer than the ones of the last point release.
	case $suite in
	*-backports | sid) ;;
	*) echo "deb [arch=$arch] $uri-security $suite-security main" >>"$root/sources.list" ;;
	esac
	apt_opts=(-qq -o "Dir::Etc::sourcelist=$root/sources.list" -o Dir::Etc::sourceparts=-
		-o "Dir::State=$root" -o "Dir::State::lists=$root/lists" -o Dir::State::status=/dev/null
		-o "Dir::Cache=$root" -o "APT::Architecture=$arch" -o "APT::Architectures::=$arch"
		-o Acquire::Languages=none -o Acquire::Retries=3 -o Acquire::Check-Valid-Until=false -o APT::Sandbox::User=root)
	exec 8>"$root/lock"
	flock 8
	# One update per suite, architecture and day is enough for a whole matrix.
	if ! find "$root/updated" -mmin -720 2>/dev/null | grep -q .; then
		apt-get "${apt_opts[@]}" update >"$root/log" 2>&1 || return 1
		# What cannot be reached is a warning to apt, and half of the sources is better than none.
		compgen -G "$root/lists/*_Packages*" >/dev/null || return 1
		touch "$root/updated"
	fi
}

# tar leaves after the first match, near the front of some 400 MB; dpkg-deb then dies of SIGPIPE.
extract() {
	set +o pipefail
	dpkg-deb --fsys-tarfile "$1" 2>/dev/null | tar -x -C "$2" --wildcards --occurrence=1 "$3" 2>/dev/null
	set -o pipefail
}

# take SUITE REGEX WANTED NAME: the newest package that the mirror serves and that holds the file WANTED.
take() {
	local suite=$1 regex=$2 wanted=$3 as=$4 package work=$cache/$name.tmp
	if ! private_apt "$suite"; then
		reason="apt-get update of $suite for $arch failed"
		return 1
	fi
	while read -r package; do
		rm -rf "$work"
		mkdir -p "$work/x"
		(cd "$work" && apt-get "${apt_opts[@]}" download "$package") >"$work/log" 2>&1 || continue
		extract "$work"/*.deb "$work/x" "$wanted" || continue
		set -- $(find "$work/x" -type f)
		[ $# = 1 ] || continue
		mv "$1" "$work/$as"
		echo "$package" >"$work/package"
		rm -rf "$work/x" "$work/log" "$work"/*.deb
		rm -rf "${cache:?}/$name"
		mv "$work" "$cache/$name"
		return 0
	done < <(apt-cache "${apt_opts[@]}" search --names-only "^$regex\$" | cut -d' ' -f1 | sort -rV)
	rm -rf "$work"
	return 1
}

unknown() {
	echo "no kernel \"$name\": NAME-amd64 or NAME-arm64, the names are in tests/kernels/kernels.table"
	exit 4
}

case $name in
*-amd64 | *-arm64) ;;
*) unknown ;;
esac
read -r _ suites regex < <(awk -v v="$version" '$1 == v' "$here/kernels.table") || [ "$version" = busybox ] || unknown
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
exec 9>"$cache/$name.lock"
flock 9
[ ! -s "$cache/$name/package" ] || exit 0
command -v apt-get >/dev/null || unavailable "no apt-get to fetch Debian's kernels with"

if [ "$version" = busybox ]; then
	take bookworm busybox-static '*/bin/busybox' busybox || unavailable "${reason:-busybox-static of bookworm is not on the mirror}"
	chmod 755 "$cache/$name/busybox"
	exit 0
fi
for suite in ${suites//,/ }; do
	if take "$suite" "${regex//%ARCH%/$arch}" '*/vmlinuz-*' vmlinuz; then
		exit 0
	fi
done
unavailable "${reason:-no ${regex//%ARCH%/$arch} of $suites on the mirror}"
