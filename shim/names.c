/* SPDX-License-Identifier: BSD-2-Clause */
#include "names.h"

#include <string.h>

/* FNV-1a: the names of one library differ late, in their template arguments, and every byte counts here. */
static __u32 hash_of(const char *text, size_t len)
{
	__u32 h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 16777619u;
	return h;
}

static bool equals(const struct names *n, __u32 id, const char *text)
{
	return !strcmp(n->text + n->texts[id - 1].at, text);
}

/* The text's slot: its own, or the free one where it belongs. The table is never more than half full. */
static __u16 *slot_of(struct names *n, const char *text, __u32 hash)
{
	__u32 i = hash & (NAMES_SLOTS - 1);

	while (n->slots[i] && (n->texts[n->slots[i] - 1].hash != hash || !equals(n, n->slots[i], text)))
		i = (i + 1) & (NAMES_SLOTS - 1);
	return &n->slots[i];
}

/* 0: no room. */
static __u32 add(struct names *n, __u16 *slot, const char *text, size_t len, __u32 hash)
{
	struct names_text *t = &n->texts[n->count];

	if (n->count == NAMES_MAX || len + 1 > NAMES_BYTES - n->used)
		return 0;
	t->at = n->used;
	t->len = len;
	t->hash = hash;
	t->session = 0;
	memcpy(n->text + t->at, text, len + 1);
	n->used += len + 1;
	*slot = ++n->count;
	return n->count;
}

static __u32 look_up(struct names *n, const char *text)
{
	size_t len = strnlen(text, NAMES_TEXT_MAX + 1);
	__u16 *slot;
	__u32 hash;

	if (len > NAMES_TEXT_MAX)
		return 0;
	hash = hash_of(text, len);
	slot = slot_of(n, text, hash);
	return *slot ? *slot : add(n, slot, text, len, hash);
}

void names__begin(struct names *n, __u32 session)
{
	n->session = session;
	n->pending = n->sent = n->part = 0;
	__atomic_store_n(&n->lost, 0, __ATOMIC_RELAXED);
}

__u32 names__intern(struct names *n, const char *text)
{
	size_t address = (size_t)text, at = (address ^ address >> 10) & (NAMES_CACHE - 1);
	struct names_text *t;
	__u32 id;

	if (!text || !*text)
		return 0;
	/* The text is compared too: CUPTI may put another name where an unloaded module's was. */
	id = n->cache[at].address == text && equals(n, n->cache[at].id, text) ? n->cache[at].id
									      : look_up(n, text);
	if (!id) {
		__atomic_store_n(&n->lost, n->lost + 1, __ATOMIC_RELAXED);
		return 0;
	}
	n->cache[at].address = text;
	n->cache[at].id = id;
	t = &n->texts[id - 1];
	if (t->session != n->session) {
		t->session = n->session;
		n->send[n->pending] = id;
		__atomic_store_n(&n->pending, n->pending + 1, __ATOMIC_RELEASE);
	}
	return id + n->base;
}

size_t names__send(struct names *n, struct gpubpf_name *out, size_t max)
{
	__u32 pending = __atomic_load_n(&n->pending, __ATOMIC_ACQUIRE);
	size_t k = 0;

	while (k < max && n->sent < pending) {
		const struct names_text *t = &n->texts[n->send[n->sent] - 1];
		__u32 piece = sizeof(out->text), parts = (t->len + piece - 1) / piece, from = n->part * piece;

		memset(&out[k], 0, sizeof(out[k]));
		out[k].id = n->send[n->sent] + n->base;
		out[k].part = n->part;
		out[k].parts = parts;
		out[k].len = t->len - from < piece ? t->len - from : piece;
		memcpy(out[k].text, n->text + t->at + from, out[k].len);
		k++;
		if (++n->part == parts) {
			n->part = 0;
			n->sent++;
		}
	}
	return k;
}
