// SPDX-License-Identifier: GPL-2.0-or-later
/* Readiness into the capture, and to the user where it is not as it should be. */
#include "record/gates.h"

#include <stdio.h>
#include <string.h>

#define COVERAGE_MAX (GATE_FINDINGS_MAX + 8 + 1)

struct message {
	Gpubpf__Meta meta;
	Gpubpf__Readiness readiness, *readinesses;
	Gpubpf__GateStatus status;
	Gpubpf__GateKind kind[GATE_KINDS_MAX], *kinds[GATE_KINDS_MAX];
	char *notes[8];
	Gpubpf__Coverage coverage[COVERAGE_MAX], *coverages[COVERAGE_MAX];
};

static size_t note_words(unsigned notes, char **words)
{
	size_t n = 0;

	for (unsigned bit = 0; gate_note_word(bit); bit++)
		if (notes & 1u << bit)
			words[n++] = (char *)gate_note_word(bit);
	return n;
}

static void fill_status(struct message *m, const struct gated *p)
{
	Gpubpf__GateStatus *s = &m->status;

	gpubpf__gate_status__init(s);
	s->source = p->from_file ? "file" : "probe";
	s->sequence = p->shim.sequence;
	s->lifecycle = (char *)gate_lifecycle_word(p->shim.lifecycle);
	s->readiness = (char *)gate_readiness_word(p->shim.readiness);
	s->reason = p->shim.reason ? (char *)gate_reason_word(p->shim.reason) : NULL;
	s->now_ns = p->shim.now;
	s->has_first_touch_ns = s->has_deadline_ns = p->shim.first_touch != 0;
	s->first_touch_ns = p->shim.first_touch;
	s->deadline_ns = p->shim.deadline;
	s->has_warmup_ns = p->shim.warmup != 0;
	s->warmup_ns = p->shim.warmup;
	for (unsigned i = 0; i < p->shim.nkinds; i++) {
		gpubpf__gate_kind__init(&m->kind[i]);
		m->kind[i].name = (char *)p->shim.kinds[i].name;
		m->kind[i].required = p->shim.kinds[i].required;
		m->kind[i].result = p->shim.kinds[i].result;
		m->kinds[i] = &m->kind[i];
	}
	s->kind = m->kinds;
	s->n_kind = p->shim.nkinds;
	s->note = m->notes;
	s->n_note = note_words(p->shim.notes, m->notes);
}

static void fill_host(Gpubpf__Readiness *r, const struct gate_host *h)
{
	r->has_init_entry_ns = h->init_entry != 0;
	r->init_entry_ns = h->init_entry;
	r->has_init_return_ns = r->has_init_result = h->init_return != 0;
	r->init_return_ns = h->init_return;
	r->init_result = h->init_result;
	r->has_first_context_ns = h->context != 0;
	r->first_context_ns = h->context;
	r->has_first_module_ns = h->module != 0;
	r->first_module_ns = h->module;
	r->has_first_work_ns = h->work != 0;
	r->first_work_ns = h->work;
	r->has_armed_ns = h->armed != 0;
	r->armed_ns = h->armed;
}

static void cover(struct message *m, uint32_t tgid, const char *code, const char *text)
{
	Gpubpf__Coverage *c;

	if (m->meta.n_coverage == COVERAGE_MAX)
		return;
	c = &m->coverage[m->meta.n_coverage];
	gpubpf__coverage__init(c);
	c->tgid = tgid;
	c->code = (char *)code;
	c->text = (char *)text;
	m->coverages[m->meta.n_coverage++] = c;
	m->meta.coverage = m->coverages;
}

static int write_one(struct recorder *r, const struct gated *p, const struct gate_verdict *v)
{
	struct message m = { .meta = GPUBPF__META__INIT, .readinesses = &m.readiness };
	char *notes[8];
	size_t n = note_words(v->notes, notes);

	if (v->stated) {
		gpubpf__readiness__init(&m.readiness);
		m.readiness.tgid = p->tgid;
		m.readiness.readiness = (char *)gate_readiness_word(v->readiness);
		m.readiness.reason = v->reason ? (char *)gate_reason_word(v->reason) : NULL;
		m.readiness.order = (char *)gate_order_word(v->order);
		fill_host(&m.readiness, &p->host);
		if (p->has_shim) {
			fill_status(&m, p);
			m.readiness.shim = &m.status;
		}
		m.meta.readiness = &m.readinesses;
		m.meta.n_readiness = 1;
	}
	for (size_t i = 0; i < n && v->stated; i++)
		cover(&m, p->tgid, notes[i], NULL);
	for (unsigned i = 0; i < v->nfindings; i++)
		cover(&m, p->tgid, v->findings[i].code, v->findings[i].text);
	if (p->watchdog && p->stack[0])
		cover(&m, p->tgid, "wedged_in", p->stack);
	return m.meta.n_readiness || m.meta.n_coverage ? capture_writer__meta(r->writer, &m.meta, r->err) : 0;
}

static void say(struct recorder *r, const struct gated *p, const struct gate_verdict *v)
{
	pid_t pid = procinfo__view(r->procs, p->tgid);

	/* that the driver did not load the shim is said where the shim is missed (armed.c) */
	if (v->stated && v->readiness == GPUBPF_READINESS_FAILED && v->reason != GPUBPF_GATE_CALLBACK_MISSING)
		recorder_say(r, "capture was not ready in process %d: %s (%s)%s%s", pid,
			     gate_reason_word(v->reason), gate_reason_text(v->reason),
			     gate_reason_remedy(v->reason)[0] ? "; " : "", gate_reason_remedy(v->reason));
	for (unsigned i = 0; i < v->nfindings; i++)
		recorder_say(r, "process %d: %s", pid, v->findings[i].text);
}

struct unclaimed {
	const struct gates *g;
	size_t n;
};

/* A status file of a process whose calls nobody saw: one that never used CUDA, or nobody's. */
static void on_name(uint32_t pid, void *arg)
{
	struct unclaimed *u = arg;
	struct gate_seen seen = { 0 };
	struct gate_status s;
	struct gated *p, *tmp;
	bool fresh;

	HASH_ITER (hh, u->g->procs, p, tmp)
		if (p->own_pid == pid)
			return;
	if (!gate_dir__read(&u->g->dir, pid, &seen, &fresh, &s, NULL) && !s.first_touch &&
	    !strcmp(s.token, u->g->token))
		return;
	u->n++;
}

static int write_unclaimed(struct recorder *r)
{
	struct unclaimed u = { .g = r->gates };
	struct message m = { .meta = GPUBPF__META__INIT };
	char text[128];

	gate_dir__each(&r->gates->dir, on_name, &u);
	if (!u.n)
		return 0;
	snprintf(text, sizeof(text), "%zu status files belong to no process whose calls were recorded", u.n);
	cover(&m, 0, "unclaimed_status", text);
	recorder_say(r, "%s", text);
	return capture_writer__meta(r->writer, &m.meta, r->err);
}

static int write_no_folder(struct recorder *r)
{
	struct message m = { .meta = GPUBPF__META__INIT };

	if (!r->gates->why.msg[0])
		return 0;
	cover(&m, 0, "no_status_folder", r->gates->why.msg);
	recorder_say(r, "%s", r->gates->why.msg);
	return capture_writer__meta(r->writer, &m.meta, r->err);
}

int gates_write(struct recorder *r, bool *ready)
{
	const struct gated *next;
	struct gated *p, *tmp;
	size_t stated = 0, good = 0;
	int e = write_no_folder(r);

	HASH_ITER (hh, r->gates->procs, p, tmp) {
		for (const struct gated *q = p; q && !e; q = next) {
			struct gate_verdict v;
			struct gate_case c;

			next = q->earlier;
			gated_case(r->gates, q, &c);
			c.replaced = q != p;
			gate_judge(&c, &v);
			stated += v.stated;
			good += v.stated && v.readiness == GPUBPF_READINESS_READY;
			say(r, q, &v);
			e = write_one(r, q, &v);
		}
	}
	*ready = stated && good == stated;
	return e ? e : write_unclaimed(r);
}
