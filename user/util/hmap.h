/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash table for the readers' hot path: entries of one size that start with their key, never removed, at
 * addresses that stay, numbered in the order of arrival (so that output does not depend on hashing). Open
 * addressing over 8-byte slots: a hit costs about one cache miss for the slot and one for the entry.
 */
#ifndef GPUBPF_HMAP_H
#define GPUBPF_HMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hmap {
	size_t key_size, entry_size; /* both multiples of 8; keys compare as bytes, so zero their padding */
	struct hmap_slot *slots;
	size_t nslots; /* a power of two, or 0 */
	char **chunks;
	size_t n;
};

void hmap__init(struct hmap *m, size_t key_size, size_t entry_size);
void *hmap__get(const struct hmap *m, const void *key); /* NULL: not there */
/* The entry of `key`, made with all other bytes zero when it is not there; NULL: no memory. */
void *hmap__put(struct hmap *m, const void *key);
void *hmap__at(const struct hmap *m, size_t index); /* index < m->n */
void hmap__clear(struct hmap *m);                   /* what entries own is the caller's to free first */

#endif
