/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the page of page.h shows, as bytes: "gpubpf page 1\n", then in this order, numbers as varints and texts with their
 * length before them,
 *
 *   pairs of texts about the capture, an empty one behind the last
 *   names of arguments, of events, texts of values: how many, then each; they are numbered from 1
 *   tracks: how many, then each kind, parent + 1, pid, tid, life, unit, name ("": none)
 *   presets: how many, then each: bytes, arguments; the first are the timings
 *   how many events follow, without ends, samples and those about the capture itself
 *   events: a head (see below), track, start, then by type
 *     slice: length; end: nothing; sample: value
 *     all but ends and samples: name, timing, preset (0: none), call for work if a flow begins or ends here, number of
 *     the kernel's text (calls alone; 0: none), bytes of arguments, arguments
 *   0xff, how many events there were
 *
 * A start is signed (zigzag) and from the capture's start. An argument is its name's number, its type, its value (0: a
 * number, 1: a signed one, 2: yes or no, 3: an address, 4: number of a text of values, 5: a text, 6: 8 bytes of a double).
 * Nothing stands on what came before, so each piece has its size whichever pass makes it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/ledger.h"
#include "report/report.h"
#include "timeline/priv.h"

#define HEAD_CLASS_SHIFT 3
#define HEAD_FLOW_OUT 0x40
#define HEAD_FLOW_IN 0x80
#define HEAD_END 0xff
#define VARINT_MAX 10

/* How a class is told in the page, in three bits: a counter's samples are known by their type. */
static const uint8_t classes[TIMELINE_CLASSES] = {
	[TIMELINE_SKELETON] = 0, [TIMELINE_CALL] = 1,         [TIMELINE_GPU] = 2,
	[TIMELINE_MODULE] = 3,   [TIMELINE_MARK] = 4,         [TIMELINE_COUNTER] = 5,
	[TIMELINE_SEMANTIC] = 5, [TIMELINE_PRESENTATION] = 6, [TIMELINE_NVTX] = 7
};
_Static_assert(TIMELINE_CLASSES == 9 && TL_SAMPLE < 7, "each has its number, and 0xff is none");

/* How an argument's type is told in the page, whatever its number is here. */
static const uint8_t arg_types[] = { [TL_UINT] = 0,  [TL_INT] = 1,  [TL_BOOL] = 2,  [TL_POINTER] = 3,
				     [TL_VALUE] = 4, [TL_TEXT] = 5, [TL_DOUBLE] = 6 };

static uint8_t *put_varint(uint8_t *p, uint64_t v)
{
	while (v > 0x7f) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

static uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ (uint64_t)((int64_t)v >> 63);
}

static uint8_t *put_bytes(uint8_t *p, const char *s, size_t n)
{
	p = put_varint(p, n);
	memcpy(p, s, n);
	return p + n;
}

static int put_number(struct tl *tl, uint64_t v)
{
	return tl__put(tl, tl->buf, (size_t)(put_varint(tl->buf, v) - tl->buf));
}

static int put_text(struct tl *tl, const char *s)
{
	size_t n = strlen(s);
	int rc = tl__room(tl, n + VARINT_MAX);

	return rc ? rc : tl__put(tl, tl->buf, (size_t)(put_bytes(tl->buf, s, n) - tl->buf));
}

static int put_texts(struct tl *tl, char **text, size_t n)
{
	int rc = put_number(tl, n);

	for (size_t i = 0; !rc && i < n; i++)
		rc = put_text(tl, text[i]);
	return rc;
}

/* ---- Arguments ---- */

static size_t args_room(const struct tl_arg *a, unsigned n)
{
	size_t room = 0;

	for (unsigned i = 0; i < n; i++)
		room += 2 * VARINT_MAX + 1 + (a[i].type == TL_TEXT ? strlen(a[i].s) : 0);
	return room;
}

static uint8_t *put_args(uint8_t *p, const struct tl_arg *a, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (a[i].key == TL_KEY_KERNEL)
			continue; /* has a place of its own */
		p = put_varint(p, a[i].key);
		*p++ = arg_types[a[i].type];
		if (a[i].type == TL_TEXT)
			p = put_bytes(p, a[i].s, strlen(a[i].s));
		else if (a[i].type == TL_DOUBLE)
			for (unsigned b = 0; b < 64; b += 8)
				*p++ = (uint8_t)(a[i].u >> b);
		else
			p = put_varint(p, a[i].type == TL_INT ? zigzag(a[i].u) : a[i].u);
	}
	return p;
}

static int preset(struct tl *tl, struct tl_preset *set)
{
	set->bytes = malloc(args_room(set->arg, set->nargs) + 1);
	if (!set->bytes)
		return -ENOMEM;
	(void)tl;
	set->n = (size_t)(put_args(set->bytes, set->arg, set->nargs) - set->bytes);
	return 0;
}

/* ---- Events ---- */

static uint64_t kernel_of(const struct tl_event *e)
{
	for (unsigned i = 0; i < e->nargs; i++)
		if (e->arg[i].key == TL_KEY_KERNEL)
			return e->arg[i].u;
	return 0;
}

static int event(struct tl *tl, const struct tl_event *e)
{
	bool in = e->flow_in, out = e->has_work && e->flows_out;
	size_t room = args_room(e->arg, e->nargs);
	uint8_t *p, *end, *args;
	int rc = tl__room(tl, 2 * room + 16 * VARINT_MAX);

	if (rc)
		return rc;
	p = tl->buf;
	*p++ = (uint8_t)(e->type | classes[e->cls] << HEAD_CLASS_SHIFT | (out ? HEAD_FLOW_OUT : 0) |
			 (in ? HEAD_FLOW_IN : 0));
	p = put_varint(p, e->track);
	p = put_varint(p, zigzag(e->start - tl->t->start));
	if (e->type == TL_SAMPLE)
		p = put_varint(p, e->end);
	else if (e->type == TL_SLICE)
		p = put_varint(p, e->end - e->start);
	if (e->type != TL_SAMPLE && e->type != TL_CLOSE) {
		p = put_varint(p, e->name);
		p = put_varint(p, e->timing);
		p = put_varint(p, e->preset);
		if (in || out)
			p = put_varint(p, e->work);
		if (e->cls == TIMELINE_CALL)
			p = put_varint(p, kernel_of(e));
		/* made behind where they go: their length is not known before */
		args = p + room + VARINT_MAX;
		end = put_args(args, e->arg, e->nargs);
		p = put_varint(p, (uint64_t)(end - args));
		memmove(p, args, (size_t)(end - args));
		p += end - args;
	}
	return tl__put(tl, tl->buf, (size_t)(p - tl->buf));
}

/* ---- What comes once ---- */

/* What report says above its tables, word for word. */
static char *head_text(const struct tl *tl)
{
	struct report_head h = { .in = &tl->t->in, .m = tl->t->m };
	struct join_activity a;
	char *text = NULL;
	size_t n;
	FILE *f;

	for (size_t i = 0; i < trace__execs(tl->t); i++) {
		join__activity(tl->t->in.join, i, &a);
		if (ran_kind((enum gpubpf_activity_kind)a.kind) == RAN_KINDS)
			h.others++;
		else if (!join__lane(tl->t->in.join, a.lane)->session->proc->selected)
			h.left_out++;
	}
	f = open_memstream(&text, &n);
	if (!f)
		return NULL;
	report_head_text(&h, f, false);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

static int pair(struct tl *tl, const char *key, const char *value)
{
	int rc = put_text(tl, key);

	return rc ? rc : put_text(tl, value);
}

static int number_pair(struct tl *tl, const char *key, uint64_t v)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, v);
	return pair(tl, key, digits);
}

/* What the page shows first: times since the capture's start, and which of the events that follow. */
static int put_focus(struct tl *tl)
{
	const struct tl_focus *f = &tl->focus;
	char range[2 * 24];
	int rc;

	if (!tl->o->focus)
		return 0;
	snprintf(range, sizeof(range), "%" PRId64 " %" PRId64, (int64_t)(f->from - tl->t->start),
		 (int64_t)(f->to - tl->t->start));
	rc = pair(tl, "focus_ns", range);
	return rc || !f->execution ? rc : number_pair(tl, "focus_event", f->ordinal);
}

static int put_about(struct tl *tl)
{
	const struct inspection *in = &tl->t->in;
	char *head = head_text(tl);
	uint64_t wall;
	int rc = head ? pair(tl, "head", head) : -ENOMEM;

	free(head);
	if (!rc)
		rc = pair(tl, "verdict", ledger_verdict_name(in->ledger.verdict));
	if (!rc && in->ledger.verdict >= LEDGER_UNCONTRADICTED)
		rc = pair(tl, "healthy", "1");
	if (!rc)
		rc = number_pair(tl, "start_ns", tl->t->start);
	if (!rc && inspect_wall(in, tl->t->start, &wall))
		rc = number_pair(tl, "wall_ns", wall);
	if (!rc && in->host_left_out)
		rc = pair(tl, "no_host", "1");
	if (!rc && !in->join)
		rc = pair(tl, "no_device", "1");
	if (!rc)
		rc = put_focus(tl);
	return rc ? rc : put_text(tl, "");
}

static int put_track(struct tl *tl, const struct tl_track *t)
{
	const uint64_t field[] = { t->kind, t->parent, t->pid, t->tid, t->life, t->unit };
	uint8_t *p = tl->buf;
	int rc;

	for (size_t i = 0; i < sizeof(field) / sizeof(*field); i++)
		p = put_varint(p, field[i]);
	rc = tl__put(tl, tl->buf, (size_t)(p - tl->buf));
	return rc ? rc : put_text(tl, t->name ? t->name : "");
}

static int put_preset(struct tl *tl, const struct tl_preset *set)
{
	int rc = put_number(tl, set->n);

	return rc || !set->n ? rc : tl__put(tl, set->bytes, set->n);
}

/* Known when all was measured; what is about the capture itself is not in it. */
static uint64_t events(const struct tl *tl)
{
	uint64_t n = 0;

	for (unsigned i = TIMELINE_CALL; i < TIMELINE_CLASSES; i++)
		if (i != TIMELINE_COUNTER)
			n += tl->all[i].items;
	return n;
}

static int begin(struct tl *tl)
{
	static const char magic[] = "gpubpf page 1\n";
	int rc = tl__put(tl, magic, sizeof(magic) - 1);

	if (!rc)
		rc = put_about(tl);
	if (!rc)
		rc = put_texts(tl, (char **)&tl_keys[1], TL_KEYS - 1);
	if (!rc)
		rc = put_texts(tl, tl->names.text, tl->names.n);
	if (!rc)
		rc = put_texts(tl, tl->values.text, tl->values.n);
	if (!rc)
		rc = put_number(tl, tl->tracks.n);
	for (size_t i = 0; !rc && i < tl->tracks.n; i++)
		rc = put_track(tl, &tl->tracks.track[i]);
	if (!rc)
		rc = put_number(tl, tl->npresets);
	for (size_t i = 0; !rc && i < tl->npresets; i++)
		rc = put_preset(tl, &tl->presets[i]);
	return rc ? rc : put_number(tl, events(tl));
}

static int end(struct tl *tl)
{
	uint8_t *p = tl->buf;

	*p++ = HEAD_END;
	p = put_varint(p, events(tl));
	return tl__put(tl, tl->buf, (size_t)(p - tl->buf));
}

const struct tl_format tl_columns = { .begin = begin, .event = event, .end = end, .preset = preset };
