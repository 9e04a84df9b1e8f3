// SPDX-License-Identifier: GPL-2.0-or-later
#include "merge/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "merge/priv.h"
#include "model/member.h"
#include "util/err.h"

/* ---- Memory ---- */

void *merge_keep(struct merge *m, size_t n)
{
	void *p = calloc(1, n ? n : 1);

	if (p && m->nkept == m->kept_room) {
		size_t room = m->kept_room ? m->kept_room * 2 : 256;
		void **grown = realloc(m->kept, room * sizeof(*grown));

		if (!grown) {
			free(p);
			return NULL;
		}
		m->kept = grown;
		m->kept_room = room;
	}
	if (p)
		m->kept[m->nkept++] = p;
	return p;
}

void *merge_copy(struct merge *m, const void *from, size_t n)
{
	void *p = merge_keep(m, n);

	return p ? memcpy(p, from, n) : NULL;
}

char *merge_text(struct merge *m, const char *fmt, ...)
{
	char *text = NULL, *kept;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	kept = merge_copy(m, text, (size_t)n + 1);
	free(text);
	return kept;
}

static void clear(struct merge *m)
{
	for (size_t i = 0; m->member && i < m->n; i++)
		capture_reader__close(m->member[i].reader);
	for (size_t i = 0; i < m->nkept; i++)
		free(m->kept[i]);
	free(m->kept);
	free(m->member);
	if (m->api_numbers.entry_size)
		hmap__clear(&m->api_numbers);
	if (m->library_numbers.entry_size)
		hmap__clear(&m->library_numbers);
	free(m);
}

/* ---- The members ---- */

static int refuse_twice(const struct merge *m, const struct merge_member *at, struct err *err)
{
	for (const struct merge_member *k = m->member; k < at; k++)
		if (memcmp(k->id.word, at->id.word, sizeof(k->id.word)) == 0)
			return err_set(
				err, -EINVAL,
				"%s and %s are the same capture, by what they hold: name each one once",
				k->path, at->path);
	return 0;
}

static int look_at_all(struct merge *m, struct err *err)
{
	uint64_t frames = 0, chains = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < m->n; i++) {
		struct merge_member *at = &m->member[i];

		gpubpf__member__init(&at->pub);
		at->path = m->o->paths[i];
		at->pub.index = (uint32_t)i + 1;
		rc = merge_look(m, at, err);
		if (!rc)
			rc = refuse_twice(m, at, err);
		at->frame_base = (uint32_t)frames;
		at->chain_base = (uint32_t)chains;
		frames += at->frames;
		chains += at->chains;
		m->records += at->pub.records;
		if (!rc && (frames >= UINT32_MAX || chains >= UINT32_MAX))
			rc = err_set(err, -E2BIG,
				     "%s: more stacks than can be numbered: merge fewer captures", at->path);
	}
	return rc;
}

static int open_member(struct merge *m, struct merge_member *at, struct err *err)
{
	int rc = capture_reader__open(at->path, &at->reader, err);
	struct identity id;

	if (rc)
		return rc;
	at->meta = capture_reader__meta(at->reader);
	at->counts = capture_reader__counts(at->reader);
	at->footer = capture_reader__footer(at->reader);
	at->pub.host = at->meta->host;
	identity__of(at->meta, &id);
	if (memcmp(id.word, at->id.word, sizeof(id.word)) != 0)
		return err_set(err, -EAGAIN, "%s has become another capture meanwhile: merge again",
			       at->path);
	if (at->meta->host_left_out != m->member[0].meta->host_left_out)
		return err_set(
			err, -EINVAL,
			"%s was recorded %s --no-host and %s was not: what one counts the other does not, so they cannot be one capture",
			at->meta->host_left_out ? at->path : m->member[0].path, "with",
			at->meta->host_left_out ? m->member[0].path : at->path);
	return 0;
}

static int open_all(struct merge *m, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < m->n; i++)
		rc = open_member(m, &m->member[i], err);
	return rc;
}

/* When each began and ended, as far as it says so. */
static void bounds(struct merge *m, struct merge_result *r)
{
	size_t late = 0, early = 0;
	uint64_t begun = 0, over = UINT64_MAX;

	m->start_ns = UINT64_MAX;
	for (size_t i = 0; i < m->n; i++) {
		struct merge_member *at = &m->member[i];
		const struct capture_status *s = capture_reader__status(at->reader);
		uint64_t start = merge_time(at, at->meta->has_start_ns ? at->meta->start_ns : s->first_ns);
		uint64_t end = merge_time(at, at->footer ? at->footer->end_ns : s->last_ns);

		if (at->meta->has_start_ns && start < m->start_ns)
			m->start_ns = start;
		if (start > begun) {
			begun = start;
			late = i + 1;
		}
		if (end < over) {
			over = end;
			early = i + 1;
		}
		if (!i || at->verdict < r->worst) {
			r->worst = at->verdict;
			r->worst_member = i + 1;
		}
	}
	if (begun > over) {
		r->apart[0] = early;
		r->apart[1] = late;
	}
}

/* ---- The records ---- */

static int next_record(struct merge_member *at, struct err *err)
{
	int rc = capture_reader__next(at->reader, &at->rec, err);
	uint64_t t;

	if (rc <= 0) {
		at->rec = NULL;
		return rc < 0 ? err_prefix(err, rc, "%s", at->path) : 0;
	}
	/* the order within a capture stays */
	t = merge_time(at, merge_record_time(at->rec, 0));
	at->time = t > at->time ? t : at->time;
	return 0;
}

/* The member whose turn it is, and until when; NULL: all are over. */
static struct merge_member *whose_turn(struct merge *m, uint64_t *until)
{
	struct merge_member *first = NULL;

	*until = UINT64_MAX;
	for (size_t i = 0; i < m->n; i++) {
		struct merge_member *at = &m->member[i];

		if (!at->rec)
			continue;
		if (!first || at->time < first->time) {
			if (first)
				*until = first->time;
			first = at;
		} else if (at->time < *until) {
			*until = at->time;
		}
	}
	return first;
}

static int write_one(struct merge *m, struct merge_member *at, struct capture_writer *w, struct err *err)
{
	const struct gpubpf_rec *rec = (const struct gpubpf_rec *)m->room;
	int rc = merge_rewrite(m, at, err);

	if (!rc)
		rc = capture_writer__record(w, rec, at->time, err);
	if (m->o->progress && ++m->done % 4096 == 0)
		m->o->progress(m->o->progress_arg, m->done, m->records);
	return rc ? rc : next_record(at, err);
}

static int write_records(struct merge *m, struct capture_writer *w, struct err *err)
{
	struct merge_member *at;
	uint64_t until;
	int rc = 0;

	for (size_t i = 0; !rc && i < m->n; i++) {
		rc = capture_reader__rewind(m->member[i].reader);
		if (!rc)
			rc = next_record(&m->member[i], err);
	}
	while (!rc && (at = whose_turn(m, &until)))
		do
			rc = write_one(m, at, w, err);
		while (!rc && at->rec && at->time <= until);
	return rc;
}

/* ---- The file ---- */

static int check_output(const struct merge_opts *o, char *temporary, size_t size, struct err *err)
{
	struct stat out, in;

	temporary[0] = '\0';
	if (strcmp(o->output, "-") == 0)
		return 0;
	if (lstat(o->output, &out) == 0) {
		for (size_t i = 0; i < o->n; i++)
			if (stat(o->paths[i], &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
				return err_set(err, -EINVAL,
					       "%s is one of the captures to merge: name another output file",
					       o->output);
		if (!S_ISREG(out.st_mode)) /* the writer's to take or to refuse */
			return 0;
		if (!o->force)
			return err_set(err, -EEXIST,
				       "%s exists: name another output file, or replace it with -f",
				       o->output);
	}
	if ((size_t)snprintf(temporary, size, "%s.%d.tmp", o->output, (int)getpid()) >= size)
		return err_set(err, -ENAMETOOLONG, "%s: the name is too long", o->output);
	return 0;
}

static int write_all(struct merge *m, struct merge_result *r, struct err *err)
{
	struct capture_writer *w = NULL;
	char temporary[PATH_MAX];
	int rc = check_output(m->o, temporary, sizeof(temporary), err);

	if (!rc)
		rc = capture_writer__open(temporary[0] ? temporary : m->o->output, NULL, &w, err);
	if (rc)
		return rc;
	rc = merge_write_meta(m, w, err);
	if (!rc)
		rc = write_records(m, w, err);
	if (!rc)
		rc = merge_write_end(m, w, err);
	r->records = capture_writer__records(w);
	r->bytes = capture_writer__bytes(w);
	capture_writer__close(w);
	if (!rc && temporary[0] && rename(temporary, m->o->output) < 0)
		rc = err_set(err, -errno, "cannot name the capture %s: %s", m->o->output, strerror(errno));
	if (rc && temporary[0])
		unlink(temporary);
	return rc;
}

int merge_captures(const struct merge_opts *o, struct merge_result *r, struct err *err)
{
	struct merge *m = calloc(1, sizeof(*m));
	char temporary[PATH_MAX];
	int rc;

	memset(r, 0, sizeof(*r));
	if (!m)
		return err_set(err, -ENOMEM, "out of memory");
	m->o = o;
	m->n = o->n;
	m->member = calloc(o->n, sizeof(*m->member));
	if (!m->member) {
		m->n = 0;
		rc = err_set(err, -ENOMEM, "out of memory");
		goto out;
	}
	rc = check_output(o, temporary, sizeof(temporary), err); /* before an hour of reading */
	if (!rc)
		rc = look_at_all(m, err);
	if (!rc)
		rc = open_all(m, err);
	if (!rc)
		rc = merge_anchor(m, r, err);
	if (!rc) {
		bounds(m, r);
		rc = write_all(m, r, err);
	}
out:
	clear(m);
	return rc;
}
