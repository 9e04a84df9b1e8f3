# SPDX-License-Identifier: GPL-2.0-or-later
# What the kernel makes of our probe sites: a static program, for this machine and for the guests of tests/kernels.
KERNEL_VIEW := $(B)/kernels/kernel_view

$(B)/tests/usdt/%.bpf.o: tests/usdt/%.bpf.c $(B)/.flags
	$(call need-tool,CLANG)$(call need-tool,LLVM_STRIP)@mkdir -p $(@D)
	$(call step,BPF)$(CLANG) $(BPF_CFLAGS) -MMD -MP -MT $@ -MF $(@:.o=.d) -c -o $@.tmp $<
	@$(LLVM_STRIP) -g $@.tmp && mv $@.tmp $@

$(B)/tests/usdt/%.skel.h: $(B)/tests/usdt/%.bpf.o
	$(call need-tool,BPFTOOL)$(call step,GEN)$(BPFTOOL) gen skeleton $< name $*_bpf > $@.tmp && mv $@.tmp $@

$(B)/tests/usdt/kernel_view.o: $(B)/tests/usdt/kernel_view.skel.h
$(B)/tests/usdt/%.o: private BASE_CFLAGS += -I$(B)/tests/usdt

$(KERNEL_VIEW): $(B)/tests/usdt/kernel_view.o $(B)/tests/usdt/sites.o $(B)/libgpubpf.a
	@mkdir -p $(@D)
	$(call step,LD)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -static -o $@ $^ $(LDLIBS)

KERNEL_GUEST += $(KERNEL_VIEW)
kernel-guest: $(KERNEL_VIEW)
TEST_NEEDS += $(KERNEL_VIEW)
-include $(wildcard $(B)/tests/usdt/*.d)
