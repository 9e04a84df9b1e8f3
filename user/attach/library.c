/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes on the entry points of one library file. */
#include "attach/attach_priv.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpubpf.skel.h"
#include "util/err.h"

struct plan { /* the symbols to probe */
	uint64_t *offsets, *cookies;
	uint32_t *index;
	size_t n, inits; /* the last ones are cuInit()'s */
};

static void plan_free(struct plan *p)
{
	free(p->offsets);
	free(p->cookies);
	free(p->index);
}

static int plan_make(struct plan *p, const struct attach_result *res, const struct apitab *tab)
{
	size_t n = res->syms.n;

	p->offsets = calloc(n, sizeof(*p->offsets));
	p->cookies = calloc(n, sizeof(*p->cookies));
	p->index = calloc(n, sizeof(*p->index));
	if (!p->offsets || !p->cookies || !p->index)
		return -ENOMEM;
	for (int inits = 0; inits < 2; inits++) {
		for (size_t i = 0; i < n; i++) {
			const struct api *a = apitab__get(tab, (uint32_t)i);

			if (res->syms.syms[i].state != ELFSYM_FOUND || (a->cls == API_INIT) != inits)
				continue;
			p->offsets[p->n] = res->syms.syms[i].offset;
			p->cookies[p->n] = cookie_for(a, res->first_id + (uint32_t)i);
			p->index[p->n++] = (uint32_t)i;
			p->inits += (size_t)inits;
		}
	}
	return 0;
}

static int keep(struct attach *a, const struct plan *p, size_t i, int fd)
{
	bool init = a->opts.init_apart && i >= p->n - p->inits;

	return init ? attach_links_add(&a->inits, fd) : attach_keep_link(a, fd);
}

/* Links n probes that start at plan entry `from`. */
static int link_range(struct attach *a, const char *path, const struct plan *p, size_t from, size_t n,
		      pid_t pid)
{
	bool session = a->method == ATTACH_SESSION;
	int prog = bpf_program__fd(session ? a->skel->progs.call_session : a->skel->progs.call_entry);
	int fd;

	/* returns first: a return without its entry is ignored, an entry without its return stays open */
	if (!session && !a->opts.entry_only) {
		fd = kernel_link_multi(bpf_program__fd(a->skel->progs.call_exit), false, true, path,
				       p->offsets + from, p->cookies + from, n, pid);
		if (fd < 0)
			return fd;
		if (keep(a, p, from, fd))
			return -ENOMEM;
	}
	fd = kernel_link_multi(prog, session, false, path, p->offsets + from, p->cookies + from, n, pid);
	return fd < 0 ? fd : keep(a, p, from, fd);
}

/* One link for all; when the kernel refuses that, one each, so that a single bad probe costs only itself. */
static void attach_multi(struct attach *a, const char *path, const struct plan *p, pid_t pid,
			 struct attach_result *res)
{
	size_t apart = a->opts.init_apart && p->n > p->inits ? p->inits : 0, most = p->n - apart;
	size_t done = 0;

	if (!link_range(a, path, p, 0, most, pid))
		done = apart && !link_range(a, path, p, most, apart, pid) ? p->n : most;
	for (size_t i = done; i < p->n; i++)
		res->errors[p->index[i]] = link_range(a, path, p, i, 1, pid);
}

static int perf_one(struct attach *a, struct bpf_program *prog, bool ret, const char *path,
		    const struct plan *p, size_t i, pid_t pid)
{
	bool percall = a->method == ATTACH_PERCALL;
	int prog_fd = percall ? percall_load(prog, p->cookies[i]) : bpf_program__fd(prog);
	int fd;

	if (prog_fd < 0)
		return prog_fd;
	fd = kernel_link_perf(prog_fd, ret, path, p->offsets[i], p->cookies[i], !percall, pid);
	if (percall)
		close(prog_fd); /* the event holds it */
	return fd < 0 ? fd : keep(a, p, i, fd);
}

static int perf_both(struct attach *a, const char *path, const struct plan *p, size_t i, pid_t pid)
{
	bool percall = a->method == ATTACH_PERCALL;
	struct bpf_program *entry = percall ? a->skel->progs.call_entry_percall : a->skel->progs.call_entry;
	struct bpf_program *exit_prog = percall ? a->skel->progs.call_exit_percall : a->skel->progs.call_exit;
	int e = 0;

	if (!a->opts.entry_only)
		e = perf_one(a, exit_prog, true, path, p, i, pid);
	return e ? e : perf_one(a, entry, false, path, p, i, pid);
}

static void attach_perf(struct attach *a, const char *path, const struct plan *p, pid_t pid,
			struct attach_result *res)
{
	for (size_t i = 0; i < p->n; i++)
		res->errors[p->index[i]] = perf_both(a, path, p, i, pid);
}

int attach_points(struct attach *a, const char *path, uint64_t *offsets, uint64_t *cookies, size_t n,
		  pid_t pid)
{
	struct plan p = { .offsets = offsets, .cookies = cookies, .n = n };
	int e = 0;

	if (a->method == ATTACH_SESSION || a->method == ATTACH_MULTI)
		return link_range(a, path, &p, 0, n, pid);
	for (size_t i = 0; i < n && !e; i++)
		e = perf_both(a, path, &p, i, pid);
	return e;
}

int attach__library(struct attach *a, const char *path, const struct apitab *tab, pid_t only_pid,
		    struct attach_result *res, struct err *err)
{
	bool multi = a->method == ATTACH_SESSION || a->method == ATTACH_MULTI;
	struct plan p = { 0 };
	int e, first_error = 0;

	memset(res, 0, sizeof(*res));
	if (a->next_id + apitab__size(tab) > GPUBPF_API_MAX)
		return err_set(err, -ENOSPC,
			       "more copies of libcuda than %zu cannot be traced at once: %s stays out",
			       (size_t)GPUBPF_API_MAX / apitab__size(tab), path);
	e = elfsyms_read(path, tab, &res->syms, err);
	if (e)
		return e;
	res->first_id = a->next_id;
	res->errors = calloc(res->syms.n, sizeof(*res->errors));
	e = res->errors ? plan_make(&p, res, tab) : -ENOMEM;
	if (!e) {
		if (multi)
			attach_multi(a, path, &p, only_pid, res);
		else
			attach_perf(a, path, &p, only_pid ? only_pid : -1, res);
		for (size_t i = 0; i < p.n; i++) {
			res->armed += res->errors[p.index[i]] == 0;
			if (res->errors[p.index[i]] && !first_error)
				first_error = res->errors[p.index[i]];
		}
		a->next_id += (uint32_t)apitab__size(tab);
		if (!res->armed)
			e = err_set(err, first_error ? first_error : -ENOENT,
				    "no probe could be placed in %s: %s", path, strerror(-first_error));
	}
	plan_free(&p);
	if (e)
		attach_result_free(res);
	return e;
}

void attach_result_free(struct attach_result *r)
{
	elfsyms_free(&r->syms);
	free(r->errors);
	r->errors = NULL;
}
