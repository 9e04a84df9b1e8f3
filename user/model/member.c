// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/member.h"

#include <stdio.h>
#include <string.h>

const Gpubpf__Member *member_of(const Gpubpf__Meta *m, uint32_t tgid)
{
	uint32_t index = tgid / MEMBER_IDS;

	if (!index || index > m->n_member)
		return NULL;
	/* in their order in what `merge` writes; a file may say anything */
	if (m->member[index - 1]->index == index)
		return m->member[index - 1];
	for (size_t i = 0; i < m->n_member; i++)
		if (m->member[i]->index == index)
			return m->member[i];
	return NULL;
}

uint32_t member_own_id(const Gpubpf__Meta *m, uint32_t tgid)
{
	return m->n_member ? tgid % MEMBER_IDS : tgid;
}

bool member_same_clock(const Gpubpf__Member *a, const Gpubpf__Member *b)
{
	return a == b || (a->host && b->host && a->host->boot_id && b->host->boot_id &&
			  strcmp(a->host->boot_id, b->host->boot_id) == 0);
}

bool member_error(const Gpubpf__Member *a, const Gpubpf__Member *b, uint64_t *ns)
{
	*ns = 0;
	if (member_same_clock(a, b))
		return true;
	if (!a->has_error_ns || !b->has_error_ns)
		return false;
	if (__builtin_add_overflow(a->error_ns, b->error_ns, ns))
		*ns = UINT64_MAX;
	return true;
}

void member_name(const Gpubpf__Member *m, char *buf, size_t n)
{
	if (m->host && m->host->hostname)
		snprintf(buf, n, "member %u (%.64s)", m->index, m->host->hostname);
	else
		snprintf(buf, n, "member %u", m->index);
}
