// SPDX-License-Identifier: GPL-2.0-or-later
/* What the traced processes run: files by build id or content, scripts, variables that CUDA obeys, containers, MPS. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "attach/libfind.h"
#include "environment/gather.h"
#include "usdt/stapsdt.h"
#include "util/crc32c.h"
#include "util/file.h"

#define PROGRAMS_MAX 32
#define LIBRARIES_MAX 64
#define ARGS_MAX 64
#define HASHED_MAX (16u << 20)
#define ENDED "the process had ended before it could be looked at"

struct program {
	uint64_t dev, ino;
	uint32_t script; /* CRC of its name */
	char label[128];
};

struct library {
	uint64_t ino;
	char name[128]; /* without what stands behind ".so" */
	uint32_t path;  /* CRC */
};

struct env_programs {
	struct program program[PROGRAMS_MAX];
	struct library library[LIBRARIES_MAX];
	size_t nprograms, nlibraries;
	bool full, mps_known, container_known, first_known;
	char container[65];
};

/* One process while it is looked at. */
struct look {
	pid_t pid;
	struct env_programs *of;
	struct environment *e;
	char prefix[160];
	char exe[PATH_MAX];
	char *args, *env, *argv[ARGS_MAX];
	size_t nargs, nenv, argc;
};

int env_programs__new(struct env_programs **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void env_programs__free(struct env_programs *p)
{
	free(p);
}

bool env_build_id(const char *path, char hex[129])
{
	const struct usdt_opts o = { .debug_root = "" };
	struct usdt_file *f = NULL;
	const uint8_t *id;
	size_t n = 0;

	hex[0] = 0;
	if (usdt_file__open(path, &o, &f, NULL))
		return false;
	id = usdt_file__build_id(f, &n);
	for (size_t i = 0; id && i < n && i < 64; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	usdt_file__close(f);
	return hex[0];
}

int env_open_in(pid_t pid, const char *path, char open_path[64])
{
	char root[64];
	int fd;

	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	fd = libfind_open_below(root, path);
	if (fd >= 0)
		snprintf(open_path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static void put(struct look *l, const char *name, const char *value, const char *why, bool per_run)
{
	char full[256];

	snprintf(full, sizeof(full), "%s%s", l->prefix, name);
	environment__add(l->e, "workload", full, value, why, per_run);
}

static void put_time(struct look *l, const char *name, time_t t)
{
	struct tm tm;
	char text[40];

	if (gmtime_r(&t, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		put(l, name, text, NULL, true);
}

/* What tells a file from another of its name. */
static void put_identity(struct look *l, const char *name, const char *path, const struct stat *st, bool elf)
{
	char text[192], hex[129], *data;
	size_t n;
	int e = 0;

	if (elf && env_build_id(path, hex)) {
		snprintf(text, sizeof(text), "build id %s, %lld bytes", hex, (long long)st->st_size);
	} else {
		e = file_read_all(path, HASHED_MAX, &data, &n);
		if (!e) {
			snprintf(text, sizeof(text), "CRC-32C %08x, %zu bytes", crc32c(0, data, n), n);
			free(data);
		}
	}
	put(l, name, e ? NULL : text, e == -EFBIG ? "larger than 16 MiB: not read" : strerror(-e), false);
}

static void executable(struct look *l, const char *path, const struct stat *st)
{
	put(l, "executable", l->exe, NULL, false);
	put_identity(l, "executable identity", path, st, true);
	put_time(l, "executable modified", st->st_mtime);
}

/* As the process sees it, from its working directory. */
static bool absolute(const struct look *l, const char *name, char out[PATH_MAX])
{
	char link[64], cwd[PATH_MAX];
	ssize_t n;

	if (name[0] == '/')
		return (size_t)snprintf(out, PATH_MAX, "%s", name) < PATH_MAX;
	snprintf(link, sizeof(link), "/proc/%d/cwd", l->pid);
	n = readlink(link, cwd, sizeof(cwd) - 1);
	if (n <= 0)
		return false;
	cwd[n] = 0;
	return (size_t)snprintf(out, PATH_MAX, "%s/%s", cwd, name) < PATH_MAX;
}

static void script_file(struct look *l, const char *name)
{
	char path[PATH_MAX], open_path[64];
	struct stat st;
	int fd = absolute(l, name, path) ? env_open_in(l->pid, path, open_path) : -ESRCH;

	put(l, "script", name, NULL, false);
	if (fd >= 0 && !stat(open_path, &st) && S_ISREG(st.st_mode)) {
		put_identity(l, "script identity", open_path, &st, false);
		put_time(l, "script modified", st.st_mtime);
	} else {
		put(l, "script identity", NULL,
		    fd >= 0        ? "it is no regular file: not read"
		    : fd == -ESRCH ? ENDED
				   : strerror(-fd),
		    false);
	}
	if (fd >= 0)
		close(fd);
}

/* Of the first process always: the program that it becomes must not keep the script of the one before. */
static void script(struct look *l, bool first)
{
	const char *what, *identity = NULL, *why = NULL;
	char text[256];

	switch (env_script_of(l->exe, l->argv, l->argc, &what)) {
	case ENV_SCRIPT_FILE:
		script_file(l, what);
		return;
	case ENV_NO_INTERPRETER:
		if (!first)
			return;
		identity = "none";
		snprintf(text, sizeof(text), "none");
		break;
	case ENV_SCRIPT_MODULE:
		snprintf(text, sizeof(text), "module %.200s", what ? what : "");
		why = "a module is looked for by the interpreter: which file it found is not known here";
		break;
	case ENV_SCRIPT_INLINE:
		snprintf(text, sizeof(text), "on the command line");
		identity = "the command line";
		break;
	case ENV_SCRIPT_INPUT:
		snprintf(text, sizeof(text), "standard input");
		why = "it is read from standard input";
		break;
	}
	put(l, "script", text, NULL, false);
	put(l, "script identity", identity, why, false);
	put(l, "script modified", NULL, "there is no file", true);
}

static const char *variable(const struct look *l, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = l->env; l->env && p < l->env + l->nenv; p += strlen(p) + 1)
		if (!strncmp(p, name, n) && p[n] == '=')
			return p + n + 1;
	return NULL;
}

/* As the process was started with; what it set itself is not seen. */
static void variables(struct look *l, bool first)
{
	static const char *const names[] = {
		"CUDA_VISIBLE_DEVICES",
		"CUDA_DEVICE_ORDER",
		"CUDA_LAUNCH_BLOCKING",
		"CUDA_MODULE_LOADING",
		"CUDA_CACHE_DISABLE",
		"CUDA_DEVICE_MAX_CONNECTIONS",
		"CUDA_FORCE_PTX_JIT",
		"CUDA_DISABLE_PERF_BOOST",
		"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
		"CUDA_MPS_PIPE_DIRECTORY",
		"NVIDIA_TF32_OVERRIDE",
		"NCCL_ALGO",
		"NCCL_PROTO",
		"OMP_NUM_THREADS",
		"PYTORCH_CUDA_ALLOC_CONF",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = variable(l, names[i]);
		char cut[512];

		snprintf(cut, sizeof(cut), "%s", value ? value : "not set");
		if (value || (first && l->env))
			put(l, names[i], cut, NULL, false);
		else if (first)
			put(l, names[i], NULL, ENDED, false);
	}
}

/* Whether it would be a client of a daemon: by the pipe that CUDA looks for. */
static void mps(struct look *l)
{
	const char *dir = variable(l, "CUDA_MPS_PIPE_DIRECTORY");
	char path[PATH_MAX], open_path[64];
	int fd;

	if (!l->env) {
		environment__add(l->e, "device", "MPS", NULL, ENDED, false);
		return;
	}
	dir = dir && *dir ? dir : "/tmp/nvidia-mps";
	snprintf(path, sizeof(path), "%.3900s/control", dir);
	fd = env_open_in(l->pid, path, open_path);
	if (fd >= 0 || fd == -ENOENT || fd == -ENOTDIR)
		environment__addf(l->e, "device", "MPS", false,
				  fd >= 0 ? "a control daemon's pipe in %.400s"
					  : "no control daemon's pipe in %.400s",
				  dir);
	else
		environment__add(l->e, "device", "MPS", NULL, strerror(-fd), false);
	if (fd >= 0)
		close(fd);
	l->of->mps_known = true;
}

static void container(struct look *l, bool first)
{
	struct env_programs *p = l->of;
	char path[64], id[65] = "", *text = NULL;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", l->pid);
	if (!file_read_all(path, 1u << 20, &text, &n))
		env_container_id(text, id);
	if (first || !p->container_known || strcmp(id, p->container) != 0) {
		env_container(l->e, l->prefix, text, "");
		p->container_known = true;
		memcpy(p->container, id, sizeof(id));
	}
	free(text);
}

static void read_arguments(struct look *l)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cmdline", l->pid);
	if (!file_read_all(path, 1u << 20, &l->args, &l->nargs))
		for (size_t at = 0; at < l->nargs && l->argc < ARGS_MAX; at += strlen(l->args + at) + 1)
			l->argv[l->argc++] = l->args + at;
}

static void read_variables(struct look *l)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/environ", l->pid);
	/* of one that has ended it is empty */
	if (!file_read_all(path, 16u << 20, &l->env, &l->nenv) && !l->nenv) {
		free(l->env);
		l->env = NULL;
	}
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* True: it is a new one. */
static bool remember(struct look *l, const struct stat *st, bool first)
{
	struct env_programs *p = l->of;
	struct program *new = &p->program[p->nprograms];
	const char *what;
	unsigned same = 1;

	env_script_of(l->exe, l->argv, l->argc, &what);
	for (size_t i = 0; i < p->nprograms; i++) {
		struct program *is = &p->program[i];

		if (is->dev == st->st_dev && is->ino == st->st_ino &&
		    is->script == crc32c(0, what ? what : "", what ? strlen(what) : 0))
			return false;
	}
	if (p->nprograms == PROGRAMS_MAX) {
		if (!p->full)
			environment__add(l->e, "workload", "more programs", NULL,
					 "32 different ones were looked at, and no more", false);
		p->full = true;
		return false;
	}
	new->dev = st->st_dev;
	new->ino = st->st_ino;
	new->script = crc32c(0, what ? what : "", what ? strlen(what) : 0);
	snprintf(new->label, sizeof(new->label), "%.60s%s%.60s", base_of(l->exe), what ? " " : "",
		 what ? base_of(what) : "");
	for (size_t i = 0; i < p->nprograms; i++)
		same += !strcmp(p->program[i].label, new->label);
	if (first)
		l->prefix[0] = 0;
	else if (same > 1)
		snprintf(l->prefix, sizeof(l->prefix), "%s (%u): ", new->label, same);
	else
		snprintf(l->prefix, sizeof(l->prefix), "%s: ", new->label);
	p->nprograms++;
	return true;
}

/* Nothing can be read of it. */
static void unknown_first(struct look *l, int error)
{
	const char *why = error == EACCES || error == EPERM ? strerror(error) : ENDED;

	put(l, "executable", NULL, why, false);
	put(l, "executable identity", NULL, why, false);
	environment__add(l->e, "device", "MPS", NULL, why, false);
	env_container(l->e, "", NULL, "");
}

static void take_in(struct look *l, const char *path, const struct stat *st, bool first)
{
	read_variables(l);
	executable(l, path, st);
	script(l, first);
	variables(l, first);
	if (!l->of->mps_known)
		mps(l);
	container(l, first);
	l->of->first_known |= first;
}

bool env_programs__look(struct env_programs *p, pid_t pid, bool first, struct environment *e)
{
	struct look l = { .pid = pid, .of = p, .e = e };
	char path[64];
	struct stat st;
	ssize_t n;
	bool known;
	int error;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, l.exe, sizeof(l.exe) - 1);
	error = n < 0 ? errno : 0;
	l.exe[n > 0 ? n : 0] = 0;
	if (n > 0)
		read_arguments(&l);
	/* while exec is at work, the program is there before its arguments are */
	known = l.argc && !stat(path, &st);
	if (known && remember(&l, &st, first))
		take_in(&l, path, &st, first);
	else if (!known && first && !p->first_known)
		unknown_first(&l, error);
	free(l.args);
	free(l.env);
	return known;
}

/* ---- CUDA's libraries ---- */

bool env_is_library(const char *path)
{
	static const char *const names[] = {
		"libcudart.so", "libcublas",       "libcudnn",       "libnccl.so",
		"libcufft.so",  "libcusparse.so",  "libcusolver.so", "libcurand.so",
		"libnvrtc.so",  "libnvJitLink.so", "libcupti.so",    "libnvinfer.so",
	};
	const char *base = base_of(path);

	if (strncmp(base, "lib", 3) != 0 || !strstr(base, ".so"))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(base, names[i], strlen(names[i])))
			return true;
	return false;
}

static void describe_library(struct environment *e, const char *name, const char *path, const char *open_path)
{
	char hex[129], full[160];

	if (open_path && env_build_id(open_path, hex))
		environment__addf(e, "runtime", name, false, "%s, build id %s", base_of(path), hex);
	else
		environment__addf(e, "runtime", name, false, "%s, %s", base_of(path),
				  open_path ? "no build id" : "its build id could not be read");
	snprintf(full, sizeof(full), "%s path", name);
	environment__add(e, "runtime", full, path, NULL, true);
}

/* True: it is a new one, called `name`. */
static bool new_library(struct env_programs *p, const char *path, uint64_t ino, char name[160])
{
	struct library *new = &p->library[p->nlibraries];
	const char *base = base_of(path);
	uint32_t crc = crc32c(0, path, strlen(path));
	unsigned same = 1;

	for (size_t i = 0; i < p->nlibraries; i++)
		if (p->library[i].ino == ino && p->library[i].path == crc)
			return false;
	if (p->nlibraries == LIBRARIES_MAX)
		return false;
	new->ino = ino;
	new->path = crc;
	snprintf(new->name, sizeof(new->name), "%.*s", (int)(strstr(base, ".so") - base), base);
	for (size_t i = 0; i < p->nlibraries; i++)
		same += !strcmp(p->library[i].name, new->name);
	snprintf(name, 160, same > 1 ? "%s %u" : "%s", new->name, same);
	p->nlibraries++;
	return true;
}

bool env_programs__library(struct env_programs *p, pid_t pid, const char *path, uint64_t ino,
			   struct environment *e)
{
	char name[160], open_path[64];
	int fd;

	if (!new_library(p, path, ino, name))
		return false;
	fd = env_open_in(pid, path, open_path);
	describe_library(e, name, path, fd < 0 ? NULL : open_path);
	if (fd >= 0)
		close(fd);
	return true;
}

bool env_programs__libraries(struct env_programs *p, pid_t pid, struct environment *e)
{
	struct liblist l = { 0 };
	char name[160];
	bool added = false;

	libfind_mapped_files(&l, pid, env_is_library);
	for (size_t i = 0; i < l.n; i++) {
		if (!new_library(p, l.files[i].path, l.files[i].ino, name))
			continue;
		describe_library(e, name, l.files[i].path, l.files[i].open_path);
		added = true;
	}
	liblist_free(&l);
	return added;
}

void env_programs__finish(struct env_programs *p, bool watched, struct environment *e)
{
	if (p->nlibraries)
		return;
	environment__add(e, "runtime", "CUDA libraries", watched ? "none mapped" : NULL,
			 "the kernel told of no mappings, and none was found when they were looked for",
			 false);
}
