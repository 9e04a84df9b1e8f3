/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of user/merge share. */
#ifndef GPUBPF_MERGE_PRIV_H
#define GPUBPF_MERGE_PRIV_H

#include "capture/capture.h"
#include "events.h"
#include "merge/merge.h"
#include "trace/identity.h"
#include "util/hmap.h"

struct merge_member {
	const char *path;
	struct identity id;
	Gpubpf__Member pub; /* as it is written; what it points to is the reader's, or kept by struct merge */
	/* Alone, by merge_look() */
	uint32_t frames, chains; /* the largest numbers of stacks */
	enum ledger_verdict verdict;
	/* Its clock, by merge_anchor() */
	uint64_t offset, bracket; /* CLOCK_REALTIME - CLOCK_MONOTONIC, by the tightest of its pairs */
	bool has_bracket, has_utc;
	uint64_t utc;
	size_t clock; /* the first member with the same one */
	/* While writing */
	struct capture_reader *reader;
	const Gpubpf__Meta *meta;
	const Gpubpf__Counts *counts;
	const Gpubpf__Footer *footer;
	uint32_t frame_base, chain_base;
	uint16_t api[GPUBPF_API_MAX]; /* 1 + the number in the merged capture; 0: none yet */
	const struct gpubpf_rec *rec; /* the next one; NULL: over */
	uint64_t time;                /* of it, after the shift */
};

struct merge {
	const struct merge_opts *o;
	struct merge_member *member;
	size_t n;
	void **kept; /* freed at the end */
	size_t nkept, kept_room;
	struct hmap api_numbers, library_numbers; /* what is the same in two members is there once */
	uint32_t napis, nlibraries;
	uint64_t records, done; /* of all, and written */
	uint64_t start_ns, end_ns;
	uint64_t room[8192]; /* one record, being rewritten */
};

/* Memory until the end of the merge, zeroed or a copy; NULL: none. */
void *merge_keep(struct merge *m, size_t n);
void *merge_copy(struct merge *m, const void *from, size_t n);
char *merge_text(struct merge *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Reads a capture by itself: identity, verdict and ledger, largest numbers. */
int merge_look(struct merge *m, struct merge_member *at, struct err *err);
/* Places every member on one clock, or refuses. */
int merge_anchor(struct merge *m, struct merge_result *r, struct err *err);

/* 0 stays 0, which is nobody, or not known. */
uint32_t merge_id(const struct merge_member *at, uint32_t id);
/* 0 stays 0, which is no time; and what would wrap is no time of this capture's and stays as wrong as it was. */
uint64_t merge_time(const struct merge_member *at, uint64_t t);
/* The number of an entry point in the merged capture; -E2BIG: no more numbers. */
int merge_api(struct merge *m, struct merge_member *at, uint32_t api, uint16_t *number);
/* As they are described; *fresh: no member before had it. *out is a copy with the merged capture's numbers, of fresh ones. */
int merge_new_api(struct merge *m, struct merge_member *at, const Gpubpf__Api *a, Gpubpf__Api *out,
		  bool *fresh);
int merge_library(struct merge *m, struct merge_member *at, const Gpubpf__Library *l, uint32_t *number,
		  bool *fresh);

/* The next record in m->room, as the merged capture has it. */
int merge_rewrite(struct merge *m, struct merge_member *at, struct err *err);
uint64_t merge_record_time(const struct gpubpf_rec *rec, uint64_t otherwise);

/* Metadata: of all, then of each member. The counters and, where all members have one, the footer. */
int merge_write_meta(struct merge *m, struct capture_writer *w, struct err *err);
int merge_write_end(struct merge *m, struct capture_writer *w, struct err *err);

#endif
