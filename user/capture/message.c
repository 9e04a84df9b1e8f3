// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "capture/message.h"

#define MEMORY_MAX (256u << 20)

static void *budget_alloc(void *data, size_t size)
{
	size_t *left = data;

	if (size > *left)
		return NULL;
	*left -= size;
	return malloc(size ? size : 1);
}

static void budget_free(void *data, void *p)
{
	(void)data;
	free(p);
}

void *message_unpack(const ProtobufCMessageDescriptor *type, size_t n, const uint8_t *data)
{
	size_t left = MEMORY_MAX;
	ProtobufCAllocator a = { .alloc = budget_alloc, .free = budget_free, .allocator_data = &left };

	return protobuf_c_message_unpack(type, &a, n, data);
}

void message_free(void *message)
{
	if (message)
		protobuf_c_message_free_unpacked(message, NULL);
}
