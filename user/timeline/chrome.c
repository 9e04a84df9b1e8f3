/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chrome's trace event format: JSON, microseconds with three decimals, CLOCK_MONOTONIC. A process of the capture is one
 * of the trace; streams and other rows are threads of it whose numbers no thread has.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/priv.h"

#define ROWS_FROM UINT64_C(10000000000)

/* A piece in tl->buf. */
struct piece {
	struct tl *tl;
	size_t n;
	int rc;
};

static void put(struct piece *p, const char *s, size_t n)
{
	if (!p->rc)
		p->rc = tl__room(p->tl, p->n + n + 64);
	if (p->rc)
		return;
	memcpy(p->tl->buf + p->n, s, n);
	p->n += n;
}

#define PUT(p, literal) put(p, literal, sizeof(literal) - 1)

static void put_uint(struct piece *p, uint64_t v)
{
	char digits[20];
	size_t n = 0;

	do {
		digits[sizeof(digits) - ++n] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	put(p, digits + sizeof(digits) - n, n);
}

static void put_us(struct piece *p, uint64_t ns)
{
	char rest[4] = { '.', (char)('0' + ns % 1000 / 100), (char)('0' + ns % 100 / 10),
			 (char)('0' + ns % 10) };

	put_uint(p, ns / 1000);
	put(p, rest, 4);
}

/* Texts come here safe: UTF-8 without control characters. */
static void put_string(struct piece *p, const char *s)
{
	size_t n;

	PUT(p, "\"");
	while (*(s += n = strcspn(s, "\"\\"), put(p, s - n, n), s)) {
		put(p, *s == '"' ? "\\\"" : "\\\\", 2);
		s++;
	}
	PUT(p, "\"");
}

static uint64_t pid_of(const struct tl_track *t)
{
	return t->pid | (uint64_t)(t->life & 0xfffff) << 32;
}

/* Process and thread that a track is, or lies in. */
static void put_place(struct piece *p, const struct tl *tl, uint32_t track)
{
	const struct tl_track *t = &tl->tracks.track[track], *proc = t;

	while (proc->kind != TL_PROCESS && proc->kind != TL_THREAD && proc->parent)
		proc = &tl->tracks.track[proc->parent - 1];
	PUT(p, "\"pid\":");
	put_uint(p, proc->kind == TL_PROCESS || proc->kind == TL_THREAD ? pid_of(proc) : 0);
	PUT(p, ",\"tid\":");
	put_uint(p, t->kind == TL_PROCESS || t->kind == TL_THREAD ? t->tid : ROWS_FROM + track);
}

static void put_value(struct piece *p, const struct tl *tl, const struct tl_arg *a)
{
	char hex[24], number[32];
	double d;

	switch (a->type) {
	case TL_UINT:
		put_uint(p, a->u);
		break;
	case TL_INT:
		if ((int64_t)a->u < 0)
			PUT(p, "-");
		put_uint(p, (int64_t)a->u < 0 ? 0 - a->u : a->u);
		break;
	case TL_BOOL:
		put(p, a->u ? "true" : "false", a->u ? 4 : 5);
		break;
	case TL_POINTER:
		put_string(p, (snprintf(hex, sizeof(hex), "0x%" PRIx64, a->u), hex));
		break;
	case TL_DOUBLE:
		memcpy(&d, &a->u, sizeof(d));
		snprintf(number, sizeof(number), "%.17g", d);
		if (isfinite(d))
			put(p, number, strlen(number));
		else
			put_string(p, number);
		break;
	case TL_VALUE:
		put_string(p, tl->values.text[a->u - 1]);
		break;
	default:
		put_string(p, a->s);
	}
}

static void put_args(struct piece *p, const struct tl *tl, const struct tl_arg *a, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (i)
			PUT(p, ",");
		put_string(p, tl_keys[a[i].key]);
		PUT(p, ":");
		put_value(p, tl, &a[i]);
	}
}

static int send(struct piece *p)
{
	return p->rc ? p->rc : tl__put(p->tl, p->tl->buf, p->n);
}

static int put_flow(struct tl *tl, const struct tl_event *e, uint32_t rank, bool out)
{
	struct piece p = { .tl = tl };

	PUT(&p, ",\n{\"ph\":");
	if (out)
		PUT(&p, "\"s\"");
	else
		PUT(&p, "\"f\",\"bp\":\"e\"");
	PUT(&p, ",\"cat\":\"flow\",\"name\":\"runs\",\"id\":");
	put_uint(&p, (uint64_t)rank << 32 | e->work);
	PUT(&p, ",\"ts\":");
	put_us(&p, e->start);
	PUT(&p, ",");
	put_place(&p, tl, e->track);
	PUT(&p, "}");
	return send(&p);
}

static int put_sample(struct tl *tl, const struct tl_event *e)
{
	const struct tl_track *t = &tl->tracks.track[e->track];
	struct piece p = { .tl = tl };

	PUT(&p, ",\n{\"ph\":\"C\",\"name\":");
	put_string(&p, t->name);
	if (t->parent) {
		/* viewers take counters of one name for one */
		PUT(&p, ",\"id\":");
		put_string(&p,
			   tl->tracks.track[t->parent - 1].name ? tl->tracks.track[t->parent - 1].name : "");
	}
	PUT(&p, ",\"ts\":");
	put_us(&p, e->start);
	PUT(&p, ",");
	put_place(&p, tl, e->track);
	PUT(&p, ",\"args\":{\"value\":");
	put_uint(&p, e->end);
	PUT(&p, "}}");
	return send(&p);
}

static int put_close(struct tl *tl, const struct tl_event *e)
{
	struct piece p = { .tl = tl };

	PUT(&p, ",\n{\"ph\":\"E\",\"ts\":");
	put_us(&p, e->start);
	PUT(&p, ",");
	put_place(&p, tl, e->track);
	PUT(&p, "}");
	return send(&p);
}

static int event(struct tl *tl, const struct tl_event *e)
{
	static const char *const phases[] = { [TL_SLICE] = "X", [TL_OPEN] = "B", [TL_INSTANT] = "i" };
	struct piece p = { .tl = tl };
	uint32_t flows = e->flows_out < TL_FLOWS_MAX ? e->flows_out : TL_FLOWS_MAX;
	const struct tl_preset *set[2] = { &tl->presets[e->timing],
					   e->preset ? &tl->presets[e->preset - 1] : NULL };
	int rc;

	if (e->type == TL_SAMPLE)
		return put_sample(tl, e);
	if (e->type == TL_CLOSE)
		return put_close(tl, e);
	PUT(&p, ",\n{\"ph\":\"");
	put(&p, phases[e->type], 1);
	PUT(&p, "\",\"cat\":\"");
	put(&p, timeline_class_names[e->cls], strlen(timeline_class_names[e->cls]));
	PUT(&p, "\",\"name\":");
	put_string(&p, tl->names.text[e->name - 1]);
	PUT(&p, ",\"ts\":");
	put_us(&p, e->start);
	if (e->type == TL_SLICE) {
		PUT(&p, ",\"dur\":");
		put_us(&p, e->end - e->start);
	} else if (e->type == TL_INSTANT) {
		PUT(&p, ",\"s\":\"t\"");
	}
	PUT(&p, ",");
	put_place(&p, tl, e->track);
	PUT(&p, ",\"args\":{");
	put(&p, (const char *)set[0]->bytes, set[0]->n);
	if (set[1] && set[1]->n) {
		PUT(&p, ",");
		put(&p, (const char *)set[1]->bytes, set[1]->n);
	}
	if (e->nargs)
		PUT(&p, ",");
	put_args(&p, tl, e->arg, e->nargs);
	PUT(&p, "}}");
	rc = send(&p);
	for (uint32_t i = 0; !rc && i < flows; i++)
		rc = put_flow(tl, e, i, true);
	if (!rc && e->flow_in && e->flow_rank < TL_FLOWS_MAX)
		rc = put_flow(tl, e, e->flow_rank, false);
	return rc;
}

static int preset(struct tl *tl, struct tl_preset *set)
{
	struct piece p = { .tl = tl };

	put_args(&p, tl, set->arg, set->nargs);
	set->bytes = p.rc ? NULL : malloc(p.n + 1);
	if (!set->bytes)
		return -ENOMEM;
	memcpy(set->bytes, tl->buf, p.n);
	set->n = p.n;
	return 0;
}

/* ---- What comes once ---- */

static int put_name(struct tl *tl, const char *what, uint32_t track, const char *name)
{
	struct piece p = { .tl = tl };

	PUT(&p, ",\n{\"ph\":\"M\",\"name\":");
	put_string(&p, what);
	PUT(&p, ",");
	put_place(&p, tl, track);
	PUT(&p, ",\"args\":{\"name\":");
	put_string(&p, name);
	PUT(&p, "}}");
	return send(&p);
}

static int put_rank(struct tl *tl, uint32_t track)
{
	struct piece p = { .tl = tl };

	PUT(&p, ",\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",");
	put_place(&p, tl, track);
	PUT(&p, ",\"args\":{\"sort_index\":");
	put_uint(&p, track);
	PUT(&p, "}}");
	return send(&p);
}

/* "GPU 0, context 1, stream 7": rows have no tree here. */
static void path_of(const struct tl *tl, uint32_t track, char *buf, size_t n)
{
	const char *part[8];
	unsigned parts = 0;
	size_t at = 0;

	for (const struct tl_track *t = &tl->tracks.track[track]; parts < 8;
	     t = &tl->tracks.track[t->parent - 1]) {
		if (t->kind == TL_PROCESS || t->kind == TL_THREAD)
			break;
		part[parts++] = t->name;
		if (!t->parent)
			break;
	}
	buf[0] = '\0';
	while (parts-- && at < n)
		at += (size_t)snprintf(buf + at, n - at, "%s%s", at ? ", " : "", part[parts]);
}

static int put_track(struct tl *tl, uint32_t track)
{
	const struct tl_track *t = &tl->tracks.track[track];
	char path[512];
	int rc;

	if (t->kind == TL_COUNTER)
		return 0;
	if (t->kind == TL_PROCESS)
		return put_name(tl, "process_name", track, t->name ? t->name : "");
	if (t->kind == TL_THREAD) {
		snprintf(path, sizeof(path), "thread %u", t->tid);
		return put_name(tl, "thread_name", track, path);
	}
	path_of(tl, track, path, sizeof(path));
	rc = put_name(tl, "thread_name", track, path);
	return rc ? rc : put_rank(tl, track);
}

static int begin(struct tl *tl)
{
	struct piece p = { .tl = tl };
	uint64_t wall;
	int rc;

	PUT(&p,
	    "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"clock_domain\":\"CLOCK_MONOTONIC\",\"start_ns\":");
	put_uint(&p, tl->t->start);
	if (inspect_wall(&tl->t->in, tl->t->start, &wall)) {
		PUT(&p, ",\"start_realtime_ns\":");
		put_uint(&p, wall);
	}
	PUT(&p,
	    "},\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"tid\":0,\"args\":{\"name\":\"gpubpf\"}}");
	rc = send(&p);
	for (uint32_t i = 0; !rc && i < tl->tracks.n; i++)
		rc = put_track(tl, i);
	return rc;
}

static int end(struct tl *tl)
{
	static const char text[] = "\n]}\n";

	return tl__put(tl, text, sizeof(text) - 1);
}

const struct tl_format tl_chrome = { .begin = begin, .event = event, .end = end, .preset = preset };
