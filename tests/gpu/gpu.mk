# SPDX-License-Identifier: GPL-2.0-or-later
test-gpu: $(B)/gpubpf $(B)/tests/bench/callcost ## run the tests that need a real GPU
	@GPUBPF=$${GPUBPF:-$(B)/gpubpf} CALLCOST=$(B)/tests/bench/callcost bash tests/gpu/test_gpu.sh
.PHONY: test-gpu
