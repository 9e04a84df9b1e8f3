/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes on the sites of a shim's file. Their semaphores are what arms the shim: hello_v1 is attached to last, so that
 * all the others stand when it begins, and taken away first, which asks it to end (bpf/events.h).
 */
#include "attach/attach_priv.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cookie.h"
#include "gpubpf.skel.h"
#include "usdt/contract.h"
#include "usdt/probes.h"
#include "util/err.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

/* Sites come by their place in the contract's list, items by the wire's numbers: one order. */
enum {
#define X(name, NAME) PLACE_##NAME,
	GPUBPF_EACH_PROBE(X)
#undef X
};
#define X(name, NAME) _Static_assert((int)PLACE_##NAME == (int)GPUBPF_PROBE_##NAME, #name);
GPUBPF_EACH_PROBE(X)
#undef X

static const size_t item_sizes[GPUBPF_PROBES] = GPUBPF_ITEM_SIZES;

struct sites { /* as the kernel wants them */
	uint64_t *offsets, *semaphores, *cookies;
	size_t n;
};

static void sites_free(struct sites *s)
{
	free(s->offsets);
	free(s->semaphores);
	free(s->cookies);
}

/* Those of hello_v1, or all the others. */
static int sites_take(struct sites *s, const struct usdt_site *all, size_t n, bool hello)
{
	s->n = 0;
	s->offsets = calloc(n + 1, sizeof(*s->offsets));
	s->semaphores = calloc(n + 1, sizeof(*s->semaphores));
	s->cookies = calloc(n + 1, sizeof(*s->cookies));
	if (!s->offsets || !s->semaphores || !s->cookies)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if ((all[i].probe == GPUBPF_PROBE_HELLO) != hello)
			continue;
		s->offsets[s->n] = all[i].offset;
		s->semaphores[s->n] = all[i].semaphore_offset;
		s->cookies[s->n++] = SHIM_COOKIE_MAKE(all[i].probe, item_sizes[all[i].probe]);
	}
	return 0;
}

int attach_links_add(struct attach_links *l, int fd)
{
	int *grown = realloc(l->fds, (l->n + 1) * sizeof(*grown));

	if (!grown) {
		close(fd);
		return -ENOMEM;
	}
	l->fds = grown;
	l->fds[l->n++] = fd;
	return 0;
}

void attach_links_close(struct attach_links *l, size_t down_to)
{
	while (l->n > down_to)
		close(l->fds[--l->n]);
	if (l->n)
		return;
	free(l->fds);
	l->fds = NULL;
}

static int link_perf(struct attach *a, const char *path, const struct sites *s, size_t i, pid_t pid)
{
	bool percall = a->method == ATTACH_PERCALL;
	int prog = percall ? percall_load(a->skel->progs.shim_probe_percall, s->cookies[i])
			   : bpf_program__fd(a->skel->progs.shim_probe);
	int fd;

	if (prog < 0)
		return prog;
	fd = kernel_site_perf(prog, path, s->offsets[i], s->semaphores[i], s->cookies[i], !percall,
			      pid ? pid : -1);
	if (percall)
		close(prog); /* the event holds it */
	return fd;
}

static int link_sites(struct attach *a, const char *path, const struct sites *s, pid_t pid,
		      struct attach_links *l)
{
	int e = 0, fd;

	if (a->shim_multi) {
		fd = kernel_site_multi(bpf_program__fd(a->skel->progs.shim_probe), path, s->offsets,
				       s->semaphores, s->cookies, s->n, pid);
		return fd < 0 ? fd : attach_links_add(l, fd);
	}
	for (size_t i = 0; i < s->n && !e; i++) {
		fd = link_perf(a, path, s, i, pid);
		e = fd < 0 ? fd : attach_links_add(l, fd);
	}
	return e;
}

static int attach_all(struct attach *a, const char *path, const struct usdt_site *all, size_t n, pid_t pid)
{
	struct sites hello = { 0 }, others = { 0 };
	size_t before_hellos = a->hellos.n, before_sites = a->sites.n;
	int e = sites_take(&hello, all, n, true);

	if (!e)
		e = sites_take(&others, all, n, false);
	if (!e)
		e = link_sites(a, path, &others, pid, &a->sites);
	if (!e)
		e = link_sites(a, path, &hello, pid, &a->hellos);
	if (e) {
		attach_links_close(&a->hellos, before_hellos);
		attach_links_close(&a->sites, before_sites);
	}
	sites_free(&hello);
	sites_free(&others);
	return e;
}

int attach_shim_check(const struct usdt_file *f, const char *name, struct err *err)
{
	struct usdt_diffs d;
	struct usdt_err why = { "" };
	int e = usdt_contract_check(f, MACHINE, &d, &why);

	if (e)
		return err_set(err, e, "%s: %s", name, why.msg);
	for (size_t i = 0; i < d.n && !e; i++) {
		if (d.v[i].kind != USDT_DIFF_UNKNOWN)
			e = err_set(
				err, -EPROTO,
				"%s cannot be recorded from: %s; `gpubpf usdt --check` names all differences",
				name, d.v[i].what);
	}
	usdt_diffs_free(&d);
	return e;
}

static int attach_opened(struct attach *a, const char *fd_path, const char *name, pid_t pid,
			 struct attach_shim_result *res, struct err *err)
{
	static const struct usdt_opts own_notes = { .debug_root = "" };
	struct usdt_file *f;
	struct usdt_err why = { "" };
	struct usdt_site *all = NULL;
	const uint8_t *id;
	int e = usdt_file__open(fd_path, &own_notes, &f, &why);

	if (e)
		return err_set(err, e, "%s: %s", name, why.msg);
	e = attach_shim_check(f, name, err);
	if (!e && usdt_sites(f, MACHINE, &all, &res->sites, &why))
		e = err_set(err, -ENOMEM, "%s: %s", name, why.msg);
	if (!e) {
		id = usdt_file__build_id(f, &res->build_id_len);
		if (res->build_id_len > sizeof(res->build_id))
			res->build_id_len = sizeof(res->build_id);
		if (id)
			memcpy(res->build_id, id, res->build_id_len);
		e = attach_all(a, fd_path, all, res->sites, pid);
		if (e)
			err_set(err, e, "cannot attach to the probes of %s: %s", name, strerror(-e));
	}
	free(all);
	usdt_file__close(f);
	return e;
}

int attach__shim(struct attach *a, const char *path, const char *name, pid_t only_pid,
		 struct attach_shim_result *res, struct err *err)
{
	char fd_path[64];
	struct stat st;
	int fd, e;

	memset(res, 0, sizeof(*res));
	/* one descriptor for check and probes: whatever happens to the name, both are of one file */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st)) {
		e = err_set(err, -errno, "cannot open %s: %s", name, strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		e = err_set(err, -EINVAL, "%s is no regular file", name);
		goto out;
	}
	res->dev = st.st_dev;
	res->ino = st.st_ino;
	snprintf(fd_path, sizeof(fd_path), "/proc/self/fd/%d", fd);
	e = attach_opened(a, fd_path, name, only_pid, res, err);
out:
	if (fd >= 0)
		close(fd);
	return e;
}

void attach__ask_end(struct attach *a)
{
	attach_links_close(&a->hellos, 0);
}

int attach__probe_counts(struct attach *a, struct gpubpf_probe_counts out[GPUBPF_PROBES])
{
	int cpus = libbpf_num_possible_cpus(), e = 0;
	struct gpubpf_probe_counts *per = cpus > 0 ? calloc((size_t)cpus, sizeof(*per)) : NULL;

	if (!per)
		return -ENOMEM;
	memset(out, 0, GPUBPF_PROBES * sizeof(*out));
	for (uint32_t i = 0; i < GPUBPF_PROBES && !e; i++) {
		if (bpf_map_lookup_elem(bpf_map__fd(a->skel->maps.probe_counts), &i, per))
			e = -errno;
		for (int c = 0; c < cpus && !e; c++) {
			out[i].hits += per[c].hits;
			out[i].items += per[c].items;
			out[i].lost_hits += per[c].lost_hits;
			out[i].lost_items += per[c].lost_items;
			out[i].faults += per[c].faults;
			out[i].cut_items += per[c].cut_items;
		}
	}
	free(per);
	return e;
}
