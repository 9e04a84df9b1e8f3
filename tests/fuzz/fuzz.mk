# SPDX-License-Identifier: GPL-2.0-or-later
# Fuzzers by libFuzzer (clang with its compiler-rt: libclang-rt-NN-dev on Debian and Ubuntu).
FUZZ_SECONDS ?= 10
FUZZ_DIR = $(B)/tests/fuzz
FUZZ_SAN = -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all
FUZZ_CAPTURE_SRC := tests/fuzz/fuzz_capture.c $(wildcard user/capture/*.c user/inspect/*.c user/util/*.c user/model/*.c \
	user/join/*.c user/gate/*.c user/latency/*.c user/report/*.c user/trace/*.c user/sidecar/*.c user/export/tab*.c usdt/*.c) \
	$(addprefix user/stacks/,check.c quality.c table.c)

# What the fuzzer finds is in $(B)/tests/fuzz/crash-*; its corpus grows in $(B)/tests/fuzz/corpus.
fuzz: $(FUZZ_DIR)/fuzz_capture $(FUZZ_DIR)/seeds ## fuzz the capture reader for FUZZ_SECONDS (10)
	@mkdir -p $(FUZZ_DIR)/corpus
	$(FUZZ_DIR)/fuzz_capture -max_total_time=$(FUZZ_SECONDS) -max_len=65536 -timeout=10 -rss_limit_mb=1536 \
		-artifact_prefix=$(FUZZ_DIR)/ -print_final_stats=1 -verbosity=0 $(FUZZ_DIR)/corpus $(FUZZ_DIR)/seeds

$(FUZZ_DIR)/fuzz_capture: $(FUZZ_CAPTURE_SRC) $(PROTO_OBJ) $(B)/.flags
	$(call need-tool,CLANG)@mkdir -p $(@D)
	$(call step,FUZZ)$(CLANG) $(filter-out -Wno-%,$(BASE_CFLAGS)) $(FUZZ_SAN) -fsanitize=fuzzer,address,undefined -o $@ \
		$(FUZZ_CAPTURE_SRC) $(PROTOS:%=$(B)/gen/%.pb-c.c) $(LDLIBS)

# Small captures of every shape: plain and compressed, with losses, without footer, without counters, with blobs.
$(FUZZ_DIR)/seeds: $(B)/tests/tools/mkcapture $(B)/tests/tools/mkdevice $(B)/tests/tools/mkscene
	@rm -rf $@ && mkdir -p $@
	@$< --calls 40 --keys 3 --level 0 $@/plain >/dev/null
	@$< --calls 60 --keys 3 --lose 5 $@/lost >/dev/null
	@$< --calls 40 --keys 3 --no-footer $@/killed >/dev/null
	@$< --calls 10 --no-counts --level 0 $@/uncounted >/dev/null
	@$< --calls 0 $@/empty >/dev/null
	@$< --calls 10 --level 0 --cost $@/cost >/dev/null
	@$< --calls 40 --keys 3 --level 0 --stacks $@/stacks >/dev/null
	@$< --calls 20 --level 0 --apis cuMemcpy2D_v2,cuFuncGetName,cuMemAlloc,cuMemsetD8Async $@/apis >/dev/null
	@{ echo wall 1700000000000000000; cat tests/e2e/golden/device.scene; } | $(B)/tests/tools/mkscene $@/scene
	@set -e; dev() { f=$@/$$1; shift; $(B)/tests/tools/mkdevice --level 0 --calls 40 "$$@" $$f >/dev/null; }; \
		dev device --processes 2 --threads 2; dev device-faults --zero 3 --early 4 --drop 5; \
		dev device-gaps --gap 2 --threads 1 --no-footer; dev device-failed --fail 3; dev device-silent --silent --unmeasured

.PHONY: fuzz

# ELF files: the broken objects of tests/elfgate are the corpus to begin with.
FUZZ_ELFGATE_SRC := tests/fuzz/fuzz_elfgate.c $(wildcard elfgate/*.c usdt/*.c)
fuzz-elfgate: $(FUZZ_DIR)/fuzz_elfgate elfgate-objects ## fuzz the ELF rules for FUZZ_SECONDS (10)
	@mkdir -p $(FUZZ_DIR)/elfgate-corpus
	$(FUZZ_DIR)/fuzz_elfgate -max_total_time=$(FUZZ_SECONDS) -max_len=65536 -timeout=10 -rss_limit_mb=1536 \
		-artifact_prefix=$(FUZZ_DIR)/ -print_final_stats=1 -verbosity=0 $(FUZZ_DIR)/elfgate-corpus \
		$(ELFGATE_DIR) tests/elfgate/hostile

$(FUZZ_DIR)/fuzz_elfgate: $(FUZZ_ELFGATE_SRC) $(B)/.flags
	$(call need-tool,CLANG)@mkdir -p $(@D)
	$(call step,FUZZ)$(CLANG) $(filter-out -Wno-%,$(BASE_CFLAGS)) $(FUZZ_SAN) -fsanitize=fuzzer,address,undefined -o $@ \
		$(FUZZ_ELFGATE_SRC) -lelf
fuzz: fuzz-elfgate
.PHONY: fuzz-elfgate

# Records as the join meets them, without the file around them: the blocks of the captures above are the corpus to begin with.
FUZZ_JOIN_SRC := tests/fuzz/fuzz_join.c $(wildcard user/join/*.c user/model/*.c user/util/*.c user/gate/*.c user/latency/breakdown.c user/latency/futexes.c usdt/*.c)
fuzz-join: $(FUZZ_DIR)/fuzz_join $(FUZZ_DIR)/seeds ## fuzz the join of the two observers for FUZZ_SECONDS (10)
	@mkdir -p $(FUZZ_DIR)/join-corpus $(FUZZ_DIR)/join-seeds
	@for f in $(FUZZ_DIR)/seeds/*; do tail -c +25 $$f >$(FUZZ_DIR)/join-seeds/$${f##*/}; done
	$(FUZZ_DIR)/fuzz_join -max_total_time=$(FUZZ_SECONDS) -max_len=65536 -timeout=10 -rss_limit_mb=1536 \
		-artifact_prefix=$(FUZZ_DIR)/ -print_final_stats=1 -verbosity=0 $(FUZZ_DIR)/join-corpus $(FUZZ_DIR)/join-seeds

$(FUZZ_DIR)/fuzz_join: $(FUZZ_JOIN_SRC) $(B)/gen/capture.pb-c.h $(B)/.flags
	$(call need-tool,CLANG)@mkdir -p $(@D)
	$(call step,FUZZ)$(CLANG) $(filter-out -Wno-%,$(BASE_CFLAGS)) $(FUZZ_SAN) -fsanitize=fuzzer,address,undefined -o $@ \
		$(FUZZ_JOIN_SRC) $(B)/gen/capture.pb-c.c $(LDLIBS)
fuzz: fuzz-join
.PHONY: fuzz-join
