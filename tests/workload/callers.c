// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls the driver from known places: callers MODE [N]. The functions are kept apart; how they are built (with frame pointers,
 * without, stripped) is the tests' business.
 *
 *   chain   main → stack_a → stack_b → stack_c → cuLaunchKernel, N times, and cuCtxSynchronize from main at the end
 *   inline  cuLaunchKernel from inline_inner, which is inline in stack_outer
 *   mangled from a function with the C++ name outer::inner(int)
 *   stray   the chain, from a frame whose caller is in no code
 *   deep    N calls deep
 *   thread  the chain in another thread
 *   made    from code that is made at run time, named in /tmp/perf-PID.map
 *   killed  the chain once, and SIGKILL
 *   exec    the chain, then the program anew as chain; or another one: exec N PROGRAM
 *   wait    the chain every 10 ms, N times
 *   leak    N allocations that nobody frees, of 1000, 1001 … bytes
 */
#include <cuda.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __clang__
#define KEPT __attribute__((noinline, used))
#else
#define KEPT __attribute__((noipa))
#endif
#define STAY() __asm__ volatile("" ::: "memory") /* behind a call: it is no jump */

int stack_a(int n);
int stack_b(int n);
int stack_c(int n);
int leak(int n);
int stack_outer(int n);
int stack_down(int n);
int mangled(int n) __asm__("_ZN5outer5innerEi");

static CUfunction function;

KEPT int stack_c(int n)
{
	int r = (int)cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);

	STAY();
	return r + n;
}

KEPT int stack_b(int n)
{
	int r = stack_c(n + 1);

	STAY();
	return r + 1;
}

KEPT int stack_a(int n)
{
	int r = stack_b(n + 1);

	STAY();
	return r + 1;
}

static inline __attribute__((always_inline)) int inline_inner(int n)
{
	int r = (int)cuLaunchKernel(function, 2, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);

	STAY();
	return r + n;
}

KEPT int stack_outer(int n)
{
	int r = inline_inner(n * 2);

	STAY();
	return r + 1;
}

KEPT int mangled(int n)
{
	int r = (int)cuLaunchKernel(function, 3, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);

	STAY();
	return r + n;
}

static int (*volatile down)(int) = stack_down; /* not to be unrolled */

KEPT int stack_down(int n)
{
	char room[256];
	int r;

	memset(room, n, sizeof(room));
	STAY();
	r = n > 0 ? down(n - 1) : stack_a(0);
	STAY();
	return r + room[n & 63];
}

/* Calls stack_a(n) with a frame pointer of the caller's choice. */
int stray_call(int n, const uint64_t *frame);
#if defined(__x86_64__)
__asm__(".text\n.type stray_call, @function\nstray_call:\n\tpush %rbp\n\tmov %rsi, %rbp\n\tcall stack_a\n\tpop %rbp\n\tret\n"
	".size stray_call, . - stray_call\n");
#elif defined(__aarch64__)
__asm__(".text\n.type stray_call, @function\nstray_call:\n\tstp x29, x30, [sp, #-16]!\n\tmov x29, x1\n\tbl stack_a\n"
	"\tldp x29, x30, [sp], #16\n\tret\n.size stray_call, . - stray_call\n");
#endif

static void *in_thread(void *arg)
{
	for (int i = 0; i < *(int *)arg; i++)
		stack_a(i);
	return NULL;
}

/* A function of its own frame that calls its argument. */
static const uint8_t code[] = {
#if defined(__x86_64__)
	0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3, /* push rbp; mov rbp, rsp; call *rdi; pop rbp; ret */
#elif defined(__aarch64__)
	0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91,
	0x00, 0x00, 0x3f, 0xd6,                         /* stp x29, x30; mov x29, sp; blr x0 */
	0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6, /* ldp x29, x30; ret */
#endif
};

static void from_made(void)
{
	stack_a(1);
	STAY();
}

static int made(int n)
{
	char path[64];
	void *p;
	FILE *f;

	usleep(200000); /* mappings have been looked at by then */
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return 1;
	memcpy(p, code, sizeof(code));
	__builtin___clear_cache((char *)p, (char *)p + sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	if (!f)
		return 1;
	fprintf(f, "%lx %zx py::made by hand:/a.py\n", (unsigned long)(uintptr_t)p, sizeof(code));
	fclose(f);
	for (int i = 0; i < n; i++)
		((void (*)(void (*)(void)))(uintptr_t)p)(from_made);
	usleep(1500000); /* names are read while the process is there */
	unlink(path);
	return 0;
}

KEPT int leak(int n)
{
	CUdeviceptr p;
	int r = 0;

	for (int i = 0; i < n; i++)
		r |= (int)cuMemAlloc(&p, 1000 + (size_t)i);
	return r;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "chain";
	int n = argc > 2 ? atoi(argv[2]) : 1;
	uint64_t no_frame[2] __attribute__((aligned(16))) = { 0, 0x1234 };
	pthread_t t;

	cuInit(0);
	if (!strcmp(mode, "inline")) {
		stack_outer(n);
	} else if (!strcmp(mode, "mangled")) {
		mangled(n);
	} else if (!strcmp(mode, "stray")) {
		stray_call(n, no_frame);
	} else if (!strcmp(mode, "deep")) {
		stack_down(n);
	} else if (!strcmp(mode, "leak")) {
		CUcontext ctx;

		return cuDevicePrimaryCtxRetain(&ctx, 0) || cuCtxSetCurrent(ctx) || leak(n);
	} else if (!strcmp(mode, "made")) {
		return made(n);
	} else if (!strcmp(mode, "thread")) {
		if (pthread_create(&t, NULL, in_thread, &n))
			return 1;
		pthread_join(t, NULL);
	} else {
		for (int i = 0; i < n; i++) {
			stack_a(i);
			if (!strcmp(mode, "wait"))
				usleep(10000);
		}
		cuCtxSynchronize();
	}
	if (!strcmp(mode, "killed"))
		raise(SIGKILL);
	if (!strcmp(mode, "exec") && argc > 3)
		usleep(300000); /* at the same addresses: who is asked later answers for the other */
	if (!strcmp(mode, "exec"))
		execl(argc > 3 ? argv[3] : "/proc/self/exe", argv[0], "chain", "1", NULL);
	return 0;
}
