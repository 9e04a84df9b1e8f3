# SPDX-License-Identifier: GPL-2.0-or-later
# The reader of semantic sidecars: `make fuzz-sidecar` by libFuzzer; `make test` replays what is stored in tests/fuzz/sidecar,
# and mutations of it.
FUZZ_SIDECAR := $(B)/asan/tests/fuzz/replay_sidecar

fuzz-sidecar: $(FUZZ_DIR)/fuzz_sidecar ## fuzz the reader of semantic sidecars for FUZZ_SECONDS (10)
	@mkdir -p $(FUZZ_DIR)/corpus-sidecar
	$(FUZZ_DIR)/fuzz_sidecar -max_total_time=$(FUZZ_SECONDS) -max_len=8192 -timeout=10 -rss_limit_mb=1536 \
		-artifact_prefix=$(FUZZ_DIR)/ -print_final_stats=1 -verbosity=0 $(FUZZ_DIR)/corpus-sidecar tests/fuzz/sidecar
fuzz: fuzz-sidecar

FUZZ_SIDECAR_SRC := tests/fuzz/fuzz_sidecar.c $(filter-out tests/fuzz/fuzz_capture.c,$(FUZZ_CAPTURE_SRC))
$(FUZZ_DIR)/fuzz_sidecar: $(FUZZ_SIDECAR_SRC) $(PROTO_OBJ) $(B)/.flags
	$(call need-tool,CLANG)@mkdir -p $(@D)
	$(call step,FUZZ)$(CLANG) $(filter-out -Wno-%,$(BASE_CFLAGS)) $(FUZZ_SAN) -fsanitize=fuzzer,address,undefined -o $@ \
		$(FUZZ_SIDECAR_SRC) $(PROTOS:%=$(B)/gen/%.pb-c.c) $(LDLIBS)

TEST_NEEDS += $(FUZZ_SIDECAR)
.PHONY: fuzz-sidecar
