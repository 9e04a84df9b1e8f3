/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int file_read_all(const char *path, size_t max, char **buf, size_t *n)
{
	size_t room = 4096, have = 0;
	char *b = NULL;
	/* what a container names like a file of the system may be a pipe that nobody writes */
	int e = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -errno;
	while (!e) {
		char *grown;
		ssize_t got;

		if (!b || have + 1 >= room) {
			room *= b ? 2 : 1;
			grown = realloc(b, room);
			if (!grown) {
				e = -ENOMEM;
				break;
			}
			b = grown;
		}
		got = read(fd, b + have, room - have - 1);
		if (got < 0) {
			e = errno == EINTR ? 0 : -errno;
			continue;
		}
		if (!got)
			break;
		have += (size_t)got;
		if (have > max)
			e = -EFBIG;
	}
	close(fd);
	if (e) {
		free(b);
		return e;
	}
	b[have] = 0;
	*buf = b;
	*n = have;
	return 0;
}

int file_read_line(const char *path, char *out, size_t size)
{
	char *buf = NULL;
	size_t n = 0;
	int e = file_read_all(path, 1 << 20, &buf, &n);

	if (e)
		return e;
	/* The analyzer takes errno for 0 after a failed call. */
	buf[strcspn(buf, "\n")] = 0; /* NOLINT(clang-analyzer-core.NonNullParamChecker) */
	strncpy(out, buf, size - 1);
	out[size - 1] = 0;
	free(buf);
	return 0;
}

const char *file_temporary_folder(size_t *at)
{
	const char *const dirs[] = { getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm" };

	while (*at < sizeof(dirs) / sizeof(dirs[0])) {
		const char *dir = dirs[(*at)++];

		if (dir && dir[0] == '/')
			return dir;
	}
	return NULL;
}

int file_write_fd(int fd, const void *buf, size_t n)
{
	const char *b = buf;

	while (n) {
		ssize_t put = write(fd, b, n);

		if (put < 0 && errno != EINTR)
			return -errno;
		if (put > 0) {
			b += put;
			n -= (size_t)put;
		}
	}
	return 0;
}

static int write_beside(const char *path, const void *buf, size_t n)
{
	char temporary[PATH_MAX];
	int e, fd;

	if ((size_t)snprintf(temporary, sizeof(temporary), "%s.%d.tmp", path, (int)getpid()) >=
	    sizeof(temporary))
		return -ENAMETOOLONG;
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	e = file_write_fd(fd, buf, n);
	if (!e && fsync(fd))
		e = -errno;
	if (close(fd) && !e)
		e = -errno;
	if (!e && rename(temporary, path))
		e = -errno;
	if (e)
		unlink(temporary);
	return e;
}

int file_write_all(const char *path, const void *buf, size_t n)
{
	char real[PATH_MAX];
	struct stat st;
	int e, fd;

	/* Where a link points to. That may have no name, as a pipe behind /dev/stdout: the link itself is never replaced. */
	if (stat(path, &st) || S_ISREG(st.st_mode))
		return write_beside(realpath(path, real) ? real : path, buf, n);
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	e = file_write_fd(fd, buf, n);
	if (close(fd) && !e)
		e = -errno;
	return e;
}

/* Absolute, without links; of what is not there yet its folder is. */
static bool resolve(const char *path, char out[PATH_MAX])
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char folder[PATH_MAX];
	size_t n;

	if (realpath(path, out))
		return true;
	if (snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path + 1) : 1,
		     slash ? path : ".") >= (int)sizeof(folder))
		return false;
	if (!realpath(folder, out))
		return false;
	n = strlen(out);
	return snprintf(out + n, PATH_MAX - n, "/%s", name) < (int)(PATH_MAX - n);
}

bool file_same_name(const char *a, const char *b)
{
	char x[PATH_MAX], y[PATH_MAX];

	if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
		return false;
	if (strcmp(a, b) == 0)
		return true;
	return resolve(a, x) && resolve(b, y) && strcmp(x, y) == 0;
}
