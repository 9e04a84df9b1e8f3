/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/opts.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "util/err.h"

enum {
	OPT_INDEX = 256, /* getopt's value of table row i is OPT_INDEX + i: above every letter */
	OPT_HELP = 255,
};

static int opt_has_arg(const struct opt *o)
{
	if (o->type == OPT_CALL && o->arg && o->arg[0] == '[')
		return optional_argument;
	return o->type == OPT_CALL ? o->arg != NULL : o->type != OPT_FLAG;
}

static size_t opts_count(const struct verb *v)
{
	size_t n = 0;

	while (v->opts && v->opts[n].name)
		n++;
	return n;
}

const char *opts_nearest(const char *word, const char *const *names, size_t n)
{
	size_t len = strlen(word), best = len < 4 ? 2 : 3;
	const char *found = NULL;
	unsigned row[64];

	if (len >= sizeof(row) / sizeof(row[0]))
		return NULL;
	for (size_t k = 0; k < n; k++) {
		/* Levenshtein distance, one row at a time. */
		for (size_t j = 0; j <= len; j++)
			row[j] = (unsigned)j;
		for (const char *c = names[k]; *c; c++) {
			unsigned diagonal = row[0]++;

			for (size_t j = 1; j <= len; j++) {
				unsigned d = diagonal + (word[j - 1] != *c);

				diagonal = row[j];
				if (d > row[j] + 1)
					d = row[j] + 1;
				if (d > row[j - 1] + 1)
					d = row[j - 1] + 1;
				row[j] = d;
			}
		}
		if (row[len] < best) {
			best = row[len];
			found = names[k];
		}
	}
	return found;
}

static int list_add(struct opt_list *list, const char *item, size_t len)
{
	const char **items = realloc(list->items, (list->n + 1) * sizeof(*items));

	if (!items)
		return -ENOMEM;
	list->items = items;
	items[list->n] = strndup(item, len);
	if (!items[list->n])
		return -ENOMEM;
	list->n++;
	return 0;
}

static int list_split(struct opt_list *list, const char *arg, struct err *err)
{
	for (;;) {
		size_t len = strcspn(arg, ",");
		int rc;

		if (!len)
			return err_set(err, -EINVAL, "an item of the list is empty");
		rc = list_add(list, arg, len);
		if (rc)
			return err_set(err, rc, "out of memory");
		if (!arg[len])
			return 0;
		arg += len + 1;
	}
}

int opts_store(const struct opt *o, const char *arg, void *base, struct err *err)
{
	void *dst = (char *)base + o->offset;

	switch (o->type) {
	case OPT_FLAG:
		*(int *)dst = !o->negate;
		return 0;
	case OPT_STRING:
		*(const char **)dst = arg;
		return 0;
	case OPT_UINT:
		return opts_uint(arg, dst, err);
	case OPT_DURATION:
		return opts_duration(arg, dst, err);
	case OPT_SIZE:
		return opts_size(arg, dst, err);
	case OPT_LIST:
		return list_split(dst, arg, err);
	case OPT_CALL:
		return o->call(arg, dst, err);
	}
	return err_set(err, -EINVAL, "its type %d is unknown", (int)o->type);
}

static int refuse_unknown(const struct verb *v, const char *word, int letter, struct err *err)
{
	const char *nearest = NULL;

	if (!letter) {
		size_t n = opts_count(v);
		const char **names = calloc(n + 1, sizeof(*names));
		char plain[64];

		snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(word + 2, "="), word + 2);
		for (size_t i = 0; names && i < n; i++)
			names[i] = v->opts[i].name;
		if (names)
			names[n] = "help";
		nearest = names ? opts_nearest(plain, names, n + 1) : NULL;
		free(names);
		if (nearest)
			return err_set(err, -EINVAL,
				       "unknown option --%s (did you mean --%s?); `gpubpf %s --help` lists "
				       "the options",
				       plain, nearest, v->name);
		return err_set(err, -EINVAL, "unknown option --%s; `gpubpf %s --help` lists the options",
			       plain, v->name);
	}
	return err_set(err, -EINVAL, "unknown option -%c; `gpubpf %s --help` lists the options", letter,
		       v->name);
}

/* What getopt_long() refused: `got` is '?' or ':', `opt` its optopt, `word` the word it stands in. */
static int refuse(const struct verb *v, int got, int opt, const char *word, struct err *err)
{
	const struct opt *o = opt >= OPT_INDEX ? &v->opts[opt - OPT_INDEX] : NULL;

	for (size_t i = 0; !o && opt && i < opts_count(v); i++) {
		if (v->opts[i].letter == opt)
			o = &v->opts[i];
	}
	if (got == ':' && o)
		return err_set(err, -EINVAL, "option --%s needs a value: %s; see `gpubpf %s --help`", o->name,
			       o->arg ? o->arg : "VALUE", v->name);
	if (o || opt == OPT_HELP)
		return err_set(err, -EINVAL, "option --%s takes no value; see `gpubpf %s --help`",
			       o ? o->name : "help", v->name);
	return refuse_unknown(v, word, opt, err);
}

/* The two tables of getopt_long() for a verb, in one allocation. */
static struct option *getopt_tables(const struct verb *v, char **letters)
{
	size_t n = opts_count(v);
	struct option *lo = calloc(1, (n + 2) * sizeof(*lo) + 2 * n + 8);
	char *s;

	if (!lo)
		return NULL;
	s = *letters = (char *)(lo + n + 2);
	if (v->command) /* with options of its own: ours end at the first operand */
		*s++ = '+';
	*s++ = ':'; /* tell a missing value from an unknown option */
	*s++ = 'h';
	for (size_t i = 0; i < n; i++) {
		const struct opt *o = &v->opts[i];

		lo[i] = (struct option){ .name = o->name,
					 .has_arg = opt_has_arg(o),
					 .val = OPT_INDEX + (int)i };
		if (!o->letter)
			continue;
		*s++ = o->letter;
		if (opt_has_arg(o))
			*s++ = ':';
	}
	lo[n] = (struct option){ .name = "help", .val = OPT_HELP };
	return lo;
}

int opts_parse(const struct verb *v, int argc, char **argv, void *dst, int *rest, struct err *err)
{
	size_t n = opts_count(v);
	struct option *lo;
	char *letters;
	int rc = 0;

	lo = getopt_tables(v, &letters);
	if (!lo)
		return err_set(err, -ENOMEM, "out of memory");
	optind = 0; /* glibc: forget the last scan, read the tables anew */
	opterr = 0;
	while (!rc) {
		const struct opt *o = NULL;
		int c = getopt_long(argc, argv, letters, lo, NULL);

		if (c == -1)
			break;
		if (c == 'h' || c == OPT_HELP) {
			opts_help(stdout, v);
			rc = 1;
			break;
		}
		if (c == '?' || c == ':') {
			rc = refuse(v, c, optopt, argv[optind > 1 ? optind - 1 : 1],
				    err); /* a long one is passed by then */
			break;
		}
		for (size_t i = 0; i < n; i++) {
			if (c == OPT_INDEX + (int)i || c == v->opts[i].letter)
				o = &v->opts[i];
		}
		rc = o ? opts_store(o, optarg, dst, err) : -EINVAL;
		if (rc && o)
			err_prefix(err, rc, "option --%s", o->name);
	}
	*rest = optind;
	free(lo);
	return rc < 0 ? -EINVAL : rc;
}

void opts_free(const struct verb *v, void *dst)
{
	for (size_t i = 0; i < opts_count(v); i++) {
		struct opt_list *list = (struct opt_list *)((char *)dst + v->opts[i].offset);

		if (v->opts[i].type != OPT_LIST)
			continue;
		for (size_t k = 0; k < list->n; k++)
			free((char *)list->items[k]);
		free(list->items);
		*list = (struct opt_list){ 0 };
	}
}
