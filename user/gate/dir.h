/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder that shims write their status files into: made by the recorder, held open, and never looked at by its name
 * again, so whoever puts something else in that place leads nobody there. Nothing in it is followed out of it.
 */
#ifndef GPUBPF_GATE_DIR_H
#define GPUBPF_GATE_DIR_H

#include <limits.h>

#include "gate/status.h"

struct gate_dir {
	int fd; /* -1: none */
	char path[PATH_MAX];
};

/*
 * A fresh one, with a name that cannot be guessed, in the first of $TMPDIR, /tmp, /var/tmp and /dev/shm that takes it.
 * By root for a command that may become another user: others may put files in it and list nothing (mode 1733); else 0700.
 */
int gate_dir__make(struct gate_dir *d, struct err *err);
/* One that is there: a folder and no link, ours, with one of those modes. */
int gate_dir__open(struct gate_dir *d, const char *path, struct err *err);
/* Whether it still is as it was made. */
enum gate_refusal gate_dir__check(const struct gate_dir *d, struct err *err);

/* Which file was read last: the same one is not read again. */
struct gate_seen {
	unsigned long long ino, mtime, size;
};
/*
 * Reads and parses the file of one process (its own number for itself). GATE_ACCEPTED with *fresh false: it is the one
 * of `seen`, and `s` is untouched. Otherwise `s` is for gate_status_check().
 */
enum gate_refusal gate_dir__read(const struct gate_dir *d, uint32_t pid, struct gate_seen *seen, bool *fresh,
				 struct gate_status *s, struct err *err);
/* Calls fn(pid) for each status file that is there, whatever it holds; up to 4096 names. */
void gate_dir__each(const struct gate_dir *d, void (*fn)(uint32_t pid, void *arg), void *arg);
/* Files and folder go, unless another folder has its name by now. */
void gate_dir__remove(struct gate_dir *d);

/* 32 random hexadecimal digits. */
int gate_token(char token[GPUBPF_GATE_TOKEN_LEN + 1]);

#endif
