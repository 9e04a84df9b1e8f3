/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether two samples of times differ, by how much, and what could have been seen. Nothing here knows of captures.
 *
 * Launches that follow each other share clocks, caches and neighbours: they are no independent measurements, and a test
 * over single launches finds "significant" differences everywhere. The unit is therefore
 *
 *   block     where each arm is one capture: the mean of consecutive values, at most 64 of them per key and capture. Blocks
 *             that still follow their neighbours are joined, and what correlation is left widens the test. Two-sided
 *             Wilcoxon-Mann-Whitney test over the block means; ratio and interval are those of Hodges and Lehmann over all
 *             ratios of a block of B to a block of A, which no single outlier moves.
 *   capture   where an arm has several captures: the logarithm of each capture's median block mean, Student's t with a
 *             common variance. Only this sees how runs differ from one another.
 *
 * A difference is claimed where the test, corrected for all tests made (stats_holm()), rejects AND it is larger than the
 * noise: opts.floor, and for blocks the robust spread of the block means. One run cannot tell how the next will differ; the
 * floor stands for that. What rejects below it is WITHIN_NOISE.
 *
 * Deterministic: no random numbers.
 */
#ifndef GPUBPF_COMPARE_STATS_H
#define GPUBPF_COMPARE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATS_BLOCKS 64    /* per key and capture, at most */
#define STATS_BLOCKS_MIN 4 /* fewer in either arm: not compared */
#define STATS_ALPHA 0.05   /* false alarms among all tests of one comparison together */
#define STATS_POWER 0.8    /* of the minimal detectable effect */
#define STATS_FLOOR 0.01   /* 1 % */

/* Values in their order, as the means of at most STATS_BLOCKS blocks. All-zero bytes are an empty one. */
struct stats_blocks {
	uint64_t size; /* values per block: a power of two; 0 while empty */
	uint32_t n, room;
	uint64_t *sum;             /* n of them: whole blocks */
	uint64_t rest_n, rest_sum; /* of the block that is not whole: in no mean */
};
int stats_blocks__add(struct stats_blocks *b, uint64_t v); /* 0 or -ENOMEM (then nothing changed) */
/* What came behind it, as of another stream of values. The same errors. */
int stats_blocks__append(struct stats_blocks *b, const struct stats_blocks *from);
double stats_blocks__mean(const struct stats_blocks *b, uint32_t i);
void stats_blocks__clear(struct stats_blocks *b);

struct stats_arm { /* of one key; captures without a value of it are left out of v */
	const struct stats_blocks *const *v;
	size_t n; /* captures */
};

struct stats_opts { /* zero: the defaults above */
	double alpha, power, floor;
};

enum stats_unit { STATS_UNIT_NONE = 0, STATS_UNIT_BLOCK, STATS_UNIT_CAPTURE };

struct stats_result {
	enum stats_unit unit; /* NONE: too few; nothing below means anything */
	size_t na, nb;        /* units in each arm, after joining */
	double ratio;         /* B / A: 1.03 is 3 % more */
	double low, high;     /* its interval, 1 - alpha; not corrected for several tests */
	double p;             /* two-sided, not corrected */
	double noise;         /* 0.01: what is not more than 1 % off is not claimed */
	double detectable;    /* 0.02: a change of 2 % would have been claimed with opts.power, at alpha */
	double correlation;   /* of neighbouring blocks, after joining; 0 for captures */
};

/* 0 or -ENOMEM. */
int stats_compare(const struct stats_arm *a, const struct stats_arm *b, const struct stats_opts *o,
		  struct stats_result *r);

/* p-values as if each were the only test: Holm's, in place. 0 or -ENOMEM. */
int stats_holm(double *p, size_t n);

enum stats_finding {
	STATS_NOT_COMPARED = 0, /* too few blocks or captures */
	STATS_NO_DIFFERENCE,    /* none found; one of `detectable` would have been */
	STATS_WITHIN_NOISE,     /* there, and not larger than the noise */
	STATS_MORE,
	STATS_LESS,
};
/* p: corrected. */
enum stats_finding stats_judge(const struct stats_result *r, double p, const struct stats_opts *o);
const char *stats_finding_name(enum stats_finding f); /* "more", "within_noise" … */
const char *stats_finding_text(enum stats_finding f); /* "more", "within noise" … */

/*
 * The change that n blocks (or captures) per arm would show with opts.power, where their relative spread (standard
 * deviation over mean) is `spread`: for planning a gate. 0.02 is 2 %; infinite where n is too small.
 */
double stats_detectable(size_t n, double spread, const struct stats_opts *o);

/* P(T > t), t ≥ 0, of Student's t with df degrees of freedom; 0: the normal distribution. And its inverse, 0 < p ≤ 0.5. */
double stats_tail(double t, unsigned df);
double stats_tail_at(double p, unsigned df);

#endif
