/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/ldcache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"

#define MAGIC "glibc-ld.so.cache1.1"
#define MAX_CACHE (64u << 20)

struct cache_head { /* follows the magic */
	uint32_t nlibs, strings_len;
	uint8_t flags, pad[3];
	uint32_t extension, unused[3];
};

struct cache_entry {
	int32_t flags;
	uint32_t key, value; /* offsets of strings, from the start of the magic */
	uint32_t osversion;
	uint64_t hwcap;
};

_Static_assert(sizeof(struct cache_entry) == 24, "as the file has it");

/* The string at `at` if it ends inside the buffer. */
static const char *string_at(const char *buf, size_t n, uint32_t at)
{
	if (at >= n || !memchr(buf + at, 0, n - at))
		return NULL;
	return buf + at;
}

int ldcache_lookup(const char *cache_file, const char *soname, void (*fn)(const char *path, void *arg),
		   void *arg)
{
	size_t n, magic = sizeof(MAGIC) - 1;
	struct cache_head head;
	char *file, *buf;
	int e = file_read_all(cache_file, MAX_CACHE, &file, &n);

	if (e)
		return e;
	/* caches of older glibc put an old-style table in front */
	buf = memmem(file, n, MAGIC, magic);
	if (!buf || (n -= (size_t)(buf - file)) < magic + sizeof(head)) {
		free(file);
		return -EBADMSG;
	}
	memcpy(&head, buf + magic, sizeof(head));
	for (uint32_t i = 0; i < head.nlibs; i++) {
		size_t at = magic + sizeof(head) + (size_t)i * sizeof(struct cache_entry);
		const char *key, *value;
		struct cache_entry c;

		if (at + sizeof(c) > n)
			break;
		memcpy(&c, buf + at, sizeof(c));
		key = string_at(buf, n, c.key);
		value = string_at(buf, n, c.value);
		if (key && value && strcmp(key, soname) == 0)
			fn(value, arg);
	}
	free(file);
	return 0;
}
