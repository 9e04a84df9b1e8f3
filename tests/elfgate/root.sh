#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The C library and one program of the oldest Debian that the mirror still serves, in CACHE/ARCH-SUITE; prints the path.
#
#   root.sh CACHE ARCH     ARCH: amd64 or arm64. Exit status 3, with the reason on stdout: it cannot be had.
#
# Fetched and verified by apt with a state of its own, so that nothing of this machine changes. DEBIAN_MIRROR names
# another mirror. Nothing is asked of it when the cache has a root.
set -eu -o pipefail
cache=$1 arch=$2

unavailable()
{
	echo "$*"
	exit 3
}

mirror()
{
	local uri
	uri=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 2>/dev/null |
		sed -n 's,^\(.*/debian\)/*$,\1,p' | head -n 1) || true
	echo "${uri:-http://deb.debian.org/debian}"
}

fetch() # SUITE
{
	local root=$cache/$arch-$1 state=$cache/$arch-$1.apt opts
	mkdir -p "$state/lists/partial" "$state/archives/partial"
	echo "deb [arch=$arch] ${DEBIAN_MIRROR:-$(mirror)} $1 main" >"$state/sources.list"
	opts=(-qq -o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State=$state"
		-o "Dir::State::lists=$state/lists" -o Dir::State::status=/dev/null -o "Dir::Cache=$state"
		-o "APT::Architecture=$arch" -o "APT::Architectures::=$arch" -o Acquire::Languages=none
		-o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::Check-Valid-Until=false -o APT::Sandbox::User=root)
	apt-get "${opts[@]}" update >"$state/log" 2>&1 || return 1
	compgen -G "$state/lists/*_Packages*" >/dev/null || return 1
	(cd "$state" && apt-get "${opts[@]}" download libc6 coreutils) >>"$state/log" 2>&1 || return 1
	rm -rf "$root.tmp"
	for deb in "$state"/*.deb; do
		dpkg-deb -x "$deb" "$root.tmp"
	done
	rm -rf "$state"
	mv "$root.tmp" "$root"
}

mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
exec 9>"$cache/$arch.lock"
flock 9
for suite in buster bullseye bookworm; do
	if [ -d "$cache/$arch-$suite" ]; then
		echo "$cache/$arch-$suite"
		exit 0
	fi
done
command -v apt-get >/dev/null || unavailable "no apt-get to fetch an old Debian with"
for suite in buster bullseye bookworm; do
	if fetch "$suite"; then
		echo "$cache/$arch-$suite"
		exit 0
	fi
done
unavailable "neither buster nor bullseye nor bookworm of $arch on the mirror"
