/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decoding of protobuf messages from files that may be hostile. */
#ifndef GPUBPF_CAPTURE_MESSAGE_H
#define GPUBPF_CAPTURE_MESSAGE_H

#include <protobuf-c/protobuf-c.h>

/*
 * NULL: malformed, or asking for more memory than a capture's messages need (two bytes of input can ask for
 * a hundred). Freed by message_free() or by the message's own free_unpacked with allocator NULL.
 */
void *message_unpack(const ProtobufCMessageDescriptor *type, size_t n, const uint8_t *data);
void message_free(void *message); /* NULL is fine */

#endif
