#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# All of what ui.py looks at, with a large capture and screenshots. Here a missing browser is a failure.
set -u
python3 tests/ui/ui.py "$GPUBPF" "$B/tests/tools" "$T" "$B/ui" | sed 's/^skip ui: /not ok ui: /' | tee "$T/out"
mkdir -p "$B/ui" && sed -n 's/^# //p' "$T/out" >"$B/ui/figures.txt"
