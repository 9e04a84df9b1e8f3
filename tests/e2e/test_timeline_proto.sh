#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 60
# Field numbers and types of `gpubpf timeline` against Perfetto's own description. golden/perfetto-fields.txt has those of
# github.com/google/perfetto at ec5d16b14b (2026-08), as far as they are used; PERFETTO_PROTOS names a checkout (the folder with
# protos/perfetto in it) to hold them against a newer one.
. tests/e2e/lib.sh

own=user/timeline/perfetto.proto
facts=tests/e2e/golden/perfetto-fields.txt

proto_fields_are_perfettos()
{
	local bad=()
	python3 tests/e2e/proto_fields.py $own >"$T/own" || bad+=('cannot be read')
	diff "$T/own" $facts >"$T/diff" || bad+=("$(head -n 5 "$T/diff")")
	[ "$(wc -l <"$T/own")" -gt 60 ] || bad+=('few fields')
	result proto_fields_are_perfettos_R39 "${bad[@]}"
}
proto_fields_are_perfettos

proto_decodes_with_perfettos_own()
{
	local bad=() name
	[ -r "${PERFETTO_PROTOS:-}/protos/perfetto/trace/trace.proto" ] || {
		echo 'skip proto_decodes_with_perfettos_own: PERFETTO_PROTOS names no folder with protos/perfetto/trace/trace.proto'
		return
	}
	command -v protoc >/dev/null || { echo 'skip proto_decodes_with_perfettos_own: protoc'; return; }
	find "$PERFETTO_PROTOS/protos" -name '*.proto' -exec python3 tests/e2e/proto_fields.py {} + >"$T/official"
	[ -z "$(comm -23 "$T/own" "$T/official")" ] || bad+=("$(comm -23 "$T/own" "$T/official")")
	make_scene scene <tests/e2e/golden/device.scene
	sim_record nvtx --cupti nvtx -- "$SIM/annotated" --launches 5 --nvtx 5 && mv "$T/nvtx.gpubpf" "$T/nvtx" || cp "$T/scene" "$T/nvtx"
	for name in scene nvtx; do
		"$GPUBPF" timeline -q --max-output-bytes 10M "$T/$name" -o "$T/$name.pftrace" || bad+=("$name: status $?")
		protoc --decode=perfetto.protos.Trace -I"$PERFETTO_PROTOS" "$PERFETTO_PROTOS/protos/perfetto/trace/trace.proto" \
			<"$T/$name.pftrace" >"$T/$name.theirs" || bad+=("$name: cannot be decoded")
		protoc --decode=perfetto.protos.Trace -I"$(dirname $own)" $own <"$T/$name.pftrace" >"$T/$name.own" || bad+=("$name: own")
		cmp -s "$T/$name.theirs" "$T/$name.own" || bad+=("$name: $(diff "$T/$name.theirs" "$T/$name.own" | head -n 5)")
		grep -nE '^ *[0-9]+[:{ ]' "$T/$name.theirs" | head -n 3 | grep . && bad+=("$name: fields that Perfetto does not have")
	done
	result proto_decodes_with_perfettos_own_R39 "${bad[@]}"
}
proto_decodes_with_perfettos_own
