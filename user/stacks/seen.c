// SPDX-License-Identifier: GPL-2.0-or-later
#include "stacks/seen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROCESSES 256
#define MAPPINGS 4096 /* of one */

struct process {
	pid_t view;
	uint64_t used;
	struct mapping *v; /* by address; paths are its own */
	size_t n;
};

struct seen {
	uint64_t clock;
	struct process p[PROCESSES];
};

int seen__new(struct seen **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

static void clear(struct process *p)
{
	for (size_t i = 0; i < p->n; i++)
		free((char *)p->v[i].path);
	free(p->v);
	*p = (struct process){ 0 };
}

static struct process *process_of(struct seen *s, pid_t view)
{
	struct process *oldest = &s->p[0];

	for (size_t i = 0; i < PROCESSES; i++) {
		if (s->p[i].view == view) {
			s->p[i].used = ++s->clock;
			return &s->p[i];
		}
		if (s->p[i].used < oldest->used)
			oldest = &s->p[i];
	}
	clear(oldest);
	oldest->view = view;
	oldest->used = ++s->clock;
	return oldest;
}

static void unmap(struct process *p, uint64_t start, uint64_t end)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (p->v[i].start < end && start < p->v[i].end)
			free((char *)p->v[i].path);
		else
			p->v[kept++] = p->v[i];
	}
	p->n = kept;
}

void seen__add(struct seen *s, pid_t view, const struct mapping *m)
{
	struct process *p = process_of(s, view);
	struct mapping *grown;
	size_t at;
	char *path;

	unmap(p, m->start, m->end);
	if (p->n == MAPPINGS)
		return;
	path = strdup(m->path);
	grown = path ? realloc(p->v, (p->n + 1) * sizeof(*grown)) : NULL;
	if (!grown) {
		free(path);
		return;
	}
	p->v = grown;
	for (at = p->n; at && p->v[at - 1].start > m->start; at--)
		p->v[at] = p->v[at - 1];
	p->v[at] = *m;
	p->v[at].path = path;
	p->n++;
}

int seen__maps(const struct seen *s, pid_t view, struct maps *out)
{
	const struct process *p = NULL;
	char *text = NULL;
	size_t len = 0;
	FILE *f;

	for (size_t i = 0; i < PROCESSES && !p; i++)
		if (s->p[i].view == view && s->p[i].n)
			p = &s->p[i];
	if (!p)
		return -ENOENT;
	f = open_memstream(&text, &len);
	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < p->n; i++)
		mapping__put(&p->v[i], f);
	if (fclose(f)) {
		free(text);
		return -ENOMEM;
	}
	return maps__parse(out, text, len);
}

void seen__free(struct seen *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < PROCESSES; i++)
		clear(&s->p[i]);
	free(s);
}
