/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small files, whole; folders for temporary ones. */
#ifndef GPUBPF_FILE_H
#define GPUBPF_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads a file (of /proc too: its size is not trusted) into an allocated buffer with a NUL behind its n bytes.
 * -EFBIG above `max`, else 0 or a negative errno.
 */
int file_read_all(const char *path, size_t max, char **buf, size_t *n);

/* The first line without its newline into `out`; 0 or a negative errno. */
int file_read_line(const char *path, char *out, size_t size);

/* All of n bytes to a descriptor. 0 or a negative errno. */
int file_write_fd(int fd, const void *buf, size_t n);

/*
 * Writes n bytes. A regular file is there under its name only when it is whole; to what is none (a pipe, a device) they
 * are written as they are. 0 or a negative errno.
 */
int file_write_all(const char *path, const void *buf, size_t n);

/* Whether both names are of one file, there or not yet; "-" is none. */
bool file_same_name(const char *a, const char *b);

/*
 * The folders for temporary files, best first: the next one, with *at from 0; NULL: no more. Absolute ones alone: a relative
 * path would mean another place to a command that changes its directory.
 */
const char *file_temporary_folder(size_t *at);

#endif
