// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/export.h"
#include "util/err.h"

#define BUFFER (1 << 20)

static ssize_t put(void *cookie, const char *buf, size_t n)
{
	struct export_out *o = cookie;
	size_t done = 0;

	while (!o->error && done < n) {
		ssize_t w = write(o->fd, buf + done, n - done);

		if (w < 0 && errno != EINTR)
			o->error = -errno;
		if (w > 0)
			done += (size_t)w;
	}
	o->bytes += done;
	/* what came behind a failure is dropped at once: `error` has it */
	return (ssize_t)n;
}

/* A new name beside the file that the path means, or its own when it is no regular file. */
static int choose_name(struct export_out *o, const char *path, bool *regular, struct err *err)
{
	char real[PATH_MAX];
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return err_set(err, -EISDIR, "%s: is a folder", path);
	/* links to what is open, as /dev/stdout, may lead to no name at all */
	*regular = stat(path, &st) || S_ISREG(st.st_mode);
	if (!*regular || !realpath(path, real)) {
		if (*regular && errno != ENOENT)
			return err_set(err, -errno, "%s: %s", path, strerror(errno));
		if (strlen(path) >= sizeof(real))
			return err_set(err, -ENAMETOOLONG, "%s: %s", path, strerror(ENAMETOOLONG));
		strcpy(real, path);
	}
	o->name = strdup(real);
	if (!o->name || (*regular && asprintf(&o->path, "%s.%d.tmp", real, (int)getpid()) < 0)) {
		o->path = NULL;
		return err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

static int open_file(struct export_out *o, const char *path, bool own_file, struct err *err)
{
	bool regular = true;
	int rc = choose_name(o, path, &regular, err);

	if (rc)
		return rc;
	if (!regular && own_file)
		return err_set(err, -EINVAL, "%s: this format needs a regular file", path);
	o->fd = o->path ? open(o->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
			: open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (o->fd < 0) {
		rc = err_set(err, -errno, "%s: %s", o->path ? o->path : path, strerror(errno));
		free(o->path); /* not ours */
		o->path = NULL;
		return rc;
	}
	return 0;
}

int export_out__open(struct export_out *o, const char *path, bool own_file, struct err *err)
{
	const cookie_io_functions_t io = { .write = put };
	int rc;

	memset(o, 0, sizeof(*o));
	o->fd = STDOUT_FILENO;
	rc = path ? open_file(o, path, own_file, err) : 0;
	if (rc || own_file)
		return rc;
	o->f = fopencookie(o, "w", io);
	if (!o->f || setvbuf(o->f, NULL, _IOFBF, BUFFER))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

int export_out__failed(const struct export_out *o)
{
	return o->error;
}

static int close_file(struct export_out *o)
{
	int rc = 0;

	if (o->fd > STDOUT_FILENO) {
		/* pipes and devices have nothing to sync */
		if (o->path && fsync(o->fd))
			rc = -errno;
		if (close(o->fd) && !rc)
			rc = -errno;
	}
	o->fd = -1;
	return rc;
}

int export_out__keep(struct export_out *o, struct err *err)
{
	int rc = 0, e;

	if (o->f && fclose(o->f))
		rc = -errno;
	o->f = NULL;
	if (o->error)
		rc = o->error;
	e = close_file(o);
	if (!rc)
		rc = e;
	if (!rc && o->path && rename(o->path, o->name))
		rc = -errno;
	if (rc)
		return err_set(err, rc, "%s: %s", o->name ? o->name : "standard output", strerror(-rc));
	free(o->path);
	o->path = NULL;
	return 0;
}

void export_out__drop(struct export_out *o)
{
	if (o->f) {
		o->error = o->error ? o->error : -ECANCELED; /* what is in the buffer is not for the reader */
		fclose(o->f);
	}
	if (o->fd >= 0)
		close_file(o);
	if (o->path)
		unlink(o->path);
	free(o->path);
	free(o->name);
	memset(o, 0, sizeof(*o));
	o->fd = -1;
}
