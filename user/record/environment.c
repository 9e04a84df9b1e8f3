/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where and how a capture was made, while it is made: facts as they become known, for its metadata. */
#include "record/recorder_priv.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "environment/gather.h"

/*
 * A query takes locks of the driver that a beginning process needs, too: the first one comes when that is over, the
 * last one behind the last record. Between the two there must be time for the clocks to change.
 */
#define SMI_AFTER_NS 2000000000ull
#define SMI_FIRST_NS 5000000000ull
#define SMI_END_NS 2000000000ull

struct environ_state {
	struct env_programs *programs;
	struct environment facts; /* not written yet */
	struct smi *smi;          /* NULL: not to be asked */
	uint64_t smi_at;
	bool cuda_used; /* what a shell becomes behind that, to run its last command, is not the program that was recorded */
};

int recorder_environment_begin(struct recorder *r)
{
	struct environ_state *s;
	pid_t first = r->launch.pid ? r->launch.pid : r->o->npids ? r->o->pids[0] : 0;
	int e;

	if (r->o->sink) /* a live view: no file to say it in */
		return 0;
	r->environment = s = calloc(1, sizeof(*s));
	e = s ? env_programs__new(&s->programs) : -ENOMEM;
	if (!e && !r->o->no_smi)
		e = smi__new(&s->smi);
	if (e)
		return err_set(r->err, e, "%s", strerror(-e));
	s->smi_at = recorder_now() + SMI_AFTER_NS;
	/* exec has begun, and is over in a moment */
	for (int i = 0; first && !env_programs__look(s->programs, first, true, &s->facts) && i < 10; i++)
		nanosleep(&(struct timespec){ 0, 100000 }, NULL);
	if (!first)
		environment__add(&s->facts, "workload", "executable", NULL,
				 "all processes of the system were recorded: each program has its own facts",
				 false);
	for (size_t i = 0; i < r->o->npids; i++) {
		env_programs__look(s->programs, r->o->pids[i], false, &s->facts);
		env_programs__libraries(s->programs, r->o->pids[i], &s->facts);
	}
	environment__host(&s->facts);
	if (!s->smi)
		environment__add(&s->facts, "device", "clocks and power", NULL,
				 "nvidia-smi was not to be started (--no-smi)", false);
	return recorder_environment_write(r);
}

void recorder_environment_process(struct recorder *r, pid_t view_pid)
{
	struct environ_state *s = r->environment;

	if (!s || !view_pid)
		return;
	env_programs__look(s->programs, view_pid, view_pid == r->launch.pid && !s->cuda_used, &s->facts);
	s->cuda_used = true;
	if (!r->launch.pid || !r->mmaps) /* what it has mapped before anybody looked */
		env_programs__libraries(s->programs, view_pid, &s->facts);
}

/* Of the many programs that a command starts, those matter that use CUDA, and what the command itself becomes. */
void recorder_environment_task(struct recorder *r, const struct gpubpf_task *t)
{
	pid_t pid = (pid_t)t->view_tgid;

	if (!r->environment)
		return;
	if (t->event == GPUBPF_TASK_EXEC && pid == r->launch.pid && !r->environment->cuda_used)
		env_programs__look(r->environment->programs, pid, true, &r->environment->facts);
	else if (t->event == GPUBPF_TASK_SEEN || !r->mmaps)
		recorder_environment_process(r, pid);
}

void recorder_environment_library(struct recorder *r, const struct mmapwatch_event *ev)
{
	if (r->environment)
		env_programs__library(r->environment->programs, ev->view_pid, ev->path, ev->ino,
				      &r->environment->facts);
}

void recorder_environment_poll(struct recorder *r)
{
	struct environ_state *s = r->environment;

	if (!s || !s->smi || r->o->system) /* it would be traced itself */
		return;
	if (smi__running(s->smi))
		smi__poll(s->smi, &s->facts);
	else if (!smi__started(s->smi) && recorder_now() >= s->smi_at)
		smi__start(s->smi, false, true, SMI_FIRST_NS, &s->facts);
}

int recorder_environment_write(struct recorder *r)
{
	struct environment *list = r->environment ? &r->environment->facts : NULL;
	Gpubpf__Meta m = GPUBPF__META__INIT;
	Gpubpf__Fact *fact, **facts;
	int e;

	if (!list || !list->n)
		return list ? list->error : 0;
	fact = calloc(list->n, sizeof(*fact));
	facts = calloc(list->n, sizeof(*facts));
	e = fact && facts ? list->error : -ENOMEM;
	for (size_t i = 0; i < list->n && !e; i++) {
		const struct env_fact *f = &list->fact[i].pub;

		gpubpf__fact__init(&fact[i]);
		fact[i].group = (char *)f->group;
		fact[i].name = (char *)f->name;
		fact[i].value = (char *)f->value;
		fact[i].absent = (char *)f->why_absent;
		fact[i].has_per_run = fact[i].per_run = f->per_run;
		facts[i] = &fact[i];
	}
	m.fact = facts;
	m.n_fact = list->n;
	e = e ? err_set(r->err, e, "%s", strerror(-e)) : capture_writer__meta(r->writer, &m, r->err);
	free(fact);
	free(facts);
	environment__clear(list);
	return e;
}

/* One answer is enough of a recording that was over before the first was due. */
void recorder_environment_ending(struct recorder *r)
{
	struct environ_state *s = r->environment;

	if (!s || !s->smi || smi__running(s->smi))
		return;
	smi__start(s->smi, true, !smi__started(s->smi), SMI_END_NS, &s->facts);
}

static void look_once_more(pid_t view_pid, void *arg)
{
	struct environ_state *s = arg;

	env_programs__libraries(s->programs, view_pid, &s->facts);
}

int recorder_environment_finish(struct recorder *r)
{
	struct environ_state *s = r->environment;
	uint64_t end = recorder_now() + SMI_END_NS;

	if (!s)
		return 0;
	if (!r->mmaps)
		procinfo__each_live(r->procs, look_once_more, s);
	env_programs__finish(s->programs, r->mmaps != NULL, &s->facts);
	while (s->smi && smi__running(s->smi) && !smi__poll(s->smi, &s->facts)) {
		struct pollfd p = { .fd = smi__fd(s->smi), .events = POLLIN };

		if (recorder_now() >= end)
			smi__cut(s->smi);
		else
			poll(&p, 1, 50);
	}
	return recorder_environment_write(r);
}

void recorder_environment_free(struct recorder *r)
{
	struct environ_state *s = r->environment;

	if (!s)
		return;
	smi__free(s->smi);
	env_programs__free(s->programs);
	environment__clear(&s->facts);
	free(s->facts.fact);
	free(s);
	r->environment = NULL;
}
