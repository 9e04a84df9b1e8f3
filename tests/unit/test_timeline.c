/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of `gpubpf timeline`: the track tree, rows, nesting, and how a trace is written. */
#include "capture_file.h"

#include <errno.h>

#include "../tools/meta_apis.h"
#include "timeline/nest.h"
#include "timeline/priv.h"

/* ---- Tracks (R44) ---- */

T(tracks_have_their_parents_before_them_R44)
{
	struct tl_tracks t = { 0 };
	struct err err = { 0 };
	uint32_t a = tl_tracks__add(&t, TL_PROCESS, 0, "a"), b = tl_tracks__add(&t, TL_GROUP, a + 1, "b\033");

	CHECK(tl_tracks__check(&t, &err) == 0);
	CHECK(strcmp(t.track[b].name, "b\\x1b") == 0);
	t.track[a].parent = b + 1; /* a circle */
	CHECK(tl_tracks__check(&t, &err) == -EINVAL && strstr(err.msg, "comes after"));
	t.track[a].parent = a + 1;
	err.msg[0] = '\0';
	CHECK(tl_tracks__check(&t, &err) == -EINVAL && strstr(err.msg, "itself"));
	t.track[a].parent = 99;
	err.msg[0] = '\0';
	CHECK(tl_tracks__check(&t, &err) == -EINVAL && strstr(err.msg, "missing"));
	tl_tracks__clear(&t);
}

T(texts_are_there_once)
{
	struct tl_texts t = { 0 };
	uint32_t a = tl_texts__add(&t, "kernel"), b = tl_texts__add(&t, "\033[2J");

	CHECK(a == 1 && b == 2 && tl_texts__add(&t, "kernel") == a && tl_texts__add(&t, "\033[2J") == b);
	CHECK(t.n == 2 && strcmp(t.text[b - 1], "\\x1b[2J") == 0);
	tl_texts__clear(&t);
}

/* ---- Rows ---- */

T(what_overlaps_has_rows_of_its_own_C25)
{
	static struct tl tl;
	struct tl_rows r = { 0 };
	uint32_t first, second;
	int rc;

	memset(&tl, 0, sizeof(tl));
	r.track = tl_tracks__add(&tl.tracks, TL_LANE, 0, "stream 7");
	first = tl_rows__place(&tl, &r, 10, 20, &rc);
	second = tl_rows__place(&tl, &r, 15, 30, &rc);
	CHECK(first == r.track && second != first && tl.tracks.track[second].parent == first + 1);
	/* what begins where another ends does not overlap it */
	CHECK(tl_rows__place(&tl, &r, 20, 22, &rc) == first);
	tl_rows__restart(&r);
	CHECK(tl_rows__place(&tl, &r, 0, 5, &rc) == first);
	for (int i = 0; i < TL_ROWS_MAX - 1; i++)
		CHECK(tl_rows__place(&tl, &r, 1, 100, &rc) != TL_NO_TRACK);
	CHECK(tl_rows__place(&tl, &r, 1, 100, &rc) == TL_NO_TRACK && rc == 0);
	tl_rows__clear(&r);
	tl_tracks__clear(&tl.tracks);
}

/* ---- Calls inside calls ---- */

static char seen[4096];

static int note(struct tl *tl, const struct tl_event *e)
{
	static const char marks[] = {
		[TL_SLICE] = '=', [TL_OPEN] = '(', [TL_CLOSE] = ')', [TL_INSTANT] = '!'
	};
	size_t n = strlen(seen);

	(void)tl;
	snprintf(seen + n, sizeof(seen) - n, "%c%u@%u/%u ", marks[e->type], e->name, (unsigned)e->start,
		 e->track);
	return 0;
}

static const struct tl_format notes = { .event = note };
static struct tl tl;
static struct tl_thread th;
static const struct timeline_opts none;

static void fresh(void)
{
	memset(&tl, 0, sizeof(tl));
	memset(&th, 0, sizeof(th));
	tl.f = &notes;
	tl.o = &none;
	tl.ev = calloc(1, sizeof(*tl.ev));
	th.rows.track = tl_tracks__add(&tl.tracks, TL_THREAD, 0, NULL);
	seen[0] = '\0';
}

static void over(void)
{
	free(th.inside);
	free(tl.ev);
	tl_rows__clear(&th.rows);
	tl_tracks__clear(&tl.tracks);
}

/* name, depth, start, end; end 0: an instant, UINT64_MAX: not known */
static void call(uint32_t name, unsigned depth, uint64_t start, uint64_t end)
{
	struct tl_event *e = tl__new(&tl, TL_SLICE, TIMELINE_CALL, th.rows.track, start);

	e->name = name;
	e->end = end;
	if (!end)
		e->type = TL_INSTANT;
	if (end == UINT64_MAX)
		e->type = TL_OPEN;
	CHECK((depth ? tl_thread__nested(&tl, &th, e, depth) : tl_thread__call(&tl, &th, e)) == 0);
}

static void expect(const char *want)
{
	CHECK(tl_thread__flush(&tl, &th) == 0);
	CHECKF(strcmp(seen, want) == 0, "%s, not %s", seen, want);
	over();
}

T(nested_calls_stand_in_their_outer_one)
{
	fresh();
	call(3, 2, 12, 14);
	call(2, 1, 11, 15);
	call(4, 1, 16, 18);
	call(1, 0, 10, 20);
	call(5, 0, 20, 30);
	expect("(1@10/0 (2@11/0 (3@12/0 )0@14/0 )0@15/0 (4@16/0 )0@18/0 )0@20/0 =5@20/0 ");
}

T(calls_of_one_moment_nest_by_depth)
{
	fresh();
	call(3, 2, 10, 20);
	call(2, 1, 10, 20);
	call(1, 0, 10, 20);
	expect("(1@10/0 (2@10/0 (3@10/0 )0@20/0 )0@20/0 )0@20/0 ");
	fresh();
	call(2, 1, 10, 15);
	call(3, 1, 15, 20);
	call(1, 0, 10, 20);
	expect("(1@10/0 (2@10/0 )0@15/0 (3@15/0 )0@20/0 )0@20/0 ");
}

T(nested_calls_of_a_lost_one_stand_alone)
{
	fresh();
	call(2, 1, 1, 5);
	call(3, 1, 11, 15);
	call(1, 0, 10, 20);
	call(9, 1, 30, 31);
	expect("=2@1/0 (1@10/0 (3@11/0 )0@15/0 )0@20/0 =9@30/0 ");
}

T(calls_that_cross_are_not_bent)
{
	fresh();
	call(2, 1, 11, 15);
	call(3, 1, 13, 18);
	call(1, 0, 10, 20);
	expect("(1@10/0 (2@11/0 =3@13/1 )0@15/0 )0@20/0 ");
	fresh();
	call(1, 0, 10, 20);
	call(2, 0, 15, 25);
	expect("=1@10/0 =2@15/1 ");
}

T(an_open_call_has_no_end_R19)
{
	fresh();
	call(2, 1, 11, 15);
	call(3, 1, 16, UINT64_MAX);
	call(1, 0, 10, UINT64_MAX);
	call(4, 0, 30, 40);
	expect("(1@10/0 (2@11/0 )0@15/0 (3@16/0 =4@30/1 ");
	fresh();
	call(2, 1, 11, 15);
	call(1, 0, 10, 0);
	expect("=2@11/0 !1@10/0 ");
}

/* ---- Writing (R42, R43) ---- */

struct counting {
	uint64_t writes, bytes, largest, hash, at; /* at: fails from this write on; 0: never */
	bool whole;                                /* each write is a packet, and only one */
};

static int count(void *arg, const void *bytes, size_t n)
{
	struct counting *c = arg;
	const uint8_t *b = bytes;
	size_t size = 0, i = 1;

	if (c->at && c->writes + 1 >= c->at)
		return -ENOSPC;
	for (unsigned shift = 0; i < n; shift += 7) {
		size |= (size_t)(b[i] & 0x7f) << shift;
		if (!(b[i++] & 0x80))
			break;
	}
	c->whole = (c->whole || !c->writes) && b[0] == 0x0a && i + size == n;
	c->writes++;
	c->bytes += n;
	c->largest = n > c->largest ? n : c->largest;
	c->hash = tl_hash(bytes, n, c->hash);
	return 0;
}

static void make_capture(const char *path, unsigned calls)
{
	struct apitab *tab = NULL;
	struct capture_writer *cw = NULL;
	Gpubpf__Meta m = GPUBPF__META__INIT;
	struct err err = { 0 };
	uint32_t api = 0;

	CHECK(apitab__builtin(&tab) == 0 && meta_apis(&m, tab) == 0);
	while (strcmp(apitab__get(tab, api)->symbol, "cuCtxSynchronize") != 0)
		api++;
	CHECK(capture_writer__open(path, &(struct capture_writer_opts){ .force = true }, &cw, &err) == 0 &&
	      capture_writer__meta(cw, &m, &err) == 0);
	for (unsigned i = 0; i < calls; i++) {
		union {
			struct gpubpf_call c;
			uint8_t room[sizeof(struct gpubpf_call) + 8 * GPUBPF_WORDS_SHORT];
		} r = { .c = { .kind = GPUBPF_REC_CALL,
			       .size = sizeof(r),
			       .flags = GPUBPF_CALL_RETURNED,
			       .tgid = 100,
			       .tid = 100 + i % 3,
			       .t_entry = 1000000 + 1000 * i,
			       .t_return = 1000000 + 1000 * i + 700,
			       .api = (uint16_t)api,
			       .nwords = GPUBPF_WORDS_SHORT } };

		CHECK(capture_writer__record(cw, (struct gpubpf_rec *)&r, r.c.t_return, &err) == 0);
	}
	CHECK(capture_writer__flush(cw, &err) == 0);
	capture_writer__close(cw);
	meta_apis_free(&m);
	apitab__free(tab);
}

static int write_counted(const char *path, struct timeline_opts o, struct counting *c,
			 struct timeline_result *r)
{
	struct model_opts none_of_them = { 0 };
	struct err err = { 0 };
	struct trace t;
	int rc = trace__open(&t, path, &none_of_them, &err);

	if (!rc)
		rc = timeline_write(&t, &o, count, c, r, &err);
	trace__close(&t);
	return rc;
}

T(a_write_is_a_packet_R42_R43)
{
	struct timeline_result few, many, again;
	struct counting a = { 0 }, b = { 0 }, c = { 0 };

	make_capture(in_dir("few"), 20);
	make_capture(in_dir("many"), 5000);
	CHECK(write_counted(in_dir("few"), (struct timeline_opts){ 0 }, &a, &few) == 0);
	CHECK(write_counted(in_dir("many"), (struct timeline_opts){ 0 }, &b, &many) == 0);
	CHECK(write_counted(in_dir("many"), (struct timeline_opts){ 0 }, &c, &again) == 0);
	CHECK(a.whole && b.whole);
	CHECKF(b.bytes == many.bytes && b.writes == many.packets, "%lu of %lu", b.bytes, many.bytes);
	CHECK(many.slices == 5000 && few.slices == 20);
	/* no write grows with the trace but by the digits of a number */
	CHECKF(b.largest <= a.largest + 16 && b.bytes > 20 * a.bytes / 2, "%lu and %lu", a.largest,
	       b.largest);
	CHECK(b.hash == c.hash && b.writes == c.writes);
}

T(a_failing_write_ends_it)
{
	struct timeline_result r;

	make_capture(in_dir("some"), 100);
	for (uint64_t at = 1; at < 300; at += 37) {
		struct counting c = { .at = at };

		CHECK(write_counted(in_dir("some"), (struct timeline_opts){ 0 }, &c, &r) == -ENOSPC);
		CHECK(c.writes == at - 1);
	}
}

T(what_cannot_fit_is_refused_before_byte_one_R40)
{
	struct timeline_result r;
	struct counting c = { 0 };

	make_capture(in_dir("some"), 100);
	CHECK(write_counted(in_dir("some"), (struct timeline_opts){ .has_budget = true, .budget = 100 }, &c,
			    &r) == -E2BIG);
	CHECK(c.writes == 0);
	for (uint64_t budget = 10000; budget < 40000; budget += 997) {
		c = (struct counting){ 0 };
		if (write_counted(in_dir("some"),
				  (struct timeline_opts){ .has_budget = true, .budget = budget }, &c, &r))
			continue;
		CHECKF(c.bytes == r.bytes && c.bytes <= budget, "%lu of %lu", c.bytes, budget);
		CHECK(r.kept[TIMELINE_CALL].items <= r.all[TIMELINE_CALL].items &&
		      r.all[TIMELINE_CALL].items == 100);
	}
}

TEST_MAIN
