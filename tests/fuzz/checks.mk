# SPDX-License-Identifier: GPL-2.0-or-later
# The reader of files of checks: `make fuzz-checks` by libFuzzer; `make test` replays what is stored in tests/fuzz/checks, and
# mutations of it.
FUZZ_CHECKS := $(B)/asan/tests/fuzz/replay_checks

fuzz-checks: $(FUZZ_DIR)/fuzz_checks ## fuzz the reader of files of checks for FUZZ_SECONDS (10)
	@mkdir -p $(FUZZ_DIR)/corpus-checks
	$(FUZZ_DIR)/fuzz_checks -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=10 -rss_limit_mb=1536 \
		-artifact_prefix=$(FUZZ_DIR)/ -print_final_stats=1 -verbosity=0 $(FUZZ_DIR)/corpus-checks tests/fuzz/checks
fuzz: fuzz-checks

$(FUZZ_DIR)/fuzz_checks: tests/fuzz/fuzz_checks.c user/check/options.c user/check/file.c user/model/plan.c user/model/apitab.c \
		user/util/opts.c user/util/opts_value.c user/util/opts_help.c user/util/err.c user/util/file.c user/util/fmt.c $(B)/.flags
	$(call need-tool,CLANG)@mkdir -p $(@D)
	$(call step,FUZZ)$(CLANG) $(filter-out -Wno-%,$(BASE_CFLAGS)) $(FUZZ_SAN) -fsanitize=fuzzer,address,undefined -o $@ \
		$(filter %.c,$^) -linih

TEST_NEEDS += $(FUZZ_CHECKS)
.PHONY: fuzz-checks
