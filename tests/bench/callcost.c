/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a recorded call costs the thread that makes it, beside the kernel's own floor (an empty program at the
 * same place), all in one process and one run: callcost LIBCUDA [CALLS [ROUNDS]]. Arms take turns, so that a
 * machine whose speed drifts moves all of them; medians over the rounds; the bare loop is subtracted.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/attach.h"
#include "model/apitab.h"
#include "util/clock.h"
#include "util/err.h"

typedef int (*launch_fn)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
			 void **, void **);

enum arm { BARE, FLOOR_ENTRY, FLOOR_BOTH, RECORD_ENTRY, RECORD_SOME, RECORD, RECORD_LATENCY, ARMS };

static const char *const names[ARMS] = {
	"bare call",
	"empty program, entry",
	"empty program, entry and return",
	"recorded, entry only",
	"recorded, 1 return in 64",
	"recorded, all returns",
	"the same with --latency",
};

struct bench {
	const char *lib;
	launch_fn launch;
	struct apitab *tab;
	uint64_t offset;
	long calls;
};

static double loop_ns(const struct bench *b)
{
	uint64_t t0 = clock_now(CLOCK_MONOTONIC);

	for (long i = 0; i < b->calls; i++)
		b->launch((void *)1, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
	return (double)(clock_now(CLOCK_MONOTONIC) - t0) / (double)b->calls;
}

static int empty_program(unsigned type)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = (enum bpf_attach_type)type);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "floor", "GPL", insns, 2, &o);
}

static double floor_ns(const struct bench *b, bool both)
{
	bool session = both && !kernel_try(ATTACH_SESSION, NULL);
	int prog = empty_program(session ? KERNEL_UPROBE_SESSION : KERNEL_UPROBE_MULTI);
	uint64_t cookie = 0;
	int link = kernel_link_multi(prog, session, false, b->lib, &b->offset, &cookie, 1, getpid());
	int back = both && !session
			   ? kernel_link_multi(prog, false, true, b->lib, &b->offset, &cookie, 1, getpid())
			   : -1;
	double ns = link < 0 ? -1 : loop_ns(b);

	close(prog);
	if (link >= 0)
		close(link);
	if (back >= 0)
		close(back);
	return ns;
}

struct drain {
	struct ring_buffer *ring;
	struct attach *attach;
	atomic_int stop;
	atomic_long records;
};

static int on_record(const struct gpubpf_rec *rec, void *arg)
{
	if (rec->kind != GPUBPF_REC_LATENCY)
		atomic_fetch_add_explicit(&((struct drain *)arg)->records, 1, memory_order_relaxed);
	return 0;
}

static int on_ring(void *ctx, void *data, size_t size)
{
	(void)size;
	return attach__each_record(((struct drain *)ctx)->attach, data, on_record, ctx);
}

static void *drain_main(void *arg)
{
	struct drain *d = arg;

	while (!d->stop) {
		ring_buffer__consume(d->ring);
		usleep(10000);
	}
	ring_buffer__consume(d->ring);
	return NULL;
}

static double record_ns(const struct bench *b, struct attach_opts o, uint64_t *lost)
{
	struct attach_result res;
	struct drain d = { 0 };
	struct attach *a;
	struct err err = { "" };
	pthread_t th;
	double ns;
	bool xid;

	if (attach__open(&o, &a, &err) || attach__load(a, &err) ||
	    attach__library(a, b->lib, b->tab, getpid(), &res, &err) ||
	    (o.latency && attach__activate(a, &xid, &err)) || attach__target(a, getpid(), false, &err)) {
		fprintf(stderr, "callcost: %s\n", err.msg);
		exit(1);
	}
	d.ring = ring_buffer__new(attach__ring_fd(a), on_ring, &d, NULL);
	d.attach = a;
	pthread_create(&th, NULL, drain_main, &d);
	ns = loop_ns(b);
	d.stop = 1;
	pthread_join(th, NULL);
	attach__detach(a);
	attach__kept(a, on_record, &d);
	*lost += (uint64_t)b->calls - (uint64_t)d.records + 1; /* one record is the thread's own */
	ring_buffer__free(d.ring);
	attach_result_free(&res);
	attach__close(a);
	return ns;
}

/* An empty program at the entry, or entry and return, of every launch on the machine for a while: the kernel's own
 * floor under a real loop. */
static int hold(const struct bench *b, unsigned seconds, bool both)
{
	int prog = empty_program(both ? KERNEL_UPROBE_SESSION : KERNEL_UPROBE_MULTI), link;
	uint64_t cookie = 0;

	link = kernel_link_multi(prog, both, false, b->lib, &b->offset, &cookie, 1, 0);
	if (link < 0) {
		fprintf(stderr, "callcost: no probe: %s\n", strerror(-link));
		return 1;
	}
	sleep(seconds);
	return 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int setup(struct bench *b)
{
	struct elfsyms syms;
	struct err err = { "" };
	void *h = dlopen(b->lib, RTLD_NOW);

	b->launch = h ? (launch_fn)dlsym(h, "cuLaunchKernel") : NULL;
	if (!b->launch || apitab__builtin(&b->tab) || elfsyms_read(b->lib, b->tab, &syms, &err)) {
		fprintf(stderr, "callcost: %s: %s\n", b->lib, err.msg[0] ? err.msg : dlerror());
		return -1;
	}
	for (size_t i = 0; i < syms.n; i++) {
		if (strcmp(apitab__get(b->tab, (uint32_t)i)->symbol, "cuLaunchKernel") == 0) {
			b->offset = syms.syms[i].offset;
			printf("probe at cuLaunchKernel: %s\n", syms.syms[i].probe);
		}
	}
	elfsyms_free(&syms);
	return 0;
}

int main(int argc, char **argv)
{
	struct bench b = { .lib = argc > 1 ? argv[1] : "", .calls = argc > 2 ? atol(argv[2]) : 200000 };
	int rounds = argc > 3 ? atoi(argv[3]) : 5;
	double v[ARMS][64], med[ARMS];
	uint64_t lost = 0;

	if (argc < 2 || rounds < 1 || rounds > 64 || (b.calls < 1 && strncmp(argv[2], "hold", 4) != 0)) {
		fprintf(stderr,
			"usage: callcost LIBCUDA [CALLS [ROUNDS]], or callcost LIBCUDA hold|hold-entry SECONDS\n");
		return 2;
	}
	libbpf_set_print(NULL);
	if (setup(&b))
		return 1;
	if (argc > 3 && strncmp(argv[2], "hold", 4) == 0)
		return hold(&b, (unsigned)rounds, !argv[2][4]);
	loop_ns(&b);
	for (int r = 0; r < rounds; r++) {
		v[BARE][r] = loop_ns(&b);
		v[FLOOR_ENTRY][r] = floor_ns(&b, false);
		v[FLOOR_BOTH][r] = floor_ns(&b, true);
		v[RECORD_ENTRY][r] = record_ns(&b, (struct attach_opts){ .entry_only = true }, &lost);
		v[RECORD_SOME][r] = record_ns(&b, (struct attach_opts){ .measure_one_of = 64 }, &lost);
		v[RECORD][r] = record_ns(&b, (struct attach_opts){ 0 }, &lost);
		v[RECORD_LATENCY][r] = record_ns(&b, (struct attach_opts){ .latency = true }, &lost);
	}
	for (int a = 0; a < ARMS; a++) {
		qsort(v[a], (size_t)rounds, sizeof(double), by_value);
		med[a] = v[a][rounds / 2];
	}
	printf("%-34s %10s %10s %12s\n", "per call, medians", "ns", "added", "over floor");
	for (int a = 0; a < ARMS; a++) {
		double floor = a == RECORD ? med[FLOOR_BOTH] : a == RECORD_ENTRY ? med[FLOOR_ENTRY] : 0;

		printf("%-34s %10.0f %10.0f", names[a], med[a], med[a] - med[BARE]);
		if (floor > 0)
			printf(" %11.2fx", (med[a] - med[BARE]) / (floor - med[BARE]));
		printf("\n");
	}
	printf("--latency: %.0f ns a call more, %.2f times what the same recording costs without it\n",
	       med[RECORD_LATENCY] - med[RECORD],
	       (med[RECORD_LATENCY] - med[BARE]) / (med[RECORD] - med[BARE]));
	printf("%ld calls an arm, %d rounds, %llu records lost\n", b.calls, rounds, (unsigned long long)lost);
	apitab__free(b.tab);
	return 0;
}
