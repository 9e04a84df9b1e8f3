# SPDX-License-Identifier: GPL-2.0-or-later
# Benchmarks print ratios against a baseline of the same run; they pass or fail nothing.
BENCH_CALLS ?= 200000
BENCH_ROUNDS ?= 5
BENCH_REPORT_CALLS ?= 10000000
BENCH_TOOLS := $(B)/tests/bench/callcost $(B)/tests/bench/usdtcost $(B)/tests/bench/pingpong

# The libraries inside, so that it also runs where only libc is.
$(BENCH_TOOLS): $(B)/tests/bench/%: $(B)/tests/bench/%.o $(B)/libgpubpf.a
	$(call step,LD)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -Wl,-Bstatic -lbpf -lelf -lz -lzstd -Wl,-Bdynamic -ldl -lpthread

bench: $(B)/gpubpf $(BENCH_TOOLS) tools sim ## measure: cost per call beside the kernel's floor, rate without loss, report of a large capture
	@B=$(B) GPUBPF=$(B)/gpubpf SIM=$(SIM) tests/bench/bench.sh $(BENCH_CALLS) $(BENCH_ROUNDS) $(BENCH_REPORT_CALLS)
.PHONY: bench
