// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * glibc: the package a release shipped with (a release never moves to another one). gcc: the newest whose
 * libstdc++6 and libgcc the release's own updates bring. GLIBCXX and CXXABI of a gcc: its abi-version manual,
 * highest patch release of each series; the GCC_ versions of libgcc bear the number of the release itself.
 * Held against the symbols that github.com/mayeut/pep600_compliance collects from the releases' own images.
 * Interim releases of Ubuntu whose support has ended are left out.
 */
#include "distros.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "markers.h"
#include "object.h"
#include "rule.h"

#define X86 ELFGATE_X86_64
#define BOTH (ELFGATE_X86_64 | ELFGATE_AARCH64)

const struct elfgate_distro elfgate_distros[] = {
	{ "RHEL, Rocky, Alma", "7", BOTH, "2.17", 408, false, NULL },
	{ "RHEL, Rocky, Alma", "8", BOTH, "2.28", 800, false, NULL },
	{ "RHEL, Rocky, Alma", "9", BOTH, "2.34", 1100, false, NULL },
	{ "RHEL, Rocky, Alma", "10", BOTH, "2.39", 1400, false, "2.42" },
	{ "Debian", "8", BOTH, "2.19", 409, false, NULL },
	{ "Debian", "9", BOTH, "2.24", 600, false, NULL },
	{ "Debian", "10", BOTH, "2.28", 800, false, NULL },
	{ "Debian", "11", BOTH, "2.31", 1000, false, NULL },
	{ "Debian", "12", BOTH, "2.36", 1200, false, NULL },
	{ "Debian", "13", BOTH, "2.41", 1400, false, NULL },
	{ "Ubuntu", "14.04", BOTH, "2.19", 408, false, NULL },
	{ "Ubuntu", "16.04", BOTH, "2.23", 500, false, NULL },
	{ "Ubuntu", "18.04", BOTH, "2.27", 800, false, NULL },
	{ "Ubuntu", "20.04", BOTH, "2.31", 1000, false, NULL },
	{ "Ubuntu", "22.04", BOTH, "2.35", 1200, false, NULL },
	{ "Ubuntu", "24.04", BOTH, "2.39", 1400, false, NULL },
	{ "Ubuntu", "25.04", BOTH, "2.41", 1500, false, NULL },
	{ "Ubuntu", "25.10", BOTH, "2.42", 1500, false, NULL },
	{ "Ubuntu", "26.04", BOTH, "2.43", 1600, false, NULL },
	{ "Amazon Linux", "2", BOTH, "2.26", 700, false, NULL },
	{ "Amazon Linux", "2023", BOTH, "2.34", 1100, true, NULL },
	{ "SLES", "12", X86, "2.19", 408, true, NULL },
	{ "SLES", "12 SP3", BOTH, "2.22", 408, true, NULL },
	{ "SLES", "15", BOTH, "2.26", 700, true, NULL },
	{ "SLES", "15 SP3", BOTH, "2.31", 1000, true, NULL },
	{ "SLES", "15 SP6", BOTH, "2.38", 1300, true, NULL },
	{ "SLES", "16.0", BOTH, "2.40", 1500, true, NULL },
	{ "Fedora", "28", BOTH, "2.27", 800, false, NULL },
	{ "Fedora", "29", BOTH, "2.28", 800, false, NULL },
	{ "Fedora", "30", BOTH, "2.29", 900, false, NULL },
	{ "Fedora", "31", BOTH, "2.30", 900, false, NULL },
	{ "Fedora", "32", BOTH, "2.31", 1000, false, NULL },
	{ "Fedora", "33", BOTH, "2.32", 1000, false, NULL },
	{ "Fedora", "34", BOTH, "2.33", 1100, false, NULL },
	{ "Fedora", "35", BOTH, "2.34", 1100, false, NULL },
	{ "Fedora", "36", BOTH, "2.35", 1200, false, NULL },
	{ "Fedora", "37", BOTH, "2.36", 1200, false, NULL },
	{ "Fedora", "38", BOTH, "2.37", 1300, false, NULL },
	{ "Fedora", "39", BOTH, "2.38", 1300, false, NULL },
	{ "Fedora", "40", BOTH, "2.39", 1400, false, NULL },
	{ "Fedora", "41", BOTH, "2.40", 1400, false, NULL },
	{ "Fedora", "42", BOTH, "2.41", 1500, false, NULL },
	{ "Fedora", "43", BOTH, "2.42", 1500, false, NULL },
	{ "Fedora", "44", BOTH, "2.43", 1600, false, NULL },
	{ "Alpine", "any", BOTH, NULL, 0, false, NULL },
};
const size_t elfgate_n_distros = sizeof(elfgate_distros) / sizeof(elfgate_distros[0]);

static const struct {
	unsigned gcc;
	const char *glibcxx, *cxxabi;
} runtimes[] = {
	{ 408, "3.4.19", "1.3.7" },   { 409, "3.4.20", "1.3.8" },   { 500, "3.4.21", "1.3.9" },
	{ 600, "3.4.22", "1.3.10" },  { 700, "3.4.24", "1.3.11" },  { 800, "3.4.25", "1.3.11" },
	{ 900, "3.4.28", "1.3.12" },  { 1000, "3.4.28", "1.3.12" }, { 1100, "3.4.29", "1.3.13" },
	{ 1200, "3.4.30", "1.3.13" }, { 1300, "3.4.32", "1.3.14" }, { 1400, "3.4.33", "1.3.15" },
	{ 1500, "3.4.34", "1.3.15" }, { 1600, "3.4.35", "1.3.17" },
};

enum { NEED_GLIBC, NEED_GLIBCXX, NEED_CXXABI, NEED_GCC, NEEDS };
static const char *const prefixes[NEEDS] = { "GLIBC_", "GLIBCXX_", "CXXABI_", "GCC_" };

/* The highest version of each kind, and what asks for it. */
struct wants {
	const struct elfobj_need *need[NEEDS];
	uint32_t version[NEEDS][4];
	const struct elfobj_need *marker; /* the one of the newest release, or of none */
	const char *marker_since;
	bool relr; /* packed relocations without their marker: older loaders load it, and it crashes */
};

static void want_marker(struct wants *w, const struct elfobj_need *n)
{
	const struct elfgate_marker *m = elfgate_marker_find(n->version);
	const char *since = m ? m->since : NULL;
	uint32_t a[4], b[4];

	/* libstdc++'s are as old as its ABI. */
	if (strncmp(n->version, "GLIBC_", 6) != 0 || (w->marker && !w->marker_since))
		return;
	if (w->marker && since) {
		elfgate_version_parse(since, "", a);
		elfgate_version_parse(w->marker_since, "", b);
		if (elfgate_version_compare(a, b) <= 0)
			return;
	}
	w->marker = n;
	w->marker_since = since;
}

static void collect(const struct elfobj *o, struct wants *w)
{
	uint32_t v[4];

	for (size_t i = 0; i < o->n_needs; i++) {
		const struct elfobj_need *n = &o->needs[i];

		if (n->weak)
			continue;
		if (elfgate_is_marker(n->version))
			want_marker(w, n);
		for (int k = 0; k < NEEDS; k++) {
			if (!elfgate_version_parse(n->version, prefixes[k], v) ||
			    (w->need[k] && elfgate_version_compare(v, w->version[k]) <= 0))
				continue;
			w->need[k] = n;
			memcpy(w->version[k], v, sizeof(v));
		}
	}
	w->relr = o->has_relr;
}

/* Names out of the file, for a message: printable, and not without end. */
static void name(char *dst, size_t size, const struct elfobj_need *n)
{
	size_t at;

	snprintf(dst, size, "%.60s %.60s is needed%s%.80s", n->file, n->version, n->symbol ? ", by " : "",
		 n->symbol ? n->symbol : "");
	for (at = 0; dst[at]; at++) {
		if (dst[at] < ' ' || dst[at] > '~')
			dst[at] = '?';
	}
}

static void refuse(struct elfgate_load *l, enum elfgate_loads how, const char *has,
		   const struct elfobj_need *n)
{
	char what[256];

	name(what, sizeof(what), n);
	l->loads = how;
	snprintf(l->why, sizeof(l->why), "%s; %s", has, what);
}

/* The release's glibc is older than this version. */
static void refuse_glibc(struct elfgate_load *l, const uint32_t *version, const struct elfobj_need *n)
{
	const char *to = l->distro->backports;
	uint32_t most[4];
	bool may = to && elfgate_version_parse(to, "", most) && elfgate_version_compare(version, most) <= 0;
	char has[96];

	snprintf(has, sizeof(has), "it has glibc %s%s", l->distro->glibc,
		 may ? " and, by updates, some of what newer ones have" : "");
	refuse(l, may ? ELFGATE_LOADS_UNKNOWN : ELFGATE_LOADS_NOT, has, n);
}

static bool has_glibc(struct elfgate_load *l, const struct wants *w)
{
	uint32_t have[4], since[4];

	elfgate_version_parse(l->distro->glibc, "", have);
	if (w->marker && !w->marker_since) {
		refuse(l, ELFGATE_LOADS_UNKNOWN, "no release of glibc promises it", w->marker);
		return false;
	}
	if (w->need[NEED_GLIBC] && elfgate_version_compare(w->version[NEED_GLIBC], have) > 0) {
		refuse_glibc(l, w->version[NEED_GLIBC], w->need[NEED_GLIBC]);
		return false;
	}
	if (w->marker && elfgate_version_parse(w->marker_since, "", since) &&
	    elfgate_version_compare(since, have) > 0) {
		refuse_glibc(l, since, w->marker);
		return false;
	}
	elfgate_version_parse("2.36", "", since);
	if (w->relr && elfgate_version_compare(since, have) > 0) {
		l->loads = ELFGATE_LOADS_NOT;
		snprintf(l->why, sizeof(l->why),
			 "it has glibc %s; packed relocations (DT_RELR) are applied since 2.36",
			 l->distro->glibc);
		return false;
	}
	return true;
}

static bool has_runtime(struct elfgate_load *l, const struct wants *w)
{
	unsigned gcc = l->distro->gcc;
	const char *cxx = NULL, *abi = NULL;
	char has[80], release[16];

	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++) {
		if (runtimes[i].gcc <= gcc) {
			cxx = runtimes[i].glibcxx;
			abi = runtimes[i].cxxabi;
		}
	}
	snprintf(release, sizeof(release), "%u.%u", gcc / 100, gcc % 100 ? gcc % 100 : 99);
	for (int k = NEED_GLIBCXX; k < NEEDS; k++) {
		const char *have = k == NEED_GLIBCXX ? cxx : k == NEED_CXXABI ? abi : release;
		uint32_t v[4];

		if (!w->need[k])
			continue;
		if (have && elfgate_version_parse(have, "", v) &&
		    elfgate_version_compare(w->version[k], v) <= 0)
			continue;
		if (k == NEED_GCC)
			snprintf(has, sizeof(has), "it has libgcc of gcc %u", gcc / 100);
		else
			snprintf(has, sizeof(has), "it has %s%s", prefixes[k], have);
		if (l->distro->gcc_moves)
			strcat(has, " or, by updates, a newer one");
		refuse(l, l->distro->gcc_moves ? ELFGATE_LOADS_UNKNOWN : ELFGATE_LOADS_NOT, has, w->need[k]);
		return false;
	}
	return true;
}

static void judge(struct elfgate_load *l, const struct elfgate_loading *all, const struct elfobj *o,
		  const struct wants *w)
{
	const struct elfgate_distro *d = l->distro;

	if (!(d->archs & o->arch)) {
		l->loads = ELFGATE_LOADS_NOT;
		snprintf(l->why, sizeof(l->why), "it does not exist for this architecture");
	} else if (all->is_static) {
		l->loads = ELFGATE_LOADS;
	} else if (!d->glibc != all->is_musl) {
		l->loads = ELFGATE_LOADS_NOT;
		snprintf(l->why, sizeof(l->why), "its C library is %s; the file is linked with %s",
			 d->glibc ? "glibc" : "musl", d->glibc ? "musl" : "glibc");
	} else if (!d->glibc || (has_glibc(l, w) && has_runtime(l, w))) {
		l->loads = ELFGATE_LOADS;
	}
}

static bool is_system_library(const char *file)
{
	static const char *const known[] = {
		"libc.so.6",       "libm.so.6",
		"libpthread.so.0", "libdl.so.2",
		"librt.so.1",      "libutil.so.1",
		"libresolv.so.2",  "libstdc++.so.6",
		"libgcc_s.so.1",   "ld-linux-x86-64.so.2",
		"libanl.so.1",     "libthread_db.so.1",
		"libmvec.so.1",    "ld-linux-aarch64.so.1",
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(known[i], file))
			return true;
	}
	return !strncmp(file, "libc.musl-", 10);
}

static void name_others(const struct elfobj *o, char *dst, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < o->n_needed; i++) {
		if (is_system_library(o->needed[i]))
			continue;
		if (strlen(o->needed[i]) + at + 8 > size) {
			snprintf(dst + at, size - at, " ...");
			break;
		}
		at += (size_t)snprintf(dst + at, size - at, "%s%s", at ? " " : "", o->needed[i]);
	}
	for (; *dst; dst++) {
		if (*dst < ' ' || *dst > '~')
			*dst = '?';
	}
}

static bool is_musl(const struct elfobj *o)
{
	for (size_t i = 0; i < o->n_needed; i++) {
		if (!strncmp(o->needed[i], "libc.musl-", 10))
			return true;
	}
	return o->interp && strstr(o->interp, "/ld-musl-");
}

static const char *refusal(const struct elfobj *o)
{
	static const enum elfobj_part parts[] = { PART_SEGMENTS, PART_DYNAMIC, PART_SYMBOLS, PART_VERSIONS };

	if (!(o->arch & BOTH))
		return "the table has only releases for x86_64 and aarch64";
	if (o->ehdr.e_type != ET_EXEC && o->ehdr.e_type != ET_DYN)
		return "it is neither a program nor a shared object";
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (o->damage[parts[i]])
			return o->damage[parts[i]];
	}
	return NULL;
}

int elfgate_loading(const struct elfobj *o, struct elfgate_loading *out)
{
	struct wants w = { 0 };

	*out = (struct elfgate_loading){ .refused = refusal(o) };
	if (out->refused)
		return 0;
	out->loads = calloc(elfgate_n_distros, sizeof(*out->loads));
	if (!out->loads)
		return -ENOMEM;
	out->n = elfgate_n_distros;
	/* A library without needs of its own loads into anything as well. */
	out->is_static = !o->interp && !o->n_needed && !o->n_needs;
	out->is_musl = is_musl(o);
	if (o->has_abi_tag)
		snprintf(out->kernel, sizeof(out->kernel), "%u.%u.%u", o->abi_tag[0], o->abi_tag[1],
			 o->abi_tag[2]);
	name_others(o, out->others, sizeof(out->others));
	collect(o, &w);
	for (size_t i = 0; i < out->n; i++) {
		out->loads[i].distro = &elfgate_distros[i];
		judge(&out->loads[i], out, o, &w);
	}
	return 0;
}

void elfgate_loading__free(struct elfgate_loading *l)
{
	free(l->loads);
	*l = (struct elfgate_loading){ 0 };
}
