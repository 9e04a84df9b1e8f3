# SPDX-License-Identifier: GPL-2.0-or-later
# How a library for foreign processes is made to load wherever glibc is 2.17 or newer, with any newer one on the
# building machine and no old container: it is compiled with the machine's headers and linked against stub libraries
# that hold the functions of glibc 2.17 under the versions of glibc 2.17 (packaging/floor.syms). A newer function is
# an error of the linker that names it. Pins by .symver would be one per function and miss each one forgotten.
#
#   $(B)/my.o: private CFLAGS += $(FLOOR_CFLAGS)
#   $(B)/my.so: $(B)/my.o $(FLOOR_DEPS)
#   	$(CC) $(FLOOR_LDFLAGS) -Wl,-soname,my.so -o $@ my.o $(FLOOR_LIBS)
#
# `gpubpf elfgate --glibc-floor 2.17` proves the result.
FLOOR_DIR = $(B)/floor
FLOOR_CFLAGS = -fPIC -fvisibility=hidden -include packaging/floor.h $(if $(filter aarch64,$(ARCH)),-mno-outline-atomics)
# -nostdlib: no newer C library and none of its start files. Pages of 64 KiB: kernels of RHEL 7 and 8 on arm64.
FLOOR_LDFLAGS = -shared -nostdlib -Wl,--as-needed,-z,defs,-z,text,-z,relro,-z,now,-z,noexecstack,--build-id=sha1 \
	$(if $(filter aarch64,$(ARCH)),-Wl$(COMMA)-z$(COMMA)max-page-size=65536)
FLOOR_LIBS = $(FLOOR_DIR)/floor.o $(FLOOR_STUBS:%=$(FLOOR_DIR)/%) -lgcc
FLOOR_STUBS = libc.so.6 libpthread.so.0 libdl.so.2 $(if $(filter aarch64,$(ARCH)),ld-linux-aarch64.so.1)
FLOOR_DEPS = $(FLOOR_DIR)/.done $(FLOOR_DIR)/floor.o

$(FLOOR_DIR)/.done: packaging/floor.sh packaging/floor.syms $(B)/.flags
	$(call step,FLOOR)packaging/floor.sh $(ARCH) $(FLOOR_DIR) $(CC)
	@touch $@

$(FLOOR_DIR)/floor.o: packaging/floor.c packaging/floor.h $(B)/.flags
	@mkdir -p $(@D)
	$(call step,CC)$(CC) -std=gnu17 $(WARN) -D_GNU_SOURCE $(PREFIX_MAP) $(CFLAGS) $(FLOOR_CFLAGS) -c -o $@ $<
