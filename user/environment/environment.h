/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a capture knows of where and how it was made, as one flat list of named facts: for inspect, diff and gate
 * (R29, R30). A fact has a value or the reason why it has none, never a value in place of one (R5, R12, R14): what is
 * known to be nothing says so ("none", "not set"). Values are texts, with units; two captures of one environment have
 * the same ones, but for facts that are `per_run`.
 */
#ifndef GPUBPF_ENVIRONMENT_H
#define GPUBPF_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

struct environment;
struct inspection;

struct env_fact {
	const char *group; /* "workload", "device", "driver", "runtime", "host", "capture" or "timing" */
	const char *name; /* "GPU 0 power limit"; once in a group. Of a merged capture: "member 1: GPU 0 …" */
	const char *value;      /* NULL: absent */
	const char *why_absent; /* NULL: there is a value */
	bool per_run; /* differs from run to run by nature (boot, times, measured errors): not to be compared */
};

/*
 * Of a capture that inspection__read() has read; it may be closed afterwards. The list is in the order of the groups
 * above; all texts are its own. 0 or -ENOMEM.
 */
int environment__of(const struct inspection *in, struct environment **env);
size_t environment__facts(const struct environment *env);
const struct env_fact *environment__fact(const struct environment *env, size_t i);
/* NULL: no such fact. */
const struct env_fact *environment__find(const struct environment *env, const char *group, const char *name);
void environment__free(struct environment *env);

/* The groups, in order; NULL behind the last. */
extern const char *const environment_groups[];

#endif
