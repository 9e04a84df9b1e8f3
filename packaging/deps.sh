#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs the packages that are missing, on Debian 12, Debian 13 and Ubuntu 24.04. Does nothing, quickly and with
# no network, when all are there.
#
#   packaging/deps.sh [build]   what `make` needs
#   packaging/deps.sh test      … and what `make test` needs
#   packaging/deps.sh check     … and what `make check` needs
#   packaging/deps.sh fuzz      … and the clang runtime of the fuzzers
#   packaging/deps.sh cross     … and what `make ARCH=aarch64` needs
#   packaging/deps.sh kernels   … and what `make test-kernels` and `make test-arm64` need
#   packaging/deps.sh ui        … and a browser for `make test-ui`
#   packaging/deps.sh --list MODE   prints the packages of a mode and installs nothing
set -euo pipefail

fail()
{
	printf 'deps.sh: %s\n' "$*" >&2
	exit 1
}

list=
if [ "${1:-}" = --list ]; then
	list=1
	shift
fi
mode=${1:-build}

os=unknown
if [ -r /etc/os-release ]; then
	os=$(. /etc/os-release && printf '%s' "${ID:-unknown}")
fi

libraries=(libc6-dev libbpf-dev libelf-dev zlib1g-dev libzstd-dev libprotobuf-c-dev libjansson-dev libiberty-dev
	uthash-dev libdw-dev liblzma-dev libbz2-dev libncurses-dev libsqlite3-dev libevent-dev libinih-dev)
# Package and the command that makes it unnecessary (a toolchain from elsewhere counts).
tools=(gcc:gcc make:make clang:clang llvm:llvm-strip protobuf-c-compiler:protoc-c)
case $os in
ubuntu) tools+=(linux-tools-generic:bpftool) ;;
*) tools+=(bpftool:bpftool) ;;
esac

packages=("${libraries[@]}")
# Of those the package for another architecture takes the place of ours: its static libraries are unpacked beside it,
# where the cross linker looks. The headers are the same.
apart=() apart_in=/usr/local/lib/aarch64-linux-gnu
cross= guests=
case $mode in
build) ;;
test)
	tools+=(sqlite3:sqlite3 groff-base:groff file:file procps:pkill jq:jq protobuf-compiler:protoc python3:python3 time:/usr/bin/time g++:g++ bpftrace:bpftrace)
	# Where there are no aarch64 libraries, the probe sites of aarch64 still run: they need libc alone.
	if [ "$(uname -m)" = x86_64 ]; then
		tools+=(gcc-aarch64-linux-gnu:aarch64-linux-gnu-gcc qemu-user-static:qemu-aarch64-static)
		packages+=(libc6-dev-arm64-cross)
	fi
	packages+=(python3-jsonschema)
	guests=1
	;;
check) tools+=(clang-tidy:clang-tidy clang-format:clang-format cppcheck:cppcheck) ;;
ui)
	# Ubuntu's package of that name only asks for a snap.
	if [ "$os" = ubuntu ]; then
		[ -n "$list" ] || compgen -c | grep -qxE 'chromium|chromium-browser|google-chrome' ||
			fail "Ubuntu has Chromium as a snap alone: \`snap install chromium\`, or install google-chrome"
	else
		tools+=(chromium:chromium)
	fi
	tools+=(python3:python3)
	;;
fuzz) packages+=(libclang-rt-dev) ;;
cross) cross=1 ;;
kernels) guests=1 ;;
*) fail "unknown mode '$mode' (build, test, check, fuzz, cross, kernels, ui)" ;;
esac

if [ -n "$guests" ]; then
	tools+=(qemu-system-x86:qemu-system-x86_64 qemu-system-arm:qemu-system-aarch64 cpio:cpio binutils:readelf xz-utils:xz)
	# The guests' kernels are Debian's, whatever this machine runs. Ubuntu has the other architecture on another
	# mirror, which is not ours to configure: its guests are skipped there.
	if [ "$os" != debian ]; then
		packages+=(debian-archive-keyring)
	elif [ "$(uname -m)" = x86_64 ]; then
		cross=1
	fi
fi
if [ -n "$cross" ]; then
	tools+=(gcc-aarch64-linux-gnu:aarch64-linux-gnu-gcc qemu-user-static:qemu-aarch64-static)
	for p in "${libraries[@]}"; do
		case $p in
		uthash-dev) ;;
		libevent-dev) apart+=("$p:arm64") ;;
		libc6-dev) packages+=(libc6-dev-arm64-cross) ;;
		*) packages+=("$p:arm64") ;;
		esac
	done
fi

# An unversioned name, a versioned one (clang-14), or, for bpftool, the program behind Ubuntu's wrapper script.
have_command()
{
	if [ "$1" = bpftool ] && [ "$os" = ubuntu ]; then
		compgen -G '/usr/lib/linux-tools*/*/bpftool' >/dev/null || compgen -G '/usr/lib/linux-tools-*/bpftool' >/dev/null
		return
	fi
	PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null && return
	case $1 in
	clang* | llvm-*) compgen -G "/usr/bin/$1-[0-9]*" >/dev/null ;;
	*) return 1 ;;
	esac
}

if [ -n "$list" ]; then
	printf '%s\n' "${packages[@]}" "${tools[@]%%:*}"
	exit 0
fi

missing=()
for t in "${tools[@]}"; do
	have_command "${t#*:}" || missing+=("${t%%:*}")
done

if ! command -v dpkg-query >/dev/null; then
	[ ${#missing[@]} -eq 0 ] || printf 'deps.sh: not found: %s\n' "${missing[*]}" >&2
	fail "this system has no dpkg: install what matches ${packages[*]} yourself, then use \`make\`, \`make test-run\`, \`make demo-run\`"
fi

# "install ok installed", or nothing for a package that dpkg never heard of.
installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}:${Architecture}\n' 2>/dev/null | sed -n 's/^installed //p')
native=$(dpkg --print-architecture)
for p in "${packages[@]}"; do
	case $p in
	*:*) want=$p ;;
	*) want="$p:$native" ;;
	esac
	grep -qxF -e "$want" -e "$p:all" <<<"$installed" || missing+=("$p")
done
there=("$apart_in"/libevent_*.a)
[ -e "${there[0]}" ] && apart=()
[ $((${#missing[@]} + ${#apart[@]})) -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || fail "missing: ${missing[*]}; neither root nor sudo here: install them as root and try again"
	as_root=(sudo)
fi
command -v apt-get >/dev/null || fail "missing: ${missing[*]}; there is no apt-get to install them with"

printf 'installing: %s\n' "${missing[*]} ${apart[*]}"
log=$(mktemp)
unpacked=$(mktemp -d)
trap 'rm -rf "$log" "$unpacked"' EXIT
quiet()
{
	"$@" >"$log" 2>&1 </dev/null || {
		tail -n 20 "$log" >&2
		fail "failed: $*"
	}
}
if [ -n "$cross" ] && ! dpkg --print-foreign-architectures | grep -qx arm64; then
	quiet "${as_root[@]}" dpkg --add-architecture arm64
fi
quiet "${as_root[@]}" apt-get -o Acquire::Retries=3 update
[ ${#missing[@]} -eq 0 ] || quiet "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 install -y \
	--no-install-recommends "${missing[@]}"
for p in "${apart[@]}"; do
	(cd "$unpacked" && quiet apt-get -o Acquire::Retries=3 -o APT::Sandbox::User=root download "$p" && quiet dpkg-deb -x ./*.deb .) || exit 1
	quiet "${as_root[@]}" mkdir -p "$apart_in"
	quiet "${as_root[@]}" cp "$unpacked"/usr/lib/aarch64-linux-gnu/*.a "$apart_in"
	rm -rf "${unpacked:?}"/*
done
