#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
# What `record --cupti` asks for, from the simulated CUPTI to the tables.
. tests/e2e/lib.sh
export LD_LIBRARY_PATH=$SIM
unset CUDA_INJECTION64_PATH GPUBPF_CUPTI NVTX_INJECTION64_PATH

record() # NAME ARG…
{
	local name=$1
	shift
	"$GPUBPF" record -f -o "$T/$name" "$@" >"$T/$name.out" 2>"$T/$name.err" ||
		not_ok "record_$name" "$(cat "$T/$name.err")"
}

device() # NAME JQ
{
	"$GPUBPF" inspect --json "$T/$1" | jq -r ".device | $2"
}

table() # NAME SECTION JQ
{
	"$GPUBPF" report --json -s "$2" "$T/$1" | jq -r ".sections.$2 | $3"
}

if ! command -v jq >/dev/null; then
	echo "skip cupti_kinds: jq"
	exit 0
fi

# ---- external ----
record external --cupti external -- "$SIM/annotated" --launches 100 --external 40
check external_facilities "0 0" "$(device external '.sessions[0].facilities | "\(.external) \(.driver_calls)"')"
check external_records "60 40 20 0" "$(device external '.external | "\(.of_seen_calls) \(.by_kind.custom0) \(.by_kind.custom1) \(.of_unknown_kind)"')"
check external_rows "custom0 40 40 40 custom1 20 1 20" \
	"$(table external external '[.rows[] | "\(.kind) \(.records) \(.ids) \(.calls)"] | join(" ")')"
check external_changes_no_verdict "reconciled 0 0" \
	"$("$GPUBPF" inspect --json "$T/external" | jq -r '"\(.verdict) \(.device.losses.unknown_kind) \(.device.ledger.total.unexplained)"')"
if "$GPUBPF" report "$T/external" | grep -q '^External correlation'; then ok external_in_text; else not_ok external_in_text "$("$GPUBPF" report "$T/external" | tail -20)"; fi

# Not asked for, asked for and none, refused: three things (R5, R14).
record plain -- "$SIM/annotated" --launches 100 --external 40
check R5_external_not_asked_for "false not asked for" "$(device plain 'has("external")') $(table plain external '.unmeasured_because[:13]')"
case $("$GPUBPF" report -s external "$T/plain") in
*"not measured (not asked for: record --cupti external does)"*) ok R5_external_not_asked_for_text ;;
*) not_ok R5_external_not_asked_for_text "$("$GPUBPF" report -s external "$T/plain")" ;;
esac
record none --cupti external -- "$SIM/annotated" --launches 10
check R14_external_none "0 []" "$(device none .external.records) $(table none external '.rows | tostring')"
SIMCUPTI_FAIL=cuptiActivityEnable:39:27 record refused --cupti external -- "$SIM/annotated" --launches 10
check R5_external_refused "27 reconciled" "$(device refused '.sessions[0].facilities.external') $(
	"$GPUBPF" inspect --json "$T/refused" | jq -r .verdict)"
case $("$GPUBPF" report -s external "$T/refused") in
*"not measured (CUPTI refused records of external correlation)"*) ok R5_external_refused_text ;;
*) not_ok R5_external_refused_text "$("$GPUBPF" report -s external "$T/refused")" ;;
esac
