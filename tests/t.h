/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For unit tests: T(name) defines a test, CHECK() fails it with file and line and goes on. Each test prints
 * one line, "ok NAME", "not ok NAME" or "skip NAME: what it lacked"; tests/run.sh adds the lines up.
 * main() stands in the including file's TEST_MAIN. `PROGRAM NAME` runs only that test.
 */
#ifndef GPUBPF_T_H
#define GPUBPF_T_H

#include <stdio.h>
#include <string.h>

struct t_test {
	const char *name;
	void (*fn)(void);
	struct t_test *next;
};

static struct t_test *t_first, **t_tail = &t_first;
static int t_bad;
static const char *t_skip;

#define T(id)                                                                                                \
	static void t_fn_##id(void);                                                                         \
	static struct t_test t_##id = { #id, t_fn_##id, NULL };                                              \
	__attribute__((constructor)) static void t_reg_##id(void)                                            \
	{                                                                                                    \
		*t_tail = &t_##id;                                                                           \
		t_tail = &t_##id.next;                                                                       \
	}                                                                                                    \
	static void t_fn_##id(void)

#define CHECK(cond) CHECKF(cond, "%s", #cond)
#define CHECKF(cond, ...)                                                                                    \
	do {                                                                                                 \
		if (!(cond)) {                                                                               \
			t_bad++;                                                                             \
			printf("# %s:%d: ", __FILE__, __LINE__);                                             \
			printf(__VA_ARGS__);                                                                 \
			putchar('\n');                                                                       \
		}                                                                                            \
	} while (0)
#define SKIP(lacked)                                                                                         \
	do {                                                                                                 \
		t_skip = (lacked);                                                                           \
		return;                                                                                      \
	} while (0)

/* For SKIP(): user-mode emulation has no bpf(2), and no openat2(2) before QEMU 9.1. Wants sys/syscall.h, unistd.h, errno.h. */
#define LACKS_SYSCALL(nr) (syscall(nr, -1, NULL, NULL, 0) < 0 && errno == ENOSYS)

static int t_main(int argc, char **argv)
{
	int failed = 0;

	for (struct t_test *t = t_first; t; t = t->next) {
		if (argc > 1 && strcmp(argv[1], t->name) != 0)
			continue;
		t_bad = 0;
		t_skip = NULL;
		t->fn();
		if (t_bad)
			printf("not ok %s\n", t->name);
		else if (t_skip)
			printf("skip %s: %s\n", t->name, t_skip);
		else
			printf("ok %s\n", t->name);
		fflush(stdout);
		failed += t_bad != 0;
	}
	return failed != 0;
}

#define TEST_MAIN                                                                                            \
	int main(int argc, char **argv)                                                                      \
	{                                                                                                    \
		return t_main(argc, argv);                                                                   \
	}

#endif
