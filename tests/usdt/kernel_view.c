/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel makes of the sites of sites.c: BPF attached to them with their semaphores, in each way that the
 * kernel has. Pointer, count, sequence and record are those fired; the semaphores go up and, when the tracer
 * detaches, is killed or one of two goes, down again as they should; a process that forks at an attached site has a
 * child that lives.
 *
 *   kernel_view [METHOD…]   "perf", "multi": these must work. None: those that the kernel is found to have.
 *
 * Three processes: this one checks; the target fires; a tracer holds the links.
 */
#include <elf.h>
#include <errno.h>
#include <linux/types.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "attach/kernel.h"
#include "kernel_view.h"
#include "kernel_view.skel.h"
#include "sites.h"
#include "usdt/contract.h"
#include "usdt/probe.h"
#include "usdt/probes.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

#define X(name, NAME) GPUBPF_PROBE_DECLARE(name);
GPUBPF_EACH_PROBE(X)
#undef X

enum { PROBES = 6, SITES_MAX = 64, SEED = 0x7654321, PATIENCE_MS = 20000 };

/* What the target is told, one byte; it answers with one struct answer. */
enum order { FIRE = 'f', LOOK = 's', FORK = 'k', KEEP = 'K', RELEASE = 'r' };

struct answer {
	uint16_t semaphores[PROBES];
	int32_t status; /* of a child that was waited for */
};

struct view {
	struct kernel_view_bpf *skel;
	struct usdt_site *sites;
	size_t nsites;
	const char *name; /* of the method */
	enum attach_method method;
	int target_fd;
	pid_t target;
	int failed;
};

static void look(struct answer *a)
{
	a->semaphores[0] = gpubpf_hello_v1_semaphore;
	a->semaphores[1] = gpubpf_calls_v1_semaphore;
	a->semaphores[2] = gpubpf_activity_v1_semaphore;
	a->semaphores[3] = gpubpf_names_v1_semaphore;
	a->semaphores[4] = gpubpf_modules_v1_semaphore;
	a->semaphores[5] = gpubpf_status_v1_semaphore;
}

static void fire_all(void)
{
	for (unsigned i = 0; i < site_nfires; i++)
		site_fires[i].fire(SEED + i);
}

/* A child of the target: fires, and says by its status that it lived and what its semaphores are (0: all zero). */
static void child_fires(void)
{
	fire_all();
	_exit(site_enabled() ? 2 : 1);
}

static void target_main(int fd)
{
	int gate[2] = { -1, -1 };
	pid_t kept = -1, pid;
	char order, go;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(fd, &order, 1) == 1) {
		struct answer a = { .status = -1 };

		if (order == FIRE)
			fire_all();
		if (order == FORK) {
			pid = fork();
			if (!pid)
				child_fires();
			waitpid(pid, &a.status, 0);
		}
		if (order == KEEP && !pipe(gate)) {
			kept = fork();
			if (!kept) {
				if (read(gate[0], &go, 1) == 1)
					child_fires();
				_exit(3);
			}
		}
		if (order == RELEASE && write(gate[1], "g", 1) == 1) {
			waitpid(kept, &a.status, 0);
			close(gate[0]);
			close(gate[1]);
		}
		look(&a);
		if (write(fd, &a, sizeof(a)) != sizeof(a))
			break;
	}
	_exit(0);
}

static struct answer ask(struct view *v, enum order order)
{
	struct answer a = { .status = -1 };
	char c = (char)order;

	if (write(v->target_fd, &c, 1) != 1 || read(v->target_fd, &a, sizeof(a)) != sizeof(a)) {
		printf("# the target does not answer any more\n");
		v->failed = 1;
	}
	return a;
}

static int attach_sites(const struct view *v, pid_t pid)
{
	int prog = bpf_program__fd(v->skel->progs.view), link = 0;
	uint64_t offsets[SITES_MAX], semaphores[SITES_MAX];

	for (size_t i = 0; i < v->nsites; i++) {
		offsets[i] = v->sites[i].offset;
		semaphores[i] = v->sites[i].semaphore_offset;
	}
	if (v->method == ATTACH_MULTI)
		return kernel_site_multi(prog, "/proc/self/exe", offsets, semaphores, NULL, v->nsites, pid);
	for (size_t i = 0; i < v->nsites && link >= 0; i++)
		link = kernel_site_perf(prog, "/proc/self/exe", offsets[i], semaphores[i], 0, false,
					pid ? pid : -1);
	return link;
}

struct tracer {
	pid_t pid;
	int fd;
};

/* pid 0: every process. */
static bool tracer_start(struct view *v, pid_t pid, struct tracer *t)
{
	int fds[2], e = -1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return false;
	t->pid = fork();
	if (!t->pid) {
		char c;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		e = attach_sites(v, pid);
		if (write(fds[1], &e, sizeof(e)) == sizeof(e) && read(fds[1], &c, 1) == 1)
			_exit(0); /* which closes the links */
		_exit(1);
	}
	close(fds[1]);
	t->fd = fds[0];
	if (read(t->fd, &e, sizeof(e)) != sizeof(e))
		e = -EPIPE;
	if (e < 0) {
		printf("# %s: %zu sites cannot be attached to: %s\n", v->name, v->nsites, strerror(-e));
		close(t->fd);
		waitpid(t->pid, NULL, 0);
	}
	return e >= 0;
}

static void tracer_stop(struct tracer *t, bool violently)
{
	if (violently)
		kill(t->pid, SIGKILL);
	else if (write(t->fd, "q", 1) != 1)
		kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
	close(t->fd);
}

static void verdict(struct view *v, int bad, const char *what)
{
	printf("%s usdt %s: %s\n", bad ? "not ok" : "ok", v->name, what);
	v->failed |= bad != 0;
}

static int complain(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	return 1;
}

/* One count per site that the kernel has a breakpoint at, or none. */
static int check_semaphores(struct view *v, bool up)
{
	struct answer a = ask(v, LOOK);
	unsigned want[PROBES] = { 0 };
	int bad = 0;

	for (size_t i = 0; i < v->nsites && up; i++)
		want[v->sites[i].probe]++;
	for (unsigned p = 0; p < PROBES; p++) {
		if (a.semaphores[p] != want[p])
			bad = complain("the semaphore of %s is %u, not %u", usdt_contract_probes[p],
				       a.semaphores[p], want[p]);
	}
	return bad;
}

/* The kernel removes probes of a dead tracer in its own time. */
static int wait_semaphores_down(struct view *v)
{
	struct timespec nap = { .tv_nsec = 20 * 1000 * 1000 };

	for (int ms = 0; ms < PATIENCE_MS; ms += 20) {
		struct answer a = ask(v, LOOK);
		bool zero = true;

		for (unsigned p = 0; p < PROBES; p++)
			zero &= !a.semaphores[p];
		if (zero)
			return 0;
		nanosleep(&nap, NULL);
	}
	return check_semaphores(v, false);
}

static int check_hit(const struct site_fire *f, const struct view_hit *h, uint64_t seed)
{
	if (f->pointer && h->pointer != (uintptr_t)f->pointer)
		return complain("%s: pointer %#llx", f->name, (unsigned long long)h->pointer);
	if (h->count != site_count(seed) || h->sequence != site_sequence(seed))
		return complain("%s: count %#llx and sequence %#llx, not %#llx and %#llx", f->name,
				(unsigned long long)h->count, (unsigned long long)h->sequence,
				(unsigned long long)site_count(seed),
				(unsigned long long)site_sequence(seed));
	if (h->error)
		return complain("%s: the record cannot be read: %s", f->name, strerror(-h->error));
	for (unsigned k = 0; k < VIEW_WORDS; k++) {
		if (h->record[k] != site_word(seed, k))
			return complain("%s: word %u of the record is %#llx", f->name, k,
					(unsigned long long)h->record[k]);
	}
	return 0;
}

/* One fire_all() of one process. */
static int check_hits(const struct view *v, pid_t pid)
{
	const struct kernel_view_bpf__bss *b = v->skel->bss;
	unsigned at = 0, total = 0;
	int bad = 0;

	for (unsigned i = 0; i < site_nfires; i++)
		total += site_fires[i].hits;
	if (b->nhits != total)
		return complain("%u hits, not %u", b->nhits, total);
	for (unsigned i = 0; i < site_nfires; i++) {
		for (unsigned k = site_fires[i].hits; k-- > 0; at++)
			bad |= check_hit(&site_fires[i], &b->hits[at], SEED + i + k);
	}
	for (unsigned i = 0; i < total && pid; i++) {
		if (b->hits[i].tgid != (unsigned)pid)
			bad = complain("hit %u is of process %u, not %d", i, b->hits[i].tgid, (int)pid);
	}
	return bad;
}

static void test_values(struct view *v)
{
	struct tracer t;

	verdict(v, check_semaphores(v, false), "all semaphores are 0 with nobody attached");
	if (!tracer_start(v, v->target, &t)) {
		verdict(v, 1, "the sites can be attached to");
		return;
	}
	verdict(v, check_semaphores(v, true), "semaphores count the attached sites");
	v->skel->bss->nhits = 0;
	ask(v, FIRE);
	verdict(v, check_hits(v, v->target), "pointer, count, sequence and record are those fired");
	tracer_stop(&t, false);
	verdict(v, wait_semaphores_down(v), "semaphores are 0 after the detach");
	v->skel->bss->nhits = 0;
	ask(v, FIRE);
	verdict(v, v->skel->bss->nhits != 0, "no hit after the detach");
}

static void test_killed(struct view *v)
{
	struct tracer a, b;

	if (!tracer_start(v, v->target, &a))
		return;
	tracer_stop(&a, true);
	verdict(v, wait_semaphores_down(v), "semaphores are 0 after the tracer was killed");
	if (!tracer_start(v, v->target, &a))
		return;
	if (tracer_start(v, v->target, &b)) {
		tracer_stop(&a, true);
		verdict(v, check_semaphores(v, true), "of two tracers one is killed: semaphores stay up");
		a = b;
	}
	tracer_stop(&a, true);
	verdict(v, wait_semaphores_down(v), "of two tracers both are killed: semaphores are 0");
}

static int check_child(const struct answer *a, bool detached)
{
	if (!WIFEXITED(a->status))
		return complain("the child died of signal %d", WTERMSIG(a->status));
	if (WEXITSTATUS(a->status) != 1 && (detached || WEXITSTATUS(a->status) != 2))
		return complain("the child ended with status %d", WEXITSTATUS(a->status));
	return 0;
}

/* A child has the parent's breakpoints in its copy of the text; of a nop5 site it would die. */
static void test_fork(struct view *v, bool all)
{
	struct answer a;
	struct tracer t;
	int bad;

	if (!tracer_start(v, all ? 0 : v->target, &t))
		return;
	v->skel->bss->nhits = 0;
	a = ask(v, FORK);
	bad = check_child(&a, false);
	if (all)
		verdict(v, bad || check_hits(v, 0),
			"a forked child fires, lives and is seen by who traces every process");
	else
		verdict(v, bad || v->skel->bss->nhits,
			"a forked child fires, lives and is not seen by who traces one");
	v->skel->bss->nhits = 0;
	ask(v, FIRE);
	verdict(v, check_hits(v, v->target),
		all ? "its parent is still traced, among all" : "its parent is still traced");
	ask(v, KEEP);
	tracer_stop(&t, false);
	wait_semaphores_down(v);
	a = ask(v, RELEASE);
	verdict(v, check_child(&a, true),
		all ? "a child of before the detach fires, lives, and its semaphores are 0 (every process)"
		    : "a child of before the detach fires, lives, and its semaphores are 0");
}

static void method_test(struct view *v, enum attach_method method)
{
	int fds[2];

	v->method = method;
	v->name = attach_method_names[method];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds))
		return;
	v->target = fork();
	if (!v->target) {
		close(fds[0]);
		target_main(fds[1]);
	}
	close(fds[1]);
	v->target_fd = fds[0];
	test_values(v);
	test_killed(v);
	test_fork(v, false);
	test_fork(v, true);
	close(v->target_fd);
	waitpid(v->target, NULL, 0);
}

static int setup(struct view *v)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	struct usdt_err err = { "" };
	struct usdt_file *f;

	setrlimit(RLIMIT_MEMLOCK, &all); /* before Linux 5.11 maps count */
	if (usdt_file__open("/proc/self/exe", NULL, &f, &err) ||
	    usdt_sites(f, MACHINE, &v->sites, &v->nsites, &err)) {
		printf("# %s\n", err.msg);
		return -1;
	}
	usdt_file__close(f);
	for (size_t i = 0; i < v->nsites; i++) {
		if (v->sites[i].refused[0] || i == SITES_MAX)
			return complain("%s", v->sites[i].refused), -1;
	}
	v->skel = kernel_view_bpf__open();
	if (!v->skel)
		return -1;
	return 0;
}

/* The attach type belongs to the loaded program: each method loads it once more. */
static bool reload(struct view *v, enum attach_method m)
{
	kernel_view_bpf__destroy(v->skel);
	v->skel = kernel_view_bpf__open();
	if (!v->skel)
		return false;
	if (m == ATTACH_MULTI)
		bpf_program__set_expected_attach_type(v->skel->progs.view,
						      (enum bpf_attach_type)KERNEL_UPROBE_MULTI);
	return kernel_view_bpf__load(v->skel) == 0;
}

int main(int argc, char **argv)
{
	static const enum attach_method methods[] = { ATTACH_PERF, ATTACH_MULTI };
	struct view v = { 0 };

	setvbuf(stdout, NULL, _IOLBF, 0);
	libbpf_set_print(NULL);
	signal(SIGPIPE, SIG_IGN);
	if (setup(&v)) {
		printf("not ok usdt: sites and program are there\n");
		return 1;
	}
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		const char *name = attach_method_names[methods[i]];
		/* Without cookies a perf-based link is the older kind, which is as good here. */
		bool there = methods[i] == ATTACH_PERF || kernel_try(methods[i], NULL) == 0,
		     wanted = argc == 1;

		for (int k = 1; k < argc; k++)
			wanted |= strcmp(argv[k], name) == 0;
		if (!wanted)
			continue;
		if (!there && argc == 1) {
			printf("skip usdt %s: a kernel that has it\n", name);
			continue;
		}
		if (!there || !reload(&v, methods[i])) {
			printf("not ok usdt %s: the kernel takes it\n", name);
			v.failed = 1;
			continue;
		}
		method_test(&v, methods[i]);
	}
	kernel_view_bpf__destroy(v.skel);
	free(v.sites);
	return v.failed;
}
