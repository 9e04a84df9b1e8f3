# SPDX-License-Identifier: GPL-2.0-or-later
# libgpubpf-shim.so, which foreign processes load, and the same sources for tests:
#
#   $(B)/shim/libgpubpf-shim.so     as it is shipped (stripped; what was stripped is beside it)
#   $(B)/shim/.checked              it keeps the rules of `gpubpf elfgate --profile shim`
#   $(B)/shim/test/…, asan/, tsan/  libshim.a of a test build, for unit tests named tests/unit/test_shim_*.c
#   $(B)/shim/test/libgpubpf-shim.so, $(B)/shim/old/libgpubpf-shim.so, $(B)/shim/slow/libgpubpf-shim.so
#                                   aborts where the rules of shim/guard.h are broken; what must hang; callbacks of 20 us
SHIM_DIR = $(B)/shim
SHIM_SRC := $(filter-out shim/abi_check.c,$(wildcard shim/*.c))
SHIM_MOST_BYTES := 100000
SHIM_CFLAGS = -std=gnu17 $(WARN) -D_GNU_SOURCE -Ibpf -I. -Ishim -DGPUBPF_SHIM_VERSION='"$(VERSION)"' $(PREFIX_MAP) $(CFLAGS)
SHIM_OBJ := $(SHIM_SRC:shim/%.c=$(SHIM_DIR)/%.o)
# What runs for each launch or record; the rest is made for size. On aarch64, whose pages may be of 64 KiB, the file grows
# by as much where what is read-only passes the next multiple of that.
SHIM_HOT := batch buffers callbacks clock decode emit names
# One folder per build: its flags, and what links it.
SHIM_VARIANTS := test old slow asan tsan
SHIM_test_CFLAGS = -fPIC -fvisibility=hidden -DGPUBPF_SHIM_TEST
SHIM_old_CFLAGS = -fPIC -fvisibility=hidden -DGPUBPF_SHIM_OLD_DESIGN
SHIM_slow_CFLAGS = -fPIC -fvisibility=hidden -DGPUBPF_SHIM_SLOW=20000
SHIM_asan_CFLAGS = -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all -DGPUBPF_SHIM_TEST
SHIM_tsan_CFLAGS = -O1 -fno-omit-frame-pointer -fsanitize=thread -DGPUBPF_SHIM_TEST
SHIM_TESTS := $(notdir $(basename $(wildcard tests/unit/test_shim_*.c)))

$(SHIM_DIR)/%.o: shim/%.c packaging/floor.h $(B)/.flags
	@mkdir -p $(@D)
	$(call step,CC)$(CC) $(SHIM_CFLAGS) $(if $(filter $*,$(SHIM_HOT)),,-Os) $(FLOOR_CFLAGS) -MMD -MP -c -o $@ $<

# -z nodelete: its worker cannot be called back from code that is no longer mapped.
$(SHIM_DIR)/libgpubpf-shim.so: $(SHIM_OBJ) $(FLOOR_DEPS)
	$(call step,LD)$(CC) $(FLOOR_LDFLAGS) -Wl,-z,nodelete -Wl,-soname,libgpubpf-shim.so -o $@.debug $(SHIM_OBJ) $(FLOOR_LIBS)
	@$(STRIP) -o $@.tmp $@.debug
	@n=$$(stat -c %s $@.tmp); [ $$n -lt $(SHIM_MOST_BYTES) ] || \
		{ echo "$@: $$n bytes, the limit is $(SHIM_MOST_BYTES)" >&2; exit 1; }
	@! grep -aqi 'cuptiFinalize' $@.tmp || { echo "$@: it names cuptiFinalize, after which launches of graphs failed: it must never call it" >&2; exit 1; }
	@mv $@.tmp $@

# A cross build asks the program of this machine.
SHIM_GATE := $(if $(CROSS),$(B)/host/gpubpf,$(B)/gpubpf)
$(SHIM_DIR)/.checked: $(SHIM_DIR)/libgpubpf-shim.so $(SHIM_GATE)
	$(call step,CHECK)$(SHIM_GATE) elfgate --profile shim $< >$@.log || { cat $@.log >&2; exit 1; }
	@mv $@.log $@

define shim_variant
$(SHIM_DIR)/$(1)/%.o: shim/%.c $(B)/.flags
	@mkdir -p $$(@D)
	$$(call step,CC)$$(CC) $$(SHIM_CFLAGS) $$(SHIM_$(1)_CFLAGS) -MMD -MP -c -o $$@ $$<
$(SHIM_DIR)/$(1)/libshim.a: $(SHIM_SRC:shim/%.c=$(SHIM_DIR)/$(1)/%.o)
	@rm -f $$@
	$$(call step,AR)$$(AR) rcsD $$@ $$^
$(SHIM_DIR)/$(1)/libgpubpf-shim.so: $(SHIM_SRC:shim/%.c=$(SHIM_DIR)/$(1)/%.o)
	$$(call step,LD)$$(CC) -shared -pthread -Wl,-z,nodelete -Wl,-soname,libgpubpf-shim.so -o $$@ $$^ -ldl
endef
$(foreach v,$(SHIM_VARIANTS),$(eval $(call shim_variant,$(v))))

# The tests of the shim link it as a test build; with ThreadSanitizer they are programs of their own.
$(B)/tests/unit/test_shim_%.o $(B)/asan/tests/unit/test_shim_%.o: private BASE_CFLAGS += -Ishim -DGPUBPF_SHIM_TEST
$(SHIM_TESTS:%=$(B)/tests/unit/%): $(SHIM_DIR)/test/libshim.a
$(SHIM_TESTS:%=$(B)/asan/tests/unit/%): $(SHIM_DIR)/asan/libshim.a
$(SHIM_TESTS:%=$(SHIM_DIR)/tsan/%): $(SHIM_DIR)/tsan/%: tests/unit/%.c $(wildcard tests/t.h tests/unit/shim_*.h) \
		$(SHIM_DIR)/tsan/libshim.a
	$(call step,CC)$(CC) $(SHIM_CFLAGS) $(SHIM_tsan_CFLAGS) -Itests -pthread -o $@ $< $(SHIM_DIR)/tsan/libshim.a -ldl

shim: $(SHIM_DIR)/libgpubpf-shim.so ## build the library of the device observer
shim-variants: $(SHIM_DIR)/test/libgpubpf-shim.so $(SHIM_DIR)/old/libgpubpf-shim.so $(SHIM_DIR)/slow/libgpubpf-shim.so

all: $(SHIM_DIR)/.checked
TEST_NEEDS += shim-variants $(SHIM_DIR)/.checked
# As the compiler of a cross build has no ThreadSanitizer's runtime to run here.
SHIM_TSAN_TESTS := $(if $(CROSS),,$(SHIM_TESTS:%=$(SHIM_DIR)/tsan/%))
EXTRA_TESTS += $(SHIM_TSAN_TESTS)
TEST_NEEDS += $(SHIM_TSAN_TESTS)

-include $(SHIM_OBJ:.o=.d) $(foreach v,$(SHIM_VARIANTS),$(SHIM_SRC:shim/%.c=$(SHIM_DIR)/$(v)/%.d))
.PHONY: shim shim-variants
