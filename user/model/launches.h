/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Launches by launch key: function, grid, block, cluster, dynamic shared memory. */
#ifndef GPUBPF_LAUNCHES_H
#define GPUBPF_LAUNCHES_H

#include "model/graphs.h"
#include "model/names.h"

/* Which parts of the key the call's record holds. */
enum launch_has {
	LAUNCH_HAS_FUNC = 1,
	LAUNCH_HAS_GRID = 2,
	LAUNCH_HAS_BLOCK = 4,
	LAUNCH_HAS_SHARED = 8,
	LAUNCH_HAS_CLUSTER = 16,    /* a cluster was asked for */
	LAUNCH_CLUSTER_UNREAD = 32, /* attributes could not be read, or not all of them */
};

struct launch_key {
	uint64_t func;  /* with a name: its number; without: struct handle * */
	uint32_t epoch; /* without a name */
	uint32_t named;
	uint32_t has;
	uint32_t grid[3], block[3], cluster[3];
	uint32_t shared;
	uint32_t zero;
};

struct launch_row {
	struct launch_key key;
	uint32_t name;     /* 0: not resolved */
	uint64_t handle;   /* value, when there is no name */
	struct proc *proc; /* of the handle, when there is no name */
	struct tally calls;
	uint64_t ns, timed; /* host time inside the calls */
	uint64_t *streams;  /* bits: numbers of streams with a launch that was not captured */
	uint32_t stream_words;
	bool streams_unknown; /* some launch's stream is not in the record */
};

struct launches {
	struct hmap rows, merged, streams;
	struct stream_id last_stream;
	uint64_t last_number;
	bool have_last;
};

/* The key of a launch, as known now. 0 or -ENOMEM. */
int launch_key__of(struct launch_key *k, struct names *names, const struct view *v);

/* Launch keys as they came. A key's number is how many others came before it: the same in each pass over a capture. */
struct launch_number {
	struct launch_key key;
	uint64_t number;
};
void launch_numbers__begin(struct hmap *seen); /* cleared first */
/* *there is NULL for what is no launch made by the application; *first: the key was not there before. 0 or -ENOMEM. */
int launch_numbers__put(struct hmap *seen, struct names *names, const struct view *v,
			const struct launch_number **there, bool *first);

/* Resolves what can be resolved now. 0 or the name's number; the handle's value and process where there is none. */
uint32_t launch_key__resolve(struct launch_key *k, uint64_t *handle, struct proc **proc);

void launches__init(struct launches *l);
void launches__clear(struct launches *l);
int launches__call(struct launches *l, struct names *names, const struct view *v); /* 0 or -ENOMEM */
/* Resolves what can be resolved now and joins rows that turn out to be one; then l->merged holds the rows. */
int launches__finish(struct launches *l);
uint64_t launch_row__streams(const struct launch_row *r);              /* distinct ones */
bool launch_row__blocks(const struct launch_row *r, uint64_t *blocks); /* per launch */

#endif
