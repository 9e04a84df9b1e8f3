// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/obuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/fmt.h"

#define ROOM 65536

int obuf__init(struct obuf *o, struct export_out *out)
{
	*o = (struct obuf){ .out = out, .b = malloc(ROOM) };
	return o->b ? 0 : -ENOMEM;
}

int obuf__flush(struct obuf *o)
{
	if (o->n)
		fwrite(o->b, 1, o->n, o->out->f);
	o->n = 0;
	if (!o->error)
		o->error = export_out__failed(o->out);
	return o->error;
}

void obuf__clear(struct obuf *o)
{
	free(o->b);
	free(o->safe);
}

/* Where n bytes (at most ROOM) may be put. */
static char *room(struct obuf *o, size_t n)
{
	if (o->n + n > ROOM)
		obuf__flush(o);
	return o->b + o->n;
}

void obuf__bytes(struct obuf *o, const char *s, size_t n)
{
	while (n) {
		size_t part = n < ROOM ? n : ROOM;

		memcpy(room(o, part), s, part);
		o->n += part;
		s += part;
		n -= part;
	}
}

void obuf__string(struct obuf *o, const char *s)
{
	obuf__bytes(o, s, strlen(s));
}

void obuf__u64(struct obuf *o, uint64_t v)
{
	char digits[20], *at = digits + sizeof(digits);

	do {
		*--at = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	obuf__bytes(o, at, (size_t)(digits + sizeof(digits) - at));
}

void obuf__i64(struct obuf *o, int64_t v)
{
	if (v < 0)
		obuf__bytes(o, "-", 1);
	obuf__u64(o, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void obuf__hex(struct obuf *o, uint64_t v)
{
	char digits[18], *at = digits + sizeof(digits);

	do {
		*--at = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v);
	*--at = 'x';
	*--at = '0';
	obuf__bytes(o, at, (size_t)(digits + sizeof(digits) - at));
}

const char *obuf__safe(struct obuf *o, const char *s)
{
	size_t need = 4 * strlen(s) + 1;

	if (need > o->safe_room) {
		char *grown = realloc(o->safe, need);

		if (!grown) {
			o->error = o->error ? o->error : -ENOMEM;
			return NULL;
		}
		o->safe = grown;
		o->safe_room = need;
	}
	return fmt_safe(o->safe, o->safe_room, s);
}

static void escaped(struct obuf *o, const char *s, const char *special, char before)
{
	obuf__bytes(o, "\"", 1);
	while (*s) {
		size_t plain = strcspn(s, special);

		obuf__bytes(o, s, plain);
		s += plain;
		if (*s) {
			char both[2] = { before ? before : *s, *s };

			obuf__bytes(o, both, 2);
			s++;
		}
	}
	obuf__bytes(o, "\"", 1);
}

void obuf__json(struct obuf *o, const char *safe)
{
	escaped(o, safe, "\"\\", '\\');
}

void obuf__csv(struct obuf *o, const char *safe)
{
	if (safe[strcspn(safe, ",\"\r\n")])
		escaped(o, safe, "\"", '\0');
	else
		obuf__string(o, safe);
}

void obuf__cell(struct obuf *o, const struct tcol *c, const struct tcell *cell)
{
	switch (c->type) {
	case TCOL_BOOL:
		obuf__string(o, cell->v.n ? "true" : "false");
		break;
	case TCOL_SIGNED:
		obuf__i64(o, (int64_t)cell->v.n);
		break;
	default:
		obuf__u64(o, cell->v.n);
	}
}
