// SPDX-License-Identifier: GPL-2.0-or-later
/* The user stacks of calls: from the ring to those who resolve them, and back into the file. */
#include "stacks/stacks.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "stackraw.h"
#include "stacks/mappings.h"
#include "record/recorder_priv.h"

int recorder_stacks_start(struct recorder *r)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int e;

	if (!r->o->attach.stacks)
		return 0;
	if (r->o->attach.stacks == STACKS_COPY && !stacks_names_built())
		return err_set(
			r->err, -ENOTSUP,
			"--stacks=dwarf needs libdw, and this gpubpf was built without libdw; --stacks=fp gives "
			"addresses");
	e = stacks__start(&r->stacks, r->err);
	if (e)
		return e;
	if (!stacks_names_built())
		recorder_say(r,
			     "built without libdw: stacks are files and offsets, without names of functions");
	ev.data.fd = stacks__fd(r->stacks);
	if (epoll_ctl(r->epfd, EPOLL_CTL_ADD, ev.data.fd, &ev))
		return err_set(r->err, -errno, "epoll: %s", strerror(errno));
	return 0;
}

void recorder_stacks_raw(struct recorder *r, const void *data)
{
	const struct stack_raw *raw = data;

	if (r->stacks)
		stacks__take(r->stacks, raw, procinfo__view(r->procs, raw->tgid));
}

void recorder_stacks_task(struct recorder *r, const struct gpubpf_task *t)
{
	if (!r->stacks)
		return;
	if (t->event == GPUBPF_TASK_SEEN) {
		recorder_mappings(r); /* all that it had mapped before this call */
		stacks__begun(r->stacks, t->tgid, (pid_t)(t->view_tgid ? t->view_tgid : t->tgid));
	} else if (t->event == GPUBPF_TASK_EXIT || t->event == GPUBPF_TASK_EXEC) {
		stacks__ended(r->stacks, t->tgid);
	}
}

void recorder_stacks_mapped(struct recorder *r, const struct mmapwatch_event *ev)
{
	const struct mapping m = { .start = ev->addr,
				   .end = ev->addr + ev->len,
				   .offset = ev->offset,
				   .ino = ev->ino,
				   .major = ev->major,
				   .minor = ev->minor,
				   .exec = true,
				   .path = ev->path };

	if (r->stacks && m.end > m.start && mapping__is_file(&m))
		stacks__mapped(r->stacks, ev->view_pid, &m);
}

static void on_resolved(const struct gpubpf_rec *rec, void *arg)
{
	const struct gpubpf_stack *s = (const struct gpubpf_stack *)rec;
	struct recorder *r = arg;
	uint64_t t = rec->flags & GPUBPF_STACK_CALL ? s->t_entry : recorder_now();

	if (!r->write_error)
		r->write_error = capture_writer__record(r->writer, rec, t, r->err);
	else
		capture_writer__record(r->writer, rec, t, NULL);
}

static void say_died(struct recorder *r)
{
	if (r->stacks_died || !stacks__died(r->stacks))
		return;
	r->stacks_died = true;
	epoll_ctl(r->epfd, EPOLL_CTL_DEL, stacks__fd(r->stacks), NULL);
	recorder_note(
		r, "stacks_died",
		"the process that resolves stacks ended before its time: those from here on are missing", 0);
}

void recorder_stacks_read(struct recorder *r)
{
	if (!r->stacks)
		return;
	stacks__read(r->stacks, on_resolved, r);
	say_died(r);
}

void recorder_stacks_finish(struct recorder *r)
{
	if (!r->stacks)
		return;
	stacks__finish(r->stacks, on_resolved, r);
	say_died(r);
}

uint64_t recorder_stacks_unresolved(const struct recorder *r)
{
	return r->stacks ? stacks__unresolved(r->stacks) : 0;
}

void recorder_stacks_free(struct recorder *r)
{
	stacks__free(r->stacks);
	r->stacks = NULL;
}
