/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which libcuda files are probed, and what the capture says of each. */
#include "record/recorder_priv.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "environment/gather.h"
#include "record/describe.h"
#include "record/shimfile.h"

/* Probes one file. `late_tgid`: a process that has it mapped already and may have called it; 0: none. */
static int probe_library(struct recorder *r, struct libfile *f, uint32_t late_tgid, struct err *err)
{
	pid_t only = !r->o->follow && r->o->npids == 1 ? r->o->pids[0] : 0;
	struct attach_result res;
	uint64_t t0 = recorder_now();
	int e = attach__library(r->attach, f->open_path, r->tab, only, &res, err);

	if (e)
		return e;
	f->probed_ns = recorder_now();
	r->res->attach_ns += f->probed_ns - t0;
	for (size_t i = 0; i < res.syms.n && !e; i++) {
		const struct api *a = apitab__get(r->tab, (uint32_t)i);

		e = apitab__add(r->armed, res.first_id + (uint32_t)i, a->symbol, a->kind, a->signature,
				a->legacy32);
	}
	if (!e)
		e = describe_library(r, f, &res, err);
	if (!e)
		r->res->libraries++;
	if (!e && late_tgid && !r->mmaps) { /* nothing tells when it was mapped */
		char text[512];

		snprintf(
			text, sizeof(text),
			"process %u loaded %s, which nobody had looked for: its calls until now were not seen",
			late_tgid, f->path);
		r->late_libraries++;
		recorder_note(r, "late_library", text, late_tgid);
		recorder_say(r, "%s", text);
	}
	attach_result_free(&res);
	return e;
}

/* The command as execvp() will find it. */
static bool find_command(const char *name, char *out, size_t size)
{
	const char *path = getenv("PATH");
	char tried[PATH_MAX];

	if (strchr(name, '/'))
		return realpath(name, tried) && (size_t)snprintf(out, size, "%s", tried) < size;
	for (path = path ? path : "/bin:/usr/bin"; *path; path += strcspn(path, ":"), path += *path == ':') {
		int len = (int)strcspn(path, ":");

		if ((size_t)snprintf(tried, sizeof(tried), "%.*s/%s", len, path, name) < sizeof(tried) &&
		    !access(tried, X_OK))
			return realpath(tried, out) != NULL;
	}
	return false;
}

/* The child that waits has our environment, directory and root. */
static void find_for_command(struct recorder *r)
{
	char exe[PATH_MAX], cwd[PATH_MAX];
	bool known = find_command(r->o->command[0], exe, sizeof(exe));

	libfind_candidates(&r->libs, "", getcwd(cwd, sizeof(cwd)), getenv("LD_LIBRARY_PATH"),
			   known ? exe : NULL);
}

/* What a target has mapped; that it cannot be looked at ends the recording, whichever observer is wanted. */
static int find_in_target(struct recorder *r, struct liblist *libs, pid_t pid)
{
	int e = libfind_mapped(libs, pid);

	if (e == -ESRCH)
		return err_set(r->err, e, "process %d is gone", pid);
	if (e == -EACCES || e == -EPERM)
		return err_set(r->err, e,
			       "not allowed to look at process %d; run as root, or with CAP_SYS_PTRACE", pid);
	return 0;
}

static int find_all(struct recorder *r)
{
	const struct recorder_opts *o = r->o;
	int e = 0;

	for (size_t i = 0; i < o->nlibcuda && !e; i++)
		e = libfind_add(&r->libs, o->libcuda[i], o->libcuda[i], false, false, r->err);
	if (e)
		return e;
	for (size_t i = 0; i < o->npids; i++) {
		size_t before = r->libs.n;

		e = find_in_target(r, &r->libs, o->pids[i]);
		if (e)
			return e;
		/* one that has not loaded it yet; children may load another than their parent has */
		if (r->libs.n == before || o->follow)
			libfind_process_candidates(&r->libs, o->pids[i]);
	}
	if (o->system)
		libfind_candidates(&r->libs, "", NULL, getenv("LD_LIBRARY_PATH"), NULL);
	if (o->command)
		find_for_command(r);
	if (o->system)
		libfind_all_mapped(&r->libs);
	return 0;
}

/* --no-host: the capture says itself that nothing stood in libcuda, and that it was meant. */
static int leave_out(struct recorder *r)
{
	struct liblist libs = { 0 };
	int e = 0;

	for (size_t i = 0; i < r->o->npids && !e; i++)
		e = find_in_target(r, &libs, r->o->pids[i]);
	liblist_free(&libs);
	return e ? e
		 : recorder_note(r, "host_left_out",
				 "the host observer was left out (--no-host): no probe stood in libcuda", 0);
}

/* A file that some loader might pick may be no driver (a stub, another machine's): that is said, not fatal. A
 * file that a target has mapped, or that the user named, must work. */
int recorder_libraries(struct recorder *r)
{
	size_t named = r->o->nlibcuda;
	int e;

	if (r->o->no_host)
		return leave_out(r);
	e = find_all(r);
	for (size_t i = 0; i < r->libs.n && !e; i++) {
		struct libfile *f = &r->libs.files[i];
		struct err why = { "" };

		e = probe_library(r, f, 0, &why);
		if (!e)
			continue;
		if (f->mapped || i < named)
			return err_set(r->err, e, "%s", why.msg[0] ? why.msg : strerror(-e));
		recorder_note(r, "library_skipped", why.msg, 0);
		e = 0;
	}
	if (!e && !r->res->libraries) {
		const char *text = "no libcuda found yet: it is probed as soon as a traced process maps one";

		recorder_note(r, "library_unknown", text, 0);
		recorder_say(r, "%s", text);
	}
	return e;
}

static void look_at(struct recorder *r, pid_t pid)
{
	size_t before = r->libs.n;

	if (r->o->no_host)
		return;
	libfind_mapped(&r->libs, pid);
	for (size_t i = before; i < r->libs.n; i++) {
		struct err why = { "" };
		int e = probe_library(r, &r->libs.files[i], (uint32_t)pid, &why);

		if (!e)
			continue;
		recorder_note(r, "library_refused", why.msg, (uint32_t)pid);
		recorder_say(r, "calls of process %d into %s are not seen: %s", pid, r->libs.files[i].path,
			     why.msg);
	}
}

static bool searched_before(struct recorder *r, uint64_t key)
{
	size_t room = sizeof(r->searched) / sizeof(r->searched[0]);

	for (size_t i = 0; i < r->nsearched && i < room; i++) {
		if (r->searched[i] == key)
			return true;
	}
	r->searched[r->nsearched++ % room] = key;
	return false;
}

void recorder_execed(struct recorder *r)
{
	for (size_t k = 0; k < r->nexeced && !r->o->no_host; k++) {
		uint64_t key = libfind_process_key(r->execed[k]);
		size_t before = r->libs.n;

		if (!key || searched_before(r, key))
			continue;
		libfind_process_candidates(&r->libs, r->execed[k]);
		libfind_mapped(&r->libs, r->execed[k]);
		for (size_t i = before; i < r->libs.n; i++) {
			struct libfile *f = &r->libs.files[i];
			struct err why = { "" };

			if (probe_library(r, f, f->mapped ? (uint32_t)r->execed[k] : 0, &why))
				recorder_note(r, f->mapped ? "library_refused" : "library_skipped", why.msg,
					      (uint32_t)r->execed[k]);
		}
	}
	r->nexeced = 0;
}

static const struct libfile *find_library(const struct recorder *r, const struct mmapwatch_event *ev)
{
	for (size_t i = 0; i < r->libs.n; i++) {
		if (r->libs.files[i].ino == ev->ino || strcmp(r->libs.files[i].path, ev->path) == 0)
			return &r->libs.files[i];
	}
	return NULL;
}

bool recorder_wants_file(const char *path)
{
	return libfind_is_libcuda(path) || shimfile_is_shim(path) || env_is_library(path);
}

/* Every mapping is held against when the probes stood: what was called in between is missing, and that is said. */
void recorder_mapped(const struct mmapwatch_event *ev, void *arg)
{
	struct recorder *r = arg;
	const struct libfile *f = find_library(r, ev);
	const char *how;
	char text[512];

	if (!r->o->system && !procinfo__has_view(r->procs, ev->view_pid))
		return;
	if (env_is_library(ev->path)) {
		recorder_environment_library(r, ev);
		return;
	}
	if (shimfile_is_shim(ev->path)) {
		recorder_shim_look(r, ev->view_pid);
		return;
	}
	recorder_environment_process(r, ev->view_pid);
	if (r->o->no_host)
		return;
	if (!f) {
		look_at(r, ev->view_pid);
		f = find_library(r, ev);
	}
	if (f && (!f->probed_ns || f->probed_ns <= ev->time))
		return; /* a refused one has its own note */
	how = f ? "a moment before it was probed: its first calls may be missing"
		: "and ended before it could be probed: its calls were not seen";
	snprintf(text, sizeof(text), "process %d loaded %.256s %s", ev->view_pid, ev->path, how);
	r->late_libraries++;
	recorder_note(r, f ? "late_library" : "library_missed", text, (uint32_t)ev->view_pid);
	recorder_say(r, "%s", text);
}

static void scan_one(pid_t view_pid, void *arg)
{
	look_at(arg, view_pid);
	recorder_shim_look(arg, view_pid);
}

void recorder_scan(struct recorder *r)
{
	procinfo__each_live(r->procs, scan_one, r);
}
