/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of the capture file share: a directory, bytes of files, records, blocks made by hand. */
#ifndef GPUBPF_TEST_CAPTURE_FILE_H
#define GPUBPF_TEST_CAPTURE_FILE_H

#include "../t.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/format.h"
#include "events.h"
#include "util/crc32c.h"
#include "util/err.h"

#define MAYBE __attribute__((unused)) static

union record {
	struct gpubpf_rec head;
	struct gpubpf_call call;
	struct gpubpf_task task;
	struct gpubpf_xid xid;
	uint8_t room[4096];
};

static char dir[64];

MAYBE void remove_dir(void)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	if (system(cmd))
		printf("# %s stays\n", dir);
}

MAYBE const char *in_dir(const char *name)
{
	static char path[4][128];
	static unsigned i;

	if (!dir[0]) {
		snprintf(dir, sizeof(dir), "%s/gpubpf-test.XXXXXX",
			 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm"); /* in memory: thousands of files */
		if (!mkdtemp(dir))
			abort();
		atexit(remove_dir);
	}
	i = (i + 1) % 4;
	snprintf(path[i], sizeof(path[i]), "%s/%s", dir, name);
	return path[i];
}

MAYBE uint8_t *slurp(const char *path, size_t *n)
{
	struct stat st = { 0 };
	int fd = open(path, O_RDONLY);
	uint8_t *p = fd >= 0 && !fstat(fd, &st) ? malloc((size_t)st.st_size + 1) : NULL;

	*n = (size_t)st.st_size;
	if (p && read(fd, p, *n) != (ssize_t)*n)
		abort();
	if (fd >= 0)
		close(fd);
	return p;
}

MAYBE void spill(const char *path, const void *data, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		abort();
	close(fd);
}

/* The i-th record of every test's file: calls with and without a blob, tasks and errors of a GPU. */
MAYBE const struct gpubpf_rec *make_record(union record *r, unsigned i)
{
	memset(r, 0, sizeof(*r));
	if (i % 7 == 3) {
		r->task = (struct gpubpf_task){ .kind = GPUBPF_REC_TASK,
						.size = sizeof(r->task),
						.event = GPUBPF_TASK_FORK,
						.tgid = i,
						.time = 1000 + i,
						.comm = "fork" };
	} else if (i % 7 == 5) {
		r->xid = (struct gpubpf_xid){ .kind = GPUBPF_REC_XID,
					      .size = sizeof(r->xid),
					      .time = 1000 + i };
		snprintf(r->xid.message, sizeof(r->xid.message), "page fault %u", i);
	} else {
		r->call = (struct gpubpf_call){ .kind = GPUBPF_REC_CALL,
						.size = sizeof(r->call) + 8 * GPUBPF_WORDS_SHORT,
						.flags = GPUBPF_CALL_RETURNED,
						.tgid = 77,
						.tid = i,
						.t_entry = 1000 + i,
						.t_return = 1005 + i,
						.api = (uint16_t)(i % 10),
						.nwords = GPUBPF_WORDS_SHORT };
		for (unsigned w = 0; w < GPUBPF_WORDS_SHORT; w++)
			r->call.words[w] = i * 100 + w;
		if (i % 7 == 1) {
			r->call.nblob = (uint32_t)snprintf((char *)r->room + r->call.size, 32, "kernel_%u",
							   i) +
					1;
			r->call.size = (uint16_t)(r->call.size + ((r->call.nblob + 7) & ~7u));
		}
	}
	return &r->head;
}

/* Appends a block with everything as given; the header's CRC is right, whatever else is not. */
MAYBE void add_block(uint8_t *file, size_t *n, struct capture_block_header h, const void *payload,
		     size_t size)
{
	if (!h.stored)
		h.stored = (uint32_t)size;
	if (!h.plain)
		h.plain = (uint32_t)size;
	if (!h.payload_crc)
		h.payload_crc = crc32c(0, payload, size);
	capture_block_header_seal(&h);
	memcpy(file + *n, &h, sizeof(h));
	memcpy(file + *n + sizeof(h), payload, size);
	*n += sizeof(h) + size;
}

MAYBE size_t begin_file(uint8_t *file)
{
	struct capture_file_header h;

	capture_file_header_make(&h);
	memcpy(file, &h, sizeof(h));
	return sizeof(h);
}

/* Opens what stands in `file`; NULL with the error in *code and e. */
MAYBE struct capture_reader *read_bytes(const void *file, size_t n, int *code, struct err *e)
{
	struct capture_reader *r;
	const char *path = in_dir("bytes");

	spill(path, file, n);
	memset(e, 0, sizeof(*e));
	*code = capture_reader__open(path, &r, e);
	return r;
}

MAYBE unsigned count_records(struct capture_reader *r)
{
	const struct gpubpf_rec *rec;
	struct err e = { 0 };
	unsigned n = 0;

	while (capture_reader__next(r, &rec, &e) > 0)
		n++;
	return n;
}

#endif
