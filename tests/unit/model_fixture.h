/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes records by hand for tests of the model: call("cuMemFree_v2", 1, ptr) and the like. */
#ifndef GPUBPF_MODEL_FIXTURE_H
#define GPUBPF_MODEL_FIXTURE_H

#include <stdarg.h>
#include <stdlib.h>

#include "model/cuda_abi.h"
#include "model/model.h"

struct fixture {
	struct apitab *tab;
	struct model *m;
	uint32_t tgid, tid;
	uint64_t now; /* entry of the next call; each takes `took` and the next starts 10 later */
	uint64_t took;
	uint8_t depth;
	uint32_t flags; /* put into the next call instead of GPUBPF_CALL_RETURNED */
	int32_t result; /* of the next call */
	const void *blob;
	size_t nblob;
	uint32_t more_flags;
};

static struct fixture fx;

__attribute__((unused)) static void begin_with(struct model_opts o)
{
	memset(&fx, 0, sizeof(fx));
	fx.tgid = fx.tid = 100;
	fx.now = 1000;
	fx.took = 5;
	fx.flags = GPUBPF_CALL_RETURNED;
	CHECK(apitab__builtin(&fx.tab) == 0);
	CHECK(model__new(fx.tab, &o, &fx.m) == 0);
}

__attribute__((unused)) static void begin(void)
{
	begin_with((struct model_opts){ 0 });
}

__attribute__((unused)) static void finish(void)
{
	CHECK(model__finish(fx.m) == 0);
}

__attribute__((unused)) static void end(void)
{
	model__free(fx.m);
	apitab__free(fx.tab);
}

__attribute__((unused)) static uint32_t api_id(const char *symbol)
{
	for (uint32_t i = 0; i < apitab__size(fx.tab); i++)
		if (strcmp(apitab__get(fx.tab, i)->symbol, symbol) == 0)
			return i;
	CHECKF(0, "no entry point %s", symbol);
	return 0;
}

static void emit(const char *symbol, bool has_out, uint64_t out, int n, va_list ap)
{
	union {
		struct gpubpf_call c;
		uint64_t room[7 + 12 + GPUBPF_BLOB_MAX / 8];
	} u;

	memset(&u, 0, sizeof(u));
	u.c.kind = GPUBPF_REC_CALL;
	u.c.nwords = 12;
	u.c.nblob = (uint32_t)fx.nblob;
	u.c.size = (uint16_t)(56 + 96 + (fx.nblob + 7) / 8 * 8);
	u.c.flags = fx.flags | fx.more_flags | (has_out ? GPUBPF_CALL_HAS_OUT : 0);
	u.c.tgid = fx.tgid;
	u.c.tid = fx.tid;
	u.c.t_entry = fx.now;
	if (fx.flags & GPUBPF_CALL_RETURNED) {
		u.c.t_return = fx.now + fx.took;
		u.c.result = fx.result;
	}
	u.c.api = (uint16_t)api_id(symbol);
	u.c.depth = fx.depth;
	u.c.out = out;
	for (int i = 0; i < n; i++)
		u.c.words[i] = va_arg(ap, uint64_t);
	if (fx.nblob)
		memcpy(u.c.words + 12, fx.blob, fx.nblob);
	CHECK(model__add(fx.m, (const struct gpubpf_rec *)&u.c) == 0);
	fx.now += fx.took + 10;
	fx.result = 0;
	fx.blob = NULL;
	fx.nblob = 0;
	fx.more_flags = 0;
}

/* Arguments must be uint64_t. */
__attribute__((unused)) static void call_n(const char *symbol, int n, ...)
{
	va_list ap;

	va_start(ap, n);
	emit(symbol, false, 0, n, ap);
	va_end(ap);
}

__attribute__((unused)) static void out_n(const char *symbol, uint64_t out, int n, ...)
{
	va_list ap;

	va_start(ap, n);
	emit(symbol, true, out, n, ap);
	va_end(ap);
}

#define U(x) ((uint64_t)(x))

__attribute__((unused)) static void launch_on(const char *symbol, uint64_t func, unsigned grid,
					      uint64_t stream)
{
	call_n(symbol, 10, func, U(grid), U(1), U(1), U(64), U(1), U(1), U(0), stream, U(0));
}

__attribute__((unused)) static void launch(uint64_t func, unsigned grid)
{
	launch_on("cuLaunchKernel", func, grid, 0);
}

__attribute__((unused)) static void with_text(const char *s)
{
	fx.blob = s;
	fx.nblob = strlen(s) + 1;
}

__attribute__((unused)) static void task(uint32_t event, uint32_t tgid, uint32_t peer)
{
	struct gpubpf_task t = { .kind = GPUBPF_REC_TASK,
				 .size = sizeof(t),
				 .event = event,
				 .tgid = tgid,
				 .tid = tgid,
				 .peer = peer,
				 .time = fx.now,
				 .start_time = tgid,
				 .comm = "test" };

	CHECK(model__add(fx.m, (const struct gpubpf_rec *)&t) == 0);
	fx.now += 10;
}

/* Display name of a row's function; static storage. */
__attribute__((unused)) static const char *row_name(const struct launch_row *r)
{
	static char buf[512];
	char *s = names__display(names__text(fx.m->names, r->name), r->handle);

	snprintf(buf, sizeof(buf), "%s", s);
	free(s);
	return buf;
}

__attribute__((unused)) static const struct launch_row *launch_row(size_t i)
{
	static const struct launch_row none;

	CHECKF(i < fx.m->launches.merged.n, "only %zu launch rows", fx.m->launches.merged.n);
	return i < fx.m->launches.merged.n ? hmap__at(&fx.m->launches.merged, i) : &none;
}

__attribute__((unused)) static const struct copy_row *copy_row(const char *direction)
{
	static const struct copy_row none;

	for (size_t i = 0; i < fx.m->copies.rows.n; i++) {
		const struct copy_row *r = hmap__at(&fx.m->copies.rows, i);

		if (strcmp(r->direction, direction) == 0)
			return r;
	}
	CHECKF(0, "no copies %s", direction);
	return &none;
}

#endif
