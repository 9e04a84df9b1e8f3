# SPDX-License-Identifier: GPL-2.0-or-later
# shim/cupti_abi.h against NVIDIA's headers, where they are: compiling is the test.
CUDA_HOME ?= /usr/local/cuda
CUPTI_INCLUDE ?= $(wildcard $(addprefix $(CUDA_HOME)/,include extras/CUPTI/include))
CUPTI_HEADERS := $(wildcard $(CUPTI_INCLUDE:%=%/cupti.h))

$(B)/shim/abi_check.o: shim/abi_check.c shim/cupti_abi.h bpf/events.h $(CUPTI_HEADERS) $(B)/.flags
	@mkdir -p $(@D)
	$(call step,CC)$(CC) -std=gnu17 $(WARN) -Ibpf $(CUPTI_INCLUDE:%=-I%) -c -o $@ $<

TEST_NEEDS += $(if $(CUPTI_HEADERS),$(B)/shim/abi_check.o)
