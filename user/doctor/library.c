/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/library.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/elfsym.h"
#include "attach/libfind.h"
#include "model/apitab.h"
#include "util/err.h"

/* How many probes stand at each kind of place (limits.md's offsets), as {"push": 300, …}. */
static json_t *probe_kinds(const struct elfsyms *syms, char *text, size_t size)
{
	json_t *kinds = json_object();
	const char *kind;
	json_t *count;

	for (size_t i = 0; i < syms->n; i++) {
		const struct elfsym *s = &syms->syms[i];

		if (s->state != ELFSYM_FOUND || !s->probe)
			continue;
		count = json_object_get(kinds, s->probe);
		json_object_set_new(kinds, s->probe, json_integer(count ? json_integer_value(count) + 1 : 1));
	}
	text[0] = 0;
	json_object_foreach(kinds, kind, count)
	{
		size_t at = strlen(text);

		snprintf(text + at, size - at, "%s%lld %s", at ? ", " : "",
			 (long long)json_integer_value(count), kind);
	}
	return kinds;
}

static json_t *missing_symbols(const struct apitab *tab, const struct elfsyms *syms)
{
	json_t *missing = json_array();

	for (size_t i = 0; i < syms->n; i++) {
		const struct api *a = apitab__get(tab, (uint32_t)i);

		if (a && (syms->syms[i].state == ELFSYM_MISSING || syms->syms[i].state == ELFSYM_REFUSED))
			json_array_append_new(missing, json_string(a->symbol));
	}
	return missing;
}

bool library_describe(struct doctor *d, const char *id, const struct libfile *f, bool needed)
{
	char version[64] = "", kinds[256];
	struct elfsyms syms = { 0 };
	struct apitab *tab = NULL;
	struct err err = { "" };
	json_t *facts = json_pack("{s:s, s:b, s:b}", "path", f->path, "mapped", f->mapped, "deleted",
				  f->deleted);
	json_t *stepped, *probes, *missing;
	struct finding *x;
	int e;

	e = apitab__builtin(&tab);
	if (!e)
		e = elfsyms_read(f->open_path, tab, &syms, &err);
	if (e) {
		x = doctor__add(d, FINDING_MISSING, needed, id, facts, "%s: %s", f->path,
				err.msg[0] ? err.msg : strerror(-e));
		finding__advise(x, "see what it is: `file -L %s`", f->path);
		apitab__free(tab);
		return false;
	}
	if (libfind_version(f, version, sizeof(version)))
		json_object_set_new(facts, "version", json_string(version));
	probes = probe_kinds(&syms, kinds, sizeof(kinds));
	missing = missing_symbols(tab, &syms);
	stepped = json_object_get(probes, "stepped");
	json_object_set_new(facts, "entry_points", json_integer((json_int_t)syms.found));
	json_object_set_new(facts, "table", json_integer((json_int_t)syms.n));
	json_object_set_new(facts, "not_there", missing);
	json_object_set_new(facts, "probe_places", probes);
	doctor__add(
		d, stepped ? FINDING_DEGRADED : FINDING_OK, false, id, facts,
		"%s%s%s%s%s: %zu entry points of the table's %zu to probe, %zu not there; probed at: %s%s",
		f->path, version[0] ? " version " : "", version, f->mapped ? ", mapped" : "",
		f->deleted ? ", deleted since (an update while it runs)" : "", syms.found, syms.n,
		json_array_size(missing), kinds,
		stepped ? " (the kernel single-steps those called stepped: ten times the cost per call)"
			: "");
	elfsyms_free(&syms);
	apitab__free(tab);
	return true;
}

void doctor__check_libcuda(struct doctor *d)
{
	struct liblist list = { 0 };
	struct finding *f;
	char cwd[PATH_MAX];

	libfind_candidates(&list, d->root, d->root[0] ? NULL : getcwd(cwd, sizeof(cwd)),
			   getenv("LD_LIBRARY_PATH"), NULL);
	if (!d->root[0])
		libfind_all_mapped(&list);
	for (size_t i = 0; i < list.n; i++)
		library_describe(d, "libcuda", &list.files[i], false);
	if (!list.n) {
		f = doctor__add(
			d, FINDING_MISSING, false, "libcuda", NULL,
			"no libcuda.so.1 where a loader looks, and no process has one mapped; a container may bring its own");
		finding__advise(
			f,
			"`ldconfig -p | grep libcuda` after the driver's user part was installed, or set LD_LIBRARY_PATH");
	}
	liblist_free(&list);
}
