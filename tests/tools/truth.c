/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds a capture against what the simulated driver and the workload say.
 *
 *   truth args CAPTURE CALLALL.json   every argument word, result pointer, string and struct of each call
 *   truth log CAPTURE SIMLOG          calls per symbol, thread, depth and result, and their order per thread
 *
 * Prints what differs and ends with 1, or prints how many calls agreed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../simcuda/simlog.h"
#include "capture/capture.h"
#include "events.h"
#include "model/apitab.h"
#include "util/err.h"

static unsigned wrong;

static void differ(const char *symbol, const char *what, uint64_t got, uint64_t want)
{
	if (wrong++ < 20)
		printf("# %s: %s is %#" PRIx64 " in the capture, %#" PRIx64 " in truth\n", symbol, what, got,
		       want);
}

static struct apitab *table_of(const struct capture_reader *r)
{
	const Gpubpf__Meta *m = capture_reader__meta(r);
	struct apitab *t = NULL;

	if (apitab__new(&t))
		return NULL;
	for (size_t i = 0; i < m->n_api; i++)
		apitab__add(t, m->api[i]->id, m->api[i]->symbol, m->api[i]->kind, m->api[i]->signature,
			    m->api[i]->has_legacy32 && m->api[i]->legacy32);
	return t;
}

static uint64_t hex(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? strtoull(s, NULL, 16) : 0;
}

static void compare_blob(const char *symbol, const struct gpubpf_call *c, const char *text, size_t at)
{
	const uint8_t *blob;
	size_t n, want = strlen(text) / 2;

	blob = api_call_blob(c, &n);
	if (n < at + want) {
		differ(symbol, "length of the blob", n, at + want);
		return;
	}
	for (size_t i = 0; i < want; i++) {
		unsigned byte;

		if (sscanf(text + 2 * i, "%2x", &byte) == 1 && blob[at + i] != byte) {
			differ(symbol, "a byte of the blob", blob[at + i], byte);
			return;
		}
	}
}

static void compare_args(const struct api *a, const struct gpubpf_call *c, const json_t *want)
{
	const json_t *words = json_object_get(want, "words"), *v;
	const char *s;
	uint64_t got;

	if (a->nargs != json_array_size(words))
		differ(a->symbol, "number of arguments", a->nargs, json_array_size(words));
	for (unsigned i = 0; i < a->nargs; i++) {
		uint64_t w = strtoull(json_string_value(json_array_get(words, i)), NULL, 16);

		if (!api_arg_value(a, c, a->args[i].name, &got))
			differ(a->symbol, "an absent argument", i, w);
		else if ((a->args[i].type == 'i' ? (uint32_t)got : got) != w)
			differ(a->symbol, a->args[i].name, got, w);
	}
	if (json_object_get(want, "out") && (!api_call_out(a, c, &got) || got != hex(want, "out")))
		differ(a->symbol, "out", got, hex(want, "out"));
	if ((v = json_object_get(want, "string"))) {
		s = api_call_string(a, c);
		if (!s || strcmp(s, json_string_value(v)) != 0)
			differ(a->symbol, "the string", s != NULL, 1);
	}
	if ((v = json_object_get(want, "blob")))
		compare_blob(a->symbol, c, json_string_value(v), 0);
	if ((v = json_object_get(want, "attrs")))
		compare_blob(a->symbol, c, json_string_value(v), 56);
	if (json_object_get(want, "out2")) {
		size_t n;
		const void *blob = api_call_blob(c, &n);

		got = 0;
		memcpy(&got, blob, blob && n <= 8 ? n : 0);
		if (got != (a->legacy32 ? (uint32_t)hex(want, "out2") : hex(want, "out2")))
			differ(a->symbol, "the second result", got, hex(want, "out2"));
	}
}

/* The shims' worker threads: what they call is no workload, so it stands in the log alone. */
static uint32_t tracers[4096];
static unsigned ntracers;

static void note_tracer(const struct gpubpf_rec *rec)
{
	const struct gpubpf_shim *s = (const struct gpubpf_shim *)rec;

	if (s->probe == GPUBPF_PROBE_HELLO && ntracers < sizeof(tracers) / sizeof(tracers[0]))
		tracers[ntracers++] = s->tid;
}

static const struct gpubpf_call *next_call(struct capture_reader *r)
{
	const struct gpubpf_rec *rec;
	struct err err = { "" };

	while (capture_reader__next(r, &rec, &err) == 1) {
		if (rec->kind == GPUBPF_REC_CALL && !(rec->flags & GPUBPF_CALL_OPEN))
			return (const struct gpubpf_call *)rec;
		if (rec->kind == GPUBPF_REC_SHIM)
			note_tracer(rec);
	}
	return NULL;
}

static int check_args(struct capture_reader *r, const struct apitab *tab, const char *path)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	unsigned n = 0;

	if (!f)
		return -1;
	while (getline(&line, &room, f) > 0) {
		json_t *want = json_loads(line, 0, NULL);
		const char *symbol = json_string_value(json_object_get(want, "symbol"));
		const struct gpubpf_call *c = symbol ? next_call(r) : NULL;
		const struct api *a = c ? apitab__get(tab, c->api) : NULL;

		if (symbol && (!a || strcmp(a->symbol, symbol) != 0)) {
			printf("# %s was called; the capture has %s in its place\n", symbol,
			       a ? a->symbol : "no call");
			wrong++;
		} else if (symbol) {
			compare_args(a, c, want);
			if (c->tid != (uint32_t)json_integer_value(json_object_get(want, "tid")))
				differ(symbol, "tid", c->tid, 0);
			n++;
		}
		json_decref(want);
	}
	if (next_call(r)) {
		printf("# the capture has calls that were not made\n");
		wrong++;
	}
	free(line);
	fclose(f);
	printf("%u calls compared\n", n);
	return n ? 0 : -1;
}

struct seen {
	uint64_t t;
	uint32_t tid;
	int32_t result;
	unsigned depth;
	char symbol[64];
};

static int by_thread_and_time(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->t > y->t) - (x->t < y->t);
}

static struct seen *read_log(const char *path, size_t *n)
{
	int fd = open(path, O_RDONLY);
	struct simlog_header h;
	struct simlog_record rec;
	struct seen *s;

	*n = 0;
	if (fd < 0 || pread(fd, &h, sizeof(h), 0) != sizeof(h) || h.magic != SIMLOG_MAGIC ||
	    h.claimed > h.capacity)
		return NULL;
	s = calloc(h.claimed + 1, sizeof(*s));
	for (uint64_t i = 0; s && i < h.claimed; i++) {
		if (pread(fd, &rec, sizeof(rec), (off_t)(SIMLOG_HEADER_BYTES + i * sizeof(rec))) !=
			    sizeof(rec) ||
		    rec.state != SIMLOG_RETURNED)
			continue;
		s[*n] = (struct seen){ rec.t_entry, rec.tid, rec.result, rec.depth, "" };
		memcpy(s[(*n)++].symbol, rec.symbol, sizeof(rec.symbol));
	}
	close(fd);
	return s;
}

/* Symbols that the driver exports and the table leaves out are in the log alone, as are the tracer's own calls. */
static size_t drop_untraced(struct seen *s, size_t n, const struct apitab *tab)
{
	size_t keep = 0;

	for (size_t i = 0; i < n; i++) {
		bool traced = false;

		for (uint32_t id = 0; id < apitab__size(tab) && !traced; id++) {
			const struct api *a = apitab__get(tab, id);

			traced = a && strcmp(a->symbol, s[i].symbol) == 0;
		}
		for (unsigned k = 0; k < ntracers; k++)
			traced &= s[i].tid != tracers[k];
		if (traced)
			s[keep++] = s[i];
	}
	return keep;
}

static int check_log(struct capture_reader *r, const struct apitab *tab, const char *path)
{
	size_t nlog, ncap = 0, room = 1024;
	struct seen *log = read_log(path, &nlog), *cap = calloc(room, sizeof(*cap));
	const struct gpubpf_call *c;

	if (!log || !cap)
		return -1;
	while ((c = next_call(r))) {
		const struct api *a = apitab__get(tab, c->api);

		if (ncap == room)
			cap = realloc(cap, (room *= 2) * sizeof(*cap));
		cap[ncap] = (struct seen){ c->t_entry, c->tid, c->result, c->depth, "" };
		memcpy(cap[ncap++].symbol, a ? a->symbol : "?", a ? sizeof(a->symbol) : 2);
	}
	nlog = drop_untraced(log, nlog, tab);
	qsort(log, nlog, sizeof(*log), by_thread_and_time);
	qsort(cap, ncap, sizeof(*cap), by_thread_and_time);
	if (nlog != ncap)
		differ("all", "number of calls", ncap, nlog);
	for (size_t i = 0; i < nlog && i < ncap && wrong < 20; i++) {
		if (strcmp(log[i].symbol, cap[i].symbol) != 0 || log[i].tid != cap[i].tid) {
			printf("# call %zu: %s by %u in the capture, %s by %u in the log\n", i, cap[i].symbol,
			       cap[i].tid, log[i].symbol, log[i].tid);
			wrong++;
		} else if (log[i].result != cap[i].result || log[i].depth != cap[i].depth) {
			differ(log[i].symbol, "result", (uint64_t)cap[i].result, (uint64_t)log[i].result);
			differ(log[i].symbol, "depth", cap[i].depth, log[i].depth);
		} else if (cap[i].t > log[i].t) { /* the probe stands before the driver's own clock reading */
			differ(log[i].symbol, "entry time", cap[i].t, log[i].t);
		}
	}
	printf("%zu calls compared\n", nlog);
	free(log);
	free(cap);
	return nlog ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct capture_reader *r;
	struct err err = { "" };
	struct apitab *tab;
	int e = -1;

	if (argc != 4 || (strcmp(argv[1], "args") != 0 && strcmp(argv[1], "log") != 0)) {
		fprintf(stderr, "usage: truth args|log CAPTURE TRUTH\n");
		return 2;
	}
	if (capture_reader__open(argv[2], &r, &err)) {
		fprintf(stderr, "truth: %s\n", err.msg);
		return 1;
	}
	tab = table_of(r);
	if (tab)
		e = strcmp(argv[1], "args") == 0 ? check_args(r, tab, argv[3]) : check_log(r, tab, argv[3]);
	if (e)
		printf("# nothing to compare in %s\n", argv[3]);
	apitab__free(tab);
	capture_reader__close(r);
	return e || wrong;
}
