// SPDX-License-Identifier: GPL-2.0-or-later
#include "stacks/debugfile.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define CRC_MAX (1ull << 30) /* a larger file is not read for its checksum: it has a build id */

/* 1: it is that one, 0: another, -1: the file has none. */
static int same_build_id(int fd, const struct debugfile *d)
{
	Elf *elf = d->nbuild_id ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	Elf_Scn *scn = NULL;
	int found = -1;

	while (elf && found < 0 && (scn = elf_nextscn(elf, scn))) {
		size_t at = 0, name, desc;
		Elf_Data *data;
		GElf_Nhdr n;
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_NOTE || !(data = elf_getdata(scn, NULL)))
			continue;
		while (found < 0 && (at = gelf_getnote(data, at, &n, &name, &desc)))
			if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
			    !memcmp((char *)data->d_buf + name, "GNU", 4))
				found = n.n_descsz == d->nbuild_id &&
					!memcmp((char *)data->d_buf + desc, d->build_id, d->nbuild_id);
	}
	elf_end(elf);
	return found;
}

static bool same_crc(int fd, off_t size, uint32_t crc)
{
	bool same;
	void *p;

	if (size <= 0 || (uint64_t)size > CRC_MAX)
		return false;
	p = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return false;
	same = crc32_z(0, p, (size_t)size) == crc;
	munmap(p, (size_t)size);
	return same;
}

/* What neither says is whose is taken only when it cannot be told otherwise: a file that several share has no checksum. */
static int try(const struct debugfile *d, const char *path, bool shared, char **name)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), same;
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		goto other;
	same = shared ? 1 : same_build_id(fd, d);
	if (same < 0)
		same = same_crc(fd, st.st_size, d->crc);
	*name = same ? strdup(path) : NULL;
	if (*name)
		return fd;
other:
	close(fd);
	return -1;
}

static int by_build_id(const struct debugfile *d, const char *root, char **name)
{
	char path[PATH_MAX];
	int n;

	if (d->nbuild_id < 3 || d->nbuild_id > 64)
		return -1;
	n = snprintf(path, sizeof(path), "%s/usr/lib/debug/.build-id/%02x/", root, d->build_id[0]);
	for (size_t i = 1; i < d->nbuild_id; i++)
		n += snprintf(path + n, sizeof(path) - (size_t)n, "%02x", d->build_id[i]);
	snprintf(path + n, sizeof(path) - (size_t)n, ".debug");
	return try(d, path, false, name);
}

static int by_link(const struct debugfile *d, const char *root, char **name)
{
	const char *slash = strrchr(d->file, '/');
	int folder = slash ? (int)(slash - d->file) : 0, fd;
	const char *const under[] = { "", "/.debug" };
	char path[PATH_MAX];

	if (d->link[0] == '/') {
		snprintf(path, sizeof(path), "%s%s", root, d->link);
		return try(d, path, true, name);
	}
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s%.*s%s/%s", root, folder, d->file, under[i], d->link);
		fd = try(d, path, false, name);
		if (fd >= 0)
			return fd;
	}
	snprintf(path, sizeof(path), "%s/usr/lib/debug%.*s/%s", root, folder, d->file, d->link);
	return try(d, path, false, name);
}

int debugfile_open(const struct debugfile *d, char **name)
{
	const char *const roots[] = { d->root, "" };
	int fd = -1;

	for (size_t i = 0; i < 2 && fd < 0; i++) {
		if (i && !d->root[0])
			break;
		fd = by_build_id(d, roots[i], name);
		if (fd < 0 && d->link && d->link[0])
			fd = by_link(d, roots[i], name);
	}
	return fd;
}
