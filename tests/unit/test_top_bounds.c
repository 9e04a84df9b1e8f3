/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The live view: more than it holds, damage, terminals of any size. */
#include "../t.h"

#include "top_fixture.h"

T(memory_is_bounded_and_nothing_is_left_out_of_the_sums)
{
	begin();
	called(LAUNCH, 20000);
	arm(7, 0);
	for (uint32_t i = 1; i <= 20000; i++) {
		call(LAUNCH, 7, i, 10, 1, i * 16, 1, 1, NULL);
		ran(7, 100, 100, 1, i, 900);
	}
	tick(S);
	CHECK(w.view->ntasks == TOP_ROWS && w.view->other_tasks > 19000);
	tick(2 * S);
	CHECK(w.view->nkernels == TOP_ROWS && w.view->other_kernels.launches == 20000 - TOP_ROWS);
	end(3 * S);
	CHECK(w.kernels == 20000 && w.executions == 20000);
}

T(more_spans_than_are_kept_make_busy_unsure_and_say_by_how_much)
{
	struct gpubpf_activity a[100] = { 0 };
	uint64_t at = START, n = 0;

	begin();
	called(LAUNCH, 1);
	arm(7, 0);
	for (unsigned i = 0; i < 4000; i++) {
		for (unsigned k = 0; k < 100; k++, n++, at += 2000) {
			a[k].kind = GPUBPF_ACTIVITY_KERNEL;
			a[k].start = at;
			a[k].end = at + 1000;
		}
		batch(GPUBPF_PROBE_ACTIVITY, 7, 900 * MS, a, sizeof(a[0]), 100);
	}
	tick(S);
	tick(2 * S);
	CHECK(w.view->gpu[0].unsure > 0);
	CHECKF(w.view->gpu[0].busy == n * 1000 + w.view->gpu[0].unsure, "busy %lu, unsure %lu",
	       w.view->gpu[0].busy, w.view->gpu[0].unsure);
	end(3 * S);
}

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

T(sizes_that_lie_are_refused)
{
	struct gpubpf_name n = { .id = 1, .parts = 1, .len = sizeof(n.text) + 40 };
	struct gpubpf_activity a = {
		.kind = GPUBPF_ACTIVITY_KERNEL, .start = START, .end = START + 5, .name = 1
	};

	begin();
	called(LAUNCH, 1);
	arm(7, 0);
	memset(n.text, 'x', sizeof(n.text));
	batch(GPUBPF_PROBE_NAMES, 7, 0, &n, sizeof(n), 1);
	n.id = 2;
	n.parts = 3;
	n.part = 3;
	n.len = 4;
	batch(GPUBPF_PROBE_NAMES, 7, 0, &n, sizeof(n), 1);
	batch(GPUBPF_PROBE_ACTIVITY, 7, 900 * MS, &a, sizeof(a), 1);
	batch(GPUBPF_PROBE_ACTIVITY, 7, 900 * MS, &a, sizeof(a) - 8, 1);
	tick(S);
	tick(2 * S);
	CHECK(w.view->nkernels == 1 && w.view->kernel[0].launches == 1);
	CHECK(!strcmp(w.view->kernel[0].name, "<no name yet: 1 of process 7>"));
	CHECK(loss("device_bad_items") && loss("device_bad_items")->total == 1);
	end(3 * S);
}

T(what_a_process_makes_up_breaks_nothing)
{
	static const size_t sizes[GPUBPF_PROBES] = GPUBPF_ITEM_SIZES;
	uint64_t junk[512];

	begin();
	for (unsigned i = 0; i < 20000; i++) {
		unsigned probe = (unsigned)(rnd() % GPUBPF_PROBES);
		size_t size = rnd() % 4 ? sizes[probe] : rnd() % 300 / 8 * 8 + 8;

		for (size_t k = 0; k < 512; k++)
			junk[k] = rnd() % 3 ? rnd() % 5 : rnd();
		batch_at(probe, (uint32_t)(rnd() % 8), i * 100000, junk, size, (unsigned)(rnd() % 5),
			 rnd() % 100);
		if (i % 1000 == 999)
			tick((i + 1) * 100000);
	}
	end(3 * S);
	CHECK(w.executions == w.view->executions.total);
}

/* Columns that a line takes. */
static unsigned width(const char *s)
{
	unsigned n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

T(a_screen_of_any_size_holds_what_fits)
{
	static struct top_text t;
	struct top_state st = { 0 };

	begin();
	called(LAUNCH, 300);
	arm(7, 0);
	for (uint32_t i = 1; i <= 300; i++) {
		char name[32];

		snprintf(name, sizeof(name), "kernel_%u_\x1b[31mé", i);
		named(7, i, name);
		ran(7, 100, 100 + i % 50, 1, i, 900);
	}
	tick(S);
	tick(2 * S);
	for (unsigned rows = 1; rows < 300; rows = rows < 30 ? rows + 1 : rows * 3) {
		for (unsigned columns = 1; columns < 500;
		     columns = columns < 30 ? columns + 3 : columns * 2) {
			for (unsigned table = 0; table < TOP_TABLES; table++) {
				st.table = table;
				st.scroll = rows * 7;
				top_state_sort(&st);
				top_layout(w.view, &st, rows, columns, &t);
				CHECKF(t.n == (rows < TOP_LINES_MAX ? rows : TOP_LINES_MAX) || rows < 3 ||
					       t.n <= rows,
				       "%u lines of %u", t.n, rows);
				for (unsigned i = 0; i < t.n; i++)
					CHECKF(width(t.line[i].text) <= columns &&
						       !strchr(t.line[i].text, '\x1b'),
					       "%u columns: %s", columns, t.line[i].text);
			}
		}
	}
	st = (struct top_state){ 0 };
	top_layout(w.view, &st, 24, 80, &t);
	CHECK(t.n == 24 && t.line[6].style == TOP_HEADER && t.line[23].style == TOP_HELP);
	CHECKF(strstr(t.line[7].text, "kernel_149_\\x1b[31mé"), "%s", t.line[7].text);
	top_layout(NULL, &st, 24, 80, &t);
	CHECK(strstr(t.line[0].text, "the first interval is not over"));
	end(3 * S);
	free(w.view);
	free(w.text);
}

TEST_MAIN
