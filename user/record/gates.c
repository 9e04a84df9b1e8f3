// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The capture gate as the recorder sees it, process by process: the status files of a launched command, the shim's words
 * over its probe (those of live processes come that way alone), and the order of calls in the kernel's records.
 */
#include "record/gates.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "events.h"
#include "util/file.h"

#define PROCESSES_MAX 4096 /* with a gate: more are not looked at */

static struct gates *gates_of(struct recorder *r)
{
	if (!r->gates) {
		r->gates = calloc(1, sizeof(*r->gates));
		if (r->gates)
			r->gates->dir.fd = -1;
	}
	return r->gates;
}

/* ---- The launched command's environment ---- */

int recorder_gate_env(struct recorder *r, const char *env[4])
{
	struct gates *g = gates_of(r);
	size_t n = 0;

	if (!g)
		return -ENOMEM;
	if (gate_token(g->token) || gate_dir__make(&g->dir, &g->why))
		return 0; /* said once there is a file to say it in; the probe is left */
	g->gated = true;
	snprintf(g->text[n], sizeof(g->text[n]), GPUBPF_ENV_STATUS_DIR "=%s", g->dir.path);
	snprintf(g->text[++n], sizeof(g->text[n]), GPUBPF_ENV_RUN_TOKEN "=%s", g->token);
	if (r->o->init_timeout_ns)
		snprintf(g->text[++n], sizeof(g->text[n]), GPUBPF_ENV_INIT_TIMEOUT "=%llu",
			 (unsigned long long)(r->o->init_timeout_ns / 1000000));
	if (r->o->warmup_ns)
		snprintf(g->text[++n], sizeof(g->text[n]), GPUBPF_ENV_WARMUP "=%llu",
			 (unsigned long long)(r->o->warmup_ns / 1000000));
	for (size_t i = 0; i <= n; i++)
		env[i] = g->text[i];
	return 0;
}

/* ---- Processes ---- */

struct gated *gates_find(struct gates *g, uint32_t tgid)
{
	if (!g->last || g->last->tgid != tgid)
		HASH_FIND(hh, g->procs, &tgid, sizeof(tgid), g->last);
	return g->last;
}

/* Behind the name, which may hold anything. */
uint64_t gates_start_time(pid_t pid)
{
	char path[64], *text, *at;
	uint64_t ticks = 0;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (file_read_all(path, 1u << 16, &text, &n))
		return 0;
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	ticks = at ? strtoull(at, NULL, 10) : 0;
	free(text);
	return ticks;
}

struct gated *gates_get(struct recorder *r, uint32_t tgid)
{
	struct gates *g = gates_of(r);
	struct gated *p = g ? gates_find(g, tgid) : NULL;

	if (p || !g || g->nprocs >= PROCESSES_MAX)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->tgid = tgid;
	p->host.from_start = r->o->command != NULL;
	/* without the host observer no record of the process says this */
	if (r->o->no_host && !attach__has_view(r->attach)) {
		p->own_pid = p->view_pid = tgid;
		p->start_time = gates_start_time((pid_t)tgid);
	}
	HASH_ADD(hh, g->procs, tgid, sizeof(p->tgid), p);
	g->nprocs++;
	return p;
}

static void free_proc(struct gated *p)
{
	while (p) {
		struct gated *earlier = p->earlier;

		free(p);
		p = earlier;
	}
}

void recorder_gates_free(struct recorder *r)
{
	struct gates *g = r->gates;
	struct gated *p, *next;

	if (!g)
		return;
	p = g->procs;
	HASH_CLEAR(hh, g->procs);
	for (; p; p = next) {
		next = p->hh.next;
		free_proc(p);
	}
	gate_dir__remove(&g->dir);
	free(g);
	r->gates = NULL;
}

/* The program that a process ran before is kept aside when its shim had spoken: it is a capture of its own. */
void gated_replaced(struct gated *p, uint64_t when)
{
	struct gated *old = p->has_shim || p->host.init_entry ? malloc(sizeof(*old)) : NULL;

	if (old) {
		*old = *p;
		p->earlier = old;
	}
	memset(&p->host, 0, sizeof(p->host));
	p->host.from_start = true;
	p->exec_ns = when;
	p->has_shim = p->has_refused = p->init_open = p->differ = false;
	/* the sequence goes on over exec, readiness does not */
	p->floor.readiness = GPUBPF_READINESS_PENDING;
	p->floor.reason = GPUBPF_GATE_NO_REASON;
}

/* ---- The shim's word ---- */

static struct gate_expect expectation(const struct gates *g, const struct gated *p, bool file)
{
	return (struct gate_expect){
		.token = file ? g->token : NULL,
		.pid = file ? p->own_pid : 0,
		.start_time = file ? p->start_time : 0,
		.not_before = p->exec_ns,
		.not_after = recorder_now(),
		.last = p->has_floor ? &p->floor : NULL,
	};
}

static void accept_status(struct gates *g, struct gated *p, const struct gate_status *s, bool file)
{
	p->shim = p->floor = *s;
	p->has_shim = p->has_floor = true;
	p->from_file = file;
	p->has_refused = false;
	g->failed |= s->readiness == GPUBPF_READINESS_FAILED;
}

static bool same_word(const struct gate_status *a, const struct gate_status *b)
{
	return a->lifecycle == b->lifecycle && a->readiness == b->readiness && a->reason == b->reason;
}

static void refuse(struct gated *p, enum gate_refusal why, const struct err *err)
{
	p->refused = why;
	p->has_refused = true;
	snprintf(p->refused_text, sizeof(p->refused_text), "%s", err->msg);
}

void gated_read(struct gates *g, struct gated *p)
{
	struct gate_status s;
	struct err why = { "" };
	enum gate_refusal e;
	bool fresh;

	if (g->dir.fd < 0 || !p->own_pid)
		return;
	e = gate_dir__read(&g->dir, p->own_pid, &p->seen, &fresh, &s, &why);
	if (!e && !fresh)
		return;
	/* what the probe brought already: the file adds the kinds */
	if (!e && p->has_shim && s.sequence == p->shim.sequence && s.now >= p->exec_ns) {
		struct gate_expect x = expectation(g, p, true);

		x.last = NULL;
		e = gate_status_check(&s, &x, &why);
		if (!e) {
			p->differ |= !same_word(&s, &p->shim);
			if (!p->differ)
				accept_status(g, p, &s, true);
			return;
		}
	} else if (!e) {
		struct gate_expect x = expectation(g, p, true);

		e = gate_status_check(&s, &x, &why);
	}
	if (e)
		refuse(p, e, &why);
	else
		accept_status(g, p, &s, true);
}

static void on_word(struct recorder *r, struct gated *p, const struct gpubpf_status *w)
{
	struct gate_expect x = expectation(r->gates, p, false);
	struct gate_status s = {
		.lifecycle = w->code,
		.readiness = (unsigned)w->value,
		.reason = (uint32_t)w->a,
		.notes = (unsigned)(w->a >> 32),
		.now = w->time,
		.first_touch = w->b,
		.deadline = w->c,
		.sequence = w->d,
		.warmup = w->e,
	};

	if (!gate_lifecycle_word(s.lifecycle) || !gate_readiness_word(s.readiness) ||
	    !gate_reason_word(s.reason))
		return;
	/* repeated now and then, for recorders that came later */
	if (p->has_shim && s.sequence == p->shim.sequence && s.now >= p->exec_ns) {
		p->differ |= !same_word(&s, &p->shim);
		return;
	}
	/* the file was faster */
	if (gate_status_possible(&s, NULL) || gate_status_check(&s, &x, NULL))
		return;
	accept_status(r->gates, p, &s, false);
}

void recorder_gate_shim(struct recorder *r, const struct gpubpf_shim *b)
{
	struct gated *p;

	if ((b->probe != GPUBPF_PROBE_HELLO && b->probe != GPUBPF_PROBE_STATUS) ||
	    sizeof(*b) + (size_t)b->count * b->item_size > b->size)
		return;
	p = gates_get(r, b->tgid);
	if (!p)
		return;
	p->host.heard = true;
	for (uint32_t i = 0; b->probe == GPUBPF_PROBE_STATUS && i < b->count; i++) {
		const struct gpubpf_status *s = (const void *)((const char *)b->items +
							       (size_t)i * b->item_size);

		if (b->item_size < sizeof(*s))
			return;
		if (s->kind == GPUBPF_STATUS_ARMED && !p->host.armed && s->time >= p->exec_ns)
			p->host.armed = s->time;
		if (s->kind == GPUBPF_STATUS_GATE)
			on_word(r, p, s);
	}
}
