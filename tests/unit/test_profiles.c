/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../t.h"

#include <stdint.h>
#include <stdlib.h>

#include "export/blobs.h"
#include "trace/identity.h"
#include "trace/wall.h"

T(blobs_are_kept_once_in_the_order_of_arrival)
{
	enum { N = 200000 }; /* of one length: hashes of 32 bits are the same here and there */
	struct blobs b = { 0 };
	char text[32], *large = malloc(1 << 20);
	const char *first = NULL;
	uint32_t number;

	for (uint32_t i = 0; i < N; i++) {
		snprintf(text, sizeof(text), "text %06u", i);
		CHECK(!blobs__text(&b, text, &number) && number == i);
		if (!i)
			first = b.blob[0].bytes;
	}
	for (uint32_t i = 0; i < N; i++) {
		snprintf(text, sizeof(text), "text %06u", i);
		CHECK(!blobs__text(&b, text, &number) && number == i);
		CHECK(!strcmp(b.blob[i].bytes, text) && (uintptr_t)b.blob[i].bytes % 8 == 0);
	}
	CHECK(b.n == N && b.blob[0].bytes == first);
	memset(large, 'x', 1 << 20);
	CHECK(!blobs__put(&b, large, 1 << 20, &number) && number == N && b.blob[N].n == 1 << 20);
	CHECK(!blobs__put(&b, large, 1 << 20, &number) && number == N);
	CHECK(!blobs__put(&b, large, (1 << 20) - 1, &number) && number == N + 1);
	blobs__clear(&b);
	free(large);
}

T(blobs_may_hold_anything)
{
	struct blobs b = { 0 };
	uint32_t number;

	CHECK(!blobs__put(&b, "", 0, &number) && number == 0 && b.blob[0].n == 0);
	CHECK(!blobs__put(&b, "a\0b", 3, &number) && number == 1);
	CHECK(!blobs__put(&b, "a\0c", 3, &number) && number == 2);
	CHECK(!blobs__put(&b, "a", 1, &number) && number == 3);
	CHECK(!blobs__put(&b, NULL, 0, &number) && number == 0);
	CHECK(!memcmp(b.blob[2].bytes, "a\0c", 4));
	blobs__clear(&b);
	CHECK(!b.n && !b.blob);
}

static void pair(Gpubpf__ClockPair *p, uint64_t mono, uint64_t real)
{
	gpubpf__clock_pair__init(p);
	p->monotonic_ns = mono;
	p->has_realtime_ns = true;
	p->realtime_ns = real;
}

/* The pair before a time holds for it, wherever it stands in the file; what a clock cannot show is no time. */
T(wall_clock_by_the_pair_before_R23)
{
	Gpubpf__ClockPair p[4], *pairs[] = { &p[0], &p[1], &p[2], &p[3] };
	Gpubpf__Meta m = GPUBPF__META__INIT;
	struct inspection in = { .meta = &m };
	static const uint64_t asked[] = { 0, 99, 100, 150, 199, 200, 299, 300, 5000, 150, 0 };
	struct wall w;
	uint64_t real, same;

	pair(&p[0], 100, 10000);
	pair(&p[1], 300, 10230);
	pair(&p[2], 200, 10110);
	gpubpf__clock_pair__init(&p[3]); /* of other clocks */
	p[3].monotonic_ns = 150;
	m.clock = pairs;
	m.n_clock = 4;
	CHECK(!wall__init(&w, &m) && w.n == 3);
	CHECK(wall__at(&w, 0, &real) && real == 9900);
	CHECK(wall__at(&w, 250, &real) && real == 10160);
	CHECK(wall__at(&w, 301, &real) && real == 10231);
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		CHECK(wall__at(&w, asked[i], &real) && inspect_wall(&in, asked[i], &same) && real == same);
	wall__clear(&w);
	pair(&p[0], 100, 50);
	m.n_clock = 1;
	CHECK(!wall__init(&w, &m));
	CHECK(!wall__at(&w, 49, &real) && wall__at(&w, 50, &real) && real == 0);
	wall__clear(&w);
	pair(&p[0], 100, UINT64_MAX - 1);
	CHECK(!wall__init(&w, &m));
	CHECK(wall__at(&w, 101, &real) && real == UINT64_MAX && !wall__at(&w, 102, &real));
	wall__clear(&w);
	m.n_clock = 0;
	CHECK(!wall__init(&w, &m) && !wall__at(&w, 1, &real));
	wall__clear(&w);
}

T(identity_is_of_what_the_capture_holds_R47)
{
	Gpubpf__Meta m = GPUBPF__META__INIT, other = GPUBPF__META__INIT;
	char *command[] = { "a", "b" }, *joined[] = { "a+b" };
	struct identity x, y;

	m.start_ns = other.start_ns = 7;
	identity__of(&m, &x);
	identity__of(&m, &y);
	CHECK(!strcmp(x.text, y.text) && strlen(x.text) == 32);
	m.command = command;
	m.n_command = 2;
	other.command = joined;
	other.n_command = 1;
	identity__of(&m, &x);
	identity__of(&other, &y);
	CHECK(strcmp(x.text, y.text));
	other = m;
	other.start_ns++;
	identity__of(&other, &y);
	CHECK(strcmp(x.text, y.text));
}

static int rising(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

T(ids_are_never_the_same_and_never_0)
{
	enum { N = 20000 };
	struct identity id = { .word = { 5, 9 } };
	static uint64_t ids[2 * N];

	for (uint64_t i = 0; i < N; i++) {
		ids[2 * i] = identity__id(&id, 3, i);
		ids[2 * i + 1] = identity__id(&id, 4, i);
	}
	qsort(ids, 2 * N, sizeof(ids[0]), rising);
	CHECK(ids[0]);
	for (size_t i = 1; i < 2 * N; i++)
		CHECK(ids[i] != ids[i - 1]);
}

TEST_MAIN
