/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device observer's library: inside this program, installed, and in processes. None of it is needed to record. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "attach/attach.h"
#include "attach/libfind.h"
#include "doctor/doctor.h"
#include "record/shimfile.h"
#include "usdt/stapsdt.h"
#include "util/err.h"

static void hex_of(const uint8_t *id, size_t n, char *out, size_t size)
{
	out[0] = 0;
	for (size_t i = 0; i < n && 2 * i + 2 < size; i++)
		snprintf(out + 2 * i, size - 2 * i, "%02x", id[i]);
}

static void check_inside(struct doctor *d, const struct shimfile_image *image)
{
	struct usdt_err why = { "" };
	struct err err = { "" };
	struct usdt_file *f = NULL;
	struct finding *x;
	char id[48] = "";
	size_t n = 0;
	int e = usdt_file__open_memory("the shim inside this program", image->data, image->size, &f, &why);

	if (!e) {
		const uint8_t *bytes = usdt_file__build_id(f, &n);

		hex_of(bytes, bytes ? n : 0, id, sizeof(id));
		e = attach_shim_check(f, "the shim inside this program", &err);
	}
	if (e) {
		x = doctor__add(d, FINDING_MISSING, false, "shim", NULL, "%s",
				why.msg[0] ? why.msg : err.msg);
		finding__advise(
			x, "take a whole gpubpf; until then only the host observer works (record --no-shim)");
	} else {
		doctor__add(
			d, FINDING_OK, false, "shim",
			json_pack("{s:I, s:s}", "bytes", (json_int_t)image->size, "build_id", id),
			"inside this program, %zu bytes, its probes conform; a launched command gets a copy",
			image->size);
	}
	usdt_file__close(f);
}

static void check_installed(struct doctor *d, const struct shimfile_image *image)
{
	char path[PATH_MAX];
	struct finding *x;
	bool same;

	if (!shimfile_installed(image, path, sizeof(path), &same)) {
		x = doctor__add(d, FINDING_OK, false, "shim-file", json_pack("{s:b}", "installed", 0),
				"not installed: live processes show their GPU's side only where it is");
		finding__advise(
			x, "`gpubpf shim install`, and start jobs with the environment of `gpubpf shim env`");
		return;
	}
	x = doctor__add(d, same ? FINDING_OK : FINDING_DEGRADED, false, "shim-file",
			json_pack("{s:b, s:s, s:b}", "installed", 1, "path", path, "same", same), "%s, %s",
			path,
			same ? "the same as inside this program" : "of another version than this program");
	if (!same)
		finding__advise(x, "`gpubpf shim install` replaces it; running processes keep theirs");
}

static void check_injection(struct doctor *d)
{
	const char *set = getenv(SHIMFILE_INJECTION);
	struct finding *x;

	if (!set || !*set) {
		doctor__add(d, FINDING_OK, false, "injection", NULL,
			    SHIMFILE_INJECTION
			    " is not set here: `gpubpf record -- COMMAND` sets it for the command");
		return;
	}
	if (shimfile_has_probes(set)) {
		doctor__add(d, FINDING_OK, false, "injection", json_pack("{s:s}", "path", set),
			    SHIMFILE_INJECTION " is set to %s, a shim of gpubpf", set);
		return;
	}
	x = doctor__add(d, FINDING_DEGRADED, false, "injection", json_pack("{s:s}", "path", set),
			SHIMFILE_INJECTION
			" is set to %s, which is no shim of gpubpf: it is left alone, and a launched "
			"command shows its calls only",
			set);
	finding__advise(x, "`unset " SHIMFILE_INJECTION "` unless another tool needs it");
}

void doctor__check_shim(struct doctor *d, const struct shimfile_image *image)
{
	check_inside(d, image);
	check_installed(d, image);
	check_injection(d);
}

void doctor__check_target_shim(struct doctor *d, pid_t pid)
{
	struct liblist list = { 0 };
	struct finding *x;

	libfind_mapped_files(&list, pid, shimfile_is_shim);
	for (size_t i = 0; i < list.n; i++) {
		static const struct usdt_opts own_notes = { .debug_root = "" };
		struct usdt_err why = { "" };
		struct err err = { "" };
		struct usdt_file *f = NULL;
		int e = usdt_file__open(list.files[i].open_path, &own_notes, &f, &why);

		if (!e)
			e = attach_shim_check(f, list.files[i].path, &err);
		x = doctor__add(d, e ? FINDING_DEGRADED : FINDING_OK, false, "its-shim",
				json_pack("{s:s, s:b}", "path", list.files[i].path, "conforms", !e), "%s%s",
				e ? (why.msg[0] ? why.msg : err.msg) : list.files[i].path,
				e ? "" : " is loaded: `gpubpf record -p` arms it");
		if (e)
			finding__advise(
				x, "start the process with the shim of this gpubpf: `gpubpf shim install`");
		usdt_file__close(f);
	}
	if (!list.n) {
		x = doctor__add(d, FINDING_DEGRADED, false, "its-shim", NULL,
				"not loaded: its calls can be recorded, when the GPU ran them cannot");
		finding__advise(x,
				"launch it by `gpubpf record`, or with the environment of `gpubpf shim env`");
	}
	liblist_free(&list);
}
