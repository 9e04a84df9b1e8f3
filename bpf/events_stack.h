/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of the wire (events.h) that is of stacks. */
#ifndef GPUBPF_EVENTS_STACK_H
#define GPUBPF_EVENTS_STACK_H

#include <linux/types.h>

/*
 * ---- Stacks (record --stacks) ----
 *
 * The recorder makes them of what BPF takes down; the memory of a stack that it may copy for that is in no capture. Three
 * layouts in one kind of record, told by gpubpf_stack_flags: each distinct frame and each distinct chain of frames is there
 * once, before the first that refers to it.
 */
enum gpubpf_stack_flags {
	GPUBPF_STACK_CALL = 1u << 0,  /* struct gpubpf_stack; GPUBPF_STACK_ENTRY … are for it */
	GPUBPF_STACK_CHAIN = 1u << 1, /* struct gpubpf_stack_chain */
	GPUBPF_STACK_FRAME = 1u << 2, /* struct gpubpf_stack_frame; GPUBPF_STACK_INLINE … are for it */
	GPUBPF_STACK_ENTRY = 1u << 3, /* taken at the entry; else at the return */
	GPUBPF_STACK_LATE =
		1u << 4, /* the process was gone: told by what was seen of its mappings, if anything */
	GPUBPF_STACK_INLINE = 1u << 5, /* the function is part of the next frame's */
	GPUBPF_STACK_NAMED = 1u << 6,  /* the function is known */
};

enum gpubpf_stack_quality {
	GPUBPF_STACK_COMPLETE = 1,  /* down to where the thread or the process began */
	GPUBPF_STACK_TRUNCATED = 2, /* it goes on behind the limit of frames or of bytes */
	GPUBPF_STACK_BROKEN = 3,    /* no frame pointer, or no unwind information, at its last frame */
	GPUBPF_STACK_QUALITIES = 4,
};

/* Of one call made by the application (depth 0), in no order with its GPUBPF_REC_CALL: tgid, tid, t_entry say which. */
struct gpubpf_stack {
	__u16 kind;
	__u16 size;
	__u32 flags;
	__u32 tgid;
	__u32 tid;
	__u64 t_entry;
	__u32 chain;  /* gpubpf_stack_chain.id; 0: not one frame is known */
	__u16 api;    /* as in the call */
	__u8 quality; /* enum gpubpf_stack_quality */
	__u8 reserved;
};

/* Frames from the caller of the call outwards. */
struct gpubpf_stack_chain {
	__u16 kind;
	__u16 size;
	__u32 flags;
	__u32 id;
	__u32 n;
	__u32 frames[]; /* gpubpf_stack_frame.id, padded to 8 bytes */
};

#define GPUBPF_STACK_FRAMES 512 /* of one chain, inline ones too */

/* text: the function (GPUBPF_STACK_NAMED), the file that holds its code, file and line of the source; each with its NUL, ""
 * where it is not known. Padded to 8 bytes. */
struct gpubpf_stack_frame {
	__u16 kind;
	__u16 size;
	__u32 flags;
	__u32 id;
	__u32 len;    /* of text */
	__u64 offset; /* in the file as it is linked; where no file is known the address. Of named ones: 0 */
	char text[];
};

#define GPUBPF_STACK_TEXT 4096

#ifndef __cplusplus
_Static_assert(sizeof(struct gpubpf_stack) == 32, "wire");
_Static_assert(sizeof(struct gpubpf_stack_chain) == 16, "wire");
_Static_assert(sizeof(struct gpubpf_stack_frame) == 24, "wire");
#endif

#endif
