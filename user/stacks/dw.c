// SPDX-License-Identifier: GPL-2.0-or-later
#include "stacks/dw.h"

#include <errno.h>

#ifndef HAVE_LIBDW
bool dw_built(void)
{
	return false;
}

int dw__new(pid_t pid, int dir, struct dw **out)
{
	(void)pid, (void)dir;
	*out = NULL;
	return -ENOTSUP;
}

int dw__report(struct dw *d, const struct maps *m)
{
	(void)d, (void)m;
	return -ENOTSUP;
}

void dw__unwind(struct dw *d, const struct stack_raw *raw, struct dw_chain *c)
{
	(void)d, (void)raw;
	*c = (struct dw_chain){ .n = 0 };
}

int dw__frames(struct dw *d, uint64_t pc, dw_frame_fn *fn, void *arg)
{
	static const struct dw_frame none;

	(void)d, (void)pc;
	return fn(&none, arg);
}

void dw__free(struct dw *d)
{
	(void)d;
}
#else

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <libiberty/demangle.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stacks/debugfile.h"

#define UNWOUND_MAX 400 /* frames of functions; inline ones come on top */
#define NAME_MAX_CHARS 1000

struct dw {
	Dwfl *dwfl;
	Dwfl_Callbacks callbacks;
	char root[32]; /* before the names of its files; "": they are ours as well */
	int dir, self;
	Elf *own; /* of the architecture that targets have */
	bool attached;
	const struct stack_raw *raw; /* being unwound */
	bool missed, overran;        /* memory that it asked for; behind the end of the copy */
	pid_t pid;
};

/*
 * dwfl_end() asks for it. In a static program libdw's own brings a client of debug servers along, which loads libraries before
 * main() (elfutils, libdwfl/debuginfod-client.c); in others libdw.so keeps to its own.
 */
void __libdwfl_debuginfod_end(void *client); /* NOLINT(bugprone-reserved-identifier) */
void __libdwfl_debuginfod_end(void *client)  /* NOLINT(bugprone-reserved-identifier) */
{
	(void)client;
}

bool dw_built(void)
{
	return true;
}

/* Each module is reported with its file. */
static int no_elf(Dwfl_Module *m, void **data, const char *name, Dwarf_Addr base, char **file, Elf **elf)
{
	(void)m, (void)data, (void)name, (void)base, (void)file, (void)elf;
	return -1;
}

static int find_debug(Dwfl_Module *m, void **data, const char *name, Dwarf_Addr base, const char *file,
		      const char *link, GElf_Word crc, char **found)
{
	const struct dw *d = *data;
	const unsigned char *id = NULL;
	struct debugfile f = { .root = d ? d->root : "", .file = name, .link = link, .crc = crc };
	GElf_Addr at;
	int n = dwfl_module_build_id(m, &id, &at);

	(void)base, (void)file;
	f.build_id = id;
	f.nbuild_id = n > 0 ? (size_t)n : 0;
	return debugfile_open(&f, found);
}

/* A process that is gone is taken to have had ours: its files are held against what was mapped. */
static bool shares_root(int dir)
{
	struct stat ours, its;

	if (fstatat(dir, "root", &its, 0))
		return true;
	return !stat("/", &ours) && ours.st_dev == its.st_dev && ours.st_ino == its.st_ino;
}

int dw__new(pid_t pid, int dir, struct dw **out)
{
	struct dw *d = calloc(1, sizeof(*d));

	*out = NULL;
	if (!d)
		return -ENOMEM;
	d->pid = pid;
	d->dir = dir;
	if (!shares_root(dir))
		snprintf(d->root, sizeof(d->root), "/proc/%d/root", pid);
	d->callbacks = (Dwfl_Callbacks){ .find_elf = no_elf, .find_debuginfo = find_debug };
	elf_version(EV_CURRENT);
	d->self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	d->own = d->self < 0 ? NULL : elf_begin(d->self, ELF_C_READ_MMAP, NULL);
	d->dwfl = dwfl_begin(&d->callbacks);
	if (!d->dwfl || !d->own) {
		dw__free(d);
		return -ENOMEM;
	}
	*out = d;
	return 0;
}

/* The file itself, whatever stands under its name by now. */
static int open_mapped(const struct dw *d, const struct mapping *m)
{
	char name[64 + PATH_MAX];
	int fd;

	snprintf(name, sizeof(name), "map_files/%llx-%llx", (unsigned long long)m->start,
		 (unsigned long long)m->end);
	fd = openat(d->dir, name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	snprintf(name, sizeof(name), "root%s", m->path);
	fd = openat(d->dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd >= 0 || d->root[0] ? fd : open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* How far it stands from where it was linked to: segments need not be as far apart in the file as in memory. */
static bool bias_of(int fd, const struct mapping *m, GElf_Addr *bias)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	GElf_Ehdr ehdr;
	GElf_Phdr ph;
	size_t n = 0;
	bool found = false;

	if (!elf || !gelf_getehdr(elf, &ehdr) || elf_getphdrnum(elf, &n))
		n = 0;
	for (size_t i = 0; i < n && !found; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD)
			continue;
		/* page sizes differ: within the segment is enough */
		if (m->offset > ph.p_offset + ph.p_filesz || m->offset + (m->end - m->start) <= ph.p_offset)
			continue;
		found = ph.p_flags & PF_X;
		*bias = m->start - m->offset + ph.p_offset - ph.p_vaddr;
	}
	elf_end(elf);
	return found;
}

static void report_file(struct dw *d, const struct mapping *m)
{
	char name[sizeof(d->root) + PATH_MAX];
	int fd = open_mapped(d, m);
	Dwfl_Module *module = NULL;
	GElf_Addr bias;
	struct stat st;
	void **data;

	if (fd < 0)
		return;
	snprintf(name, sizeof(name), "%s%s", d->root, m->path);
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_ino == m->ino && bias_of(fd, m, &bias))
		module = dwfl_report_elf(d->dwfl, m->path, name, fd, bias, true);
	if (!module)
		close(fd);
	else if (dwfl_module_info(module, &data, NULL, NULL, NULL, NULL, NULL, NULL))
		*data = d;
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	struct dw *d = arg;

	(void)dwfl;
	if (*thread)
		return 0;
	*thread = d;
	return 1;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *word, void *arg)
{
	struct dw *d = arg;
	const struct stack_raw *r = d->raw;

	(void)dwfl;
	if (addr >= r->base && addr - r->base <= UINT32_MAX && addr - r->base + sizeof(*word) <= r->n) {
		memcpy(word, (const uint8_t *)r->data + (addr - r->base), sizeof(*word));
		return true;
	}
	d->missed = true;
	/* within a few frames behind the end of the copy: that is where it goes on */
	if (r->end == STACK_END_LIMIT && addr >= r->base + r->n - sizeof(*word) &&
	    addr < r->base + r->n + (8u << 20))
		d->overran = true;
	return false;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct stack_raw *r = ((struct dw *)arg)->raw;
#if defined(__x86_64__)
	/* System V ABI, AMD64 supplement, figure 3.36: DWARF register number mapping */
	const struct {
		int number;
		Dwarf_Word value;
	} regs[] = { { 3, r->saved[0] },  { 6, r->fp },        { 7, r->sp },        { 12, r->saved[1] },
		     { 13, r->saved[2] }, { 14, r->saved[3] }, { 15, r->saved[4] }, { 16, r->pc } };

	for (size_t i = 0; i < sizeof(regs) / sizeof(regs[0]); i++)
		if (!dwfl_thread_state_registers(thread, regs[i].number, 1, &regs[i].value))
			return false;
	return true;
#elif defined(__aarch64__)
	/* DWARF for the Arm 64-bit Architecture: x0 … x30 are 0 … 30, SP is 31 */
	const Dwarf_Word frame[] = { r->fp, r->pc, r->sp }; /* x29, x30, SP */

	if (!dwfl_thread_state_registers(thread, 19, 10, (const Dwarf_Word *)r->saved) ||
	    !dwfl_thread_state_registers(thread, 29, 3, frame))
		return false;
	dwfl_thread_state_register_pc(thread, r->pc);
	return true;
#else
	(void)thread, (void)r;
	return false;
#endif
}

struct reported {
	struct reported_module {
		char *name;
		Dwarf_Addr start, end;
	} * v;
	size_t n;
};

static int on_module(Dwfl_Module *m, void **data, const char *name, Dwarf_Addr start, void *arg)
{
	struct reported *r = arg;
	struct reported_module *grown = realloc(r->v, (r->n + 1) * sizeof(*grown));
	Dwarf_Addr end = start;

	(void)data;
	if (!grown)
		return DWARF_CB_ABORT;
	r->v = grown;
	dwfl_module_info(m, NULL, NULL, &end, NULL, NULL, NULL, NULL);
	r->v[r->n] = (struct reported_module){ strdup(name), start, end };
	if (!r->v[r->n].name)
		return DWARF_CB_ABORT;
	r->n++;
	return DWARF_CB_OK;
}

/* One that is there already: to report its file anew would throw it away. */
static bool report_again(struct dw *d, const struct reported *r, const struct mapping *m)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct reported_module *o = &r->v[i];

		if (m->start >= o->start && m->start < o->end && !strcmp(m->path, o->name))
			return dwfl_report_module(d->dwfl, o->name, o->start, o->end) != NULL;
	}
	return false;
}

int dw__report(struct dw *d, const struct maps *m)
{
	static const Dwfl_Thread_Callbacks threads = { .next_thread = next_thread,
						       .memory_read = memory_read,
						       .set_initial_registers = set_registers };
	struct reported before = { 0 };
	int e;

	dwfl_getmodules(d->dwfl, on_module, &before, 0);
	dwfl_report_begin(d->dwfl);
	for (size_t i = 0, last = SIZE_MAX; i < m->n; i++) {
		const struct mapping *v = &m->v[i];

		if (!v->exec || !mapping__is_file(v) || v->first == last)
			continue;
		last = v->first;
		if (!report_again(d, &before, v))
			report_file(d, v);
	}
	e = dwfl_report_end(d->dwfl, NULL, NULL) ? -EIO : 0;
	for (size_t i = 0; i < before.n; i++)
		free(before.v[i].name);
	free(before.v);
	if (!e && !d->attached)
		d->attached = dwfl_attach_state(d->dwfl, d->own, d->pid, &threads, d);
	return e;
}

struct unwinding {
	struct dw_chain *chain;
	bool limited;
};

static int on_frame(Dwfl_Frame *frame, void *arg)
{
	struct unwinding *u = arg;
	struct dw_chain *c = u->chain;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	if (c->n == UNWOUND_MAX) {
		u->limited = true;
		return DWARF_CB_ABORT;
	}
	/* the first one is behind a call, too */
	c->pc[c->n++] = pc - 1;
	return DWARF_CB_OK;
}

void dw__unwind(struct dw *d, const struct stack_raw *raw, struct dw_chain *c)
{
	struct unwinding u = { .chain = c };
	int rc;

	*c = (struct dw_chain){ .n = 0 };
	if (!d->attached)
		return;
	d->raw = raw;
	d->missed = d->overran = false;
	dwfl_errno();
	rc = dwfl_getthread_frames(d->dwfl, 1, on_frame, &u);
	d->raw = NULL;
	/* a return address that cannot be read ends it as one that is undefined does */
	c->whole = rc == 0 && c->n && !d->missed;
	c->limited = u.limited || d->overran;
}

/* ---- Names ---- */

static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		name = dwarf_formstring(&attr);
	return name ? name : dwarf_diename(die);
}

static int give(const char *function, const char *file, int line, bool inlined, dw_frame_fn *fn, void *arg)
{
	char source[PATH_MAX + 16], name[NAME_MAX_CHARS], *plain = NULL;
	struct dw_frame f = { .inlined = inlined };
	int rc;

	if (file && line > 0) {
		snprintf(source, sizeof(source), "%s:%d", file, line);
		f.source = source;
	}
	if (function) /* without the symbol's version */
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(function, "@"), function);
	if (function && strlen(function) < sizeof(name))
		plain = cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
	f.function = plain ? plain : function ? name : NULL;
	rc = fn(&f, arg);
	free(plain);
	return rc;
}

/* Where a call stands that was made inline. */
static void call_site(Dwarf_Die *cu, Dwarf_Die *die, const char **file, int *line)
{
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Word n;

	*file = NULL;
	*line = 0;
	if (dwarf_getsrcfiles(cu, &files, NULL))
		return;
	if (dwarf_attr(die, DW_AT_call_file, &attr) && !dwarf_formudata(&attr, &n))
		*file = dwarf_filesrc(files, n, NULL, NULL);
	if (dwarf_attr(die, DW_AT_call_line, &attr) && !dwarf_formudata(&attr, &n))
		*line = n < INT_MAX ? (int)n : 0;
}

static const char *symbol_at(Dwfl_Module *m, Dwarf_Addr pc)
{
	GElf_Off offset;
	GElf_Sym sym;
	const char *name = dwfl_module_addrinfo(m, pc, &offset, &sym, NULL, NULL, NULL);

	/* behind the end of a function it is the one before an unnamed one; assembly has no sizes */
	return name && (!sym.st_size || offset < sym.st_size) ? name : NULL;
}

static int give_scopes(Dwfl_Module *m, Dwarf_Addr pc, const char *symbol, dw_frame_fn *fn, void *arg)
{
	Dwarf_Addr bias = 0;
	Dwarf_Die *cu = dwfl_module_addrdie(m, pc, &bias), *in = NULL, *scopes = NULL;
	Dwfl_Line *at = dwfl_module_getsrc(m, pc);
	const char *file = NULL;
	int line = 0, n = 0, rc = 0;
	bool done = false;

	if (at)
		file = dwfl_lineinfo(at, NULL, &line, NULL, NULL, NULL);
	if (cu && dwarf_getscopes(cu, pc - bias, &in) > 0)
		n = dwarf_getscopes_die(&in[0], &scopes);
	for (int i = 0; i < n && !rc && !done; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag == DW_TAG_inlined_subroutine) {
			rc = give(die_name(&scopes[i]), file, line, true, fn, arg);
			call_site(cu, &scopes[i], &file, &line);
		} else if (tag == DW_TAG_subprogram || tag == DW_TAG_entry_point) {
			rc = give(symbol ? symbol : die_name(&scopes[i]), file, line, false, fn, arg);
			done = true;
		}
	}
	if (!rc && !done)
		rc = give(symbol, file, line, false, fn, arg);
	free(scopes);
	free(in);
	return rc;
}

int dw__frames(struct dw *d, uint64_t pc, dw_frame_fn *fn, void *arg)
{
	Dwfl_Module *m = dwfl_addrmodule(d->dwfl, pc);
	Dwarf_Addr end = 0;

	/* the last module is given for all that is behind it */
	if (!m || !dwfl_module_info(m, NULL, NULL, &end, NULL, NULL, NULL, NULL) || pc >= end)
		return give(NULL, NULL, 0, false, fn, arg);
	return give_scopes(m, pc, symbol_at(m, pc), fn, arg);
}

void dw__free(struct dw *d)
{
	if (!d)
		return;
	if (d->dwfl)
		dwfl_end(d->dwfl);
	if (d->own)
		elf_end(d->own);
	if (d->self >= 0)
		close(d->self);
	free(d);
}
#endif
