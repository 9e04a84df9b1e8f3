#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 120
# The page of `timeline --html` in headless Chromium, without large captures (`make test-ui` has those).
. tests/e2e/lib.sh

python3 tests/ui/ui.py "$GPUBPF" "$B/tests/tools" "$T"
