# SPDX-License-Identifier: GPL-2.0-or-later
# The page of `timeline --html` in a real browser. `make test` runs the short form where there is one.
test-ui: $(B)/gpubpf $(TOOLS) ## open the page of `timeline --html` in headless Chromium: a million slices, screenshots in $(B)/ui
	@packaging/deps.sh ui
	@B='$(abspath $(B))' GPUBPF='$(abspath $(B))/gpubpf' TEST_TIMEOUT=300 tests/run.sh tests/ui/test_ui.sh; \
		status=$$?; cat '$(B)/ui/figures.txt'; exit $$status
.PHONY: test-ui
