/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/runpath.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Replaces $ORIGIN and ${ORIGIN} by `origin`. */
static char *expand(const char *s, const char *origin, size_t origin_len)
{
	char *out = NULL;
	size_t n;
	FILE *f = open_memstream(&out, &n);

	if (!f)
		return NULL;
	while (*s) {
		size_t skip = strncmp(s, "$ORIGIN", 7) == 0 ? 7 : strncmp(s, "${ORIGIN}", 9) == 0 ? 9 : 0;

		if (skip)
			fwrite(origin, 1, origin_len, f);
		else
			fputc(*s, f);
		s += skip ? skip : 1;
	}
	fclose(f);
	return out;
}

static const char *find_runpath(Elf *elf)
{
	const char *rpath = NULL;
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data;
		GElf_Shdr sh;
		GElf_Dyn dyn;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_DYNAMIC || !(data = elf_getdata(scn, NULL)))
			continue;
		for (int i = 0; gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
			if (dyn.d_tag == DT_RUNPATH)
				return elf_strptr(elf, sh.sh_link, dyn.d_un.d_val);
			if (dyn.d_tag == DT_RPATH)
				rpath = elf_strptr(elf, sh.sh_link, dyn.d_un.d_val);
		}
	}
	return rpath;
}

int runpath_read(const char *root, const char *exe, char **out)
{
	const char *slash = strrchr(exe, '/'), *run = NULL;
	char path[PATH_MAX];
	Elf *elf;
	int fd;

	if (!slash || (size_t)snprintf(path, sizeof(path), "%s%s", root, exe) >= sizeof(path))
		return -EINVAL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	*out = NULL;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		run = find_runpath(elf);
	if (run)
		*out = expand(run, exe, (size_t)(slash - exe));
	elf_end(elf);
	close(fd);
	return *out ? 0 : -ENOENT;
}
