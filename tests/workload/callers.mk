# SPDX-License-Identifier: GPL-2.0-or-later
# One program, built in the ways that tell for stacks: with frame pointers, without, and with its debug information apart.
CALLERS := $(B)/tests/callers
OBJCOPY ?= $(CROSS_COMPILE)objcopy
TEST_NEEDS += $(addprefix $(CALLERS)/,fp nofp split fixed fixed-o1)
tools: $(addprefix $(CALLERS)/,fp nofp split fixed fixed-o1)

CALLERS_BUILD = $(CC) -std=gnu17 $(WARN) -D_GNU_SOURCE -O2 -fno-optimize-sibling-calls -pthread -Itests/simcuda/include
$(CALLERS)/fp: tests/workload/callers.c $(SIM)/libcuda.so.1 $(B)/.flags
	@mkdir -p $(@D)
	$(call step,CC)$(CALLERS_BUILD) -fno-omit-frame-pointer -o $@ $< $(SIM)/libcuda.so.1
$(CALLERS)/nofp: tests/workload/callers.c $(SIM)/libcuda.so.1 $(B)/.flags
	@mkdir -p $(@D)
	$(call step,CC)$(CALLERS_BUILD) -g -fomit-frame-pointer -o $@ $< $(SIM)/libcuda.so.1
# Two programs at the same addresses.
$(CALLERS)/fixed $(CALLERS)/fixed-o1: tests/workload/callers.c $(SIM)/libcuda.so.1 $(B)/.flags
	@mkdir -p $(@D)
	$(call step,CC)$(CALLERS_BUILD) $(if $(filter %-o1,$@),-O1) -fno-omit-frame-pointer -no-pie -o $@ $< $(SIM)/libcuda.so.1
# Found by the link, in .debug beside it.
$(CALLERS)/split: $(CALLERS)/nofp
	@mkdir -p $(@D)/.debug
	$(call step,OBJCOPY)$(OBJCOPY) --only-keep-debug $< $(@D)/.debug/split.debug
	@$(OBJCOPY) --strip-all $< $@.tmp && cd $(@D)/.debug && $(OBJCOPY) --add-gnu-debuglink=split.debug ../split.tmp
	@mv $@.tmp $@
