/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of facts, for those that make it. */
#ifndef GPUBPF_ENVIRONMENT_LIST_H
#define GPUBPF_ENVIRONMENT_LIST_H

#include "capture.pb-c.h"
#include "environment/environment.h"

struct fact {
	struct env_fact pub;
	unsigned group, order;
};

struct environment {
	struct fact *fact;
	size_t n, room;
	size_t from;     /* names are looked for from here on: those before are of other members */
	char prefix[32]; /* of names: "member 1: " */
	int error;       /* -ENOMEM once: what comes behind it is not taken */
};

/* One of a capture, or of a member of a merged one. */
struct env_scope {
	const struct inspection *in;
	const Gpubpf__Member *member; /* NULL: not a merged one */
};

/* Later ones of a name stand in the place of former ones. NULL value: absent, for the reason `why`. */
void environment__add(struct environment *e, const char *group, const char *name, const char *value,
		      const char *why, bool per_run);
void environment__addf(struct environment *e, const char *group, const char *name, bool per_run,
		       const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void environment__clear(struct environment *e); /* empty again */
bool environment__has(const struct environment *e, const char *group, const char *name);

/* known.c: from what the metadata has fields for; observers.c: from the records of the observers. */
void environment__known(struct environment *e, const struct env_scope *s);
void environment__observers(struct environment *e, const struct env_scope *s);

#endif
