# SPDX-License-Identifier: GPL-2.0-or-later
# The reader of probe notes: `make fuzz-usdt` by libFuzzer; `make test` replays what is stored in tests/fuzz/usdt, and
# mutations of it, with the sanitizers of the ordinary compiler.
FUZZ_USDT := $(B)/asan/tests/fuzz/replay_usdt

fuzz-usdt: $(FUZZ_DIR)/fuzz_usdt $(B)/tests/usdt/sites.o ## fuzz the reader of probe notes for FUZZ_SECONDS (10)
	@mkdir -p $(FUZZ_DIR)/corpus-usdt
	@cp $(B)/tests/usdt/sites.o $(FUZZ_DIR)/corpus-usdt/
	$(FUZZ_DIR)/fuzz_usdt -max_total_time=$(FUZZ_SECONDS) -max_len=16384 -timeout=10 -rss_limit_mb=1536 \
		-artifact_prefix=$(FUZZ_DIR)/ -print_final_stats=1 -verbosity=0 $(FUZZ_DIR)/corpus-usdt tests/fuzz/usdt
fuzz: fuzz-usdt

$(FUZZ_DIR)/fuzz_usdt: tests/fuzz/fuzz_usdt.c $(wildcard usdt/*.[ch]) $(B)/.flags
	$(call need-tool,CLANG)@mkdir -p $(@D)
	$(call step,FUZZ)$(CLANG) $(filter-out -Wno-%,$(BASE_CFLAGS)) $(FUZZ_SAN) -fsanitize=fuzzer,address,undefined -o $@ \
		$(filter %.c,$^) -lelf

$(B)/asan/tests/fuzz/replay_%: $(B)/asan/tests/fuzz/replay.o $(B)/asan/tests/fuzz/fuzz_%.o $(B)/asan/libgpubpf.a
	$(call step,LD)$(CC) $(ASAN_CFLAGS) -o $@ $^ $(LDLIBS)

TEST_NEEDS += $(FUZZ_USDT)
.PHONY: fuzz-usdt
# The seeds hold a real object too.
$(B)/asan/tests/fuzz/replay_usdt: $(B)/tests/usdt/sites.o
-include $(wildcard $(B)/asan/tests/fuzz/*.d)
