// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "elfgate/distros.h"
#include "elfgate/elfgate.h"
#include "cmd.h"
#include "util/err.h"

struct elfgate_opts {
	const char *profile, *floor, *show_profile;
	int json, rules;
};

enum { STATUS_PASS, STATUS_FAIL, STATUS_NOT_EVALUABLE };

static const struct opt elfgate_opts[] = {
	{ .name = "profile",
	  .type = OPT_STRING,
	  .arg = "NAME|FILE",
	  .offset = offsetof(struct elfgate_opts, profile),
	  .help = "What the files are held to: `shim` (loaded into foreign processes), `host` (the gpubpf program), "
		  "`any` (nothing: only report), or a file.",
	  .has_default = 1,
	  .default_text = "any" },
	{ .name = "glibc-floor",
	  .type = OPT_STRING,
	  .arg = "VERSION",
	  .offset = offsetof(struct elfgate_opts, floor),
	  .help = "The oldest glibc that must suffice, such as 2.17, in place of the profile's." },
	{ .name = "json",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct elfgate_opts, json),
	  .help = "Print one JSON object with all files." },
	{ .name = "rules",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct elfgate_opts, rules),
	  .help = "List the rules: what each proves, where it is read, its values and the remedy." },
	{ .name = "show-profile",
	  .type = OPT_STRING,
	  .arg = "NAME",
	  .offset = offsetof(struct elfgate_opts, show_profile),
	  .help = "Print a built-in profile as a file, to begin one's own with." },
	{ 0 },
};

static const char *kind_text(const struct elfgate_rule *r)
{
	switch (r->kind) {
	case ELFGATE_LIST:
		return "names, `*` at will: nothing else may be found; or none";
	case ELFGATE_EXACT:
		return "names, `*` at will: exactly these must be found; or none";
	case ELFGATE_FLOOR:
		return "a version: the highest that may be found; or none";
	default:
		return r->choices;
	}
}

static void print_rules(void)
{
	for (size_t i = 0; i < elfgate_n_rules; i++) {
		const struct elfgate_rule *r = &elfgate_rules[i];

		printf("%s%s\n  proves  %s\n  read    %s\n  values  %s\n  remedy  %s\n", i ? "\n" : "", r->id,
		       r->proves, r->read, kind_text(r), r->remedy);
	}
}

/* Failures first, with what to do; what cannot apply last. */
static void print_findings(const struct elfgate_report *report)
{
	static const enum elfgate_state order[] = { ELFGATE_NOT_EVALUABLE, ELFGATE_FAIL, ELFGATE_PASS,
						    ELFGATE_REPORTED, ELFGATE_NA };

	for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++) {
		for (size_t i = 0; i < report->n; i++) {
			const struct elfgate_finding *f = &report->findings[i];

			if (f->state != order[k])
				continue;
			printf("  %-13s  %-15s  %s\n", elfgate_state_name(f->state), f->rule->id, f->found);
			if (f->state == ELFGATE_FAIL)
				printf("%34swanted: %s\n%34sproves: %s\n%34sremedy: %s\n", "", f->wanted, "",
				       f->rule->proves, "", f->rule->remedy);
		}
	}
}

/* One line per family: the oldest release that can, and what keeps the one before it from it. */
static void print_family(const struct elfgate_loading *l, size_t first, size_t end)
{
	const struct elfgate_load *older = NULL, *oldest = NULL;
	const char *family = l->loads[first].distro->family;

	for (size_t i = first; i < end && !oldest; i++) {
		if (l->loads[i].loads == ELFGATE_LOADS)
			oldest = &l->loads[i];
		else
			older = &l->loads[i];
	}
	if (!oldest && l->loads[end - 1].loads == ELFGATE_LOADS_UNKNOWN) {
		printf("  %-18s not known%s%s: %s\n", family,
		       l->loads[first].loads == ELFGATE_LOADS_NOT ? " of " : "",
		       l->loads[first].loads == ELFGATE_LOADS_NOT ? l->loads[end - 1].distro->release : "",
		       l->loads[end - 1].why);
	} else if (!oldest) {
		printf("  %-18s none%s%s: %s\n", family, end - first > 1 ? ", not even " : "",
		       end - first > 1 ? l->loads[end - 1].distro->release : "", l->loads[end - 1].why);
	} else if (end - first == 1) {
		printf("  %-18s %s\n", family, oldest->distro->release);
	} else if (older) {
		printf("  %-18s %s and newer; %s %s: %s\n", family, oldest->distro->release,
		       older->loads == ELFGATE_LOADS_UNKNOWN ? "perhaps" : "not", older->distro->release,
		       older->why);
	} else {
		printf("  %-18s %s and newer\n", family, oldest->distro->release);
	}
}

static void print_loading(const struct elfgate_loading *l)
{
	size_t first = 0;

	if (l->refused) {
		printf("  distributions: not evaluable: %s\n", l->refused);
		return;
	}
	puts("  Which distributions can load it:");
	for (size_t i = 1; i <= l->n; i++) {
		if (i < l->n && !strcmp(l->loads[i].distro->family, l->loads[first].distro->family))
			continue;
		print_family(l, first, i);
		first = i;
	}
	if (l->is_static)
		puts("  It needs no library at all, the C library included.");
	if (l->kernel[0])
		printf("  Its C library asks for Linux %s or newer.\n", l->kernel);
	if (l->others[0])
		printf("  It needs libraries that belong to no C or C++ runtime: %s\n", l->others);
}

static json_t *json_findings(const struct elfgate_report *report)
{
	json_t *a = json_array();

	for (size_t i = 0; i < report->n; i++) {
		const struct elfgate_finding *f = &report->findings[i];
		json_t *o = json_pack("{s:s, s:s, s:s, s:s*, s:s, s:s}", "rule", f->rule->id, "state",
				      elfgate_state_name(f->state), "found", f->found, "wanted", f->wanted,
				      "proves", f->rule->proves, "read", f->rule->read);

		if (f->state == ELFGATE_FAIL)
			json_object_set_new(o, "remedy", json_string(f->rule->remedy));
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *json_loading(const struct elfgate_loading *l)
{
	static const char *const names[] = { "yes", "no", "unknown" };
	json_t *o = json_object(), *a;

	if (l->refused) {
		json_object_set_new(o, "not_evaluable", json_string(l->refused));
		return o;
	}
	a = json_array();
	for (size_t i = 0; i < l->n; i++) {
		const struct elfgate_load *d = &l->loads[i];

		json_array_append_new(a, json_pack("{s:s, s:s, s:s, s:s, s:s*}", "family", d->distro->family,
						   "release", d->distro->release, "libc",
						   d->distro->glibc ? d->distro->glibc : "musl", "loads",
						   names[d->loads], "why", d->why[0] ? d->why : NULL));
	}
	json_object_set_new(o, "releases", a);
	json_object_set_new(o, "static", json_boolean(l->is_static));
	if (l->kernel[0])
		json_object_set_new(o, "oldest_kernel", json_string(l->kernel));
	if (l->others[0])
		json_object_set_new(o, "other_libraries", json_string(l->others));
	return o;
}

/* A name given on the command line may be no UTF-8. */
static json_t *json_path(const char *path)
{
	json_t *s = json_string(path);
	char text[4096];
	size_t n = 0;

	for (; !s && *path && n + 5 < sizeof(text); path++) {
		if (*path >= ' ' && *path <= '~' && *path != '\\')
			text[n++] = *path;
		else
			n += (size_t)sprintf(text + n, "\\x%02x", (unsigned char)*path);
	}
	return s ? s : json_stringn(text, n);
}

static int status_of(enum elfgate_state verdict)
{
	return verdict == ELFGATE_NOT_EVALUABLE ? STATUS_NOT_EVALUABLE
	       : verdict == ELFGATE_FAIL        ? STATUS_FAIL
						: STATUS_PASS;
}

static int show(const char *path, const struct elfobj *obj, const struct elfgate_profile *p,
		const char *profile, json_t *files)
{
	struct elfgate_loading loading = { 0 };
	struct elfgate_report report = { 0 };
	int status = STATUS_NOT_EVALUABLE;

	if (elfgate_judge(obj, p, &report) || elfgate_loading(obj, &loading)) {
		fprintf(stderr, "gpubpf elfgate: %s: out of memory\n", path);
	} else if (files) {
		status = status_of(report.verdict);
		json_array_append_new(
			files, json_pack("{s:o, s:s, s:s, s:s, s:o, s:o}", "file", json_path(path), "is",
					 elfobj__describe(obj), "profile", profile, "verdict",
					 elfgate_state_name(report.verdict), "rules", json_findings(&report),
					 "distributions", json_loading(&loading)));
	} else {
		status = status_of(report.verdict);
		printf("%s: %s: %s (profile %s)\n", path, elfobj__describe(obj),
		       elfgate_state_name(report.verdict), profile);
		print_findings(&report);
		print_loading(&loading);
	}
	elfgate_report__free(&report);
	elfgate_loading__free(&loading);
	return status;
}

static int gate_file(const char *path, const struct elfgate_profile *p, const char *profile, json_t *files)
{
	struct elfgate_error err = { "" };
	struct elfobj *obj;
	int status;

	if (elfobj__open(&obj, path, &err)) {
		fprintf(stderr, "gpubpf elfgate: %s: %s\n", path, err.msg);
		if (files)
			json_array_append_new(files,
					      json_pack("{s:o, s:s, s:s}", "file", json_path(path), "verdict",
							elfgate_state_name(ELFGATE_NOT_EVALUABLE), "error",
							err.msg));
		return STATUS_NOT_EVALUABLE;
	}
	status = show(path, obj, p, profile, files);
	elfobj__close(obj);
	return status;
}

/* A failure is known to be one, whatever became of the other files. */
static int worse(int a, int b)
{
	if (a == STATUS_FAIL || b == STATUS_FAIL)
		return STATUS_FAIL;
	return a > b ? a : b;
}

static int gate_files(const struct elfgate_opts *conf, const struct elfgate_profile *p, char **paths, int n)
{
	json_t *files = conf->json ? json_array() : NULL, *top;
	int status = STATUS_PASS;

	for (int i = 0; i < n; i++) {
		if (i && !files)
			putchar('\n');
		status = worse(status, gate_file(paths[i], p, conf->profile, files));
	}
	if (!files)
		return status;
	top = json_pack("{s:s, s:o}", "format", "gpubpf-elfgate-1", "files", files);
	if (!top || json_dumpf(top, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER)) {
		fputs("gpubpf elfgate: the JSON could not be written\n", stderr);
		status = STATUS_FAIL;
	}
	putchar('\n');
	json_decref(top);
	return status;
}

static int load_profile(struct elfgate_opts *conf, struct elfgate_profile **p, struct elfgate_error *err)
{
	int e;

	if (!conf->profile)
		conf->profile = "any";
	e = elfgate_profile__builtin(p, conf->profile, err);
	if (e == -ENOENT) {
		e = elfgate_profile__read(p, conf->profile, err);
		if (e == -ENOENT && !strchr(conf->profile, '/'))
			snprintf(err->msg, sizeof(err->msg),
				 "there is no profile '%.100s' (shim, host, any) and no file of that name",
				 conf->profile);
	}
	if (!e && conf->floor)
		e = elfgate_profile__set(*p, "glibc-floor", conf->floor, err);
	return e;
}

static int elfgate_run(int argc, char **argv)
{
	struct elfgate_opts conf = { 0 };
	struct elfgate_profile *p = NULL;
	struct elfgate_error gate_err = { "" };
	struct err err = { "" };
	int rest, e, status = 2;

	e = opts_parse(&verb_elfgate, argc, argv, &conf, &rest, &err);
	if (e == 1)
		return 0;
	if (!e && conf.show_profile && !elfgate_profile_text(conf.show_profile))
		e = err_set(&err, -EINVAL, "there is no profile '%s': shim, host, any", conf.show_profile);
	if (!e && rest == argc && !conf.rules && !conf.show_profile)
		e = err_set(&err, -EINVAL, "it needs the name of a file; see `gpubpf elfgate --help`");
	if (!e && load_profile(&conf, &p, &gate_err))
		e = err_set(&err, -EINVAL, "%s", gate_err.msg);
	if (e) {
		fprintf(stderr, "gpubpf elfgate: %s\n", err.msg);
	} else if (conf.rules) {
		print_rules();
		status = 0;
	} else if (conf.show_profile) {
		fputs(elfgate_profile_text(conf.show_profile), stdout);
		status = 0;
	} else {
		status = gate_files(&conf, p, argv + rest, argc - rest);
	}
	elfgate_profile__free(p);
	return status;
}

const struct verb verb_elfgate = {
	.name = "elfgate",
	.synopsis = "[--profile NAME|FILE] [--glibc-floor VERSION] [--json] FILE…",
	.summary = "say where a library or program can be loaded, and hold it to rules",
	.text = "Reads ELF files (shared objects, programs, static ones too, BPF objects) and prints, rule by rule, "
		"`pass`, `fail`, `n/a` (the rule cannot apply to this architecture or kind of file), `not evaluable` "
		"(that part of the file is damaged) or `reported` (the profile does not judge it), with what was found; "
		"for a failure also what was wanted, what the rule proves and the remedy. Nothing of the file is run.\n\n"
		"Below stands which distributions can load the file: for each the oldest release, and the symbol or the "
		"feature that keeps the release before it from it; `perhaps` where that depends on its updates. Releases "
		"are compared by the versions of glibc, libstdc++ and libgcc; other libraries that the file needs are "
		"named. Of Ubuntu the long-term releases are known, and the others that are not older than 25.04.\n\n"
		"A profile is a text: one `rule = value` a line, `#` starts a comment. `any`, or no line, reports without "
		"judging; `none` means that nothing may be found. `gpubpf elfgate --rules` lists the rules with their "
		"values, and `--show-profile` prints a built-in profile to begin with.\n\n"
		"How a library for glibc 2.17 is linked on a newer system: against stub libraries that hold only the "
		"functions of that glibc, each under the version it had there. A newer function is then an error of the "
		"linker, and the version of every other one is the old one. The source has them for both architectures "
		"in packaging/floor.syms, and the recipe in packaging/floor.mk.",
	.exit_status =
		"0: every file passed (or nothing was judged).\n\n"
		"1: a file failed.\n\n"
		"2: none failed, and one is not evaluable (no ELF file, not readable, damaged); wrong usage.",
	.examples =
		"gpubpf elfgate libfoo.so\twhat it is, and which distributions can load it\n"
		"gpubpf elfgate --glibc-floor 2.28 libfoo.so\tdoes it load on RHEL 8?\n"
		"gpubpf elfgate --profile shim libgpubpf-shim.so\tthe whole set of rules of an injected library\n"
		"gpubpf elfgate --json *.so | jq '.files[] | select(.verdict == \"fail\") | .file'\tthose that fail",
	.opts = elfgate_opts,
	.run = elfgate_run,
};
