// SPDX-License-Identifier: GPL-2.0-or-later
#include "stacks/intern.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Memory is bounded: at this many it is forgotten what was there, and said again when it comes again. */
#define KNOWN_MAX 200000
#define TEXT_MAX 1200 /* of each of the three texts of a frame */

struct known {
	UT_hash_handle hh;
	uint32_t id;
	unsigned char key[];
};

struct intern {
	intern_fn *emit;
	void *arg;
	struct known *frames, *chains;
	uint32_t nframes, nchains; /* ids given out */
};

_Static_assert(3 * TEXT_MAX <= GPUBPF_STACK_TEXT, "texts of a frame");

int intern__new(intern_fn *emit, void *arg, struct intern **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->emit = emit;
	(*out)->arg = arg;
	return 0;
}

static void forget(struct known **all)
{
	struct known *k, *next;

	HASH_ITER (hh, *all, k, next) {
		/* NOLINTNEXTLINE(clang-analyzer-*): it believes in lists whose ends disagree */
		HASH_DEL(*all, k);
		free(k);
	}
}

/* 1: it is new, and its record is due. */
static int number(struct known **all, uint32_t *last, const void *key, size_t n, uint32_t *id)
{
	struct known *k;
	unsigned before;

	HASH_FIND(hh, *all, key, n, k);
	if (k) {
		*id = k->id;
		return 0;
	}
	if (HASH_COUNT(*all) >= KNOWN_MAX)
		forget(all);
	k = calloc(1, sizeof(*k) + n);
	if (!k)
		return -ENOMEM;
	k->id = *id = ++*last;
	memcpy(k->key, key, n);
	before = HASH_COUNT(*all);
	HASH_ADD_KEYPTR(hh, *all, k->key, n, k);
	if (HASH_COUNT(*all) == before) {
		free(k);
		return -ENOMEM;
	}
	return 1;
}

static size_t put_text(char *to, const char *text)
{
	size_t n = text ? strnlen(text, TEXT_MAX - 1) : 0;

	if (n)
		memcpy(to, text, n);
	to[n] = '\0';
	return n + 1;
}

static uint16_t padded(size_t n)
{
	return (uint16_t)((n + 7) & ~7ull);
}

int intern__frame(struct intern *in, const struct intern_frame *f, uint32_t *id)
{
	union {
		struct gpubpf_stack_frame head;
		char room[sizeof(struct gpubpf_stack_frame) + GPUBPF_STACK_TEXT];
	} r = { 0 };
	bool named = f->function && f->function[0];
	char *text = r.room + sizeof(r.head);
	size_t n = put_text(text, f->function);
	int rc;

	n += put_text(text + n, f->module);
	n += put_text(text + n, f->source);
	r.head.kind = GPUBPF_REC_STACK;
	r.head.size = padded(sizeof(r.head) + n);
	r.head.flags = GPUBPF_STACK_FRAME | (f->flags & GPUBPF_STACK_INLINE) |
		       (named ? GPUBPF_STACK_NAMED : 0);
	r.head.len = (uint32_t)n;
	r.head.offset = named ? 0 : f->offset;
	rc = number(&in->frames, &in->nframes, &r, r.head.size, id);
	if (rc <= 0)
		return rc;
	r.head.id = *id;
	return in->emit((const struct gpubpf_rec *)&r, in->arg);
}

int intern__chain(struct intern *in, const uint32_t *frames, size_t n, uint32_t *id)
{
	union {
		struct gpubpf_stack_chain head;
		char room[sizeof(struct gpubpf_stack_chain) + 4 * GPUBPF_STACK_FRAMES + 8];
	} r = { 0 };
	int rc;

	*id = 0;
	if (!n)
		return 0;
	if (n > GPUBPF_STACK_FRAMES)
		return -EINVAL;
	rc = number(&in->chains, &in->nchains, frames, 4 * n, id);
	if (rc <= 0)
		return rc;
	r.head.kind = GPUBPF_REC_STACK;
	r.head.size = padded(sizeof(r.head) + 4 * n);
	r.head.flags = GPUBPF_STACK_CHAIN;
	r.head.id = *id;
	r.head.n = (uint32_t)n;
	memcpy(r.room + sizeof(r.head), frames, 4 * n);
	return in->emit((const struct gpubpf_rec *)&r, in->arg);
}

void intern__free(struct intern *in)
{
	if (!in)
		return;
	forget(&in->frames);
	forget(&in->chains);
	free(in);
}
