/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far stacks go, mappings, names of made code, frames and chains once each, and what hostile files say of them. */
#include "../t.h"

#include <stdlib.h>
#include <string.h>

#include "stacks/intern.h"
#include "stacks/mappings.h"
#include "stacks/perfmap.h"
#include "stacks/quality.h"
#include "stacks/seen.h"
#include "stacks/stacks.h"
#include "stacks/table.h"

static struct stack_walked walked(enum stack_end end, size_t frames)
{
	return (struct stack_walked){ .end = end, .frames = frames, .outermost = "work", .before = "more" };
}

T(quality_along_frame_pointers)
{
	struct stack_walked w = walked(STACK_END_ZERO, 5);

	CHECK(stack_quality(&w) == GPUBPF_STACK_COMPLETE);
	w.stray = true;
	CHECK(stack_quality(&w) == GPUBPF_STACK_BROKEN);
	w = walked(STACK_END_LIMIT, 128);
	CHECK(stack_quality(&w) == GPUBPF_STACK_TRUNCATED);
	w = walked(STACK_END_FAULT, 5);
	CHECK(stack_quality(&w) == GPUBPF_STACK_BROKEN);
	w = walked(STACK_END_BROKEN, 5);
	CHECK(stack_quality(&w) == GPUBPF_STACK_BROKEN);
	/* one frame shows nothing, even where the frame pointer was 0: it is any register there */
	w = walked(STACK_END_ZERO, 1);
	CHECK(stack_quality(&w) == GPUBPF_STACK_BROKEN);
}

T(quality_at_where_threads_begin)
{
	struct stack_walked w = walked(STACK_END_BROKEN, 5);

	w.outermost = "__libc_start_call_main";
	w.stray = true;
	CHECK(stack_quality(&w) == GPUBPF_STACK_COMPLETE);
	w.outermost = NULL; /* a C library without symbols: what calls main() is where it begins */
	w.before = "main";
	CHECK(stack_quality(&w) == GPUBPF_STACK_COMPLETE);
	w.before = "domain";
	CHECK(stack_quality(&w) == GPUBPF_STACK_BROKEN);
	w = walked(STACK_END_LIMIT, 128);
	w.outermost = "start_thread";
	CHECK(stack_quality(&w) == GPUBPF_STACK_COMPLETE);
	CHECK(!stack_is_start(NULL) && !stack_is_start("clone_it") && stack_is_start("clone3"));
}

T(quality_unwound)
{
	struct stack_walked w = { .unwound = true, .frames = 3, .end = STACK_END_ZERO, .outermost = "work" };

	CHECK(stack_quality(&w) == GPUBPF_STACK_BROKEN);
	w.limited = true;
	CHECK(stack_quality(&w) == GPUBPF_STACK_TRUNCATED);
	w.whole = true;
	CHECK(stack_quality(&w) == GPUBPF_STACK_COMPLETE);
	CHECK(!strcmp(stack_quality_word(GPUBPF_STACK_BROKEN, true), "no unwind information"));
	CHECK(!strcmp(stack_quality_word(GPUBPF_STACK_BROKEN, false), "no frame pointers"));
	CHECK(!strcmp(stack_quality_word(77, false), "not known"));
}

static int parse(struct maps *m, const char *text)
{
	return maps__parse(m, strdup(text), strlen(text));
}

T(mappings)
{
	struct maps m;
	const struct mapping *v;

	CHECK(parse(&m,
		    "7f0000000000-7f0000001000 r--p 00000000 08:01 42                 /usr/lib/libx y.so\n"
		    "7f0000001000-7f0000003000 r-xp 00001000 08:01 42                 /usr/lib/libx y.so\n"
		    "nonsense\n"
		    "7f0000009000-7f0000008000 r-xp 00000000 00:00 0\n"
		    "400000-401000 r-xp 00000000 08:01 7 /bin/first (deleted)\n"
		    "7f0000002000-7f0000004000 r-xp 00000000 00:00 0 \n"
		    "7fff00000000-7fff00001000 r-xp 00000000 00:00 0                  [vdso]") == 0);
	CHECK(m.n == 4);
	v = maps__find(&m, 0x7f0000002fff);
	CHECK(v && v->exec && v->offset == 0x1000 && v->ino == 42 && v->major == 8 &&
	      !strcmp(v->path, "/usr/lib/libx y.so") && mapping__is_file(v));
	CHECK(v && m.v[v->first].offset == 0);
	CHECK(!maps__find(&m, 0x7f0000003000) && !maps__find(&m, 0x3fffff) && !maps__find(&m, UINT64_MAX));
	v = maps__find(&m, 0x400000);
	CHECK(v && !strcmp(v->path, "/bin/first (deleted)"));
	v = maps__find(&m, 0x7fff00000010);
	CHECK(v && v->exec && !mapping__is_file(v));
	CHECK(maps__overlap(&m, 0x7f0000002800, 0x7f0000009000) && maps__overlap(&m, 0, UINT64_MAX));
	CHECK(!maps__overlap(&m, 0x401000, 0x402000));
	maps__clear(&m);
	CHECK(parse(&m, "") == 0 && m.n == 0 && !maps__find(&m, 0));
	maps__clear(&m);
}

static struct mapping mapping(uint64_t start, uint64_t end, const char *path)
{
	return (struct mapping){
		.start = start, .end = end, .offset = 0x1000, .ino = 9, .exec = true, .path = path
	};
}

T(mappings_that_were_told)
{
	struct mapping a = mapping(0x1000, 0x3000, "/a"), b = mapping(0x8000, 0x9000, "/b"),
		       c = mapping(0x2000, 0x4000, "/c");
	struct seen *s;
	struct maps m;

	CHECK(seen__new(&s) == 0);
	CHECK(seen__maps(s, 5, &m) < 0);
	seen__add(s, 5, &b);
	seen__add(s, 5, &a);
	seen__add(s, 6, &b);
	CHECK(seen__maps(s, 5, &m) == 0 && m.n == 2 && !strcmp(m.v[0].path, "/a") && m.v[1].offset == 0x1000);
	maps__clear(&m);
	seen__add(s, 5, &c); /* in the place of a */
	CHECK(seen__maps(s, 5, &m) == 0 && m.n == 2 && !strcmp(m.v[0].path, "/c"));
	maps__clear(&m);
	for (pid_t p = 100; p < 1000; p++) /* more than are kept */
		seen__add(s, p, &a);
	CHECK(seen__maps(s, 5, &m) < 0);
	CHECK(seen__maps(s, 999, &m) == 0 && m.n == 1);
	maps__clear(&m);
	seen__free(s);
}

static int names(struct perfmap *m, const char *text)
{
	return perfmap__parse(m, strdup(text));
}

T(names_of_made_code)
{
	struct perfmap m;
	const char *name;

	CHECK(names(&m, "7f10 20 py::f:/a b.py\n"
			"7f00 10 first\n"
			"junk\n7f40 zz bad\n7f50 0 empty\n7f60 10 \n"
			"7f10 8 anew") == 0);
	name = perfmap__find(&m, 0x7f05);
	CHECK(name && !strcmp(name, "first"));
	name = perfmap__find(&m, 0x7f12); /* code was made anew there: the last word holds */
	CHECK(name && !strcmp(name, "anew"));
	CHECK(!perfmap__find(&m, 0x7f1a) && !perfmap__find(&m, 0x7eff) && !perfmap__find(&m, 0x7f65));
	perfmap__clear(&m);
	CHECK(names(&m, "") == 0 && !perfmap__find(&m, 0));
	perfmap__clear(&m);
}

/* ---- Frames and chains ---- */

static int into_table(const struct gpubpf_rec *rec, void *arg)
{
	CHECK(stacks_record_right(rec));
	CHECK(rec->size % 8 == 0);
	return stack_table__add(arg, rec);
}

static uint32_t frame(struct intern *in, const char *function, const char *source, uint32_t flags)
{
	struct intern_frame f = {
		.function = function, .module = "/bin/x", .source = source, .offset = 0x1234, .flags = flags
	};
	uint32_t id = 0;

	CHECK(intern__frame(in, &f, &id) == 0);
	return id;
}

T(each_once)
{
	struct stack_table t;
	struct intern *in;
	uint32_t a, b, c, ids[3], chain, again, other;
	char *text;

	stack_table__init(&t);
	CHECK(intern__new(into_table, &t, &in) == 0);
	a = frame(in, "inner;most", "/src/a.c:1", GPUBPF_STACK_INLINE);
	b = frame(in, NULL, NULL, 0);
	c = frame(in, "main", "/src/a.c:2", 0);
	CHECK(a == 1 && b == 2 && c == 3);
	CHECK(frame(in, "main", "/src/a.c:2", 0) == c && frame(in, "main", "/src/a.c:3", 0) == 4);
	ids[0] = a, ids[1] = b, ids[2] = c;
	CHECK(intern__chain(in, ids, 3, &chain) == 0 && intern__chain(in, ids, 3, &again) == 0 &&
	      chain == again);
	CHECK(intern__chain(in, ids, 2, &other) == 0 && other != chain);
	CHECK(intern__chain(in, ids, 0, &other) == 0 && other == 0);
	CHECK(t.frames.n == 4 && t.chains.n == 2);
	text = stack_chain__folded(&t, stack_table__chain(&t, chain));
	CHECK(text && !strcmp(text, "main;x+0x1234;inner:most"));
	free(text);
	text = stack_frame__text(stack_table__frame(&t, a), true);
	CHECK(text && !strcmp(text, "inner;most (inline, a.c:1)"));
	free(text);
	/* a frame and a chain that nobody has told of */
	text = stack_frame__text(stack_table__frame(&t, 99), true);
	CHECK(text && !strcmp(text, "not known"));
	free(text);
	text = stack_chain__folded(&t, stack_table__chain(&t, 99));
	CHECK(text && !text[0]);
	free(text);
	intern__free(in);
	stack_table__clear(&t);
}

T(long_names_are_cut)
{
	struct stack_table t;
	struct intern *in;
	char *name = malloc(100001);

	memset(name, 'a', 100000);
	name[100000] = '\0';
	stack_table__init(&t);
	CHECK(intern__new(into_table, &t, &in) == 0);
	CHECK(frame(in, name, name, 0) == 1);
	CHECK(strlen(stack_table__frame(&t, 1)->function) > 1000);
	intern__free(in);
	stack_table__clear(&t);
	free(name);
}

T(calls_are_found)
{
	struct gpubpf_stack s = { .kind = GPUBPF_REC_STACK,
				  .size = sizeof(s),
				  .flags = GPUBPF_STACK_CALL,
				  .tgid = 7,
				  .tid = 8,
				  .t_entry = 1000,
				  .chain = 3,
				  .quality = GPUBPF_STACK_TRUNCATED };
	const struct stack_call *c;
	struct stack_counts n = { 0 };
	struct stack_table t;

	stack_table__init(&t);
	CHECK(!stack_table__call(&t, 7, 8, 1000));
	CHECK(stack_table__add(&t, (const struct gpubpf_rec *)&s) == 0);
	stack_counts__add(&n, (const struct gpubpf_rec *)&s);
	s.chain = 4; /* what is said twice holds as it was said first */
	s.flags |= GPUBPF_STACK_LATE;
	CHECK(stack_table__add(&t, (const struct gpubpf_rec *)&s) == 0);
	stack_counts__add(&n, (const struct gpubpf_rec *)&s);
	c = stack_table__call(&t, 7, 8, 1000);
	CHECK(c && c->chain == 3 && c->quality == GPUBPF_STACK_TRUNCATED);
	CHECK(!stack_table__call(&t, 7, 9, 1000) && !stack_table__call(&t, 7, 8, 1001));
	CHECK(n.calls == 2 && n.quality[GPUBPF_STACK_TRUNCATED] == 2 && n.late == 1);
	stack_table__clear(&t);
}

/* ---- Hostile ---- */

T(records_that_are_none)
{
	union {
		struct gpubpf_rec head;
		struct gpubpf_stack call;
		struct gpubpf_stack_chain chain;
		struct gpubpf_stack_frame frame;
		char room[256];
	} r = { 0 };

	r.head = (struct gpubpf_rec){ .kind = GPUBPF_REC_STACK, .size = 32, .flags = GPUBPF_STACK_CALL };
	CHECK(!stacks_record_right(&r.head)); /* no quality */
	r.call.quality = GPUBPF_STACK_COMPLETE;
	CHECK(stacks_record_right(&r.head));
	r.call.quality = 200;
	CHECK(!stacks_record_right(&r.head));
	r.call.quality = GPUBPF_STACK_COMPLETE;
	r.call.api = GPUBPF_API_MAX;
	CHECK(!stacks_record_right(&r.head));
	r.call.api = 0;
	r.head.size = 24;
	CHECK(!stacks_record_right(&r.head));
	r.head.size = 32;
	r.head.flags = GPUBPF_STACK_CALL | GPUBPF_STACK_CHAIN;
	CHECK(!stacks_record_right(&r.head));
	r.head.flags = 0;
	CHECK(!stacks_record_right(&r.head));

	memset(&r, 0, sizeof(r));
	r.head = (struct gpubpf_rec){ .kind = GPUBPF_REC_STACK, .size = 24, .flags = GPUBPF_STACK_CHAIN };
	r.chain.id = 1;
	r.chain.n = 2;
	CHECK(stacks_record_right(&r.head));
	r.chain.n = 3;
	CHECK(!stacks_record_right(&r.head)); /* behind its end */
	r.chain.n = UINT32_MAX;
	CHECK(!stacks_record_right(&r.head));
	r.chain.n = 0;
	CHECK(!stacks_record_right(&r.head));
	r.chain.n = 2;
	r.chain.id = 0;
	CHECK(!stacks_record_right(&r.head));

	memset(&r, 0, sizeof(r));
	r.head = (struct gpubpf_rec){ .kind = GPUBPF_REC_STACK, .size = 32, .flags = GPUBPF_STACK_FRAME };
	r.frame.id = 1;
	r.frame.len = 5;
	memcpy(r.room + sizeof(r.frame), "ab\0\0\0", 5);
	CHECK(stacks_record_right(&r.head));
	r.frame.len = 4; /* two texts */
	CHECK(!stacks_record_right(&r.head));
	r.frame.len = 6; /* four */
	CHECK(!stacks_record_right(&r.head));
	r.frame.len = 0;
	CHECK(!stacks_record_right(&r.head));
	r.frame.len = UINT32_MAX;
	CHECK(!stacks_record_right(&r.head));
	r.frame.len = 5;
	memcpy(r.room + sizeof(r.frame), "\0\0\0ab", 5); /* the last one does not end */
	CHECK(!stacks_record_right(&r.head));
	r.head.size = 16;
	CHECK(!stacks_record_right(&r.head));
}

TEST_MAIN
