// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "capture/scan.h"
#include "util/err.h"

int capture_pread(int fd, void *buf, size_t n, uint64_t at, struct err *err)
{
	uint8_t *p = buf;

	while (n) {
		ssize_t got = pread(fd, p, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_set(err, -errno, "reading at byte %llu: %s", (unsigned long long)at,
				       strerror(errno));
		if (got == 0)
			return 0;
		p += got;
		n -= (size_t)got;
		at += (uint64_t)got;
	}
	return 1;
}

static bool fits(const struct capture_scan *s, const struct capture_block_header *h, uint64_t at)
{
	return h->stored <= s->size - at - sizeof(*h);
}

/* Looks for the next header of a block that is all there, from `from` on. 1: found, at *at. */
static int resync(struct capture_scan *s, uint64_t from, struct capture_block_header *h, uint64_t *at,
		  struct err *err)
{
	while (s->size - from >= sizeof(*h)) {
		size_t n = s->size - from < CAPTURE_SCAN_WINDOW ? (size_t)(s->size - from)
								: CAPTURE_SCAN_WINDOW;
		const uint8_t *p = s->window, *end = s->window + n - sizeof(*h) + 1;
		int r = capture_pread(s->fd, s->window, n, from, err);

		if (r <= 0)
			return r;
		while (p < end && (p = memmem(p, (size_t)(end - p) + 3, CAPTURE_BLOCK_MAGIC, 4)) != NULL) {
			*at = from + (uint64_t)(p - s->window);
			memcpy(h, p, sizeof(*h));
			if (capture_block_header_right(h) && fits(s, h, *at))
				return 1;
			p++;
		}
		from += (uint64_t)(end - s->window);
	}
	return 0;
}

/* Whether the bytes at the end can be the beginning of a block whose write was cut short. */
static bool torn(const struct capture_block_header *h, size_t have)
{
	if (have >= sizeof(*h))
		return capture_block_header_right(h);
	return memcmp(h, CAPTURE_BLOCK_MAGIC, have < 4 ? have : 4) == 0;
}

int capture_scan__next(struct capture_scan *s, struct capture_block_header *h, uint64_t *payload,
		       struct err *err)
{
	struct capture_block_header first = { .kind = 0 };
	uint64_t left = s->size - s->at, at;
	size_t have = left < sizeof(*h) ? (size_t)left : sizeof(*h);
	int r;

	if (left == 0)
		return 0;
	r = capture_pread(s->fd, &first, have, s->at, err);
	if (r < 0)
		return r;
	if (r > 0 && have == sizeof(*h) && capture_block_header_right(&first) && fits(s, &first, s->at)) {
		*h = first;
		at = s->at;
	} else {
		r = r == 0 ? 0 : resync(s, s->at + 1, h, &at, err);
		if (r < 0)
			return r;
		if (r == 0) {
			if (torn(&first, have))
				s->tail = left;
			else
				s->damaged += left;
			s->at = s->size;
			return 0;
		}
		s->damaged += at - s->at;
	}
	*payload = at + sizeof(*h);
	s->at = *payload + h->stored;
	return 1;
}
