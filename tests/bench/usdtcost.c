/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a probe site costs the thread that passes it: usdtcost [PASSES [ROUNDS]]. With nobody attached, beside the
 * same loop without a site; with BPF attached, beside the kernel's floor (an empty program on a bare nop of the
 * same loop). Arms take turns, so that a machine whose speed drifts moves all of them. Time of the thread, not of the
 * clock, and ratios of each arm's lowest round: other work on the machine only ever adds.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <elf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/kernel.h"
#include "usdt/contract.h"
#include "usdt/probe.h"
#include "util/clock.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define NOP "nop"
#else
#define MACHINE EM_AARCH64
#define NOP "nop"
#endif

GPUBPF_PROBE_DEFINE(calls_v1);

enum arm { WITHOUT, IDLE, ASKED, FLOOR, ATTACHED, READING, ARMS };

static const char *const names[ARMS] = {
	[WITHOUT] = "the loop without a site",
	[IDLE] = "with a site, nobody attached",
	[ASKED] = "with a site behind its semaphore, nobody attached",
	[FLOOR] = "a bare nop, an empty program attached (floor)",
	[ATTACHED] = "a site, an empty program attached",
	[READING] = "a site, a program that reads its three arguments",
};

extern const char usdtcost_nop[] __attribute__((visibility("hidden")));
static uint64_t record[4];

/* One pass fills a record, as whoever fires a probe does. The three loops differ in nothing but the site. */
#define LOOP(id, site)                                                                                       \
	__attribute__((noinline, aligned(64))) static void loop_##id(long n)                                 \
	{                                                                                                    \
		for (long i = 0; i < n; i++) {                                                               \
			for (unsigned k = 0; k < 4; k++)                                                     \
				((volatile uint64_t *)record)[k] = (uint64_t)i + k;                          \
			site;                                                                                \
		}                                                                                            \
	}
LOOP(without, __asm__ volatile("" ::: "memory"))
LOOP(site, GPUBPF_PROBE(calls_v1, record, 1, i))
LOOP(asked, if (GPUBPF_PROBE_ENABLED(calls_v1)) GPUBPF_PROBE(calls_v1, record, 1, i))
LOOP(nop, __asm__ volatile(".globl usdtcost_nop\n.hidden usdtcost_nop\nusdtcost_nop: " NOP ::: "memory"))

static double timed(void (*loop)(long), long n)
{
	uint64_t t0 = clock_now(CLOCK_THREAD_CPUTIME_ID);

	loop(n);
	return (double)(clock_now(CLOCK_THREAD_CPUTIME_ID) - t0) / (double)n;
}

static int program(bool reads, bool multi)
{
	/* The first three arguments of the architecture, added up so that no load is left out. */
#if defined(__x86_64__)
	enum { P1 = 112, P2 = 104, P3 = 96 };
#else
	enum { P1 = 0, P2 = 8, P3 = 16 };
#endif
	struct bpf_insn empty[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct bpf_insn three[] = {
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_1, .off = P1 },
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_3, .src_reg = BPF_REG_1, .off = P2 },
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_4, .src_reg = BPF_REG_1, .off = P3 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_X, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_3 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_X, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_4 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, o,
		    .expected_attach_type = (enum bpf_attach_type)(multi ? KERNEL_UPROBE_MULTI : 0));

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "usdtcost", "GPL", reads ? three : empty,
			     reads ? sizeof(three) / sizeof(three[0]) : 2, &o);
}

static double attached_ns(void (*loop)(long), long n, uint64_t offset, uint64_t semaphore, bool reads)
{
	bool multi = kernel_try(ATTACH_MULTI, NULL) == 0;
	int prog = program(reads, multi), link;
	double ns;

	if (multi)
		link = kernel_site_multi(prog, "/proc/self/exe", &offset, semaphore ? &semaphore : NULL, NULL,
					 1, getpid());
	else
		link = kernel_site_perf(prog, "/proc/self/exe", offset, semaphore, 0, false, getpid());
	close(prog);
	if (link < 0) {
		fprintf(stderr, "usdtcost: no probe: %s\n", strerror(-link));
		exit(1);
	}
	loop(100);
	ns = timed(loop, n);
	close(link);
	return ns;
}

/* The site of loop_site(): the loops' order in the file is the notes'. */
static void site_find(struct usdt_site *site, uint64_t *nop_offset)
{
	struct usdt_err err = { "" };
	struct usdt_site *sites;
	struct usdt_file *f;
	size_t n = 0, i = 0;
	uint64_t base;

	if (usdt_file__open("/proc/self/exe", NULL, &f, &err) || usdt_sites(f, MACHINE, &sites, &n, &err)) {
		fprintf(stderr, "usdtcost: %s\n", err.msg);
		exit(1);
	}
	/* Two sites: the one closer behind the start of its loop is loop_site()'s. Addresses are moved by the load. */
	base = (uintptr_t)&gpubpf_calls_v1_semaphore - usdt_file__probe(f, 0)->semaphore;
	while (i < n && (base + sites[i].location < (uintptr_t)loop_site ||
			 base + sites[i].location - (uintptr_t)loop_site > 256))
		i++;
	if (i == n || sites[i].refused[0]) {
		fprintf(stderr, "usdtcost: %s\n", i == n ? "its own site is not found" : sites[i].refused);
		exit(1);
	}
	*site = sites[i];
	*nop_offset = (uintptr_t)usdtcost_nop - base - sites[i].location + sites[i].offset;
	free(sites);
	usdt_file__close(f);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	long passes = argc > 1 ? atol(argv[1]) : 100000, idle = passes * 200;
	int rounds = argc > 2 ? atoi(argv[2]) : 11;
	double v[ARMS][64];
	struct usdt_site s;
	uint64_t nop;

	if (passes < 1 || rounds < 1 || rounds > 64) {
		fprintf(stderr, "usage: usdtcost [PASSES [ROUNDS]]\n");
		return 2;
	}
	libbpf_set_print(NULL);
	site_find(&s, &nop);
	for (int r = 0; r < rounds; r++) {
		v[WITHOUT][r] = timed(loop_without, idle);
		v[IDLE][r] = timed(loop_site, idle);
		v[ASKED][r] = timed(loop_asked, idle);
		v[FLOOR][r] = attached_ns(loop_nop, passes, nop, 0, false);
		v[ATTACHED][r] = attached_ns(loop_site, passes, s.offset, s.semaphore_offset, false);
		v[READING][r] = attached_ns(loop_site, passes, s.offset, s.semaphore_offset, true);
	}
	for (int a = 0; a < ARMS; a++)
		qsort(v[a], (size_t)rounds, sizeof(double), by_value);
	printf("%-50s %10s %10s %10s\n", "per pass", "median ns", "lowest ns", "ratio");
	for (int a = 0; a < ARMS; a++) {
		double to = v[a < FLOOR ? WITHOUT : FLOOR][0];

		printf("%-50s %10.2f %10.2f %9.2fx\n", names[a], v[a][rounds / 2], v[a][0], v[a][0] / to);
	}
	printf("%ld passes an arm (%ld with nobody attached), %d rounds\n", passes, idle, rounds);
	return 0;
}
