/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames and chains, each once: makes the records of those that are new. */
#ifndef GPUBPF_STACKS_INTERN_H
#define GPUBPF_STACKS_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct gpubpf_rec;
struct intern;
typedef int intern_fn(const struct gpubpf_rec *rec, void *arg);

struct intern_frame {
	const char *function, *module, *source; /* NULL: not known */
	uint64_t offset;                        /* of one without a function */
	uint32_t flags;                         /* GPUBPF_STACK_INLINE */
};

int intern__new(intern_fn *emit, void *arg, struct intern **out);
/* 0 or a negative errno; long texts are cut. */
int intern__frame(struct intern *in, const struct intern_frame *f, uint32_t *id);
int intern__chain(struct intern *in, const uint32_t *frames, size_t n,
		  uint32_t *id); /* n ≤ GPUBPF_STACK_FRAMES */
void intern__free(struct intern *in);

#endif
