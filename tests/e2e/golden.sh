# SPDX-License-Identifier: GPL-2.0-or-later
# Reports held against golden files. Sourced; needs lib.sh, $golden (the folder) and "${report[@]}" (the command).

# same NAME GOLDEN ARG…: the report with these arguments is the golden file, byte for byte.
same()
{
	local name=$1 want=$2
	shift 2
	"${report[@]}" "$@" >"$T/got" 2>"$T/err" || printf 'status %s\n' $? >>"$T/got"
	if [ "${GOLDEN_UPDATE:-}" ]; then
		cp "$T/got" "$golden/$want"
	fi
	if diff -u "$golden/$want" "$T/got" >"$T/diff"; then
		ok "$name"
	else
		not_ok "$name" "$(head -n 40 "$T/diff")"
	fi
}
