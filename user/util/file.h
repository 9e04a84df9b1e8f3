/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small files, whole. */
#ifndef GPUBPF_FILE_H
#define GPUBPF_FILE_H

#include <stddef.h>

/*
 * Reads a file (of /proc too: its size is not trusted) into an allocated buffer with a NUL behind its n bytes.
 * -EFBIG above `max`, else 0 or a negative errno.
 */
int file_read_all(const char *path, size_t max, char **buf, size_t *n);

/* The first line without its newline into `out`; 0 or a negative errno. */
int file_read_line(const char *path, char *out, size_t size);

#endif
