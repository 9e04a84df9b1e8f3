/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder's turns: nap, take the ring down, look at signals and targets. */
#include "record/recorder_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "events.h"
#include "stackraw.h"

#define FLUSH_NS 200000000ull   /* age of the block in the making */
#define COUNTS_NS 1000000000ull /* between two blocks of counters */
#define SCAN_NS 250000000ull
#define BURST 200000 /* records in one go, before signals are looked at again */
#define RING_BYTES_PER_MS                                                                                    \
	480000 /* four times the highest rate seen (limits: 860,000 records of 104 bytes a second) */

static bool any_file(const char *path)
{
	(void)path;
	return true;
}

static void on_mapping(const struct mmapwatch_event *ev, void *arg)
{
	recorder_stacks_mapped(arg, ev);
	if (recorder_wants_file(ev->path))
		recorder_mapped(ev, arg);
}

void recorder_mappings(struct recorder *r)
{
	if (!r->mmaps)
		return;
	if (r->stacks)
		mmapwatch__read(r->mmaps, any_file, on_mapping, r);
	else
		mmapwatch__read(r->mmaps, recorder_wants_file, recorder_mapped, r);
}

int recorder_on_record(const struct gpubpf_rec *rec, void *arg)
{
	struct recorder *r = arg;
	const void *data = rec;
	uint64_t t = 0;

	r->burst++;
	if (rec->kind == REC_STACK_RAW) {
		recorder_stacks_raw(r, data);
		return 0;
	}
	if (rec->kind == GPUBPF_REC_CALL) {
		const struct gpubpf_call *c = data;

		t = c->flags & GPUBPF_CALL_RETURNED ? c->t_return : c->t_entry;
		r->calls += !c->depth && !(c->flags & GPUBPF_CALL_OPEN);
		recorder_gate_call(r, c);
	} else if (rec->kind == GPUBPF_REC_TASK) {
		const struct gpubpf_task *task = data;

		t = task->time;
		if (procinfo__task(r->procs, task, r->o->system ? "system" : "followed") > 0)
			recorder_environment_task(r, task);
		recorder_shim_task(r, task);
		recorder_gate_task(r, task);
		recorder_stacks_task(r, task);
		if (task->event == GPUBPF_TASK_EXEC && task->view_tgid &&
		    r->nexeced < sizeof(r->execed) / sizeof(r->execed[0]))
			r->execed[r->nexeced++] = (pid_t)task->view_tgid;
	} else if (rec->kind == GPUBPF_REC_XID) {
		t = ((const struct gpubpf_xid *)data)->time;
	} else if (rec->kind == GPUBPF_REC_LATENCY) {
		t = ((const struct gpubpf_latency *)data)->t_return;
	} else if (rec->kind == GPUBPF_REC_WAKER) {
		t = ((const struct gpubpf_waker *)data)->t_wake;
	} else if (rec->kind == GPUBPF_REC_SHIM) {
		t = ((const struct gpubpf_shim *)data)->time;
		recorder_on_shim(r, data);
		recorder_gate_shim(r, data);
	}
	if (!r->write_error)
		r->write_error = capture_writer__record(r->writer, rec, t, r->err);
	else
		capture_writer__record(r->writer, rec, t, NULL); /* counts what is dropped */
	return 0;
}

int recorder_on_ring(void *ctx, void *data, size_t size)
{
	struct recorder *r = ctx;

	(void)size;
	attach__each_record(r->attach, data, recorder_on_record, r);
	return r->burst >= BURST ? -EAGAIN : 0;
}

int recorder_drain(struct recorder *r)
{
	int e;

	r->burst = 0;
	e = ring_buffer__consume(r->ring);
	if (e < 0 && e != -EAGAIN)
		return err_set(r->err, e, "cannot read the ring: error %d", -e);
	return (int)r->burst;
}

/* How long records may gather: short against the time in which they can fill the ring. */
static int nap_ms(const struct recorder *r)
{
	uint64_t bytes = r->o->attach.ring_bytes ? r->o->attach.ring_bytes : 16u << 20;
	uint64_t ms = bytes / RING_BYTES_PER_MS;

	return ms < 1 ? 1 : ms > 10 ? 10 : (int)ms;
}

static void on_signal(struct recorder *r, const struct signalfd_siginfo *si)
{
	if (si->ssi_signo == SIGCHLD) {
		if (r->launch.pid && launch_reap(&r->launch, false))
			r->end = "target exited";
		return;
	}
	r->signals++;
	if (r->launch.pid && r->signals == 1) {
		recorder_pass_on(r, si);
		recorder_say(r,
			     "waiting for the command to end; one more signal ends the recording without it");
		return;
	}
	r->end = si->ssi_signo == SIGINT ? "SIGINT" : si->ssi_signo == SIGHUP ? "SIGHUP" : "SIGTERM";
}

static void on_event(struct recorder *r, int fd)
{
	if (fd == r->sigfd) {
		struct signalfd_siginfo si;

		while (read(r->sigfd, &si, sizeof(si)) == sizeof(si))
			on_signal(r, &si);
		return;
	}
	for (size_t i = 0; i < r->npidfds; i++) {
		if (r->pidfds[i] != fd)
			continue;
		epoll_ctl(r->epfd, EPOLL_CTL_DEL, fd, NULL);
		close(fd);
		r->pidfds[i] = -1;
		if (--r->alive == 0)
			r->end = "target exited";
		return;
	}
}

static void keep_up(struct recorder *r, uint64_t now)
{
	uint64_t every = r->o->counts_ns ? r->o->counts_ns : COUNTS_NS;
	int e = 0;

	/* before the dead are forgotten */
	if (r->mmaps) {
		recorder_mappings(r);
	} else if (now - r->last_scan >= SCAN_NS) {
		r->last_scan = now;
		recorder_scan(r);
	}
	if (now - r->last_flush >= FLUSH_NS) {
		r->last_flush = now;
		e = procinfo__write(r->procs, r->writer, r->err);
		if (!e)
			e = recorder_environment_write(r);
		if (!e)
			e = capture_writer__flush(r->writer, r->err);
	}
	if (!e && now - r->last_counts >= every) {
		struct recorder_counts *c;

		/* on a grid for who says how often; what was slept over is one */
		r->last_counts = r->o->counts_ns ? now - (now - r->last_counts) % every : now;
		if (!recorder_counts_read(r, &c)) {
			e = capture_writer__counts(r->writer, recorder_counts_message(c), r->err);
			recorder_counts_free(c);
		}
	}
	if (e && !r->write_error)
		r->write_error = e;
}

static int wait_ms(const struct recorder *r, uint64_t now)
{
	uint64_t ms = (uint64_t)nap_ms(r);

	if (r->deadline) {
		uint64_t left = r->deadline > now ? (r->deadline - now + 999999) / 1000000 : 0;

		ms = left < ms ? left : ms;
	}
	return r->burst >= BURST ? 0 : (int)ms;
}

/* What has come; five times a second what is counted, since threads keep a few launches to themselves (bpf/row.h). */
static uint64_t calls_recorded(struct recorder *r, uint64_t now)
{
	size_t n = attach__api_ids(r->attach);
	struct gpubpf_counts *c;
	uint64_t sum = 0;

	if (now - r->last_sum < FLUSH_NS)
		return r->calls;
	r->last_sum = now;
	c = calloc(n + 1, sizeof(*c));
	if (c && !attach__counts(r->attach, c, n)) {
		for (size_t i = 0; i < n; i++)
			sum += c[i].recorded > c[i].nested ? c[i].recorded - c[i].nested : 0;
	}
	free(c);
	return sum > r->calls ? sum : r->calls;
}

int recorder_turn(struct recorder *r, int ms)
{
	struct epoll_event ev[16];
	int n = epoll_wait(r->epfd, ev, 16, ms), got;

	if (n < 0 && errno != EINTR)
		return err_set(r->err, -errno, "cannot wait for events: epoll failed");
	n = n < 0 ? 0 : n;
	if (r->stacks) /* before the stacks that stand in them */
		recorder_mappings(r);
	got = recorder_drain(r);
	if (got < 0)
		return got;
	recorder_execed(r);
	recorder_stacks_read(r);
	for (int i = 0; i < n; i++)
		on_event(r, ev[i].data.fd);
	keep_up(r, recorder_now());
	recorder_gate_poll(r);
	recorder_environment_poll(r);
	return 0;
}

int recorder_loop(struct recorder *r)
{
	while (!r->end) {
		const char *why = r->o->turn ? r->o->turn(r->o->turn_arg) : NULL;
		int e = why ? 0 : recorder_turn(r, wait_ms(r, recorder_now()));
		uint64_t now = recorder_now();

		if (e)
			return e;
		if (why && !r->end)
			r->end = why;
		if (r->write_error && !r->end)
			r->end = "write error";
		if (r->o->require_ready && recorder_gate_failed(r) && !r->end)
			r->end = "not ready";
		if (r->deadline && now >= r->deadline && !r->end)
			r->end = "duration";
		if (r->o->max_calls && !r->end && calls_recorded(r, now) >= r->o->max_calls)
			r->end = "calls";
	}
	return 0;
}
