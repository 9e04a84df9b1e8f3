// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every rule has objects, on each architecture that it applies to, that break it and nothing else. The gate names
 * exactly that rule; and with that rule switched off the object passes, so no other rule stands in for it.
 */
#include "t.h"

#include <errno.h>

#include "elfgate_objects.h"

struct broken {
	char name[64], rule[32], profile[32], archs[16];
};

static const char *const object_archs[] = { "x86_64", "aarch64" };

static size_t objects_read(struct broken *v, size_t max)
{
	FILE *f = fopen("tests/elfgate/objects.table", "r");
	char line[256];
	size_t n = 0;

	while (f && n < max && fgets(line, sizeof(line), f)) {
		struct broken *b = &v[n];

		if (*line != '#' &&
		    sscanf(line, "%63s %31s %31s %15s", b->name, b->rule, b->profile, b->archs) == 4)
			n++;
	}
	if (f)
		fclose(f);
	return n;
}

static int object_profile(struct elfgate_profile **p, const struct broken *b, struct elfgate_error *err)
{
	char path[128];
	int e = elfgate_profile__builtin(p, b->profile, err);

	if (e != -ENOENT)
		return e;
	snprintf(path, sizeof(path), "tests/elfgate/%s.profile", b->profile);
	return elfgate_profile__read(p, path, err);
}

static struct broken table[128];
static size_t n_table;

/* The rules that fail, as "a b"; not evaluable ones with a '!'. */
static void failing(const struct elfgate_report *r, char *dst, size_t size)
{
	*dst = 0;
	for (size_t i = 0; i < r->n; i++) {
		const struct elfgate_finding *f = &r->findings[i];
		size_t at = strlen(dst);

		if (f->state == ELFGATE_FAIL || f->state == ELFGATE_NOT_EVALUABLE)
			snprintf(dst + at, size - at, "%s%s%s", at ? " " : "",
				 f->state == ELFGATE_FAIL ? "" : "!", f->rule->id);
	}
}

static void judge(const char *path, const struct broken *b, bool without, char *names, size_t size,
		  enum elfgate_state *verdict)
{
	struct elfgate_error err = { "" };
	struct elfgate_report report = { 0 };
	struct elfgate_profile *p = NULL;
	struct elfobj *obj = NULL;

	*names = 0;
	*verdict = ELFGATE_NOT_EVALUABLE;
	CHECKF(!object_profile(&p, b, &err), "%s: %s", b->name, err.msg);
	CHECKF(!elfobj__open(&obj, path, &err), "%s: %s", path, err.msg);
	if (p && obj) {
		if (without)
			elfgate_profile__disable(p, elfgate_rule_find(b->rule));
		CHECK(!elfgate_judge(obj, p, &report));
		failing(&report, names, size);
		*verdict = report.verdict;
		elfgate_report__free(&report);
	}
	elfgate_profile__free(p);
	elfobj__close(obj);
}

static bool is_for(const struct broken *b, const char *arch)
{
	return !strcmp(b->archs, "all") || !strcmp(b->archs, arch);
}

static void check_arch(const char *arch)
{
	char path[512], names[512];
	enum elfgate_state verdict;

	if (!object_path(path, sizeof(path), arch, "good"))
		SKIP("objects of this architecture: a compiler for it when `make` made them");
	CHECK(n_table > 30);
	for (const struct broken *b = table; b < table + n_table; b++) {
		bool broken = strcmp(b->rule, "-") != 0;

		if (!is_for(b, arch))
			continue;
		if (!object_path(path, sizeof(path), arch, b->name)) {
			CHECKF(false, "%s/%s was not made", arch, b->name);
			continue;
		}
		judge(path, b, false, names, sizeof(names), &verdict);
		CHECKF(!strcmp(names, broken ? b->rule : ""), "%s/%s: named '%s', broken is '%s'", arch,
		       b->name, names, b->rule);
		CHECK(verdict == (broken ? ELFGATE_FAIL : ELFGATE_PASS));
		if (!broken)
			continue;
		judge(path, b, true, names, sizeof(names), &verdict);
		CHECKF(!*names && verdict == ELFGATE_PASS, "%s/%s: without %s it is still caught by '%s'",
		       arch, b->name, b->rule, names);
	}
}

T(elfgate_names_exactly_the_broken_rule_x86_64)
{
	check_arch("x86_64");
}

T(elfgate_names_exactly_the_broken_rule_aarch64)
{
	check_arch("aarch64");
}

T(elfgate_every_rule_has_an_object_that_only_it_catches)
{
	for (size_t i = 0; i < elfgate_n_rules; i++) {
		const struct elfgate_rule *r = &elfgate_rules[i];

		for (size_t a = 0; a < 2; a++) {
			bool wanted = r->archs == ELFGATE_BPF ||
				      (r->archs & (a ? ELFGATE_AARCH64 : ELFGATE_X86_64));
			bool found = false;

			for (const struct broken *b = table; b < table + n_table; b++)
				found |= !strcmp(b->rule, r->id) && is_for(b, object_archs[a]);
			CHECKF(found == wanted, "%s has %s object on %s", r->id, found ? "an" : "no",
			       object_archs[a]);
		}
	}
}

static const struct elfgate_finding *finding(const struct elfgate_report *r, const char *id)
{
	for (size_t i = 0; i < r->n; i++) {
		if (!strcmp(r->findings[i].rule->id, id))
			return &r->findings[i];
	}
	return NULL;
}

/* What a rule says of an object, in the profile `any`. */
static bool says(const char *arch, const char *name, const char *rule, enum elfgate_state state,
		 const char *text)
{
	struct elfgate_error err = { "" };
	struct elfgate_report report = { 0 };
	struct elfgate_profile *p = NULL;
	struct elfobj *obj = NULL;
	char path[512];
	bool ok = false;

	if (object_path(path, sizeof(path), arch, name) && !elfgate_profile__builtin(&p, "any", &err) &&
	    !elfobj__open(&obj, path, &err) && !elfgate_judge(obj, p, &report)) {
		const struct elfgate_finding *f = finding(&report, rule);

		ok = f && f->state == state && strstr(f->found, text);
		if (!ok && f)
			printf("# %s %s: %s: %s\n", name, rule, elfgate_state_name(f->state), f->found);
	}
	elfgate_report__free(&report);
	elfgate_profile__free(p);
	elfobj__close(obj);
	return ok;
}

/* A rule that cannot apply is n/a; it never says that the thing is absent. */
T(elfgate_not_applicable_is_not_absent)
{
	char path[512];

	if (object_path(path, sizeof(path), "x86_64", "good")) {
		CHECK(says("x86_64", "good", "page-align", ELFGATE_NA, "only aarch64"));
		CHECK(says("x86_64", "machine", "tls-model", ELFGATE_NA, "not known for this architecture"));
		CHECK(says("x86_64", "bpf-good", "tls-segment", ELFGATE_NA, "BPF"));
		CHECK(says("x86_64", "good", "btf", ELFGATE_NA, "BPF"));
	}
	if (object_path(path, sizeof(path), "aarch64", "good")) {
		CHECK(says("aarch64", "good", "isa-level", ELFGATE_NA, "only x86_64"));
		CHECK(says("aarch64", "good", "page-align", ELFGATE_REPORTED, "65536"));
	}
}

T(elfgate_findings_name_library_symbol_and_model)
{
	for (size_t a = 0; a < 2; a++) {
		const char *arch = object_archs[a];
		char path[512];

		if (!object_path(path, sizeof(path), arch, "good"))
			continue;
		CHECK(says(arch, "glibc-floor", "glibc-floor", ELFGATE_REPORTED,
			   "GLIBC_2.34 (wanted_function)"));
		CHECK(says(arch, "marker-future", "version-markers", ELFGATE_REPORTED,
			   "GLIBC_ABI_NOT_YET_THOUGHT_OF (ld-linux-"));
		CHECK(says(arch, "marker-future", "version-markers", ELFGATE_REPORTED,
			   "not known to this program"));
		CHECK(says(arch, "marker-relr", "version-markers", ELFGATE_REPORTED, "packed relative"));
		CHECK(says(arch, "tls-model", "tls-model", ELFGATE_REPORTED, "dynamic (relocations: "));
		CHECK(says(arch, "tls-descriptor", "tls-model", ELFGATE_REPORTED,
			   "descriptor (relocations: 1)"));
		CHECK(says(arch, "tls-initial-exec", "tls-model", ELFGATE_REPORTED,
			   "initial-exec (relocations: 1)"));
		CHECK(says(arch, "tls-segment", "tls-segment", ELFGATE_REPORTED,
			   "present (4 bytes per thread)"));
		CHECK(says(arch, "runpath", "runpath", ELFGATE_REPORTED, "runpath (/opt/lib)"));
		CHECK(says(arch, "rpath", "runpath", ELFGATE_REPORTED, "rpath (/opt/lib)"));
		CHECK(says(arch, "stapsdt-register", "stapsdt", ELFGATE_REPORTED, "mismatch ("));
		CHECK(says(arch, "stapsdt-missing", "stapsdt", ELFGATE_REPORTED, "status_v1"));
		CHECK(says(arch, "exports-type", "exports", ELFGATE_REPORTED, "gpubpf_shim_start:object"));
		CHECK(says(arch, "undefined", "undefined", ELFGATE_REPORTED, "nowhere_to_be_found"));
	}
}

int main(int argc, char **argv)
{
	n_table = objects_read(table, sizeof(table) / sizeof(table[0]));
	return t_main(argc, argv);
}
