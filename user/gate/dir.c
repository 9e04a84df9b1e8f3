// SPDX-License-Identifier: GPL-2.0-or-later
#include "gate/dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/err.h"
#include "util/file.h"

#define MODE_ALONE 0700
#define MODE_OTHERS 01733 /* sticky: nobody can take away what another has put there */
#define NAMES_MAX 4096

static const char *wrong_directory(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return "cannot be looked at";
	if (!S_ISDIR(st.st_mode))
		return "is no folder";
	if (st.st_uid != geteuid())
		return "belongs to another user";
	if ((st.st_mode & 07777) != MODE_ALONE && (st.st_mode & 07777) != MODE_OTHERS)
		return "lets others do more than put files into it";
	return NULL;
}

int gate_dir__open(struct gate_dir *d, const char *path, struct err *err)
{
	const char *wrong;

	d->fd = -1;
	if ((size_t)snprintf(d->path, sizeof(d->path), "%s", path) >= sizeof(d->path))
		return err_set(err, -ENAMETOOLONG, "the name of the folder is too long");
	d->fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (d->fd < 0)
		return err_set(err, -errno, "cannot open the folder %s: %s", path,
			       errno == ENOTDIR || errno == ELOOP ? "it is a link, or no folder"
								  : strerror(errno));
	wrong = wrong_directory(d->fd);
	if (!wrong)
		return 0;
	close(d->fd);
	d->fd = -1;
	return err_set(err, -EPERM, "the folder %s %s", path, wrong);
}

int gate_dir__make(struct gate_dir *d, struct err *err)
{
	mode_t mode = geteuid() ? MODE_ALONE : MODE_OTHERS;
	char path[PATH_MAX];
	const char *dir;
	size_t next = 0;
	int e = -EACCES;

	d->fd = -1;
	while ((dir = file_temporary_folder(&next))) {
		if ((size_t)snprintf(path, sizeof(path), "%s/gpubpf-gate.XXXXXX", dir) >= sizeof(path))
			continue;
		if (!mkdtemp(path)) {
			e = -errno;
			continue;
		}
		e = chmod(path, mode) ? -errno : gate_dir__open(d, path, err);
		if (!e)
			return 0;
		rmdir(path);
	}
	return err_set(err, e, "no folder for the status of capture: %s; set TMPDIR to one", strerror(-e));
}

enum gate_refusal gate_dir__check(const struct gate_dir *d, struct err *err)
{
	const char *wrong = wrong_directory(d->fd);

	if (!wrong)
		return GATE_ACCEPTED;
	err_set(err, -EPERM, "its folder %s", wrong);
	return GATE_REFUSED_DIRECTORY;
}

static enum gate_refusal look(int fd, struct stat *st, struct err *err)
{
	if (fstat(fd, st)) {
		err_set(err, -errno, "it cannot be looked at: %s", strerror(errno));
		return GATE_REFUSED_UNREADABLE;
	}
	/* none: replaced by its successor a moment ago */
	if (!S_ISREG(st->st_mode) || st->st_nlink > 1) {
		err_set(err, -EINVAL, "it is no file of its own");
		return GATE_REFUSED_NOT_A_FILE;
	}
	if (st->st_size > GPUBPF_GATE_FILE_MAX) {
		err_set(err, -EFBIG, "it is larger than any that a shim writes");
		return GATE_REFUSED_OVERSIZE;
	}
	return GATE_ACCEPTED;
}

static ssize_t read_up_to(int fd, char *buf, size_t size)
{
	size_t n = 0;

	while (n < size) {
		ssize_t got = read(fd, buf + n, size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		n += (size_t)got;
	}
	return (ssize_t)n;
}

static enum gate_refusal open_file(const struct gate_dir *d, uint32_t pid, int *fd, struct err *err)
{
	enum gate_refusal r = gate_dir__check(d, err);
	char name[64];

	*fd = -1;
	if (r)
		return r;
	snprintf(name, sizeof(name), GPUBPF_GATE_FILE, (int)pid);
	/* neither a pipe nor a terminal that stands there holds us up */
	*fd = openat(d->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (*fd >= 0)
		return GATE_ACCEPTED;
	err_set(err, -errno, "%s",
		errno == ENOENT  ? "there is none"
		: errno == ELOOP ? "it is a link"
				 : strerror(errno));
	return errno == ENOENT                    ? GATE_REFUSED_MISSING
	       : errno == ELOOP || errno == ENXIO ? GATE_REFUSED_NOT_A_FILE
						  : GATE_REFUSED_UNREADABLE;
}

enum gate_refusal gate_dir__read(const struct gate_dir *d, uint32_t pid, struct gate_seen *seen, bool *fresh,
				 struct gate_status *s, struct err *err)
{
	char data[GPUBPF_GATE_FILE_MAX + 1];
	struct gate_seen is;
	struct stat st;
	enum gate_refusal r;
	ssize_t n;
	int fd;

	*fresh = false;
	r = open_file(d, pid, &fd, err);
	if (r)
		return r;
	r = look(fd, &st, err);
	if (r)
		goto out;
	is = (struct gate_seen){ st.st_ino,
				 (unsigned long long)st.st_mtim.tv_sec * 1000000000u +
					 (unsigned long long)st.st_mtim.tv_nsec,
				 (unsigned long long)st.st_size };
	if (!memcmp(&is, seen, sizeof(is)))
		goto out;
	n = read_up_to(fd, data, sizeof(data));
	if (n < 0) {
		err_set(err, (int)n, "it cannot be read: %s", strerror((int)-n));
		r = GATE_REFUSED_UNREADABLE;
		goto out;
	}
	*fresh = true;
	*seen = is;
	r = gate_status_parse(data, (size_t)n, s, err);
out:
	close(fd);
	return r;
}

static DIR *list(const struct gate_dir *d)
{
	int fd = d->fd < 0 ? -1 : openat(d->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

void gate_dir__each(const struct gate_dir *d, void (*fn)(uint32_t pid, void *arg), void *arg)
{
	DIR *dir = list(d);
	struct dirent *de;
	char name[64];

	for (int i = 0; dir && i < NAMES_MAX && (de = readdir(dir)); i++) {
		unsigned long pid;

		if (strncmp(de->d_name, "status-", 7) != 0)
			continue;
		pid = strtoul(de->d_name + 7, NULL, 10);
		snprintf(name, sizeof(name), GPUBPF_GATE_FILE, (int)pid);
		if (pid && pid <= INT_MAX && !strcmp(name, de->d_name))
			fn((uint32_t)pid, arg);
	}
	if (dir)
		closedir(dir);
}

void gate_dir__remove(struct gate_dir *d)
{
	struct stat held, named;
	DIR *dir = list(d);
	struct dirent *de;

	for (int i = 0; dir && i < NAMES_MAX && (de = readdir(dir)); i++)
		if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
			unlinkat(d->fd, de->d_name, 0);
	if (dir)
		closedir(dir);
	if (d->fd >= 0 && !fstat(d->fd, &held) && !lstat(d->path, &named) && held.st_dev == named.st_dev &&
	    held.st_ino == named.st_ino)
		rmdir(d->path);
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

int gate_token(char token[GPUBPF_GATE_TOKEN_LEN + 1])
{
	unsigned char raw[GPUBPF_GATE_TOKEN_LEN / 2];
	size_t got = 0;

	while (got < sizeof(raw)) {
		ssize_t n = getrandom(raw + got, sizeof(raw) - got, 0);

		if (n < 0 && errno != EINTR)
			return -errno;
		got += n > 0 ? (size_t)n : 0;
	}
	for (size_t i = 0; i < sizeof(raw); i++)
		snprintf(token + 2 * i, 3, "%02x", raw[i]);
	return 0;
}
