// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of rules, versions, profiles and their errors, and the table of distributions. */
#include "t.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "elfgate/distros.h"
#include "elfgate/elfgate.h"
#include "elfgate/markers.h"
#include "elfgate/rule.h"

T(elfgate_rules_are_whole)
{
	for (size_t i = 0; i < elfgate_n_rules; i++) {
		const struct elfgate_rule *r = &elfgate_rules[i];

		CHECK(r->id && *r->proves && *r->read && *r->remedy && r->archs && r->look);
		CHECKF(elfgate_rule_find(r->id) == r, "%s stands twice", r->id);
		CHECK((r->kind != ELFGATE_CHOICE && r->kind != ELFGATE_FLOOR) || r->choices);
	}
	CHECK(!elfgate_rule_find("glibc"));
}

static int compare(const char *a, const char *b)
{
	uint32_t x[4], y[4];

	CHECK(elfgate_version_parse(a, "GLIBC_", x) && elfgate_version_parse(b, "GLIBC_", y));
	return elfgate_version_compare(x, y);
}

T(elfgate_versions_are_numbers_not_texts)
{
	static const char *const no_numbers[] = { "GLIBC_PRIVATE", "GLIBC_",          "GLIBC_2.",
						  "GLIBC_.2",      "GLIBC_2.17a",     "GLIBC_-2",
						  "GLIBC_2..17",   "GLIBCXX_3.4",     "glibc_2.17",
						  "GLIBC_2 17",    "GLIBC_2.1.2.3.4", "GLIBC_123456789" };
	uint32_t v[4];

	CHECK(compare("GLIBC_2.9", "GLIBC_2.17") < 0);
	CHECK(compare("GLIBC_2.2.5", "GLIBC_2.3") < 0);
	CHECK(compare("GLIBC_2.17", "GLIBC_2.17") == 0);
	CHECK(compare("GLIBC_2.17.1", "GLIBC_2.17") > 0);
	CHECK(compare("GLIBC_3.0", "GLIBC_2.99") > 0);
	for (size_t i = 0; i < sizeof(no_numbers) / sizeof(no_numbers[0]); i++)
		CHECKF(!elfgate_version_parse(no_numbers[i], "GLIBC_", v), "%s", no_numbers[i]);
	CHECK(elfgate_is_marker("GLIBC_ABI_DT_RELR") && elfgate_is_marker("GLIBC_PRIVATE"));
	CHECK(elfgate_is_marker("CXXABI_TM_1") && !elfgate_is_marker("GLIBC_2.2.5"));
	CHECK(!elfgate_is_marker("OPENSSL_3.0.0"));
}

static bool parse(const char *text, size_t len, struct elfgate_profile **p, struct elfgate_error *err)
{
	err->msg[0] = 0;
	return !elfgate_profile__parse(p, "my.profile", text, len, err);
}

T(elfgate_profile_lines)
{
	static const char
		text[] = "# a comment\n\n  class=64 # another\nneeded = libc.so.6\tlibdl*\r\n"
			 "glibc-floor = 2.28\nexports = none\nsoname = any\ntls-model = none\nrunpath=absent";
	struct elfgate_profile *p;
	struct elfgate_error err;
	const struct elfgate_value *v;

	CHECKF(parse(text, sizeof(text) - 1, &p, &err), "%s", err.msg);
	if (!p)
		return;
	v = &p->values[elfgate_rule_find("needed") - elfgate_rules];
	CHECK(v->judged && v->n == 2 && !strcmp(v->words[1], "libdl*"));
	v = &p->values[elfgate_rule_find("exports") - elfgate_rules];
	CHECK(v->judged && v->n == 0);
	v = &p->values[elfgate_rule_find("soname") - elfgate_rules];
	CHECK(v->set && !v->judged);
	/* `none` is a value of this rule's own. */
	v = &p->values[elfgate_rule_find("tls-model") - elfgate_rules];
	CHECK(v->judged && v->n == 1 && !strcmp(v->words[0], "none"));
	v = &p->values[elfgate_rule_find("runpath") - elfgate_rules];
	CHECK(v->judged);
	CHECK(!p->values[elfgate_rule_find("relro") - elfgate_rules].judged);
	CHECK(!elfgate_profile__set(p, "glibc-floor", "2.34", &err));
	v = &p->values[elfgate_rule_find("glibc-floor") - elfgate_rules];
	CHECK(v->n == 1 && !strcmp(v->words[0], "2.34"));
	elfgate_profile__free(p);
}

T(elfgate_profile_errors_name_the_line)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "class = 64\nglibc-flor = 2.17\n", "my.profile:2: there is no rule 'glibc-flor'" },
		{ "class 64\n", "my.profile:1: 'class 64' is no line" },
		{ "\n\nclass = 65\n", "my.profile:3: '65' is no value of class; it takes: 32 64" },
		{ "class = 64\nclass = 32\n", "my.profile:2: class is set a second time" },
		{ "soname = any\nsoname = a\n", "my.profile:2: soname is set a second time" },
		{ "class =\n", "my.profile:1: class has no value" },
		{ "class = # 64\n", "my.profile:1: class has no value" },
		{ "class = none\n", "my.profile:1: 'none' is no value of class" },
		{ "glibc-floor = new\n", "my.profile:1: glibc-floor takes one version" },
		{ "glibc-floor = 2.17 2.18\n", "my.profile:1: glibc-floor takes one version" },
		{ "class = 64 any\n", "my.profile:1: 'any' is no value of class" },
		{ "= 64\n", "my.profile:1: there is no rule ''" },
	};
	struct elfgate_profile *p;
	struct elfgate_error err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(!parse(bad[i].text, strlen(bad[i].text), &p, &err) && !p);
		CHECKF(!strncmp(err.msg, bad[i].says, strlen(bad[i].says)), "'%s', not '%s'", err.msg,
		       bad[i].says);
	}
	CHECK(!parse("class\0 = 64\n", 12, &p, &err) && strstr(err.msg, "zero byte"));
	CHECK(elfgate_profile__read(&p, "/no/such/profile", &err) == -ENOENT &&
	      strstr(err.msg, "No such file"));
	CHECK(elfgate_profile__builtin(&p, "shin", &err) == -ENOENT);
	for (size_t i = 0; i < 3; i++) {
		static const char *const names[] = { "shim", "host", "any" };

		CHECKF(!elfgate_profile__builtin(&p, names[i], &err), "%s", err.msg);
		elfgate_profile__free(p);
	}
}

T(elfgate_distributions_are_in_order)
{
	for (size_t i = 0; i < elfgate_n_distros; i++) {
		const struct elfgate_distro *d = &elfgate_distros[i], *before = d - 1;
		uint32_t mine[4], older[4];

		CHECK(!d->glibc || elfgate_version_parse(d->glibc, "", mine));
		for (size_t k = 0; i && k + 1 < i; k++)
			CHECKF(strcmp(elfgate_distros[k].family, d->family) != 0 ||
				       !strcmp(before->family, d->family),
			       "%s stands apart", d->family);
		if (!i || strcmp(before->family, d->family) != 0)
			continue;
		CHECK(elfgate_version_parse(before->glibc, "", older));
		CHECKF(elfgate_version_compare(older, mine) < 0 && before->gcc <= d->gcc, "%s %s", d->family,
		       d->release);
	}
}

/* This machine's own row, if it has one, holds what its libraries say. */
T(elfgate_distributions_know_this_machine)
{
	char id[32] = "", version[32] = "", has[128] = "";
	FILE *f = popen(". /etc/os-release && echo \"$ID $VERSION_ID\"; ldd --version | sed -n '1s/.* //p'",
			"r");
	int n = f ? fscanf(f, "%31s %31s %127s", id, version, has) : 0;
	bool found = false;

	if (f)
		pclose(f);
	for (size_t i = 0; n == 3 && i < elfgate_n_distros; i++) {
		const struct elfgate_distro *d = &elfgate_distros[i];

		if (strcasecmp(d->family, id) != 0 || strcmp(d->release, version) != 0)
			continue;
		found = true;
		CHECKF(d->glibc && !strcmp(d->glibc, has), "%s %s has glibc %s", id, version, has);
	}
	if (!found)
		SKIP("a row for this machine's distribution in the table");
}

TEST_MAIN
