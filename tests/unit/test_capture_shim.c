/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Batches of the shim in a capture: what the reader takes, and what it refuses to hand on. */
#include "capture_file.h"

#define ITEM_BYTES 256

union batch {
	struct gpubpf_shim head;
	uint8_t bytes[sizeof(struct gpubpf_shim) + ITEM_BYTES];
};

static union batch make_batch(unsigned probe, unsigned item_size, unsigned count)
{
	union batch b = { .head = { .kind = GPUBPF_REC_SHIM,
				    .size = (uint16_t)(sizeof(b.head) + ((item_size * count + 7) & ~7u)),
				    .tgid = 77,
				    .probe = (uint16_t)probe,
				    .item_size = (uint16_t)item_size,
				    .count = count,
				    .sent = count } };

	for (unsigned i = 0; i < item_size * count && i < ITEM_BYTES; i++)
		b.bytes[sizeof(b.head) + i] = (uint8_t)(i * 7 + 1);
	return b;
}

/* How many records come out of a file with this one in it, and how many of them are called bad. */
static unsigned read_one(const union batch *b, uint64_t *bad)
{
	struct capture_block_header h = { .kind = CAPTURE_BLOCK_RECORDS, .count = 1 };
	static uint8_t file[4096];
	size_t n = begin_file(file);
	struct capture_reader *r;
	struct err e;
	unsigned got;
	int code;

	add_block(file, &n, h, b, b->head.size);
	r = read_bytes(file, n, &code, &e);
	CHECK(r != NULL);
	if (!r)
		return 0;
	got = count_records(r);
	*bad = capture_reader__status(r)->bad_records;
	capture_reader__close(r);
	return got;
}

static void check_taken(union batch b, const char *what)
{
	uint64_t bad = 0;

	CHECKF(read_one(&b, &bad) == 1 && !bad, "%s is not taken", what);
}

static void check_bad(union batch b, const char *what)
{
	uint64_t bad = 0;

	CHECKF(read_one(&b, &bad) == 0 && bad == 1, "%s is taken", what);
}

T(batches_come_back_whole)
{
	union batch b = make_batch(GPUBPF_PROBE_CALLS, sizeof(struct gpubpf_shim_call), 5);
	const struct gpubpf_rec *rec;
	struct capture_writer *w;
	struct capture_reader *r;
	Gpubpf__Counts counts = GPUBPF__COUNTS__INIT;
	Gpubpf__Footer footer = GPUBPF__FOOTER__INIT;
	Gpubpf__ProbeCounts probe = GPUBPF__PROBE_COUNTS__INIT, *probes = &probe;
	struct err e = { 0 };

	probe.probe = "calls_v1";
	probe.has_items = true;
	probe.items = 5;
	counts.probe = &probes;
	counts.n_probe = 1;
	footer.end_reason = "calls";
	footer.counts = &counts;
	unlink(in_dir("batch"));
	CHECK(capture_writer__open(in_dir("batch"), NULL, &w, &e) == 0);
	CHECK(capture_writer__record(w, (const struct gpubpf_rec *)&b, 1, &e) == 0);
	CHECK(capture_writer__finish(w, &footer, &e) == 0);
	capture_writer__close(w);
	CHECK(capture_reader__open(in_dir("batch"), &r, &e) == 0);
	CHECK(capture_reader__next(r, &rec, &e) == 1);
	CHECK(rec->size == b.head.size && !memcmp(rec, &b, b.head.size));
	CHECK(capture_reader__counts(r)->n_probe == 1 && capture_reader__counts(r)->probe[0]->items == 5);
	capture_reader__close(r);
}

T(what_a_batch_may_be)
{
	union batch b = make_batch(GPUBPF_PROBE_STATUS, 64, 2);

	check_taken(b, "two items");
	check_taken(make_batch(GPUBPF_PROBE_STATUS, 64, 0), "none");
	check_taken(make_batch(GPUBPF_PROBE_STATUS, 3, 5), "padding");
	b.head.sent = 1000;
	check_taken(b, "a cut batch");
	b = make_batch(GPUBPF_PROBE_STATUS, 0, 0);
	b.head.sent = 7;
	b.head.flags = GPUBPF_SHIM_FAULT;
	check_taken(b, "one that could not be read");
}

T(R7_batches_that_lie)
{
	union batch b = make_batch(GPUBPF_PROBES, 64, 2);

	check_bad(b, "an unknown probe");
	b = make_batch(GPUBPF_PROBE_STATUS, 64, 2);
	b.head.count = 3;
	b.head.sent = 3;
	check_bad(b, "one more item than there is room");
	b.head.count = 0x04000001; /* times 64: 64 in 32 bits */
	b.head.sent = ~0u;
	check_bad(b, "a count whose bytes wrap");
	b = make_batch(GPUBPF_PROBE_STATUS, 64, 2);
	b.head.sent = 1;
	check_bad(b, "more items than were sent");
	b = make_batch(GPUBPF_PROBE_STATUS, 0, 0);
	b.head.count = b.head.sent = 9;
	check_bad(b, "items of no size");
	b = make_batch(GPUBPF_PROBE_STATUS, 64, 0);
	b.head.size = 40;
	check_bad(b, "less than a header");
}

TEST_MAIN
