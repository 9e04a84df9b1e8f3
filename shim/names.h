/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel names: each text gets an id from 1 on, the same for the life of the process, and is handed over once in each
 * session that uses it. No allocation, no lock: bounded, and all zero is empty, so that it can stand in .bss (pages that
 * no name reached cost nothing).
 *
 * Two threads at most: one decodes (names__intern), one sends (names__send). A new session begins while none decodes.
 */
#ifndef GPUBPF_SHIM_NAMES_H
#define GPUBPF_SHIM_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "events.h"

#define NAMES_MAX 8192
#define NAMES_SLOTS 16384           /* of the hash table: a power of two */
#define NAMES_CACHE 1024            /* of the addresses: a power of two */
#define NAMES_BYTES (6u << 20)      /* of all texts */
#define NAMES_TEXT_MAX (256u << 10) /* bytes of one text; no longer one is known of any compiler */

struct names_text {
	__u32 at, len; /* in text[] */
	__u32 hash;
	__u32 session; /* the last that used it */
};

struct names {
	__u32 base; /* added to each id on its way out; stays as it is */
	__u32 session;
	__u32 count;   /* texts; id - 1 is the index */
	__u32 used;    /* bytes of text[] */
	__u32 pending; /* texts used in this session, in send[] */
	__u32 sent;    /* of them handed over */
	__u32 part;    /* parts of send[sent] handed over */
	__u64 lost;    /* calls of names__intern() in this session that found no room */
	struct {
		const char *address;
		__u32 id;
	} cache[NAMES_CACHE];
	__u16 slots[NAMES_SLOTS]; /* ids */
	__u16 send[NAMES_MAX];    /* ids */
	struct names_text texts[NAMES_MAX];
	char text[NAMES_BYTES];
};

/* Every text counts as not handed over. */
void names__begin(struct names *n, __u32 session);

/* The id of a text. 0: NULL or empty (no loss), or no room (counted). */
__u32 names__intern(struct names *n, const char *text);

/* The next pieces to hand over, at most max: how many. 0: nothing is waiting. */
size_t names__send(struct names *n, struct gpubpf_name *out, size_t max);

#endif
