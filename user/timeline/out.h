/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of a trace. It is there under its name only when it is whole; "-" is standard output, and what is no regular
 * file (a pipe, a device) is written to as it is. A name that ends in .gz is compressed; the same bytes give the same file.
 */
#ifndef GPUBPF_TIMELINE_OUT_H
#define GPUBPF_TIMELINE_OUT_H

#include <stddef.h>

struct err;
struct tl_out;

int tl_out__open(const char *path, struct tl_out **out, struct err *err);
/* To a descriptor, which stays the caller's; `name` is for messages. */
int tl_out__on(int fd, const char *name, struct tl_out **out, struct err *err);
/* A timeline_write_fn; what went wrong is told by tl_out__finish(). */
int tl_out__write(void *out, const void *bytes, size_t n);
/* Writes what is left and syncs; the file has no name yet. Only tl_out__finish() and tl_out__close() may follow. */
int tl_out__settle(struct tl_out *out, struct err *err);
/* The same where that was not done, and gives the file its name. */
int tl_out__finish(struct tl_out *o, struct err *err);
/* The message for an error of tl_out__write(); -EPIPE: the reader went away. */
int tl_out__failed(const struct tl_out *o, int rc, struct err *err);
void tl_out__close(struct tl_out *o); /* NULL is fine; without tl_out__finish() nothing is left of the file */

#endif
