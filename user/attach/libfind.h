/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which files are libcuda, for a process that has it mapped, for one that has not loaded it yet, and for a
 * command that does not run yet. A file is its inode: two paths of one inode count once.
 */
#ifndef GPUBPF_LIBFIND_H
#define GPUBPF_LIBFIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

struct libfile {
	char *path;        /* as the process sees it */
	char *open_path;   /* as we can open it: through its root, or its map_files entry */
	int fd;            /* open_path is "/proc/self/fd/N" of this one; -1: it stands by itself */
	uint64_t dev, ino; /* of open_path, by stat() */
	bool mapped;       /* seen in a process's mappings, not only where a loader would look */
	uint64_t
		probed_ns; /* when probes stood in it, CLOCK_MONOTONIC; 0: they do not. The caller keeps it */
	bool deleted;      /* its name is gone */
};

struct liblist {
	struct libfile *files;
	size_t n;
};

bool libfind_is_libcuda(const char *path); /* the last part of the path is libcuda.so* */

/* Adds what the process has mapped. 0, or a negative errno (-ESRCH: no such process). */
int libfind_mapped(struct liblist *l, pid_t pid);
/*
 * The same for every file that is mapped executable and whose path `wanted` takes. What cannot be opened stays out
 * and makes the result its error, after all others were added.
 */
int libfind_mapped_files(struct liblist *l, pid_t pid, bool (*wanted)(const char *path));
/* Adds every libcuda, or every file that `wanted` takes, that any visible process has mapped. */
int libfind_all_mapped(struct liblist *l);
int libfind_all_mapped_files(struct liblist *l, bool (*wanted)(const char *path));
/*
 * Adds where the loader of a process would look: `library_path` (as LD_LIBRARY_PATH, NULL: none; relative entries
 * from `cwd`, NULL: left out), the run path of `exe` (NULL: none), the loader's cache and the usual places, all
 * below `root` ("" or "/proc/PID/root").
 */
int libfind_candidates(struct liblist *l, const char *root, const char *cwd, const char *library_path,
		       const char *exe);
/* The same for a live process, by its environment, executable and root. */
int libfind_process_candidates(struct liblist *l, pid_t pid);
/* A number for what the search of a process depends on (executable, library path, directory, root): equal numbers
 * find the same files. 0: the process is gone. */
uint64_t libfind_process_key(pid_t pid);
/* Adds one file by name. */
int libfind_add(struct liblist *l, const char *path, const char *open_path, bool mapped, bool deleted,
		struct err *err);
/* Driver version from the file's real name ("libcuda.so.580.159.03"), into buf; false: none in it. */
bool libfind_version(const struct libfile *f, char *buf, size_t n);
void liblist_free(struct liblist *l);
/* A file by its name below another root ("/proc/PID/root"), whose links stay below it. An O_PATH descriptor or a negative errno. */
int libfind_open_below(const char *root, const char *path);

#endif
