// SPDX-License-Identifier: GPL-2.0-or-later
/* The gate against the kernel's records, the watchdog, and the end. */
#include "record/gates.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events.h"
#include "record/stack.h"

#define POLL_NS 100000000ull

enum watched { WATCH_UNKNOWN = 0, WATCH_NOT, WATCH_INIT, WATCH_CONTEXT, WATCH_MODULE, WATCH_WORK };

/* ---- The host observer ---- */

static enum watched what_of(struct recorder *r, unsigned api)
{
	const struct api *a = apitab__get(r->armed, api);

	if (!a)
		return WATCH_NOT;
	switch (a->cls) {
	case API_INIT:
		return WATCH_INIT;
	case API_CONTEXT:
		return strcmp(a->detail, "create") ? WATCH_NOT : WATCH_CONTEXT;
	case API_MODULE:
		return strcmp(a->detail, "load") ? WATCH_NOT : WATCH_MODULE;
	case API_LAUNCH:
	case API_GRAPHLAUNCH:
	case API_COPY:
	case API_SET:
		return WATCH_WORK;
	default:
		return WATCH_NOT;
	}
}

static void earliest(uint64_t *t, uint64_t when)
{
	if (!*t || when < *t)
		*t = when;
}

void recorder_gate_call(struct recorder *r, const struct gpubpf_call *c)
{
	struct gates *g = r->gates;
	struct gated *p;
	uint8_t *what;

	if (!g || c->depth || c->api >= GPUBPF_API_MAX)
		return;
	what = &g->watched[c->api];
	if (*what == WATCH_UNKNOWN)
		*what = (uint8_t)what_of(r, c->api);
	if (*what == WATCH_NOT)
		return;
	p = gates_find(g, c->tgid);
	if (!p || c->t_entry < p->exec_ns)
		return;
	switch (*what) {
	case WATCH_INIT:
		if (p->host.init_entry && c->t_entry > p->host.init_entry)
			return;
		p->host.init_entry = c->t_entry;
		p->init_open = !(c->flags & GPUBPF_CALL_RETURNED) && p->init_open;
		p->host.init_return = c->flags & GPUBPF_CALL_RETURNED ? c->t_return : 0;
		p->host.init_result = c->flags & GPUBPF_CALL_RETURNED ? c->result : 0;
		return;
	case WATCH_CONTEXT:
		earliest(&p->host.context, c->t_entry);
		return;
	case WATCH_MODULE:
		earliest(&p->host.module, c->t_entry);
		return;
	default:
		earliest(&p->host.work, c->t_entry);
	}
}

static void on_open(const struct attach_open_call *c, void *arg)
{
	struct recorder *r = arg;
	struct gated *p = gates_find(r->gates, c->tgid);

	if (!p || c->left || c->depth || what_of(r, c->api) != WATCH_INIT || c->t_entry < p->exec_ns)
		return;
	if (p->host.init_entry && p->host.init_entry != c->t_entry)
		return;
	p->host.init_entry = c->t_entry;
	p->init_open = true;
	p->init_tid = c->tid;
}

static void look_at_open_calls(struct recorder *r)
{
	struct gated *p, *tmp;

	HASH_ITER (hh, r->gates->procs, p, tmp)
		p->init_open = false;
	attach__open_calls(r->attach, on_open, r);
}

void recorder_gate_task(struct recorder *r, const struct gpubpf_task *t)
{
	struct gated *p = r->gates ? gates_find(r->gates, t->tgid) : NULL;

	if (t->event == GPUBPF_TASK_SEEN) {
		p = gates_get(r, t->tgid);
		if (!p || p->own_pid)
			return;
		p->own_pid = t->ns_tgid;
		p->view_pid = t->view_tgid;
		p->start_time = t->start_time / (1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK));
	} else if (p && t->event == GPUBPF_TASK_EXEC) {
		gated_read(r->gates, p); /* the last word of the old one, if the new one has not spoken */
		gated_replaced(p, t->time);
	} else if (p && t->event == GPUBPF_TASK_EXIT) {
		p->ended = true;
		p->wait_status = t->code;
		gated_read(r->gates, p);
		p->final_read = true;
	}
}

/* ---- Looking at it while it runs ---- */

bool recorder_gate_init_open(struct recorder *r)
{
	struct gated *p, *tmp;
	bool open = false;

	if (!r->gates || !r->o->command)
		return false;
	look_at_open_calls(r);
	HASH_ITER (hh, r->gates->procs, p, tmp) {
		p->was_open |= p->init_open;
		open |= p->init_open && p->has_shim && !p->watchdog;
	}
	return open;
}

/* After the end of the recording nobody says that a process became another program: whatever was inside cuInit() then left it. */
static bool overdue(const struct recorder *r, const struct gated *p, uint64_t now)
{
	if (p->ended || !p->has_shim || p->watchdog || (r->stopped && p->was_open && !p->init_open))
		return false;
	return gate_overdue(&p->shim, p->init_open, now);
}

/* Whoever is inside cuInit(), or else the shim's own thread. */
static void take_stack(struct recorder *r, struct gated *p, pid_t pid)
{
	bool inside = p->init_open && !attach__has_view(r->attach);
	pid_t tid = inside ? (pid_t)p->init_tid : stack_thread(pid, "gpubpf");

	stack_take(pid, tid, p->stack, sizeof(p->stack));
}

static void end_process(struct recorder *r, struct gated *p)
{
	pid_t pid = procinfo__view(r->procs, p->tgid);
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd >= 0 && gates_start_time(pid) == p->start_time)
		take_stack(r, p, pid);
	/* from here on the number cannot become another process's, and the file says that it still is ours */
	if (fd >= 0 && gates_start_time(pid) == p->start_time &&
	    !syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0)) {
		p->watchdog = true;
		r->gates->failed = true;
		recorder_say(r, "process %d is ended: %s", pid,
			     p->shim.lifecycle == GPUBPF_LIFECYCLE_INITIALIZING
				     ? "its capture was still coming up after the deadline (--init-timeout)"
				     : "its cuInit() did not return by the deadline (--init-timeout)");
		recorder_say(r, "process %d was in: %s", pid, p->stack);
	}
	if (fd >= 0)
		close(fd);
}

void recorder_gate_poll(struct recorder *r)
{
	struct gates *g = r->gates;
	uint64_t now = recorder_now();
	bool observing = !r->stopped || r->init_kept;
	struct gated *p, *tmp;
	bool late = false;

	if (!g || now - g->last_poll < POLL_NS)
		return;
	g->last_poll = now;
	HASH_ITER (hh, g->procs, p, tmp) {
		if (p->ended)
			continue;
		gated_read(g, p);
		/* a cuInit() that has returned is not asked for again */
		late |= p->has_shim && !p->watchdog &&
			gate_overdue(&p->shim, observing && !p->host.init_return, now);
	}
	if (!late || !r->o->command)
		return;
	look_at_open_calls(r);
	HASH_ITER (hh, g->procs, p, tmp)
		if (overdue(r, p, now))
			end_process(r, p);
}

bool recorder_gate_failed(const struct recorder *r)
{
	return r->gates && r->gates->failed;
}

bool recorder_gate_heard(const struct recorder *r)
{
	struct gated *p, *tmp;

	if (!r->gates)
		return false;
	HASH_ITER (hh, r->gates->procs, p, tmp)
		if (p->has_shim || p->earlier)
			return true;
	return false;
}

/* ---- The end ---- */

void gated_case(const struct gates *g, const struct gated *p, struct gate_case *c)
{
	*c = (struct gate_case){
		.gated = g->gated,
		.differ = p->differ,
		.shim = p->has_shim ? &p->shim : NULL,
		.host = p->host,
		.ended = p->ended,
		.wait_status = p->wait_status,
		.watchdog = p->watchdog,
		.has_final = p->has_refused && g->gated,
		.final = p->refused,
		.final_text = p->refused_text,
	};
}

int recorder_gate_finish(struct recorder *r, const Gpubpf__Counts *counts, bool *ready)
{
	struct gates *g = r->gates;
	struct gated *p, *tmp;
	bool lost = r->late_libraries || capture_writer__dropped(r->writer), unsafe;

	*ready = false;
	if (!g)
		return 0;
	for (size_t i = 0; i < counts->n_api; i++)
		lost |= counts->api[i]->lost_ring || counts->api[i]->lost_thread;
	g->gated = g->gated && r->res->shims;
	look_at_open_calls(r);
	HASH_ITER (hh, g->procs, p, tmp) {
		if (!p->final_read)
			gated_read(g, p);
		p->host.lost = lost;
		p->host.entry_only = attach__entry_only(r->attach, &unsafe);
	}
	return gates_write(r, ready);
}
