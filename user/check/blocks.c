/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The lower of the two in the middle, and half of what the other is more: exact to the nanosecond, and no overflow. */
static uint64_t median_of(uint64_t *room, const uint64_t *v, size_t n)
{
	memcpy(room, v, n * sizeof(*v));
	qsort(room, n, sizeof(*room), by_value);
	if (n % 2)
		return room[n / 2];
	return room[n / 2 - 1] + (room[n / 2] - room[n / 2 - 1]) / 2;
}

static void take(struct blocks *b, uint64_t median, uint64_t number)
{
	if (number == 1 || median < b->lowest) {
		b->lowest = median;
		b->lowest_at = number;
	}
	if (number == 1 || median > b->highest) {
		b->highest = median;
		b->highest_at = number;
	}
}

int blocks_of(const uint64_t *gap, size_t n, uint64_t size, struct blocks *b)
{
	uint64_t *room;

	memset(b, 0, sizeof(*b));
	b->needed = BLOCKS_AUTO_GAPS;
	if (size && __builtin_mul_overflow(size, 2, &b->needed))
		b->needed = UINT64_MAX;
	if (b->needed < 16)
		b->needed = 16;
	if (n < b->needed)
		return 0;
	room = malloc(n * sizeof(*room));
	if (!room)
		return -ENOMEM;
	b->size = size ? size : n / BLOCKS_AUTO;
	b->whole = n / b->size;
	b->trailing = n % b->size;
	b->median = median_of(room, gap, n);
	for (uint64_t i = 0; i < b->whole; i++)
		take(b, median_of(room, gap + i * b->size, b->size), i + 1);
	if (b->trailing)
		take(b, median_of(room, gap + n - b->size, b->size), b->whole + 1);
	free(room);
	return 0;
}

uint64_t blocks__count(const struct blocks *b)
{
	return b->whole + (b->trailing != 0);
}

bool blocks__spread(const struct blocks *b, double *spread)
{
	*spread = 0;
	if (b->highest == b->lowest)
		return true;
	if (!b->median)
		return false;
	*spread = (double)(b->highest - b->lowest) / (double)b->median;
	return true;
}
