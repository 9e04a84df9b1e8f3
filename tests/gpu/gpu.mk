# SPDX-License-Identifier: GPL-2.0-or-later
test-gpu: $(B)/gpubpf $(B)/tests/bench/callcost ## run the tests that need a real GPU
	@status=0; for t in test_gpu test_both test_again test_gate test_latency; do \
		GPUBPF=$${GPUBPF:-$(B)/gpubpf} CALLCOST=$(B)/tests/bench/callcost bash tests/gpu/$$t.sh || status=1; \
	done; exit $$status
.PHONY: test-gpu
