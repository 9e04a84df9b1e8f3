/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/hist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Octave 0 and 1 hold 0 … 255 one by one; octave k holds 2^(k+6) … 2^(k+7)-1 in steps of 2^(k-1). */
static unsigned octave_of(uint64_t v)
{
	return v < HIST_SUB ? 0 : (unsigned)(63 - __builtin_clzll(v)) - 6;
}

static unsigned sub_of(uint64_t v, unsigned octave)
{
	return (unsigned)(octave < 2 ? v % HIST_SUB : (v >> (octave - 1)) - HIST_SUB);
}

static uint64_t lowest_of(unsigned octave, unsigned sub)
{
	if (octave < 2)
		return (uint64_t)octave * HIST_SUB + sub;
	return (HIST_SUB + (uint64_t)sub) << (octave - 1);
}

static uint64_t add_sat(uint64_t a, uint64_t b)
{
	uint64_t r;

	return __builtin_add_overflow(a, b, &r) ? UINT64_MAX : r;
}

static uint64_t *chunk_of(struct hist *h, unsigned octave)
{
	uint64_t(*chunk)[HIST_SUB];

	if (h->slot[octave])
		return h->chunk[h->slot[octave] - 1];
	chunk = realloc(h->chunk, (h->chunks + 1u) * sizeof(*chunk));
	if (!chunk)
		return NULL;
	h->chunk = chunk;
	memset(chunk[h->chunks], 0, sizeof(*chunk));
	h->slot[octave] = ++h->chunks;
	return chunk[h->chunks - 1];
}

int hist__add_n(struct hist *h, uint64_t v, uint64_t n)
{
	unsigned octave = octave_of(v);
	uint64_t *chunk, total;

	if (!n)
		return 0;
	chunk = chunk_of(h, octave);
	if (!chunk)
		return -ENOMEM;
	chunk[sub_of(v, octave)] += n;
	if (!h->n || v < h->min)
		h->min = v;
	if (!h->n || v > h->max)
		h->max = v;
	h->n += n;
	h->sum = add_sat(h->sum, __builtin_mul_overflow(v, n, &total) ? UINT64_MAX : total);
	return 0;
}

int hist__add(struct hist *h, uint64_t v)
{
	return hist__add_n(h, v, 1);
}

int hist__merge(struct hist *into, const struct hist *from)
{
	for (unsigned o = 0; o <= HIST_OCTAVES; o++)
		if (from->slot[o] && !chunk_of(into, o))
			return -ENOMEM;
	for (unsigned o = 0; o <= HIST_OCTAVES; o++)
		for (unsigned s = 0; from->slot[o] && s < HIST_SUB; s++)
			into->chunk[into->slot[o] - 1][s] += from->chunk[from->slot[o] - 1][s];
	if (from->n) {
		if (!into->n || from->min < into->min)
			into->min = from->min;
		if (!into->n || from->max > into->max)
			into->max = from->max;
		into->n += from->n;
		into->sum = add_sat(into->sum, from->sum);
	}
	return 0;
}

bool hist__quantile(const struct hist *h, double q, uint64_t *v)
{
	uint64_t rank, seen = 0;
	double exact = q * (double)h->n;

	if (!h->n)
		return false;
	rank = exact <= 1 ? 1 : (uint64_t)exact;
	if ((double)rank < exact)
		rank++;
	if (rank > h->n)
		rank = h->n;
	*v = h->max;
	for (unsigned o = 0; o <= HIST_OCTAVES; o++) {
		for (unsigned s = 0; h->slot[o] && s < HIST_SUB; s++) {
			seen += h->chunk[h->slot[o] - 1][s];
			if (seen < rank)
				continue;
			*v = lowest_of(o, s);
			if (*v < h->min)
				*v = h->min;
			return true;
		}
	}
	return true;
}

uint64_t hist__from(const struct hist *h, uint64_t v)
{
	unsigned first = octave_of(v);
	uint64_t n = 0;

	for (unsigned o = first; o <= HIST_OCTAVES; o++)
		for (unsigned s = o == first ? sub_of(v, o) : 0; h->slot[o] && s < HIST_SUB; s++)
			n += h->chunk[h->slot[o] - 1][s];
	return n;
}

bool hist__tail(const struct hist *h, uint64_t n, uint64_t *v)
{
	uint64_t seen = 0;
	bool found = false;

	for (int o = HIST_OCTAVES; o >= 0; o--) {
		for (int s = HIST_SUB - 1; h->slot[o] && s >= 0; s--) {
			uint64_t here = h->chunk[h->slot[o] - 1][s];

			if (!here)
				continue;
			if (found && (here > n || seen > n - here))
				return true;
			seen += here;
			*v = lowest_of((unsigned)o, (unsigned)s);
			found = true;
		}
	}
	return found;
}

void hist__clear(struct hist *h)
{
	free(h->chunk);
	memset(h, 0, sizeof(*h));
}
