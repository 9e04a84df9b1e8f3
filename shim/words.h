/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GPUBPF_SHIM_WORDS_H
#define GPUBPF_SHIM_WORDS_H

#include <stdbool.h>
#include <string.h>

/* Whether it is one of the words of a list with commas; NULL is an empty one. */
static inline bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',') {
		if (strcspn(at, ",") == n && strncmp(at, word, n) == 0)
			return true;
	}
	return false;
}

#endif
