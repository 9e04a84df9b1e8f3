/* SPDX-License-Identifier: BSD-2-Clause */
#include "find.h"

#include <dirent.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

#ifdef __x86_64__
#define TARGET "x86_64-linux"
#define MULTIARCH "x86_64-linux-gnu"
#else
#define TARGET "sbsa-linux"
#define MULTIARCH "aarch64-linux-gnu"
#endif

/* Newest first. Until 12.0 the soname had the minor version too. */
static const struct name {
	const char *name;
	int major;
} names[] = {
	{ "libcupti.so.13", 13 },   { "libcupti.so.12", 12 },   { "libcupti.so.11.8", 11 },
	{ "libcupti.so.11.7", 11 }, { "libcupti.so.11.6", 11 }, { "libcupti.so.11.5", 11 },
	{ "libcupti.so.11.4", 11 }, { "libcupti.so.11.3", 11 }, { "libcupti.so.11.2", 11 },
	{ "libcupti.so.11.1", 11 }, { "libcupti.so.11.0", 11 },
};

/* From a folder with a CUDA library: that one, a wheel's CUPTI beside the wheel's others (CUDA 11 and 12: a package for
 * each library; 13: one folder for all; seen from theirs, and from a framework's own), and a toolkit's. */
static const char *const neighbours[] = {
	"",
	"/../../cuda_cupti/lib",
	"/../nvidia/cuda_cupti/lib",
	"/../../nvidia/cuda_cupti/lib",
	"/../../cu13/lib",
	"/../nvidia/cu13/lib",
	"/../../nvidia/cu13/lib",
	"/../extras/CUPTI/lib64",
	"/../../../extras/CUPTI/lib64",
};

static const char *const in_toolkit[] = {
	"/extras/CUPTI/lib64",
	"/lib64",
	("/targets/" TARGET "/lib"),
	"/lib",
};

static const char *const in_system[] = { "" };

/* Folders of the distributions, and the roots of toolkits that carry no version in their name. */
static const char *const system_dirs[] = { ("/usr/lib/" MULTIARCH), "/usr/lib64", "/usr/lib" };
static const char *const toolkit_roots[] = { "/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda",
					     "/usr/lib/nvidia-cuda-toolkit" };

static bool starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

static bool is_cupti(const char *base)
{
	return starts_with(base, "libcupti.so");
}

bool find__is_driver(const char *base)
{
	return starts_with(base, "libcuda.so");
}

static bool is_cuda(const char *base)
{
	static const char *const libs[] = {
		"libcudart",     "libcublas",       "libcudnn",    "libcufft",    "libcurand",
		"libcusolver",   "libcusparse",     "libnvrtc",    "libnccl",     "libnvJitLink",
		"libnvToolsExt", "libtorch_cuda",   "libc10_cuda", "libcupti.so", "libnvjpeg",
		"libtensorflow", "xla_cuda_plugin",
	};

	for (size_t i = 0; i < LEN(libs); i++)
		if (starts_with(base, libs[i]))
			return true;
	return false;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

struct walk {
	find_filter *filter;
	size_t left;
	char *out;
	size_t size;
};

static int walk_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct walk *w = arg;

	(void)size;
	if (!info->dlpi_name || strlen(info->dlpi_name) >= w->size || !w->filter(base_of(info->dlpi_name)))
		return 0;
	if (w->left--)
		return 0;
	strcpy(w->out, info->dlpi_name);
	return 1;
}

bool find__in_process(size_t nth, find_filter *filter, char *out, size_t size)
{
	struct walk w = { filter, nth, out, size };

	return dl_iterate_phdr(walk_object, &w);
}

/* A list of folders, packed one behind the other. What finds no room in it is not searched. */
struct dirs {
	size_t used;
	char text[8192];
};

static void add_dir(struct dirs *d, const char *root, const char *dir, size_t len)
{
	size_t at = strlen(root), want = at + len + 1;
	char *to = d->text + d->used;

	if (!len || want > sizeof(d->text) - d->used)
		return;
	memcpy(to, root, at);
	memcpy(to + at, dir, len);
	to[at + len] = '\0';
	for (const char *have = d->text; have < to; have += strlen(have) + 1)
		if (!strcmp(have, to))
			return;
	d->used += want;
}

struct search {
	const struct find *f;
	find_visit *visit;
	void *arg;
	enum cupti_source source;
	int major;
	char path[CUPTI_PATH_MAX];
};

static int offer(struct search *s, const char *dir, const char *sub, const char *name)
{
	int n = snprintf(s->path, sizeof(s->path), "%s%s/%s", dir, sub, name);

	if (n < 0 || (size_t)n >= sizeof(s->path) || access(s->path, R_OK))
		return 0;
	return s->visit(s->path, s->source, s->arg);
}

/* The newest of all these folders first. */
static int in_dirs(struct search *s, const struct dirs *d, const char *const *subs, size_t nsubs)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < LEN(names); i++) {
		if (s->major && names[i].major > s->major)
			continue;
		for (const char *dir = d->text; !rc && dir < d->text + d->used; dir += strlen(dir) + 1)
			for (size_t k = 0; !rc && k < nsubs; k++)
				rc = offer(s, dir, subs[k], names[i].name);
	}
	return rc;
}

static int in_process(struct search *s)
{
	int rc = 0;

	for (size_t i = 0; !rc && s->f->mapped(i, is_cupti, s->path, sizeof(s->path)); i++)
		rc = s->visit(s->path, s->source, s->arg);
	return rc;
}

/* A file, or a folder, whose unversioned name will do as well: somebody chose it. */
static int in_setting(struct search *s, struct dirs *d)
{
	const char *setting = s->f->setting;
	struct stat st;
	int rc;

	if (stat(setting, &st) || !S_ISDIR(st.st_mode))
		return s->visit(setting, s->source, s->arg);
	add_dir(d, "", setting, strlen(setting));
	s->major = 0;
	rc = in_dirs(s, d, in_system, 1);
	return rc ? rc : offer(s, setting, "", "libcupti.so");
}

static void add_library_path(const struct find *f, struct dirs *d)
{
	/* The loader takes a semicolon too, and the working folder for an empty entry, which we leave alone. */
	for (const char *at = f->library_path; at && *at;) {
		size_t n = strcspn(at, ":;");

		add_dir(d, "", at, n);
		at += n + (at[n] != '\0');
	}
}

static void add_neighbours(struct search *s, struct dirs *d)
{
	for (size_t i = 0; s->f->mapped(i, is_cuda, s->path, sizeof(s->path)); i++) {
		const char *base = base_of(s->path);

		if (base > s->path + 1)
			add_dir(d, "", s->path, base - 1 - s->path);
	}
}

static void add_toolkits(const struct find *f, struct dirs *d)
{
	char path[CUPTI_PATH_MAX];
	struct dirent *e;
	DIR *dir;

	if (f->home)
		add_dir(d, "", f->home, strlen(f->home));
	for (size_t i = 0; i < LEN(toolkit_roots); i++)
		add_dir(d, f->root, toolkit_roots[i], strlen(toolkit_roots[i]));
	snprintf(path, sizeof(path), "%s/usr/local", f->root);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		int n = starts_with(e->d_name, "cuda-")
				? snprintf(path, sizeof(path), "/usr/local/%s", e->d_name)
				: 0;

		if (n > 0 && (size_t)n < sizeof(path))
			add_dir(d, f->root, path, n);
	}
	if (dir)
		closedir(dir);
}

static int in_loader(struct search *s)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < LEN(names); i++)
		if (!s->major || names[i].major <= s->major)
			rc = s->visit(names[i].name, s->source, s->arg);
	return rc;
}

/* One of the sources behind the setting. */
static int in_source(struct search *s, enum cupti_source source)
{
	struct dirs d;
	int rc;

	d.used = 0;
	s->source = source;
	switch (source) {
	case CUPTI_FROM_PROCESS:
		return in_process(s);
	case CUPTI_FROM_SETTING:
		return in_setting(s, &d);
	case CUPTI_FROM_LIBRARY_PATH:
		add_library_path(s->f, &d);
		return in_dirs(s, &d, in_system, LEN(in_system));
	case CUPTI_FROM_NEIGHBOUR:
		add_neighbours(s, &d);
		return in_dirs(s, &d, neighbours, LEN(neighbours));
	case CUPTI_FROM_TOOLKIT:
		add_toolkits(s->f, &d);
		rc = in_dirs(s, &d, in_toolkit, LEN(in_toolkit));
		d.used = 0;
		for (size_t i = 0; i < LEN(system_dirs); i++)
			add_dir(&d, s->f->root, system_dirs[i], strlen(system_dirs[i]));
		return rc ? rc : in_dirs(s, &d, in_system, LEN(in_system));
	case CUPTI_FROM_LOADER:
		return in_loader(s);
	}
	return 0;
}

int find__each(const struct find *f, find_visit *visit, void *arg)
{
	struct search s;
	int rc;

	s.f = f;
	s.major = f->major;
	s.visit = visit;
	s.arg = arg;
	rc = in_source(&s, CUPTI_FROM_PROCESS);
	if (rc)
		return rc;
	if (f->setting && *f->setting)
		return in_source(&s, CUPTI_FROM_SETTING);
	for (int source = CUPTI_FROM_LIBRARY_PATH; !rc && source <= CUPTI_FROM_LOADER; source++)
		rc = in_source(&s, source);
	return rc;
}
