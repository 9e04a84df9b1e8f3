// SPDX-License-Identifier: GPL-2.0-or-later
#include "inspect/environment.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "environment/environment.h"
#include "inspect/jsonsafe.h"
#include "util/fmt.h"

#define SCHEMA 1

static int group_text(const struct environment *e, const char *group, FILE *f)
{
	struct fmt_table *t = fmt_table__new(2);
	int r = t ? 0 : -ENOMEM;
	bool any = false;

	for (size_t i = 0; !r && i < environment__facts(e); i++) {
		const struct env_fact *x = environment__fact(e, i);
		char absent[640];

		if (strcmp(x->group, group) != 0)
			continue;
		any = true;
		snprintf(absent, sizeof(absent), "absent: %s", x->value ? "" : x->why_absent);
		r = fmt_table__cell(t, x->name) || fmt_table__cell(t, x->value ? x->value : absent);
	}
	if (!r && any) {
		fprintf(f, "%c%s\n", toupper((unsigned char)*group), group + 1);
		fmt_table__print(t, f, 2, 0, false);
	}
	fmt_table__free(t);
	return r ? -ENOMEM : any;
}

int inspect_environment_text(const struct inspection *s, FILE *f)
{
	struct environment *e;
	int r = environment__of(s, &e);
	bool any = false;

	for (size_t i = 0; r >= 0 && environment_groups[i]; i++) {
		if (any)
			putc('\n', f);
		r = group_text(e, environment_groups[i], f);
		any = r > 0;
	}
	environment__free(e);
	return r < 0 ? r : 0;
}

/* "GPU 0 power limit, most" → "GPU_0_power_limit_most", as keys are in all our JSON. */
static char *key_of(const char *name, const char *tail)
{
	char *key = malloc(strlen(name) + strlen(tail) + 1), *to = key;

	for (const char *p = name; key && *p; p++) {
		if (isalnum((unsigned char)*p) || strchr("_.-", *p) || (unsigned char)*p >= 0x80)
			*to++ = *p;
		else if (to > key && to[-1] != '_')
			*to++ = '_';
	}
	if (key)
		strcpy(to, tail);
	return key;
}

static int put(json_t *o, json_t *per_run, const struct env_fact *x)
{
	char *key = key_of(x->name, x->value ? "" : "_absent");
	json_t *safe = key ? json_safe_string(key) : NULL;

	if (safe) {
		json_put_text(o, json_string_value(safe), x->value ? x->value : x->why_absent);
		if (x->per_run && x->value)
			json_array_append(per_run, safe);
	}
	free(key);
	json_decref(safe);
	return safe ? 0 : -ENOMEM;
}

int inspect_environment_json(const struct inspection *s, FILE *f)
{
	json_t *o = json_object(), *groups = json_object(), *per_run = json_object();
	struct environment *e;
	int r = environment__of(s, &e);

	for (size_t g = 0; !r && environment_groups[g]; g++) {
		json_t *of = json_object(), *runs = json_array();

		json_object_set_new(groups, environment_groups[g], of);
		json_object_set_new(per_run, environment_groups[g], runs);
		for (size_t i = 0; !r && i < environment__facts(e); i++)
			if (!strcmp(environment__fact(e, i)->group, environment_groups[g]))
				r = put(of, runs, environment__fact(e, i));
	}
	json_put_int(o, "schema", SCHEMA);
	json_object_set_new(o, "environment", groups);
	json_object_set_new(o, "differ_from_run_to_run", per_run);
	if (!r && json_dumpf(o, f, JSON_INDENT(1)) && !ferror(f))
		r = -ENOMEM;
	json_decref(o);
	environment__free(e);
	putc('\n', f);
	return r;
}
