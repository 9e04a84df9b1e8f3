/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may ask, and for which bytes: decisions on texts alone. */
#ifndef GPUBPF_SERVE_GUARD_H
#define GPUBPF_SERVE_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUARD_TOKEN_LEN 26 /* 130 random bits, five per character */

/* 0 or a negative errno. */
int guard_token(char token[GUARD_TOKEN_LEN + 1]);

/*
 * What stands behind "/TOKEN/" in a request's path; NULL: another token, or none. The time does not tell how much of a
 * token was right.
 */
const char *guard_path(const char *token, const char *path);

/* "127.0.0.1:PORT" or "localhost:PORT" (what a forwarded port is called), of this port. */
bool guard_host(const char *host, uint16_t port);
/* This server by one of its names, or the viewer's origin (NULL: the server has the viewer itself). */
bool guard_origin(const char *origin, uint16_t port, const char *viewer);

enum guard_range {
	RANGE_ALL,    /* no range, several, or nothing that RFC 9110 knows: the whole */
	RANGE_PART,   /* *from, *n */
	RANGE_BEYOND, /* nothing of it is there: 416 */
};
/* A `Range` header (NULL: none) of a file with so many bytes. */
enum guard_range guard_range(const char *header, uint64_t size, uint64_t *from, uint64_t *n);

#endif
