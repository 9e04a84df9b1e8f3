/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a recorded call costs the thread that makes it, beside the kernel's own floor (an empty program at the
 * same place), all in one process and one run: callcost LIBCUDA [CALLS [ROUNDS]]. Arms take turns, so that a
 * machine whose speed drifts moves all of them; medians over the rounds; the bare loop is subtracted.
 */
#include <asm/ptrace.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
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

enum arm {
	BARE,
	FLOOR_ENTRY,
	LEAST_ENTRY,
	FLOOR_BOTH,
	LEAST_BOTH,
	RECORD_ENTRY,
	RECORD_SOME,
	RECORD,
	RECORD_LATENCY,
	ARMS
};

static const char *const names[ARMS] = {
	"bare call",
	"empty program, entry",
	"the least record, entry",
	"empty program, entry and return",
	"the least record, both",
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

#if defined(__x86_64__)
#define REG(r) offsetof(struct pt_regs, r)
#define WORDS                                                                                                \
	{                                                                                                    \
		REG(rdi), REG(rsi), REG(rdx), REG(rcx), REG(r8), REG(r9)                                     \
	}
#define SP REG(rsp)
#define RESULT REG(rax)
#define STACK_ARGS 8
#else
#define REG(n) (8 * (n))
#define WORDS                                                                                                \
	{                                                                                                    \
		REG(0), REG(1), REG(2), REG(3), REG(4), REG(5), REG(6), REG(7)                               \
	}
#define SP REG(31)
#define RESULT REG(0)
#define STACK_ARGS 0
#endif
#define LAUNCH_WORDS 11

static size_t call(struct bpf_insn *at, int helper)
{
	*at = (struct bpf_insn){ .code = BPF_JMP | BPF_CALL, .imm = helper };
	return 1;
}

static size_t load(struct bpf_insn *at, int dst, int src, size_t offset)
{
	*at = (struct bpf_insn){ .code = BPF_LDX | BPF_MEM | BPF_DW,
				 .dst_reg = dst & 15,
				 .src_reg = src & 15,
				 .off = (short)offset };
	return 1;
}

static size_t store(struct bpf_insn *at, size_t offset, int src)
{
	*at = (struct bpf_insn){ .code = BPF_STX | BPF_MEM | BPF_DW,
				 .dst_reg = BPF_REG_0,
				 .src_reg = src & 15,
				 .off = (short)offset };
	return 1;
}

static size_t move(struct bpf_insn *at, int dst, int src)
{
	*at = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_X,
				 .dst_reg = dst & 15,
				 .src_reg = src & 15 };
	return 1;
}

static size_t immediate(struct bpf_insn *at, int op, int dst, int imm)
{
	*at = (struct bpf_insn){ .code = (__u8)(BPF_ALU64 | op | BPF_K), .dst_reg = dst & 15, .imm = imm };
	return 1;
}

static size_t stop(struct bpf_insn *at)
{
	at[0] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 };
	at[1] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	return 2;
}

/* Registers 6 and 7: the context and the time; register 0: where the record is. */
static size_t begin_record(struct bpf_insn *at, int map)
{
	size_t n = 0;

	n += move(&at[n], BPF_REG_6, BPF_REG_1);
	n += call(&at[n], BPF_FUNC_ktime_get_ns);
	n += move(&at[n], BPF_REG_7, BPF_REG_0);
	at[n++] = (struct bpf_insn){ .code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10, .off = -4 };
	n += move(&at[n], BPF_REG_2, BPF_REG_10);
	n += immediate(&at[n], BPF_ADD, BPF_REG_2, -4);
	at[n++] = (struct bpf_insn){ .code = BPF_LD | BPF_DW | BPF_IMM,
				     .dst_reg = BPF_REG_1,
				     .src_reg = BPF_PSEUDO_MAP_FD,
				     .imm = map };
	at[n++] = (struct bpf_insn){ 0 };
	n += call(&at[n], BPF_FUNC_map_lookup_elem);
	at[n++] = (struct bpf_insn){ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = BPF_REG_0, .off = 1 };
	at[n++] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	return n;
}

static size_t keep_entry(struct bpf_insn *at)
{
	size_t words[] = WORDS, n = 0, in_registers = sizeof(words) / sizeof(words[0]);

	n += store(&at[n], 0, BPF_REG_7);
	for (size_t i = 0; i < in_registers; i++) {
		n += load(&at[n], BPF_REG_1, BPF_REG_6, words[i]);
		n += store(&at[n], 8 + 8 * i, BPF_REG_1);
	}
	n += move(&at[n], BPF_REG_1, BPF_REG_0);
	n += immediate(&at[n], BPF_ADD, BPF_REG_1, (int)(8 + 8 * in_registers));
	n += immediate(&at[n], BPF_MOV, BPF_REG_2, (int)(8 * (LAUNCH_WORDS - in_registers)));
	n += load(&at[n], BPF_REG_3, BPF_REG_6, SP);
	n += immediate(&at[n], BPF_ADD, BPF_REG_3, STACK_ARGS);
	n += call(&at[n], BPF_FUNC_probe_read_user);
	return n + stop(&at[n]);
}

/* bpf_session_is_return() of this kernel; negative: none. */
static int is_return_id(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int id = btf ? btf__find_by_name_kind(btf, "bpf_session_is_return", BTF_KIND_FUNC) : -1;

	btf__free(btf);
	return id;
}

/* The least that a record of a launch takes: the clock and its eleven words, over those of the last one, and with
 * `returns` the clock and the result at the other end. No thread, no nesting, no count, nobody who reads it. */
static int least_program(bool returns)
{
	LIBBPF_OPTS(bpf_prog_load_opts, o,
		    .expected_attach_type = (enum bpf_attach_type)(returns ? KERNEL_UPROBE_SESSION
									   : KERNEL_UPROBE_MULTI));
	int map = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "least", 4, 8 * (3 + LAUNCH_WORDS), 1, NULL);
	size_t n = 0, jump = 0;
	struct bpf_insn p[64];

	n += begin_record(&p[n], map);
	if (returns) {
		n += move(&p[n], BPF_REG_8, BPF_REG_0);
		p[n++] = (struct bpf_insn){ .code = BPF_JMP | BPF_CALL,
					    .src_reg = BPF_PSEUDO_KFUNC_CALL,
					    .imm = is_return_id() };
		n += move(&p[n], BPF_REG_1, BPF_REG_0);
		n += move(&p[n], BPF_REG_0, BPF_REG_8);
		jump = n++;
	}
	n += keep_entry(&p[n]);
	if (returns) {
		p[jump] = (struct bpf_insn){ .code = BPF_JMP | BPF_JNE | BPF_K,
					     .dst_reg = BPF_REG_1,
					     .off = (short)(n - jump - 1) };
		n += store(&p[n], 8 * (1 + LAUNCH_WORDS), BPF_REG_7);
		n += load(&p[n], BPF_REG_1, BPF_REG_6, RESULT);
		n += store(&p[n], 8 * (2 + LAUNCH_WORDS), BPF_REG_1);
		n += stop(&p[n]);
	}
	return map < 0 ? -1 : bpf_prog_load(BPF_PROG_TYPE_KPROBE, "least", "GPL", p, n, &o);
}

static double floor_ns(const struct bench *b, enum arm arm)
{
	bool both = arm == FLOOR_BOTH || arm == LEAST_BOTH,
	     session = both && !kernel_try(ATTACH_SESSION, NULL);
	int prog = arm == LEAST_ENTRY || (arm == LEAST_BOTH && session)
			   ? least_program(session)
			   : empty_program(session ? KERNEL_UPROBE_SESSION : KERNEL_UPROBE_MULTI);
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
	if (rec->kind != GPUBPF_REC_LATENCY && rec->kind != GPUBPF_REC_WAKER)
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

/* A program that does nothing, or next to it, at the entry, or entry and return, of every launch on the machine for a
 * while: what is under a real loop whatever the recorder does. */
static int hold(const struct bench *b, unsigned seconds, const char *what)
{
	bool both = strcmp(what, "hold") == 0;
	int prog = strcmp(what, "hold-least") == 0
			   ? least_program(false)
			   : empty_program(both ? KERNEL_UPROBE_SESSION : KERNEL_UPROBE_MULTI);
	int link;
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
			"usage: callcost LIBCUDA [CALLS [ROUNDS]], or callcost LIBCUDA hold|hold-entry|hold-least SECONDS\n");
		return 2;
	}
	libbpf_set_print(NULL);
	if (setup(&b))
		return 1;
	if (argc > 3 && strncmp(argv[2], "hold", 4) == 0)
		return hold(&b, (unsigned)rounds, argv[2]);
	loop_ns(&b);
	for (int r = 0; r < rounds; r++) {
		v[BARE][r] = loop_ns(&b);
		v[FLOOR_ENTRY][r] = floor_ns(&b, FLOOR_ENTRY);
		v[LEAST_ENTRY][r] = floor_ns(&b, LEAST_ENTRY);
		v[FLOOR_BOTH][r] = floor_ns(&b, FLOOR_BOTH);
		v[LEAST_BOTH][r] = floor_ns(&b, LEAST_BOTH);
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
