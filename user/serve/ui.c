/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/ui.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "util/crc32c.h"
#include "util/err.h"
#include "util/file.h"
#include "util/fmt.h"

#define FILES_MAX 4096
#define BYTES_MAX (1ull << 30)
#define DEPTH_MAX 16
#define PATH_ROOM 512
#define TEXT_MAX (4u << 20) /* of the entry point and of the manifest */
#define VERSION_ROOM 128

struct serve_ui {
	const char *path; /* for messages while it is opened */
	int dir;
	struct serve_file *file; /* by name */
	size_t n, room;
	uint64_t bytes;
	size_t left_out, missing;
	char revision[VERSION_ROOM], manifest[VERSION_ROOM + 16];
	char first_missing[PATH_ROOM];
};

/* What needs no quoting in an address, so that a request's path is the name itself. */
static bool is_plain(const char *name, size_t n)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-~+@,=";

	return n && name[0] != '.' && strspn(name, plain) >= n;
}

/* ---- The list ---- */

static int read_crc(int fd, uint32_t *crc)
{
	static const size_t block = 128u << 10;
	void *b = malloc(block);
	ssize_t n = 0;

	*crc = 0;
	while (b && ((n = read(fd, b, block)) > 0 || (n < 0 && errno == EINTR)))
		if (n > 0)
			*crc = crc32c(*crc, b, (size_t)n);
	n = !b ? -ENOMEM : n < 0 ? -errno : 0;
	free(b);
	return (int)n;
}

static void describe(struct serve_file *f, const struct stat *st)
{
	f->dev = st->st_dev;
	f->ino = st->st_ino;
	f->size = (uint64_t)st->st_size;
	f->written = st->st_mtim;
	f->changed = st->st_ctim;
}

static int open_plain(int dir, const char *name, int flags)
{
	return openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
}

static int add_file(struct serve_ui *ui, int fd, const char *name, const struct stat *st)
{
	struct serve_file *f;
	int rc;

	if (ui->n == FILES_MAX || ui->bytes + (uint64_t)st->st_size > BYTES_MAX)
		return -EFBIG;
	if (ui->n == ui->room) {
		size_t room = ui->room ? ui->room * 2 : 64;

		f = realloc(ui->file, room * sizeof(*f));
		if (!f)
			return -ENOMEM;
		ui->file = f;
		ui->room = room;
	}
	f = &ui->file[ui->n];
	describe(f, st);
	rc = read_crc(fd, &f->crc);
	f->name = rc ? NULL : strdup(name);
	if (!rc && !f->name)
		rc = -ENOMEM;
	if (rc)
		return rc;
	ui->bytes += f->size;
	ui->n++;
	return 0;
}

static int walk(struct serve_ui *ui, int fd, char *path, size_t used, unsigned depth);

/* One name of a folder; path[used] is where it goes. */
static int add(struct serve_ui *ui, int dir, const char *name, char *path, size_t used, unsigned depth)
{
	size_t n = strlen(name);
	struct stat st;
	int fd, rc;

	if (!is_plain(name, n) || used + n + 2 > PATH_ROOM || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		goto left_out;
	memcpy(path + used, name, n + 1);
	fd = open_plain(dir, name, S_ISDIR(st.st_mode) ? O_DIRECTORY : 0);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		rc = -errno;
	} else if (S_ISDIR(st.st_mode)) {
		path[used + n] = '/';
		path[used + n + 1] = '\0';
		return walk(ui, fd, path, used + n + 1, depth + 1);
	} else {
		rc = add_file(ui, fd, path, &st);
	}
	close(fd);
	return rc;
left_out:
	ui->left_out++;
	return 0;
}

/* Closes fd. */
static int walk(struct serve_ui *ui, int fd, char *path, size_t used, unsigned depth)
{
	DIR *d = depth > DEPTH_MAX ? NULL : fdopendir(fd);
	struct dirent *e = NULL;
	int rc = d ? 0 : depth > DEPTH_MAX ? -EFBIG : -errno;

	while (d && !rc && (errno = 0, e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = add(ui, fd, e->d_name, path, used, depth);
	if (d && !rc)
		rc = -errno;
	if (d)
		closedir(d);
	else
		close(fd);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct serve_file *)a)->name, ((const struct serve_file *)b)->name);
}

static int list(struct serve_ui *ui, struct err *err)
{
	char path[PATH_ROOM] = "";
	int fd = open_plain(ui->dir, ".", O_DIRECTORY), rc = fd < 0 ? -errno : walk(ui, fd, path, 0, 0);

	if (rc == -EFBIG)
		return err_set(
			err, rc,
			"%s holds more than a viewer: at most %u files of %llu MiB in %u levels; name the "
			"folder of the viewer alone",
			ui->path, FILES_MAX, BYTES_MAX >> 20, DEPTH_MAX);
	if (rc)
		return err_set(err, rc, "%s/%s: %s", ui->path, path, strerror(-rc));
	if (ui->n)
		qsort(ui->file, ui->n, sizeof(*ui->file), by_name);
	return 0;
}

/* ---- Entry point and manifest ---- */

/* A file with a NUL behind it, to be freed; NULL: *rc says why. */
static char *read_text(int dir, const char *name, size_t *n, int *rc)
{
	int fd = open_plain(dir, name, 0);
	struct stat st = { 0 };
	char *text = NULL, path[32];

	*rc = fd < 0 || fstat(fd, &st) ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!*rc)
		*rc = file_read_all(path, TEXT_MAX, &text, n);
	if (fd >= 0)
		close(fd);
	return *rc ? NULL : text;
}

static const char *word(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));

	return s && strlen(s) < VERSION_ROOM && is_plain(s, strlen(s)) ? s : NULL;
}

/* As the viewer's page itself looks for it: of its channels a browser that is new to it takes "stable". */
static void find_revision(struct serve_ui *ui, const char *page)
{
	static const char attribute[] = "data-perfetto_version='";
	const char *at = strstr(page, attribute), *s;
	json_t *o;

	if (!at)
		return;
	at += sizeof(attribute) - 1;
	o = json_loadb(at, strcspn(at, "'"), 0, NULL);
	s = word(o, "stable");
	if (s)
		snprintf(ui->revision, sizeof(ui->revision), "%s", s);
	json_decref(o);
}

static int read_entry(struct serve_ui *ui, struct err *err)
{
	size_t n;
	int rc;
	char *page = read_text(ui->dir, SERVE_UI_ENTRY, &n, &rc);

	if (rc)
		return err_set(err, rc,
			       "%s has no entry point, a file " SERVE_UI_ENTRY
			       " (%s): --ui-dir takes a build of the viewer, for Perfetto its ui/out/dist",
			       ui->path, rc == -ELOOP ? "it is a symbolic link" : strerror(-rc));
	find_revision(ui, page);
	free(page);
	return 0;
}

/* Those of its files that are not there. */
static void compare(struct serve_ui *ui, json_t *resources)
{
	size_t folder = strlen(ui->manifest) - strlen("manifest.json");
	char path[PATH_ROOM];
	const char *name;
	json_t *v;

	json_object_foreach(resources, name, v)
	{
		snprintf(path, sizeof(path), "%.*s%s", (int)folder, ui->manifest, name);
		if (serve_ui__find(ui, path))
			continue;
		if (!ui->missing++)
			fmt_safe(ui->first_missing, sizeof(ui->first_missing), path);
	}
}

static int read_manifest(struct serve_ui *ui, struct err *err)
{
	json_error_t why;
	json_t *o = NULL;
	const char *s;
	size_t n;
	char *text;
	int rc;

	snprintf(ui->manifest, sizeof(ui->manifest), "%s%smanifest.json", ui->revision,
		 ui->revision[0] ? "/" : "");
	text = read_text(ui->dir, ui->manifest, &n, &rc);
	if (rc)
		return err_set(
			err, rc,
			"%s has no revision manifest %s (%s), which says what belongs to its " SERVE_UI_ENTRY
			": is it a whole build of the viewer?",
			ui->path, ui->manifest, rc == -ELOOP ? "a symbolic link" : strerror(-rc));
	o = json_loadb(text, n, 0, &why);
	free(text);
	if (!json_is_object(o)) {
		json_decref(o);
		return err_set(err, -EBADMSG, "%s/%s is no revision manifest: it holds no JSON object",
			       ui->path, ui->manifest);
	}
	s = word(o, "revision");
	s = s ? s : word(o, "version");
	if (!ui->revision[0] && s)
		snprintf(ui->revision, sizeof(ui->revision), "%s", s);
	rc = list(ui, err);
	if (!rc && !(serve_ui__find(ui, "") && serve_ui__find(ui, ui->manifest)))
		rc = err_set(err, -ENOENT,
			     "%s/%s is not in the directory itself: symbolic links are not followed",
			     ui->path, ui->manifest);
	if (!rc)
		compare(ui, json_object_get(o, "resources"));
	json_decref(o);
	return rc;
}

int serve_ui__open(const char *path, struct serve_ui **out, struct err *err)
{
	struct serve_ui *ui = calloc(1, sizeof(*ui));
	int rc;

	*out = NULL;
	if (!ui)
		return err_set(err, -ENOMEM, "out of memory");
	ui->path = path;
	ui->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = ui->dir < 0 ? err_set(err, -errno, "%s: %s", path, strerror(errno)) : read_entry(ui, err);
	if (!rc)
		rc = read_manifest(ui, err);
	if (rc) {
		serve_ui__close(ui);
		return rc;
	}
	*out = ui;
	return 0;
}

void serve_ui__about(const struct serve_ui *ui, struct serve_ui_about *a)
{
	*a = (struct serve_ui_about){ .revision = ui->revision,
				      .manifest = ui->manifest,
				      .manifest_crc = serve_ui__find(ui, ui->manifest)->crc,
				      .files = ui->n,
				      .bytes = ui->bytes,
				      .left_out = ui->left_out,
				      .missing = ui->missing,
				      .first_missing = ui->first_missing };
}

void serve_ui__close(struct serve_ui *ui)
{
	if (!ui)
		return;
	for (size_t i = 0; i < ui->n; i++)
		free(ui->file[i].name);
	free(ui->file);
	if (ui->dir >= 0)
		close(ui->dir);
	free(ui);
}

/* ---- What is served ---- */

const struct serve_file *serve_ui__find(const struct serve_ui *ui, const char *name)
{
	const struct serve_file key = { .name = (char *)(*name ? name : SERVE_UI_ENTRY) };

	return ui->n ? bsearch(&key, ui->file, ui->n, sizeof(key), by_name) : NULL;
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* A folder on the way that became a link leads to another file, or to the same one. */
int serve_ui__take(const struct serve_ui *ui, const struct serve_file *f)
{
	struct serve_file now;
	struct stat st;
	int fd = open_plain(ui->dir, f->name, 0);

	if (fd < 0)
		return -ESTALE;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		describe(&now, &st);
		if (now.dev == f->dev && now.ino == f->ino && now.size == f->size &&
		    same_time(now.written, f->written) && same_time(now.changed, f->changed))
			return fd;
	}
	close(fd);
	return -ESTALE;
}

const char *serve_ui_type(const char *name)
{
	static const char *const types[][2] = {
		{ "js", "text/javascript; charset=utf-8" },
		{ "mjs", "text/javascript; charset=utf-8" },
		{ "wasm", "application/wasm" },
		{ "css", "text/css; charset=utf-8" },
		{ "html", "text/html; charset=utf-8" },
		{ "json", "application/json" },
		{ "map", "application/json" },
		{ "png", "image/png" },
		{ "svg", "image/svg+xml" },
		{ "ico", "image/x-icon" },
		{ "woff2", "font/woff2" },
		{ "woff", "font/woff" },
		{ "ttf", "font/ttf" },
		{ "txt", "text/plain; charset=utf-8" },
	};
	const char *end = strrchr(*name ? name : SERVE_UI_ENTRY, '.');

	for (size_t i = 0; end && i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(end + 1, types[i][0]) == 0)
			return types[i][1];
	return "application/octet-stream";
}
