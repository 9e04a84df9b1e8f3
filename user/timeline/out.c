/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "timeline/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "util/err.h"
#include "util/file.h"

#define BLOCK (256u << 10)

struct tl_out {
	char path[PATH_MAX], temporary[PATH_MAX];
	int fd;
	bool owned; /* not standard output */
	bool gzip, settled;
	z_stream z;
	size_t n;
	uint8_t block[BLOCK], packed[BLOCK];
};

/* Beside the file, or beside what a link of that name points to. */
static int open_file(struct tl_out *o, const char *path)
{
	struct stat st;

	if (realpath(path, o->path)) {
		if (stat(o->path, &st))
			return -errno;
		if (!S_ISREG(st.st_mode)) {
			o->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
			return o->fd < 0 ? -errno : 0;
		}
	} else if (strlen(path) < sizeof(o->path)) {
		memcpy(o->path, path, strlen(path) + 1);
	} else {
		return -ENAMETOOLONG;
	}
	if ((size_t)snprintf(o->temporary, sizeof(o->temporary), "%s.%d.tmp", o->path, (int)getpid()) >=
	    sizeof(o->temporary)) {
		o->temporary[0] = '\0';
		return -ENAMETOOLONG;
	}
	o->fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (o->fd >= 0)
		return 0;
	o->temporary[0] = '\0';
	return -errno;
}

int tl_out__on(int fd, const char *name, struct tl_out **out, struct err *err)
{
	struct tl_out *o = calloc(1, sizeof(*o));

	if (!o)
		return err_set(err, -ENOMEM, "out of memory");
	o->fd = fd;
	snprintf(o->path, sizeof(o->path), "%s", name);
	*out = o;
	return 0;
}

int tl_out__open(const char *path, struct tl_out **out, struct err *err)
{
	struct tl_out *o;
	size_t n = strlen(path);
	int rc;

	if (strcmp(path, "-") == 0)
		return tl_out__on(STDOUT_FILENO, "standard output", out, err);
	o = calloc(1, sizeof(*o));
	if (!o)
		return err_set(err, -ENOMEM, "out of memory");
	o->owned = true;
	rc = open_file(o, path);
	if (!rc && n > 3 && strcmp(path + n - 3, ".gz") == 0) {
		/* 16: a gzip header, without name and time */
		rc = deflateInit2(&o->z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK ? 0 : -ENOMEM;
		o->gzip = !rc;
	}
	if (rc) {
		err_set(err, rc, "%s: %s", path, strerror(-rc));
		tl_out__close(o);
		return rc;
	}
	*out = o;
	return 0;
}

static int pack(struct tl_out *o, const uint8_t *b, size_t n, int flush)
{
	int rc = 0, z;

	o->z.next_in = (uint8_t *)b;
	o->z.avail_in = (uInt)n;
	do {
		o->z.next_out = o->packed;
		o->z.avail_out = sizeof(o->packed);
		z = deflate(&o->z, flush);
		if (z == Z_STREAM_ERROR)
			return -EIO;
		rc = file_write_fd(o->fd, o->packed, sizeof(o->packed) - o->z.avail_out);
	} while (!rc && !o->z.avail_out);
	return rc;
}

static int pass_on(struct tl_out *o, const uint8_t *b, size_t n)
{
	return o->gzip ? pack(o, b, n, Z_NO_FLUSH) : file_write_fd(o->fd, b, n);
}

int tl_out__write(void *out, const void *bytes, size_t n)
{
	struct tl_out *o = out;
	int rc = 0;

	if (n > sizeof(o->block) - o->n) {
		rc = pass_on(o, o->block, o->n);
		o->n = 0;
	}
	if (rc)
		return rc;
	if (n > sizeof(o->block))
		return pass_on(o, bytes, n);
	memcpy(o->block + o->n, bytes, n);
	o->n += n;
	return 0;
}

int tl_out__failed(const struct tl_out *o, int rc, struct err *err)
{
	return err_set(err, rc, "%s: %s", o->path, strerror(-rc));
}

int tl_out__settle(struct tl_out *o, struct err *err)
{
	int rc = pass_on(o, o->block, o->n);

	o->n = 0;
	o->settled = true;
	if (!rc && o->gzip)
		rc = pack(o, NULL, 0, Z_FINISH);
	if (!rc && o->temporary[0] && fsync(o->fd))
		rc = -errno;
	return rc ? tl_out__failed(o, rc, err) : 0;
}

int tl_out__finish(struct tl_out *o, struct err *err)
{
	int rc = o->settled ? 0 : tl_out__settle(o, err);

	if (rc)
		return rc;
	if (o->owned && close(o->fd) && !rc)
		rc = -errno;
	o->fd = -1;
	if (!rc && o->temporary[0] && rename(o->temporary, o->path))
		rc = -errno;
	if (rc)
		return tl_out__failed(o, rc, err);
	o->temporary[0] = '\0';
	return 0;
}

void tl_out__close(struct tl_out *o)
{
	if (!o)
		return;
	if (o->owned && o->fd >= 0)
		close(o->fd);
	if (o->temporary[0])
		unlink(o->temporary);
	if (o->gzip)
		deflateEnd(&o->z);
	free(o);
}
