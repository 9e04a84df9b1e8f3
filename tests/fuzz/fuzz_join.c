// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as records, fed to the model and the join and looked at in every way. The reader's checks are repeated here:
 * what does not pass them never reaches the join.
 */
#include <stdlib.h>
#include <string.h>

#include "join/join.h"
#include "join_look.h"
#include "model/ledger.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t least(unsigned kind)
{
	switch (kind) {
	case GPUBPF_REC_CALL:
		return sizeof(struct gpubpf_call);
	case GPUBPF_REC_TASK:
		return sizeof(struct gpubpf_task);
	case GPUBPF_REC_SHIM:
		return sizeof(struct gpubpf_shim);
	default:
		return 0;
	}
}

/* Makes a record of what stands at `p` that a reader would hand on; its size, 0: no. */
static size_t make_right(uint8_t *p, size_t left)
{
	struct gpubpf_rec *rec = (struct gpubpf_rec *)p;
	struct gpubpf_call *c = (struct gpubpf_call *)p;
	struct gpubpf_shim *s = (struct gpubpf_shim *)p;
	size_t room;

	if (left < sizeof(*rec))
		return 0;
	room = rec->size & ~7u;
	room = room > left ? left & ~(size_t)7 : room;
	if (!least(rec->kind) || room < least(rec->kind))
		return 0;
	rec->size = (uint16_t)room;
	if (rec->kind == GPUBPF_REC_CALL) {
		c->nwords = c->nwords > 6 ? GPUBPF_WORDS_MAX : GPUBPF_WORDS_SHORT;
		c->api %= GPUBPF_API_MAX;
		if (sizeof(*c) + 8u * c->nwords + (uint64_t)c->nblob > room)
			return 0;
	} else if (rec->kind == GPUBPF_REC_SHIM) {
		s->probe %= GPUBPF_PROBES;
		if (s->count > s->sent || (!s->item_size && s->count) ||
		    sizeof(*s) + (uint64_t)s->item_size * s->count > room)
			return 0;
	}
	return room;
}

static void feed(const struct apitab *tab, uint8_t *data, size_t size)
{
	/* every other one as if no probe had stood in libcuda */
	struct join_end end = { .stopped_ns = size, .host_left_out = size / 8 % 2 };
	static struct ledger l;
	struct model *m;
	struct join *j;
	char line[768];

	if (model__new(tab, &(struct model_opts){ 0 }, &m) || join__new(m, &j))
		abort();
	model__watch(m, join__call, j);
	for (size_t at = 0, n; at + 8 <= size; at += n) {
		n = make_right(data + at, size - at);
		if (!n) {
			n = 8;
			continue;
		}
		if (model__add(m, (const void *)(data + at)) ||
		    (((struct gpubpf_rec *)(data + at))->kind != GPUBPF_REC_CALL &&
		     join__record(j, (const void *)(data + at))))
			abort();
	}
	if (model__finish(m) || join__finish(j, &end))
		abort();
	join_look(j, end.host_left_out);
	ledger_compute(&(struct ledger_input){ .tab = tab, .join = j }, &l);
	ledger_headline(&l, line, sizeof(line));
	join__free(j);
	model__free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct apitab *tab;
	uint8_t *copy = malloc(size + 8);

	if ((!tab && apitab__builtin(&tab)) || !copy)
		abort();
	memcpy(copy, data, size);
	feed(tab, copy, size);
	free(copy);
	return 0;
}
