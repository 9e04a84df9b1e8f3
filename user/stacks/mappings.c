// SPDX-License-Identifier: GPL-2.0-or-later
#include "stacks/mappings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAPPINGS_MAX 262144

static bool parse_line(char *line, struct mapping *m)
{
	char perm[5];
	int at = 0;

	memset(m, 0, sizeof(*m));
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 "%n",
		   &m->start, &m->end, perm, &m->offset, &m->major, &m->minor, &m->ino, &at) != 7)
		return false;
	if (!at || m->end <= m->start)
		return false;
	m->exec = strchr(perm, 'x') != NULL;
	m->path = line + at + strspn(line + at, " ");
	return true;
}

static bool same_file(const struct mapping *a, const struct mapping *b)
{
	return a->ino && a->ino == b->ino && a->major == b->major && a->minor == b->minor &&
	       !strcmp(a->path, b->path);
}

static int by_start(const void *x, const void *y)
{
	const struct mapping *a = x, *b = y;

	return (a->start > b->start) - (a->start < b->start);
}

static void put_in_order(struct maps *m)
{
	size_t n = 0;

	qsort(m->v, m->n, sizeof(*m->v), by_start);
	for (size_t i = 0; i < m->n; i++) {
		struct mapping *v = &m->v[n];

		if (n && m->v[i].start < v[-1].end)
			continue;
		*v = m->v[i];
		v->first = n && same_file(v, v - 1) && v->offset > v[-1].offset ? v[-1].first : n;
		n++;
	}
	m->n = n;
}

int maps__parse(struct maps *m, char *text, size_t len)
{
	size_t lines = 1;
	char *next;

	*m = (struct maps){ .text = text, .len = len };
	for (const char *p = text; *p; p++)
		lines += *p == '\n';
	if (lines > MAPPINGS_MAX)
		lines = MAPPINGS_MAX;
	m->v = calloc(lines, sizeof(*m->v));
	if (!m->v) {
		maps__clear(m);
		return -ENOMEM;
	}
	for (char *line = text; line && *line && m->n < lines; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		m->n += parse_line(line, &m->v[m->n]);
	}
	put_in_order(m);
	return 0;
}

bool maps__overlap(const struct maps *m, uint64_t start, uint64_t end)
{
	const struct mapping *v = maps__find(m, start);

	for (size_t i = 0; !v && i < m->n; i++)
		if (m->v[i].start < end && start < m->v[i].end)
			v = &m->v[i];
	return v != NULL;
}

const struct mapping *maps__find(const struct maps *m, uint64_t addr)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (addr >= m->v[mid].end)
			low = mid + 1;
		else
			high = mid;
	}
	return low < m->n && addr >= m->v[low].start ? &m->v[low] : NULL;
}

void mapping__put(const struct mapping *m, FILE *f)
{
	fprintf(f, "%" PRIx64 "-%" PRIx64 " r-%cp %" PRIx64 " %" PRIx32 ":%" PRIx32 " %" PRIu64 " %s\n",
		m->start, m->end, m->exec ? 'x' : '-', m->offset, m->major, m->minor, m->ino, m->path);
}

bool mapping__is_file(const struct mapping *m)
{
	return m->ino && m->path[0] == '/';
}

void maps__clear(struct maps *m)
{
	free(m->v);
	free(m->text);
	*m = (struct maps){ 0 };
}
