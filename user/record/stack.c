// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The unwinder reads files that the process maps, and its memory, which may hold anything: it runs in a child of ours, which
 * may hang or crash and takes nothing along.
 */
#include "record/stack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/file.h"

#define TAKE_NS 2000000000ull
#define STOP_MS 500

pid_t stack_thread(pid_t pid, const char *name)
{
	char path[64], *text;
	struct dirent *entry;
	pid_t found = pid;
	size_t n;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && found == pid && (entry = readdir(d))) {
		char comm[sizeof(path) + sizeof(entry->d_name)];

		snprintf(comm, sizeof(comm), "%s/%s/comm", path, entry->d_name);
		if (atoi(entry->d_name) <= 0 || file_read_all(comm, 64, &text, &n))
			continue;
		if (n == strlen(name) + 1 && !memcmp(text, name, n - 1))
			found = atoi(entry->d_name);
		free(text);
	}
	if (d)
		closedir(d);
	return found;
}

#ifdef HAVE_LIBDW
#include <elfutils/libdwfl.h>

#define FRAMES_MAX 32

struct taking {
	Dwfl *dwfl;
	int out, frames;
};

__attribute__((format(printf, 2, 3))) static void put(int out, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	n = n < (int)sizeof(text) ? n : (int)sizeof(text) - 1;
	if (write(out, text, (size_t)n) != n)
		_exit(1);
}

/* Neither files beside the mapped ones nor a server are asked. */
static int no_debuginfo(Dwfl_Module *m, void **data, const char *name, Dwarf_Addr base, const char *file,
			const char *link, GElf_Word crc, char **found)
{
	(void)m, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)found;
	return -1;
}

static int on_frame(Dwfl_Frame *frame, void *arg)
{
	struct taking *t = arg;
	const char *name = NULL, *file = "in no file";
	Dwarf_Addr pc, end = 0;
	Dwfl_Module *m;
	bool here;

	if (!dwfl_frame_pc(frame, &pc, &here))
		return DWARF_CB_ABORT;
	pc -= !here; /* of the call, not what follows it */
	m = dwfl_addrmodule(t->dwfl, pc);
	/* the last module is given for all that is behind it: the page where a probe's returns arrive */
	if (m && dwfl_module_info(m, NULL, NULL, &end, NULL, NULL, NULL, NULL) && pc < end) {
		name = dwfl_module_addrname(m, pc);
		file = dwfl_module_info(m, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	}
	if (strrchr(file, '/'))
		file = strrchr(file, '/') + 1;
	put(t->out, t->frames ? " < " : "");
	if (name)
		put(t->out, "%.80s (%.60s)", name, file);
	else
		put(t->out, "0x%llx (%.60s)", (unsigned long long)pc, file);
	return ++t->frames == FRAMES_MAX ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static const char *stop(pid_t tid)
{
	int status;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) || ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		return strerror(errno);
	for (int i = 0; i < STOP_MS; i++) {
		pid_t got = waitpid(tid, &status, __WALL | WNOHANG);

		if (got == tid)
			return WIFSTOPPED(status) ? NULL : "it has ended";
		if (got < 0)
			return strerror(errno);
		usleep(1000);
	}
	return "it does not stop";
}

static void unwind(pid_t pid, pid_t tid, int out)
{
	static const Dwfl_Callbacks callbacks = { .find_elf = dwfl_linux_proc_find_elf,
						  .find_debuginfo = no_debuginfo };
	struct taking t = { .out = out };
	const char *why = stop(tid);

	if (why) {
		put(out, "no stack: thread %d cannot be stopped: %s", tid, why);
		return;
	}
	t.dwfl = dwfl_begin(&callbacks);
	if (t.dwfl && !dwfl_linux_proc_report(t.dwfl, pid) && !dwfl_report_end(t.dwfl, NULL, NULL) &&
	    !dwfl_linux_proc_attach(t.dwfl, pid, true))
		dwfl_getthread_frames(t.dwfl, tid, on_frame, &t);
	if (!t.frames)
		put(out, "no stack: it cannot be unwound: %s", dwfl_errmsg(-1));
}
#else
static void unwind(pid_t pid, pid_t tid, int out)
{
	static const char text[] = "no stack: this gpubpf was built without libdw";

	(void)pid, (void)tid;
	if (write(out, text, sizeof(text) - 1) < 0)
		_exit(1);
}
#endif

/* Until the child is done, or its time is. True: it is done. */
static bool take_in(int fd, char *text, size_t n)
{
	uint64_t end = clock_now(CLOCK_MONOTONIC) + TAKE_NS, now;
	size_t at = 0;

	while ((now = clock_now(CLOCK_MONOTONIC)) < end) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t got;

		if (poll(&p, 1, (int)((end - now) / 1000000) + 1) <= 0)
			continue;
		got = at + 1 < n ? read(fd, text + at, n - 1 - at) : 0;
		if (got <= 0)
			return true;
		at += (size_t)got;
		text[at] = 0;
	}
	return false;
}

void stack_take(pid_t pid, pid_t tid, char *text, size_t n)
{
	bool done = true;
	pid_t child;
	int fd[2];

	text[0] = 0;
	if (pipe2(fd, O_CLOEXEC)) {
		snprintf(text, n, "no stack: %s", strerror(errno));
		return;
	}
	child = fork();
	if (child == 0) {
		unwind(pid, tid, fd[1]);
		_exit(0);
	}
	close(fd[1]);
	if (child > 0) {
		done = take_in(fd[0], text, n);
		kill(child, SIGKILL);
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close(fd[0]);
	if (!text[0])
		snprintf(text, n, done ? "no stack: it could not be taken" : "no stack: it took too long");
}
