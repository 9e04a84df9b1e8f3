// SPDX-License-Identifier: GPL-2.0-or-later
/* A merged capture is never better than its worst member. What a member's verdict was can make it worse, never better. */
#include <stdio.h>
#include <string.h>

#include "model/ledger_priv.h"
#include "model/member.h"

static enum ledger_verdict verdict_of(const char *name)
{
	for (enum ledger_verdict v = LEDGER_EMPTY; v <= LEDGER_RECONCILED; v++)
		if (strcmp(name, ledger_verdict_name(v)) == 0)
			return v;
	return LEDGER_NOT_EVALUABLE;
}

void ledger_members(const Gpubpf__Meta *meta, struct ledger *l)
{
	char name[96];

	for (size_t i = 0; meta && i < meta->n_member; i++) {
		const Gpubpf__Member *m = meta->member[i];
		enum ledger_verdict v = verdict_of(m->verdict);

		if (v <= LEDGER_INCOMPLETE) {
			member_name(m, name, sizeof(name));
			REASON(l, "member", m->index,
			       "gpubpf inspect of the capture that was merged says more",
			       "%s was %.32s: %.110s", name, m->verdict,
			       m->n_missing ? m->missing[0] : "it does not say why");
		}
		if (!i || v < l->worst_member)
			l->worst_member = v;
		l->members++;
	}
}

enum ledger_verdict ledger_members_bound(const struct ledger *l, enum ledger_verdict v)
{
	return l->members && l->worst_member < v ? l->worst_member : v;
}
