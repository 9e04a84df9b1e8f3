/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `gpubpf gate` is asked to check. One table of options serves the command line and the file: a line `key = value` of
 * a section of the file does what the option of the table does, with the same words for values.
 */
#ifndef GPUBPF_CHECK_CONFIG_H
#define GPUBPF_CHECK_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/plan.h"
#include "util/opts.h"

struct err;

enum check_population {                   /* what is counted (R15), and whose moment a mark is (R36) */
			CHECK_AUTO = 0,   /* executions where the device observer was there, else launches */
			CHECK_EXECUTIONS, /* kernel records of CUPTI: launches and nodes of graphs */
			CHECK_LAUNCHES, /* calls that launched, of the host observer; captured ones left out */
			CHECK_NVTX,     /* marks, and starts of ranges */
};

enum check_wants { CHECK_ANY = 0, CHECK_NONE, CHECK_SOME }; /* of a kind of memory */

struct check_kernel {
	char *name; /* exact, or else a shell pattern; see marks.h */
	bool has_launches, has_slack, has_ratio;
	uint64_t launches, slack; /* has_slack and 0: none at all (R33) */
	double ratio;             /* of the median time of each launch key to that of the baseline */
};

struct check_range { /* half-open: marks first … end - 1 (R37) */
	uint64_t first, end;
};
#define CHECK_RANGES 16

struct check_texts {
	char **text;
	size_t n;
};

struct check_config {
	struct check_kernel *kernels;
	size_t nkernels, current; /* 1 + the kernel that options belong to; 0: none */
	enum check_population count;
	uint64_t slack; /* of kernels that have none */
	const char *ledger,
		*readiness; /* NULL: not asked; "uncontradicted", "reconciled"; "ready", "proven" */
	struct check_texts stationary;
	enum check_population marks;
	unsigned long long block_size; /* gaps; 0: auto */
	double tolerance;
	struct check_range range[CHECK_RANGES];
	size_t nranges;
	char *nested_marks, *nested_kernel; /* NULL kernel: all */
	unsigned long long nested_slack;
	enum check_wants staging[MEM_KINDS];
	bool has_delay, has_busy;
	uint64_t delay_ns;
	double busy; /* 0 … 1 */
	char *baseline;
	bool has_regression;
	double regression, power; /* shares */
	int cross_environment;
	/* how it is said */
	const char *file, *junit;
	int json, github, explain;
};

void check_config__init(struct check_config *c);
void check_config__clear(struct check_config *c);

/* The options, as a verb has them: into a struct check_config. */
extern const struct opt check_options[];
/* "section.key" of an option in the file; NULL: the command line's alone. */
const char *check_option_key(const struct opt *o);

/*
 * Reads a file over what stands in `c`. 0 or a negative errno; a message names the file and its line. A baseline that is no
 * absolute path is looked for beside the file.
 */
int check_config__read(struct check_config *c, const char *path, struct err *err);
/* The same of n bytes; `path` is for messages and the baseline. */
int check_config__parse(struct check_config *c, const char *path, const char *text, size_t n,
			struct err *err);

/* Whether what was asked for goes together. 0, or -EINVAL with a message. */
int check_config__verify(const struct check_config *c, struct err *err);
bool check_config__asks(const struct check_config *c); /* for any check at all */
bool check_config__asks_regression(const struct check_config *c);

#endif
