/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/recorder.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/recorder_priv.h"
#include "util/clock.h"

void recorder_say(struct recorder *r, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	if (!r->o->say)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	r->o->say(line, r->o->say_arg);
}

uint64_t recorder_now(void)
{
	return clock_now(CLOCK_MONOTONIC);
}

void recorder_pass_on(struct recorder *r, const struct signalfd_siginfo *si)
{
	if (si->ssi_code != SI_KERNEL && !r->launch.reaped)
		kill(r->launch.pid, (int)si->ssi_signo);
}

static int epoll_add(struct recorder *r, int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	if (epoll_ctl(r->epfd, EPOLL_CTL_ADD, fd, &ev))
		return err_set(r->err, -errno, "epoll: %s", strerror(errno));
	return 0;
}

/* Signals come through a descriptor; a launched child is forked before this changes what it would inherit. */
static int take_signals(struct recorder *r)
{
	struct sigaction ign = { .sa_handler = SIG_IGN };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &r->old_mask);
	r->sigfd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (r->sigfd < 0)
		return err_set(r->err, -errno, "signalfd: %s", strerror(errno));
	if (r->o->command) {
		int e = recorder_shim_prepare(r);

		if (!e)
			e = launch_start(&r->launch, r->o->command, recorder_shim_env(r), &r->old_mask,
					 r->err);
		if (e)
			return e;
	}
	sigaction(SIGPIPE, &ign, &r->old_pipe);
	sigaction(SIGXFSZ, &ign, &r->old_xfsz);
	r->signals_taken = true;
	return epoll_add(r, r->sigfd, EPOLLIN);
}

static int watch_targets(struct recorder *r)
{
	r->pidfds = calloc(r->o->npids + 1, sizeof(*r->pidfds));
	if (!r->pidfds)
		return -ENOMEM;
	for (size_t i = 0; i < r->o->npids; i++) {
		pid_t pid = r->o->pids[i];
		int fd = (int)syscall(SYS_pidfd_open, pid, 0), e;

		if (fd < 0)
			return err_set(r->err, -errno, "no process %d: %s", pid, strerror(errno));
		r->pidfds[r->npidfds++] = fd;
		r->alive++;
		e = epoll_add(r, fd, EPOLLIN);
		if (e)
			return e;
	}
	return 0;
}

static int open_all(struct recorder *r)
{
	int e;

	r->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (r->epfd < 0)
		return err_set(r->err, -errno, "epoll: %s", strerror(errno));
	e = take_signals(r);
	if (!e)
		e = watch_targets(r);
	if (!e)
		e = apitab__builtin(&r->tab);
	if (!e)
		e = apitab__new(&r->armed);
	if (!e)
		e = procinfo__new(&r->procs);
	if (!e)
		e = recorder_stacks_start(r);
	if (!e)
		e = attach__open(&r->o->attach, &r->attach, r->err);
	if (!e)
		e = attach__load(r->attach, r->err);
	if (e)
		return e;
	r->ring = ring_buffer__new(attach__ring_fd(r->attach), recorder_on_ring, r, NULL);
	if (!r->ring)
		return err_set(r->err, -errno, "cannot map the ring: %s", strerror(errno));
	/* edge-triggered: records come without a wakeup, only the lives of processes wake */
	return epoll_add(r, attach__ring_fd(r->attach), EPOLLIN | EPOLLET);
}

static int add_target(struct recorder *r, pid_t pid, const char *origin)
{
	int e = attach__target(r->attach, pid, r->o->follow, r->err);

	/* in a pid namespace of our own the number in the records comes with the first of them */
	if (!e && !attach__has_view(r->attach))
		e = procinfo__add(r->procs, (uint32_t)pid, pid, origin, recorder_now());
	return e;
}

static int warn_unsafe(struct recorder *r)
{
	const char *text =
		"return probes kill processes behind seccomp filters on this kernel (mended in 6.14): entries alone are "
		"recorded, without results and durations";

	recorder_say(r, "%s", text);
	return recorder_note(r, "returns_unsafe", text, 0);
}

static int begin(struct recorder *r)
{
	bool xid = false, unsafe;
	int e;

	r->start = recorder_now();
	e = r->o->sink ? capture_writer__to(r->o->sink, &r->writer, r->err)
		       : capture_writer__open(r->o->output, &r->o->file, &r->writer, r->err);
	if (!e)
		e = recorder_describe(r);
	if (!e && attach__entry_only(r->attach, &unsafe) && unsafe)
		e = warn_unsafe(r);
	if (!e && mmapwatch__open(&r->mmaps)) {
		r->mmaps = NULL;
		e = recorder_note(r, "no_mmap_events", "late libraries are looked for four times a second",
				  0);
	} else if (!e) {
		e = mmapwatch__epoll_add(r->mmaps, r->epfd);
	}
	if (!e)
		e = recorder_libraries(r);
	if (!e)
		e = attach__activate(r->attach, &xid, r->err);
	if (!e && !xid)
		e = recorder_note(r, "no_xid_events",
				  "the kernel driver offers no tracepoint for GPU errors here", 0);
	for (size_t i = 0; i < r->o->npids && !e; i++)
		e = add_target(r, r->o->pids[i], "attached");
	if (!e && r->launch.pid)
		e = add_target(r, r->launch.pid, "launched");
	if (!e)
		e = recorder_shims(r);
	if (!e && r->launch.pid)
		e = launch_release(&r->launch, r->o->command[0], r->err);
	if (!e) /* what is recorded runs by now */
		e = recorder_environment_begin(r);
	if (r->o->duration_ns)
		r->deadline = recorder_now() + r->o->duration_ns;
	if (r->o->counts_ns)
		r->last_counts = recorder_now();
	return e;
}

static void give_back(struct recorder *r)
{
	launch_close(&r->launch);
	recorder_stacks_free(r);
	recorder_shims_free(r);
	recorder_gates_free(r);
	recorder_environment_free(r);
	recorder_armed_free(r);
	ring_buffer__free(r->ring);
	attach__close(r->attach);
	mmapwatch__close(r->mmaps);
	capture_writer__close(r->writer);
	procinfo__free(r->procs);
	liblist_free(&r->libs);
	apitab__free(r->tab);
	apitab__free(r->armed);
	for (size_t i = 0; i < r->npidfds; i++) {
		if (r->pidfds[i] >= 0)
			close(r->pidfds[i]);
	}
	free(r->pidfds);
	if (r->sigfd >= 0)
		close(r->sigfd);
	if (r->epfd >= 0)
		close(r->epfd);
	if (r->signals_taken) {
		sigaction(SIGPIPE, &r->old_pipe, NULL);
		sigaction(SIGXFSZ, &r->old_xfsz, NULL);
	}
	sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
}

/* The recording has ended before the command: its exit status is still to be passed on. */
static void wait_for_command(struct recorder *r)
{
	struct signalfd_siginfo si;
	struct epoll_event ev;

	if (!r->launch.pid || r->launch.reaped || r->signals > 1)
		return;
	recorder_say(r, "recording ended (%s); the command still runs", r->end);
	while (!launch_reap(&r->launch, false)) {
		if (epoll_wait(r->epfd, &ev, 1, r->gates ? 100 : 1000) < 0 && errno != EINTR)
			return;
		recorder_gate_poll(r);
		if (r->init_kept && !recorder_gate_init_open(r)) {
			attach__detach(r->attach);
			r->init_kept = false;
		}
		while (read(r->sigfd, &si, sizeof(si)) == sizeof(si)) {
			if (si.ssi_signo == SIGCHLD)
				continue;
			if (++r->signals > 1)
				return;
			recorder_pass_on(r, &si);
		}
	}
}

/* Nothing was recorded: no file may look as if something was. */
static void discard_output(struct recorder *r)
{
	struct stat st;

	if (!r->o->sink && strcmp(r->o->output, "-") != 0 && !lstat(r->o->output, &st) && S_ISREG(st.st_mode))
		unlink(r->o->output);
}

int recorder_run(const struct recorder_opts *o, struct recorder_result *res, struct err *err)
{
	struct recorder r = { .o = o, .res = res, .err = err, .epfd = -1, .sigfd = -1 };
	int e, loop_error;

	memset(res, 0, sizeof(*res));
	sigprocmask(SIG_SETMASK, NULL, &r.old_mask);
	e = open_all(&r);
	if (!e)
		e = begin(&r);
	if (e && r.writer)
		discard_output(&r);
	if (!e) {
		res->method = attach_method_names[attach__method(r.attach)];
		loop_error = recorder_loop(&r);
		if (!r.end)
			r.end = "internal error";
		e = recorder_finish(&r);
		e = loop_error ? loop_error : e;
		if (res->not_ready)
			discard_output(&r);
		wait_for_command(&r);
		res->launched = r.launch.reaped;
		res->exit_status = r.launch.reaped ? launch_exit_status(&r.launch) : 0;
	}
	give_back(&r);
	return e;
}
