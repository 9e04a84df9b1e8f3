/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The 64-bit attach cookie says all that a program needs to know of the entry point it stands at, so the
 * BPF side holds no table. User space packs it from a signature of apis.h; layout private to one build.
 */
#ifndef GPUBPF_COOKIE_H
#define GPUBPF_COOKIE_H

#include <linux/types.h>

enum cookie_blob {
	COOKIE_BLOB_NONE = 0,
	COOKIE_BLOB_MEM = 1,    /* len bytes behind the argument */
	COOKIE_BLOB_STR = 2,    /* the string behind the argument */
	COOKIE_BLOB_STRPTR = 3, /* the string behind the pointer that the call stored behind the argument */
	COOKIE_BLOB_CONFIG = 4, /* CUlaunchConfig and its attributes */
	COOKIE_BLOB_SIZES = 5,  /* an array of 8-byte sizes; the next argument is their number */
	COOKIE_BLOB_OUT = 6, /* len bytes behind the argument, written by the call: read after success only */
};

#define COOKIE_NO_ARG 15

/* Bits: api 0–11 · nargs 12–15 · blob kind 16–19 · blob argument 20–23 · blob length 24–36 ·
 * out argument 40–43 · out is 4 bytes wide 44 · a launch 45 */
#define COOKIE_API(c) ((__u32)((c)&0xfff))
#define COOKIE_NARGS(c) ((__u32)((c) >> 12 & 0xf))
#define COOKIE_BLOB(c) ((__u32)((c) >> 16 & 0xf))
#define COOKIE_BLOB_ARG(c) ((__u32)((c) >> 20 & 0xf))
#define COOKIE_BLOB_LEN(c) ((__u32)((c) >> 24 & 0x1fff))
#define COOKIE_OUT_ARG(c) ((__u32)((c) >> 40 & 0xf))
#define COOKIE_OUT32(c) ((__u32)((c) >> 44 & 1))
#define COOKIE_LAUNCH(c) ((__u32)((c) >> 45 & 1))

#define COOKIE_MAKE(api, nargs, blob, blob_arg, blob_len, out_arg, out32, launch)                            \
	((__u64)(api) | (__u64)(nargs) << 12 | (__u64)(blob) << 16 | (__u64)(blob_arg) << 20 |               \
	 (__u64)(blob_len) << 24 | (__u64)(out_arg) << 40 | (__u64)(out32) << 44 | (__u64)(launch) << 45)

/* Of a probe of the shim: enum gpubpf_probe 0–7 · bytes of one of its items 8–23 */
#define SHIM_COOKIE_PROBE(c) ((__u32)((c)&0xff))
#define SHIM_COOKIE_ITEM(c) ((__u32)((c) >> 8 & 0xffff))
#define SHIM_COOKIE_MAKE(probe, item_size) ((__u64)(probe) | (__u64)(item_size) << 8)

/*
 * Where the kernel has no attach cookies (before 5.15) user space loads one copy of each program per entry
 * point and puts the cookie in the place of this constant (user/attach/percall.c).
 */
#define COOKIE_PATCH 0x67707562706643ull

#endif
