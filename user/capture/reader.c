// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/message.h"
#include "capture/payload.h"
#include "capture/record.h"
#include "capture/scan.h"
#include "events.h"
#include "util/err.h"

#define META_MAX (64u << 20) /* of all META blocks together */
#define STATUS_KINDS (sizeof(((struct capture_status *)0)->blocks) / sizeof(uint64_t))

struct capture_reader {
	struct capture_scan scan;
	uint64_t start; /* where the blocks begin */
	struct capture_status status, at_open;
	struct payload payload;
	const uint8_t *block; /* payload of the current record block */
	size_t at, end;
	uint32_t left; /* records that its header still promises */
	Gpubpf__Meta *meta, no_meta;
	Gpubpf__Counts *counts;
	Gpubpf__Footer *footer;
	uint8_t *meta_bytes;
	size_t nmeta;
};

static int open_file(struct capture_reader *r, const char *path, struct err *err)
{
	struct stat st;

	/* O_NONBLOCK: a FIFO must not hold the open up; regular files do not mind. */
	r->scan.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (r->scan.fd < 0)
		return err_set(err, -errno, "cannot open %s: %s", path, strerror(errno));
	if (fstat(r->scan.fd, &st) < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return err_set(err, -EISDIR, "%s is a directory, not a capture", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -ESPIPE,
			       "%s is no regular file: save the capture to a file and read that", path);
	r->scan.size = (uint64_t)st.st_size;
	r->status.file_bytes = r->scan.size;
	posix_fadvise(r->scan.fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return 0;
}

static int check_header(struct capture_reader *r, const char *path, struct err *err)
{
	struct {
		struct capture_file_header file;
		struct capture_block_header block;
	} head = { 0 };
	size_t n = r->scan.size < sizeof(head) ? (size_t)r->scan.size : sizeof(head);
	int got;

	if (n == 0)
		return err_set(err, -EBADMSG, "%s is empty: no capture", path);
	got = capture_pread(r->scan.fd, &head, n, 0, err);
	if (got < 0)
		return err_prefix(err, got, "%s", path);
	r->start = sizeof(head.file);
	if (capture_file_header_right(&head.file)) {
		if (head.file.version == CAPTURE_VERSION)
			return 0;
		return err_set(err, -EBADMSG,
			       "%s is a capture of format version %" PRIu32
			       "; this gpubpf reads version %d: use a newer gpubpf",
			       path, head.file.version, CAPTURE_VERSION);
	}
	/* The first block vouches for a file whose header is damaged. */
	if (capture_block_header_right(&head.block)) {
		r->scan.damaged = sizeof(head.file);
		return 0;
	}
	if (n < sizeof(head.file) && memcmp(head.file.magic, CAPTURE_MAGIC, n < 8 ? n : 8) == 0)
		return err_set(err, -EBADMSG,
			       "%s is cut off inside the header of a capture: %zu bytes, nothing recorded",
			       path, n);
	if (memcmp(head.file.magic, CAPTURE_MAGIC, 8) == 0)
		return err_set(err, -EBADMSG,
			       "%s: the header of this capture is damaged, and no block follows it", path);
	return err_set(err, -EBADMSG, "%s is no gpubpf capture", path);
}

static int keep_meta(struct capture_reader *r, const uint8_t *data, size_t n, struct err *err)
{
	Gpubpf__Meta *alone = message_unpack(&gpubpf__meta__descriptor, n, data);
	uint8_t *grown;

	/* One bad block must not take the others along when all are decoded as one. */
	if (!alone || n > META_MAX - r->nmeta) {
		message_free(alone);
		return -EBADMSG;
	}
	message_free(alone);
	grown = realloc(r->meta_bytes, r->nmeta + n + 1);
	if (!grown)
		return err_set(err, -ENOMEM, "out of memory");
	memcpy(grown + r->nmeta, data, n);
	r->meta_bytes = grown;
	r->nmeta += n;
	return 0;
}

static int keep_message(struct capture_reader *r, uint16_t kind, const uint8_t *data, size_t n,
			struct err *err)
{
	Gpubpf__Counts *counts;
	Gpubpf__Footer *footer;

	switch (kind) {
	case CAPTURE_BLOCK_META:
		return keep_meta(r, data, n, err);
	case CAPTURE_BLOCK_COUNTS:
		counts = message_unpack(&gpubpf__counts__descriptor, n, data);
		if (!counts)
			return -EBADMSG;
		message_free(r->counts);
		r->counts = counts;
		return 0;
	default:
		footer = message_unpack(&gpubpf__footer__descriptor, n, data);
		if (!footer)
			return -EBADMSG;
		message_free(r->footer);
		r->footer = footer;
		r->status.has_footer = true;
		return 0;
	}
}

static void count_block(struct capture_status *s, const struct capture_block_header *h)
{
	s->blocks[h->kind < STATUS_KINDS && h->kind <= CAPTURE_BLOCK_FOOTER ? h->kind : 0]++;
	if (h->kind != CAPTURE_BLOCK_RECORDS)
		return;
	if (s->blocks[CAPTURE_BLOCK_RECORDS] == 1 || h->first_ns < s->first_ns)
		s->first_ns = h->first_ns;
	if (h->last_ns > s->last_ns)
		s->last_ns = h->last_ns;
	s->records += h->count;
	s->plain_bytes += h->plain;
	s->stored_bytes += h->stored;
}

static int scan_all(struct capture_reader *r, struct err *err)
{
	struct capture_block_header h;
	uint64_t payload;
	const uint8_t *data;
	int got;

	while ((got = capture_scan__next(&r->scan, &h, &payload, err)) > 0) {
		count_block(&r->status, &h);
		if (h.kind != CAPTURE_BLOCK_META && h.kind != CAPTURE_BLOCK_COUNTS &&
		    h.kind != CAPTURE_BLOCK_FOOTER)
			continue;
		got = payload__read(&r->payload, r->scan.fd, &h, payload, &data, err);
		if (got > 0)
			got = keep_message(r, h.kind, data, h.plain, err);
		if (got == -EBADMSG)
			r->status.damaged_blocks++;
		else if (got < 0)
			return got;
	}
	r->status.damaged_bytes = r->scan.damaged;
	r->status.tail_bytes = r->scan.tail;
	return got;
}

static void decode_meta(struct capture_reader *r)
{
	if (r->nmeta) {
		r->meta = message_unpack(&gpubpf__meta__descriptor, r->nmeta, r->meta_bytes);
		if (!r->meta) /* each block decoded alone: together they are too much */
			r->status.damaged_blocks++;
	}
	free(r->meta_bytes);
	r->meta_bytes = NULL;
	gpubpf__meta__init(&r->no_meta);
}

int capture_reader__open(const char *path, struct capture_reader **out, struct err *err)
{
	struct capture_reader *r = calloc(1, sizeof(*r));
	int ret;

	*out = NULL;
	if (!r)
		return err_set(err, -ENOMEM, "out of memory");
	r->scan.fd = -1;
	ret = open_file(r, path, err);
	if (!ret)
		ret = check_header(r, path, err);
	if (ret)
		goto fail;
	r->scan.window = malloc(CAPTURE_SCAN_WINDOW);
	if (!r->scan.window) {
		ret = err_set(err, -ENOMEM, "out of memory");
		goto fail;
	}
	r->scan.at = r->start;
	ret = scan_all(r, err);
	if (ret < 0) {
		err_prefix(err, ret, "%s", path);
		goto fail;
	}
	decode_meta(r);
	r->at_open = r->status;
	capture_reader__rewind(r);
	*out = r;
	return 0;
fail:
	capture_reader__close(r);
	return ret;
}

const Gpubpf__Meta *capture_reader__meta(const struct capture_reader *r)
{
	return r->meta ? r->meta : &r->no_meta;
}

const Gpubpf__Counts *capture_reader__counts(const struct capture_reader *r)
{
	return r->footer ? r->footer->counts : r->counts;
}

const Gpubpf__Footer *capture_reader__footer(const struct capture_reader *r)
{
	return r->footer;
}

const struct capture_status *capture_reader__status(const struct capture_reader *r)
{
	return &r->status;
}

int capture_reader__rewind(struct capture_reader *r)
{
	r->status = r->at_open;
	r->scan.at = r->start;
	r->at = r->end = 0;
	r->left = 0;
	return 0;
}

/* 1: a record block is there, 0: no more. */
static int next_block(struct capture_reader *r, struct err *err)
{
	struct capture_block_header h;
	uint64_t payload;
	int got;

	while ((got = capture_scan__next(&r->scan, &h, &payload, err)) > 0) {
		if (h.kind != CAPTURE_BLOCK_RECORDS)
			continue;
		got = payload__read(&r->payload, r->scan.fd, &h, payload, &r->block, err);
		if (got > 0) {
			r->at = 0;
			r->end = h.plain;
			r->left = h.count;
			return 1;
		}
		if (got != -EBADMSG)
			return got;
		r->status.damaged_blocks++;
	}
	return got;
}

static void end_texts(uint8_t *rec, uint16_t kind)
{
	if (kind == GPUBPF_REC_TASK) {
		struct gpubpf_task *t = (struct gpubpf_task *)rec;

		t->comm[sizeof(t->comm) - 1] = '\0';
	} else if (kind == GPUBPF_REC_WAKER) {
		struct gpubpf_waker *w = (struct gpubpf_waker *)rec;

		w->comm[sizeof(w->comm) - 1] = '\0';
	} else if (kind == GPUBPF_REC_XID) {
		struct gpubpf_xid *x = (struct gpubpf_xid *)rec;

		x->device[sizeof(x->device) - 1] = '\0';
		x->message[sizeof(x->message) - 1] = '\0';
	}
}

/* 1: *rec; 0: a record of an unknown kind was passed; -EBADMSG: the rest of the block cannot be read. */
static int take_record(struct capture_reader *r, const struct gpubpf_rec **rec)
{
	uint8_t *p = (uint8_t *)r->block + r->at; /* the payload's buffer is the reader's own */
	const struct gpubpf_rec *head = (const struct gpubpf_rec *)p;
	size_t left = r->end - r->at;
	int known;

	if (r->left == 0 || left < sizeof(*head) || head->size < sizeof(*head) || (head->size & 7) ||
	    head->size > left)
		return -EBADMSG;
	known = capture_record_check(head);
	if (known < 0)
		return known;
	r->at += head->size;
	r->left--;
	if (!known) {
		r->status.unknown_records++;
		return 0;
	}
	if (head->kind != GPUBPF_REC_CALL)
		end_texts(p, head->kind);
	*rec = head;
	return 1;
}

int capture_reader__next(struct capture_reader *r, const struct gpubpf_rec **rec, struct err *err)
{
	int got;

	for (;;) {
		while (r->at < r->end) {
			got = take_record(r, rec);
			if (got > 0)
				return 1;
			if (got < 0) {
				r->status.bad_records++;
				r->at = r->end;
				r->left = 0;
			}
		}
		if (r->left) { /* the header promised more than the payload holds */
			r->status.bad_records++;
			r->left = 0;
		}
		got = next_block(r, err);
		if (got <= 0)
			return got;
	}
}

void capture_reader__close(struct capture_reader *r)
{
	if (!r)
		return;
	if (r->scan.fd >= 0)
		close(r->scan.fd);
	free(r->scan.window);
	payload__free(&r->payload);
	message_free(r->meta);
	message_free(r->counts);
	message_free(r->footer);
	free(r->meta_bytes);
	free(r);
}
