// SPDX-License-Identifier: GPL-2.0-or-later
/* The reader on files that are cut, damaged, of a later version or made to hurt (R7, R10). */
#include "capture_file.h"

#include <errno.h>
#include <sys/resource.h>
#include <zstd.h>

#define BLOCKS 4
#define PER_BLOCK 5

struct small {
	uint8_t *bytes;
	size_t size;
	size_t end[BLOCKS + 4];       /* of each block */
	unsigned records[BLOCKS + 4]; /* in the file up to there */
	unsigned nblocks;
};

static void note_block(struct small *s, const struct capture_writer *w)
{
	s->end[s->nblocks] = (size_t)capture_writer__bytes(w);
	s->records[s->nblocks++] = (unsigned)capture_writer__records(w);
}

/* META, record blocks, COUNTS, footer; a quarter of it compressed where it pays. */
static void make_small(struct small *s, int level)
{
	struct capture_writer *w;
	struct err e = { 0 };
	union record rec;
	Gpubpf__Meta meta = GPUBPF__META__INIT;
	Gpubpf__Counts counts = GPUBPF__COUNTS__INIT;
	Gpubpf__Footer footer = GPUBPF__FOOTER__INIT;

	memset(s, 0, sizeof(*s));
	meta.mode = "attach";
	footer.end_reason = "SIGINT";
	footer.counts = &counts;
	unlink(in_dir("small"));
	CHECK(capture_writer__open(in_dir("small"), &(struct capture_writer_opts){ .zstd_level = level }, &w,
				   &e) == 0);
	CHECK(capture_writer__meta(w, &meta, &e) == 0);
	note_block(s, w);
	for (unsigned i = 0; i < BLOCKS * PER_BLOCK; i++) {
		CHECK(capture_writer__record(w, make_record(&rec, i), 1000 + i, &e) == 0);
		if (i % PER_BLOCK == PER_BLOCK - 1) {
			CHECK(capture_writer__flush(w, &e) == 0);
			note_block(s, w);
		}
	}
	CHECK(capture_writer__counts(w, &counts, &e) == 0);
	note_block(s, w);
	CHECK(capture_writer__finish(w, &footer, &e) == 0);
	note_block(s, w);
	capture_writer__close(w);
	s->bytes = slurp(in_dir("small"), &s->size);
	CHECK(s->size == s->end[s->nblocks - 1]);
}

/* Every record that comes out is one that was put in, in the order of the writing; returns how many. */
static unsigned check_subsequence(struct capture_reader *r, bool *wrong)
{
	const struct gpubpf_rec *got;
	struct err e = { 0 };
	union record want;
	unsigned i = 0, n = 0;

	while (capture_reader__next(r, &got, &e) > 0) {
		while (i < BLOCKS * PER_BLOCK &&
		       (make_record(&want, i)->size != got->size || memcmp(got, &want, got->size) != 0))
			i++;
		*wrong |= i++ == BLOCKS * PER_BLOCK;
		n++;
	}
	return n;
}

T(R10_cut_at_every_byte)
{
	struct small s;
	struct err e;
	int code;

	for (int level = 0; level < 2; level++) {
		make_small(&s, level);
		for (size_t cut = 0; cut <= s.size; cut++) {
			struct capture_reader *r = read_bytes(s.bytes, cut, &code, &e);
			unsigned whole = 0, want = 0;
			size_t end = 16;
			bool wrong = false;

			while (whole < s.nblocks && s.end[whole] <= cut) {
				end = s.end[whole];
				want = s.records[whole++];
			}
			if (cut < 16) {
				CHECKF(!r && code == -EBADMSG && e.msg[0], "cut at %zu: %d", cut, code);
				continue;
			}
			CHECKF(r != NULL, "cut at %zu: %s", cut, e.msg);
			if (!r)
				continue;
			CHECKF(check_subsequence(r, &wrong) == want && !wrong, "cut at %zu", cut);
			CHECKF(capture_reader__status(r)->tail_bytes == cut - end, "cut at %zu: tail", cut);
			CHECKF(capture_reader__status(r)->damaged_bytes == 0, "cut at %zu: damage", cut);
			CHECKF(capture_reader__status(r)->has_footer == (cut == s.size), "cut at %zu: footer",
			       cut);
			capture_reader__close(r);
		}
		free(s.bytes);
	}
}

T(every_bit_flipped)
{
	struct small s;
	struct err e;
	int code;

	for (int level = 0; level < 2; level++) {
		make_small(&s, level);
		for (size_t bit = 0; bit < s.size * 8; bit++) {
			struct capture_reader *r;
			const struct capture_status *st;
			bool wrong = false, damaged;
			unsigned n;

			s.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
			r = read_bytes(s.bytes, s.size, &code, &e);
			s.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
			CHECKF(r != NULL, "bit %zu: %s", bit, e.msg);
			if (!r)
				continue;
			n = check_subsequence(r, &wrong);
			st = capture_reader__status(r);
			damaged = st->damaged_bytes || st->damaged_blocks || st->tail_bytes;
			CHECKF(damaged, "bit %zu: not noticed", bit);
			CHECKF(!wrong && n >= (BLOCKS - 1) * PER_BLOCK, "bit %zu: %u records", bit, n);
			capture_reader__close(r);
		}
		free(s.bytes);
	}
}

T(block_cut_out_of_the_middle_is_damage_or_missed_by_the_footer)
{
	struct small s;
	struct err e;
	int code;

	make_small(&s, 0);
	for (size_t n = 1; n <= s.end[3] - s.end[2] + 20; n++) {
		uint8_t *cut = malloc(s.size);
		struct capture_reader *r;
		const struct capture_status *st;
		bool wrong = false;

		memcpy(cut, s.bytes, s.end[2]);
		memcpy(cut + s.end[2], s.bytes + s.end[2] + n, s.size - s.end[2] - n);
		r = read_bytes(cut, s.size - n, &code, &e);
		CHECK(r != NULL);
		check_subsequence(r, &wrong);
		st = capture_reader__status(r);
		CHECKF(!wrong, "%zu bytes out", n);
		CHECKF(st->damaged_bytes || st->damaged_blocks || !st->has_footer ||
			       capture_reader__footer(r)->records != st->records,
		       "%zu bytes out: not noticed", n);
		capture_reader__close(r);
		free(cut);
	}
	free(s.bytes);
}

static void check_refused(const void *bytes, size_t n, const char *words)
{
	struct err e;
	int code;
	struct capture_reader *r = read_bytes(bytes, n, &code, &e);

	CHECKF(!r && code == -EBADMSG, "%s: %d", words, code);
	CHECKF(strstr(e.msg, words) != NULL, "%s: %s", words, e.msg);
	capture_reader__close(r);
}

T(R7_what_is_no_capture)
{
	struct capture_reader *r;
	struct capture_file_header h;
	struct err e = { 0 };
	uint8_t elf[100] = "\177ELF";

	check_refused("", 0, "empty");
	check_refused(elf, sizeof(elf), "no gpubpf capture");
	check_refused("GPUBPF", 6, "cut off");
	capture_file_header_make(&h);
	h.version = 2;
	h.crc = crc32c(0, &h, 12);
	check_refused(&h, sizeof(h), "version 2");
	check_refused(&h, sizeof(h), "newer gpubpf");
	h.crc ^= 1;
	check_refused(&h, sizeof(h), "damaged");
	CHECK(capture_reader__open(in_dir("missing"), &r, &e) == -ENOENT && strstr(e.msg, "missing"));
	e.msg[0] = 0;
	CHECK(capture_reader__open(dir, &r, &e) == -EISDIR && strstr(e.msg, "directory"));
	e.msg[0] = 0;
	CHECK(mkfifo(in_dir("p"), 0600) == 0);
	CHECK(capture_reader__open(in_dir("p"), &r, &e) == -ESPIPE && strstr(e.msg, "no regular file"));
}

T(R1_capture_with_zero_blocks_opens)
{
	uint8_t file[16];
	struct err e;
	int code;
	size_t n = begin_file(file);
	struct capture_reader *r = read_bytes(file, n, &code, &e);

	CHECKF(r != NULL, "%s", e.msg);
	CHECK(count_records(r) == 0 && !capture_reader__status(r)->has_footer);
	CHECK(capture_reader__meta(r) && !capture_reader__counts(r) && !capture_reader__footer(r));
	capture_reader__close(r);
}

/* What a reader makes of one block of records with these bytes between two good ones. */
static struct capture_status read_between(struct capture_block_header h, const void *payload, size_t size,
					  unsigned *records)
{
	static uint8_t file[1 << 20];
	struct capture_block_header good = { .kind = CAPTURE_BLOCK_RECORDS, .count = 1 };
	union record rec;
	struct capture_status s = { 0 };
	struct capture_reader *r;
	size_t n = begin_file(file);
	struct err e;
	int code;

	make_record(&rec, 0);
	add_block(file, &n, good, &rec, rec.head.size);
	add_block(file, &n, h, payload, size);
	add_block(file, &n, good, &rec, rec.head.size);
	r = read_bytes(file, n, &code, &e);
	CHECKF(r != NULL, "%s", e.msg);
	if (!r)
		return s;
	*records = count_records(r);
	s = *capture_reader__status(r);
	/* a second reading counts the same, not twice as much */
	capture_reader__rewind(r);
	CHECK(count_records(r) == *records && memcmp(&s, capture_reader__status(r), sizeof(s)) == 0);
	capture_reader__close(r);
	return s;
}

T(malformed_records)
{
	struct capture_block_header h = { .kind = CAPTURE_BLOCK_RECORDS, .count = 1 };
	static const struct {
		const char *what;
		uint16_t kind, size, api;
		uint8_t nwords;
		uint32_t nblob, count;
	} bad[] = {
		{ "size 0", 1, 0, 0, 6, 0, 1 },
		{ "size of half a header", 1, 4, 0, 6, 0, 1 },
		{ "size no multiple of 8", 1, 100, 0, 6, 0, 1 },
		{ "size beyond the block", 1, 112, 0, 6, 0, 1 },
		{ "largest size", 1, 65528, 0, 6, 0, 1 },
		{ "call too short", 1, 48, 0, 6, 0, 1 },
		{ "5 words", 1, 104, 0, 5, 0, 1 },
		{ "words beyond the record", 1, 104, 0, 12, 0, 1 },
		{ "blob beyond the record", 1, 104, 0, 6, 1, 1 },
		{ "blob that wraps", 1, 104, 0, 6, 0xffffffff, 1 },
		{ "api beyond the counters", 1, 104, GPUBPF_API_MAX, 6, 0, 1 },
		{ "task too short", 2, 64, 0, 0, 0, 1 },
		{ "xid too short", 3, 104, 0, 0, 0, 1 },
		{ "wait in a futex too short", 6, 96, 0, 0, 0, 1 },
		{ "no record promised", 1, 104, 0, 6, 0, 0 },
		{ "unknown kind of size 0", 99, 0, 0, 0, 0, 1 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		union record rec;
		struct capture_status s;
		unsigned n = 0;

		make_record(&rec, 0);
		rec.call.kind = bad[i].kind;
		rec.call.size = bad[i].size;
		rec.call.api = bad[i].api;
		rec.call.nwords = bad[i].nwords;
		rec.call.nblob = bad[i].nblob;
		h.count = bad[i].count;
		s = read_between(h, &rec, 104, &n);
		CHECKF(n == 2 && s.bad_records == 1, "%s: %u records, %u bad", bad[i].what, n,
		       (unsigned)s.bad_records);
	}
}

T(count_beyond_the_payload)
{
	struct capture_block_header h = { .kind = CAPTURE_BLOCK_RECORDS, .count = 0xffffffff };
	union record rec;
	struct capture_status s;
	unsigned n = 0;

	make_record(&rec, 0);
	s = read_between(h, &rec, rec.head.size, &n);
	CHECK(n == 3 && s.bad_records == 1);
}

T(unknown_kinds_are_skipped_and_counted)
{
	struct capture_block_header h = { .kind = 77, .count = 5 };
	union record rec;
	struct capture_status s;
	unsigned n = 0;

	s = read_between(h, "later", 5, &n);
	CHECK(n == 2 && s.blocks[0] == 1 && s.damaged_bytes == 0 && s.damaged_blocks == 0 && s.records == 2);
	h.kind = 7; /* inside the array of kinds, and unknown all the same */
	s = read_between(h, "later", 5, &n);
	CHECK(s.blocks[0] == 1 && s.blocks[7] == 0);
	make_record(&rec, 0);
	rec.head.kind = 1000;
	h.kind = CAPTURE_BLOCK_RECORDS;
	h.count = 1;
	s = read_between(h, &rec, rec.head.size, &n);
	CHECK(n == 2 && s.unknown_records == 1 && s.bad_records == 0);
}

T(hostile_sizes)
{
	struct capture_block_header h = { .kind = CAPTURE_BLOCK_RECORDS, .count = 1 };
	uint8_t packed[4096], zeros[4096] = { 0 };
	struct capture_status s;
	size_t n = ZSTD_compress(packed, sizeof(packed), zeros, sizeof(zeros), 1);
	unsigned records = 0;

	/* plain beyond what a block may have: not a header at all */
	h.flags = CAPTURE_FLAG_ZSTD;
	h.plain = CAPTURE_PLAIN_MAX + 1;
	s = read_between(h, packed, n, &records);
	CHECK(records == 2 && s.damaged_bytes == n + 48);
	/* stored and plain differ without compression */
	h.flags = 0;
	h.plain = 8;
	s = read_between(h, packed, n, &records);
	CHECK(records == 2 && s.damaged_bytes == n + 48);
	/* zstd that gives less, or more, than promised */
	h.flags = CAPTURE_FLAG_ZSTD;
	for (h.plain = 4095; h.plain <= 4097; h.plain += 2) {
		s = read_between(h, packed, n, &records);
		CHECK(records == 2 && s.damaged_blocks == 1);
	}
	/* no zstd frame; a frame with bytes behind it */
	h.plain = 4096;
	s = read_between(h, zeros, 100, &records);
	CHECK(records == 2 && s.damaged_blocks == 1);
	s = read_between(h, packed, n + 1, &records);
	CHECK(records == 2 && s.damaged_blocks == 1);
	/* two frames that together give what was promised */
	n = ZSTD_compress(packed, sizeof(packed), zeros, 2048, 1);
	n += ZSTD_compress(packed + n, sizeof(packed) - n, zeros, 2048, 1);
	s = read_between(h, packed, n, &records);
	CHECK(records == 2 && s.damaged_blocks == 1);
	/* a payload of nothing */
	h = (struct capture_block_header){ .kind = CAPTURE_BLOCK_RECORDS };
	s = read_between(h, zeros, 0, &records);
	CHECK(records == 2 && s.damaged_blocks == 0 && s.bad_records == 0);
}

/* The search for the next header reads in windows: no place of the header may fall between two. */
T(damage_longer_than_a_window)
{
	const size_t window = 64 << 10;
	uint8_t *file = malloc(3 * window);
	struct capture_block_header good = { .kind = CAPTURE_BLOCK_RECORDS, .count = 1 };
	union record rec;
	struct err e;
	int code;

	make_record(&rec, 0);
	for (size_t len = window - 60; len < window + 60; len++) {
		size_t n = begin_file(file);
		struct capture_reader *r;

		memset(file + n, 'G', len);
		n += len;
		add_block(file, &n, good, &rec, rec.head.size);
		r = read_bytes(file, n, &code, &e);
		CHECKF(r && count_records(r) == 1 && capture_reader__status(r)->damaged_bytes == len,
		       "%zu bytes of damage", len);
		capture_reader__close(r);
	}
	free(file);
}

T(messages_that_do_not_decode)
{
	static const uint16_t kinds[] = { CAPTURE_BLOCK_META, CAPTURE_BLOCK_COUNTS, CAPTURE_BLOCK_FOOTER };
	struct capture_status s;
	unsigned records = 0;

	for (unsigned i = 0; i < 3; i++) {
		struct capture_block_header h = { .kind = kinds[i] };

		s = read_between(h, "\xff\xff\xff\xff", 4, &records);
		CHECKF(records == 2 && s.damaged_blocks == 1 && !s.has_footer, "kind %u", kinds[i]);
	}
}

/* "\x4a\x00" is an empty Gpu message: two bytes that ask for a hundred. */
T(metadata_that_asks_for_too_much_memory)
{
	size_t size = 32 << 20, n, packed_size = ZSTD_compressBound(size);
	uint8_t *meta = malloc(size), *packed = malloc(packed_size), *file = malloc(packed_size + 100);
	struct capture_block_header h = { .kind = CAPTURE_BLOCK_META, .flags = CAPTURE_FLAG_ZSTD };
	struct capture_reader *r;
	struct err e;
	int code;

	for (size_t i = 0; i < size; i += 2) {
		meta[i] = 0x4a;
		meta[i + 1] = 0;
	}
	h.plain = (uint32_t)size;
	packed_size = ZSTD_compress(packed, packed_size, meta, size, 1);
	n = begin_file(file);
	add_block(file, &n, h, packed, packed_size);
	r = read_bytes(file, n, &code, &e);
	CHECK(r && capture_reader__status(r)->damaged_blocks == 1 && capture_reader__meta(r)->n_gpu == 0);
	capture_reader__close(r);
	free(meta);
	free(packed);
	free(file);
}

TEST_MAIN
