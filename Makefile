# SPDX-License-Identifier: GPL-2.0-or-later
# gpubpf: everything is built from here, out of tree, in $(B). `make help` lists the targets.
# Parts of the tests bring their own rules: tests/*/*.mk and packaging/*.mk are included below.

# What a user may set. ARCH is the machine the program is built for.
HOST_ARCH := $(shell uname -m)
ARCH ?= $(HOST_ARCH)
override ARCH := $(patsubst arm64,aarch64,$(patsubst amd64,x86_64,$(ARCH)))
CROSS := $(filter-out $(HOST_ARCH),$(ARCH))
B ?= build/$(ARCH)
PREFIX ?= /usr/local
DESTDIR ?=
CFLAGS ?= -O2 -g -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
LDFLAGS ?= -Wl,-z,relro,-z,now

# The first that is installed: unversioned names where the distribution has them, else the newest version.
first-of = $(firstword $(foreach p,$(1),$(shell command -v $(p) 2>/dev/null)))
LLVM_VERSIONS := 21 20 19 18 17 16 15 14
CROSS_COMPILE ?= $(if $(CROSS),$(ARCH)-linux-gnu-)
ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
ifeq ($(origin AR),default)
AR := $(CROSS_COMPILE)ar
endif
STRIP ?= $(CROSS_COMPILE)strip
CLANG ?= $(call first-of,clang $(LLVM_VERSIONS:%=clang-%))
LLVM_STRIP ?= $(call first-of,llvm-strip $(LLVM_VERSIONS:%=llvm-strip-%))
CLANG_TIDY ?= $(call first-of,clang-tidy $(LLVM_VERSIONS:%=clang-tidy-%))
CLANG_FORMAT ?= $(call first-of,clang-format $(LLVM_VERSIONS:%=clang-format-%))
# Ubuntu's bpftool is a script that wants tools of the running kernel; the program itself works on any.
BPFTOOL ?= $(or $(lastword $(sort $(wildcard /usr/lib/linux-tools/*/bpftool /usr/lib/linux-tools-*/bpftool))),$(call first-of,bpftool /usr/sbin/bpftool))
PROTOC_C ?= protoc-c

VERSION := $(shell sed -n 's/^.define GPUBPF_VERSION "\(.*\)"/\1/p' user/cmd.h)
MULTIARCH := $(ARCH)-linux-gnu
BPF_ARCH := $(if $(filter aarch64,$(ARCH)),arm64,x86)
IS_CLANG := $(findstring clang,$(CC))

# gcc warns of cut texts by what its optimizer happens to know; snprintf() cuts where we mean it to.
WARN := -Wall -Wextra -Werror $(if $(IS_CLANG),,-Wno-format-truncation)
# No path of the building machine gets into the program: the same source gives the same bytes. The last match wins.
PREFIX_MAP = -ffile-prefix-map=$(CURDIR)=. -ffile-prefix-map=$(B)=build -ffile-prefix-map=$(abspath $(B))=build
BASE_CFLAGS = -std=gnu17 $(WARN) -D_GNU_SOURCE -Iuser -Ibpf -I. -I$(B)/gen $(PREFIX_MAP) $(if $(HAVE_DW),-DHAVE_LIBDW) \
	$(if $(HAVE_CURSES),-DHAVE_CURSES) $(if $(HAVE_SQLITE3),-DHAVE_SQLITE3) $(if $(HAVE_EVENT),-DHAVE_EVENT)
# Nothing unwinds the program while it runs; what a debugger needs stands in its own section and is stripped.
ALL_CFLAGS = $(BASE_CFLAGS) -fno-asynchronous-unwind-tables $(CFLAGS)
COMMA := ,
ASAN_CFLAGS = $(BASE_CFLAGS) -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=all
BPF_CFLAGS = -g -O2 -Wall -Wextra -Werror -target bpf -D__TARGET_ARCH_$(BPF_ARCH) \
	-idirafter /usr/include/$(MULTIARCH) -Ibpf -ffile-prefix-map=$(CURDIR)=.
# Stacks of wedged processes need libdw with all that a static program wants of it; without it they say so.
DW_LIBS := -ldw -lelf -lz -lzstd -llzma -lbz2
HAVE_DW := $(shell t=$$(mktemp) && echo 'int dwfl_begin(void); int main(void) { return dwfl_begin(); }' | \
	$(CC) -w -static -x c - -o "$$t" $(DW_LIBS) 2>/dev/null && echo yes; rm -f "$$t")
# The screen of `top` likewise; without ncurses it is plain lines.
CURSES_LIBS := -lncursesw -ltinfo
HAVE_CURSES := $(shell t=$$(mktemp) && echo 'int newterm(void); int main(void) { return newterm(); }' | \
	$(CC) -w -static -x c - -o "$$t" $(CURSES_LIBS) 2>/dev/null && \
	$(CC) -fsyntax-only -include curses.h -x c /dev/null 2>/dev/null && echo yes; rm -f "$$t")
# `export --format sqlite`; without it the format says so.
SQLITE_LIBS := -lsqlite3 -lm
HAVE_SQLITE3 := $(shell t=$$(mktemp) && echo 'int sqlite3_open(void); int main(void) { return sqlite3_open(); }' | \
	$(CC) -w -static -x c - -o "$$t" $(SQLITE_LIBS) 2>/dev/null && \
	$(CC) -fsyntax-only -include sqlite3.h -x c /dev/null 2>/dev/null && echo yes; rm -f "$$t")
# `timeline --serve`; without libevent it says so.
EVENT_LIBS := -levent_extra -levent_core
HAVE_EVENT := $(shell t=$$(mktemp) && echo 'int evhttp_new(void); int main(void) { return evhttp_new(); }' | \
	$(CC) -w -static -x c - -o "$$t" $(EVENT_LIBS) 2>/dev/null && \
	$(CC) -fsyntax-only -include event2/http.h -x c /dev/null 2>/dev/null && echo yes; rm -f "$$t")
LIBS := -lbpf $(if $(HAVE_DW)$(HAVE_CURSES),-Wl$(COMMA)--as-needed) $(if $(HAVE_DW),$(DW_LIBS)) $(if $(HAVE_CURSES),$(CURSES_LIBS)) \
	-lelf -lz -lzstd -lprotobuf-c -ljansson -linih -liberty $(if $(HAVE_SQLITE3),$(SQLITE_LIBS)) $(if $(HAVE_EVENT),$(EVENT_LIBS))
LDLIBS ?= $(LIBS)

LIB_SRC := $(wildcard user/*/*.c usdt/*.c elfgate/*.c)
CMD_SRC := $(wildcard user/*.c)
TEST_SRC := $(wildcard tests/unit/test_*.c)
PROTOS := $(notdir $(basename $(wildcard user/*/*.proto)))
PROTO_OBJ := $(PROTOS:%=$(B)/gen/%.pb-c.o)
BPF_IMAGE := $(B)/user/attach/bpf_image.o
PAGE_IMAGE := $(B)/user/timeline/page_image.o
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o) $(PROTO_OBJ) $(BPF_IMAGE) $(PAGE_IMAGE)
SHIM_IMAGE := $(B)/user/shim_image.o
CMD_OBJ := $(CMD_SRC:%.c=$(B)/%.o) $(SHIM_IMAGE)
GEN := $(PROTOS:%=$(B)/gen/%.pb-c.h) $(B)/gen/gpubpf.skel.h $(B)/gen/module.sql.h
TESTS := $(TEST_SRC:%.c=$(B)/%)
ASAN_TESTS := $(TEST_SRC:%.c=$(B)/asan/%)
E2E := $(wildcard tests/e2e/test_*.sh)
SOURCES = $(shell git ls-files '*.c' '*.h' 2>/dev/null || find bpf user shim usdt elfgate tests -name '*.[ch]')

# One short line per step; V=1 shows the commands.
step = $(if $(V),,@printf '  %-6s %s\n' '$(1)' '$(@:$(B)/%=%)';)

.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
all: $(B)/gpubpf $(if $(CROSS),test-programs) ## build the program; for another architecture (ARCH=arm64) the programs of its tests too

# What the suites need beside the programs themselves; the fragments add to these:
#   TEST_NEEDS  targets that are built before the end-to-end tests
#   EXTRA_TESTS programs and scripts that `make test` runs too
TEST_NEEDS :=
EXTRA_TESTS :=
-include $(wildcard packaging/*.mk shim/*.mk tests/*/*.mk)

# Changed only when the flags change, so that another compiler or other flags rebuild.
$(B)/.flags: force
	@mkdir -p $(@D)
	@echo '$(CC) $(ALL_CFLAGS) $(LDFLAGS) $(LDLIBS) | $(ASAN_CFLAGS) | $(CLANG) $(BPF_CFLAGS)' >$@.tmp
	@cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@

$(B)/gpubpf: $(CMD_OBJ) $(B)/libgpubpf.a
	$(call step,LD)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(B)/libgpubpf.a: $(LIB_OBJ)
	@rm -f $@
	$(call step,AR)$(AR) rcsD $@ $^

$(B)/%.o: %.c $(B)/.flags | $(GEN)
	@mkdir -p $(@D)
	$(call step,CC)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(SHIM_IMAGE): user/shim_image.S $(B)/shim/libgpubpf-shim.so $(B)/.flags
	@mkdir -p $(@D)
	$(call step,AS)$(CC) -DSHIM_FILE='"$(B)/shim/libgpubpf-shim.so"' -c -o $@ $<

$(BPF_IMAGE): user/attach/bpf_image.S $(B)/bpf/gpubpf.bpf.o $(B)/.flags
	@mkdir -p $(@D) && gzip -9n -c $(B)/bpf/gpubpf.bpf.o >$(@D)/bpf_image.gz
	$(call step,AS)$(CC) -DBPF_FILE='"$(@D)/bpf_image.gz"' -c -o $@ $<

# The page of `timeline --html`.
$(B)/gen/page.gz: $(wildcard user/timeline/page/*)
	@mkdir -p $(@D)
	$(call step,GEN)user/timeline/page/assemble.sh $@

$(PAGE_IMAGE): user/timeline/page_image.S $(B)/gen/page.gz $(B)/.flags
	@mkdir -p $(@D)
	$(call step,AS)$(CC) -DPAGE_FILE='"$(B)/gen/page.gz"' -c -o $@ $<

$(B)/gen/%.pb-c.o: $(B)/gen/%.pb-c.c $(B)/.flags
	$(call step,CC)$(CC) $(ALL_CFLAGS) -c -o $@ $<

vpath %.proto $(sort $(dir $(wildcard user/*/*.proto)))
$(B)/gen/%.pb-c.c $(B)/gen/%.pb-c.h: %.proto
	@mkdir -p $(@D)
	$(call step,GEN)$(PROTOC_C) -I$(<D) --c_out=$(B)/gen $<

# SQL as a string of C.
$(B)/gen/%.sql.h: user/timeline/%.sql
	@mkdir -p $(@D)
	$(call step,GEN)sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $< >$@

# $(2): the mode of deps.sh that installs it, when that is not build.
need-tool = $(if $($(1)),,$(error $(1) was not found: packaging/deps.sh $(or $(2),build) installs it))
$(B)/bpf/%.bpf.o: bpf/%.bpf.c $(B)/.flags
	$(call need-tool,CLANG)$(call need-tool,LLVM_STRIP)@mkdir -p $(@D)
	$(call step,BPF)$(CLANG) $(BPF_CFLAGS) -MMD -MP -MT $@ -MF $(@:.o=.d) -c -o $@.tmp $<
	@$(LLVM_STRIP) -g $@.tmp && mv $@.tmp $@

# Without the object's bytes, which are in $(BPF_IMAGE): each file that includes it would hold them.
SKELETON_BYTES = /^static inline const void \*gpubpf_bpf__elf_bytes\(size_t \*sz\)$$/ \
	{ print; print "{\n\t*sz = 0;\n\treturn NULL;\n}"; cut = 1 } !cut; $$0 == "}" { cut = 0 }
$(B)/gen/%.skel.h: $(B)/bpf/%.bpf.o
	$(call need-tool,BPFTOOL)@mkdir -p $(@D)
	$(call step,GEN)(echo '// NOLINTBEGIN'; $(BPFTOOL) gen skeleton $< name $*_bpf && echo '// NOLINTEND') | \
		awk '$(SKELETON_BYTES)' > $@.tmp && grep -q NOLINTEND $@.tmp && mv $@.tmp $@

$(B)/tests/%.o $(B)/asan/tests/%.o: private BASE_CFLAGS += -Itests

$(B)/tests/unit/%: $(B)/tests/unit/%.o $(B)/libgpubpf.a
	$(call step,LD)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# The same with AddressSanitizer and UndefinedBehaviorSanitizer, beside the others.
$(B)/asan/%.o: %.c $(B)/.flags | $(GEN)
	@mkdir -p $(@D)
	$(call step,CC)$(CC) $(ASAN_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/asan/libgpubpf.a: $(LIB_SRC:%.c=$(B)/asan/%.o) $(PROTO_OBJ) $(BPF_IMAGE) $(PAGE_IMAGE)
	@rm -f $@
	$(call step,AR)$(AR) rcsD $@ $^

$(B)/asan/gpubpf: $(CMD_SRC:%.c=$(B)/asan/%.o) $(SHIM_IMAGE) $(B)/asan/libgpubpf.a
	$(call step,LD)$(CC) $(ASAN_CFLAGS) -o $@ $^ $(LDLIBS)

$(B)/asan/tests/unit/%: $(B)/asan/tests/unit/%.o $(B)/asan/libgpubpf.a
	$(call step,LD)$(CC) $(ASAN_CFLAGS) -o $@ $^ $(LDLIBS)

asan: $(ASAN_TESTS) $(B)/asan/gpubpf ## build the unit tests and the program with ASan and UBSan, in $(B)/asan

# For a make that nobody told how many jobs to run. Whoever did has a job server, or set one job at a time with JOBS=1.
JOBS ?= $(shell nproc)
in-parallel = $(if $(filter --jobserver%,$(MAKEFLAGS)),,-j$(JOBS))

# The tools are looked for when make starts, so what deps.sh brings is seen by a make of its own.
test: ## install what is missing, build, run the unit tests (bare and sanitized) and the end-to-end tests; ONLY=WORD
	@packaging/deps.sh test
	@$(MAKE) --no-print-directory $(in-parallel) test-run

test-run: $(B)/gpubpf $(TESTS) $(ASAN_TESTS) $(B)/asan/gpubpf $(TEST_NEEDS) ## the same without looking for packages
	@B='$(B)' GPUBPF='$(B)/gpubpf' SIM='$(B)/sim' CC='$(CC)' ONLY='$(ONLY)' \
		tests/run.sh $(TESTS) $(ASAN_TESTS) $(E2E) $(EXTRA_TESTS)

test-programs: $(TESTS) $(BENCH_TOOLS) tools sim kernel-guest elfgate-objects ## build the programs of the tests and benchmarks, run none; also with ARCH=aarch64

test-gated: ## list the opt-in suites, whether each can run here, what it lacks; REQUIRE='NAME …' fails on a lack
	@B='$(B)' CLANG='$(CLANG)' tests/gated.sh $(REQUIRE)

test-clang: ## build everything once more with clang, in $(B)/clang
	$(call need-tool,CLANG)@$(MAKE) --no-print-directory B=$(B)/clang CC=$(CLANG) all $(TEST_SRC:%.c=$(B)/clang/%)

demo: ## install what is missing, build, record and report the demo workload
	@packaging/deps.sh build
	@$(MAKE) --no-print-directory $(in-parallel) demo-run

demo-run: $(B)/gpubpf
	@B='$(B)' CC='$(CC)' packaging/demo.sh

# Man pages and completions come out of the program's own tables, so a cross build needs one for this machine.
DOC_PROGRAM := $(if $(CROSS),$(B)/host/gpubpf,$(B)/gpubpf)
$(B)/host/gpubpf: force
	+@$(MAKE) --no-print-directory ARCH=$(HOST_ARCH) B=$(B)/host CC=gcc AR=ar CROSS_COMPILE= $@

$(B)/doc/.done: $(DOC_PROGRAM)
	@rm -rf $(B)/doc
	@mkdir -p $(B)/doc/man/man1 $(B)/doc/bash-completion/completions $(B)/doc/zsh/site-functions \
		$(B)/doc/fish/vendor_completions.d $(B)/doc/gpubpf
	@set -e; for v in $$($(DOC_PROGRAM) --man); do \
		page=gpubpf-$$v; [ $$v != gpubpf ] || page=gpubpf; \
		$(DOC_PROGRAM) --man $$v >$(B)/doc/man/man1/$$page.1; done
	@$(DOC_PROGRAM) --completion bash >$(B)/doc/bash-completion/completions/gpubpf
	@$(DOC_PROGRAM) --completion zsh >$(B)/doc/zsh/site-functions/_gpubpf
	@$(DOC_PROGRAM) export --schema >$(B)/doc/gpubpf/export.schema.json
	@$(DOC_PROGRAM) export --schema --format sqlite >$(B)/doc/gpubpf/export.sql
	@$(DOC_PROGRAM) --completion fish >$(B)/doc/fish/vendor_completions.d/gpubpf.fish
	@touch $@

doc: $(B)/doc/.done ## make the man pages and completions, in $(B)/doc

install: $(B)/gpubpf $(B)/doc/.done ## install program, shim, man pages and completions (DESTDIR, PREFIX=/usr/local)
	@packaging/install-tree.sh $(B)/gpubpf $(B)/shim/libgpubpf-shim.so $(B)/doc '$(DESTDIR)$(PREFIX)'

# For every static program: prerequisite and end of the link line.
$(B)/static/libeu.a: $(B)/packaging/libeu.o
	@mkdir -p $(@D) && rm -f $@
	$(call step,AR)$(AR) rcsD $@ $^

$(B)/static/gpubpf: $(CMD_OBJ) $(B)/packaging/static_unused.o $(B)/libgpubpf.a $(B)/static/libeu.a
	$(call step,LD)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -static -o $@.tmp $(CMD_OBJ) $(B)/packaging/static_unused.o $(B)/libgpubpf.a $(LDLIBS) $(B)/static/libeu.a
	@$(STRIP) $@.tmp && mv $@.tmp $@

SOURCE_DATE_EPOCH ?= $(or $(shell git log -1 --format=%ct 2>/dev/null),0)
DIST := gpubpf-$(VERSION)-linux-$(ARCH)
dist: $(B)/dist/$(DIST).tar.gz ## make the tarball of the static program, in $(B)/dist
$(B)/dist/$(DIST).tar.gz: $(B)/static/gpubpf $(B)/doc/.done packaging/dist.sh packaging/install.sh \
		packaging/install-tree.sh $(wildcard LICENSE* README.md)
	@packaging/dist.sh $(B)/static/gpubpf $(B)/shim/libgpubpf-shim.so $(B)/doc $@ $(SOURCE_DATE_EPOCH)

check: ## static checks: formatting, sizes of files, clang-tidy, cppcheck, shell syntax
	@$(MAKE) --no-print-directory check-format check-size check-shell check-cppcheck check-tidy

check-format:
	$(call need-tool,CLANG_FORMAT,check)@$(CLANG_FORMAT) --dry-run -Werror $(SOURCES)

check-size:
	@wc -l $(SOURCES) | awk '$$2 != "total" && $$1 > 600 { print $$2 ": " $$1 " lines, more than 600"; bad = 1 } \
		END { exit bad }'

check-shell:
	@for f in $$(git ls-files '*.sh' .ci/run); do bash -n $$f || exit 1; done

check-cppcheck: $(GEN)
	@cppcheck -q -j 2 --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
		--suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches --suppress=unknownMacro \
		--suppress=preprocessorErrorDirective:$(B)/gen/* --suppress=*:$(B)/gen/* \
		-D_GNU_SOURCE -Iuser -Ibpf -I. -I$(B)/gen $(LIB_SRC) $(CMD_SRC)

check-tidy: $(GEN)
	$(call need-tool,CLANG_TIDY,check)@printf '%s\n' $(LIB_SRC) $(CMD_SRC) | \
		xargs -P 2 -n 1 sh -c '$(CLANG_TIDY) --quiet "$$@" -- $(patsubst -I$(B)/gen,-isystem $(B)/gen,$(filter-out -Wno-%,$(BASE_CFLAGS))) 2>/dev/null' sh

format: ## format the C sources in place
	$(call need-tool,CLANG_FORMAT,check)$(CLANG_FORMAT) -i $(SOURCES)

# One entry per C file: {"directory", "file", "command"}. By way of a file: together they are too long for an argument.
json-entry = {"directory": "$(CURDIR)", "file": "$(1)", "command": "$(2) -c $(1)"}
JSON_C = $(foreach f,$(LIB_SRC) $(CMD_SRC) $(wildcard tests/*/*.c),$(call json-entry,$(f),$(CC) $(ALL_CFLAGS))@)
JSON_BPF = $(foreach f,$(wildcard bpf/*.bpf.c),$(call json-entry,$(f),$(CLANG) $(BPF_CFLAGS))@)
compile_commands.json: force $(GEN) ## for editors (clangd)
	$(file >$(B)/gen/commands,[$(JSON_C) $(JSON_BPF)])@sed 's/@ *\]/]/; s/@ */,\n/g' $(B)/gen/commands >$@

clean: ## remove what was built
	rm -rf $(B)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z][a-z0-9._-]*:.*## / && !seen[$$1]++ { printf "  make %-21s %s\n", $$1, $$2 }' \
		$(MAKEFILE_LIST)

force:
.PHONY: all asan test test-run test-programs test-gated test-clang demo demo-run doc install dist check check-format check-size \
	check-shell check-cppcheck check-tidy format clean help force
-include $(LIB_OBJ:.o=.d) $(CMD_OBJ:.o=.d) $(TEST_SRC:%.c=$(B)/%.d) $(wildcard $(B)/bpf/*.d) \
	$(LIB_SRC:%.c=$(B)/asan/%.d) $(CMD_SRC:%.c=$(B)/asan/%.d) $(TEST_SRC:%.c=$(B)/asan/%.d)
