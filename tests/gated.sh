#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Lists the opt-in suites, whether each can run here and what it lacks (R57). The suites named as arguments are
# required: exit status 1 when one of them lacks something.
set -u

has()
{
	PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null
}

need_command()
{
	local c
	for c in "$@"; do
		has "$c" || lacks+=("the command $c")
	done
}

need_root()
{
	[ "$(id -u)" = 0 ] || lacks+=('root (BPF programs are attached)')
}

need_gpu()
{
	[ -e /dev/nvidiactl ] || lacks+=('an NVIDIA GPU (/dev/nvidiactl)')
	PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1' || lacks+=('the driver library libcuda.so.1')
	has nvcc || [ -e /usr/local/cuda/include/cuda.h ] || lacks+=('the CUDA toolkit (nvcc or /usr/local/cuda)')
}

clang_runtime()
{
	[ -n "${CLANG:-}" ] || {
		lacks+=('clang')
		return
	}
	local work=
	work=$(mktemp -d)
	echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return d && n > 9; }' >"$work/f.c"
	"$CLANG" -fsanitize=fuzzer,address "$work/f.c" -o "$work/f" 2>/dev/null || lacks+=('libclang-rt-dev (packaging/deps.sh fuzz)')
	rm -rf "$work"
}

lacks_of()
{
	lacks=()
	case $1 in
	test-clang) [ -n "${CLANG:-}" ] || lacks+=('clang') ;;
	fuzz) clang_runtime ;;
	bench)
		need_root
		need_command jq pkill /usr/bin/time
		;;
	test-long)
		need_root
		need_command jq pgrep sqlite3 python3 /usr/bin/time
		;;
	test-kernels) need_command qemu-system-x86_64 qemu-system-aarch64 cpio ;;
	test-gpu)
		need_root
		need_gpu
		;;
	test-ui)
		need_command python3
		has chromium || has chromium-browser || has google-chrome || lacks+=('Chromium (packaging/deps.sh ui)')
		;;
	check) need_command clang-tidy clang-format cppcheck ;;
	esac
	[ ${#lacks[@]} -gt 0 ] || make -n --no-print-directory "$1" >/dev/null 2>&1 || lacks+=("a target \`make $1\`")
}

bad=0
for suite in test-clang fuzz bench test-kernels test-long test-gpu test-ui check; do
	lacks_of "$suite"
	required=
	case " $* " in
	*" $suite "*) required=' (required)' ;;
	esac
	if [ ${#lacks[@]} -eq 0 ]; then
		printf '%-14s can run here%s\n' "$suite" "$required"
	else
		printf '%-14s cannot run here%s: it lacks %s' "$suite" "$required" "${lacks[0]}"
		[ ${#lacks[@]} -eq 1 ] || printf ', %s' "${lacks[@]:1}"
		printf '\n'
		[ -z "$required" ] || bad=1
	fi
done
for suite in "$@"; do
	case $suite in
	test-clang | fuzz | bench | test-kernels | test-long | test-gpu | test-ui | check) ;;
	*)
		printf '%-14s is no suite of this list\n' "$suite"
		bad=1
		;;
	esac
done
exit $bad
