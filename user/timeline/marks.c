/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Module loads, and moments that say what is wrong: losses, errors of the GPU, notes of the recorder. */
#include <errno.h>
#include <string.h>

#include "timeline/priv.h"
#include "util/fmt.h"

static const char *const track_names[TL_MARK_TRACKS] = {
	[TL_LOSSES] = "gpubpf: losses and findings",
	[TL_NOTES] = "gpubpf: notes of the recorder",
	[TL_XIDS] = "GPU errors (Xid)",
};

static struct tl_event *new_mark(struct tl *tl, enum tl_mark_track which, const char *name, uint64_t t)
{
	struct tl_event *e;
	uint32_t number = tl_texts__add(&tl->names, name);

	if (!number)
		return NULL;
	if (!tl->mark_track[which])
		tl->mark_track[which] = tl_tracks__add(&tl->tracks, TL_LANE, 0, track_names[which]) + 1;
	if (!tl->mark_track[which])
		return NULL;
	e = tl__new(tl, TL_INSTANT, TIMELINE_MARK, tl->mark_track[which] - 1, t);
	e->name = number;
	return e;
}

int tl_marks__prepare(struct tl *tl)
{
	tl->module_name = tl_texts__add(&tl->names, "module load");
	return tl->module_name ? 0 : -ENOMEM;
}

int tl_marks__record(struct tl *tl, const struct gpubpf_rec *rec)
{
	const struct gpubpf_xid *x = (const struct gpubpf_xid *)rec;
	struct tl_event *e;
	char name[32], device[160], message[640];

	if (rec->kind != GPUBPF_REC_XID)
		return 0;
	snprintf(name, sizeof(name), "Xid %u", x->code);
	fmt_safe(device, sizeof(device), x->device);
	fmt_safe(message, sizeof(message), x->message);
	e = new_mark(tl, TL_XIDS, name, x->time);
	if (!e)
		return -ENOMEM;
	e->timing = TL_RECORDER;
	tl_arg(e, TL_KEY_CODE, TL_UINT, x->code);
	tl_text(e, TL_KEY_DEVICE, device);
	tl_text(e, TL_KEY_TEXT, message);
	return tl__event(tl, e);
}

/* Known as totals alone: they stand at the end, where they were counted. */
static int losses(struct tl *tl)
{
	const struct ledger *l = &tl->t->in.ledger;
	const Gpubpf__Footer *f = tl->t->in.footer;
	uint64_t end = f ? f->end_ns : tl->t->in.status->last_ns;

	if (!end)
		end = tl->t->start;
	for (unsigned i = 0; i < l->nreasons; i++) {
		const struct ledger_reason *r = &l->reason[i];
		struct tl_event *e = new_mark(tl, TL_LOSSES, r->code, end);
		int rc;

		if (!e)
			return -ENOMEM;
		e->timing = TL_WHOLE;
		if (r->count)
			tl_arg(e, TL_KEY_COUNT, TL_UINT, r->count);
		tl_text(e, TL_KEY_TEXT, r->text);
		if (r->remedy[0])
			tl_text(e, TL_KEY_REMEDY, r->remedy);
		rc = tl__event(tl, e);
		if (rc)
			return rc;
	}
	return 0;
}

static int notes(struct tl *tl)
{
	const Gpubpf__Meta *m = tl->t->in.meta;

	for (size_t i = 0; i < m->n_note; i++) {
		const Gpubpf__Note *n = m->note[i];
		struct tl_event *e = new_mark(tl, TL_NOTES, n->code, n->time_ns);
		char text[2048];
		int rc;

		if (!e)
			return -ENOMEM;
		e->timing = TL_RECORDER;
		fmt_safe(text, sizeof(text), n->text);
		tl_text(e, TL_KEY_TEXT, text);
		if (n->has_tgid)
			tl_arg(e, TL_KEY_PID, TL_UINT, n->tgid);
		rc = tl__event(tl, e);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- Module loads ---- */

static int load(struct tl *tl, const struct gpubpf_module *m, const struct join_session *session)
{
	struct tl_proc *p;
	struct tl_event *e;
	int rc;

	if (m->flags & GPUBPF_MODULE_UNLOADED || !session->proc)
		return 0;
	p = tl__proc(tl, session->proc, &rc);
	if (!p)
		return rc;
	if (!m->start || m->end < m->start) {
		tl->unplaced++;
		return 0;
	}
	if (!p->has_modules) {
		p->modules.track = tl_tracks__add(&tl->tracks, TL_LANE, p->track, "module loads");
		if (p->modules.track == TL_NO_TRACK)
			return -ENOMEM;
		p->has_modules = true;
	}
	e = tl__new(tl, TL_SLICE, TIMELINE_MODULE, p->modules.track, m->start);
	e->end = m->end;
	e->name = tl->module_name;
	e->timing = TL_SHIM;
	e->track = tl_rows__place(tl, &p->modules, m->start, m->end, &rc);
	if (rc)
		return rc;
	if (e->track == TL_NO_TRACK) {
		e->track = p->modules.track;
		e->type = TL_INSTANT;
		tl_arg(e, TL_KEY_NO_ROW, TL_BOOL, 1);
		tl_arg(e, TL_KEY_DURATION, TL_UINT, m->end - m->start);
	}
	tl_arg(e, TL_KEY_MODULE, TL_UINT, m->id);
	tl_arg(e, TL_KEY_CONTEXT, TL_UINT, m->context);
	tl_arg(e, TL_KEY_BYTES, TL_UINT, m->bytes);
	if (!(m->flags & GPUBPF_MODULE_NO_CRC))
		tl_arg(e, TL_KEY_CRC, TL_UINT, m->crc);
	return tl__event(tl, e);
}

int tl_marks__walk(struct tl *tl)
{
	size_t n = tl->t->in.join ? join__modules(tl->t->in.join) : 0;
	int rc = losses(tl);

	if (!rc)
		rc = notes(tl);
	for (size_t i = 0; i < tl->procs.n; i++)
		tl_rows__restart(&((struct tl_proc *)hmap__at(&tl->procs, i))->modules);
	for (size_t i = 0; !rc && i < n; i++) {
		const struct join_session *s;
		const struct gpubpf_module *m = join__module(tl->t->in.join, i, &s);

		rc = load(tl, m, s);
	}
	return rc;
}
