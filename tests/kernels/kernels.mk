# SPDX-License-Identifier: GPL-2.0-or-later
# The matrix of real kernels, emulated, and the unit tests of the other architecture. See tests/kernels/run.sh.
#   KERNELS       which: "6.1-amd64 newest-arm64"; empty: all of kernels.table on both architectures
#   KERNEL_CACHE  where fetched kernels stay
#   KERNEL_JOBS   guests at a time
KERNEL_CACHE ?= $(B)/../kernels-cache
KERNELS ?=
KERNELS_SHORT := 5.10-amd64 6.12-arm64
KERNEL_JOBS ?= $(shell nproc)

# Where the build for architecture $(1) is, seen from the build for this machine; and how to make it there.
arch-build = $(if $(filter $(HOST_ARCH),$(1)),$(B),$(B)/cross/$(1))
arch-make = $(MAKE) --no-print-directory ARCH=$(1) B=$(call arch-build,$(1)) \
	$(if $(filter $(HOST_ARCH),$(1)),,CC=$(1)-linux-gnu-gcc AR=$(1)-linux-gnu-ar CROSS_COMPILE=$(1)-linux-gnu-)
debian-arch = $(patsubst x86_64,amd64,$(patsubst aarch64,arm64,$(1)))

# Static programs: a guest has no library but those of the workloads.
$(B)/kernels/progload: $(B)/tests/kernels/progload.o $(B)/libgpubpf.a
	@mkdir -p $(@D)
	$(call step,LD)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -static -o $@ $^ $(LDLIBS)

$(B)/kernels/capcheck: $(B)/tests/kernels/capcheck.o $(B)/libgpubpf.a
	@mkdir -p $(@D)
	$(call step,LD)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -static -o $@ $^ $(LDLIBS)

$(B)/kernels/truth: $(B)/tests/tools/truth.o $(B)/libgpubpf.a
	@mkdir -p $(@D)
	$(call step,LD)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -static -o $@ $^ $(LDLIBS)

# The files of a guest; run.sh takes the list from the file.
KERNEL_GUEST := $(B)/static/gpubpf $(B)/kernels/progload $(B)/kernels/capcheck $(B)/kernels/truth \
	$(addprefix $(B)/sim/,libcuda.so.1 libcudart.so.13 callall demo)
kernel-guest: $(KERNEL_GUEST)
	@printf '%s\n' $(KERNEL_GUEST) >$(B)/kernels/guest.list

# An architecture that this machine has no compiler or no libraries for is left out here and skipped by run.sh.
kernel-guest-%:
	+@if ! tests/kernels/lacks.sh $* >/dev/null; then exit 0; fi; $(call arch-make,$*) kernel-guest

KERNEL_ENV = B='$(B)' KERNEL_CACHE='$(KERNEL_CACHE)' KERNEL_JOBS='$(KERNEL_JOBS)'

test-kernels: ## install what is missing, boot real kernels (KERNELS='6.1-amd64 …') under emulation, test in each
	@packaging/deps.sh kernels
	+@$(MAKE) --no-print-directory kernel-guest-x86_64 kernel-guest-aarch64
	@$(KERNEL_ENV) KERNELS='$(KERNELS)' tests/kernels/run.sh

test-kernels-short: kernel-guest-x86_64 kernel-guest-aarch64 ## the same with one old and one arm64 kernel
	@$(KERNEL_ENV) KERNELS='$(KERNELS_SHORT)' KERNEL_APPEND=gpubpf_short tests/kernels/run.sh

# `make test` boots the two as well, and says what is lacking where it cannot.
TEST_NEEDS += kernel-guest-x86_64 kernel-guest-aarch64
EXTRA_TESTS += tests/kernels/short.sh
export KERNEL_CACHE KERNELS_SHORT

test-arm64: ## run the unit tests of the aarch64 build (under qemu-aarch64 on another machine)
	+@$(call arch-make,aarch64) test-units

test-units: $(TESTS)
	@B='$(B)' GPUBPF='$(B)/gpubpf' SIM='$(B)/sim' RUNNER='$(if $(CROSS),qemu-$(ARCH)-static)' tests/run.sh $(TESTS)

.PHONY: kernel-guest test-kernels test-kernels-short test-arm64 test-units
-include $(B)/tests/kernels/progload.d $(B)/tests/kernels/capcheck.d
