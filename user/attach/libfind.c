/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/libfind.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/ldcache.h"
#include "attach/runpath.h"
#include "util/err.h"
#include "util/file.h"

#define SONAME "libcuda.so.1"

/* Where drivers and container runtimes put it when no loader configuration says so. */
static const char *const usual_places[] = {
	"/usr/lib/x86_64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu",
	"/usr/lib64",
	"/usr/lib",
	"/lib64",
	"/usr/local/nvidia/lib64",
	"/usr/local/nvidia/lib",
	"/usr/local/cuda/compat",
	"/usr/lib/wsl/lib",
	"/run/opengl-driver/lib",
};

bool libfind_is_libcuda(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	return strncmp(base, "libcuda.so", 10) == 0 && (base[10] == 0 || base[10] == '.' || base[10] == ' ');
}

int libfind_add(struct liblist *l, const char *path, const char *open_path, bool mapped, bool deleted,
		struct err *err)
{
	struct libfile *grown, f = { .mapped = mapped, .deleted = deleted, .fd = -1 };
	struct stat st;

	if (stat(open_path, &st))
		return err_set(err, -errno, "cannot open %s: %s", open_path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s is no regular file", open_path);
	for (size_t i = 0; i < l->n; i++) {
		if (l->files[i].dev != st.st_dev || l->files[i].ino != st.st_ino)
			continue;
		l->files[i].mapped |= mapped;
		return 0;
	}
	grown = realloc(l->files, (l->n + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	l->files = grown;
	f.path = strdup(path);
	f.open_path = strdup(open_path);
	f.dev = st.st_dev;
	f.ino = st.st_ino;
	if (!f.path || !f.open_path) {
		free(f.path);
		free(f.open_path);
		return -ENOMEM;
	}
	l->files[l->n++] = f;
	return 0;
}

/*
 * A mapped file by the name it has below the process's root, if that is still the same inode; else by its
 * map_files entry, which is the very file whatever happened to its name (needs CAP_CHECKPOINT_RESTORE).
 */
static int add_mapping(struct liblist *l, pid_t pid, const char *range, const char *path,
		       unsigned long long ino)
{
	bool deleted = strstr(path, " (deleted)") != NULL;
	char open_path[PATH_MAX];
	struct stat st;

	snprintf(open_path, sizeof(open_path), "/proc/%d/root%s", pid, path);
	if (!deleted && !stat(open_path, &st) && st.st_ino == ino)
		return libfind_add(l, path, open_path, true, false, NULL);
	snprintf(open_path, sizeof(open_path), "/proc/%d/map_files/%s", pid, range);
	return libfind_add(l, path, open_path, true, deleted, NULL);
}

int libfind_mapped(struct liblist *l, pid_t pid)
{
	return libfind_mapped_files(l, pid, libfind_is_libcuda);
}

int libfind_mapped_files(struct liblist *l, pid_t pid, bool (*wanted)(const char *path))
{
	char path[64], *maps, *line, *save = NULL;
	size_t n;
	int e, worst = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	e = file_read_all(path, 256u << 20, &maps, &n);
	if (e)
		return e == -ENOENT ? -ESRCH : e;
	for (line = strtok_r(maps, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char range[64], perm[8];
		unsigned long long ino;
		int at = 0;

		if (sscanf(line, "%63s %7s %*x %*s %llu %n", range, perm, &ino, &at) < 3 || !at)
			continue;
		if (!strchr(perm, 'x') || !wanted(line + at))
			continue;
		e = add_mapping(l, pid, range, line + at, ino);
		if (e)
			worst = e;
	}
	free(maps);
	return worst;
}

int libfind_all_mapped(struct liblist *l)
{
	return libfind_all_mapped_files(l, libfind_is_libcuda);
}

int libfind_all_mapped_files(struct liblist *l, bool (*wanted)(const char *path))
{
	DIR *d = opendir("/proc");
	struct dirent *de;

	if (!d)
		return -errno;
	while ((de = readdir(d))) {
		if (isdigit((unsigned char)de->d_name[0]))
			libfind_mapped_files(l, atoi(de->d_name), wanted);
	}
	closedir(d);
	return 0;
}

struct below {
	struct liblist *l;
	const char *root, *cwd; /* cwd: as the process sees it */
};

/* Absolute symbolic links below another root must stay below it; plain path walking would follow them in ours. */
int libfind_open_below(const char *root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	int fd, dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	close(dir);
	return fd < 0 ? -errno : fd;
}

static void add_below(const char *path, void *arg)
{
	struct below *b = arg;
	size_t before = b->l->n;
	char open_path[64];
	int fd;

	if (!b->root[0]) {
		libfind_add(b->l, path, path, false, false, NULL);
		return;
	}
	fd = libfind_open_below(b->root, path);
	if (fd < 0)
		return;
	snprintf(open_path, sizeof(open_path), "/proc/self/fd/%d", fd);
	libfind_add(b->l, path, open_path, false, false, NULL);
	if (b->l->n > before)
		b->l->files[before].fd = fd;
	else
		close(fd);
}

static void add_dir(struct below *b, const char *dir, size_t len)
{
	const char *base = len && dir[0] == '/' ? "" : b->cwd; /* an empty entry is the working directory */
	char path[PATH_MAX];

	if (base && (size_t)snprintf(path, sizeof(path), "%s%s%.*s/" SONAME, base, *base ? "/" : "", (int)len,
				     dir) < sizeof(path))
		add_below(path, b);
}

static void add_dirs(struct below *b, const char *dirs)
{
	while (dirs && *dirs) {
		size_t len = strcspn(dirs, ":;");

		add_dir(b, dirs, len);
		dirs += len + (dirs[len] != 0);
	}
}

int libfind_candidates(struct liblist *l, const char *root, const char *cwd, const char *library_path,
		       const char *exe)
{
	struct below b = { l, root, cwd };
	char path[PATH_MAX], *run;

	add_dirs(&b, library_path);
	if (exe && !runpath_read(root, exe, &run)) {
		add_dirs(&b, run);
		free(run);
	}
	snprintf(path, sizeof(path), "%s/etc/ld.so.cache", root);
	ldcache_lookup(path, SONAME, add_below, &b);
	for (size_t i = 0; i < sizeof(usual_places) / sizeof(usual_places[0]); i++)
		add_dir(&b, usual_places[i], strlen(usual_places[i]));
	return 0;
}

static void read_link(const char *path, char *out, size_t size)
{
	ssize_t len = readlink(path, out, size - 1);

	out[len > 0 ? len : 0] = 0;
}

/* What a loader's search in a process depends on. */
struct surroundings {
	char root[64], exe[PATH_MAX], cwd[PATH_MAX];
	char *env; /* holds library_path */
	const char *library_path;
};

static void read_surroundings(pid_t pid, struct surroundings *s)
{
	char path[64];
	size_t n = 0;

	s->env = NULL;
	s->library_path = NULL;
	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	if (!file_read_all(path, 16u << 20, &s->env, &n)) {
		for (char *p = s->env; p < s->env + n; p += strlen(p) + 1) {
			if (strncmp(p, "LD_LIBRARY_PATH=", 16) == 0)
				s->library_path = p + 16;
		}
	}
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	read_link(path, s->exe, sizeof(s->exe));
	snprintf(path, sizeof(path), "/proc/%d/cwd", pid);
	read_link(path, s->cwd, sizeof(s->cwd));
	snprintf(s->root, sizeof(s->root), "/proc/%d/root", pid);
}

int libfind_process_candidates(struct liblist *l, pid_t pid)
{
	struct surroundings s;

	read_surroundings(pid, &s);
	libfind_candidates(l, s.root, s.cwd[0] ? s.cwd : NULL, s.library_path, s.exe[0] ? s.exe : NULL);
	free(s.env);
	return 0;
}

static uint64_t fnv(uint64_t h, const char *s)
{
	do {
		h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
	} while (*s++);
	return h;
}

uint64_t libfind_process_key(pid_t pid)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	struct surroundings s;
	char root[32] = "";
	struct stat st;

	read_surroundings(pid, &s);
	if (!s.exe[0]) {
		free(s.env);
		return 0;
	}
	if (!stat(s.root, &st))
		snprintf(root, sizeof(root), "%llx:%llx", (unsigned long long)st.st_dev,
			 (unsigned long long)st.st_ino);
	h = fnv(fnv(fnv(h, s.exe), s.library_path ? s.library_path : ""), root);
	/* the directory matters to relative entries alone */
	if (s.library_path && (s.library_path[0] != '/' || strstr(s.library_path, ":") != NULL))
		h = fnv(h, s.cwd);
	free(s.env);
	return h ? h : 1;
}

bool libfind_version(const struct libfile *f, char *buf, size_t n)
{
	char real[PATH_MAX];
	const char *base, *v;
	ssize_t len = readlink(f->open_path, real, sizeof(real) - 1);

	if (len > 0)
		real[len] = 0;
	base = len > 0 && strstr(real, "libcuda.so.") ? real : f->path;
	v = strrchr(base, '/');
	v = strstr(v ? v : base, "libcuda.so.");
	if (!v || !isdigit((unsigned char)v[11]) || !strchr(v + 11, '.'))
		return false; /* only "1", the soname */
	snprintf(buf, n, "%.*s", (int)strspn(v + 11, "0123456789."), v + 11);
	return true;
}

void liblist_free(struct liblist *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->files[i].path);
		free(l->files[i].open_path);
		if (l->files[i].fd >= 0)
			close(l->files[i].fd);
	}
	free(l->files);
	l->files = NULL;
	l->n = 0;
}
