/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stapsdt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "priv.h"

#define NOTE_STAPSDT 3
/* <sys/sdt.h> has 12; what stands behind stays readable in `args`. */
#define OPERANDS_MAX 32

struct usdt_file {
	struct usdt_image im, debug;
	char *debug_path;
	struct usdt_probe *probes;
	size_t n, room, damaged;
	enum usdt_source source;
	unsigned machine;
};

struct taker {
	struct usdt_file *f;
	const struct usdt_image *im; /* where the notes stand */
};

static bool strings_take(struct usdt_probe *p, const char *s, size_t left)
{
	const char **into[] = { &p->provider, &p->name, &p->args };

	for (size_t i = 0; i < sizeof(into) / sizeof(into[0]); i++) {
		size_t len = strnlen(s, left);

		if (len == left)
			return false;
		*into[i] = s;
		s += len + 1;
		left -= len + 1;
	}
	return true;
}

static uint64_t addr_mask(const struct usdt_image *im)
{
	return im->is_64 ? UINT64_MAX : UINT32_MAX;
}

/*
 * Of a file it is read, not taken from libelf's mapping: the kernel puts its breakpoints into every private mapping of a
 * file that a recorder probes, ours too.
 */
static void take_code(const struct usdt_image *im, const struct usdt_segment *s, struct usdt_probe *p)
{
	size_t n = 0;
	uint64_t at;

	while (n < USDT_CODE_BYTES && usdt_image_offset(im, s, p->location, n + 1, &at))
		n++;
	if (im->fd >= 0) {
		ssize_t got = pread(im->fd, p->code, n, (off_t)p->offset);

		n = got > 0 ? (size_t)got : 0;
	} else {
		memcpy(p->code, im->raw + p->offset, n);
	}
	p->ncode = n;
}

static void place(const struct usdt_file *f, struct usdt_probe *p)
{
	const struct usdt_image *im = &f->im;
	/* A separate debug file keeps the addresses from before a prelink; the object's own base moved. */
	const struct usdt_image *b = im->has_base ? im : f->debug.has_base ? &f->debug : NULL;
	uint64_t shift = b && b->base && p->note_base ? b->base - p->note_base : 0;
	const struct usdt_segment *s;

	p->has_location = im->eh.e_type != ET_REL;
	if (!p->has_location)
		return;
	p->location = (p->note_location + shift) & addr_mask(im);
	s = usdt_image_segment(im, p->location, 1);
	p->executable = s && s->executable;
	p->has_offset = s && usdt_image_offset(im, s, p->location, 1, &p->offset);
	if (p->has_offset)
		take_code(im, s, p);
	p->has_semaphore = p->note_semaphore != 0;
	if (!p->has_semaphore)
		return;
	p->semaphore = (p->note_semaphore + shift) & addr_mask(im);
	s = usdt_image_segment(im, p->semaphore, 2);
	p->has_semaphore_offset = s && usdt_image_offset(im, s, p->semaphore, 2, &p->semaphore_offset);
	p->semaphore_writable = p->has_semaphore_offset && s->writable;
	if (p->has_semaphore_offset) {
		const uint8_t *v = im->raw + p->semaphore_offset;

		p->semaphore_value = (uint16_t)(im->is_big ? v[0] << 8 | v[1] : v[1] << 8 | v[0]);
	}
}

static int operands_take(const struct usdt_file *f, struct usdt_probe *p)
{
	struct usdt_operand *ops;
	size_t n = usdt_operands_parse(f->machine, p->args, NULL, 0);

	if (n > OPERANDS_MAX)
		n = OPERANDS_MAX;
	if (!n)
		return 0;
	ops = calloc(n, sizeof(*ops));
	if (!ops)
		return -ENOMEM;
	usdt_operands_parse(f->machine, p->args, ops, n);
	p->operands = ops;
	p->noperands = n;
	return 0;
}

static int note_take(const struct usdt_note *n, void *arg)
{
	struct taker *t = arg;
	struct usdt_file *f = t->f;
	size_t word = t->im->is_64 ? 8 : 4;
	struct usdt_probe p = { .note_offset = n->offset };

	if (n->type != NOTE_STAPSDT || n->namesz != 8 || memcmp(n->name, "stapsdt", 8) != 0)
		return 0;
	if (n->descsz < 3 * word ||
	    !strings_take(&p, (const char *)n->desc + 3 * word, n->descsz - 3 * word)) {
		f->damaged++;
		return 0;
	}
	p.note_location = usdt_image_word(t->im, n->desc);
	p.note_base = usdt_image_word(t->im, n->desc + word);
	p.note_semaphore = usdt_image_word(t->im, n->desc + 2 * word);
	if (f->n == f->room) {
		size_t room = f->room ? 2 * f->room : 16;
		struct usdt_probe *grown = realloc(f->probes, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		f->probes = grown;
		f->room = room;
	}
	place(f, &p);
	if (operands_take(f, &p))
		return -ENOMEM;
	f->probes[f->n++] = p;
	return 0;
}

static int notes_read(struct usdt_file *f, const struct usdt_image *im, struct usdt_err *err)
{
	struct taker t = { .f = f, .im = im };
	int stopped;

	f->damaged += usdt_image_notes(im, note_take, &t, &stopped);
	return stopped ? usdt_err_set(err, stopped, "out of memory for probes") : 0;
}

static bool same_build(const struct usdt_image *a, const struct usdt_image *b)
{
	return a->build_id_len == b->build_id_len && memcmp(a->build_id, b->build_id, a->build_id_len) == 0;
}

/* <root>/.build-id/ab/cdef….debug */
static char *debug_path_of(const struct usdt_image *im, const char *root)
{
	char hex[2 * sizeof(im->build_id) + 1], *path;

	if (im->build_id_len < 2)
		return NULL;
	for (size_t i = 0; i < im->build_id_len; i++)
		snprintf(hex + 2 * i, 3, "%02x", im->build_id[i]);
	return asprintf(&path, "%s/.build-id/%.2s/%s.debug", root, hex, hex + 2) < 0 ? NULL : path;
}

static int debug_open(struct usdt_file *f, const char *path, struct usdt_err *err)
{
	int e = usdt_image_open(&f->debug, path, err);

	if (e)
		return e;
	if (f->debug.eh.e_machine != f->im.eh.e_machine || f->debug.is_64 != f->im.is_64 ||
	    f->debug.is_big != f->im.is_big)
		return usdt_err_set(err, -ESTALE, "%s is for another architecture than the object", path);
	if (f->im.build_id_len && f->debug.build_id_len && !same_build(&f->im, &f->debug))
		return usdt_err_set(err, -ESTALE,
				    "%s is of another build than the object: their build ids differ", path);
	return 0;
}

static int debug_read(struct usdt_file *f, const struct usdt_opts *o, struct usdt_err *err)
{
	const char *named = o ? o->debug_file : NULL;
	const char *root = o && o->debug_root ? o->debug_root : "/usr/lib/debug";
	int e;

	if (!named && !*root)
		return 0;
	f->debug_path = named ? strdup(named) : debug_path_of(&f->im, root);
	if (!f->debug_path)
		return named ? usdt_err_set(err, -ENOMEM, "out of memory") : 0;
	e = debug_open(f, f->debug_path, named ? err : NULL);
	if (!e) {
		size_t before = f->n;

		e = notes_read(f, &f->debug, err);
		if (!e && f->n > before) {
			f->source = USDT_FROM_DEBUG_FILE;
			return 0;
		}
	} else if (!named) {
		e = 0; /* what was only looked for need not be there */
	}
	usdt_image_close(&f->debug);
	free(f->debug_path);
	f->debug_path = NULL;
	return e;
}

static int file_read(struct usdt_file *f, struct usdt_err *err)
{
	f->machine = f->im.eh.e_machine;
	f->source = f->im.has_sections ? USDT_FROM_SECTIONS : USDT_FROM_SEGMENTS;
	return notes_read(f, &f->im, err);
}

static int file_new(struct usdt_file **out, struct usdt_err *err)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return usdt_err_set(err, -ENOMEM, "out of memory");
	(*out)->im.fd = (*out)->debug.fd = -1;
	return 0;
}

int usdt_file__open(const char *path, const struct usdt_opts *o, struct usdt_file **out, struct usdt_err *err)
{
	struct usdt_file *f;
	int e = file_new(&f, err);

	if (!e)
		e = usdt_image_open(&f->im, path, err);
	if (!e)
		e = file_read(f, err);
	if (!e && !f->n)
		e = debug_read(f, o, err);
	if (e) {
		usdt_file__close(f);
		f = NULL;
	}
	*out = f;
	return e;
}

int usdt_file__open_memory(const char *name, const void *image, size_t size, struct usdt_file **out,
			   struct usdt_err *err)
{
	struct usdt_file *f;
	int e = file_new(&f, err);

	if (!e)
		e = usdt_image_open_memory(&f->im, name, image, size, err);
	if (!e)
		e = file_read(f, err);
	if (e) {
		usdt_file__close(f);
		f = NULL;
	}
	*out = f;
	return e;
}

void usdt_file__close(struct usdt_file *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n; i++)
		free((void *)(uintptr_t)f->probes[i].operands);
	free(f->probes);
	free(f->debug_path);
	usdt_image_close(&f->debug);
	usdt_image_close(&f->im);
	free(f);
}

size_t usdt_file__count(const struct usdt_file *f)
{
	return f->n;
}

const struct usdt_probe *usdt_file__probe(const struct usdt_file *f, size_t i)
{
	return i < f->n ? &f->probes[i] : NULL;
}

unsigned usdt_file__machine(const struct usdt_file *f)
{
	return f->machine;
}

unsigned usdt_file__bits(const struct usdt_file *f)
{
	return f->im.is_64 ? 64 : 32;
}

bool usdt_file__big_endian(const struct usdt_file *f)
{
	return f->im.is_big;
}

enum usdt_source usdt_file__source(const struct usdt_file *f)
{
	return f->source;
}

const char *usdt_file__debug_file(const struct usdt_file *f)
{
	return f->debug_path;
}

size_t usdt_file__damaged(const struct usdt_file *f)
{
	return f->damaged;
}

const uint8_t *usdt_file__build_id(const struct usdt_file *f, size_t *len)
{
	*len = f->im.build_id_len;
	return f->im.build_id_len ? f->im.build_id : NULL;
}
