/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stack of a thread of another process. */
#include "t.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/stack.h"

static volatile int keep;

__attribute__((noinline)) static void deep(int n, int ready)
{
	if (n) {
		deep(n - 1, ready);
	} else {
		keep = write(ready, "", 1) == 1;
		while (keep)
			pause();
	}
	keep++; /* behind the call: it is no tail call */
}

static unsigned frames(const char *text)
{
	unsigned n = 1;

	while ((text = strstr(text, " < "))) {
		text++;
		n++;
	}
	return n;
}

T(stack_is_bounded)
{
	char text[8192], small[64], byte;
	int fd[2];
	pid_t p;

	CHECK(!pipe(fd));
	fflush(stdout);
	p = fork();
	if (p == 0) {
		deep(100, fd[1]);
		_exit(0);
	}
	CHECK(read(fd[0], &byte, 1) == 1);
	stack_take(p, p, text, sizeof(text));
#ifdef HAVE_LIBDW
	CHECKF(frames(text) == 32 && strstr(text, "deep (test_stack)"), "%u: %s", frames(text), text);
#else
	CHECKF(strstr(text, "without libdw") && frames(text) == 1, "%s", text);
#endif
	stack_take(p, p, small, sizeof(small));
	CHECKF(strlen(small) < sizeof(small) && !strncmp(small, text, 8), "%s", small);
	CHECK(stack_thread(p, "test_stack") == p && stack_thread(p, "no such thread") == p);
	/* it goes on as before */
	CHECK(waitpid(p, NULL, WNOHANG) == 0);
	kill(p, SIGKILL);
	waitpid(p, NULL, 0);
	stack_take(p, p, text, sizeof(text));
	CHECKF(!strncmp(text, "no stack: ", 10), "%s", text);
}

TEST_MAIN
