/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One ELF file: where it is mapped, and its notes. libelf reads the headers; the notes' bytes are walked here,
 * because their words must be read by the note's own rules whatever the section claims to hold. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "priv.h"

/* Linkers make about ten; more than this only costs time. */
#define SEGMENTS_MAX 1024

int usdt_err_set(struct usdt_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err || err->msg[0])
		return code;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	return code;
}

uint32_t usdt_image_u32(const struct usdt_image *im, const uint8_t *p)
{
	return im->is_big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
			  : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

uint64_t usdt_image_word(const struct usdt_image *im, const uint8_t *p)
{
	uint64_t first = usdt_image_u32(im, p);

	if (!im->is_64)
		return first;
	return im->is_big ? first << 32 | usdt_image_u32(im, p + 4)
			  : (uint64_t)usdt_image_u32(im, p + 4) << 32 | first;
}

static int read_segments(struct usdt_image *im)
{
	size_t n = 0;

	if (elf_getphdrnum(im->elf, &n))
		n = 0;
	for (size_t i = 0; i < n && im->nsegments < SEGMENTS_MAX; i++) {
		struct usdt_segment *grown;
		GElf_Phdr ph;

		if (!gelf_getphdr(im->elf, (int)i, &ph) || ph.p_type != PT_LOAD)
			continue;
		grown = realloc(im->segments, (im->nsegments + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		im->segments = grown;
		im->segments[im->nsegments++] = (struct usdt_segment){
			.vaddr = ph.p_vaddr,
			.offset = ph.p_offset,
			.filesz = ph.p_filesz,
			.memsz = ph.p_memsz,
			.executable = ph.p_flags & PF_X,
			.writable = ph.p_flags & PF_W,
		};
	}
	return 0;
}

static void read_sections(struct usdt_image *im)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(im->elf, &names))
		names = SHN_UNDEF;
	while ((scn = elf_nextscn(im->elf, scn))) {
		GElf_Shdr sh;
		const char *name;

		if (!gelf_getshdr(scn, &sh))
			continue;
		im->has_sections = true;
		name = names == SHN_UNDEF ? NULL : elf_strptr(im->elf, names, sh.sh_name);
		if (!im->has_base && name && strcmp(name, ".stapsdt.base") == 0) {
			im->has_base = true;
			im->base = sh.sh_addr;
		}
	}
}

static int take_build_id(const struct usdt_note *n, void *arg)
{
	struct usdt_image *im = arg;

	if (n->type != NT_GNU_BUILD_ID || n->namesz != 4 || memcmp(n->name, "GNU", 4) != 0 ||
	    n->descsz > sizeof(im->build_id))
		return 0;
	memcpy(im->build_id, n->desc, n->descsz);
	im->build_id_len = n->descsz;
	return 1;
}

static int image_read(struct usdt_image *im, const char *name, struct usdt_err *err)
{
	int stopped = 0, e;

	if (!im->elf || elf_kind(im->elf) != ELF_K_ELF || !gelf_getehdr(im->elf, &im->eh))
		return usdt_err_set(err, -ENOEXEC, "%s is no ELF file, or its header is damaged", name);
	im->raw = (const uint8_t *)elf_rawfile(im->elf, &im->size);
	if (!im->raw)
		return usdt_err_set(err, -EIO, "%s cannot be read: %s", name, elf_errmsg(-1));
	im->is_64 = gelf_getclass(im->elf) == ELFCLASS64;
	im->is_big = im->eh.e_ident[EI_DATA] == ELFDATA2MSB;
	e = read_segments(im);
	if (e)
		return usdt_err_set(err, e, "%s: out of memory", name);
	read_sections(im);
	usdt_image_notes(im, take_build_id, im, &stopped);
	return 0;
}

int usdt_image_open(struct usdt_image *im, const char *path, struct usdt_err *err)
{
	struct stat st;

	memset(im, 0, sizeof(*im));
	/* A named pipe would wait for a writer. */
	im->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (im->fd < 0)
		return usdt_err_set(err, -errno, "cannot open %s: %s", path, strerror(errno));
	if (fstat(im->fd, &st))
		return usdt_err_set(err, -errno, "cannot examine %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return usdt_err_set(err, -ENOEXEC, "%s is no regular file", path);
	if (elf_version(EV_CURRENT) == EV_NONE)
		return usdt_err_set(err, -EINVAL, "libelf is older than its header: %s", elf_errmsg(-1));
	im->elf = elf_begin(im->fd, ELF_C_READ_MMAP, NULL);
	return image_read(im, path, err);
}

int usdt_image_open_memory(struct usdt_image *im, const char *name, const void *image, size_t size,
			   struct usdt_err *err)
{
	memset(im, 0, sizeof(*im));
	im->fd = -1;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return usdt_err_set(err, -EINVAL, "libelf is older than its header: %s", elf_errmsg(-1));
	/* libelf writes nothing into an image that it only reads. */
	im->elf = elf_memory((char *)(uintptr_t)image, size);
	return image_read(im, name, err);
}

void usdt_image_close(struct usdt_image *im)
{
	if (im->elf)
		elf_end(im->elf);
	if (im->fd >= 0)
		close(im->fd);
	free(im->segments);
	memset(im, 0, sizeof(*im));
	im->fd = -1;
}

const struct usdt_segment *usdt_image_segment(const struct usdt_image *im, uint64_t vaddr, uint64_t len)
{
	for (size_t i = 0; i < im->nsegments; i++) {
		const struct usdt_segment *s = &im->segments[i];

		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->memsz && len <= s->memsz - (vaddr - s->vaddr))
			return s;
	}
	return NULL;
}

bool usdt_image_offset(const struct usdt_image *im, const struct usdt_segment *s, uint64_t vaddr,
		       uint64_t len, uint64_t *offset)
{
	uint64_t into = vaddr - s->vaddr;

	if (into > s->filesz || len > s->filesz - into)
		return false;
	if (s->offset > im->size || into > im->size - s->offset || len > im->size - s->offset - into)
		return false;
	*offset = s->offset + into;
	return true;
}

struct walk {
	int (*fn)(const struct usdt_note *n, void *arg);
	void *arg;
	int *stopped;
	size_t damaged;
	uint64_t
		budget; /* overlapping sections of a hostile file hold no more notes than the file has bytes */
};

static bool only_zeros(const uint8_t *p, uint64_t n)
{
	while (n--) {
		if (*p++)
			return false;
	}
	return true;
}

static void walk_notes(const struct usdt_image *im, uint64_t at, uint64_t size, uint64_t align,
		       struct walk *w)
{
	uint64_t pad = align == 8 ? 7 : 3, pos = 0;

	if (at > im->size || size > im->size - at || size > w->budget) {
		w->damaged++;
		return;
	}
	w->budget -= size;
	while (size - pos >= 12 && !*w->stopped) {
		const uint8_t *p = im->raw + at + pos;
		struct usdt_note n = {
			.namesz = usdt_image_u32(im, p),
			.descsz = usdt_image_u32(im, p + 4),
			.type = usdt_image_u32(im, p + 8),
			.offset = at + pos,
		};
		/* Lengths have 32 bits, so that none of this can wrap. */
		uint64_t desc = (12 + (uint64_t)n.namesz + pad) & ~pad, end = desc + n.descsz;

		if (end > size - pos || 12 + (uint64_t)n.namesz > size - pos) {
			w->damaged++;
			return;
		}
		n.name = p + 12;
		n.desc = p + desc;
		*w->stopped = w->fn(&n, w->arg);
		pos += (end + pad) & ~pad;
		if (pos > size)
			pos = size;
	}
	if (!*w->stopped && !only_zeros(im->raw + at + pos, size - pos))
		w->damaged++;
}

size_t usdt_image_notes(const struct usdt_image *im, int (*fn)(const struct usdt_note *n, void *arg),
			void *arg, int *stopped)
{
	struct walk w = { .fn = fn, .arg = arg, .stopped = stopped, .budget = im->size };
	Elf_Scn *scn = NULL;
	size_t n = 0;

	*stopped = 0;
	while (im->has_sections && !*stopped && (scn = elf_nextscn(im->elf, scn))) {
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_NOTE)
			continue;
		if (sh.sh_flags & SHF_COMPRESSED)
			w.damaged++;
		else
			walk_notes(im, sh.sh_offset, sh.sh_size, sh.sh_addralign, &w);
	}
	if (im->has_sections || elf_getphdrnum(im->elf, &n))
		return w.damaged;
	for (size_t i = 0; i < n && !*stopped; i++) {
		GElf_Phdr ph;

		if (gelf_getphdr(im->elf, (int)i, &ph) && ph.p_type == PT_NOTE)
			walk_notes(im, ph.p_offset, ph.p_filesz, ph.p_align, &w);
	}
	return w.damaged;
}
