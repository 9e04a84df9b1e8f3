// SPDX-License-Identifier: GPL-2.0-or-later
#include "gate/stored.h"

#include <stdio.h>
#include <string.h>

#include "gate/judge.h"

static bool is(const char *a, const char *b)
{
	return a && !strcmp(a, b);
}

void gate_sum(const Gpubpf__Meta *m, struct gate_sum *s)
{
	memset(s, 0, sizeof(*s));
	s->processes = m->n_readiness;
	s->stated = m->n_readiness != 0;
	for (size_t i = 0; i < m->n_readiness; i++) {
		const Gpubpf__Readiness *r = m->readiness[i];
		bool failed = is(r->readiness, gate_readiness_word(GPUBPF_READINESS_FAILED));
		bool ready = is(r->readiness, gate_readiness_word(GPUBPF_READINESS_READY));

		s->ready_processes += ready;
		s->proven += is(r->order, gate_order_word(GATE_ORDER_PROVEN));
		s->contradicted += is(r->order, gate_order_word(GATE_ORDER_CONTRADICTED));
		if (!ready && (!s->first || (failed && !s->failed_processes)))
			s->first = r;
		s->failed_processes += failed;
	}
	s->ready = s->stated && !s->first;
}

const char *gate_sum_word(const struct gate_sum *s)
{
	return gate_readiness_word(s->ready              ? GPUBPF_READINESS_READY
				   : s->failed_processes ? GPUBPF_READINESS_FAILED
							 : GPUBPF_READINESS_PENDING);
}

const char *gate_stored_reason(const char *word, const char **remedy)
{
	unsigned i = 1;

	while (gate_reason_word(i) && !is(word, gate_reason_word(i)))
		i++;
	if (remedy)
		*remedy = gate_reason_word(i) ? gate_reason_remedy(i) : "";
	return gate_reason_word(i) ? gate_reason_text(i) : word;
}

static void ready_text(const struct gate_sum *s, char *buf, size_t n)
{
	const char *order = s->proven == s->processes
				    ? "before its first context, proven by the kernel's records"
			    : s->contradicted
				    ? "though only after CUDA was first used (see its notes)"
				    : "by its own word; that it came before the first context is not shown";

	if (s->processes == 1)
		snprintf(buf, n, "capture was ready %s", order);
	else
		snprintf(
			buf, n,
			"capture was ready in all %zu processes; before the first context by the kernel's records in %zu",
			s->processes, s->proven);
}

void gate_sum_text(const struct gate_sum *s, char *buf, size_t n)
{
	const char *reason;

	if (!s->stated) {
		buf[0] = 0;
		return;
	}
	if (s->ready) {
		ready_text(s, buf, n);
		return;
	}
	reason = s->first->reason;
	if (reason && reason[0])
		snprintf(buf, n, "capture was not ready in %zu of %zu processes: %.40s (%.160s)",
			 s->processes - s->ready_processes, s->processes, reason,
			 gate_stored_reason(reason, NULL));
	else
		snprintf(buf, n, "whether capture was ready was not settled in %zu of %zu processes",
			 s->processes - s->ready_processes, s->processes);
}
