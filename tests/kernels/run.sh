#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Boots each kernel of $KERNELS (empty: all of kernels.table, amd64 and arm64) under QEMU without KVM, with all that
# is tested in its initramfs, and adds up what the guests say. What the guests hold is built before
# (`make test-kernels`). Environment: B, KERNEL_CACHE, KERNEL_JOBS; RAW=1 prints the guests' lines and no tables.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=$B/kernels
cache=${KERNEL_CACHE:-$B/../kernels-cache}
jobs=${KERNEL_JOBS:-2}
mkdir -p "$out" "$cache"

# Each guest is a process group of its own, so that its emulator ends with it.
set -m
stop() {
	local pid
	for pid in $(jobs -pr); do
		kill -- "-$pid" 2>/dev/null
	done
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

if [ -z "${KERNELS:-}" ]; then
	KERNELS=$(for arch in amd64 arm64; do awk -v a=$arch '/^[^#]/ && NF { print $1 "-" a }' "$here/kernels.table"; done)
fi
read -r -a names <<<"${KERNELS//$'\n'/ }"

# Makes $out/initrd-ARCH.gz. Status 1, and what it is on stdout: this machine lacks something. 2: it went wrong.
initrd() {
	local arch=$1 machine=x86_64 build=$B cc=${CC:-gcc}
	[ "$arch" = amd64 ] || machine=aarch64
	"$here/lacks.sh" $machine || return 1
	if [ $machine != "$(uname -m)" ]; then
		build=$B/cross/$machine cc=$machine-linux-gnu-gcc
	fi
	"$here/fetch.sh" "$cache" "busybox-$arch" || return 1
	"$here/initrd.sh" "$cache/busybox-$arch/busybox" "$cc" "$out/initrd-$arch.gz" \
		$(cat "$build/kernels/guest.list") || return 2
}

panic_or_hang() {
	local log=$out/$1.log
	tr -d '\r' <"$log" | sed -n -E '/Kernel panic|Oops|BUG: |RIP: |pc : /s/^/# /p' | head -n 6
	echo "not ok boot: no orderly end, see $log"
}

# Fetches and boots one kernel; $out/NAME.{lines,log,note,seconds} say what came of it.
one() {
	local name=$1 arch=${1##*-} why start=$SECONDS lines=$out/$1.lines
	why=$("$here/fetch.sh" "$cache" "$name" 2>&1)
	case $? in
	0) ;;
	3)
		echo "skip boot: $why" >"$lines"
		return
		;;
	*)
		echo "not ok boot: $why" >"$lines"
		return
		;;
	esac
	"$here/boot.sh" "$arch" "$cache/$name/vmlinuz" "$out/initrd-$arch.gz" "$out/$name.log" >"$out/$name.note" ||
		panic_or_hang "$name" >>"$lines"
	tr -d '\r' <"$out/$name.log" | sed -n 's/^@@ //p' >>"$lines"
	grep -q '^ok ' "$lines" || echo "not ok boot: no test passed" >>"$lines"
	echo $((SECONDS - start)) >"$out/$name.seconds"
}

declare -A lines_of=()
for arch in amd64 arm64; do
	case " ${names[*]} " in
	*-"$arch "*) ;;
	*) continue ;;
	esac
	why=$(initrd $arch 2>&1)
	case $? in
	0) ;;
	1) lines_of[$arch]="skip boot: this machine lacks $why" ;;
	*) lines_of[$arch]=${why/#/# }$'\n'"not ok boot: no initramfs" ;;
	esac
done
for name in "${names[@]}"; do
	rm -f "$out/$name".{lines,log,note,seconds}
	: >"$out/$name.lines"
	if [ -n "${lines_of[${name##*-}]:-}" ]; then
		printf '%s\n' "${lines_of[${name##*-}]}" >"$out/$name.lines"
		continue
	fi
	while [ "$(jobs -pr | wc -l)" -ge "$jobs" ]; do
		wait -n
	done
	one "$name" &
done
wait

if [ -n "${RAW:-}" ]; then
	for name in "${names[@]}"; do
		sed -n -E "s/^(ok|not ok|skip) /&$name: /p; /^#/p" "$out/$name.lines"
	done
	paths=("${names[@]/#/$out/}")
	! grep -q '^not ok ' "${paths[@]/%/.lines}"
	exit
fi

printf '\n%-14s %-26s %6s %6s %7s %7s  %s\n' kernel release passed failed skipped seconds result
passed=0 failed=0 skipped=0
for name in "${names[@]}"; do
	lines=$out/$name.lines
	ok=$(grep -c '^ok ' "$lines") bad=$(grep -c '^not ok ' "$lines") skip=$(grep -c '^skip ' "$lines")
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
	result=ok
	[ "$ok" -gt 0 ] || result=skipped
	[ "$bad" = 0 ] || result=FAILED
	printf '%-14s %-26s %6d %6d %7d %7s  %s\n' "$name" "$(sed -n 's/^boot \([^ ]*\) .*/\1/p' "$lines")" "$ok" "$bad" \
		"$skip" "$(cat "$out/$name.seconds" 2>/dev/null)" "$result"
	sed 's/^/    /' "$out/$name.note" 2>/dev/null
done

printf '\nverified instructions, the most over all settings\n'
for name in "${names[@]}"; do
	sed -n "s/^verified /$name /p" "$out/$name.lines"
done | awk -v names="${names[*]}" '
	!($2 in seen) { seen[$2] = 1; order[++n] = $2 }
	{ v[$2, $1] = $3 }
	END {
		k = split(names, name, " ")
		printf "%-26s", ""
		for (j = 1; j <= k; j++)
			printf "%13s", name[j]
		for (i = 1; i <= n; i++) {
			printf "\n%-26s", order[i]
			for (j = 1; j <= k; j++)
				printf "%13s", ((order[i], name[j]) in v) ? v[order[i], name[j]] : "-"
		}
		print ""
	}'
report() {
	local title=$1 pattern=$2
	for name in "${names[@]}"; do
		sed -n -E "/^(#|$pattern)/{s/^/$name: /;p}; /^(ok|verified)/{s/.*/ /;p}" "$out/$name.lines"
	done | awk -v title="$title" -v pattern=": $pattern" '
		# Lines "# reason" belong to the verdict behind them.
		/: # / { why = why "    " $0 "\n"; next }
		$0 ~ pattern { if (!said++) print "\n" title; printf "%s  %s\n", why, $0 }
		{ why = "" }'
}
[ "$skipped" = 0 ] || report 'skipped, and what was lacking:' 'skip '
[ "$failed" = 0 ] || report 'failed:' 'not ok '
printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
