// SPDX-License-Identifier: GPL-2.0-or-later
/* What the recorder and readers of captures ask of a record before they look into it. */
#include "events.h"
#include "stacks/stacks.h"

static bool text_right(const struct gpubpf_stack_frame *f)
{
	unsigned texts = 0;

	if (f->len > f->size - sizeof(*f))
		return false;
	for (uint32_t i = 0; i < f->len; i++)
		texts += !f->text[i];
	return texts == 3 && !f->text[f->len - 1];
}

bool stacks_record_right(const struct gpubpf_rec *rec)
{
	const uint32_t layouts = GPUBPF_STACK_CALL | GPUBPF_STACK_CHAIN | GPUBPF_STACK_FRAME;
	const struct gpubpf_stack *s = (const struct gpubpf_stack *)rec;
	const struct gpubpf_stack_chain *c = (const struct gpubpf_stack_chain *)rec;
	const struct gpubpf_stack_frame *f = (const struct gpubpf_stack_frame *)rec;

	switch (rec->flags & layouts) {
	case GPUBPF_STACK_CALL:
		return rec->size >= sizeof(*s) && s->api < GPUBPF_API_MAX && s->quality &&
		       s->quality < GPUBPF_STACK_QUALITIES;
	case GPUBPF_STACK_CHAIN:
		return rec->size >= sizeof(*c) && c->id && c->n && c->n <= GPUBPF_STACK_FRAMES &&
		       sizeof(*c) + 4ull * c->n <= rec->size;
	case GPUBPF_STACK_FRAME:
		return rec->size >= sizeof(*f) && f->id && text_right(f);
	default:
		return false;
	}
}
