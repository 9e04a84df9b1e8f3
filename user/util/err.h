/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Error messages are made where the cause is known and travel up beside the negative errno: what was
 * tried, on what, why it failed, what to do. Library code fills this in and never prints; only cmd_*.c do.
 */
#ifndef GPUBPF_ERR_H
#define GPUBPF_ERR_H

struct err {
	char msg[1024]; /* empty: no message yet */
};

/* Stores the message unless one is there already (the deepest cause wins) and returns `code` unchanged. */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "what: " in front of the stored message; returns `code`. */
int err_prefix(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
