// SPDX-License-Identifier: GPL-2.0-or-later
#include "stacks/perfmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX 4000000

static int by_start(const void *x, const void *y)
{
	const struct perfmap_entry *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->order < b->order) - (a->order > b->order); /* code was made anew there */
}

int perfmap__parse(struct perfmap *m, char *text)
{
	size_t lines = 1;
	char *next;

	*m = (struct perfmap){ .text = text };
	for (const char *p = text; *p; p++)
		lines += *p == '\n';
	if (lines > ENTRIES_MAX)
		lines = ENTRIES_MAX;
	m->v = calloc(lines, sizeof(*m->v));
	if (!m->v) {
		perfmap__clear(m);
		return -ENOMEM;
	}
	for (char *line = text; line && *line && m->n < lines; line = next) {
		struct perfmap_entry *e = &m->v[m->n];
		char *end;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		e->start = strtoull(line, &end, 16);
		if (end == line || *end != ' ')
			continue;
		line = end + 1;
		e->size = strtoull(line, &end, 16);
		if (end == line || *end != ' ' || !end[1] || !e->size)
			continue;
		e->name = end + 1;
		e->order = m->n++;
	}
	qsort(m->v, m->n, sizeof(*m->v), by_start);
	return 0;
}

const char *perfmap__find(const struct perfmap *m, uint64_t addr)
{
	size_t low = 0, high = m->n;

	while (low < high) { /* the first that begins behind it */
		size_t mid = low + (high - low) / 2;

		if (m->v[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;
	low--;
	while (low && m->v[low - 1].start == m->v[low].start)
		low--;
	return addr - m->v[low].start < m->v[low].size ? m->v[low].name : NULL;
}

void perfmap__clear(struct perfmap *m)
{
	free(m->v);
	free(m->text);
	*m = (struct perfmap){ 0 };
}
