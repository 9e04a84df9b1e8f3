// SPDX-License-Identifier: GPL-2.0-or-later
/* E. W. Myers, An O(ND) Difference Algorithm and Its Variations, Algorithmica 1 (1986), section 4b. */
#include "compare/lcs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct part {
	const uint32_t *a, *b;
	size_t n, m;
	uint8_t *in_a, *in_b;
};

struct room {
	long *forward, *backward; /* furthest x by diagonal, from -most … most */
	long most;                /* steps from either end */
};

static void strip(struct part *p)
{
	while (p->n && p->m && *p->a == *p->b) {
		p->a++, p->in_a++, p->n--;
		p->b++, p->in_b++, p->m--;
	}
	while (p->n && p->m && p->a[p->n - 1] == p->b[p->m - 1])
		p->n--, p->m--;
}

/*
 * One more difference along diagonal k, and all that is the same behind it: the furthest x, which f[k] keeps. From the upper left
 * corner on, or `back` from the lower right one. -1: the diagonal is not in the rectangle.
 */
static long reach(const struct part *p, bool back, long *f, long d, long k)
{
	const long n = (long)p->n, m = (long)p->m;
	long x, y;

	if (k < -m || k > n) {
		f[k] = k < 0 ? 0 : n;
		return -1;
	}
	x = k == -d || (k != d && f[k - 1] < f[k + 1]) ? f[k + 1] : f[k - 1] + 1;
	x = x > n ? n : x;
	for (y = x - k; x < n && y < m && y >= 0; x++, y++)
		if (back ? p->a[n - 1 - x] != p->b[m - 1 - y] : p->a[x] != p->b[y])
			break;
	f[k] = x;
	return y >= 0 && y <= m ? x : -1;
}

/*
 * A point that a shortest way from one corner to the other passes, half of its differences before it. Diagonals are
 * k = x - y from the upper left corner, and from the lower right one k = delta - (x - y). 0 or -E2BIG.
 */
static int middle(const struct part *p, const struct room *r, size_t *mx, size_t *my)
{
	const long n = (long)p->n, m = (long)p->m, delta = n - m;
	long *f = r->forward + r->most + 1, *g = r->backward + r->most + 1;

	f[1] = g[1] = 0;
	for (long d = 0; d <= r->most; d++) {
		for (long k = -d; k <= d; k += 2) {
			long x = reach(p, false, f, d, k);

			if (x >= 0 && delta % 2 && delta - k >= -(d - 1) && delta - k <= d - 1 &&
			    x + g[delta - k] >= n) {
				*mx = (size_t)x;
				*my = (size_t)(x - k);
				return 0;
			}
		}
		for (long k = -d; k <= d; k += 2) {
			long x = reach(p, true, g, d, k);

			if (x >= 0 && delta % 2 == 0 && delta - k >= -d && delta - k <= d &&
			    x + f[delta - k] >= n) {
				*mx = (size_t)(n - x);
				*my = (size_t)(m - (x - k));
				return 0;
			}
		}
	}
	return -E2BIG;
}

static int mark(struct part p, const struct room *r)
{
	size_t x, y;
	int rc;

	for (;;) {
		struct part rest;

		strip(&p);
		if (!p.n || !p.m) {
			memset(p.in_a, 1, p.n);
			memset(p.in_b, 1, p.m);
			return 0;
		}
		rc = middle(&p, r, &x, &y);
		if (rc)
			return rc;
		if ((!x && !y) || (x == p.n && y == p.m)) { /* one difference at an end */
			memset(p.in_a, 1, p.n);
			memset(p.in_b, 1, p.m);
			return 0;
		}
		rest = (struct part){ p.a, p.b, x, y, p.in_a, p.in_b };
		rc = mark(rest, r);
		if (rc)
			return rc;
		p.a += x, p.in_a += x, p.n -= x;
		p.b += y, p.in_b += y, p.m -= y;
	}
}

int lcs_mark(const uint32_t *a, size_t n, const uint32_t *b, size_t m, size_t most, uint8_t *in_a,
	     uint8_t *in_b)
{
	struct part p = { a, b, n, m, in_a, in_b };
	struct room r = { 0 };
	size_t all;
	int rc = -ENOMEM;

	strip(&p);
	all = p.n + p.m;
	r.most = (long)((all < most ? all : most) + 1) / 2 + 1;
	r.forward = calloc(2 * (size_t)r.most + 4, sizeof(*r.forward));
	r.backward = calloc(2 * (size_t)r.most + 4, sizeof(*r.backward));
	if (r.forward && r.backward)
		rc = mark(p, &r);
	free(r.forward);
	free(r.backward);
	return rc;
}
