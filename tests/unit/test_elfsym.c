/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entry points of library files: found, missing, aliased, refused; and files that are none (C9). */
#include "t.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/elfsym.h"
#include "util/err.h"
#include "util/file.h"

static char dir[] = "/tmp/gpubpf-elfsym-XXXXXX";
static struct apitab *tab;

static bool compiled(const char *name, const char *source, const char *flags)
{
	char cmd[4096];

	if (!tab && (!mkdtemp(dir) || apitab__builtin(&tab)))
		return false;
	snprintf(cmd, sizeof(cmd),
		 "printf '%%s' '%s' | ${CC:-cc} -x c -shared -fPIC %s -o %s/%s - 2>/dev/null", source, flags,
		 dir, name);
	return system(cmd) == 0;
}

static int read_file(const char *name, struct elfsyms *s, struct err *err)
{
	char path[256];

	err->msg[0] = 0;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return elfsyms_read(path, tab, s, err);
}

static const struct elfsym *sym(const struct elfsyms *s, const char *symbol)
{
	for (size_t i = 0; i < s->n; i++) {
		if (!strcmp(apitab__get(tab, (uint32_t)i)->symbol, symbol))
			return &s->syms[i];
	}
	return NULL;
}

T(found_missing_alias_refused)
{
	struct elfsyms s;
	struct err err;

	if (!compiled("lib.so",
		      "int cuInit(unsigned f){return f;} int cuCtxSynchronize(void){return 1;}"
		      "int cuMemFree_v2(long p) __attribute__((alias(\"cuInit\")));"
		      "int cuMemAlloc_v2 = 3;",
		      "-Wl,--build-id=0x01020304"))
		SKIP("a C compiler");
	CHECKF(!read_file("lib.so", &s, &err), "%s", err.msg);
	CHECK(sym(&s, "cuInit")->state == ELFSYM_FOUND && sym(&s, "cuInit")->offset);
	CHECK(sym(&s, "cuCtxSynchronize")->state == ELFSYM_FOUND);
	CHECK(sym(&s, "cuLaunchKernel")->state == ELFSYM_MISSING);
	CHECK(sym(&s, "cuMemFree_v2")->state == ELFSYM_ALIAS);
	CHECK(!strcmp(apitab__get(tab, sym(&s, "cuMemFree_v2")->alias_of)->symbol, "cuInit"));
	CHECK(sym(&s, "cuMemAlloc_v2")->state == ELFSYM_REFUSED);
	CHECK(s.build_id_len == 4 && s.build_id[3] == 4);
	elfsyms_free(&s);
}

/* C9: an object that only imports cuLaunchKernel has a symbol of that name, at 0. */
T(C9_importer_is_refused)
{
	struct elfsyms s;
	struct err err;

	if (!compiled("imp.so", "int cuLaunchKernel(); int f(void){return cuLaunchKernel();}", ""))
		SKIP("a C compiler");
	CHECK(read_file("imp.so", &s, &err) == -ENOENT);
	CHECKF(strstr(err.msg, "only imports"), "%s", err.msg);
}

T(an_object_with_nothing_of_it)
{
	struct elfsyms s;
	struct err err;

	if (!compiled("none.so", "int f(void){return 1;}", ""))
		SKIP("a C compiler");
	CHECK(read_file("none.so", &s, &err) == -ENOENT && strstr(err.msg, "defines no entry point"));
}

T(no_elf_and_no_file)
{
	struct elfsyms s;
	struct err err;
	char path[256];
	int fd;

	if (!compiled("x.so", "int f;", ""))
		SKIP("a C compiler");
	CHECK(read_file("absent", &s, &err) == -ENOENT && strstr(err.msg, "cannot open"));
	snprintf(path, sizeof(path), "%s/text", dir);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	CHECK(write(fd, "not an ELF file", 15) == 15);
	close(fd);
	CHECK(read_file("text", &s, &err) == -ENOEXEC && strstr(err.msg, "no ELF"));
}

/* Every truncation and a walk of flipped bytes through the headers: an error or fewer symbols, never a crash. */
T(damaged_files)
{
	struct elfsyms s;
	struct err err;
	char path[256], *buf;
	size_t n;

	if (!compiled("d.so", "int cuInit(unsigned f){return f;}", ""))
		SKIP("a C compiler");
	snprintf(path, sizeof(path), "%s/d.so", dir);
	CHECK(!file_read_all(path, 1 << 20, &buf, &n));
	for (size_t i = 0; i < n; i += i < 256 ? 1 : 97) {
		int fd = open(path, O_WRONLY | O_TRUNC);

		CHECK(write(fd, buf, i) == (ssize_t)i);
		close(fd);
		if (!read_file("d.so", &s, &err))
			elfsyms_free(&s);
	}
	for (size_t i = 0; i < n; i += i < 1024 ? 1 : 31) {
		int fd = open(path, O_WRONLY | O_TRUNC);

		buf[i] ^= (char)0xff;
		CHECK(write(fd, buf, n) == (ssize_t)n);
		buf[i] ^= (char)0xff;
		close(fd);
		if (!read_file("d.so", &s, &err))
			elfsyms_free(&s);
	}
	free(buf);
}

static void clean(void)
{
	char cmd[128];

	apitab__free(tab);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	if (!strchr(dir, 'X') && system(cmd))
		perror("rm");
}

int main(int argc, char **argv)
{
	int r = t_main(argc, argv);

	clean();
	return r;
}
