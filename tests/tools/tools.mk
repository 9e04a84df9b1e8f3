# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that tests and benchmarks run.
TOOL_SRC := $(wildcard tests/tools/*.c)
TOOLS := $(TOOL_SRC:%.c=$(B)/%)
TEST_NEEDS += $(TOOLS)

tools: $(TOOLS) ## build the programs that tests and benchmarks run

$(B)/tests/tools/%: $(B)/tests/tools/%.o $(B)/libgpubpf.a
	$(call step,LD)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

.PHONY: tools
-include $(TOOL_SRC:%.c=$(B)/%.d)

# A driver whose first entry point calls the application back, and the program that does odd things then.
STACKS := $(B)/tests/stacks
TEST_NEEDS += $(STACKS)/stacks
tools: $(STACKS)/stacks
$(STACKS)/libcuda.so.1: tests/workload/stacks.c $(B)/.flags
	@mkdir -p $(@D)
	$(call step,CC)$(CC) -std=gnu17 $(WARN) -Wno-missing-prototypes -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls \
		$(if $(filter x86_64,$(ARCH)),-fcf-protection=none) -fPIC -shared -DDRIVER -Wl,-soname,libcuda.so.1 -o $@ $<
$(STACKS)/stacks: tests/workload/stacks.c $(STACKS)/libcuda.so.1
	$(call step,CC)$(CC) -std=gnu17 $(WARN) -D_GNU_SOURCE -O1 -Wl,-rpath,'$$ORIGIN' -o $@ $^
