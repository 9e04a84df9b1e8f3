// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/nccl.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* Longer names before their beginnings. */
static const struct nccl_kind kinds[] = {
	{ "AllReduce", true, false },  { "AllGather", true, false }, { "ReduceScatter", true, false },
	{ "AlltoAll", true, false },   { "AllToAll", true, false },  { "SendRecv", false, true },
	{ "Broadcast", false, false }, { "Reduce", false, false },   { "Gather", false, false },
	{ "Scatter", false, false },   { "Generic", false, false },
};

static const struct nccl_kind *kind_at(const char *word, const char **behind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = strlen(kinds[i].name);

		if (strncmp(word, kinds[i].name, n) == 0) {
			*behind = word + n;
			return &kinds[i];
		}
	}
	return NULL;
}

const struct nccl_kind *nccl_kernel(const char *name)
{
	static const char *const heads[] = { "ncclDevKernel_", "ncclKernel_", "ncclSymDevKernel_",
					     "ncclSymkDevKernel_" };
	const struct nccl_kind *kind;
	const char *behind;

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		size_t n = strlen(heads[i]);

		if (strncmp(name, heads[i], n) != 0)
			continue;
		kind = kind_at(name + n, &behind);
		return kind && !isalnum((unsigned char)*behind) ? kind : NULL;
	}
	if (strncmp(name, "nccl", 4) != 0)
		return NULL;
	kind = kind_at(name + 4, &behind);
	return kind && strstr(behind, "Kernel") ? kind : NULL;
}
