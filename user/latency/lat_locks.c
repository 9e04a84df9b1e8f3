/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits in futexes inside calls: which futex, and who ended them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "latency/lat.h"

struct lat_lock { /* of a process: the futex, and the entry point that threads were in */
	uint64_t key[2];
	uint64_t waits, ns, longest, calls;
	uint64_t last_call[2];
	size_t most; /* reference to the waker with the most of the time */
	uint32_t tgid;
	uint16_t api;
};

struct lat_waker {
	uint64_t key[3]; /* lock; process and thread; end, by and entry point */
	uint64_t waits, ns, longest;
	struct gpubpf_waker one; /* the last of them */
	enum wait_end end;
};

void lat_locks__init(struct lat_locks *k)
{
	hmap__init(&k->locks, 2 * sizeof(uint64_t), sizeof(struct lat_lock));
	hmap__init(&k->wakers, 3 * sizeof(uint64_t), sizeof(struct lat_waker));
}

void lat_locks__clear(struct lat_locks *k)
{
	hmap__clear(&k->locks);
	hmap__clear(&k->wakers);
}

enum wait_end latency__wait_end(const struct latency *l, const struct gpubpf_waker *w)
{
	uint64_t wall;

	return wait_end_of(w, inspect_wall(&l->in, w->t_wake, &wall) ? wall : 0);
}

static int add_waker(struct latency *l, uint64_t lock, const struct gpubpf_waker *w)
{
	enum wait_end end = latency__wait_end(l, w);
	uint64_t key[3] = { lock, 0, (uint64_t)end << 32 }, ns = wait_ns(w);
	struct lat_waker *k;

	if (wait_end_has_waker(end)) {
		key[1] = (uint64_t)w->waker_tgid << 32 | w->waker_tid;
		key[2] |= (uint64_t)w->by << 16 | (end == WAIT_END_IN_CALL ? w->waker_api : 0);
	}
	k = hmap__put(&l->locks.wakers, key);
	if (!k)
		return -ENOMEM;
	k->one = *w;
	k->end = end;
	k->waits++;
	k->ns += ns;
	k->longest = ns > k->longest ? ns : k->longest;
	return 0;
}

static int add_wait(struct latency *l, const struct gpubpf_waker *w)
{
	uint64_t key[2] = { (uint64_t)w->tgid << 32 | w->api, w->futex }, ns = wait_ns(w);
	uint64_t call[2] = { (uint64_t)w->tgid << 32 | w->tid, w->t_entry };
	size_t before = l->locks.locks.n;
	struct lat_lock *k = hmap__put(&l->locks.locks, key);

	if (!k)
		return -ENOMEM;
	if (l->locks.locks.n != before)
		k->most = before; /* its number, until the rows are built */
	k->tgid = w->tgid;
	k->api = w->api;
	k->waits++;
	k->ns += ns;
	k->longest = ns > k->longest ? ns : k->longest;
	k->calls += memcmp(k->last_call, call, sizeof(call)) != 0;
	memcpy(k->last_call, call, sizeof(call));
	return add_waker(l, k->most, w);
}

int lat_locks__call(struct latency *l, const struct view *v)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < v->nwaits; i++)
		rc = add_wait(l, &v->waits[i]);
	return rc;
}

int latency__waker_text(const struct latency *l, const struct gpubpf_waker *w, char **out)
{
	enum wait_end end = latency__wait_end(l, w);
	const char *not_futex = w->by == GPUBPF_WAKER_BY_OTHER ? ", by no futex call" : "";
	char process[32] = "";

	if (!wait_end_has_waker(end))
		return asprintf(out, "%s", wait_end_words[end]) < 0 ? -ENOMEM : 0;
	if (w->waker_tgid != w->tgid && end != WAIT_END_KERNEL)
		snprintf(process, sizeof(process), " of process %" PRIu32, w->waker_tgid);
	return asprintf(out, "thread %" PRIu32 " (%s)%s, %s%s%s%s", w->waker_tid, w->comm, process,
			wait_end_words[end], end == WAIT_END_IN_CALL ? " " : "",
			end == WAIT_END_IN_CALL ? latency__api_name(l, w->waker_api) : "", not_futex) < 0
		       ? -ENOMEM
		       : 0;
}

static int put_waker_text(const struct latency *l, struct rows *rows, const struct gpubpf_waker *w)
{
	char *text = NULL;
	int rc = latency__waker_text(l, w, &text);

	if (!rc)
		rc = row__text(rows, text);
	free(text);
	return rc;
}

static int lock_row(const struct latency *l, struct rows *rows, const struct lat_lock *k,
		    const struct lat_waker *most)
{
	if (rows__add(rows))
		return -ENOMEM;
	row__number(rows, k->ns);
	row__number(rows, k->longest);
	row__number(rows, k->waits);
	row__number(rows, k->calls);
	row__number(rows, k->tgid);
	row__number(rows, k->key[1]);
	if (row__text(rows, latency__api_name(l, k->api)))
		return -ENOMEM;
	row__real(rows, k->ns, false, k->ns ? (double)most->ns / (double)k->ns : 0);
	return put_waker_text(l, rows, &most->one);
}

int build_lat_locks(struct latency *l, struct rows *rows)
{
	const struct lat_waker **most = calloc(l->locks.locks.n + 1, sizeof(struct lat_waker *));
	int rc = most ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < l->locks.wakers.n; i++) {
		const struct lat_waker *w = hmap__at(&l->locks.wakers, i);

		if (!most[w->key[0]] || most[w->key[0]]->ns < w->ns)
			most[w->key[0]] = w;
	}
	for (size_t i = 0; !rc && i < l->locks.locks.n; i++)
		rc = !most[i] ? 0 : lock_row(l, rows, hmap__at(&l->locks.locks, i), most[i]);
	free(most);
	return rc;
}

static int waker_row(const struct latency *l, struct rows *rows, const struct lat_waker *w)
{
	const struct lat_lock *k = hmap__at(&l->locks.locks, w->key[0]);
	const struct gpubpf_waker *one = &w->one;
	bool is = wait_end_has_waker(w->end);

	if (rows__add(rows))
		return -ENOMEM;
	row__number(rows, w->ns);
	row__number(rows, w->longest);
	row__number(rows, w->waits);
	row__number(rows, k->tgid);
	row__number(rows, k->key[1]);
	if (row__text(rows, latency__api_name(l, k->api)) || row__text(rows, wait_end_names[w->end]))
		return -ENOMEM;
	row__maybe(rows, is, false, one->waker_tgid);
	row__maybe(rows, is, false, one->waker_tid);
	if (row__text(rows, is ? one->comm : NULL) ||
	    row__text(rows, w->end == WAIT_END_IN_CALL ? latency__api_name(l, one->waker_api) : NULL) ||
	    row__text(rows, is ? wait_by_name(one->by) : NULL))
		return -ENOMEM;
	return put_waker_text(l, rows, one);
}

int build_lat_wakers(struct latency *l, struct rows *rows)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < l->locks.wakers.n; i++)
		rc = waker_row(l, rows, hmap__at(&l->locks.wakers, i));
	return rc;
}

/* ---- Of one call ---- */

static int by_time(const void *x, const void *y)
{
	const struct gpubpf_waker *a = x, *b = y;

	return (a->t_wait > b->t_wait) - (a->t_wait < b->t_wait);
}

void lat_story__wait(struct lat_story *s, const struct gpubpf_waker *w)
{
	unsigned at = s->nwait, least = 0;

	s->nwaits++;
	if (at < LAT_WAIT_MAX) {
		s->nwait++;
	} else {
		for (unsigned i = 1; i < at; i++)
			if (wait_ns(&s->wait[i]) < wait_ns(&s->wait[least]))
				least = i;
		if (wait_ns(&s->wait[least]) >= wait_ns(w))
			return;
		at = least;
	}
	s->wait[at] = *w;
	qsort(s->wait, s->nwait, sizeof(s->wait[0]), by_time);
}
