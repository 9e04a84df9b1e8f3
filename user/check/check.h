/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `gpubpf gate`: checks of captures. Each says what was seen against what was wanted, by which instrument and how fine
 * (R36), and ends in one of three states; what was not evaluable is neither passed nor failed (R32).
 *
 * Life: check_run__init(), check_run__baseline() where one is asked for, check_run__capture() for each file,
 * check_run__finish(), the renderings, check_run__clear().
 */
#ifndef GPUBPF_CHECK_CHECK_H
#define GPUBPF_CHECK_CHECK_H

#include <jansson.h>
#include <stdio.h>

#include "check/advice.h"
#include "check/config.h"

struct err;
struct check_samples;
struct compare_evidence;

/* Zero is not healthy (R1). */
enum check_state { CHECK_NOT_EVALUABLE = 0, CHECK_FAILED, CHECK_PASSED, CHECK_STATES };

#define CHECK_ADVICE_MAX 8

struct check_result {
	enum check_state state;
	const char *check; /* "completeness" … */
	char *subject;     /* a kernel, a mark; NULL: none */
	char *text;        /* what was seen, against what */
	char *source;      /* NULL: no instrument spoke */
	char *granularity;
	json_t *figures; /* an object: the numbers of the text */
	struct check_advice {
		char *missing, *command; /* command may be NULL: nothing supplies it */
	} advice[CHECK_ADVICE_MAX];
	unsigned nadvice;
};

struct check_capture {
	char *path;
	char *headline; /* its verdict; NULL: it could not be read */
	const char *verdict;
	struct check_result *result;
	size_t n, room;
};

struct check_run {
	const struct check_config *c;
	struct check_capture *capture;
	size_t n;
	struct check_samples *base; /* of the baseline */
	struct compare_evidence *base_evidence;
	char *base_error; /* why there is none */
	uint64_t count[CHECK_STATES];
	enum check_state state;
};

void check_run__init(struct check_run *r, const struct check_config *c);
/* A baseline that cannot be read makes its checks not evaluable. 0 or -ENOMEM. */
int check_run__baseline(struct check_run *r, struct err *err);
/* One capture; what cannot be read is a result, too. 0 or -ENOMEM. */
int check_run__capture(struct check_run *r, const char *path, struct err *err);
void check_run__finish(struct check_run *r);
void check_run__clear(struct check_run *r);

int check_run__status(const struct check_run *r); /* the exit status: 0, 1, 2 */
const char *check_state_name(enum check_state s); /* "pass", "fail", "not evaluable" */
const char *check_result__name(const struct check_result *r, char *buf, size_t n); /* "completeness saxpy" */
void check_run__summary(const struct check_run *r, char *buf, size_t n);

/* Renderings. 0 or -ENOMEM; whether the stream took it is the caller's to ask. */
int check_text(const struct check_run *r, FILE *f, bool color);
int check_json(const struct check_run *r, FILE *f);
int check_junit(const struct check_run *r, FILE *f);
void check_github(const struct check_run *r, FILE *f);

#endif
