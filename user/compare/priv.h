/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of user/compare share. */
#ifndef GPUBPF_COMPARE_PRIV_H
#define GPUBPF_COMPARE_PRIV_H

#include "compare/compare.h"
#include "environment/environment.h"
#include "util/hist.h"
#include "util/hmap.h"

enum item_kind {
	ITEM_KERNEL,     /* by launch key, on the device */
	ITEM_COPY,       /* by kind of copy, on the device */
	ITEM_SET,        /* on the device */
	ITEM_LAUNCH,     /* launch calls by what the host observer sees of the key */
	ITEM_API,        /* calls by entry point */
	ITEM_MEMORY,     /* allocations by kind of memory */
	ITEM_POPULATION, /* the ledger's */
	ITEM_DELAY,      /* of launches */
	ITEM_WALL,       /* one number per capture: busy time, idle time … */
	ITEM_KINDS,
};

struct item_key { /* compares as bytes */
	uint32_t kind;
	uint32_t name; /* number of a text; 0: none */
	uint32_t
		device; /* number of a text; 0: all devices of its capture are of one kind, or nobody knows */
	uint32_t grid[3], block[3], cluster[3];
	uint32_t has_cluster, registers, static_shared, dynamic_shared, copy;
	uint32_t zero;
};
_Static_assert(sizeof(struct item_key) % 8 == 0, "as hmap.h wants it");

/* Of one thing in one capture. */
struct series {
	uint64_t n;       /* calls, or executions: launches and graph nodes */
	uint64_t nodes;   /* of n: nodes of graphs */
	uint64_t untimed; /* of n: no accepted duration */
	uint64_t ran;     /* population: executions of its calls on the device; has_ran */
	uint64_t bytes, peak;
	bool has_n, has_ran, has_bytes, has_peak;
	struct hist time; /* ns, sum exact */
	struct stats_blocks blocks;
};

struct item {
	struct item_key key;
	uint32_t number;
	struct series **of; /* by capture; NULL: not in it */
	size_t room;
	bool there[2], tested;
	struct stats_result r;
	double p; /* corrected */
	enum stats_finding finding;
};

struct order_lane {       /* a stream */
	uint32_t process; /* 1 …: in the order of their first execution */
	uint32_t device, context, stream;
	uint32_t *
		v; /* numbers of items, in the order of starts, or as the records came where nothing is joined */
	size_t n, room;
};

struct order {
	struct order_lane *lane;
	size_t n;
	struct hmap by_number, procs; /* while it is read */
};

struct order_hunk { /* of one place: so many are in A alone, so many in B */
	size_t at_a, at_b, only_a, only_b;
};

struct order_result {                   /* a stream in both */
	const struct order_lane *a, *b; /* NULL: not there */
	size_t same;                    /* from the beginning on */
	bool whole, gave_up;
	size_t common, only_a, only_b, hunks;
	struct order_hunk *hunk;
};

struct digest { /* a capture */
	unsigned arm;
	char *path, *command, *host, *boot;
	enum ledger_verdict verdict;
	char line[768];
	char *incomplete;    /* why it cannot be compared; NULL: it can */
	bool device, joined; /* it has a device observer; it was joined */
	bool device_alone;   /* the host observer was left out */
	uint64_t calls, records;
	struct environment *env;
	struct order order;
};

struct compare {
	struct compare_opts o;
	struct digest *d;
	size_t n, room;
	size_t arm[2]; /* captures in each */
	struct hmap items;
	void *texts;       /* tsearch(3) */
	const char **text; /* by number - 1 */
	uint32_t ntexts, text_room;
	enum compare_verdict verdict;
	bool cross_host, unequal;
	char **reason;
	size_t nreasons;
	size_t tests;
	struct order_result *lane;
	size_t nlanes;
};

/* items.c */
int compare_intern(struct compare *c, const char *text, uint32_t *number);
const char *compare_text_of(const struct compare *c, uint32_t number); /* "" for 0 */
/* The series of a thing in the newest capture, made if it is not there; NULL: no memory. */
struct series *compare_series(struct compare *c, const struct item_key *key);
struct series *compare_named(struct compare *c, enum item_kind kind, const char *name);
int series__add(struct series *s, uint64_t ns); /* a duration */
int series__append(struct series *s, const struct series *from);
void series__clear(struct series *s);
int compare_test(struct compare *c);

/* An item in one arm, all captures together. */
struct side {
	unsigned captures, with; /* of the arm; that have it */
	bool varies;             /* the captures of the arm have different counts */
	bool has_n, has_ran, has_bytes, has_peak;
	uint64_t n, nodes, untimed, ran, bytes, peak;
	struct hist time;
};
int side__of(const struct compare *c, const struct item *it, unsigned arm, struct side *s);
void side__clear(struct side *s);
/* Per capture. */
double side__n(const struct side *s);
double side__ns(const struct side *s);
/* (p75 - p25) / p50 of single durations; false: none. */
bool side__spread(const struct side *s, double *spread);
bool counts_differ(const struct side *a, const struct side *b);

/* order.c */
void order__begin(struct order *o);
int order__add(struct order *o, const struct join_lane *lane, uint32_t number,
	       uint32_t what); /* 0 or -ENOMEM */
void order__finish(struct order *o, const uint32_t *item_of);
void order__clear(struct order *o);
int compare_order(struct compare *c);
int build_order(const struct compare *c, struct rows *rows);
int build_hunks(const struct compare *c, struct rows *rows);

/* verdict.c */
/* Where a capture was recorded: of a merged one all its members' places. NULL: not known. To be freed. 0 or -ENOMEM. */
int compare_place(const Gpubpf__Meta *m, char **host, char **boot);
int compare_judge(struct compare *c);
int compare_reason(struct compare *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
enum fact_state { FACT_EQUAL, FACT_UNEQUAL, FACT_MISSING, FACT_PER_RUN };
typedef int fact_fn(const char *group, const char *name, const char *a, const char *b, enum fact_state s,
		    void *arg);
/* Every fact of any capture: the values of both arms (NULL: not known; "(differs)" within the arm). */
int compare_facts(const struct compare *c, fact_fn *fn, void *arg);

/* head.c, text.c */
struct compare_summary {
	uint64_t findings[5]; /* launch keys of both arms, by enum stats_finding */
	uint64_t appeared, vanished, unequal;
	double total_ns[2]; /* GPU time per capture */
	bool timed[2];
};
int compare_summary(const struct compare *c, struct compare_summary *s);
const char *compare_label(const struct compare *c,
			  const struct section *s); /* of a table: "", " (not causal)" … */
bool compare__asked(const struct compare *c, const struct section *s); /* false: of orders, without --order */
const char *compare_words(const struct compare *c);
const struct section *compare_section_at(const struct section *const *sections,
					 size_t i); /* NULL behind the last */

/* moved.c, rows.c */
int build_moved(const struct compare *c, struct rows *rows);
int build_names(const struct compare *c, struct rows *rows);
int finding_cell(const struct compare *c, struct rows *rows, const char *finding);
void delta_cell(struct rows *rows, bool there, bool unmeasured, double delta);
void mean_count_cell(struct rows *rows, bool there, bool unmeasured, double v);
const char *item_state(const struct item *it); /* "both", "appeared", "vanished" (R31) */
bool item_blocks(const struct item *it, uint64_t *blocks);

#endif
