/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reader of the dynamic loader's cache (glibc, elf/cache.c: "glibc-ld.so.cache1.1"). */
#ifndef GPUBPF_LDCACHE_H
#define GPUBPF_LDCACHE_H

#include <stddef.h>

/* Calls fn(path, arg) for each entry whose name is `soname`. 0 or a negative errno; a damaged file gives what
 * can be read of it. */
int ldcache_lookup(const char *cache_file, const char *soname, void (*fn)(const char *path, void *arg),
		   void *arg);

#endif
