/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of a synthetic capture: of every third call, one of a few that grow from the same functions. */
#ifndef GPUBPF_MADE_STACKS_H
#define GPUBPF_MADE_STACKS_H

#include "capture/capture.h"
#include "events.h"
#include "stacks/intern.h"

static int made_stack_record(const struct gpubpf_rec *rec, void *writer)
{
	return capture_writer__record(writer, rec, 0, NULL);
}

/* `turn`: captures whose stacks have the same numbers, and are others. */
static void made_stack(struct intern *in, struct capture_writer *w, const struct gpubpf_call *c,
		       unsigned turn)
{
	static const char *const functions[] = { "step", "forward(int)", NULL, "backward", "loop", "main" };
	struct gpubpf_stack s = { .kind = GPUBPF_REC_STACK,
				  .size = sizeof(s),
				  .flags = GPUBPF_STACK_CALL | (c->api % 2 ? GPUBPF_STACK_ENTRY : 0),
				  .tgid = c->tgid,
				  .tid = c->tid,
				  .t_entry = c->t_entry,
				  .api = c->api,
				  .quality = (uint8_t)(1 + c->t_entry / 3 % 3) };
	uint32_t ids[6];
	size_t n = 0;

	if (c->t_entry % 3)
		return;
	for (size_t i = (c->api + turn) % 3; i < 6; i++) {
		struct intern_frame f = { .function = functions[i],
					  .module = i == 3 ? NULL : "/usr/bin/trainer",
					  .source = i % 2 ? "/src/train.c:12" : NULL,
					  .offset = 0x1000 + i,
					  .flags = i == 1 ? GPUBPF_STACK_INLINE : 0 };

		if (!intern__frame(in, &f, &ids[n]))
			n++;
	}
	if (c->t_entry % 7 == 0)
		s.flags |= GPUBPF_STACK_LATE;
	if (!intern__chain(in, ids, n, &s.chain))
		made_stack_record((const struct gpubpf_rec *)&s, w);
}

#endif
