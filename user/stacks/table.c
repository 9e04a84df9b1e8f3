// SPDX-License-Identifier: GPL-2.0-or-later
#include "stacks/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LAYOUTS (GPUBPF_STACK_CALL | GPUBPF_STACK_CHAIN | GPUBPF_STACK_FRAME)

void stack_counts__add(struct stack_counts *c, const struct gpubpf_rec *rec)
{
	const struct gpubpf_stack *s = (const struct gpubpf_stack *)rec;

	switch (rec->flags & LAYOUTS) {
	case GPUBPF_STACK_CHAIN:
		c->chains++;
		return;
	case GPUBPF_STACK_FRAME:
		c->frames++;
		return;
	default:
		c->calls++;
		c->quality[s->quality < GPUBPF_STACK_QUALITIES ? s->quality : 0]++;
		c->late += (rec->flags & GPUBPF_STACK_LATE) != 0;
	}
}

void stack_table__init(struct stack_table *t)
{
	hmap__init(&t->frames, sizeof(uint64_t), sizeof(struct stack_frame));
	hmap__init(&t->chains, sizeof(uint64_t), sizeof(struct stack_chain));
	hmap__init(&t->calls, 2 * sizeof(uint64_t), sizeof(struct stack_call));
}

static int add_frame(struct stack_table *t, const struct gpubpf_stack_frame *r)
{
	uint64_t id = r->id;
	struct stack_frame *f = hmap__put(&t->frames, &id);
	char *text;

	if (!f)
		return -ENOMEM;
	if (f->function)
		return 0;
	text = malloc(r->len);
	if (!text)
		return -ENOMEM;
	memcpy(text, r->text, r->len);
	f->function = text;
	f->module = text + strlen(text) + 1;
	f->source = f->module + strlen(f->module) + 1;
	f->offset = r->offset;
	f->flags = r->flags;
	return 0;
}

static int add_chain(struct stack_table *t, const struct gpubpf_stack_chain *r)
{
	uint64_t id = r->id;
	struct stack_chain *c = hmap__put(&t->chains, &id);

	if (!c)
		return -ENOMEM;
	if (c->n)
		return 0;
	c->frames = malloc(r->n * sizeof(*c->frames));
	if (!c->frames)
		return -ENOMEM;
	memcpy(c->frames, r->frames, r->n * sizeof(*c->frames));
	c->n = r->n;
	return 0;
}

static int add_call(struct stack_table *t, const struct gpubpf_stack *r)
{
	uint64_t key[2] = { (uint64_t)r->tgid << 32 | r->tid, r->t_entry };
	struct stack_call *c = hmap__put(&t->calls, key);

	if (!c)
		return -ENOMEM;
	if (c->quality)
		return 0;
	c->chain = r->chain;
	c->flags = r->flags;
	c->api = r->api;
	c->quality = r->quality;
	return 0;
}

int stack_table__add(struct stack_table *t, const struct gpubpf_rec *rec)
{
	if (rec->kind != GPUBPF_REC_STACK)
		return 0;
	switch (rec->flags & LAYOUTS) {
	case GPUBPF_STACK_CHAIN:
		return add_chain(t, (const struct gpubpf_stack_chain *)rec);
	case GPUBPF_STACK_FRAME:
		return add_frame(t, (const struct gpubpf_stack_frame *)rec);
	default:
		return add_call(t, (const struct gpubpf_stack *)rec);
	}
}

const struct stack_call *stack_table__call(const struct stack_table *t, uint32_t tgid, uint32_t tid,
					   uint64_t t_entry)
{
	uint64_t key[2] = { (uint64_t)tgid << 32 | tid, t_entry };

	return t->calls.n ? hmap__get(&t->calls, key) : NULL;
}

const struct stack_chain *stack_table__chain(const struct stack_table *t, uint32_t id)
{
	uint64_t key = id;

	return id ? hmap__get(&t->chains, &key) : NULL;
}

const struct stack_frame *stack_table__frame(const struct stack_table *t, uint32_t id)
{
	static const struct stack_frame none = { .function = "", .module = "", .source = "" };
	const struct stack_frame *f;
	uint64_t key = id;

	f = hmap__get(&t->frames, &key);
	return f ? f : &none;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

char *stack_frame__text(const struct stack_frame *f, bool source)
{
	const char *module = last_part(f->module);
	char *text;
	int n;

	if (f->function[0] && source && (f->source[0] || f->module[0]))
		n = asprintf(&text, "%s (%s%s)", f->function,
			     f->flags & GPUBPF_STACK_INLINE ? "inline, " : "",
			     f->source[0] ? last_part(f->source) : module);
	else if (f->function[0])
		n = asprintf(&text, "%s", f->function);
	else if (f->module[0])
		n = asprintf(&text, "%s+0x%" PRIx64, module, f->offset);
	else if (f->offset)
		n = asprintf(&text, "0x%" PRIx64, f->offset);
	else
		n = asprintf(&text, "not known");
	return n < 0 ? NULL : text;
}

/* Lines of folded stacks are taken apart at semicolons, and at the last space. */
static void put_folded(FILE *f, const char *text)
{
	for (; *text; text++)
		putc(*text == ';' ? ':' : *text == '\n' || *text == '\r' ? ' ' : *text, f);
}

char *stack_chain__folded(const struct stack_table *t, const struct stack_chain *c)
{
	char *out = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&out, &n);
	bool failed = !f;

	for (uint32_t i = c ? c->n : 0; i-- > 0 && !failed;) {
		char *text = stack_frame__text(stack_table__frame(t, c->frames[i]), false);

		failed = !text;
		if (text)
			put_folded(f, text);
		if (i)
			putc(';', f);
		free(text);
	}
	if (f && fclose(f))
		failed = true;
	if (failed) {
		free(out);
		return NULL;
	}
	return out;
}

void stack_table__clear(struct stack_table *t)
{
	for (size_t i = 0; i < t->frames.n; i++)
		free((char *)((struct stack_frame *)hmap__at(&t->frames, i))->function);
	for (size_t i = 0; i < t->chains.n; i++)
		free(((struct stack_chain *)hmap__at(&t->chains, i))->frames);
	hmap__clear(&t->frames);
	hmap__clear(&t->chains);
	hmap__clear(&t->calls);
}
