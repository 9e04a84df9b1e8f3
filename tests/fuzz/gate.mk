# SPDX-License-Identifier: GPL-2.0-or-later
# The parser of a shim's status file: `make fuzz-gate` by libFuzzer; `make test` replays what is stored in tests/fuzz/gate,
# and mutations of it.
FUZZ_GATE := $(B)/asan/tests/fuzz/replay_gate

fuzz-gate: $(FUZZ_DIR)/fuzz_gate ## fuzz the parser of status files for FUZZ_SECONDS (10)
	@mkdir -p $(FUZZ_DIR)/corpus-gate
	$(FUZZ_DIR)/fuzz_gate -max_total_time=$(FUZZ_SECONDS) -max_len=8192 -timeout=10 -rss_limit_mb=1536 \
		-artifact_prefix=$(FUZZ_DIR)/ -print_final_stats=1 -verbosity=0 $(FUZZ_DIR)/corpus-gate tests/fuzz/gate
fuzz: fuzz-gate

$(FUZZ_DIR)/fuzz_gate: tests/fuzz/fuzz_gate.c user/gate/parse.c user/gate/words.c user/util/err.c $(B)/.flags
	$(call need-tool,CLANG)@mkdir -p $(@D)
	$(call step,FUZZ)$(CLANG) $(filter-out -Wno-%,$(BASE_CFLAGS)) $(FUZZ_SAN) -fsanitize=fuzzer,address,undefined -o $@ \
		$(filter %.c,$^) -ljansson

TEST_NEEDS += $(FUZZ_GATE)
.PHONY: fuzz-gate
