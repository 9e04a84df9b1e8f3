/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/shimfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "usdt/contract.h"
#include "util/err.h"
#include "util/file.h"

#define IMAGE_MAX (64u << 20)

bool shimfile_is_shim(const char *path)
{
	const char *base = strrchr(path, '/');
	size_t n = strlen(SHIMFILE_NAME);

	base = base ? base + 1 : path;
	return strncmp(base, SHIMFILE_NAME, n) == 0 && (!base[n] || base[n] == '.' || base[n] == ' ');
}

bool shimfile_has_probes(const char *path)
{
	static const struct usdt_opts own_notes = { .debug_root = "" };
	struct usdt_file *f;
	bool found = false;

	if (usdt_file__open(path, &own_notes, &f, NULL))
		return false;
	for (size_t i = 0; i < usdt_file__count(f) && !found; i++)
		found = strcmp(usdt_file__probe(f, i)->provider, USDT_CONTRACT_PROVIDER) == 0;
	usdt_file__close(f);
	return found;
}

void shimfile_default_dir(char *dir, size_t size)
{
	char exe[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[n > 0 ? n : 0] = 0;
	slash = strrchr(exe, '/');
	if (slash && slash - exe >= 4 && !strncmp(slash - 4, "/bin", 4))
		snprintf(dir, size, "%.*s/lib/gpubpf", (int)(slash - exe - 4), exe);
	else
		snprintf(dir, size, "/usr/local/lib/gpubpf");
}

static bool same_bytes(const char *path, const struct shimfile_image *image)
{
	char *data;
	size_t n;
	bool same;

	if (file_read_all(path, IMAGE_MAX, &data, &n))
		return false;
	same = n == image->size && !memcmp(data, image->data, n);
	free(data);
	return same;
}

bool shimfile_installed(const struct shimfile_image *image, char *path, size_t size, bool *same)
{
	char first[PATH_MAX];
	const char *const dirs[] = { first, "/usr/local/lib/gpubpf", "/usr/lib/gpubpf" };

	shimfile_default_dir(first, sizeof(first));
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		if ((size_t)snprintf(path, size, "%s/" SHIMFILE_NAME, dirs[i]) >= size || access(path, R_OK))
			continue;
		*same = image && same_bytes(path, image);
		return true;
	}
	return false;
}

/* Writes and closes. */
static int fill(int fd, const struct shimfile_image *image)
{
	const char *p = image->data;
	size_t left = image->size;
	int e = fchmod(fd, 0755) ? -errno : 0;

	while (left && !e) {
		ssize_t n = write(fd, p, left);

		if (n < 0 && errno != EINTR)
			e = -errno;
		if (n > 0) {
			p += n;
			left -= (size_t)n;
		}
	}
	if (close(fd) && !e)
		e = -errno;
	return e;
}

static int make_dirs(char *path)
{
	for (char *p = path + 1;; p++) {
		char was = *p;

		if (was && was != '/')
			continue;
		*p = 0;
		if (mkdir(path, 0755) && errno != EEXIST)
			return -errno;
		*p = was;
		if (!was)
			return 0;
	}
}

static int no_image(struct err *err)
{
	return err_set(err, -ENODATA, "this gpubpf was built without the shim");
}

int shimfile_install(const struct shimfile_image *image, const char *dir, char *path, size_t size,
		     struct err *err)
{
	char temporary[PATH_MAX], made[PATH_MAX];
	int e, fd;

	if (!image->size)
		return no_image(err);
	if (!dir[0] || (size_t)snprintf(made, sizeof(made), "%s", dir) >= sizeof(made) ||
	    (size_t)snprintf(path, size, "%s/" SHIMFILE_NAME, dir) >= size ||
	    (size_t)snprintf(temporary, sizeof(temporary), "%s/." SHIMFILE_NAME ".XXXXXX", dir) >=
		    sizeof(temporary))
		return err_set(err, -ENAMETOOLONG, "'%s' is no folder to put the shim into", dir);
	e = make_dirs(made);
	if (e)
		return err_set(err, e, "cannot make the folder %s: %s", dir, strerror(-e));
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return err_set(err, -errno, "cannot write into %s: %s", dir, strerror(errno));
	e = fill(fd, image);
	if (!e && rename(temporary, path))
		e = -errno;
	if (e) {
		unlink(temporary);
		return err_set(err, e, "cannot write %s: %s", path, strerror(-e));
	}
	return 0;
}

int shimfile_temporary(const struct shimfile_image *image, char *path, size_t size, struct err *err)
{
	char tried[768] = "";
	size_t at = 0, next = 0;
	const char *dir;

	path[0] = 0;
	if (!image->size)
		return no_image(err);
	while ((dir = file_temporary_folder(&next))) {
		struct statvfs fs;
		int e = 0, fd;

		if (!statvfs(dir, &fs) && (fs.f_flag & ST_NOEXEC)) {
			at += (size_t)snprintf(tried + at, sizeof(tried) - at, "%s%.100s (mounted noexec)",
					       at ? ", " : "", dir);
			continue;
		}
		if ((size_t)snprintf(path, size, "%s/" SHIMFILE_NAME ".XXXXXX", dir) >= size)
			continue;
		fd = mkostemp(path, O_CLOEXEC);
		e = fd < 0 ? -errno : fill(fd, image);
		if (!e)
			return 0;
		if (fd >= 0)
			unlink(path);
		at += (size_t)snprintf(tried + at, sizeof(tried) - at, "%s%.100s (%s)", at ? ", " : "", dir,
				       strerror(-e));
	}
	path[0] = 0;
	return err_set(err, -EACCES, "no folder to put the shim into: %s; set TMPDIR to one", tried);
}

int shimfile_read(const char *path, struct shimfile_image *image, struct err *err)
{
	char *data;
	int e = file_read_all(path, IMAGE_MAX, &data, &image->size);

	image->data = e ? NULL : data;
	return e ? err_set(err, e, "cannot read %s: %s", path, strerror(-e)) : 0;
}
