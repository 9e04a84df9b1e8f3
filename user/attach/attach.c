/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/attach_priv.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/bpfobj.h"
#include "maps.h"
#include "util/err.h"

#define IN_A_ROW_NS 20000
#define INITIAL_PID_NS 0xEFFFFFFCu /* PROC_PID_INIT_INO, include/linux/proc_ns.h */

/* Perf-based probes take a descriptor each: entries and returns of a whole table pass the usual 1024. */
static void raise_file_limit(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) || r.rlim_cur == r.rlim_max)
		return;
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
}

static int choose_method(enum attach_method want, enum attach_method *out, struct err *err)
{
	enum attach_method first = want == ATTACH_AUTO ? ATTACH_SESSION : want;
	enum attach_method last = want == ATTACH_AUTO ? ATTACH_PERCALL : want;
	int e = -ENOTSUP;

	for (enum attach_method m = first; m <= last; m++) {
		struct err tried = { "" };

		e = kernel_try(m, &tried);
		if (!e) {
			*out = m;
			return 0;
		}
		if (m == last)
			err_set(err, e, "%s%s", tried.msg,
				e == -EPERM || e == -EACCES
					? "; run as root, or with CAP_BPF and CAP_PERFMON (perf-based: CAP_SYS_ADMIN)"
					: "; `gpubpf doctor` tells what this kernel lacks");
	}
	return e;
}

static uint64_t ring_size(uint64_t want)
{
	uint64_t n = (uint64_t)sysconf(_SC_PAGESIZE);

	while (n < want && n < 1ull << 31)
		n *= 2;
	return n;
}

static void choose_programs(struct attach *a)
{
	bool session = a->method == ATTACH_SESSION, multi = a->method == ATTACH_MULTI;
	bool pair = multi || a->method == ATTACH_PERF, percall = a->method == ATTACH_PERCALL;

	bpf_program__set_autoload(a->skel->progs.call_session, session);
	bpf_program__set_autoload(a->skel->progs.call_entry, pair);
	bpf_program__set_autoload(a->skel->progs.call_exit, pair && !a->opts.entry_only);
	bpf_program__set_autoload(a->skel->progs.call_entry_percall, percall);
	bpf_program__set_autoload(a->skel->progs.call_exit_percall, percall && !a->opts.entry_only);
	if (session)
		bpf_program__set_expected_attach_type(a->skel->progs.call_session,
						      (enum bpf_attach_type)KERNEL_UPROBE_SESSION);
	if (multi) {
		bpf_program__set_expected_attach_type(a->skel->progs.call_entry,
						      (enum bpf_attach_type)KERNEL_UPROBE_MULTI);
		bpf_program__set_expected_attach_type(a->skel->progs.call_exit,
						      (enum bpf_attach_type)KERNEL_UPROBE_MULTI);
	}
}

/* The shim's sites take the cheapest way that the kernel has, unless one was asked for. */
static void choose_shim_programs(struct attach *a)
{
	const struct attach_opts *o = &a->opts;
	bool percall = a->method == ATTACH_PERCALL;

	a->shim_multi = (a->method == ATTACH_SESSION || a->method == ATTACH_MULTI) && o->shim &&
			!kernel_try(ATTACH_MULTI, NULL) && (!o->shim_by_pid || kernel_multi_pid_is_process());
	bpf_program__set_autoload(a->skel->progs.shim_probe, o->shim && !percall);
	bpf_program__set_autoload(a->skel->progs.shim_probe_percall, o->shim && percall);
	if (a->shim_multi)
		bpf_program__set_expected_attach_type(a->skel->progs.shim_probe,
						      (enum bpf_attach_type)KERNEL_UPROBE_MULTI);
}

static int size_maps(struct attach *a)
{
	int e = 0;

	if (a->opts.ring_bytes)
		e = bpf_map__set_max_entries(a->skel->maps.ring, (uint32_t)ring_size(a->opts.ring_bytes));
	if (!e && a->opts.max_threads)
		e = bpf_map__set_max_entries(a->skel->maps.threads, a->opts.max_threads);
	if (!e && a->opts.max_targets)
		e = bpf_map__set_max_entries(a->skel->maps.targets, a->opts.max_targets);
	return e;
}

int attach__open(const struct attach_opts *o, struct attach **out, struct err *err)
{
	struct attach *a = calloc(1, sizeof(*a));
	struct stat ns;
	int e;

	if (!a)
		return -ENOMEM;
	a->opts = *o;
	raise_file_limit();
	e = choose_method(o->method, &a->method, err);
	if (e)
		goto fail;
	/* an entry-only recording wants no session: its one program would be called at returns for nothing */
	if (o->entry_only && o->method == ATTACH_AUTO && a->method == ATTACH_SESSION &&
	    !kernel_try(ATTACH_MULTI, NULL))
		a->method = ATTACH_MULTI;
	if (!a->opts.entry_only && !kernel_return_probes_safe(false))
		a->opts.entry_only = a->returns_unsafe = true;
	a->skel = bpfobj_open();
	if (!a->skel) {
		e = err_set(err, -errno, "cannot open the BPF object inside this program: %s",
			    strerror(errno));
		goto fail;
	}
	choose_programs(a);
	choose_shim_programs(a);
	e = size_maps(a);
	if (e) {
		err_set(err, e, "cannot size the BPF maps: %s", strerror(-e));
		goto fail;
	}
	e = attach_latency_prepare(a, err);
	if (!e)
		e = attach_stacks_prepare(a, err);
	if (e)
		goto fail;
	a->has_view = !stat("/proc/self/ns/pid", &ns) && ns.st_ino != INITIAL_PID_NS;
	a->skel->rodata->trace_all = o->trace_all;
	a->skel->rodata->entry_only = a->opts.entry_only;
	a->skel->rodata->can_leave_out = a->method == ATTACH_SESSION;
	a->skel->rodata->measure_one_of = attach__measure_one_of(a);
	a->skel->rodata->in_a_row_ns = o->in_a_row_ns ? o->in_a_row_ns : IN_A_ROW_NS;
	a->skel->rodata->has_view = a->has_view;
	a->skel->rodata->view_inum = a->has_view ? (uint32_t)ns.st_ino : 0;
	*out = a;
	return 0;
fail:
	attach__close(a);
	return e;
}

int attach__load(struct attach *a, struct err *err)
{
	int e = gpubpf_bpf__load(a->skel);

	if (!e)
		return 0;
	if (e == -EPERM)
		return err_set(
			err, e,
			"the kernel does not let us load BPF programs; run as root, or with CAP_BPF and CAP_PERFMON");
	if (e == -ENOENT || e == -ESRCH)
		return err_set(
			err, e,
			"this kernel lacks a type or field that the BPF programs need (is /sys/kernel/btf/vmlinux there?); "
			"`gpubpf record --verbose` names it");
	return err_set(err, e,
		       "the kernel refuses the BPF programs: %s; `gpubpf record --verbose` shows its reasons",
		       strerror(-e));
}

bool attach__entry_only(const struct attach *a, bool *unsafe)
{
	*unsafe = a->returns_unsafe;
	return a->opts.entry_only;
}

uint32_t attach__measure_one_of(const struct attach *a)
{
	return a->method == ATTACH_SESSION && a->opts.measure_one_of > 1 ? a->opts.measure_one_of : 1;
}

enum attach_method attach__method(const struct attach *a)
{
	return a->method;
}

int attach_keep_link(struct attach *a, int fd)
{
	if (a->nlinks == a->room) {
		size_t room = a->room ? a->room * 2 : 64;
		int *grown = realloc(a->links, room * sizeof(*grown));

		if (!grown) {
			close(fd);
			return -ENOMEM;
		}
		a->links = grown;
		a->room = room;
	}
	a->links[a->nlinks++] = fd;
	return 0;
}

int attach__activate(struct attach *a, bool *xid, struct err *err)
{
	struct {
		struct bpf_program *prog;
		const char *what;
	} life[] = {
		[LIFE_FORK] = { a->skel->progs.on_fork, "sched_process_fork" },
		[LIFE_EXEC] = { a->skel->progs.on_exec, "sched_process_exec" },
		[LIFE_EXIT] = { a->skel->progs.on_exit, "sched_process_exit" },
		[LIFE_XID] = { a->skel->progs.on_xid, "nvidia_dev_xid" },
	};

	for (size_t i = 0; i < LIFE_END; i++) {
		a->life[i] = bpf_program__attach_raw_tracepoint(life[i].prog, life[i].what);
		if (!a->life[i] && i != LIFE_XID)
			return err_set(err, -errno, "cannot attach to the tracepoint %s: %s", life[i].what,
				       strerror(errno));
	}
	*xid = a->life[LIFE_XID] != NULL;
	return attach_latency_activate(a, err);
}

int attach__target(struct attach *a, pid_t pid, bool follow, struct err *err)
{
	int fd = bpf_map__fd(a->has_view ? a->skel->maps.view_targets : a->skel->maps.targets);
	uint32_t key = (uint32_t)pid, flags = follow ? TARGET_FOLLOW : 0;

	if (bpf_map_update_elem(fd, &key, &flags, BPF_ANY))
		return err_set(err, -errno, "cannot make process %d a target: %s", pid, strerror(errno));
	return 0;
}

bool attach__has_view(const struct attach *a)
{
	return a->has_view;
}

int attach__ring_fd(const struct attach *a)
{
	return bpf_map__fd(a->skel->maps.ring);
}

size_t attach__api_ids(const struct attach *a)
{
	return a->next_id;
}

void attach__stop(struct attach *a)
{
	if (a->skel && a->skel->bss)
		a->skel->bss->stopped = 1;
}

static void detach(struct attach *a, bool but_init)
{
	attach__stop(a);
	attach_links_close(&a->hellos, 0);
	attach_links_close(&a->sites, 0);
	/* entries before returns: an entry whose return probe is gone would stay open */
	while (a->nlinks)
		close(a->links[--a->nlinks]);
	attach_latency_detach(a);
	if (but_init && a->skel->bss)
		a->skel->bss->closed = 1;
	else
		attach_links_close(&a->inits, 0);
	for (size_t i = 0; i < LIFE_END; i++) {
		if (but_init && (i == LIFE_EXEC || i == LIFE_EXIT))
			continue;
		bpf_link__destroy(a->life[i]);
		a->life[i] = NULL;
	}
}

void attach__detach(struct attach *a)
{
	detach(a, false);
}

void attach__detach_but_init(struct attach *a)
{
	detach(a, true);
}

void attach__close(struct attach *a)
{
	if (!a)
		return;
	attach__detach(a);
	free(a->links);
	bpfobj_close(a->skel);
	free(a);
}
