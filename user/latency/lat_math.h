/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arithmetic of `gpubpf latency`: nothing here knows of captures. */
#ifndef GPUBPF_LAT_MATH_H
#define GPUBPF_LAT_MATH_H

#include "util/hist.h"
#include "util/hmap.h"

/* What the way of a call's work to the device consists of, in the order of precedence. */
enum lat_part {
	LAT_CALL, /* inside the call: from its entry to its return, or to the start where that came first */
	LAT_STREAM, /* until what ran before in the same stream had ended, pauses between such things included */
	LAT_WAIT, /* until what it had to wait for in other streams had ended: an event, the default stream */
	LAT_OTHERS, /* what follows, while other streams of the device ran something: no dependency is known */
	LAT_QUEUED, /* of the rest: from CUPTI's time of queueing to that of submission, or to the start without it */
	LAT_SUBMITTED, /* of the rest: from CUPTI's time of submission to the start */
	LAT_UNKNOWN,   /* what remains */
	LAT_PARTS,
};

#define LAT_PARTS_MAX 16 /* of any measure */

struct lat_span {
	uint64_t start, end;
};

struct lat_window {
	uint64_t from, start; /* from ≤ start */
	uint64_t prev_end;    /* of the same stream; 0: nothing ran before */
	uint64_t wait_end;    /* of what it had to wait for in other streams; 0: nothing is known */
	bool has_queued, has_submitted;
	uint64_t queued, submitted;
	const struct lat_span *others; /* other streams: in order, none touches another */
	size_t nothers;
};

/* The parts; their sum is start - from, whatever the times are. part[LAT_CALL] is 0. */
void lat_split(const struct lat_window *w, uint64_t part[LAT_PARTS]);
/* From when on lat_split() looks at the other streams. */
uint64_t lat_split_rest(const struct lat_window *w);
/* Sorts spans and makes one of those that meet; how many are left. */
size_t lat_unite(struct lat_span *s, size_t n);
/* How many of n calls are the slowest 1 %: one of each hundred begun. */
uint64_t lat_slowest(uint64_t n);

/* Bars: 0, then nine to each power of ten: [1, 2) … [9, 10), [10, 20) … */
#define LAT_BARS 173
unsigned lat_bar(uint64_t v);
uint64_t lat_bar_from(unsigned bar);
bool lat_bar_below(unsigned bar, uint64_t *v); /* false: the last one has no end */

struct lat_dist {
	struct hist h;
	uint64_t bar[LAT_BARS]; /* exact */
};
int lat_dist__add(struct lat_dist *d, uint64_t v); /* 0 or -ENOMEM */
int lat_dist__merge(struct lat_dist *into, const struct lat_dist *from);
void lat_dist__clear(struct lat_dist *d);

/* Bars put together until no more than `max` rows remain, empty ones at the ends left out. How many. */
struct lat_bin {
	uint64_t from, below, n;
	bool open; /* has no end */
};
unsigned lat_bins(const struct lat_dist *d, struct lat_bin *bins, unsigned max);

/* ---- One population, one measure ---- */

struct lat_fact { /* what a call is: a word of enum lat_feature_kind and which one of these */
	uint64_t kind, value;
};

#define LAT_FACTS_MAX 24
struct lat_facts {
	struct lat_fact fact[LAT_FACTS_MAX];
	unsigned n;
};
static inline void lat_facts__add(struct lat_facts *f, uint64_t kind, uint64_t value)
{
	if (f->n < LAT_FACTS_MAX)
		f->fact[f->n++] = (struct lat_fact){ kind, value };
}

struct lat_feature {
	struct lat_fact key;
	struct hist h; /* of the calls that are this */
};

/*
 * Which calls are slow is known when all were seen. So nothing is counted for "slow" calls: each share is a histogram
 * over the whole's length, and its tail is read once the threshold is known, which is a bucket's edge.
 */
struct lat_study {
	struct lat_dist dist;
	struct hist split;               /* of those whose parts are known */
	struct hist part[LAT_PARTS_MAX]; /* ns of the part, in the bucket of the whole */
	struct hist had[LAT_PARTS_MAX];  /* calls that had some of it */
	struct hmap features;            /* struct lat_feature */
	bool ready;                      /* features has its sizes */
};

struct lat_tail {
	uint64_t from; /* ns: calls that took so long are the slow ones */
	uint64_t slow, others;
};

/* part: nparts of them, or NULL where they are not known. 0 or -ENOMEM. */
int lat_study__add(struct lat_study *s, uint64_t ns, const uint64_t *part, unsigned nparts,
		   const struct lat_facts *f);
/* False: no calls. Each hundredth call at most is slow, but where the topmost bucket has more. */
bool lat_study__tail(const struct lat_study *s, struct lat_tail *t);
/* Joins a feature into another one of the same study. 0 or -ENOMEM. */
int lat_study__rename(struct lat_study *s, struct lat_fact from, struct lat_fact to);
void lat_study__clear(struct lat_study *s);

#endif
