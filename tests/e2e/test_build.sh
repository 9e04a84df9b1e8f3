#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 1200
# The Makefile's own promises: help, installation, the tarball (whole, small, reproducible, self-contained).
. tests/e2e/lib.sh
jobs=-j$(nproc)
export SOURCE_DATE_EPOCH=1700000000

run_make()
{
	make --no-print-directory $jobs ${CC:+CC="$CC"} B="$B" "$@" >"$T/make.out" 2>&1 </dev/null || {
		sed 's/^/# /' "$T/make.out" | tail -n 20
		return 1
	}
}

make_help_lists_every_target()
{
	local bad=() target
	make --no-print-directory help >"$T/help" 2>&1 || bad+=('make help failed')
	for target in all demo test test-gated test-clang dist install format check help compile_commands.json clean asan doc; do
		grep -q "^  make $target  *[^ ]" "$T/help" || bad+=("$target is not listed")
	done
	# Each listed one exists. The tools of `make check` need not.
	while read -r target; do
		make -n --no-print-directory CLANG_FORMAT=clang-format CLANG_TIDY=clang-tidy "$target" >/dev/null 2>"$T/err" || bad+=("$target: $(tail -n 1 "$T/err")")
	done < <(sed -n 's/^  make \([^ ]*\).*/\1/p' "$T/help")
	result "$1" "${bad[@]}"
}

nothing_is_built_twice()
{
	local bad=()
	run_make all || bad+=('make failed')
	run_make all || bad+=('make failed')
	grep -qE '^  (CC|LD|AR|BPF|GEN) ' "$T/make.out" && bad+=("built again: $(head -n 3 "$T/make.out")")
	result "$1" "${bad[@]}"
}

install_respects_destdir_and_prefix()
{
	local bad=() file v
	run_make install DESTDIR="$T/dest" PREFIX=/opt/x || bad+=('make install failed')
	for file in bin/gpubpf lib/gpubpf/libgpubpf-shim.so share/man/man1/gpubpf.1 share/bash-completion/completions/gpubpf \
		share/zsh/site-functions/_gpubpf share/fish/vendor_completions.d/gpubpf.fish \
		share/gpubpf/export.schema.json share/gpubpf/export.sql; do
		[ -s "$T/dest/opt/x/$file" ] || bad+=("$file is not there")
	done
	for v in $("$GPUBPF" --man | grep -vx gpubpf); do
		[ -s "$T/dest/opt/x/share/man/man1/gpubpf-$v.1" ] || bad+=("the man page of $v is not there")
	done
	"$T/dest/opt/x/bin/gpubpf" --version >/dev/null || bad+=('the installed program does not run')
	[ "$(find "$T/dest" -type f ! -path '*/opt/x/*' | wc -l)" = 0 ] || bad+=('files outside the prefix')
	result "$1" "${bad[@]}"
}

# A copy of the sources at another path, built in another folder, gives the same bytes.
tarball_is_reproducible()
{
	local bad=() first second
	run_make dist || bad+=('make dist failed')
	first=$(echo "$B"/dist/gpubpf-*.tar.gz)
	mkdir -p "$T/elsewhere/deeper"
	tar --exclude=./build --exclude=./.git -cf - . | tar -xf - -C "$T/elsewhere/deeper"
	(cd "$T/elsewhere/deeper" && umask 077 && make --no-print-directory $jobs ${CC:+CC="$CC"} B=out dist) >"$T/make.out" 2>&1 || {
		sed 's/^/# /' "$T/make.out" | tail -n 20
		bad+=('make dist of a copy failed')
	}
	second=$(echo "$T"/elsewhere/deeper/out/dist/gpubpf-*.tar.gz)
	cmp "$first" "$second" >"$T/cmp" 2>&1 || bad+=("$(cat "$T/cmp")")
	result "$1" "${bad[@]}"
}

tarball_is_whole_and_small()
{
	local bad=() top size
	mkdir -p "$T/unpacked"
	tar -xzf "$B"/dist/gpubpf-*.tar.gz -C "$T/unpacked" || bad+=('it does not unpack')
	top=$(echo "$T"/unpacked/gpubpf-*)
	for file in bin/gpubpf lib/gpubpf/libgpubpf-shim.so install.sh SHA256SUMS LICENSE LICENSE.BSD share/man/man1/gpubpf.1; do
		[ -s "$top/$file" ] || bad+=("$file is not in it")
	done
	(cd "$top" && sha256sum -c --quiet SHA256SUMS) >"$T/out" 2>&1 || bad+=("$(cat "$T/out")")
	[ "$(find "$top" -type f ! -name SHA256SUMS | wc -l)" = "$(wc -l <"$top/SHA256SUMS")" ] || bad+=('SHA256SUMS misses files')
	size=$(stat -c %s "$top/bin/gpubpf")
	[ "$size" -le 6291456 ] || bad+=("the program has $size bytes, more than 6 MB")
	strings -a "$top/bin/gpubpf" 2>/dev/null | grep -nF -e "$PWD" -e "$B" | head -n 3 >"$T/out"
	[ ! -s "$T/out" ] || bad+=("a path of this machine is in it: $(head -n 1 "$T/out")")
	result "$1" "${bad[@]}"
}

program_runs_in_an_empty_root()
{
	local bad=() top enter=(chroot)
	top=$(echo "$T"/unpacked/gpubpf-*)
	if [ "$(id -u)" != 0 ]; then
		enter=(unshare -r chroot)
		unshare -r true 2>/dev/null || {
			echo "skip $1: root, or user namespaces"
			return
		}
	fi
	mkdir -p "$T/empty"
	cp "$top/bin/gpubpf" "$T/empty/"
	readelf -lW "$top/bin/gpubpf" | grep -q INTERP && bad+=('it wants a loader')
	env -i PATH="$PATH" "${enter[@]}" "$T/empty" /gpubpf --version >"$T/out" 2>&1 || bad+=("$(cat "$T/out")")
	env -i PATH="$PATH" "${enter[@]}" "$T/empty" /gpubpf doctor >"$T/out" 2>"$T/err"
	[ $? = 1 ] || bad+=('doctor without /proc: status is not 1')
	[ ! -s "$T/err" ] || bad+=("doctor without /proc: $(cat "$T/err")")
	result "$1" "${bad[@]}"
}

install_sh_installs_and_refuses_damage()
{
	local bad=() top
	top=$(echo "$T"/unpacked/gpubpf-*)
	"$top/install.sh" --prefix "$T/prefix" >"$T/out" 2>&1 || bad+=("it failed: $(cat "$T/out")")
	"$T/prefix/bin/gpubpf" --version >/dev/null || bad+=('the installed program does not run')
	[ -s "$T/prefix/share/man/man1/gpubpf-record.1" ] || bad+=('no man page')
	[ -z "$(find "$T/prefix" -name '*.new.*')" ] || bad+=('temporary files are left')
	# Replacing a program that runs must work: by name, not into the file.
	"$top/install.sh" --prefix="$T/prefix" >/dev/null 2>&1 || bad+=('a second time fails')
	cp -r "$top" "$T/damaged"
	echo x >>"$T/damaged/share/man/man1/gpubpf.1"
	"$T/damaged/install.sh" --prefix "$T/prefix2" >"$T/out" 2>&1 && bad+=('damage is not seen')
	[ ! -e "$T/prefix2" ] || bad+=('damaged files were installed')
	"$top/install.sh" --nonsense >/dev/null 2>&1
	[ $? = 2 ] || bad+=('a wrong option: not 2')
	result "$1" "${bad[@]}"
}

# The same recipe for the other architecture; what its program says of the same files is what this one says.
tarball_of_the_other_architecture()
{
	local bad=() other=aarch64 lacks top program
	[ "$(uname -m)" = x86_64 ] || other=x86_64
	lacks=$(tests/kernels/lacks.sh $other) || {
		echo "skip $1: $lacks"
		return
	}
	command -v qemu-$other-static >/dev/null || {
		echo "skip $1: qemu-$other-static"
		return
	}
	env -u CC make --no-print-directory $jobs ARCH=$other B="$B/cross/$other" CROSS_COMPILE=$other-linux-gnu- \
		DOC_PROGRAM="$GPUBPF" dist >"$T/make.out" 2>&1 </dev/null || {
		sed 's/^/# /' "$T/make.out" | tail -n 20
		bad+=("make ARCH=$other dist failed")
	}
	mkdir -p "$T/other"
	tar -xzf "$B/cross/$other"/dist/gpubpf-*-linux-$other.tar.gz -C "$T/other" || bad+=('it does not unpack')
	top=$(echo "$T"/other/gpubpf-*-linux-$other)
	program=$top/bin/gpubpf
	(cd "$top" && sha256sum -c --quiet SHA256SUMS) >"$T/out" 2>&1 || bad+=("$(cat "$T/out")")
	! grep -qa 'built without libevent' "$program" || bad+=('libevent is not in it')
	"$GPUBPF" elfgate --profile host --json "$program" >"$T/gate" || bad+=("$(jq -c '.files[].rules[] | select(.state == "fail")' "$T/gate")")
	case $(jq -r '.files[0].is' "$T/gate") in
	"$other static program") ;;
	*) bad+=("it is a $(jq -r '.files[0].is' "$T/gate")") ;;
	esac
	"$B/tests/tools/mkcapture" --calls 500 "$T/capture" >/dev/null
	for arg in --version 'report /capture' 'report --json /capture' 'inspect --json --records /capture' \
		'usdt --json /program' 'elfgate --json /program'; do
		arg=${arg/\/capture/$T/capture}
		arg=${arg/\/program/$B/kernels/kernel_view}
		# shellcheck disable=SC2086
		"$GPUBPF" $arg >"$T/native" 2>&1
		# shellcheck disable=SC2086
		qemu-$other-static "$program" $arg >"$T/emulated" 2>&1
		cmp -s "$T/native" "$T/emulated" || bad+=("gpubpf $arg: $(diff "$T/native" "$T/emulated" | head -n 3)")
	done
	result "$1" "${bad[@]}"
}

compile_commands_are_json()
{
	local bad=()
	command -v jq >/dev/null || {
		echo "skip $1: jq"
		return
	}
	mkdir -p "$T/cc"
	tar --exclude=./build --exclude=./.git -cf - . | tar -xf - -C "$T/cc"
	make --no-print-directory -C "$T/cc" B="$B" compile_commands.json >"$T/out" 2>&1 || bad+=("$(tail -n 3 "$T/out")")
	jq -e 'map(.file) | (index("user/main.c") != null) and (index("bpf/gpubpf.bpf.c") != null)' \
		"$T/cc/compile_commands.json" >/dev/null 2>"$T/err" || bad+=("files are missing $(cat "$T/err")")
	result "$1" "${bad[@]}"
}

# R57: every suite is listed, and a required one that lacks something fails.
R57_gated_suites_are_listed()
{
	local bad=() suite
	make --no-print-directory test-gated >"$T/out" 2>&1 || bad+=('make test-gated failed')
	for suite in test-clang fuzz bench test-kernels test-gpu test-ui check; do
		grep -qE "^$suite +(can run here|cannot run here: it lacks .)" "$T/out" || bad+=("$suite is not listed")
	done
	make --no-print-directory test-gated REQUIRE=no-such-suite >/dev/null 2>&1 && bad+=('an unknown required suite passes')
	suite=$(sed -n 's/^\([a-z-]*\) *cannot run here.*/\1/p' "$T/out" | head -n 1)
	if [ -n "$suite" ]; then
		make --no-print-directory test-gated REQUIRE="$suite" >/dev/null 2>&1 && bad+=("$suite is required, lacks something and passes")
	fi
	result "$1" "${bad[@]}"
}

dependencies_are_listed_and_checked_fast()
{
	local bad=() mode start=$SECONDS
	for mode in build test check fuzz cross kernels ui; do
		packaging/deps.sh --list $mode | grep -qx libbpf-dev || bad+=("mode $mode lists no libbpf-dev")
	done
	packaging/deps.sh nonsense >/dev/null 2>&1 && bad+=('an unknown mode passes')
	packaging/deps.sh build </dev/null >"$T/out" 2>&1 || bad+=("$(cat "$T/out")")
	[ ! -s "$T/out" ] || bad+=("all is there, and it does something: $(cat "$T/out")")
	[ $((SECONDS - start)) -le 5 ] || bad+=('it takes long')
	result "$1" "${bad[@]}"
}

for t in make_help_lists_every_target nothing_is_built_twice install_respects_destdir_and_prefix tarball_is_reproducible \
	tarball_is_whole_and_small tarball_of_the_other_architecture program_runs_in_an_empty_root install_sh_installs_and_refuses_damage \
	compile_commands_are_json R57_gated_suites_are_listed dependencies_are_listed_and_checked_fast; do
	$t $t
done
