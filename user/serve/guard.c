/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/guard.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

int guard_token(char token[GUARD_TOKEN_LEN + 1])
{
	static const char digit[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char raw[GUARD_TOKEN_LEN];
	size_t got = 0;

	while (got < sizeof(raw)) {
		ssize_t n = getrandom(raw + got, sizeof(raw) - got, 0);

		if (n < 0 && errno != EINTR)
			return -errno;
		got += n > 0 ? (size_t)n : 0;
	}
	for (size_t i = 0; i < sizeof(raw); i++)
		token[i] = digit[raw[i] & 31];
	token[GUARD_TOKEN_LEN] = '\0';
	return 0;
}

const char *guard_path(const char *token, const char *path)
{
	unsigned char differs = 0;

	if (strnlen(path, GUARD_TOKEN_LEN + 2) < GUARD_TOKEN_LEN + 2)
		return NULL;
	for (size_t i = 0; i < GUARD_TOKEN_LEN; i++)
		differs |= (unsigned char)(token[i] ^ path[1 + i]);
	differs |= (unsigned char)(path[0] ^ '/') | (unsigned char)(path[1 + GUARD_TOKEN_LEN] ^ '/');
	return differs ? NULL : path + GUARD_TOKEN_LEN + 2;
}

bool guard_host(const char *host, uint16_t port)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };
	char want[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(want, sizeof(want), "%s:%u", names[i], port);
		/* browsers leave out the port of the scheme */
		if (strcasecmp(host, want) == 0 || (port == 80 && strcasecmp(host, names[i]) == 0))
			return true;
	}
	return false;
}

bool guard_origin(const char *origin, uint16_t port, const char *viewer)
{
	if (viewer && strcmp(origin, viewer) == 0)
		return true;
	return strncmp(origin, "http://", 7) == 0 && guard_host(origin + 7, port);
}

/* Digits at *p, which goes behind them; false: none, or more than fits. */
static bool number(const char **p, uint64_t *v)
{
	const char *at = *p;

	for (*v = 0; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(*v, 10, v) || __builtin_add_overflow(*v, (uint64_t)(*at - '0'), v))
			return false;
	if (at == *p)
		return false;
	*p = at;
	return true;
}

enum guard_range guard_range(const char *header, uint64_t size, uint64_t *from, uint64_t *n)
{
	uint64_t first, last = UINT64_MAX;
	const char *p = header;

	if (!p || strncasecmp(p, "bytes=", 6) != 0)
		return RANGE_ALL;
	p += 6;
	if (*p == '-') {
		p++;
		if (!number(&p, &last) || *p)
			return RANGE_ALL;
		if (!last || !size)
			return RANGE_BEYOND;
		*n = last < size ? last : size;
		*from = size - *n;
		return RANGE_PART;
	}
	if (!number(&p, &first) || *p++ != '-')
		return RANGE_ALL;
	if (*p && (!number(&p, &last) || *p || last < first))
		return RANGE_ALL;
	if (first >= size)
		return RANGE_BEYOND;
	*from = first;
	*n = (last < size ? last + 1 : size) - first;
	return RANGE_PART;
}
