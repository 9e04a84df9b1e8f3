/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The note reader on objects built by hand: classes, byte orders, split notes, prelink, no headers, debug files,
 * damage. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t.h"
#include "usdt/stapsdt.h"
#include "usdt_image.h"

static struct usdt_file *open_image(struct image *im)
{
	struct usdt_err err = { "" };
	struct usdt_file *f;

	image_end(im);
	CHECKF(usdt_file__open_memory("image", im->b, im->size, &f, &err) == 0, "%s", err.msg);
	return f;
}

#define PROBE "prov\0name\0-4@%eax"
#define PROBE_BASE 0x10050

T(every_class_and_byte_order_reads_the_same)
{
	static const struct {
		unsigned machine;
		bool is_64, is_big;
	} kinds[] = {
		{ EM_X86_64, true, false },  { EM_386, false, false }, { EM_AARCH64, true, false },
		{ EM_X86_64, false, false }, { EM_S390, true, true },  { EM_PPC, false, true },
		{ EM_AARCH64, true, true },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct image im = image_begin(kinds[i].machine, kinds[i].is_64, kinds[i].is_big);
		const struct usdt_probe *p;
		struct usdt_file *f;

		im.base = PROBE_BASE;
		im.b[0x1010] = 0xcc;
		im.b[0x2020] = kinds[i].is_big ? 0 : 3;
		im.b[0x2021] = kinds[i].is_big ? 3 : 0;
		image_part(&im);
		IMAGE_PROBE(&im, IMAGE_TEXT + 0x10, PROBE_BASE, IMAGE_DATA + 0x20, PROBE);
		IMAGE_PROBE(&im, IMAGE_TEXT + 0x20, PROBE_BASE, 0, "prov\0bare\0");
		f = open_image(&im);
		CHECK(usdt_file__count(f) == 2 && usdt_file__damaged(f) == 0);
		CHECK(usdt_file__machine(f) == kinds[i].machine &&
		      usdt_file__bits(f) == (kinds[i].is_64 ? 64u : 32u));
		CHECK(usdt_file__big_endian(f) == kinds[i].is_big &&
		      usdt_file__source(f) == USDT_FROM_SECTIONS);
		p = usdt_file__probe(f, 0);
		CHECK(p && !strcmp(p->provider, "prov") && !strcmp(p->name, "name") &&
		      !strcmp(p->args, "-4@%eax"));
		CHECK(p && p->location == IMAGE_TEXT + 0x10 && p->has_offset && p->offset == 0x1010 &&
		      p->executable);
		CHECK(p && p->ncode == USDT_CODE_BYTES && p->code[0] == 0xcc);
		CHECK(p && p->has_semaphore && p->semaphore == IMAGE_DATA + 0x20 &&
		      p->semaphore_offset == 0x2020);
		CHECK(p && p->semaphore_writable && p->semaphore_value == 3 && p->noperands == 1);
		CHECK(p && p->note_base == PROBE_BASE && p->note_offset == im.from[0]);
		p = usdt_file__probe(f, 1);
		CHECK(p && !strcmp(p->name, "bare") && p->args[0] == 0 && p->noperands == 0 &&
		      !p->has_semaphore && !p->has_semaphore_offset);
		CHECK(!usdt_file__probe(f, 2));
		usdt_file__close(f);
	}
}

T(notes_stand_in_several_sections_among_others)
{
	struct image im = image_begin(EM_X86_64, true, false);
	struct usdt_file *f;

	for (unsigned i = 0; i < 3; i++) {
		image_part(&im);
		image_raw_note(&im, "GNU", 3, "\x01\x02\x03\x04\x05", 5);
		IMAGE_PROBE(&im, IMAGE_TEXT + i, 0, 0, "p\0a\0");
		image_raw_note(&im, "stapsdt", 4, "abc", 3);
		IMAGE_PROBE(&im, IMAGE_TEXT + 0x10 + i, 0, 0, "p\0b\0");
	}
	f = open_image(&im);
	CHECK(usdt_file__count(f) == 6 && usdt_file__damaged(f) == 0);
	for (unsigned i = 0; i < 6; i++)
		CHECK(usdt_file__probe(f, i)->location == IMAGE_TEXT + i / 2 + (i & 1 ? 0x10 : 0));
	usdt_file__close(f);
}

T(prelink_moves_locations_and_semaphores)
{
	struct image im = image_begin(EM_386, false, false);
	const struct usdt_probe *p;
	struct usdt_file *f;

	/* Linked at 0x4000 below where it is now; a semaphore of 0 is none and stays so. */
	im.base = PROBE_BASE;
	image_part(&im);
	IMAGE_PROBE(&im, IMAGE_TEXT - 0x4000 + 0x30, PROBE_BASE - 0x4000, IMAGE_DATA - 0x4000 + 8,
		    "p\0down\0");
	IMAGE_PROBE(&im, IMAGE_TEXT + 0x40000030, PROBE_BASE + 0x40000000, 0, "p\0up\0");
	f = open_image(&im);
	p = usdt_file__probe(f, 0);
	CHECK(p->location == IMAGE_TEXT + 0x30 && p->offset == 0x1030);
	CHECK(p->has_semaphore && p->semaphore == IMAGE_DATA + 8 && p->semaphore_offset == 0x2008);
	CHECK(p->note_location == IMAGE_TEXT - 0x4000 + 0x30);
	p = usdt_file__probe(f, 1);
	CHECK(p->location == IMAGE_TEXT + 0x30 && !p->has_semaphore);
	usdt_file__close(f);
}

T(without_section_headers_note_segments_are_read)
{
	struct image im = image_begin(EM_X86_64, true, false);
	struct usdt_file *f;

	im.with_sections = false;
	for (unsigned i = 0; i < 2; i++) {
		image_part(&im);
		IMAGE_PROBE(&im, IMAGE_TEXT + i, 0, 0, "p\0a\0");
	}
	f = open_image(&im);
	CHECK(usdt_file__count(f) == 2 && usdt_file__source(f) == USDT_FROM_SEGMENTS &&
	      !usdt_file__damaged(f));
	usdt_file__close(f);
}

T(an_object_that_is_not_linked_has_no_addresses)
{
	struct image im = image_begin(EM_X86_64, true, false);
	struct usdt_file *f;

	im.type = ET_REL;
	image_part(&im);
	IMAGE_PROBE(&im, 0, 0, 0, "p\0a\0");
	f = open_image(&im);
	CHECK(usdt_file__count(f) == 1 && !usdt_file__probe(f, 0)->has_location &&
	      !usdt_file__probe(f, 0)->has_offset);
	usdt_file__close(f);
}

T(what_lies_outside_the_file_is_told_apart)
{
	struct image im = image_begin(EM_X86_64, true, false);
	const struct usdt_probe *p;
	struct usdt_file *f;

	image_part(&im);
	IMAGE_PROBE(&im, 0xdead0000, 0, IMAGE_DATA + 0x180,
		    "p\0nowhere\0"); /* semaphore: zero-filled memory */
	IMAGE_PROBE(&im, IMAGE_DATA + 4, 0, IMAGE_TEXT + 4, "p\0swapped\0"); /* data and text swapped */
	IMAGE_PROBE(&im, IMAGE_TEXT + 0xff, 0, IMAGE_DATA + 0xff,
		    "p\0last\0"); /* the second byte is not of the file */
	IMAGE_PROBE(&im, UINT64_MAX, 0, UINT64_MAX, "p\0wrap\0");
	f = open_image(&im);
	p = usdt_file__probe(f, 0);
	CHECK(p->has_location && !p->has_offset && !p->executable && p->ncode == 0);
	CHECK(p->has_semaphore && !p->has_semaphore_offset && !p->semaphore_writable);
	p = usdt_file__probe(f, 1);
	CHECK(p->has_offset && !p->executable && p->has_semaphore_offset && !p->semaphore_writable);
	p = usdt_file__probe(f, 2);
	CHECK(p->has_offset && p->ncode == 1 && !p->has_semaphore_offset);
	p = usdt_file__probe(f, 3);
	CHECK(!p->has_offset && !p->has_semaphore_offset);
	usdt_file__close(f);
}

T(damaged_notes_are_counted_and_the_rest_is_read)
{
	struct image im = image_begin(EM_X86_64, true, false);
	struct usdt_file *f;

	image_part(&im);
	image_raw_note(&im, "stapsdt", 3, "short", 5);                /* no room for three words */
	image_probe(&im, IMAGE_TEXT, 0, 0, "prov\0name\0no end", 16); /* the arguments do not end */
	image_probe(&im, IMAGE_TEXT, 0, 0, "prov\0name", 10);         /* no arguments */
	IMAGE_PROBE(&im, IMAGE_TEXT + 1, 0, 0, "p\0good\0");
	image_raw_note(&im, "GNU", 1, "x", 1);
	image_put(&im, im.from[0] + im.len[0] - 20 + 4, 0xfffffff0, 4); /* it ends behind its section */
	image_part(&im);
	IMAGE_PROBE(&im, IMAGE_TEXT + 2, 0, 0, "p\0other section\0");
	im.len[1] += 7; /* half a header behind it */
	f = open_image(&im);
	CHECKF(usdt_file__count(f) == 2, "%zu", usdt_file__count(f));
	CHECKF(usdt_file__damaged(f) == 4, "%zu", usdt_file__damaged(f));
	usdt_file__close(f);
}

T(no_cut_and_no_changed_byte_is_fatal)
{
	struct image im = image_begin(EM_X86_64, true, false);
	struct usdt_file *f;

	im.base = PROBE_BASE;
	image_part(&im);
	IMAGE_PROBE(&im, IMAGE_TEXT, PROBE_BASE, IMAGE_DATA, PROBE);
	image_end(&im);
	for (size_t n = 0; n < im.size; n += n < 0x200 ? 1 : 61) {
		uint8_t *copy = malloc(n ? n : 1); /* exactly as long, so that a read too far is seen */

		memcpy(copy, im.b, n);
		if (!usdt_file__open_memory("cut", copy, n, &f, NULL))
			usdt_file__close(f);
		free(copy);
	}
	for (size_t at = 0; at < im.size; at++) {
		for (unsigned v = 0; v < 3; v++) {
			uint8_t old = im.b[at];

			if (at >= 0x200 && at < IMAGE_NOTES)
				break;
			im.b[at] = v == 0 ? 0xff : v == 1 ? (uint8_t)(old ^ 1) : 0x80;
			if (!usdt_file__open_memory("changed", im.b, im.size, &f, NULL))
				usdt_file__close(f);
			im.b[at] = old;
		}
	}
}

static void write_file(const char *path, const struct image *im)
{
	FILE *f = fopen(path, "wb");

	CHECK(f && fwrite(im->b, im->size, 1, f) == 1);
	if (f)
		fclose(f);
}

T(notes_come_from_a_debug_file_named_or_found_by_build_id)
{
	char dir[] = "/tmp/gpubpf-usdt.XXXXXX", object[64], debug[96], other[64];
	struct image im = image_begin(EM_X86_64, true, false), dbg = image_begin(EM_X86_64, true, false);
	struct usdt_opts o = { .debug_root = dir };
	struct usdt_err err = { "" };
	struct usdt_file *f;
	int e;

	im.base = PROBE_BASE;
	CHECK(mkdtemp(dir) != NULL);
	snprintf(object, sizeof(object), "%s/object", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	snprintf(debug, sizeof(debug), "%s/.build-id", dir);
	mkdir(debug, 0700);
	snprintf(debug, sizeof(debug), "%s/.build-id/ab", dir);
	mkdir(debug, 0700);
	snprintf(debug, sizeof(debug), "%s/.build-id/ab/cdef12.debug", dir);
	image_part(&im);
	image_raw_note(&im, "GNU", NT_GNU_BUILD_ID, "\xab\xcd\xef\x12", 4);
	image_end(&im);
	write_file(object, &im);
	e = usdt_file__open(object, &o, &f, &err);
	CHECK(e == 0 && usdt_file__count(f) == 0 && !usdt_file__debug_file(f));
	usdt_file__close(f);
	/* The debug file has the addresses from before a prelink, the object's base is the one from after it. */
	image_part(&dbg);
	image_raw_note(&dbg, "GNU", NT_GNU_BUILD_ID, "\xab\xcd\xef\x12", 4);
	IMAGE_PROBE(&dbg, IMAGE_TEXT - 0x4000 + 4, PROBE_BASE - 0x4000, 0, "p\0found\0");
	image_end(&dbg);
	write_file(debug, &dbg);
	e = usdt_file__open(object, &o, &f, &err);
	CHECK(e == 0 && usdt_file__count(f) == 1 && usdt_file__source(f) == USDT_FROM_DEBUG_FILE);
	CHECK(e == 0 && !strcmp(usdt_file__debug_file(f), debug) && usdt_file__probe(f, 0)->offset == 0x1004);
	usdt_file__close(f);
	o.debug_root = "";
	e = usdt_file__open(object, &o, &f, &err);
	CHECK(e == 0 && usdt_file__count(f) == 0);
	usdt_file__close(f);
	o.debug_file = debug;
	e = usdt_file__open(object, &o, &f, &err);
	CHECK(e == 0 && usdt_file__count(f) == 1);
	usdt_file__close(f);
	/* Of another build. */
	dbg.b[dbg.from[0] + 16] ^= 1;
	write_file(other, &dbg);
	o.debug_file = other;
	e = usdt_file__open(object, &o, &f, &err);
	CHECK(e == -ESTALE && !f && strstr(err.msg, "build id"));
	unlink(object);
	unlink(other);
	unlink(debug);
	*strrchr(debug, '/') = 0;
	rmdir(debug);
	*strrchr(debug, '/') = 0;
	rmdir(debug);
	rmdir(dir);
}

T(what_is_no_object_is_refused_with_a_reason)
{
	struct usdt_err err = { "" };
	struct usdt_file *f;

	CHECK(usdt_file__open("/nonexistent/object", NULL, &f, &err) == -ENOENT &&
	      strstr(err.msg, "/nonexistent/object"));
	err.msg[0] = 0;
	CHECK(usdt_file__open("/", NULL, &f, &err) == -ENOEXEC && strstr(err.msg, "regular"));
	err.msg[0] = 0;
	CHECK(usdt_file__open_memory("text", "hello", 5, &f, &err) == -ENOEXEC && strstr(err.msg, "text"));
	CHECK(usdt_file__open_memory("nothing", "", 0, &f, NULL) == -ENOEXEC && !f);
}

TEST_MAIN
