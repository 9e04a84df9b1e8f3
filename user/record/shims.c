/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which files of the shim are attached to, and for whom. A launched command gets a private copy, an inode of its own
 * that only it and its children map; of live processes it is attached to in each one alone, since the same file may
 * stand idle in many others; -a attaches for all.
 */
#include "record/recorder_priv.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/shimfile.h"
#include "util/file.h"

#define HOW_TO_GET_BOTH                                                                                      \
	"; for GPU times too, launch it by `gpubpf record -- COMMAND`, or start it with the environment of `gpubpf shim env`"

/* What is left where there is no shim. */
static const char *alone(const struct recorder *r)
{
	return r->o->no_host ? "nothing is recorded, since --no-host leaves the other one out"
			     : "the host observer is on its own";
}

struct shims {
	struct shim_file {
		uint64_t dev, ino;
		pid_t only; /* 0: every process */
	} * files;
	size_t n;
	char copy[PATH_MAX];                                            /* the private one; empty: none */
	char injection[PATH_MAX + 32], kinds[256], nvtx[PATH_MAX + 32]; /* for the command's environment */
	const char *env[8];
	size_t nenv;
	const char *nvtx_taken; /* another tool's library for NVTX, of our environment */
	char taken[PATH_MAX];   /* another tool's injection library; empty: none */
	struct err why;         /* no private copy could be made */
};

static struct shims *shims_of(struct recorder *r)
{
	if (!r->shims)
		r->shims = calloc(1, sizeof(*r->shims));
	return r->shims;
}

bool recorder_wants_shim(const struct recorder *r)
{
	return !r->o->no_shim;
}

static void take_nvtx(struct recorder *r, struct shims *s)
{
	const char *set = getenv(SHIMFILE_NVTX);

	if (!strstr(r->o->cupti_kinds, "nvtx"))
		return;
	s->nvtx_taken = set && *set && !shimfile_has_probes(set) ? set : NULL;
	if (s->nvtx_taken)
		return; /* said once there is a file to say it in */
	snprintf(s->nvtx, sizeof(s->nvtx), SHIMFILE_NVTX "=%s", s->copy);
	s->env[s->nenv++] = s->nvtx;
}

static int make_copy(struct recorder *r, struct shims *s)
{
	struct shimfile_image image = *r->o->shim_image;
	int e = 0;

	if (r->o->shim_path) {
		e = shimfile_read(r->o->shim_path, &image, r->err);
		if (e)
			return e;
	}
	e = shimfile_temporary(&image, s->copy, sizeof(s->copy), &s->why);
	if (r->o->shim_path)
		free((void *)image.data);
	if (e)
		return 0; /* said once there is a file to say it in */
	snprintf(s->injection, sizeof(s->injection), SHIMFILE_INJECTION "=%s", s->copy);
	s->env[s->nenv++] = s->injection;
	if (r->o->cupti_kinds) {
		snprintf(s->kinds, sizeof(s->kinds), SHIMFILE_KINDS "=%s", r->o->cupti_kinds);
		s->env[s->nenv++] = s->kinds;
		take_nvtx(r, s);
	}
	return recorder_gate_env(r, &s->env[s->nenv]);
}

int recorder_shim_prepare(struct recorder *r)
{
	const char *set = getenv(SHIMFILE_INJECTION);
	struct shims *s;

	if (!recorder_wants_shim(r) || !r->o->command)
		return 0;
	s = shims_of(r);
	if (!s)
		return -ENOMEM;
	/* an idle shim of ours gives way to the private copy, which fits this recorder and is in nobody else */
	if (set && *set && !shimfile_has_probes(set)) {
		snprintf(s->taken, sizeof(s->taken), "%s", set);
		return 0;
	}
	return make_copy(r, s);
}

const char *const *recorder_shim_env(const struct recorder *r)
{
	static const char *const none[] = { NULL };

	return r->shims ? r->shims->env : none;
}

static bool attached_already(const struct shims *s, const struct libfile *f, pid_t only)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->files[i].dev == f->dev && s->files[i].ino == f->ino &&
		    (!s->files[i].only || s->files[i].only == only))
			return true;
	}
	return false;
}

static int remember(struct shims *s, const struct libfile *f, pid_t only)
{
	struct shim_file *grown = realloc(s->files, (s->n + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	s->files = grown;
	s->files[s->n++] = (struct shim_file){ f->dev, f->ino, only };
	return 0;
}

static int describe(struct recorder *r, const struct libfile *f, const struct attach_shim_result *res,
		    pid_t only, const char *origin)
{
	Gpubpf__Meta m = GPUBPF__META__INIT;
	Gpubpf__Shim shim = GPUBPF__SHIM__INIT, *shims = &shim;

	shim.path = f->path;
	shim.opened_as = f->open_path;
	shim.has_dev = shim.has_ino = shim.has_attached_ns = shim.has_sites = true;
	shim.dev = res->dev;
	shim.ino = res->ino;
	shim.attached_ns = recorder_now();
	shim.sites = (uint32_t)res->sites;
	shim.has_build_id = res->build_id_len != 0;
	shim.build_id.len = res->build_id_len;
	shim.build_id.data = (uint8_t *)res->build_id;
	shim.has_view_pid = only != 0;
	shim.view_pid = (uint32_t)only;
	shim.origin = (char *)origin;
	m.shim = &shims;
	m.n_shim = 1;
	return capture_writer__meta(r->writer, &m, r->err);
}

/* A file that cannot be attached to is remembered too: once is enough to say it. */
static int attach_file(struct recorder *r, const struct libfile *f, pid_t only, const char *origin,
		       struct err *err)
{
	struct attach_shim_result res;
	uint64_t t0 = recorder_now();
	int e = remember(r->shims, f, only);

	if (!e)
		e = attach__shim(r->attach, f->open_path, f->path, only, &res, err);
	r->res->attach_ns += recorder_now() - t0;
	if (e)
		return e;
	r->res->shims++;
	return describe(r, f, &res, only, origin);
}

/* Attaches to what is not attached to yet; says what cannot be. */
static void attach_list(struct recorder *r, const struct liblist *l, pid_t only, const char *origin)
{
	for (size_t i = 0; i < l->n; i++) {
		struct err why = { "" };
		int e;

		if (attached_already(r->shims, &l->files[i], only))
			continue;
		e = attach_file(r, &l->files[i], only, origin, &why);
		if (!e)
			continue;
		recorder_note(r, "shim_refused", why.msg[0] ? why.msg : strerror(-e), (uint32_t)only);
		recorder_say(r, "no GPU times from %s: %s", l->files[i].path,
			     why.msg[0] ? why.msg : strerror(-e));
	}
}

/* One the user named must work. */
static int attach_named(struct recorder *r, pid_t only)
{
	struct liblist l = { 0 };
	struct err why = { "" };
	int e = libfind_add(&l, r->o->shim_path, r->o->shim_path, false, false, r->err);

	if (!e && !attached_already(r->shims, &l.files[0], only)) {
		e = attach_file(r, &l.files[0], only, "named", &why);
		if (e)
			err_set(r->err, e, "%s", why.msg[0] ? why.msg : strerror(-e));
	}
	liblist_free(&l);
	return e;
}

static void add_file(struct liblist *l, const char *path)
{
	if (path && *path)
		libfind_add(l, path, path, false, false, NULL);
}

static void attach_copy(struct recorder *r)
{
	struct shims *s = r->shims;
	struct liblist l = { 0 };
	char text[2 * PATH_MAX];

	if (s->taken[0]) {
		snprintf(text, sizeof(text),
			 SHIMFILE_INJECTION " is set to %s, another tool's: it is left alone, and %s",
			 s->taken, alone(r));
		recorder_note(r, "injection_taken", text, 0);
		recorder_say(r, "%s; unset it for GPU times", text);
	} else if (!s->copy[0]) {
		recorder_note(r, "no_shim", s->why.msg, 0);
		recorder_say(r, "no GPU times: %s", s->why.msg);
	} else {
		add_file(&l, s->copy);
		attach_list(r, &l, 0, "launched");
		liblist_free(&l);
	}
	if (s->nvtx_taken) {
		snprintf(text, sizeof(text),
			 SHIMFILE_NVTX
			 " is set to %s, another tool's: it is left alone, and NVTX is not recorded",
			 s->nvtx_taken);
		recorder_note(r, "nvtx_taken", text, 0);
		recorder_say(r, "%s; unset it for --cupti nvtx", text);
	}
}

/* The injection library that a process was started with, if it is a shim, as we can open it. */
static bool env_of_process(pid_t pid, char *seen, char *open_path, size_t size)
{
	const char *name = SHIMFILE_INJECTION "=";
	char path[64], *env;
	bool found = false;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	if (file_read_all(path, 16u << 20, &env, &n))
		return false;
	for (char *p = env; p < env + n && !found; p += strlen(p) + 1) {
		if (strncmp(p, name, strlen(name)) != 0 || p[strlen(name)] != '/')
			continue;
		found = (size_t)snprintf(seen, size, "%s", p + strlen(name)) < size &&
			(size_t)snprintf(open_path, size, "/proc/%d/root%s", pid, seen) < size &&
			shimfile_has_probes(open_path);
	}
	free(env);
	return found;
}

/* True when the process has a shim, or will load one. */
static bool attach_process(struct recorder *r, pid_t pid, const char *origin)
{
	char seen[PATH_MAX], open_path[PATH_MAX];
	struct liblist l = { 0 };
	bool any;

	libfind_mapped_files(&l, pid, shimfile_is_shim);
	if (!l.n && env_of_process(pid, seen, open_path, sizeof(seen)))
		libfind_add(&l, seen, open_path, false, false, NULL);
	any = l.n != 0;
	attach_list(r, &l, pid, origin);
	liblist_free(&l);
	return any;
}

static int attach_pids(struct recorder *r)
{
	char text[512];
	int e = 0;

	for (size_t i = 0; i < r->o->npids && !e; i++) {
		pid_t pid = r->o->pids[i];

		if (r->o->shim_path) {
			e = attach_named(r, pid);
		} else if (!attach_process(r, pid, "mapped")) {
			snprintf(text, sizeof(text), "process %d runs without the shim: %s" HOW_TO_GET_BOTH,
				 pid, alone(r));
			recorder_note(r, "no_shim", text, (uint32_t)pid);
			recorder_say(r, "%s", text);
		}
	}
	return e;
}

static int attach_system(struct recorder *r)
{
	const char *set = getenv(SHIMFILE_INJECTION);
	struct liblist mapped = { 0 }, installed = { 0 };
	char path[PATH_MAX];
	bool same;
	int e = r->o->shim_path ? attach_named(r, 0) : 0;

	libfind_all_mapped_files(&mapped, shimfile_is_shim);
	attach_list(r, &mapped, 0, "mapped");
	/* what is not in use yet will be armed inside its first cuInit */
	if (shimfile_installed(NULL, path, sizeof(path), &same))
		add_file(&installed, path);
	if (set && shimfile_has_probes(set))
		add_file(&installed, set);
	attach_list(r, &installed, 0, "installed");
	liblist_free(&mapped);
	liblist_free(&installed);
	if (!e && !r->res->shims) {
		char text[512];

		snprintf(
			text, sizeof(text),
			"no process has the shim, and it is not installed: %s; for GPU "
			"times too, `gpubpf shim install` and start the applications with the environment of `gpubpf shim env`",
			alone(r));
		recorder_note(r, "no_shim", text, 0);
		recorder_say(r, "%s", text);
	}
	return e;
}

int recorder_shims(struct recorder *r)
{
	if (!recorder_wants_shim(r))
		return 0;
	if (!shims_of(r))
		return -ENOMEM;
	if (r->o->command)
		attach_copy(r);
	else if (r->o->system)
		return attach_system(r);
	return attach_pids(r);
}

void recorder_shim_look(struct recorder *r, pid_t view_pid)
{
	struct liblist l = { 0 };

	if (!recorder_wants_shim(r) || !r->shims)
		return;
	libfind_mapped_files(&l, view_pid, shimfile_is_shim);
	attach_list(r, &l, r->o->system ? 0 : view_pid, "mapped");
	liblist_free(&l);
}

void recorder_shims_free(struct recorder *r)
{
	struct shims *s = r->shims;

	if (!s)
		return;
	/* a command that outlives us may start programs that still look for it */
	if (s->copy[0] && (!r->launch.pid || r->launch.reaped))
		unlink(s->copy);
	else if (s->copy[0])
		recorder_say(r, "the command still runs: %s stays for it", s->copy);
	free(s->files);
	free(s);
	r->shims = NULL;
}
