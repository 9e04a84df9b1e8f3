# SPDX-License-Identifier: GPL-2.0-or-later
# gpubpf: everything is built from here, out of tree, in $(B). `make help` lists the targets.
ARCH ?= $(shell uname -m)
B ?= build/$(ARCH)
CC ?= gcc
CLANG ?= clang
LLVM_STRIP ?= llvm-strip
BPFTOOL ?= bpftool
PROTOC_C ?= protoc-c
PKG_CONFIG ?= pkg-config
PREFIX ?= /usr/local
DESTDIR ?=

MULTIARCH := $(shell $(CC) -print-multiarch)
BPF_ARCH := $(if $(filter aarch64 arm64,$(ARCH)),arm64,x86)

WARN := -Wall -Wextra -Werror
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu17 $(WARN) $(CFLAGS) -D_GNU_SOURCE -Iuser -Ibpf -I$(B)/gen
LIBS := -lbpf -lelf -lz -lzstd -lprotobuf-c -ljansson -liberty
LDLIBS = $(LIBS)

LIB_SRC := $(wildcard user/*/*.c)
CMD_SRC := $(wildcard user/*.c)
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o) $(B)/gen/capture.pb-c.o
CMD_OBJ := $(CMD_SRC:%.c=$(B)/%.o)
GEN := $(B)/gen/capture.pb-c.h $(B)/gen/gpubpf.skel.h

.DELETE_ON_ERROR:
.SECONDARY:
all: $(B)/gpubpf ## build the program

$(B)/gpubpf: $(CMD_OBJ) $(B)/libgpubpf.a
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(B)/libgpubpf.a: $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(B)/%.o: %.c | $(GEN)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/gen/%.pb-c.o: $(B)/gen/%.pb-c.c
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(B)/gen/%.pb-c.c $(B)/gen/%.pb-c.h: user/capture/%.proto
	@mkdir -p $(@D)
	$(PROTOC_C) -Iuser/capture --c_out=$(B)/gen $<

$(B)/bpf/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h)
	@mkdir -p $(@D)
	$(CLANG) -g -O2 -Wall -Wextra -Werror -target bpf -D__TARGET_ARCH_$(BPF_ARCH) -idirafter /usr/include/$(MULTIARCH) -Ibpf -c -o $@.tmp $<
	$(LLVM_STRIP) -g $@.tmp && mv $@.tmp $@

$(B)/gen/%.skel.h: $(B)/bpf/%.bpf.o
	@mkdir -p $(@D)
	$(BPFTOOL) gen skeleton $< name $*_bpf > $@.tmp && mv $@.tmp $@

TEST_SRC := $(wildcard tests/unit/test_*.c)
TESTS := $(TEST_SRC:%.c=$(B)/%)
$(B)/tests/unit/%: $(B)/tests/unit/%.o $(B)/libgpubpf.a
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

clean: ## remove what was built
	rm -rf $(B)

.PHONY: all clean
-include $(LIB_OBJ:.o=.d) $(CMD_OBJ:.o=.d) $(TEST_SRC:%.c=$(B)/%.d)
