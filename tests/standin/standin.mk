# SPDX-License-Identifier: GPL-2.0-or-later
# A stand-in for the shim, called as the shim is called, and the check of what came of it.
STANDIN := $(B)/tests/standin
STANDIN_ALL := $(STANDIN)/libgpubpf-shim.so $(STANDIN)/shimcheck $(STANDIN)/host
TEST_NEEDS += $(STANDIN_ALL)
tools: $(STANDIN_ALL)

$(STANDIN)/libgpubpf-shim.so: tests/standin/standin.c tests/standin/standin.h usdt/probe.h bpf/events.h $(B)/.flags
	@mkdir -p $(@D)
	$(call step,CC)$(CC) -std=gnu17 $(WARN) -D_GNU_SOURCE -O2 -Ibpf -I. -fPIC -fvisibility=hidden -shared -pthread \
		-Wl,-soname,libgpubpf-shim.so -o $@ $< -ldl

# Static, as a guest of tests/kernels has no library for it.
$(STANDIN)/shimcheck: $(STANDIN)/shimcheck.o $(B)/libgpubpf.a
	$(call step,LD)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -static -o $@ $^ $(LDLIBS)

KERNEL_GUEST += $(STANDIN_ALL)
kernel-guest: $(STANDIN_ALL)

$(STANDIN)/host: tests/standin/host.c $(B)/.flags
	@mkdir -p $(@D)
	$(call step,CC)$(CC) -std=gnu17 $(WARN) -D_GNU_SOURCE -O2 -o $@ $< -ldl
-include $(STANDIN)/shimcheck.d
