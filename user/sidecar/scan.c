// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Before a parser makes a tree of a file somebody else wrote: how deep it is and how many values it has, which bounds the
 * memory of the tree; and the lines of its nodes, which the tree does not know.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "sidecar/priv.h"

#define NODE_DEPTH 2 /* in the list that is a member of the whole */

static int note_line(struct sidecar_scan *s, unsigned line)
{
	if (s->n == SIDECAR_NODES_MAX)
		return 0; /* the parser says so */
	if (s->n == s->room) {
		size_t room = s->room ? s->room * 2 : 64;
		unsigned *grown = realloc(s->line, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		s->line = grown;
		s->room = room;
	}
	s->line[s->n++] = line;
	return 0;
}

int sidecar_scan(const char *text, size_t n, struct sidecar_scan *s, char *why, size_t nwhy)
{
	unsigned depth = 0, line = 1, values = 0;
	bool quoted = false;

	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		line += c == '\n';
		if (quoted) {
			i += c == '\\';
			quoted = c != '"';
			continue;
		}
		quoted = c == '"';
		values += c == '{' || c == '[' || c == ',';
		if (c == '{' && depth == NODE_DEPTH && note_line(s, line))
			return -ENOMEM;
		if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && depth)
			depth--;
		if (depth > SIDECAR_DEPTH_MAX) {
			snprintf(why, nwhy, "line %u: nested more than %d deep", line, SIDECAR_DEPTH_MAX);
			return -E2BIG;
		}
		if (values > SIDECAR_VALUES_MAX) {
			snprintf(why, nwhy, "line %u: more than %u values: split it", line,
				 SIDECAR_VALUES_MAX);
			return -E2BIG;
		}
	}
	return 0;
}
