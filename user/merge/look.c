// SPDX-License-Identifier: GPL-2.0-or-later
/* A capture by itself, as `inspect` reads it. */
#include <errno.h>
#include <string.h>

#include "inspect/inspect.h"
#include "merge/priv.h"
#include "model/member.h"
#include "util/err.h"

#define MISSING_MAX 8

/* Numbers of stacks begin anew in each capture. */
static int count(struct inspection *s, const struct gpubpf_rec *rec, void *arg)
{
	const struct gpubpf_stack_chain *c = (const void *)rec; /* a frame has its id at the same place */
	struct merge_member *at = arg;

	(void)s;
	if (rec->kind != GPUBPF_REC_STACK)
		return 0;
	if (rec->flags & GPUBPF_STACK_CHAIN)
		at->chains = c->id > at->chains ? c->id : at->chains;
	else if (rec->flags & GPUBPF_STACK_FRAME)
		at->frames = c->id > at->frames ? c->id : at->frames;
	return 0;
}

static int refuse(const struct inspection *s, struct err *err)
{
	if (s->meta->n_member)
		return err_set(err, -EINVAL,
			       "%s is a merged capture: merge the captures that it was made of instead",
			       s->path);
	if (s->meta->has_wire_abi && s->meta->wire_abi > GPUBPF_WIRE_ABI)
		return err_set(
			err, -EINVAL,
			"%s holds records of version %u; this gpubpf knows version %d: use a newer one",
			s->path, s->meta->wire_abi, GPUBPF_WIRE_ABI);
	return 0;
}

static int keep_lines(struct merge *m, const struct ledger *l, Gpubpf__Member *p)
{
	struct ledger_footer *store = merge_keep(m, sizeof(*store));
	Gpubpf__Footer f = GPUBPF__FOOTER__INIT;

	if (!store)
		return -ENOMEM;
	ledger_fill_footer(l, store, &f);
	p->verdict = f.verdict;
	if (l->has_counts) {
		p->n_ledger = f.n_ledger;
		p->ledger = f.ledger;
	}
	if (l->device.state <= LEDGER_DEVICE_UNREAD)
		return 0;
	p->has_device_calls = p->has_device_matched = p->has_device_unexplained = true;
	p->device_calls = l->device.total.calls;
	p->device_matched = l->device.total.matched;
	p->device_unexplained = l->device.total.unexplained;
	return 0;
}

static int keep_verdict(struct merge *m, const struct ledger *l, Gpubpf__Member *p)
{
	unsigned n = l->nreasons < MISSING_MAX ? l->nreasons : MISSING_MAX;
	char line[768];

	ledger_headline(l, line, sizeof(line));
	p->headline = merge_text(m, "%s", line);
	p->missing = merge_keep(m, (n + 1) * sizeof(*p->missing));
	if (!p->headline || !p->missing)
		return -ENOMEM;
	for (; p->n_missing < n; p->n_missing++) {
		p->missing[p->n_missing] = merge_text(m, "%s", l->reason[p->n_missing].text);
		if (!p->missing[p->n_missing])
			return -ENOMEM;
	}
	return keep_lines(m, l, p);
}

int merge_look(struct merge *m, struct merge_member *at, struct err *err)
{
	struct inspection s = { 0 };
	int rc = inspection__open(&s, at->path, err);

	if (!rc)
		rc = refuse(&s, err);
	if (!rc)
		rc = inspection__read(&s, count, at, err);
	if (rc)
		goto out;
	identity__of(s.meta, &at->id);
	at->verdict = s.ledger.verdict;
	at->pub.records = s.status->records;
	at->pub.identity = at->id.text;
	rc = keep_verdict(m, &s.ledger, &at->pub);
	if (rc)
		err_set(err, rc, "%s: out of memory", at->path);
out:
	inspection__close(&s);
	return rc;
}
