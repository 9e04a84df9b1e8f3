# SPDX-License-Identifier: GPL-2.0-or-later
# The libraries that break one rule each, for this architecture and, where a compiler for it is here, for the other.
ELFGATE_OTHER := $(filter-out $(ARCH),x86_64 aarch64)
ELFGATE_DIR = $(B)/elfgate
LLVM_OBJCOPY ?= $(call first-of,llvm-objcopy $(LLVM_VERSIONS:%=llvm-objcopy-%))
# elfpatch runs here, whatever the objects are for.
ELFPATCH = $(ELFGATE_DIR)/elfpatch

$(ELFPATCH): tests/tools/elfpatch.c
	@mkdir -p $(@D)
	$(call step,HOSTCC)gcc -std=gnu17 $(WARN) -O1 -o $@ $<

$(ELFGATE_DIR)/.done: $(wildcard tests/elfgate/*.sh tests/elfgate/*.c tests/elfgate/*.h) $(ELFPATCH) $(FLOOR_DEPS)
	$(call need-tool,CLANG)$(call need-tool,LLVM_OBJCOPY)$(call step,OBJS)CC='$(CC)' CLANG='$(CLANG)' \
		LLVM_OBJCOPY='$(LLVM_OBJCOPY)' FLOOR_CFLAGS='$(FLOOR_CFLAGS)' FLOOR_LDFLAGS='$(FLOOR_LDFLAGS)' \
		FLOOR_LIBS='$(FLOOR_LIBS)' tests/elfgate/objects.sh $(ARCH) $(ELFGATE_DIR) $(ELFPATCH)
	@touch $@

$(ELFGATE_DIR)/floor_sample.o: tests/elfgate/floor_sample.c packaging/floor.h $(B)/.flags
	@mkdir -p $(@D)
	$(call step,CC)$(CC) -std=gnu17 $(WARN) -D_GNU_SOURCE $(PREFIX_MAP) $(CFLAGS) $(FLOOR_CFLAGS) -c -o $@ $<

$(ELFGATE_DIR)/floor_sample.so: $(ELFGATE_DIR)/floor_sample.o $(FLOOR_DEPS)
	$(call step,LD)$(CC) $(FLOOR_LDFLAGS) -Wl,-soname,floor_sample.so -o $@ $< $(FLOOR_LIBS)

elfgate-objects: $(ELFGATE_DIR)/.done $(ELFGATE_DIR)/floor_sample.so
elfgate-objects-other:
	+@if command -v $(ELFGATE_OTHER)-linux-gnu-gcc >/dev/null; then \
		$(call arch-make,$(ELFGATE_OTHER)) elfgate-objects; fi

# The unit tests of a cross build run alone.
test-units: elfgate-objects
TEST_NEEDS += elfgate-objects elfgate-objects-other
.PHONY: elfgate-objects elfgate-objects-other
