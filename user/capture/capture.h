/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The capture file: a header, then blocks, appended and never changed. All integers little-endian.
 *
 *   header   16 bytes: magic "GPUBPF\r\n", u32 version (1), u32 CRC-32C of the 12 bytes before
 *   block    48-byte header, then `stored` bytes of payload:
 *            u32 magic "GBLK" · u16 kind · u16 flags (bit 0: the payload is one zstd frame) ·
 *            u32 stored · u32 plain (payload size once decompressed) · u32 count (records inside) ·
 *            u32 CRC-32C of the stored payload · u64 first_ns · u64 last_ns (0, 0 for blocks without records)
 * · u32 reserved (0) · u32 CRC-32C of the 44 bytes before
 *
 * A reader needs nothing but whole blocks: a killed recorder leaves a file whose every whole block is read.
 * Damage inside is skipped to the next block header with a right CRC, and counted.
 */
#ifndef GPUBPF_CAPTURE_H
#define GPUBPF_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture.pb-c.h"

struct err;
struct gpubpf_rec;
struct capture_writer;
struct capture_reader;

enum capture_block_kind {
	CAPTURE_BLOCK_RECORDS = 1, /* struct gpubpf_rec …, as they came from the ring */
	CAPTURE_BLOCK_META = 2,    /* gpubpf.Meta */
	CAPTURE_BLOCK_COUNTS = 3,  /* gpubpf.Counts; the last one holds */
	CAPTURE_BLOCK_STRINGS = 4, /* reserved for interned strings */
	CAPTURE_BLOCK_FOOTER = 5,  /* gpubpf.Footer; the last block of a capture that was ended */
};

struct capture_writer_opts {
	bool force;         /* replace an existing regular file; otherwise -EEXIST */
	int zstd_level;     /* 0: blocks are stored as they are */
	size_t block_bytes; /* 0: 256 KiB; a block is written when its records reach this (64 KiB … 16 MiB) */
};

/*
 * Takes what would be written, as it comes, instead of a file: live views. Each returns 0 or a negative errno, which
 * is the writer's from then on. A record is whole and known (capture_record_check()); others are counted by
 * capture_writer__unknown().
 */
struct capture_sink {
	int (*meta)(const Gpubpf__Meta *meta, void *arg);
	int (*counts)(const Gpubpf__Counts *counts, void *arg);
	int (*record)(const struct gpubpf_rec *rec, void *arg);
	int (*footer)(const Gpubpf__Footer *footer, void *arg); /* nothing comes behind it */
	void *arg;
};
/* A writer to a sink, which must outlive it. 0 or -ENOMEM with a message. */
int capture_writer__to(const struct capture_sink *sink, struct capture_writer **out, struct err *err);
uint64_t capture_writer__unknown(const struct capture_writer *w); /* 0 with a file: a reader says it */

/*
 * Creates the file (mode 0600, O_NOFOLLOW) and writes its header. `o` NULL: no force, zstd level 1, 256 KiB.
 * With `force` the new file takes the old one's name only when its header is written, and only a regular
 * file is replaced. A FIFO or a character device that exists is written to; "-" is standard output.
 *
 * Errors come with a message. Every function below returns 0 or a negative errno; after a failed write (disk
 * full) the file is cut back to its last whole block, the writer is dead, later calls return the same error
 * with the same message, and capture_writer__dropped() counts the records that did not reach the file.
 * The caller ignores SIGPIPE and SIGXFSZ: a closed pipe and a file size limit are then errors like others.
 */
int capture_writer__open(const char *path, const struct capture_writer_opts *o, struct capture_writer **out,
			 struct err *err);
int capture_writer__meta(struct capture_writer *w, const Gpubpf__Meta *meta, struct err *err);
int capture_writer__counts(struct capture_writer *w, const Gpubpf__Counts *counts, struct err *err);
/*
 * Copies one record into the block in the making. t_ns orders nothing; it only bounds the block's times.
 * -EINVAL: the record's size is less than its header's or no multiple of 8; it is not taken, the writer
 * lives.
 */
int capture_writer__record(struct capture_writer *w, const struct gpubpf_rec *rec, uint64_t t_ns,
			   struct err *err);
/* Writes the block in the making, if any. */
int capture_writer__flush(struct capture_writer *w, struct err *err);
/*
 * Flushes, fills footer->records and ->blocks (those before the footer), writes the footer and syncs. Flush
 * before the footer's ledger is computed, so that what the last block loses is in it. On a writer that died
 * of a full disk the footer still goes into the room that the cut made, if it fits there; the error is
 * returned all the same.
 */
int capture_writer__finish(struct capture_writer *w, Gpubpf__Footer *footer, struct err *err);
uint64_t capture_writer__dropped(const struct capture_writer *w); /* records of every kind */
/* Of these the call records without GPUBPF_CALL_OPEN, by API id; GPUBPF_API_MAX elements, owned by the writer. */
const uint64_t *capture_writer__dropped_calls(const struct capture_writer *w);
/* Items of the shim's batches among them, by probe; GPUBPF_PROBES elements, owned by the writer. */
const uint64_t *capture_writer__dropped_items(const struct capture_writer *w);
uint64_t capture_writer__bytes(const struct capture_writer *w);   /* in the file so far */
uint64_t capture_writer__records(const struct capture_writer *w); /* in the file so far */
void capture_writer__close(struct capture_writer *w);             /* NULL is fine; flushes nothing */

struct capture_status {
	uint64_t file_bytes;
	uint64_t blocks[8];      /* whole blocks by kind; index 0: kinds this version does not know */
	uint64_t records;        /* inside whole record blocks, by their headers */
	uint64_t damaged_bytes;  /* skipped between whole blocks */
	uint64_t damaged_blocks; /* header right, payload wrong (CRC, zstd, decoding) */
	uint64_t bad_records; /* malformed record inside a right block: the rest of that block is skipped */
	uint64_t unknown_records; /* well-formed records of a kind this version does not know; skipped */
	uint64_t tail_bytes;      /* behind the last whole block: a write cut short */
	bool has_footer;
	uint64_t plain_bytes, stored_bytes; /* of record blocks */
	uint64_t first_ns, last_ns;         /* bounds of the record blocks' times; 0, 0 when there is none */
};

/*
 * Opens a capture: scans all block headers, decodes metadata, counts and footer. Errors: -ENOENT and the
 * like for the file itself, -EBADMSG for something that is no capture or of a later version (each with its
 * own message). A truncated or damaged capture opens; status says what is missing.
 */
int capture_reader__open(const char *path, struct capture_reader **out, struct err *err);
/* Owned by the reader. meta is never NULL; counts (the last ones, the footer's where there is one) and
 * footer are NULL when the file has none. */
const Gpubpf__Meta *capture_reader__meta(const struct capture_reader *r);
const Gpubpf__Counts *capture_reader__counts(const struct capture_reader *r);
const Gpubpf__Footer *capture_reader__footer(const struct capture_reader *r);
/* Complete (payload checks included) only after all records were read. */
const struct capture_status *capture_reader__status(const struct capture_reader *r);
/*
 * The next record: 1 and *rec (valid until the next call, 8-byte aligned, size checked against its kind's
 * minimum: a call has all its nwords and nblob inside, and api < GPUBPF_API_MAX; a shim's batch has all its count
 * items inside, and probe < GPUBPF_PROBES; a breakdown with GPUBPF_LATENCY_OFF is a long one; texts of the others end with a NUL), 0 at the end, negative errno on an I/O error. Rewinding starts the payload's counters again.
 */
int capture_reader__next(struct capture_reader *r, const struct gpubpf_rec **rec, struct err *err);
int capture_reader__rewind(struct capture_reader *r);
void capture_reader__close(struct capture_reader *r); /* NULL is fine */

#endif
