// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "capture/record.h"
#include "events.h"
#include "stacks/stacks.h"

/* The minimum of a kind; 0: not known here. */
static size_t record_min(const struct gpubpf_rec *rec)
{
	switch (rec->kind) {
	case GPUBPF_REC_CALL:
		return sizeof(struct gpubpf_call);
	case GPUBPF_REC_TASK:
		return sizeof(struct gpubpf_task);
	case GPUBPF_REC_XID:
		return sizeof(struct gpubpf_xid);
	case GPUBPF_REC_SHIM:
		return sizeof(struct gpubpf_shim);
	case GPUBPF_REC_LATENCY:
		return sizeof(struct gpubpf_latency);
	case GPUBPF_REC_WAKER:
		return sizeof(struct gpubpf_waker);
	case GPUBPF_REC_STACK:
		return sizeof(struct gpubpf_stack_chain);
	default:
		return 0;
	}
}

static bool call_right(const struct gpubpf_call *c)
{
	if (c->nwords != GPUBPF_WORDS_SHORT && c->nwords != GPUBPF_WORDS_MAX)
		return false;
	return c->api < GPUBPF_API_MAX && sizeof(*c) + 8u * c->nwords + (uint64_t)c->nblob <= c->size;
}

static bool shim_right(const struct gpubpf_shim *s)
{
	return s->probe < GPUBPF_PROBES && s->count <= s->sent && (s->item_size || !s->count) &&
	       sizeof(*s) + (uint64_t)s->item_size * s->count <= s->size;
}

static bool latency_right(const struct gpubpf_latency *l)
{
	return !(l->flags & GPUBPF_LATENCY_OFF) || l->size >= sizeof(struct gpubpf_latency_long);
}

static bool record_right(const struct gpubpf_rec *rec)
{
	if (rec->kind == GPUBPF_REC_CALL)
		return call_right((const void *)rec);
	if (rec->kind == GPUBPF_REC_LATENCY)
		return latency_right((const void *)rec);
	if (rec->kind == GPUBPF_REC_STACK)
		return stacks_record_right(rec);
	return rec->kind != GPUBPF_REC_SHIM || shim_right((const void *)rec);
}

int capture_record_check(const struct gpubpf_rec *rec)
{
	size_t min = record_min(rec);

	if (rec->size < min || !record_right(rec))
		return -EBADMSG;
	return min != 0;
}
