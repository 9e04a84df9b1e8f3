/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/procinfo.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uthash.h>

#include "capture/capture.h"
#include "environment/gather.h"
#include "events.h"
#include "util/file.h"

#define CMDLINE_MAX (64u << 10)
#define CMDLINE_ARGS 256

struct proc {
	uint32_t tgid, view, ns, parent;
	bool has_parent, live, dirty;
	uint64_t start, since;
	char comm[17], exe[PATH_MAX], container[65];
	const char *origin;
	char *cmdline, *cgroup;
	size_t cmdline_len;
	UT_hash_handle hh;
};

struct procinfo {
	struct proc *by_tgid;
	size_t live;
};

int procinfo__new(struct procinfo **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

/* What /proc says, as far as the process is still there. */
static void read_proc(struct proc *p)
{
	char path[64], *buf;
	ssize_t n;
	size_t len;

	if (!p->view)
		return;
	snprintf(path, sizeof(path), "/proc/%u/exe", p->view);
	n = readlink(path, p->exe, sizeof(p->exe) - 1);
	if (n > 0)
		p->exe[n] = 0;
	snprintf(path, sizeof(path), "/proc/%u/cmdline", p->view);
	if (!file_read_all(path, CMDLINE_MAX, &buf, &len)) {
		free(p->cmdline);
		p->cmdline = buf;
		p->cmdline_len = len;
	}
	snprintf(path, sizeof(path), "/proc/%u/cgroup", p->view);
	if (!file_read_all(path, CMDLINE_MAX, &buf, &len)) {
		free(p->cgroup);
		buf[strcspn(buf, "\n")] = 0;
		p->cgroup = buf;
		env_container_id(p->cgroup, p->container);
	}
	snprintf(path, sizeof(path), "/proc/%u/comm", p->view);
	file_read_line(path, p->comm, sizeof(p->comm));
}

static struct proc *proc_get(struct procinfo *ps, uint32_t tgid)
{
	struct proc *p;

	HASH_FIND(hh, ps->by_tgid, &tgid, sizeof(tgid), p);
	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->tgid = tgid;
	HASH_ADD(hh, ps->by_tgid, tgid, sizeof(p->tgid), p);
	return p;
}

static void set_live(struct procinfo *ps, struct proc *p, bool live)
{
	if (p->live == live)
		return;
	p->live = live;
	ps->live += live ? 1 : (size_t)-1;
}

int procinfo__add(struct procinfo *ps, uint32_t tgid, pid_t view_pid, const char *origin, uint64_t since_ns)
{
	struct proc *p = proc_get(ps, tgid);

	if (!p)
		return -ENOMEM;
	p->view = (uint32_t)view_pid;
	p->origin = origin;
	p->since = since_ns;
	p->dirty = true;
	set_live(ps, p, true);
	read_proc(p);
	return 0;
}

/* A number that was used again is another process: it starts from nothing. */
static void forget_former(struct procinfo *ps, struct proc *p, const struct gpubpf_task *t)
{
	if (!p->start || p->start == t->start_time)
		return;
	set_live(ps, p, false);
	free(p->cmdline);
	free(p->cgroup);
	p->cmdline = p->cgroup = NULL;
	p->cmdline_len = 0;
	p->exe[0] = p->container[0] = 0;
	p->has_parent = false;
	p->since = 0;
	p->origin = NULL;
}

int procinfo__task(struct procinfo *ps, const struct gpubpf_task *t, const char *origin)
{
	struct proc *p;

	if (t->event == GPUBPF_TASK_THREAD_EXIT)
		return 0;
	p = proc_get(ps, t->tgid);
	if (!p)
		return -ENOMEM;
	forget_former(ps, p, t);
	if (t->event == GPUBPF_TASK_SEEN && p->start == t->start_time && p->live)
		return 0; /* one more thread */
	p->start = t->start_time;
	p->view = t->view_tgid;
	p->ns = t->ns_tgid;
	if (!p->origin)
		p->origin = origin;
	if (!p->since)
		p->since = t->time;
	if (t->event == GPUBPF_TASK_FORK) {
		p->parent = t->peer;
		p->has_parent = true;
	}
	memcpy(p->comm, t->comm, sizeof(t->comm));
	p->comm[16] = 0;
	p->dirty |= t->event != GPUBPF_TASK_EXIT;
	set_live(ps, p, t->event != GPUBPF_TASK_EXIT);
	if (p->live)
		read_proc(p);
	return p->live && t->event != GPUBPF_TASK_FORK;
}

bool procinfo__has_view(const struct procinfo *ps, pid_t view_pid)
{
	struct proc *p, *tmp;

	HASH_ITER (hh, ps->by_tgid, p, tmp) {
		if (p->view == (uint32_t)view_pid)
			return true;
	}
	return false;
}

pid_t procinfo__view(const struct procinfo *ps, uint32_t tgid)
{
	struct proc *p;

	HASH_FIND(hh, ps->by_tgid, &tgid, sizeof(tgid), p);
	return (pid_t)(p && p->view ? p->view : tgid);
}

size_t procinfo__live(const struct procinfo *ps)
{
	return ps->live;
}

void procinfo__each_live(struct procinfo *ps, void (*fn)(pid_t view_pid, void *arg), void *arg)
{
	struct proc *p, *tmp;

	HASH_ITER (hh, ps->by_tgid, p, tmp) {
		if (p->live && p->view)
			fn((pid_t)p->view, arg);
	}
}

static size_t split_cmdline(struct proc *p, char **argv)
{
	size_t n = 0;

	for (size_t at = 0; at < p->cmdline_len && n < CMDLINE_ARGS; at += strlen(p->cmdline + at) + 1)
		argv[n++] = p->cmdline + at;
	return n;
}

static void fill_message(struct proc *p, Gpubpf__Process *m, char **argv)
{
	gpubpf__process__init(m);
	m->tgid = p->tgid;
	m->has_view_pid = p->view != 0;
	m->view_pid = p->view;
	m->has_ns_pid = p->ns != 0;
	m->ns_pid = p->ns;
	m->has_parent = p->has_parent;
	m->parent = p->parent;
	m->has_start_time = p->start != 0;
	m->start_time = p->start;
	m->comm = p->comm[0] ? p->comm : NULL;
	m->exe = p->exe[0] ? p->exe : NULL;
	m->n_cmdline = split_cmdline(p, argv);
	m->cmdline = argv;
	m->cgroup = p->cgroup;
	m->container = p->container[0] ? p->container : NULL;
	m->origin = (char *)p->origin;
	m->has_since_ns = p->since != 0;
	m->since_ns = p->since;
}

int procinfo__write(struct procinfo *ps, struct capture_writer *w, struct err *err)
{
	Gpubpf__Meta meta = GPUBPF__META__INIT;
	Gpubpf__Process message, *one = &message;
	char *argv[CMDLINE_ARGS];
	struct proc *p, *tmp;
	int e = 0;

	meta.n_process = 1;
	meta.process = &one;
	HASH_ITER (hh, ps->by_tgid, p, tmp) {
		if (e)
			break;
		if (p->dirty) {
			fill_message(p, &message, argv);
			e = capture_writer__meta(w, &meta, err);
			p->dirty = false;
		}
		if (!p->live) { /* its number may come again; what is said is in the file */
			/* NOLINTNEXTLINE(clang-analyzer-*): it believes in lists whose ends disagree */
			HASH_DEL(ps->by_tgid, p);
			free(p->cmdline);
			free(p->cgroup);
			free(p);
		}
	}
	return e;
}

void procinfo__free(struct procinfo *ps)
{
	struct proc *p, *tmp;

	if (!ps)
		return;
	HASH_ITER (hh, ps->by_tgid, p, tmp) {
		/* NOLINTNEXTLINE(clang-analyzer-*): as above */
		HASH_DEL(ps->by_tgid, p);
		free(p->cmdline);
		free(p->cgroup);
		free(p);
	}
	free(ps);
}
