/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words about what ran, and stacks of calls, in the lines of mkscene. */
#ifndef GPUBPF_TEST_RAN_WORDS_H
#define GPUBPF_TEST_RAN_WORDS_H

#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "stacks/intern.h"

static void kernel_word(struct gpubpf_activity *a, const char *word, uint64_t v)
{
	if (strcmp(word, "name") == 0) {
		a->name = (uint32_t)v;
	} else if (strcmp(word, "grid") == 0) {
		a->u.kernel.grid[0] = (uint32_t)v;
	} else if (strcmp(word, "block") == 0) {
		a->u.kernel.block[0] = (uint32_t)v;
	} else if (strcmp(word, "cluster") == 0) {
		a->flags |= GPUBPF_ACTIVITY_HAS_CLUSTER;
		a->u.kernel.cluster[0] = (uint8_t)v;
		a->u.kernel.cluster[1] = a->u.kernel.cluster[2] = 1;
	} else if (strcmp(word, "registers") == 0) {
		a->u.kernel.registers = (uint16_t)v;
	} else if (strcmp(word, "static") == 0) {
		a->u.kernel.static_shared = (uint32_t)v;
	} else if (strcmp(word, "dynamic") == 0) {
		a->u.kernel.dynamic_shared = (uint32_t)v;
	}
}

static void moved_word(struct gpubpf_activity *a, const char *word, uint64_t v)
{
	bool set = a->kind == GPUBPF_ACTIVITY_SET;

	if (strcmp(word, "bytes") == 0) {
		*(set ? &a->u.set.bytes : &a->u.copy.bytes) = v;
	} else if (strcmp(word, "to") == 0) {
		*(set ? &a->u.set.memory_kind : &a->u.copy.dst_kind) = (uint8_t)v;
	} else if (strcmp(word, "from") == 0) {
		a->u.copy.src_kind = (uint8_t)v;
	} else if (strcmp(word, "copy") == 0) {
		a->u.copy.copy_kind = (uint8_t)v;
	} else if (strcmp(word, "peer") == 0) {
		a->flags |= GPUBPF_ACTIVITY_PEER;
		a->u.copy.dst_device = (uint32_t)v;
	}
}

static void any_word(struct gpubpf_activity *a, const char *word, uint64_t v)
{
	if (a->kind == GPUBPF_ACTIVITY_OVERHEAD && strcmp(word, "kind") == 0) {
		a->u.raw[0] = v;
	} else if (a->kind == GPUBPF_ACTIVITY_MEMORY && strcmp(word, "bytes") == 0) {
		a->u.raw[0] = v;
	} else if (a->kind == GPUBPF_ACTIVITY_MEMORY && strcmp(word, "operation") == 0) {
		a->u.raw[2] = v;
	} else if (a->kind == GPUBPF_ACTIVITY_MEMORY && strcmp(word, "of") == 0) {
		a->u.raw[3] = v;
	} else if (strcmp(word, "stream") == 0) {
		a->stream = (uint32_t)v;
	} else if (strcmp(word, "device") == 0) {
		a->device = (uint32_t)v;
	} else if (strcmp(word, "graph") == 0) {
		a->flags |= GPUBPF_ACTIVITY_HAS_NODE;
		a->graph = (uint32_t)v;
	} else if (strcmp(word, "node") == 0) {
		a->graph_node = v;
	} else if (strcmp(word, "id") == 0) {
		a->correlation = (uint32_t)v;
	} else if (strcmp(word, "start") == 0) {
		a->start = v;
	} else if (strcmp(word, "end") == 0) {
		a->end = v;
	} else if (a->kind == GPUBPF_ACTIVITY_KERNEL) {
		kernel_word(a, word, v);
	} else {
		moved_word(a, word, v);
	}
}

static unsigned kind_word(const char *kind)
{
	return strcmp(kind, "kernel") == 0     ? GPUBPF_ACTIVITY_KERNEL
	       : strcmp(kind, "copy") == 0     ? GPUBPF_ACTIVITY_COPY
	       : strcmp(kind, "overhead") == 0 ? GPUBPF_ACTIVITY_OVERHEAD
	       : strcmp(kind, "memory") == 0   ? GPUBPF_ACTIVITY_MEMORY
					       : GPUBPF_ACTIVITY_SET;
}

/* text: functions from the outermost, with semicolons between them. */
static int stack_words(struct intern *in, char *text, struct gpubpf_stack *s)
{
	struct intern_frame f = { .module = "/usr/bin/scene" };
	uint32_t ids[16];
	size_t n = 0;

	while (n < 16 && (f.function = strsep(&text, ";")))
		if (intern__frame(in, &f, &ids[n++]))
			return -1;
	for (size_t i = 0; i < n / 2; i++) {
		uint32_t id = ids[i];

		ids[i] = ids[n - 1 - i];
		ids[n - 1 - i] = id;
	}
	return intern__chain(in, ids, n, &s->chain);
}

/* Bytes in hexadecimal; how many. */
static size_t hex_words(const char *text, uint8_t *to, size_t max)
{
	size_t n = 0;
	char byte[3] = "";

	for (; n < max && text[0] && text[1]; text += 2) {
		memcpy(byte, text, 2);
		to[n++] = (uint8_t)strtoul(byte, NULL, 16);
	}
	return n;
}

#endif
