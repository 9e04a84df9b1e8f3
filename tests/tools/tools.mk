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
