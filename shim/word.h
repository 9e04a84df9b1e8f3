/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GPUBPF_SHIM_WORD_H
#define GPUBPF_SHIM_WORD_H

#include <stdbool.h>
#include <string.h>

/* Whether a list of words with commas has this one. NULL: an empty list. */
static inline bool word__in(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',') {
		if (strcspn(at, ",") == n && strncmp(at, word, n) == 0)
			return true;
	}
	return false;
}

#endif
