/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What BPF keeps per thread: open calls, and launches that wait to be handed over. */
#include "attach/attach_priv.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

#include "gpubpf.skel.h"
#include "maps.h"

static int each_thread(struct attach *a, void (*fn)(uint32_t tid, const struct thread *t, void *arg),
		       void *arg)
{
	int fd = bpf_map__fd(a->skel->maps.threads);
	uint32_t key, next, *prev = NULL;
	struct thread t;

	while (!bpf_map_get_next_key(fd, prev, &next)) {
		if (!bpf_map_lookup_elem(fd, &next, &t))
			fn(next, &t, arg);
		key = next;
		prev = &key;
	}
	return 0;
}

struct open_arg {
	void (*fn)(const struct attach_open_call *c, void *arg);
	void *arg;
};

static void give_open(uint32_t tid, const struct thread *t, void *arg)
{
	const struct open_arg *o = arg;

	for (uint32_t i = 0; i < t->depth && i < OPEN_CALLS; i++) {
		struct attach_open_call c = {
			.tgid = t->tgid,
			.tid = tid,
			.api = (uint32_t)(t->frames[i].cookie & 0xfff),
			.depth = i,
			.t_entry = t->frames[i].t_entry,
			.left = t->left,
			.words = (const uint64_t *)t->frames[i].words,
		};

		o->fn(&c, o->arg);
	}
}

int attach__open_calls(struct attach *a, void (*fn)(const struct attach_open_call *c, void *arg), void *arg)
{
	struct open_arg o = { fn, arg };

	return each_thread(a, give_open, &o);
}

struct kept_arg {
	struct attach *a;
	attach_record_fn fn;
	void *arg;
};

static void give_kept(uint32_t tid, const struct thread *t, void *arg)
{
	const struct kept_arg *k = arg;

	(void)tid;
	attach__each_record(k->a, &t->row, k->fn, k->arg);
}

int attach__kept(struct attach *a, attach_record_fn fn, void *arg)
{
	struct kept_arg k = { a, fn, arg };

	return each_thread(a, give_kept, &k);
}

int attach__each_record(const struct attach *a, const void *data, attach_record_fn fn, void *arg)
{
	const struct row *row = data;
	union {
		struct gpubpf_call head;
		uint8_t room[sizeof(struct gpubpf_call) + 8 * GPUBPF_WORDS_MAX];
	} rec;
	int e = 0;

	if (row->kind != REC_ROW)
		return fn(data, arg);
	rec.head = (struct gpubpf_call){
		.kind = GPUBPF_REC_CALL,
		.size = sizeof(rec),
		.tgid = row->tgid,
		.tid = row->tid,
		.nwords = GPUBPF_WORDS_MAX,
	};
	for (uint32_t i = 0; i < row->n && i < ROW_LAUNCHES && !e; i++) {
		const struct row_launch *l = &row->launches[i];

		rec.head.flags = l->flags | (a->opts.entry_only ? 0 : GPUBPF_CALL_UNMEASURED);
		rec.head.t_entry = l->t_entry;
		rec.head.api = (uint16_t)l->api;
		memcpy(rec.head.words, l->words, sizeof(l->words));
		e = fn((const struct gpubpf_rec *)&rec, arg);
	}
	return e;
}
