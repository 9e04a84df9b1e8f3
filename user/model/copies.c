/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/copies.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/allocs.h"
#include "model/cuda_abi.h"

const unsigned set_width_bytes[SET_WIDTHS] = { 0, 1, 2, 4 };

/* What a copy does, as far as its record tells. Ends: h host, d device, a array, m managed, ? not known. */
struct what {
	enum plan_copy how;
	char from, to;
	enum copy_source source;
	uint64_t elements;
	const uint64_t *sizes; /* of a batch */
	uint64_t nsizes;
	bool sized;
	uint64_t bytes;
};

void copies__init(struct copies *c)
{
	memset(c, 0, sizeof(*c));
	hmap__init(&c->rows, 8, sizeof(struct copy_row));
}

void copies__clear(struct copies *c)
{
	for (size_t i = 0; i < c->rows.n; i++)
		hist__clear(&((struct copy_row *)hmap__at(&c->rows, i))->sizes);
	for (int i = 0; i < SET_WIDTHS; i++)
		hist__clear(&c->sets[i].sizes);
	hmap__clear(&c->rows);
}

static const char *end_name(char end)
{
	switch (end) {
	case 'h':
		return "host";
	case 'd':
		return "device";
	case 'a':
		return "array";
	case 'm':
		return "managed";
	default:
		return "unknown";
	}
}

static void name_row(struct copy_row *r, const struct what *w)
{
	static const struct {
		enum plan_copy how;
		const char *word, *text;
	} words[] = {
		{ PLAN_COPY_PEER, "peer", "peer to peer" },
		{ PLAN_COPY_BATCH, "batch", "batch (directions not in the record)" },
		{ PLAN_COPY_BATCH3D, "batch3d", "batch of 3D copies (not in the record)" },
		{ PLAN_COPY_STRUCT32, "struct32", "2D or 3D, 32-bit interface (not in the record)" },
		{ PLAN_COPY_2D, "2d", "2D (its struct could not be read)" },
		{ PLAN_COPY_3D, "3d", "3D (its struct could not be read)" },
		{ PLAN_COPY_UNIFIED, "unified", "unified (direction not in the call)" },
	};

	if (w->how == PLAN_COPY_DIRECT) {
		snprintf(r->long_text, sizeof(r->long_text), "%s to %s", end_name(w->from), end_name(w->to));
		if (w->from != 'm' && w->from != '?' && w->to != 'm' && w->to != '?')
			snprintf(r->direction, sizeof(r->direction), "%c2%c", w->from, w->to);
		else
			snprintf(r->direction, sizeof(r->direction), "%s-to-%s", end_name(w->from),
				 end_name(w->to));
		return;
	}
	snprintf(r->direction, sizeof(r->direction), "other");
	r->text = "other (a kind of a later version)";
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (words[i].how != w->how)
			continue;
		snprintf(r->direction, sizeof(r->direction), "%s", words[i].word);
		r->text = words[i].text;
	}
}

const char *copy_row__text(const struct copy_row *r)
{
	return r->text ? r->text : r->long_text;
}

static char end_of_kind(enum mem_kind k)
{
	switch (k) {
	case MEM_MANAGED:
		return 'm';
	case MEM_HOST:
	case MEM_REGISTERED:
		return 'h';
	case MEM_DEVICE:
	case MEM_PITCH:
	case MEM_POOL:
		return 'd';
	default:
		return '?';
	}
}

static char end_of_address(const struct proc *p, uint64_t address)
{
	enum mem_kind kind;

	return allocs__find(p, address, &kind) ? end_of_kind(kind) : '?';
}

/* Turns ends of two addresses into a direction, or leaves it unified. */
static void by_address(struct what *w, char from, char to)
{
	w->from = from;
	w->to = to;
	if (from == '?' && to == '?') {
		w->how = PLAN_COPY_UNIFIED;
		w->source = COPY_NOT_IN_CALL;
	} else {
		w->how = PLAN_COPY_DIRECT;
		w->source = COPY_BY_ALLOCATION;
	}
}

static char end_of_type(uint32_t type)
{
	switch (type) {
	case CUDA_MEM_HOST:
		return 'h';
	case CUDA_MEM_DEVICE:
		return 'd';
	case CUDA_MEM_ARRAY:
		return 'a';
	default:
		return '?';
	}
}

static void by_types(struct what *w, const struct proc *p, uint32_t from, uint64_t src, uint32_t to,
		     uint64_t dst)
{
	char f = end_of_type(from), t = end_of_type(to);

	if (f != '?' && t != '?') {
		w->how = PLAN_COPY_DIRECT;
		w->from = f;
		w->to = t;
		return;
	}
	/* CU_MEMORYTYPE_UNIFIED: the address is in the device field */
	by_address(w,
		   f != '?'                   ? f
		   : from == CUDA_MEM_UNIFIED ? end_of_address(p, src)
					      : '?',
		   t != '?'                 ? t
		   : to == CUDA_MEM_UNIFIED ? end_of_address(p, dst)
					    : '?');
}

static bool mul3(uint64_t a, uint64_t b, uint64_t c, uint64_t *out)
{
	return !__builtin_mul_overflow(a, b, out) && !__builtin_mul_overflow(*out, c, out);
}

static void what_struct(struct what *w, const struct view *v)
{
	struct cuda_memcpy2d c2;
	struct cuda_memcpy3d c3;
	size_t n;
	const void *blob = api_call_blob(v->c, &n);
	bool flat = v->p->copy == PLAN_COPY_2D;

	if (v->p->copy == PLAN_COPY_3DPEER)
		w->how = PLAN_COPY_PEER;
	if (!blob || n < (flat ? sizeof(c2) : sizeof(c3)) || (v->c->flags & GPUBPF_CALL_BLOB_FAULT)) {
		if (w->how != PLAN_COPY_PEER)
			w->source = COPY_NOT_IN_CALL;
		return;
	}
	if (flat) {
		memcpy(&c2, blob, sizeof(c2));
		w->sized = mul3(c2.width, c2.height, 1, &w->bytes);
		by_types(w, v->proc, c2.src_type, c2.src_device, c2.dst_type, c2.dst_device);
		return;
	}
	memcpy(&c3, blob, sizeof(c3));
	w->sized = mul3(c3.width, c3.height, c3.depth, &w->bytes);
	if (w->how != PLAN_COPY_PEER)
		by_types(w, v->proc, c3.src_type, c3.src_device, c3.dst_type, c3.dst_device);
}

static void what_batch(struct what *w, const struct view *v)
{
	size_t n;
	const void *blob = api_call_blob(v->c, &n);

	w->source = COPY_NOT_IN_CALL;
	if (!plan_arg(v->p, v->c, PLAN_COUNT, &w->elements))
		w->elements = 0;
	if (w->how != PLAN_COPY_BATCH || !blob || (v->c->flags & GPUBPF_CALL_BLOB_FAULT))
		return;
	w->sizes = blob;
	w->nsizes = n / 8 < w->elements ? n / 8 : w->elements;
}

static void describe(struct what *w, const struct view *v)
{
	uint64_t src, dst;

	*w = (struct what){ .how = v->p->copy, .from = v->p->from, .to = v->p->to, .elements = 1 };
	switch (v->p->copy) {
	case PLAN_COPY_2D:
	case PLAN_COPY_3D:
	case PLAN_COPY_3DPEER:
		what_struct(w, v);
		return;
	case PLAN_COPY_BATCH:
	case PLAN_COPY_BATCH3D:
		what_batch(w, v);
		return;
	case PLAN_COPY_UNIFIED:
		if (plan_arg(v->p, v->c, PLAN_SRC, &src) && plan_arg(v->p, v->c, PLAN_DST, &dst))
			by_address(w, end_of_address(v->proc, src), end_of_address(v->proc, dst));
		else
			w->source = COPY_NOT_IN_CALL;
		break;
	case PLAN_COPY_STRUCT32:
	case PLAN_COPY_OTHER:
		w->source = COPY_NOT_IN_CALL;
		break;
	default:
		break;
	}
	w->sized = plan_arg(v->p, v->c, PLAN_BYTES, &w->bytes);
}

static uint64_t add_sat(uint64_t a, uint64_t b)
{
	uint64_t r;

	return __builtin_add_overflow(a, b, &r) ? UINT64_MAX : r;
}

static int count_size(struct copy_row *r, uint64_t bytes, bool captured)
{
	if (captured) {
		r->captured_bytes = add_sat(r->captured_bytes, bytes);
		return 0;
	}
	r->bytes = add_sat(r->bytes, bytes);
	return hist__add(&r->sizes, bytes);
}

static int on_copy(struct copies *c, const struct view *v)
{
	struct copy_row *r;
	struct what w;
	uint64_t key;
	int rc = 0;

	describe(&w, v);
	key = (uint64_t)w.how << 24 | (uint64_t)w.source << 16;
	if (w.how == PLAN_COPY_DIRECT)
		key |= (uint64_t)w.from << 8 | (uint64_t)w.to;
	r = hmap__put(&c->rows, &key);
	if (!r)
		return -ENOMEM;
	if (!r->direction[0]) {
		name_row(r, &w);
		r->source = w.source;
	}
	tally__add(&r->calls, v);
	if (v->timed) {
		r->ns += v->ns;
		r->timed++;
	}
	if (v->outcome != OUTCOME_OK && v->outcome != OUTCOME_UNKNOWN)
		return 0;
	if (w.how == PLAN_COPY_BATCH || w.how == PLAN_COPY_BATCH3D) {
		for (uint64_t i = 0; !rc && i < w.nsizes; i++)
			rc = count_size(r, w.sizes[i], v->captured);
	} else if (w.sized) {
		rc = count_size(r, w.bytes, v->captured);
		w.nsizes = 1;
	}
	if (!v->captured) {
		r->elements = add_sat(r->elements, w.elements);
		r->elements_unknown = add_sat(r->elements_unknown, w.elements - w.nsizes);
	}
	return rc;
}

static bool set_size(const struct view *v, uint64_t *bytes)
{
	uint64_t n, height;

	if (!v->p->set_bytes)
		return false;
	if (plan_arg(v->p, v->c, PLAN_N, &n))
		return mul3(n, v->p->set_bytes, 1, bytes);
	return plan_arg(v->p, v->c, PLAN_WIDTH, &n) && plan_arg(v->p, v->c, PLAN_HEIGHT, &height) &&
	       mul3(n, height, v->p->set_bytes, bytes);
}

static int on_set(struct copies *c, const struct view *v)
{
	unsigned i = v->p->set_bytes == 4 ? 3 : v->p->set_bytes;
	struct set_row *r = &c->sets[i];
	uint64_t bytes;

	tally__add(&r->calls, v);
	if (v->timed) {
		r->ns += v->ns;
		r->timed++;
	}
	if (v->outcome != OUTCOME_OK && v->outcome != OUTCOME_UNKNOWN)
		return 0;
	if (!set_size(v, &bytes)) {
		r->unknown += !v->captured;
		return 0;
	}
	if (v->captured) {
		r->captured_bytes = add_sat(r->captured_bytes, bytes);
		return 0;
	}
	r->bytes = add_sat(r->bytes, bytes);
	return hist__add(&r->sizes, bytes);
}

int copies__call(struct copies *c, const struct view *v)
{
	return v->p->api->cls == API_SET ? on_set(c, v) : on_copy(c, v);
}
