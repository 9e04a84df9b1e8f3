/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract of our probes: an object that keeps it, and one broken in each way. */
#include <errno.h>
#include <stdlib.h>

#include "t.h"
#include "usdt/contract.h"
#include "usdt_image.h"

static const char *const names[] = { "hello_v1", "calls_v1",   "activity_v1",
				     "names_v1", "modules_v1", "status_v1" };

struct spec {
	unsigned machine;
	bool is_64, is_big;
	size_t skip;        /* index of a probe that is left out; 99: none */
	const char *args;   /* of calls_v1; NULL: right */
	uint64_t location;  /* of calls_v1; 0: right */
	uint64_t semaphore; /* of calls_v1; 1: right */
	bool twice;         /* calls_v1 has a second site, with this semaphore: */
	uint64_t semaphore2;
};

static const struct spec right = { EM_X86_64, true, false, 99, NULL, 0, 1, false, 0 };

static void probe(struct image *im, const char *name, const char *args, uint64_t location, uint64_t semaphore)
{
	char strings[128];
	size_t n = 0;

	n += (size_t)sprintf(strings + n, "gpubpf") + 1;
	n += (size_t)sprintf(strings + n, "%s", name) + 1;
	n += (size_t)sprintf(strings + n, "%s", args) + 1;
	image_probe(im, location, 0, semaphore, strings, n);
}

static struct image make(const struct spec *s)
{
	struct image im = image_begin(s->machine, s->is_64, s->is_big);
	const char *args = s->machine == EM_AARCH64 ? "8@x0 8@x1 8@x2" : "8@%rdi 8@%rsi 8@%rdx";

	image_part(&im);
	for (size_t i = 0; i < 6; i++) {
		bool it = i == 1;

		if (i == s->skip)
			continue;
		probe(&im, names[i], it && s->args ? s->args : args,
		      it && s->location ? s->location : IMAGE_TEXT + 8 * i,
		      it && s->semaphore != 1 ? s->semaphore : IMAGE_DATA + 2 * i);
	}
	if (s->twice)
		probe(&im, "calls_v1", args, IMAGE_TEXT + 0x80, s->semaphore2);
	return im;
}

/* Wants exactly these differences, and for each a part of its text. */
static void expect(int line, struct image *im, unsigned machine, size_t n, const enum usdt_diff_kind *kinds,
		   const char *const *parts)
{
	struct usdt_err err = { "" };
	struct usdt_diffs d;
	struct usdt_file *f;

	image_end(im);
	if (usdt_file__open_memory("image", im->b, im->size, &f, &err) ||
	    usdt_contract_check(f, machine, &d, &err)) {
		CHECKF(0, "line %d: %s", line, err.msg);
		return;
	}
	CHECKF(d.n == n, "line %d: %zu differences, not %zu; first '%s'", line, d.n, n,
	       d.n ? d.v[0].what : "");
	for (size_t i = 0; i < n && i < d.n; i++) {
		CHECKF(d.v[i].kind == kinds[i], "line %d: %s, not %s", line, usdt_diff_names[d.v[i].kind],
		       usdt_diff_names[kinds[i]]);
		CHECKF(strstr(d.v[i].what, parts[i]) != NULL, "line %d: '%s' does not say '%s'", line,
		       d.v[i].what, parts[i]);
	}
	usdt_diffs_free(&d);
	usdt_file__close(f);
}

#define EXPECT1(im, machine, kind, part)                                                                     \
	expect(__LINE__, im, machine, 1, (const enum usdt_diff_kind[]){ kind }, (const char *const[]){ part })

T(an_object_that_keeps_the_contract)
{
	struct spec s = right;
	struct image im = make(&s);

	expect(__LINE__, &im, 0, 0, NULL, NULL);
	s.twice = true;
	s.semaphore2 = IMAGE_DATA + 2;
	im = make(&s);
	expect(__LINE__, &im, EM_X86_64, 0, NULL, NULL);
	s.machine = EM_AARCH64;
	im = make(&s);
	expect(__LINE__, &im, EM_AARCH64, 0, NULL, NULL);
	CHECK(usdt_contract_size() == 6 && !usdt_contract_probes[6]);
	for (size_t i = 0; i < 6; i++)
		CHECK(!strcmp(usdt_contract_probes[i], names[i]));
}

T(each_way_to_break_it_is_named)
{
	static const char *const wrong_args[] = {
		"8@%rdi 8@%rdx 8@%rsi",
		"8@%rdi 8@%rsi",
		"8@%rdi 8@%rsi 8@%rdx ",
		"-8@%rdi 8@%rsi 8@%rdx",
		"",
		"8@%rdi 8@%rsi 8@%rdx 8@%rcx",
		"8@x0 8@x1 8@x2",
	};
	struct spec s = right;
	struct image im;

	for (size_t i = 0; i < sizeof(wrong_args) / sizeof(wrong_args[0]); i++) {
		s.args = wrong_args[i];
		im = make(&s);
		EXPECT1(&im, 0, USDT_DIFF_DESCRIPTOR, "calls_v1 at 0x10008: its arguments are '");
	}
	s = right;
	s.skip = 3;
	im = make(&s);
	EXPECT1(&im, 0, USDT_DIFF_MISSING, "no site of gpubpf:names_v1");
	s = right;
	im = make(&s);
	probe(&im, "calls_v9", "8@%rdi 8@%rsi 8@%rdx", IMAGE_TEXT + 0x80, IMAGE_DATA + 0x80);
	EXPECT1(&im, 0, USDT_DIFF_UNKNOWN, "calls_v9 at 0x10080");
	s.location = IMAGE_DATA + 0x40;
	im = make(&s);
	EXPECT1(&im, 0, USDT_DIFF_LOCATION, "calls_v1 at 0x20040: it is not in an executable segment");
	s.location = 0x900000;
	im = make(&s);
	EXPECT1(&im, 0, USDT_DIFF_LOCATION, "calls_v1 at 0x900000");
	s = right;
	im = make(&s);
	im.b[0x1008] = 0x66;
	EXPECT1(&im, 0, USDT_DIFF_INSTRUCTION,
		"calls_v1 at 0x10008: the bytes at the site are 66 and no nop");
	im = make(&s);
	image_raw_note(&im, "stapsdt", 3, "x", 1);
	EXPECT1(&im, 0, USDT_DIFF_DAMAGED, "1 note");
}

T(semaphores_are_one_per_probe_writable_and_zero)
{
	struct spec s = right;
	struct image im;

	s.semaphore = 0;
	im = make(&s);
	EXPECT1(&im, 0, USDT_DIFF_SEMAPHORE, "calls_v1 at 0x10008: it has no semaphore");
	s.semaphore = IMAGE_TEXT + 0x40;
	im = make(&s);
	EXPECT1(&im, 0, USDT_DIFF_SEMAPHORE, "not in a writable segment");
	s.semaphore = IMAGE_DATA + 0x180;
	im = make(&s);
	EXPECT1(&im, 0, USDT_DIFF_SEMAPHORE, "comes from the file");
	s = right;
	im = make(&s);
	im.b[0x2002] = 1;
	EXPECT1(&im, 0, USDT_DIFF_SEMAPHORE, "starts as 1");
	s.twice = true;
	s.semaphore2 = IMAGE_DATA + 0x40;
	im = make(&s);
	EXPECT1(&im, 0, USDT_DIFF_SEMAPHORE,
		"calls_v1 at 0x10080: another site of calls_v1 has another semaphore");
	s = right;
	s.semaphore = IMAGE_DATA;
	im = make(&s);
	expect(__LINE__, &im, 0, 2, (const enum usdt_diff_kind[]){ USDT_DIFF_SEMAPHORE, USDT_DIFF_SEMAPHORE },
	       (const char *const[]){ "shares its semaphore with calls_v1",
				      "shares its semaphore with hello_v1" });
}

T(the_architecture_is_said_once_and_nothing_else_of_the_sites)
{
	struct spec s = right;
	struct image im = make(&s);

	EXPECT1(&im, EM_AARCH64, USDT_DIFF_ARCHITECTURE, "is for x86-64, aarch64 is wanted");
	s.machine = EM_PPC64;
	im = make(&s);
	EXPECT1(&im, 0, USDT_DIFF_ARCHITECTURE, "machine 21");
	s = right;
	s.is_64 = false;
	im = make(&s);
	EXPECT1(&im, 0, USDT_DIFF_ARCHITECTURE, "32-bit");
	s = right;
	s.machine = EM_AARCH64;
	s.is_big = true;
	im = make(&s);
	EXPECT1(&im, 0, USDT_DIFF_ARCHITECTURE, "big-endian");
}

T(an_object_without_our_probes_misses_them_all)
{
	struct image im = image_begin(EM_X86_64, true, false);
	struct usdt_diffs d;
	struct usdt_file *f;

	image_part(&im);
	IMAGE_PROBE(&im, IMAGE_TEXT, 0, 0, "other\0calls_v1\0");
	image_end(&im);
	CHECK(usdt_file__open_memory("image", im.b, im.size, &f, NULL) == 0);
	CHECK(usdt_contract_check(f, 0, &d, NULL) == 0 && d.n == 6 && d.sites == 0);
	for (size_t i = 0; i < d.n; i++)
		CHECK(d.v[i].kind == USDT_DIFF_MISSING && !strcmp(d.v[i].probe, names[i]));
	usdt_diffs_free(&d);
	usdt_file__close(f);
}

T(only_conforming_sites_may_be_attached_to)
{
	struct spec s = right;
	struct usdt_site *sites;
	struct image im;
	struct usdt_file *f;
	size_t n;

	s.args = "8@%rsi 8@%rdi 8@%rdx";
	s.twice = true;
	s.semaphore2 = IMAGE_DATA + 2;
	im = make(&s);
	probe(&im, "calls_v9", "8@%rdi 8@%rsi 8@%rdx", IMAGE_TEXT + 0x90, IMAGE_DATA + 0x80);
	image_end(&im);
	CHECK(usdt_file__open_memory("image", im.b, im.size, &f, NULL) == 0);
	CHECK(usdt_sites(f, EM_X86_64, &sites, &n, NULL) == 0 && n == 7);
	for (size_t i = 0; i < n; i++) {
		bool it = i == 1;

		CHECKF((sites[i].refused[0] != 0) == it, "site %zu: '%s'", i, sites[i].refused);
		CHECK(sites[i].probe == (i < 6 ? i : 1));
	}
	CHECK(!strcmp(sites[1].refused, "calls_v1 at 0x10008: its arguments are '8@%rsi 8@%rdi 8@%rdx', "
					"the contract says '8@%rdi 8@%rsi 8@%rdx'"));
	CHECK(sites[6].location == IMAGE_TEXT + 0x80 && sites[6].offset == 0x1080 &&
	      sites[6].semaphore_offset == 0x2002);
	free(sites);
	/* Of another architecture none may. */
	CHECK(usdt_sites(f, EM_AARCH64, &sites, &n, NULL) == 0 && n == 7);
	for (size_t i = 0; i < n; i++)
		CHECK(strstr(sites[i].refused, "aarch64 is wanted") != NULL);
	free(sites);
	usdt_file__close(f);
}

TEST_MAIN
