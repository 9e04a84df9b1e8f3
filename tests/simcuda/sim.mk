# SPDX-License-Identifier: GPL-2.0-or-later
# The simulated CUDA stack and the workloads that run on it, in $(B)/sim. Where the real headers are, the same
# workloads are also built against them, in $(B)/sim/real.
SIM := $(B)/sim
CUDA_HOME ?= /usr/local/cuda
HOSTCC ?= cc
CUDA_REAL := $(if $(wildcard $(CUDA_HOME)/include/cuda_runtime_api.h),$(CUDA_HOME)/include)
NVCC ?= $(wildcard $(CUDA_HOME)/bin/nvcc)

SIM_DIR := tests/simcuda
SIM_CFLAGS = -std=gnu17 $(WARN) $(CFLAGS) -D_GNU_SOURCE -fPIC -fvisibility=hidden -pthread
# The driver's functions start with `push %rbp`: keep the frame, and keep every function one of its own.
SIM_DRIVER_CFLAGS = $(SIM_CFLAGS) -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-stack-protector \
	$(if $(filter x86_64,$(ARCH)),-fcf-protection=none) -Ibpf -I$(SIM_DIR) -I$(SIM_DIR)/include
SIM_DRIVER_SRC := $(addprefix $(SIM_DIR)/,core.c behave.c log.c init.c context.c mem.c alloc.c copy.c stream.c capture.c \
	graph.c module.c launch.c trace.c)
SIM_DRIVER_OBJ := $(SIM_DRIVER_SRC:$(SIM_DIR)/%.c=$(SIM)/obj/%.o) $(SIM)/obj/exports.o
SIM_RT_SRC := $(wildcard $(SIM_DIR)/cudart/*.c)
SIM_RT_OBJ := $(SIM_RT_SRC:$(SIM_DIR)/%.c=$(SIM)/obj/%.o)
SIM_CUPTI_SRC := $(addprefix $(SIM_DIR)/cupti/,core.c callback.c activity.c record.c misc.c nvtx.c unified.c version.c)
SIM_CUPTI_OBJ := $(SIM_CUPTI_SRC:$(SIM_DIR)/%.c=$(SIM)/obj/%.o)
SIM_HEADERS := $(wildcard $(SIM_DIR)/*.h $(SIM_DIR)/include/*.h $(SIM_DIR)/cudart/*.h $(SIM_DIR)/cupti/*.h) bpf/apis.h $(SIM_DIR)/sim.mk $(B)/.flags
WORKLOAD_RT := demo firsttouch
WORKLOAD_DRIVER := driver_demo launchloop procs longrun annotated queued idler
WORKLOADS := $(WORKLOAD_RT) $(WORKLOAD_DRIVER) callall
# Static ones hold the runtime inside, as a default nvcc binary does.
SIM_ALL := $(SIM)/libcuda.so.1 $(SIM)/libcupti.so.13 $(SIM)/cupti11/libcupti.so.11.0 $(SIM)/libcudart.so.13 $(SIM)/libcudart_static.a $(SIM)/simlog \
	$(SIM)/libsiminject.so $(WORKLOADS:%=$(SIM)/%) $(SIM)/demo-static $(SIM)/firsttouch-static $(SIM)/demo-ptds $(SIM)/selftest \
	$(SIM)/selftest_cupti $(SIM)/selftest_cupti_order $(SIM)/cuptiapp
SIM_REAL := $(if $(CUDA_REAL),$(addprefix $(SIM)/real/,$(WORKLOADS) demo-static demo-ptds selftest abi_check.o) \
	$(if $(wildcard $(CUDA_REAL)/cupti.h),$(addprefix $(SIM)/real/,abi_check_cupti.o selftest_cupti selftest_cupti_order cuptiapp)) \
	$(SIM_RT_SRC:$(SIM_DIR)/%.c=$(SIM)/real/%.o))

sim: $(SIM_ALL) $(SIM_REAL) ## build the simulated CUDA stack and its workloads

$(SIM)/obj/gen_exports: $(SIM_DIR)/gen_exports.c $(SIM_HEADERS)
	@mkdir -p $(@D)
	$(call step,HOSTCC)$(HOSTCC) -std=gnu17 $(WARN) -O1 -Ibpf -I$(SIM_DIR) -o $@ $<
$(SIM)/obj/exports.c: $(SIM)/obj/gen_exports
	$(call step,GEN)$< > $@.tmp && mv $@.tmp $@
$(SIM)/obj/exports.o: $(SIM)/obj/exports.c
	$(call step,CC)$(CC) $(SIM_DRIVER_CFLAGS) -c -o $@ $<
$(SIM)/obj/cudart/%.o: $(SIM_DIR)/cudart/%.c $(SIM_HEADERS)
	@mkdir -p $(@D)
	$(call step,CC)$(CC) $(SIM_CFLAGS) -I$(SIM_DIR)/include -c -o $@ $<
$(SIM)/obj/cupti/%.o: $(SIM_DIR)/cupti/%.c $(SIM_HEADERS)
	@mkdir -p $(@D)
	$(call step,CC)$(CC) $(SIM_CFLAGS) -I$(SIM_DIR) -I$(SIM_DIR)/include -c -o $@ $<
$(SIM)/obj/%.o: $(SIM_DIR)/%.c $(SIM_HEADERS)
	@mkdir -p $(@D)
	$(call step,CC)$(CC) $(SIM_DRIVER_CFLAGS) -c -o $@ $<

$(SIM)/libcuda.so.1: $(SIM_DRIVER_OBJ)
	$(call step,CC)$(CC) -shared -pthread $(LDFLAGS) -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic -Wl,-z,defs -o $@ $^ -ldl
	@ln -sf libcuda.so.1 $(SIM)/libcuda.so
# Its worker never ends, so it must not be unmapped.
$(SIM)/libcupti.so.13: $(SIM_CUPTI_OBJ) $(SIM_DIR)/cupti/cupti.map
	$(call step,CC)$(CC) -shared -pthread $(LDFLAGS) -Wl,-soname,libcupti.so.13 -Wl,-z,defs -Wl,-z,nodelete \
		-Wl,-rpath,'$$ORIGIN' -Wl,--version-script=$(SIM_DIR)/cupti/cupti.map -o $@ $(SIM_CUPTI_OBJ) -ldl
	@ln -sf libcupti.so.13 $(SIM)/libcupti.so
# The same as of CUDA 11.0: its version, the shorter records of it, some functions missing.
$(SIM)/obj/cupti11/version.o: $(SIM_DIR)/cupti/version.c $(SIM_HEADERS)
	@mkdir -p $(@D)
	$(call step,CC)$(CC) $(SIM_CFLAGS) -DSIMCUPTI_BUILT_VERSION=13 -I$(SIM_DIR) -I$(SIM_DIR)/include -c -o $@ $<
$(SIM)/cupti11/libcupti.so.11.0: $(filter-out %/version.o,$(SIM_CUPTI_OBJ)) $(SIM)/obj/cupti11/version.o \
		$(SIM_DIR)/cupti/cupti11.map
	@mkdir -p $(@D)
	$(call step,CC)$(CC) -shared -pthread $(LDFLAGS) -Wl,-soname,libcupti.so.11.0 -Wl,-z,defs -Wl,-z,nodelete \
		-Wl,-rpath,'$$ORIGIN/..' -Wl,--version-script=$(SIM_DIR)/cupti/cupti11.map -o $@ $(filter %.o,$^) -ldl
$(SIM)/libcudart.so.13: $(SIM_RT_OBJ) $(SIM_DIR)/cudart/cudart.map
	$(call step,CC)$(CC) -shared -pthread $(LDFLAGS) -Wl,-soname,libcudart.so.13 -Wl,-z,defs -Wl,-rpath,'$$ORIGIN' \
		-Wl,--version-script=$(SIM_DIR)/cudart/cudart.map -o $@ $(SIM_RT_OBJ) -ldl
	@ln -sf libcudart.so.13 $(SIM)/libcudart.so
$(SIM)/libcudart_static.a: $(SIM_RT_OBJ)
	@rm -f $@
	$(call step,AR)$(AR) rcs $@ $^
$(SIM)/simlog: $(SIM_DIR)/simlog.c $(SIM_DIR)/simlog.h
	@mkdir -p $(@D)
	$(call step,CC)$(CC) -std=gnu17 $(WARN) $(CFLAGS) -D_GNU_SOURCE -o $@ $<
$(SIM)/libsiminject.so: $(SIM_DIR)/siminject.c
	@mkdir -p $(@D)
	$(call step,CC)$(CC) -std=gnu17 $(WARN) $(CFLAGS) -D_GNU_SOURCE -fPIC -shared -o $@ $<

# $(1): headers, $(2): folder of the output. Programs find the libraries beside them or one folder up.
WL_CFLAGS = -std=gnu17 $(WARN) $(CFLAGS) -D_GNU_SOURCE -pthread -Ibpf -I$(SIM_DIR)
WL_LINK = -L$(SIM) -Wl,-rpath,'$$ORIGIN:$$ORIGIN/..'
WL_DEPS := $(wildcard tests/workload/*.h) $(SIM_HEADERS) $(SIM)/libcuda.so.1 $(SIM)/libcudart.so.13 \
	$(SIM)/libcudart_static.a
define workload_rules
$(WORKLOAD_RT:%=$(2)/%): $(2)/%: tests/workload/%.c $(WL_DEPS)
	@mkdir -p $$(@D)
	$$(call step,CC)$$(CC) $$(WL_CFLAGS) -I$(1) -o $$@ $$< $$(WL_LINK) -lcudart -ldl
$(WORKLOAD_RT:%=$(2)/%-static): $(2)/%-static: tests/workload/%.c $(WL_DEPS)
	@mkdir -p $$(@D)
	$$(call step,CC)$$(CC) $$(WL_CFLAGS) -I$(1) -o $$@ $$< $(SIM)/libcudart_static.a -Wl,-rpath,'$$$$ORIGIN:$$$$ORIGIN/..' -ldl
$(2)/demo-ptds: tests/workload/demo.c $(WL_DEPS)
	@mkdir -p $$(@D)
	$$(call step,CC)$$(CC) $$(WL_CFLAGS) -DCUDA_API_PER_THREAD_DEFAULT_STREAM -I$(1) -o $$@ $$< $$(WL_LINK) -lcudart
$(WORKLOAD_DRIVER:%=$(2)/%): $(2)/%: tests/workload/%.c $(WL_DEPS)
	@mkdir -p $$(@D)
	$$(call step,CC)$$(CC) $$(WL_CFLAGS) -I$(1) -o $$@ $$< $$(WL_LINK) -lcuda
$(2)/callall: tests/workload/callall.c $(WL_DEPS)
	@mkdir -p $$(@D)
	$$(call step,CC)$$(CC) $$(WL_CFLAGS) -I$(1) -o $$@ $$< -ldl
$(2)/selftest_cupti $(2)/selftest_cupti_order: $(2)/%: $(SIM_DIR)/cupti/%.c $(WL_DEPS) tests/t.h $(SIM)/libcupti.so.13
	@mkdir -p $$(@D)
	$$(call step,CC)$$(CC) $$(WL_CFLAGS) -Itests -I$(1) -o $$@ $$< $$(WL_LINK) -lcupti -lcuda
$(2)/cuptiapp: tests/workload/cuptiapp.c $(WL_DEPS) $(SIM)/libcupti.so.13
	@mkdir -p $$(@D)
	$$(call step,CC)$$(CC) $$(WL_CFLAGS) -I$(1) -o $$@ $$< $$(WL_LINK) -lcupti -lcuda
$(2)/selftest: $(SIM_DIR)/selftest.c $(WL_DEPS) tests/t.h
	@mkdir -p $$(@D)
	$$(call step,CC)$$(CC) $$(WL_CFLAGS) -Itests -I$(1) -o $$@ $$< $$(WL_LINK) -lcuda -ldl
endef
$(eval $(call workload_rules,$(SIM_DIR)/include,$(SIM)))
ifneq ($(CUDA_REAL),)
$(eval $(call workload_rules,$(CUDA_REAL),$(SIM)/real))
endif

# Our headers against the real ones: the facts of abi_facts.h are printed with ours and asserted with theirs,
# and the runtime's sources must also compile as definitions of what the real header declares.
$(SIM)/obj/gen_abi: $(SIM_DIR)/gen_abi.c $(SIM_HEADERS)
	@mkdir -p $(@D)
	$(call step,HOSTCC)$(HOSTCC) -std=gnu17 $(WARN) -I$(SIM_DIR) -I$(SIM_DIR)/include -o $@ $<
$(SIM)/obj/abi_ours.h: $(SIM)/obj/gen_abi
	$(call step,GEN)$< > $@.tmp && mv $@.tmp $@
$(SIM)/real/abi_check.o: $(SIM_DIR)/abi_check.c $(SIM)/obj/abi_ours.h
	@mkdir -p $(@D)
	$(call step,CC)$(CC) -std=gnu17 $(WARN) -I$(SIM)/obj -I$(CUDA_REAL) -c -o $@ $<
$(SIM)/obj/gen_abi_cupti: $(SIM_DIR)/cupti/gen_abi.c $(SIM_HEADERS)
	@mkdir -p $(@D)
	$(call step,HOSTCC)$(HOSTCC) -std=gnu17 $(WARN) -I$(SIM_DIR)/include -o $@ $<
$(SIM)/obj/abi_ours_cupti.h: $(SIM)/obj/gen_abi_cupti
	$(call step,GEN)$< > $@.tmp && mv $@.tmp $@
$(SIM)/real/abi_check_cupti.o: $(SIM_DIR)/cupti/abi_check.c $(SIM)/obj/abi_ours_cupti.h
	@mkdir -p $(@D)
	$(call step,CC)$(CC) -std=gnu17 $(WARN) -I$(SIM)/obj -isystem $(CUDA_REAL) -c -o $@ $<
$(SIM)/real/cudart/%.o: $(SIM_DIR)/cudart/%.c $(SIM_HEADERS)
	@mkdir -p $(@D)
	$(call step,CC)$(CC) $(SIM_CFLAGS) -I$(CUDA_REAL) -c -o $@ $<

TEST_NEEDS += sim

.PHONY: sim
