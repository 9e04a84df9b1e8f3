/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `gpubpf inspect` knows of a capture, and its renderings. */
#ifndef GPUBPF_INSPECT_H
#define GPUBPF_INSPECT_H

#include <stdio.h>

#include "capture/capture.h"
#include "model/apitab.h"
#include "model/ledger.h"
#include "model/model.h"
#include "stacks/table.h"

struct err;

struct inspection {
	const char *path;
	struct capture_reader *reader;
	/* Owned by the reader. */
	const Gpubpf__Meta *meta;
	const Gpubpf__Counts *counts;
	const Gpubpf__Footer *footer;
	const struct capture_status *status;

	struct apitab *tab;
	unsigned bad_apis; /* descriptions of entry points that cannot be used */
	unsigned armed, missing, refused;
	/* After inspection__read(): what the file holds. */
	uint64_t in_file[GPUBPF_API_MAX]; /* call records, those of open calls left out */
	uint64_t calls, open_calls, tasks, xids, batches;
	uint64_t breakdowns; /* of calls' time */
	uint64_t waits;      /* in futexes, inside calls */
	struct stack_counts stacks;
	struct join *join;  /* of both observers; NULL: the capture holds nothing of the shim's */
	bool host_left_out; /* no probe stood in libcuda, and no call of the host is here (gpubpf.Meta) */
	struct model *own_model; /* what the join stands on where the caller has no model */
	struct ledger ledger;
	/* Set after inspection__open(): of a caller's own model, sees every call once. 0 or a negative errno. */
	model_call_fn *tap;
	void *tap_arg;
	/* Likewise: the join keeps nothing and hands over what ran (join__stream()); the ledger is then the host's alone. */
	int (*stream)(uint32_t key, uint32_t lane, const struct gpubpf_activity *a, void *arg);
	void *stream_arg;
};

/* Zeroes *s, opens the capture. What fails leaves it so that inspection__close() is right. */
int inspection__open(struct inspection *s, const char *path, struct err *err);

/* Called with each record; other than 0 ends the reading and is returned. */
typedef int inspection_fn(struct inspection *s, const struct gpubpf_rec *rec, void *arg);
/* Reads every record (R10), joins the two observers and computes the ledger. */
int inspection__read(struct inspection *s, inspection_fn *fn, void *arg, struct err *err);
/*
 * The same for a caller with a model of its own, which is fed and finished: the join's processes are then the model's,
 * and it must live as long as the inspection. A capture with nothing of the shim's costs no more than the model.
 */
int inspection__read_model(struct inspection *s, struct model *m, struct err *err);
/* -ESRCH: the model's filter asks for a process or thread that the capture has not. */
int inspection__check_filter(const struct inspection *s, const struct model *m, struct err *err);
void inspection__close(struct inspection *s);

/* Returns 0 or -ENOMEM; whether the stream took it is the caller's to ask. */
int inspect_text(const struct inspection *s, FILE *f, bool apis);
int inspect_json(const struct inspection *s, FILE *f, bool apis);
/* inspection_fn for records as lines of text and as lines of JSON; arg is the FILE. -EIO when it is closed. */
int inspect_record_text(struct inspection *s, const struct gpubpf_rec *rec, void *arg);
int inspect_record_json(struct inspection *s, const struct gpubpf_rec *rec, void *arg);

/* The records of NVTX, as lines of the same kinds: known once all records have been read. 0, or -EIO when it is closed. */
int inspect_markers(const struct inspection *s, FILE *f, bool json);
void inspect_put_quoted(FILE *f, const char *s);

/* Machine words shared by text and JSON. */
const char *inspect_task_event(uint32_t event);      /* NULL: not known */
const char *inspect_call_flag(unsigned bit);         /* of flags that say what is absent; NULL: none */
const char *inspect_api_state(const Gpubpf__Api *a); /* "armed", "missing", "refused" */
const char *inspect_block_kind(unsigned kind);       /* "records", "metadata" … */
/* Realtime nanoseconds of a monotonic time by the clock pair nearest before it (R23); false: no pair. */
bool inspect_wall(const struct inspection *s, uint64_t mono, uint64_t *wall);

#endif
