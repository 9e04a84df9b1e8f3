// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "capture/capture.h"
#include "capture/format.h"
#include "capture/record.h"
#include "events.h"
#include "util/crc32c.h"
#include "util/err.h"

#define READER_WAIT_MS 3000 /* for somebody to read a named pipe */
#define BLOCK_DEFAULT (256u << 10)
#define BLOCK_MIN (64u << 10) /* the longest record fits */
#define BLOCK_MAX (16u << 20)
#define HEAD sizeof(struct capture_block_header)

struct capture_writer {
	const struct capture_sink *sink; /* instead of all that follows up to `bytes` */
	int fd;
	bool regular; /* can be cut back and synced */
	int error;    /* of the write that failed; 0: alive */
	struct err why;
	char *path;
	int level;
	ZSTD_CCtx *zstd;
	uint8_t *block; /* room for a header, then the records of the block in the making */
	size_t fill, capacity;
	uint32_t count;
	uint64_t first_ns, last_ns;
	uint8_t *packed; /* room for a header, then the compressed payload */
	size_t packed_capacity;
	uint64_t bytes, records, blocks; /* in the file */
	uint64_t dropped, unknown;
	uint64_t dropped_calls[GPUBPF_API_MAX];
	uint64_t dropped_items[GPUBPF_PROBES];
};

/* A pipe that nobody reads yet is waited for, but not for ever: the caller may have a command that waits. */
static int open_existing(const char *path, const struct stat *st, int *fd, struct err *err)
{
	int flags = O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, r;
	struct timespec nap = { .tv_nsec = READER_WAIT_MS * 10000L };

	for (int i = 0; i < 100; i++) {
		*fd = open(path, flags | O_NONBLOCK);
		if (*fd >= 0 || errno != ENXIO || !S_ISFIFO(st->st_mode))
			break;
		nanosleep(&nap, NULL);
	}
	if (*fd >= 0 && fcntl(*fd, F_SETFL, O_WRONLY) == 0)
		return 0;
	r = -errno;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	if (r == -ENXIO && S_ISFIFO(st->st_mode))
		return err_set(err, r, "%s: nobody reads this pipe: start its reader first", path);
	return err_set(err, r, "%s: cannot open this %s to write: %s", path,
		       S_ISFIFO(st->st_mode) ? "pipe" : "device", strerror(-r));
}

static int refuse_existing(const char *path, const struct stat *st, bool force, struct err *err)
{
	const char *what = S_ISDIR(st->st_mode)   ? "a directory"
			   : S_ISLNK(st->st_mode) ? "a symbolic link, which is not followed"
			   : S_ISBLK(st->st_mode) ? "a block device"
						  : "no regular file";

	if (!S_ISREG(st->st_mode))
		return err_set(err, S_ISDIR(st->st_mode) ? -EISDIR : -EEXIST,
			       "%s is %s: name another output file", path, what);
	if (!force)
		return err_set(err, -EEXIST, "%s exists: name another output file, or replace it with -f",
			       path);
	return 0;
}

static int creation_failed(const char *path, int r, struct err *err)
{
	const char *todo = r == -EACCES || r == -EPERM || r == -EROFS ? ": write to a directory of yours (-o)"
			   : r == -ENOENT                             ? ": make the directory first"
			   : r == -ENOSPC || r == -EDQUOT ? ": free some space or write elsewhere (-o)"
							  : "";

	return err_set(err, r, "cannot create %s: %s%s", path, strerror(-r), todo);
}

/* With `force` over an old file the new one has a temporary name (returned) until its header stands. */
static int create(struct capture_writer *w, const char *path, bool force, char **temporary, struct err *err)
{
	struct stat st;
	int r;

	*temporary = NULL;
	if (strcmp(path, "-") == 0) {
		w->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		if (w->fd < 0)
			return err_set(err, -errno, "standard output: %s", strerror(errno));
		if (isatty(w->fd))
			return err_set(err, -EINVAL, "a capture is not written to a terminal: name a file");
		return 0;
	}
	w->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (w->fd >= 0)
		return 0;
	r = -errno;
	if (r != -EEXIST || lstat(path, &st) < 0)
		return creation_failed(path, r, err);
	if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode))
		return open_existing(path, &st, &w->fd, err);
	r = refuse_existing(path, &st, force, err);
	if (r)
		return r;
	if (asprintf(temporary, "%s.XXXXXX", path) < 0)
		return err_set(err, -ENOMEM, "out of memory");
	w->fd = mkostemp(*temporary, O_CLOEXEC);
	if (w->fd >= 0)
		return 0;
	r = -errno;
	free(*temporary);
	*temporary = NULL;
	return creation_failed(path, r, err);
}

static int write_all(int fd, const void *data, size_t n)
{
	const uint8_t *p = data;

	while (n) {
		ssize_t got = write(fd, p, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -EIO;
		p += got;
		n -= (size_t)got;
	}
	return 0;
}

static const char *remedy(int error)
{
	switch (-error) {
	case ENOSPC:
		return "free some space, or write to another file system (-o)";
	case EDQUOT:
		return "the disk quota is used up: free some space, or write elsewhere (-o)";
	case EFBIG:
		return "the file has reached its size limit (ulimit -f): raise it, or record for less time "
		       "(-d)";
	case EPIPE:
		return "the reader of the pipe went away";
	case EIO:
		return "the disk reports an error (dmesg has more): write to another one (-o)";
	default:
		return "write to another file system (-o)";
	}
}

static void count_drop(struct capture_writer *w, const struct gpubpf_rec *rec)
{
	const struct gpubpf_call *c = (const struct gpubpf_call *)rec;
	const struct gpubpf_shim *s = (const struct gpubpf_shim *)rec;

	w->dropped++;
	/* The counters call an open one abandoned or in flight, not recorded. */
	if (rec->kind == GPUBPF_REC_CALL && rec->size >= sizeof(*c) && c->api < GPUBPF_API_MAX &&
	    !(c->flags & GPUBPF_CALL_OPEN))
		w->dropped_calls[c->api]++;
	else if (rec->kind == GPUBPF_REC_SHIM && rec->size >= sizeof(*s) && s->probe < GPUBPF_PROBES)
		w->dropped_items[s->probe] += s->count;
}

static void drop_block(struct capture_writer *w)
{
	for (size_t at = HEAD; at < w->fill;) {
		const struct gpubpf_rec *rec = (const struct gpubpf_rec *)(w->block + at);

		count_drop(w, rec);
		at += rec->size;
	}
	w->fill = HEAD;
	w->count = 0;
}

static int dead(const struct capture_writer *w, struct err *err)
{
	return err_set(err, w->error, "%s", w->why.msg);
}

static int write_failed(struct capture_writer *w, int error)
{
	int cut = 0;

	/* What was written of the block must go: the file stays a row of whole blocks. */
	if (w->regular &&
	    (ftruncate(w->fd, (off_t)w->bytes) < 0 || lseek(w->fd, (off_t)w->bytes, SEEK_SET) < 0))
		cut = errno;
	w->error = error;
	err_set(&w->why, error,
		"writing %s: %s after %" PRIu64 " bytes; the %" PRIu64
		" records in it stay readable%s%s — %s",
		w->path, strerror(-error), w->bytes, w->records,
		cut ? ", though its torn last block could not be cut off: " : "", cut ? strerror(cut) : "",
		remedy(error));
	drop_block(w);
	return error;
}

/* `buf` has room for the header before its `plain` bytes of payload. */
static int write_block(struct capture_writer *w, struct capture_block_header *h, uint8_t *buf, uint32_t plain)
{
	int r;

	h->plain = h->stored = plain;
	if (w->level) {
		size_t n = ZSTD_compressCCtx(w->zstd, w->packed + HEAD,
					     plain < w->packed_capacity ? plain : w->packed_capacity,
					     buf + HEAD, plain, w->level);

		/* An error here is "does not fit": not smaller than plain, or a message larger than a block.
		 */
		if (!ZSTD_isError(n) && n < plain) {
			h->flags |= CAPTURE_FLAG_ZSTD;
			h->stored = (uint32_t)n;
			buf = w->packed;
		}
	}
	h->payload_crc = crc32c(0, buf + HEAD, h->stored);
	capture_block_header_seal(h);
	memcpy(buf, h, HEAD);
	r = write_all(w->fd, buf, HEAD + h->stored);
	if (r)
		return write_failed(w, r);
	w->bytes += HEAD + h->stored;
	w->blocks++;
	return 0;
}

int capture_writer__flush(struct capture_writer *w, struct err *err)
{
	struct capture_block_header h = { .kind = CAPTURE_BLOCK_RECORDS };

	if (w->error)
		return dead(w, err);
	if (w->sink || w->fill == HEAD)
		return 0;
	h.count = w->count;
	h.first_ns = w->first_ns;
	h.last_ns = w->last_ns;
	if (write_block(w, &h, w->block, (uint32_t)(w->fill - HEAD)))
		return dead(w, err);
	w->records += w->count;
	w->fill = HEAD;
	w->count = 0;
	return 0;
}

/* What the sink made of it. */
static int given(struct capture_writer *w, int r, struct err *err)
{
	if (!r)
		return 0;
	w->error = r;
	err_set(&w->why, r, "taking the records in: %s", strerror(-r));
	return dead(w, err);
}

static int give_record(struct capture_writer *w, const struct gpubpf_rec *rec, struct err *err)
{
	int known = w->error ? 0 : capture_record_check(rec);

	if (w->error) {
		count_drop(w, rec);
		return dead(w, err);
	}
	if (known <= 0) {
		w->unknown++;
		return 0;
	}
	w->records++;
	return given(w, w->sink->record(rec, w->sink->arg), err);
}

int capture_writer__record(struct capture_writer *w, const struct gpubpf_rec *rec, uint64_t t_ns,
			   struct err *err)
{
	size_t size = rec->size;
	int r;

	if (__builtin_expect(size < sizeof(*rec) || (size & 7), 0))
		return err_set(err, -EINVAL, "a record of %zu bytes: records are multiples of 8 bytes", size);
	if (w->sink)
		return give_record(w, rec, err);
	if (__builtin_expect(w->error || w->fill + size > w->capacity, 0)) {
		r = capture_writer__flush(w, err);
		if (r) {
			count_drop(w, rec);
			return r;
		}
	}
	memcpy(w->block + w->fill, rec, size);
	w->fill += size;
	if (w->count++ == 0) {
		w->first_ns = w->last_ns = t_ns;
		return 0;
	}
	w->first_ns = t_ns < w->first_ns ? t_ns : w->first_ns;
	w->last_ns = t_ns > w->last_ns ? t_ns : w->last_ns;
	return 0;
}

static int write_message(struct capture_writer *w, uint16_t kind, const ProtobufCMessage *msg,
			 struct err *err)
{
	struct capture_block_header h = { .kind = kind };
	size_t n = protobuf_c_message_get_packed_size(msg);
	uint8_t *buf;
	int r;

	if (n > CAPTURE_PLAIN_MAX)
		return err_set(err, -E2BIG, "writing %s: a message of %zu bytes is too large for a block",
			       w->path, n);
	buf = malloc(HEAD + n);
	if (!buf)
		return err_set(err, -ENOMEM, "writing %s: out of memory", w->path);
	protobuf_c_message_pack(msg, buf + HEAD);
	r = write_block(w, &h, buf, (uint32_t)n);
	free(buf);
	return r ? dead(w, err) : 0;
}

int capture_writer__meta(struct capture_writer *w, const Gpubpf__Meta *meta, struct err *err)
{
	if (w->error)
		return dead(w, err);
	if (w->sink)
		return given(w, w->sink->meta(meta, w->sink->arg), err);
	return write_message(w, CAPTURE_BLOCK_META, &meta->base, err);
}

int capture_writer__counts(struct capture_writer *w, const Gpubpf__Counts *counts, struct err *err)
{
	if (w->error)
		return dead(w, err);
	if (w->sink)
		return given(w, w->sink->counts(counts, w->sink->arg), err);
	return write_message(w, CAPTURE_BLOCK_COUNTS, &counts->base, err);
}

static bool out_of_room(int error)
{
	return error == -ENOSPC || error == -EDQUOT || error == -EFBIG;
}

int capture_writer__finish(struct capture_writer *w, Gpubpf__Footer *footer, struct err *err)
{
	struct err ignored = { 0 };
	int r = capture_writer__flush(w, err), error = w->error;
	struct stat st;

	if (r && !(w->regular && out_of_room(error)))
		return r;
	if (w->sink)
		return given(w, w->sink->footer(footer, w->sink->arg), err);
	footer->records = w->records;
	footer->blocks = w->blocks;
	if (r) {
		/* The first failure is the one to tell; whether the footer fitted shows in the file. */
		struct err why = w->why;

		write_message(w, CAPTURE_BLOCK_FOOTER, &footer->base, &ignored);
		w->error = error;
		w->why = why;
		fdatasync(w->fd);
		return r;
	}
	r = write_message(w, CAPTURE_BLOCK_FOOTER, &footer->base, err);
	if (!r && w->regular && fdatasync(w->fd) < 0)
		return err_set(err, -errno, "syncing %s: %s. %s", w->path, strerror(errno), remedy(-errno));
	if (!r && w->regular && fstat(w->fd, &st) == 0 && st.st_nlink == 0)
		return err_set(err, -ENOENT, "%s was removed while it was written: nothing is left of it",
			       w->path);
	return r;
}

uint64_t capture_writer__dropped(const struct capture_writer *w)
{
	return w->dropped;
}

const uint64_t *capture_writer__dropped_calls(const struct capture_writer *w)
{
	return w->dropped_calls;
}

const uint64_t *capture_writer__dropped_items(const struct capture_writer *w)
{
	return w->dropped_items;
}

uint64_t capture_writer__unknown(const struct capture_writer *w)
{
	return w->unknown;
}

uint64_t capture_writer__bytes(const struct capture_writer *w)
{
	return w->bytes;
}

uint64_t capture_writer__records(const struct capture_writer *w)
{
	return w->records;
}

void capture_writer__close(struct capture_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	ZSTD_freeCCtx(w->zstd);
	free(w->block);
	free(w->packed);
	free(w->path);
	free(w);
}

static int prepare(struct capture_writer *w, const char *path, const struct capture_writer_opts *o,
		   struct err *err)
{
	size_t block = o->block_bytes ? o->block_bytes : BLOCK_DEFAULT;

	if (o->zstd_level < ZSTD_minCLevel() || o->zstd_level > ZSTD_maxCLevel())
		return err_set(err, -EINVAL, "zstd level %d: it is 1 to %d, or 0 for none", o->zstd_level,
			       ZSTD_maxCLevel());
	block = block < BLOCK_MIN ? BLOCK_MIN : block > BLOCK_MAX ? BLOCK_MAX : block;
	w->level = o->zstd_level;
	w->capacity = HEAD + block;
	w->packed_capacity = block;
	w->fill = HEAD;
	w->path = strdup(strcmp(path, "-") == 0 ? "standard output" : path);
	w->block = malloc(w->capacity);
	w->packed = w->level ? malloc(HEAD + w->packed_capacity) : NULL;
	w->zstd = w->level ? ZSTD_createCCtx() : NULL;
	if (!w->path || !w->block || (w->level && (!w->packed || !w->zstd)))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

int capture_writer__to(const struct capture_sink *sink, struct capture_writer **out, struct err *err)
{
	struct capture_writer *w = calloc(1, sizeof(*w));

	*out = w;
	if (!w)
		return err_set(err, -ENOMEM, "out of memory");
	w->fd = -1;
	w->fill = HEAD;
	w->sink = sink;
	return 0;
}

int capture_writer__open(const char *path, const struct capture_writer_opts *o, struct capture_writer **out,
			 struct err *err)
{
	static const struct capture_writer_opts usual = { .zstd_level = 1 };
	struct capture_file_header h;
	struct capture_writer *w = calloc(1, sizeof(*w));
	char *temporary = NULL;
	struct stat st;
	int r;

	*out = NULL;
	if (!w)
		return err_set(err, -ENOMEM, "out of memory");
	w->fd = -1;
	o = o ? o : &usual;
	r = prepare(w, path, o, err);
	if (!r)
		r = create(w, path, o->force, &temporary, err);
	if (r)
		goto fail;
	/* A file opened for appending, or in the middle, by the shell is no file of ours to cut. */
	w->regular = strcmp(path, "-") != 0 && fstat(w->fd, &st) == 0 && S_ISREG(st.st_mode);
	capture_file_header_make(&h);
	r = write_all(w->fd, &h, sizeof(h));
	if (r) {
		write_failed(w, r);
		err_set(err, r, "%s", w->why.msg);
		goto fail_created;
	}
	w->bytes = sizeof(h);
	if (temporary && rename(temporary, path) < 0) {
		r = err_set(err, -errno, "cannot replace %s: %s", path, strerror(errno));
		goto fail_created;
	}
	free(temporary);
	*out = w;
	return 0;
fail_created:
	if (w->regular)
		unlink(temporary ? temporary : path);
fail:
	free(temporary);
	capture_writer__close(w);
	return r;
}
