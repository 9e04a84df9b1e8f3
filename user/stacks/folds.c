/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stacks/folds.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct fold {
	UT_hash_handle hh;
	uint64_t id;
	char *text;
};

struct of_chain {
	uint64_t id;
	const struct fold *fold;
};

void folds__init(struct folds *f)
{
	memset(f, 0, sizeof(*f));
	hmap__init(&f->chains, sizeof(uint64_t), sizeof(struct of_chain));
}

void folds__clear(struct folds *folds)
{
	struct fold *f, *next;

	HASH_ITER (hh, folds->by_text, f, next) {
		/* NOLINTNEXTLINE(clang-analyzer-*): it believes in lists whose ends disagree */
		HASH_DEL(folds->by_text, f);
		free(f->text);
		free(f);
	}
	hmap__clear(&folds->chains);
}

const struct fold *folds__of(struct folds *folds, const struct stack_table *t, uint32_t chain)
{
	uint64_t id = chain;
	struct of_chain *c = hmap__put(&folds->chains, &id);
	struct fold *f;
	unsigned before;
	char *text;

	if (!c || c->fold)
		return c ? c->fold : NULL;
	text = stack_chain__folded(t, stack_table__chain(t, chain));
	if (!text)
		return NULL;
	HASH_FIND_STR(folds->by_text, text, f);
	if (f) {
		free(text);
		return c->fold = f;
	}
	f = calloc(1, sizeof(*f));
	if (!f) {
		free(text);
		return NULL;
	}
	before = HASH_COUNT(folds->by_text);
	f->text = text;
	f->id = before;
	HASH_ADD_KEYPTR(hh, folds->by_text, f->text, strlen(f->text), f);
	if (HASH_COUNT(folds->by_text) == before) {
		free(text);
		free(f);
		return NULL;
	}
	return c->fold = f;
}

uint64_t fold__id(const struct fold *f)
{
	return f->id;
}

const char *fold__text(const struct fold *f)
{
	return f->text;
}
