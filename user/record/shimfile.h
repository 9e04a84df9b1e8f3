/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shim as a file: what it is called, where it is installed, and copies of the one inside this program. */
#ifndef GPUBPF_SHIMFILE_H
#define GPUBPF_SHIMFILE_H

#include <stdbool.h>
#include <stddef.h>

struct err;

#define SHIMFILE_NAME "libgpubpf-shim.so"
/* What the driver loads into a process, and how the shim is told which optional kinds of activity to enable. */
#define SHIMFILE_INJECTION "CUDA_INJECTION64_PATH"
#define SHIMFILE_KINDS "GPUBPF_CUPTI"
/* What NVTX loads at its first call; the shim passes it on to the CUPTI that it uses. */
#define SHIMFILE_NVTX "NVTX_INJECTION64_PATH"

struct shimfile_image {
	const void *data;
	size_t size; /* 0: none */
};

/* The last part of the path is the shim's name, with or without something behind ".so". */
bool shimfile_is_shim(const char *path);
/* Whether the file is a shim, by its probes, whatever it is called. */
bool shimfile_has_probes(const char *path);

/*
 * Where it is installed: ../lib/gpubpf beside this program, /usr/local/lib/gpubpf, /usr/lib/gpubpf. False: nowhere.
 * *same: with the bytes of `image`.
 */
bool shimfile_installed(const struct shimfile_image *image, char *path, size_t size, bool *same);
/* The folder that shimfile_installed() looks at first. */
void shimfile_default_dir(char *dir, size_t size);
/* Puts it into a folder, made if need be, under its name: whole or not at all, mode 0755, as a new inode, so that
 * processes that have an older one mapped keep that. `path` gets the full path. */
int shimfile_install(const struct shimfile_image *image, const char *dir, char *path, size_t size,
		     struct err *err);
/*
 * A private copy with a name of its own, in the first of $TMPDIR, /tmp, /var/tmp and /dev/shm that can be written to
 * and executed from. Mode 0755: the command may run as another user.
 */
int shimfile_temporary(const struct shimfile_image *image, char *path, size_t size, struct err *err);
/* Reads a file as an image; free image->data. */
int shimfile_read(const char *path, struct shimfile_image *image, struct err *err);

#endif
