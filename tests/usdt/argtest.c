/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a tracer would see at the sites of sites.c, without a kernel's help: the instruction of each is replaced by a
 * breakpoint, every probe fired, and the three registers and the bytes of the record read out of the trapped
 * context. Needs libc alone, so that it also runs where only a cross compiler and user-mode emulation are.
 *
 *   argtest PROBE@ADDRESS…   the sites, as `gpubpf usdt` lists those of this very program; prints "ok …" or
 *                            "not ok …" per fire function
 *   argtest --protect ADDR   only makes writable what an instruction there spans, to see what a refusal says
 */
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "sites.h"

#if defined(__x86_64__)
/* int3; the trap comes with the instruction pointer behind it. */
static const uint8_t breakpoint[] = { 0xcc };
static uint64_t trap_pc(const ucontext_t *u)
{
	return (uint64_t)u->uc_mcontext.gregs[REG_RIP] - 1;
}
static void trap_args(const ucontext_t *u, uint64_t out[3])
{
	out[0] = (uint64_t)u->uc_mcontext.gregs[REG_RDI];
	out[1] = (uint64_t)u->uc_mcontext.gregs[REG_RSI];
	out[2] = (uint64_t)u->uc_mcontext.gregs[REG_RDX];
}
static void trap_skip(ucontext_t *u)
{
	(void)u;
}
#elif defined(__aarch64__)
/* brk #0; the trap comes with the program counter on it. */
static const uint8_t breakpoint[] = { 0x00, 0x00, 0x20, 0xd4 };
static uint64_t trap_pc(const ucontext_t *u)
{
	return u->uc_mcontext.pc;
}
static void trap_args(const ucontext_t *u, uint64_t out[3])
{
	for (unsigned i = 0; i < 3; i++)
		out[i] = u->uc_mcontext.regs[i];
}
static void trap_skip(ucontext_t *u)
{
	u->uc_mcontext.pc += sizeof(breakpoint);
}
#endif

enum { HITS_MAX = 16, SITES_MAX = 64, SECONDS = 20 };

struct hit {
	uint64_t pc;
	uint64_t arg[3];
	uint64_t record[SITE_WORDS];
};

static struct hit hits[HITS_MAX];
static volatile sig_atomic_t nhits;

static struct {
	uint64_t pc;
	const char *probe;
	unsigned fired;
} sites[SITES_MAX];
static size_t nsites;

static void on_trap(int sig, siginfo_t *si, void *context)
{
	ucontext_t *u = context;
	struct hit h = { .pc = trap_pc(u) };
	size_t i = 0;

	(void)si;
	while (i < nsites && sites[i].pc != h.pc)
		i++;
	if (i == nsites) { /* not ours: die of it */
		signal(sig, SIG_DFL);
		return;
	}
	trap_args(u, h.arg);
	memcpy(h.record, (const void *)(uintptr_t)h.arg[0], sizeof(h.record));
	if (nhits < HITS_MAX)
		hits[nhits] = h;
	nhits++;
	trap_skip(u);
}

/* A pointer register with anything else in it, as with a wrong macro. */
static void on_fault(int sig)
{
	static const char
		text[] = "# the pointer register holds no readable address\nnot ok the record can be read\n";

	(void)sig;
	_exit(write(STDOUT_FILENO, text, sizeof(text) - 1) > 0 ? 1 : 3);
}

static void on_alarm(int sig)
{
	static const char text[] = "# a probe did not come back\nnot ok ended in time\n";

	(void)sig;
	_exit(write(STDOUT_FILENO, text, sizeof(text) - 1) > 0 ? 1 : 3);
}

/* The pages that the bytes stand in and no other. */
static int protect(uint64_t addr, size_t len, int prot)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from = addr & ~(page - 1),
		 to = (addr + len + page - 1) & ~(page - 1);

	if (mprotect((void *)(uintptr_t)from, to - from, prot) == 0)
		return 0;
	printf("# mprotect of %#llx to %#llx (protection %d): errno %d, %s; page size %llu\n",
	       (unsigned long long)from, (unsigned long long)to, prot, errno, strerror(errno),
	       (unsigned long long)page);
	return -1;
}

static int patch(uint64_t addr)
{
	uint8_t *p = (uint8_t *)(uintptr_t)addr;

	if (protect(addr, sizeof(breakpoint), PROT_READ | PROT_WRITE | PROT_EXEC))
		return -1;
	memcpy(p, breakpoint, sizeof(breakpoint));
	__builtin___clear_cache((char *)p, (char *)p + sizeof(breakpoint));
	return protect(addr, sizeof(breakpoint), PROT_READ | PROT_EXEC);
}

static int first_object(struct dl_phdr_info *info, size_t size, void *bias)
{
	(void)size;
	*(uint64_t *)bias = info->dlpi_addr;
	return 1;
}

static int sites_take(int n, char **words)
{
	uint64_t bias = 0;

	dl_iterate_phdr(first_object, &bias);
	for (int i = 0; i < n; i++) {
		char *at = strchr(words[i], '@');

		if (!at || nsites == SITES_MAX)
			return -1;
		*at = '\0';
		sites[nsites].probe = words[i];
		sites[nsites++].pc = bias + strtoull(at + 1, NULL, 0);
	}
	return nsites ? 0 : -1;
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

static int check_hit(const struct site_fire *f, const struct hit *h, uint64_t seed)
{
	size_t i = 0;
	int bad = 0;

	while (i < nsites && sites[i].pc != h->pc)
		i++;
	if (i == nsites || strcmp(sites[i].probe, f->probe) != 0)
		return complain("a hit of %s where %s was fired", i < nsites ? sites[i].probe : "no site",
				f->probe);
	sites[i].fired++;
	if (f->pointer && h->arg[0] != (uintptr_t)f->pointer)
		bad = complain("pointer %#llx, not %p", (unsigned long long)h->arg[0], f->pointer);
	if (h->arg[1] != site_count(seed))
		bad = complain("count %#llx, not %#llx", (unsigned long long)h->arg[1],
			       (unsigned long long)site_count(seed));
	if (h->arg[2] != site_sequence(seed))
		bad = complain("sequence %#llx, not %#llx", (unsigned long long)h->arg[2],
			       (unsigned long long)site_sequence(seed));
	for (unsigned k = 0; k < SITE_WORDS; k++) {
		if (h->record[k] != site_word(seed, k))
			return complain("word %u of the record is %#llx, not %#llx", k,
					(unsigned long long)h->record[k],
					(unsigned long long)site_word(seed, k));
	}
	return bad;
}

static int fire(const struct site_fire *f, uint64_t seed)
{
	int bad = 0;

	nhits = 0;
	alarm(SECONDS);
	f->fire(seed);
	alarm(0);
	if ((unsigned)nhits != f->hits)
		bad = complain("%d hits, not %u", (int)nhits, f->hits);
	for (unsigned i = 0; i < (unsigned)nhits && i < HITS_MAX && !bad; i++)
		bad |= check_hit(f, &hits[i], seed + f->hits - 1 - i);
	printf("%s %s\n", bad ? "not ok" : "ok", f->name);
	return bad;
}

int main(int argc, char **argv)
{
	struct sigaction trap = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	int bad = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 3 && strcmp(argv[1], "--protect") == 0)
		return protect(strtoull(argv[2], NULL, 0), sizeof(breakpoint),
			       PROT_READ | PROT_WRITE | PROT_EXEC)
			       ? 1
			       : 0;
	sigaction(SIGTRAP, &trap, NULL);
	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	signal(SIGALRM, on_alarm);
	if (sites_take(argc - 1, argv + 1)) {
		fprintf(stderr, "usage: argtest PROBE@ADDRESS… | --protect ADDRESS\n");
		return 2;
	}
	for (size_t i = 0; i < nsites; i++) {
		if (patch(sites[i].pc)) {
			printf("not ok the site can be patched\n");
			return 1;
		}
	}
	for (unsigned i = 0; i < site_nfires; i++)
		bad |= fire(&site_fires[i], 0x1234567 + i);
	for (size_t i = 0; i < nsites; i++) {
		if (!sites[i].fired && !bad)
			bad = complain("the site of %s at %#llx was never hit", sites[i].probe,
				       (unsigned long long)sites[i].pc);
	}
	printf("%s every site was hit\n", bad ? "not ok" : "ok");
	return bad ? 1 : 0;
}
