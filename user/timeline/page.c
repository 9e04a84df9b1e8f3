/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "timeline/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "util/err.h"

/* page_image.S: the assembled page, in gzip's format */
extern const unsigned char gpubpf_page_begin[], gpubpf_page_end[];

#define MARK "<!--data-->" /* where the events go */
#define PAGE_MAX (1u << 20)
#define BLOCK_OPEN "<script type=\"application/octet-stream\">"
#define BLOCK_CLOSE "</script>\n"
#define BLOCK_BYTES (768u << 10) /* of an element: a multiple of 3, and of the buffer */

struct page {
	timeline_write_fn *fn;
	void *arg;
	uint64_t bytes;
	z_stream z;
	bool ready;      /* deflateEnd() is due */
	size_t in_block; /* bytes in the element that is open; 0: none is */
	unsigned char packed[48u << 10];
	char text[64u << 10];
};
_Static_assert(BLOCK_BYTES % sizeof(((struct page *)0)->packed) == 0, "whole buffers make a block");
_Static_assert(sizeof(((struct page *)0)->packed) / 3 * 4 == sizeof(((struct page *)0)->text), "base64");

static int put(struct page *p, const void *bytes, size_t n)
{
	p->bytes += n;
	return n ? p->fn(p->arg, bytes, n) : 0;
}

static int put_string(struct page *p, const char *s)
{
	return put(p, s, strlen(s));
}

static size_t base64(char *to, const unsigned char *b, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *start = to;

	for (size_t i = 0; i < n; i += 3) {
		unsigned v = b[i] << 16 | (i + 1 < n ? b[i + 1] << 8 : 0) | (i + 2 < n ? b[i + 2] : 0);

		*to++ = digits[v >> 18];
		*to++ = digits[v >> 12 & 63];
		*to++ = i + 1 < n ? digits[v >> 6 & 63] : '=';
		*to++ = i + 2 < n ? digits[v & 63] : '=';
	}
	return (size_t)(to - start);
}

/* What stands in `packed`; whole but for the last time. */
static int put_packed(struct page *p, size_t n)
{
	int rc = p->in_block ? 0 : put_string(p, BLOCK_OPEN);

	if (!rc)
		rc = put(p, p->text, base64(p->text, p->packed, n));
	p->in_block += n;
	if (!rc && (p->in_block >= BLOCK_BYTES || n < sizeof(p->packed))) {
		rc = put_string(p, BLOCK_CLOSE);
		p->in_block = 0;
	}
	return rc;
}

static int squeeze(struct page *p, const void *bytes, size_t n, int flush)
{
	int rc = 0, z = Z_OK;

	p->z.next_in = (unsigned char *)bytes;
	p->z.avail_in = (uInt)n;
	while (!rc && z != Z_STREAM_END && (p->z.avail_in || flush == Z_FINISH)) {
		z = deflate(&p->z, flush);
		if (z == Z_STREAM_ERROR)
			return -EIO;
		if (p->z.avail_out && z != Z_STREAM_END)
			continue;
		/* the end has a buffer that is not full, so its element is closed, even if it is an empty one */
		if (z == Z_STREAM_END && !p->z.avail_out) {
			rc = put_packed(p, sizeof(p->packed));
			p->z.avail_out = sizeof(p->packed);
		}
		if (!rc)
			rc = put_packed(p, sizeof(p->packed) - p->z.avail_out);
		p->z.next_out = p->packed;
		p->z.avail_out = sizeof(p->packed);
	}
	return rc;
}

static int take(void *arg, const void *bytes, size_t n)
{
	return squeeze(arg, bytes, n, Z_NO_FLUSH);
}

/* The page; to be freed; NULL: no memory, or not what the build made. */
static char *unpack(void)
{
	char *text = malloc(PAGE_MAX);
	z_stream z = { .next_in = (unsigned char *)gpubpf_page_begin,
		       .avail_in = (uInt)(gpubpf_page_end - gpubpf_page_begin),
		       .next_out = (unsigned char *)text,
		       .avail_out = PAGE_MAX - 1 };
	int rc;

	if (!text || inflateInit2(&z, 15 + 16) != Z_OK) {
		free(text);
		return NULL;
	}
	rc = inflate(&z, Z_FINISH);
	text[z.total_out] = '\0';
	inflateEnd(&z);
	if (rc != Z_STREAM_END) {
		free(text);
		return NULL;
	}
	return text;
}

int timeline_page_write(struct trace *t, const struct timeline_opts *o, timeline_write_fn *fn, void *arg,
			struct timeline_result *r, struct err *err)
{
	struct timeline_opts own = *o;
	struct page *p = calloc(1, sizeof(*p));
	char *text = unpack(), *rest = text ? strstr(text, MARK) : NULL;
	int rc = p && rest ? 0 : err_set(err, -ENOMEM, "%s: out of memory", t->in.path);

	if (rc)
		goto out;
	own.format = TIMELINE_PAGE;
	own.has_budget = false;
	p->fn = fn;
	p->arg = arg;
	rc = deflateInit(&p->z, 3) == Z_OK ? 0 : -ENOMEM;
	p->ready = !rc;
	p->z.next_out = p->packed;
	p->z.avail_out = sizeof(p->packed);
	if (!rc)
		rc = put(p, text, (size_t)(rest - text));
	if (!rc)
		rc = timeline_write(t, &own, take, p, r, err);
	if (!rc)
		rc = squeeze(p, NULL, 0, Z_FINISH);
	if (!rc)
		rc = put_string(p, rest + strlen(MARK));
	r->bytes = p->bytes;
out:
	if (p && p->ready)
		deflateEnd(&p->z);
	free(p);
	free(text);
	return rc;
}
