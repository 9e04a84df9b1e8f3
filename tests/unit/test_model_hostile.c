/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of any content, as a hostile capture may hold them: nothing breaks and the sums still balance. */
#include "../t.h"

#include "model_fixture.h"

static uint64_t seed = 42;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

/* Few distinct values, so that handles and addresses meet again; now and then anything at all. */
static uint64_t value(void)
{
	return rnd() % 8 ? rnd() % 12 * 0x10 : rnd();
}

static void random_call(void)
{
	union {
		struct gpubpf_call c;
		uint64_t room[7 + 12 + 64];
	} u;

	for (size_t i = 0; i < sizeof(u.room) / 8; i++)
		u.room[i] = value();
	u.c.kind = GPUBPF_REC_CALL;
	u.c.flags = (uint32_t)(rnd() % 4 ? rnd() % 2 | 2 : rnd());
	u.c.tgid = (uint32_t)(rnd() % 4);
	u.c.tid = (uint32_t)(rnd() % 9);
	u.c.t_entry = rnd() % 1000;
	u.c.t_return = rnd() % 1000;
	u.c.result = rnd() % 4 ? 0 : (int32_t)(rnd() % 1000);
	u.c.api = (uint16_t)(rnd() % (apitab__size(fx.tab) + 2));
	u.c.depth = rnd() % 8 == 0;
	u.c.nwords = (uint8_t)(rnd() % 13);
	u.c.nblob = (uint32_t)(rnd() % 513);
	u.c.size = sizeof(u.room);
	CHECK(model__add(fx.m, (struct gpubpf_rec *)&u.c) == 0);
}

static void random_task(void)
{
	struct gpubpf_task t = { .kind = GPUBPF_REC_TASK, .size = sizeof(t) };

	t.event = (uint32_t)(rnd() % 7);
	t.tgid = (uint32_t)(rnd() % 4);
	t.tid = (uint32_t)(rnd() % 9);
	t.peer = (uint32_t)(rnd() % 4);
	t.time = rnd() % 1000;
	t.start_time = rnd() % 3;
	CHECK(model__add(fx.m, (struct gpubpf_rec *)&t) == 0);
}

static void memory_balances(void)
{
	const struct memory *m = fx.m->memory;
	uint64_t left = 0, matched = 0, ended = 0;

	for (int k = 0; k < MEM_KINDS; k++) {
		ended += fx.m->allocs.row[k].exited.n + fx.m->allocs.row[k].live.n;
		matched += fx.m->allocs.frees[k].matched;
	}
	for (size_t i = 0; i < m->left.n; i++)
		left += ((const struct memory_left *)hmap__at(&m->left, i))->n;
	for (size_t i = 0; i < m->matches.n; i++)
		matched -= ((const struct memory_match *)hmap__at(&m->matches, i))->n;
	CHECK(left == ended && matched == 0);
	CHECK(m->points <= MEMORY_POINTS && m->point[m->points - 1].n == fx.m->allocs.total_live.n);
	for (size_t i = 0; i < m->pools.n; i++) {
		const struct memory_pool *p = hmap__at(&m->pools, i);

		CHECK(p->freed + p->live <= p->n && p->nstretches <= MEMORY_STRETCHES);
		for (uint32_t s = 0; s + 1 < p->nstretches; s++)
			CHECK(p->stretches[s].to < p->stretches[s + 1].from);
	}
}

T(records_of_any_content_are_taken)
{
	for (int round = 0; round < 20; round++) {
		uint64_t calls = 0;

		begin_with((struct model_opts){
			.threads = true, .memory = true, .stacks = round % 2, .modules = true });
		for (int i = 0; i < 20000; i++) {
			if (rnd() % 200)
				random_call();
			else
				random_task();
		}
		finish();
		for (size_t i = 0; i < fx.m->nplans; i++) {
			const struct apistat *s = &fx.m->apis[i];

			calls += s->calls + s->nested;
			CHECK(s->returned == s->time.n + s->bad_time);
			CHECK(s->failed + s->not_ready <= s->returned);
		}
		CHECK(calls + fx.m->unknown_api == fx.m->calls);
		for (int k = 0; k < MEM_KINDS; k++) {
			const struct mem_row *r = &fx.m->allocs.row[k];

			CHECK(r->allocated.n ==
			      r->freed.n + r->exited.n + r->lost_track.n + r->live.n + r->no_address.n);
		}
		memory_balances();
		for (size_t i = 0; i < fx.m->launches.merged.n; i++)
			CHECK(strlen(row_name(launch_row(i))) > 0);
		end();
	}
}

TEST_MAIN
