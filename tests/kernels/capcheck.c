// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * capcheck NAME CAPTURE SIMLOG: a capture of a program on the simulated CUDA stack against the simulated
 * driver's own log. Prints "ok NAME: …" or "not ok NAME: …" lines, as the guest tests do.
 *
 *   calls     each logged call of an armed entry point has its record and no record is without a call: thread,
 *             order, every argument, result, out value, times in order (C28, C29)
 *   counters  the never-lost counters say what the log says
 *   launch    the log holds a cuLaunchKernel whose arguments all differ, so that `calls` proved each of them
 *   padding   no byte of a record is there that nobody wrote (C14)
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../simcuda/simlog.h"
#include "capture/capture.h"
#include "model/apitab.h"
#include "util/err.h"

#define COMPLAINTS 12 /* printed per check; the number is always said */

struct check {
	const char *name;
	struct capture_reader *reader;
	struct apitab *tab;
	bool *armed; /* by API id */
	size_t napis;

	struct simlog_record *log; /* calls of armed entry points that began */
	size_t nlog;
	struct gpubpf_call **calls;
	size_t ncalls, room;

	unsigned complaints, failed;
};

#define COMPLAIN(c, ...)                                                                                     \
	do {                                                                                                 \
		if ((c)->complaints++ < COMPLAINTS) {                                                        \
			printf("# ");                                                                        \
			printf(__VA_ARGS__);                                                                 \
			putchar('\n');                                                                       \
		}                                                                                            \
	} while (0)

static void verdict(struct check *c, const char *what)
{
	if (c->complaints)
		printf("# %u in all\n", c->complaints);
	printf("%s %s: %s\n", c->complaints ? "not ok" : "ok", c->name, what);
	c->failed += c->complaints != 0;
	c->complaints = 0;
}

static int tab_load(struct check *c)
{
	const Gpubpf__Meta *meta = capture_reader__meta(c->reader);
	int err = apitab__new(&c->tab);

	for (size_t i = 0; !err && i < meta->n_api; i++) {
		const Gpubpf__Api *a = meta->api[i];

		err = apitab__add(c->tab, a->id, a->symbol, a->kind, a->signature, a->legacy32);
	}
	if (err)
		return err;
	c->napis = apitab__size(c->tab);
	c->armed = calloc(c->napis + 1, sizeof(*c->armed));
	if (!c->armed)
		return -ENOMEM;
	for (size_t i = 0; i < meta->n_api; i++)
		c->armed[meta->api[i]->id] = !meta->api[i]->missing && !meta->api[i]->error;
	return 0;
}

static int api_id(const struct check *c, const char *symbol)
{
	for (size_t i = 0; i < c->napis; i++) {
		const struct api *a = apitab__get(c->tab, i);

		if (a && c->armed[i] && !strcmp(a->symbol, symbol))
			return (int)i;
	}
	return -1;
}

static int cmp_log(const void *pa, const void *pb)
{
	const struct simlog_record *a = pa, *b = pb;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->t_entry < b->t_entry ? -1 : a->t_entry > b->t_entry;
}

static int cmp_call(const void *pa, const void *pb)
{
	const struct gpubpf_call *a = *(struct gpubpf_call *const *)pa, *b = *(struct gpubpf_call *const *)pb;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->t_entry < b->t_entry ? -1 : a->t_entry > b->t_entry;
}

static int log_load(struct check *c, const char *path)
{
	const struct simlog_header *h = MAP_FAILED;
	const struct simlog_record *r;
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (st.st_size > SIMLOG_HEADER_BYTES)
		h = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (h == MAP_FAILED || h->magic != SIMLOG_MAGIC || h->record_bytes != sizeof(*r) ||
	    h->claimed > h->capacity || SIMLOG_HEADER_BYTES + h->claimed * sizeof(*r) > (uint64_t)st.st_size)
		return -EBADMSG;
	c->log = calloc(h->claimed + 1, sizeof(*r));
	if (!c->log) {
		err = -ENOMEM;
		goto out;
	}
	r = (const void *)((const char *)h + SIMLOG_HEADER_BYTES);
	for (uint64_t i = 0; i < h->claimed; i++)
		if (r[i].state != SIMLOG_EMPTY && api_id(c, r[i].symbol) >= 0)
			c->log[c->nlog++] = r[i];
	qsort(c->log, c->nlog, sizeof(*c->log), cmp_log);
out:
	munmap((void *)h, (size_t)st.st_size);
	return err;
}

static void zero_check(struct check *c, const char *what, uint64_t v)
{
	if (v)
		COMPLAIN(c, "%s is %#" PRIx64 ", and should not be there", what, v);
}

static void call_padding(struct check *c, const struct gpubpf_call *r)
{
	const unsigned char *end = (const unsigned char *)r + r->size;
	const unsigned char *p = (const unsigned char *)&r->words[r->nwords] + r->nblob;
	uint32_t known = (GPUBPF_CALL_UNMEASURED << 1) - 1;

	zero_check(c, "reserved", r->reserved);
	zero_check(c, "a flag", r->flags & ~known);
	if (!(r->flags & GPUBPF_CALL_RETURNED)) {
		zero_check(c, "t_return", r->t_return);
		zero_check(c, "result", (uint32_t)r->result);
	}
	if (!(r->flags & GPUBPF_CALL_HAS_OUT))
		zero_check(c, "out", r->out);
	if (end - p < 0 || end - p > 7)
		COMPLAIN(c, "a record of %u bytes has %td behind its blob of %u", r->size, end - p, r->nblob);
	else
		for (; p < end; p++)
			zero_check(c, "a byte behind the blob", *p);
}

static void task_padding(struct check *c, const struct gpubpf_task *t)
{
	size_t n = strnlen(t->comm, sizeof(t->comm));

	zero_check(c, "a task's flags", t->flags);
	if (t->event != GPUBPF_TASK_EXIT)
		zero_check(c, "code", (uint32_t)t->code);
	if (n == sizeof(t->comm))
		COMPLAIN(c, "comm has no end");
	for (; n < sizeof(t->comm); n++)
		zero_check(c, "a byte behind comm", (unsigned char)t->comm[n]);
}

static int calls_load(struct check *c, struct err *err)
{
	const struct gpubpf_rec *r;
	int more;

	while ((more = capture_reader__next(c->reader, &r, err)) == 1) {
		if (r->kind == GPUBPF_REC_TASK)
			task_padding(c, (const void *)r);
		if (r->kind != GPUBPF_REC_CALL)
			continue;
		call_padding(c, (const void *)r);
		if (c->ncalls == c->room) {
			size_t room = c->room ? 2 * c->room : 1024;
			void *p = realloc(c->calls, room * sizeof(*c->calls));

			if (!p)
				return -ENOMEM;
			c->calls = p;
			c->room = room;
		}
		c->calls[c->ncalls] = malloc(r->size);
		if (!c->calls[c->ncalls])
			return -ENOMEM;
		memcpy(c->calls[c->ncalls++], r, r->size);
	}
	qsort(c->calls, c->ncalls, sizeof(*c->calls), cmp_call);
	return more;
}

/* Bits of an argument that its type gives meaning to: the log has zeros above them. */
static uint64_t type_mask(const struct api *a, char type)
{
	switch (type) {
	case 'b':
		return 0xff;
	case 'w':
		return 0xffff;
	case 'u':
	case 'i':
		return 0xffffffff;
	case 'd':
	case 'z':
		return a->legacy32 ? 0xffffffff : UINT64_MAX;
	default:
		return UINT64_MAX;
	}
}

static void call_compare(struct check *c, const struct simlog_record *s, const struct gpubpf_call *r)
{
	const struct api *a = apitab__get(c->tab, r->api);
	uint64_t v;

	if (s->state == SIMLOG_ENTERED) {
		if (r->flags & GPUBPF_CALL_RETURNED)
			COMPLAIN(c, "%s returned, says the record only", s->symbol);
		return;
	}
	if (r->flags & GPUBPF_CALL_UNMEASURED) {
		if (a->cls != API_LAUNCH && a->cls != API_GRAPHLAUNCH)
			COMPLAIN(c, "%s: not measured, and no launch", s->symbol);
	} else if (!(r->flags & GPUBPF_CALL_RETURNED) || r->result != s->result) {
		COMPLAIN(c, "%s: result %d (flags %#x), the driver says %d", s->symbol, r->result, r->flags,
			 s->result);
	}
	if (r->tgid != s->tgid || (!s->depth && r->depth))
		COMPLAIN(c, "%s: process %u depth %u, the driver says %u and %u", s->symbol, r->tgid,
			 r->depth, s->tgid, s->depth);
	if (r->t_entry > s->t_entry || (r->t_return < s->t_exit && !(r->flags & GPUBPF_CALL_UNMEASURED)))
		COMPLAIN(c, "%s: the driver's times are outside of the record's", s->symbol);
	for (unsigned i = 0; i < a->nargs; i++) {
		if (!api_arg_value(a, r, a->args[i].name, &v))
			COMPLAIN(c, "%s: no word for %s", s->symbol, a->args[i].name);
		else if ((v & type_mask(a, a->args[i].type)) != s->words[i])
			COMPLAIN(c, "%s: %s is %#" PRIx64 ", the driver says %#" PRIx64, s->symbol,
				 a->args[i].name, v, s->words[i]);
	}
	if (!(s->flags & SIMLOG_HAS_OUT) || (s->flags & SIMLOG_INJECTED))
		return;
	for (unsigned i = 0; i < a->nargs; i++)
		if ((a->args[i].type == 'o' || a->args[i].type == 'O') &&
		    (!api_call_out(a, r, &v) || v != s->out))
			COMPLAIN(c, "%s: out (flags %#x), the driver says %#" PRIx64, s->symbol, r->flags,
				 s->out);
}

static void calls_check(struct check *c)
{
	size_t n = c->nlog < c->ncalls ? c->nlog : c->ncalls;

	if (!c->nlog)
		COMPLAIN(c, "the log holds no call of an armed entry point");
	if (c->nlog != c->ncalls)
		COMPLAIN(c, "%zu records of calls, the driver logged %zu", c->ncalls, c->nlog);
	for (size_t i = 0; i < n; i++) {
		const struct api *a = apitab__get(c->tab, c->calls[i]->api);
		const struct simlog_record *s = &c->log[i];

		/* Behind the first that differs nothing stands beside its own. */
		if (!a || strcmp(a->symbol, s->symbol) || c->calls[i]->tid != s->tid) {
			COMPLAIN(c, "call %zu is %s of thread %u, the driver says %s of %u", i,
				 a ? a->symbol : "?", c->calls[i]->tid, s->symbol, s->tid);
			break;
		}
		call_compare(c, s, c->calls[i]);
	}
	verdict(c, "every call has its record, and the record every argument, result and out value");
}

static void counters_check(struct check *c)
{
	const Gpubpf__Counts *counts = capture_reader__counts(c->reader);
	uint64_t *logged = calloc(c->napis + 1, sizeof(*logged));

	if (!logged || !counts || !capture_reader__footer(c->reader)) {
		COMPLAIN(c, "no counters, or no footer");
		goto out;
	}
	for (size_t i = 0; i < c->nlog; i++)
		logged[api_id(c, c->log[i].symbol)]++;
	for (size_t i = 0; i < counts->n_api; i++) {
		const Gpubpf__ApiCounts *a = counts->api[i];

		if (a->api >= c->napis)
			continue;
		if (a->entered + a->nested != logged[a->api])
			COMPLAIN(c, "%s: %" PRIu64 " + %" PRIu64 " calls counted, the driver logged %" PRIu64,
				 apitab__get(c->tab, a->api)->symbol, a->entered, a->nested, logged[a->api]);
		logged[a->api] = 0;
	}
	for (size_t i = 0; i < c->napis; i++)
		if (logged[i])
			COMPLAIN(c, "%s: %" PRIu64 " calls logged, none counted",
				 apitab__get(c->tab, i)->symbol, logged[i]);
out:
	free(logged);
	verdict(c, "the counters say what the driver logged");
}

static bool all_differ(const struct simlog_record *s)
{
	for (unsigned i = 0; i < s->nargs; i++)
		for (unsigned j = 0; j < i; j++)
			if (s->words[i] == s->words[j] || !s->words[i])
				return false;
	return s->nargs == 11;
}

static void launch_check(struct check *c)
{
	bool found = false;

	for (size_t i = 0; i < c->nlog && !found; i++)
		found = !strcmp(c->log[i].symbol, "cuLaunchKernel") && all_differ(&c->log[i]);
	if (!found)
		COMPLAIN(c, "no cuLaunchKernel with eleven different arguments in the log");
	verdict(c, "the eleven arguments of cuLaunchKernel differ");
}

int main(int argc, char **argv)
{
	struct check c = { 0 };
	struct err err = { 0 };
	int e;

	if (argc < 4) {
		fprintf(stderr, "usage: capcheck NAME CAPTURE SIMLOG [launch]\n");
		return 2;
	}
	c.name = argv[1];
	e = capture_reader__open(argv[2], &c.reader, &err);
	if (!e)
		e = tab_load(&c);
	if (!e)
		e = log_load(&c, argv[3]);
	if (!e)
		e = calls_load(&c, &err);
	if (e) {
		printf("# %s\nnot ok %s: capture and log can be read\n", err.msg[0] ? err.msg : strerror(-e),
		       c.name);
		return 1;
	}
	verdict(&c, "no byte of a record that nobody wrote");
	calls_check(&c);
	counters_check(&c);
	if (argc > 4)
		launch_check(&c);
	printf("# %s: %zu calls, attached by %s\n", c.name, c.ncalls, capture_reader__meta(c.reader)->attach);
	for (size_t i = 0; i < c.ncalls; i++)
		free(c.calls[i]);
	free(c.calls);
	free(c.log);
	free(c.armed);
	apitab__free(c.tab);
	capture_reader__close(c.reader);
	return c.failed != 0;
}
