/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text on its way to an export's output: numbers and strings without stdio's cost per character. */
#ifndef GPUBPF_EXPORT_OBUF_H
#define GPUBPF_EXPORT_OBUF_H

#include <stddef.h>
#include <stdint.h>

#include "export/export.h"
#include "export/tables.h"

struct obuf {
	struct export_out *out;
	char *b;
	size_t n;
	char *safe; /* the last text that was made safe */
	size_t safe_room;
	int error; /* the first: of the output, or -ENOMEM */
};

int obuf__init(struct obuf *o, struct export_out *out); /* 0 or -ENOMEM */
int obuf__flush(struct obuf *o);                        /* the error, if any */
void obuf__clear(struct obuf *o);

void obuf__bytes(struct obuf *o, const char *s, size_t n);
void obuf__string(struct obuf *o, const char *s);
void obuf__u64(struct obuf *o, uint64_t v);
void obuf__i64(struct obuf *o, int64_t v);
void obuf__hex(struct obuf *o, uint64_t v); /* 0x… */
/* fmt_safe() of any length; valid until the next. NULL: no memory, and the buffer's error. */
const char *obuf__safe(struct obuf *o, const char *s);
void obuf__json(struct obuf *o, const char *safe); /* in quotes */
void obuf__csv(struct obuf *o, const char *safe);
/* A truth value or a number in decimal, as JSON and CSV both write it. */
void obuf__cell(struct obuf *o, const struct tcol *c, const struct tcell *cell);

#endif
