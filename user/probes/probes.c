/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probes/probes.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/libfind.h"
#include "util/err.h"

static bool has_ours(const struct usdt_file *f)
{
	const struct usdt_probe *p;

	for (size_t i = 0; (p = usdt_file__probe(f, i)); i++) {
		if (strcmp(p->provider, USDT_CONTRACT_PROVIDER) == 0)
			return true;
	}
	return false;
}

/* Takes the file over, also on failure. */
static int object_add(struct probes *p, const char *path, bool deleted, struct usdt_file *file)
{
	struct probes_object *grown = realloc(p->objects, (p->n + 1) * sizeof(*grown));
	struct probes_object o = { .path = strdup(path), .deleted = deleted, .file = file };

	if (grown)
		p->objects = grown;
	if (!grown || !o.path) {
		free(o.path);
		usdt_file__close(file);
		return -ENOMEM;
	}
	p->objects[p->n++] = o;
	return 0;
}

int probes__file(struct probes *p, const char *path, const char *debug_file, struct err *err)
{
	struct usdt_opts o = { .debug_file = debug_file };
	struct usdt_err ue = { "" };
	struct usdt_file *file;
	int e = usdt_file__open(path, &o, &file, &ue);

	if (e)
		return err_set(err, e, "%s", ue.msg);
	if (!usdt_file__count(file)) {
		size_t damaged = usdt_file__damaged(file);

		usdt_file__close(file);
		return damaged ? err_set(err, -ENOENT,
					 "%s has no USDT probe that can be read; %zu notes are damaged", path,
					 damaged)
			       : err_set(err, -ENOENT, "%s has no USDT probes (no note \"stapsdt\")", path);
	}
	if (object_add(p, path, false, file))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

static bool is_path(const char *path)
{
	return path[0] == '/';
}

static bool is_elf(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char magic[SELFMAG] = "";
	bool yes = fd >= 0 && read(fd, magic, sizeof(magic)) == sizeof(magic) &&
		   !memcmp(magic, ELFMAG, SELFMAG);

	if (fd >= 0)
		close(fd);
	return yes;
}

static void unread(struct probes *p, const char *why)
{
	p->unread++;
	if (!p->unread_why)
		p->unread_why = strdup(why);
}

/* Files that are no ELF are mapped executable too (JIT caches, Java archives): no news. */
static int mapped_file(struct probes *p, const struct libfile *lf)
{
	struct usdt_err ue = { "" };
	struct usdt_file *file;
	int e = usdt_file__open(lf->open_path, NULL, &file, &ue);

	if (e == -ENOMEM)
		return e;
	if (e) {
		if (e != -ENOEXEC || is_elf(lf->open_path))
			unread(p, ue.msg);
		return 0;
	}
	if (!usdt_file__count(file)) {
		usdt_file__close(file);
		return 0;
	}
	return object_add(p, lf->path, lf->deleted, file);
}

int probes__process(struct probes *p, pid_t pid, struct err *err)
{
	struct liblist l = { 0 };
	int e = libfind_mapped_files(&l, pid, is_path);

	if (e == -ESRCH) {
		err_set(err, e, "there is no process %d", (int)pid);
		goto out;
	}
	if (e && !l.n) {
		err_set(err, e, "what process %d has mapped cannot be read: %s", (int)pid, strerror(-e));
		goto out;
	}
	if (e)
		unread(p, strerror(-e));
	e = 0;
	for (size_t i = 0; i < l.n && !e; i++)
		e = mapped_file(p, &l.files[i]);
	if (e)
		err_set(err, e, "out of memory");
	else if (!l.n)
		e = err_set(err, -ENOENT,
			    "process %d has no file mapped as code (a kernel thread, or it ended)", (int)pid);
	else if (!p->n)
		e = err_set(err, -ENOENT,
			    "none of the %zu files that process %d has mapped as code has USDT probes%s", l.n,
			    (int)pid, p->unread ? ", as far as they could be read" : "");
out:
	liblist_free(&l);
	return e;
}

int probes__check(struct probes *p, struct err *err)
{
	bool any = false;

	for (size_t i = 0; i < p->n; i++)
		any |= has_ours(p->objects[i].file);
	for (size_t i = 0; i < p->n; i++) {
		struct probes_object *o = &p->objects[i];
		struct usdt_err ue = { "" };
		int e;

		if (any && !has_ours(o->file))
			continue;
		e = usdt_contract_check(o->file, 0, &o->diffs, &ue);
		if (e)
			return err_set(err, e, "%s: %s", o->path, ue.msg);
		o->checked = true;
	}
	return 0;
}

bool probes__conform(const struct probes *p)
{
	bool any = false;

	for (size_t i = 0; i < p->n; i++) {
		if (p->objects[i].checked && p->objects[i].diffs.n)
			return false;
		any |= p->objects[i].checked;
	}
	return any;
}

void probes__free(struct probes *p)
{
	for (size_t i = 0; i < p->n; i++) {
		usdt_diffs_free(&p->objects[i].diffs);
		usdt_file__close(p->objects[i].file);
		free(p->objects[i].path);
	}
	free(p->objects);
	free(p->unread_why);
	memset(p, 0, sizeof(*p));
}

const char *probes_machine(unsigned machine)
{
	static const struct {
		unsigned machine;
		const char *name;
	} names[] = {
		{ EM_X86_64, "x86-64" },   { EM_386, "i386" },    { EM_AARCH64, "aarch64" },
		{ EM_ARM, "arm" },         { EM_PPC, "ppc" },     { EM_PPC64, "ppc64" },
		{ EM_S390, "s390" },       { EM_RISCV, "riscv" }, { EM_MIPS, "mips" },
		{ EM_SPARCV9, "sparc64" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].machine == machine)
			return names[i].name;
	}
	return NULL;
}
