/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <gelf.h>
#include <glob.h>
#include <libelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor/doctor.h"

/* The toolkit's own places, the distributions', and LD_LIBRARY_PATH. A wheel's copy is found in its process. */
static const char *const places[] = {
	"/usr/local/cuda*/extras/CUPTI/lib64",
	"/usr/local/cuda*/targets/*/lib",
	"/usr/local/cuda*/lib64",
	"/opt/cuda/extras/CUPTI/lib64",
	"/usr/lib/x86_64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu",
	"/usr/lib64",
};

/* DT_SONAME of a shared object. False: none, or no such object. */
static bool soname_of(const char *path, char *out, size_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool found = false;
	Elf_Scn *scn = NULL;
	Elf *elf;

	if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE)
		return false;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	while (elf && !found && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		Elf_Data *data;
		GElf_Dyn dyn;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_DYNAMIC)
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 0; data && !found && gelf_getdyn(data, i, &dyn); i++) {
			const char *name = dyn.d_tag == DT_SONAME
						   ? elf_strptr(elf, sh.sh_link, dyn.d_un.d_val)
						   : NULL;

			if (name) {
				snprintf(out, n, "%s", name);
				found = true;
			}
		}
	}
	elf_end(elf);
	close(fd);
	return found;
}

static void search(const struct doctor *d, const char *dir, glob_t *found, int *flags)
{
	char pattern[PATH_MAX];

	snprintf(pattern, sizeof(pattern), "%s%s/libcupti.so.*", d->root, dir);
	if (!glob(pattern, *flags, NULL, found))
		*flags |= GLOB_APPEND;
}

/* One finding per file, not per name; the highest soname comes first in the text of the JSON array. */
static void describe(struct doctor *d, const glob_t *found)
{
	char seen[16][PATH_MAX], text[2048] = "";
	json_t *files = json_array();
	size_t n = 0;

	for (size_t i = 0; i < found->gl_pathc && n < 16; i++) {
		char soname[64] = "", *real = realpath(found->gl_pathv[i], NULL);
		size_t at = strlen(text);
		bool again = !real;

		for (size_t k = 0; k < n && !again; k++)
			again = !strcmp(seen[k], real);
		if (!again && soname_of(real, soname, sizeof(soname))) {
			snprintf(seen[n++], PATH_MAX, "%s", real);
			snprintf(text + at, sizeof(text) - at, "%s%s (%s)", at ? ", " : "",
				 real + strlen(d->root), soname);
			json_array_append_new(files, json_pack("{s:s, s:s}", "path", real + strlen(d->root),
							       "soname", soname));
		}
		free(real);
	}
	if (n)
		doctor__add(d, FINDING_OK, false, "cupti", json_pack("{s:o}", "files", files), "%s", text);
	else
		json_decref(files);
	if (!n)
		finding__advise(
			doctor__add(
				d, FINDING_MISSING, false, "cupti", NULL,
				"no libcupti.so in the toolkit's places or LD_LIBRARY_PATH; host-side recording does "
				"without it"),
			"install the CUDA toolkit's CUPTI (package cuda-cupti-13-0 or that of your version), or set "
			"LD_LIBRARY_PATH to where it is");
}

void doctor__check_cupti(struct doctor *d)
{
	char *paths = getenv("LD_LIBRARY_PATH"), *save = NULL;
	glob_t found = { 0 };
	int flags = 0;

	paths = paths && !d->root[0] ? strdup(paths) : NULL;
	for (char *dir = paths ? strtok_r(paths, ":", &save) : NULL; dir; dir = strtok_r(NULL, ":", &save))
		search(d, dir, &found, &flags);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		search(d, places[i], &found, &flags);
	describe(d, &found);
	if (flags)
		globfree(&found);
	free(paths);
}
