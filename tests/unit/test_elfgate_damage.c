// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Damaged files: cut anywhere, and with bits of the structures flipped. None crashes the reader (this runs under
 * sanitizers too), and none that was cut passes.
 */
#include "t.h"

#include <elf.h>
#include <sys/mman.h>

#include "elfgate/distros.h"
#include "elfgate_objects.h"

struct image {
	unsigned char *bytes;
	size_t size;
	int fd;
};

static bool load(struct image *im, const char *path)
{
	FILE *f = fopen(path, "rb");

	*im = (struct image){ .bytes = malloc(1 << 20), .fd = memfd_create("image", 0) };
	if (f && im->bytes)
		im->size = fread(im->bytes, 1, 1 << 20, f);
	if (f)
		fclose(f);
	return im->size && im->fd >= 0;
}

static void unload(struct image *im)
{
	free(im->bytes);
	if (im->fd >= 0)
		close(im->fd);
}

static enum elfgate_state verdict(const struct image *im, size_t size, const struct elfgate_profile *p)
{
	enum elfgate_state state = ELFGATE_NOT_EVALUABLE;
	struct elfgate_loading loading = { 0 };
	struct elfgate_report report = { 0 };
	struct elfgate_error err = { "" };
	struct elfobj *obj;

	CHECK(!ftruncate(im->fd, 0) && pwrite(im->fd, im->bytes, size, 0) == (ssize_t)size);
	if (elfobj__open_fd(&obj, im->fd, &err)) {
		CHECK(*err.msg);
		return state;
	}
	CHECK(!elfgate_judge(obj, p, &report) && !elfgate_loading(obj, &loading));
	state = report.verdict;
	elfgate_report__free(&report);
	elfgate_loading__free(&loading);
	elfobj__close(obj);
	return state;
}

static void cut(const char *arch)
{
	struct elfgate_error err = { "" };
	struct elfgate_profile *p = NULL;
	struct image im = { .fd = -1 };
	char path[512];

	if (!object_path(path, sizeof(path), arch, "good"))
		SKIP("objects of this architecture: a compiler for it when `make` made them");
	CHECK(!elfgate_profile__builtin(&p, "shim", &err));
	CHECK(load(&im, path));
	CHECK(verdict(&im, im.size, p) == ELFGATE_PASS);
	/* Each length up to the end of the dynamic linker's tables and near the end of the file, else each 61st. */
	for (size_t n = 0; n < im.size; n += n < 4096 || im.size - n < 2500 ? 1 : 61) {
		enum elfgate_state v = verdict(&im, n, p);

		CHECKF(v == ELFGATE_NOT_EVALUABLE, "%s cut to %zu of %zu bytes: %s", arch, n, im.size,
		       elfgate_state_name(v));
	}
	unload(&im);
	elfgate_profile__free(p);
}

T(elfgate_no_cut_file_passes_x86_64)
{
	cut("x86_64");
}

T(elfgate_no_cut_file_passes_aarch64)
{
	cut("aarch64");
}

/* Of each byte one bit, and all. */
static void flip(struct image *im, const struct elfgate_profile *p, size_t from, size_t to)
{
	for (size_t i = from; i < to && i < im->size; i++) {
		const unsigned char masks[] = { (unsigned char)(1u << (i * 5 + i / 8) % 8), 0xff };

		for (int k = 0; k < 2; k++) {
			im->bytes[i] ^= masks[k];
			verdict(im, im->size, p);
			im->bytes[i] ^= masks[k];
		}
	}
}

/* The header, the program headers, and what PT_DYNAMIC and the section headers cover. */
static void flip_object(const char *name)
{
	struct elfgate_error err = { "" };
	struct elfgate_profile *p = NULL;
	struct image im = { .fd = -1 };
	const Elf64_Phdr *ph;
	const Elf64_Ehdr *e;
	char path[512];
	Elf64_Ehdr head;

	if (!object_path(path, sizeof(path), "x86_64", name) &&
	    !object_path(path, sizeof(path), "aarch64", name))
		SKIP("an object");
	CHECK(!elfgate_profile__builtin(&p, "shim", &err));
	CHECK(load(&im, path));
	e = (const Elf64_Ehdr *)(const void *)im.bytes;
	head = *e;
	ph = (const Elf64_Phdr *)(const void *)(im.bytes + head.e_phoff);
	flip(&im, p, 0, sizeof(head) + (size_t)head.e_phnum * sizeof(*ph));
	for (int i = 0; i < head.e_phnum; i++) {
		size_t at = ph[i].p_offset;

		if (ph[i].p_type == PT_DYNAMIC || ph[i].p_type == PT_NOTE)
			flip(&im, p, at, at + ph[i].p_filesz);
	}
	/* Hash table, symbols, strings, versions and relocations stand between the headers and the code. */
	flip(&im, p, sizeof(head) + (size_t)head.e_phnum * sizeof(*ph), 2600);
	flip(&im, p, head.e_shoff, head.e_shoff + (size_t)head.e_shnum * sizeof(Elf64_Shdr));
	unload(&im);
	elfgate_profile__free(p);
}

T(elfgate_flipped_bits_of_a_library)
{
	flip_object("good");
}

T(elfgate_flipped_bits_of_a_bpf_object)
{
	flip_object("bpf-good");
}

/* What the fuzzer found, and files made by hand; each is a file of tests/elfgate/hostile. */
T(elfgate_hostile_files)
{
	struct elfgate_error err = { "" };
	struct elfgate_profile *p = NULL;
	FILE *list = popen("ls tests/elfgate/hostile/* 2>/dev/null", "r");
	char path[512];
	int n = 0;

	CHECK(!elfgate_profile__builtin(&p, "shim", &err));
	while (list && fgets(path, sizeof(path), list)) {
		struct image im = { .fd = -1 };

		path[strcspn(path, "\n")] = 0;
		CHECKF(load(&im, path), "%s", path);
		CHECKF(verdict(&im, im.size, p) != ELFGATE_PASS, "%s passes", path);
		unload(&im);
		n++;
	}
	if (list)
		pclose(list);
	elfgate_profile__free(p);
	CHECK(n > 0);
}

TEST_MAIN
