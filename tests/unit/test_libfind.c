/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where libcuda is looked for: mappings, library path, run path, loader cache, other roots (C8). */
#include "t.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/ldcache.h"
#include "attach/libfind.h"
#include "attach/runpath.h"
#include "util/err.h"

static char dir[] = "/tmp/gpubpf-libfind-XXXXXX";

static const char *at(const char *name)
{
	static char path[4][512];
	static int turn;
	char *p = path[turn++ & 3];

	if (strchr(dir, 'X') && !mkdtemp(dir))
		perror(dir);
	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static void put(const char *name, const void *data, size_t n)
{
	int fd;

	for (char *s = strchr(name, '/'); s; s = strchr(s + 1, '/')) {
		char part[256];

		snprintf(part, sizeof(part), "%.*s", (int)(s - name), name);
		mkdir(at(part), 0755);
	}
	fd = open(at(name), O_CREAT | O_TRUNC | O_WRONLY, 0755);
	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		perror(name);
	close(fd);
}

static bool has(const struct liblist *l, const char *path)
{
	for (size_t i = 0; i < l->n; i++) {
		if (!strcmp(l->files[i].path, path))
			return true;
	}
	return false;
}

T(names)
{
	CHECK(libfind_is_libcuda("/usr/lib/libcuda.so.1"));
	CHECK(libfind_is_libcuda("libcuda.so"));
	CHECK(libfind_is_libcuda("/x/libcuda.so.580.159.03"));
	CHECK(libfind_is_libcuda("/x/libcuda.so.1 (deleted)"));
	CHECK(!libfind_is_libcuda("/usr/lib/libcudart.so.13"));
	CHECK(!libfind_is_libcuda("/usr/lib/libcuda.so1"));
	CHECK(!libfind_is_libcuda("/libcuda.so.1/x"));
	CHECK(!libfind_is_libcuda(""));
}

T(mapped_file_is_found_under_its_name_and_when_deleted)
{
	struct liblist l = { NULL, 0 };
	int fd;
	void *map;

	put("lib/libcuda.so.1", "0123456789", 10);
	fd = open(at("lib/libcuda.so.1"), O_RDONLY);
	map = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	CHECK(map != MAP_FAILED);
	CHECK(!libfind_mapped(&l, getpid()));
	CHECK(l.n == 1 && l.files[0].mapped && !l.files[0].deleted);
	CHECK(l.n && has(&l, at("lib/libcuda.so.1")));
	CHECK(!libfind_mapped(&l, getpid()) && l.n == 1);
	liblist_free(&l);
	unlink(at("lib/libcuda.so.1"));
	put("lib/libcuda.so.1", "another file of the same name", 29);
	if (libfind_mapped(&l, getpid()) == -EPERM)
		SKIP("CAP_CHECKPOINT_RESTORE");
	CHECK(l.n == 1 && l.files[0].deleted);
	if (l.n) {
		struct stat st;

		CHECK(!stat(l.files[0].open_path, &st) && st.st_size == 10);
	}
	liblist_free(&l);
	munmap(map, 4096);
	close(fd);
}

T(no_such_process)
{
	struct liblist l = { NULL, 0 };

	CHECK(libfind_mapped(&l, 999999999) == -ESRCH);
	CHECK(l.n == 0);
}

T(library_path_with_relative_and_empty_entries)
{
	struct liblist l = { NULL, 0 };
	char path[1024];

	put("a/libcuda.so.1", "a", 1);
	put("cwd/b/libcuda.so.1", "b", 1);
	put("cwd/libcuda.so.1", "c", 1);
	snprintf(path, sizeof(path), "/nonexistent:%s:b:", at("a"));
	CHECK(!libfind_candidates(&l, "", at("cwd"), path, NULL));
	CHECK(has(&l, at("a/libcuda.so.1")));
	CHECK(has(&l, at("cwd/b/libcuda.so.1")));
	liblist_free(&l);
	snprintf(path, sizeof(path), ":%s", at("a"));
	CHECK(!libfind_candidates(&l, "", at("cwd"), path, NULL));
	CHECK(has(&l, at("cwd//libcuda.so.1")));
	liblist_free(&l);
}

/* C8: below another root an absolute link leads within that root, never into ours. */
T(C8_links_stay_below_the_root)
{
	struct liblist l = { NULL, 0 };
	bool found = false;

	if (LACKS_SYSCALL(SYS_openat2))
		SKIP("openat2(2)");
	put("root/opt/real/libcuda.so.580.1.2", "driver", 6);
	put("root/usr/lib64/keep", "", 0);
	unlink(at("root/usr/lib64/libcuda.so.1"));
	CHECK(!symlink("/opt/real/libcuda.so.580.1.2", at("root/usr/lib64/libcuda.so.1")));
	CHECK(!libfind_candidates(&l, at("root"), NULL, NULL, NULL));
	for (size_t i = 0; i < l.n; i++) {
		char version[64];
		struct stat st;

		if (strcmp(l.files[i].path, "/usr/lib64/libcuda.so.1") != 0)
			continue;
		found = true;
		CHECK(!stat(l.files[i].open_path, &st) && st.st_size == 6);
		CHECK(libfind_version(&l.files[i], version, sizeof(version)) && !strcmp(version, "580.1.2"));
	}
	CHECK(found);
	liblist_free(&l);
}

static void put_cache(uint32_t nlibs, uint32_t value_at)
{
	struct {
		char magic[20];
		uint32_t nlibs, strings;
		uint8_t flags[4];
		uint32_t ext, unused[3];
		struct {
			int32_t flags;
			uint32_t key, value, os;
			uint64_t hw;
		} __attribute__((packed)) e[1];
		char s[64];
	} __attribute__((packed)) c = { "", nlibs, 64, { 0 }, 0, { 0 }, { { 3, 0, 0, 0, 0 } }, "" };
	uint32_t base = (uint32_t) __builtin_offsetof(__typeof__(c), s);

	memcpy(c.magic, "glibc-ld.so.cache1.1", 20);
	memcpy(c.s, "libcuda.so.1\0/driver/libcuda.so.1", 34);
	c.e[0].key = base;
	c.e[0].value = value_at ? value_at : base + 13;
	put("cache", &c, sizeof(c));
}

static void count_paths(const char *path, void *arg)
{
	if (!strcmp(path, "/driver/libcuda.so.1"))
		(*(int *)arg)++;
}

T(loader_cache)
{
	int n = 0;

	put_cache(1, 0);
	CHECK(!ldcache_lookup(at("cache"), "libcuda.so.1", count_paths, &n) && n == 1);
	CHECK(!ldcache_lookup(at("cache"), "libother.so.1", count_paths, &n) && n == 1);
	put_cache(0xffffffff, 0); /* more entries than the file holds */
	ldcache_lookup(at("cache"), "libcuda.so.1", count_paths, &n);
	put_cache(1, 0x7fffffff); /* a string outside the file */
	CHECK(!ldcache_lookup(at("cache"), "libcuda.so.1", count_paths, &n));
	put("cache", "glibc-ld.so.cache1.1", 20);
	CHECK(ldcache_lookup(at("cache"), "libcuda.so.1", count_paths, &n) == -EBADMSG);
	put("cache", "", 0);
	CHECK(ldcache_lookup(at("cache"), "libcuda.so.1", count_paths, &n) == -EBADMSG);
	CHECK(ldcache_lookup(at("absent"), "libcuda.so.1", count_paths, &n) == -ENOENT);
}

T(run_path_with_origin)
{
	char cmd[1200], *run = NULL;
	struct liblist l = { NULL, 0 };

	put("app/keep", "", 0);
	put("app/drv/libcuda.so.1", "d", 1);
	snprintf(
		cmd, sizeof(cmd),
		"echo 'int main(void){return 0;}' | ${CC:-cc} -x c - -Wl,-rpath,'$ORIGIN/drv' -o %s 2>/dev/null",
		at("app/prog"));
	if (system(cmd))
		SKIP("a C compiler");
	CHECK(!runpath_read("", at("app/prog"), &run));
	CHECKF(run && !strcmp(run, at("app/drv")), "%s", run ? run : "none");
	free(run);
	CHECK(!libfind_candidates(&l, "", NULL, NULL, at("app/prog")));
	CHECK(has(&l, at("app/drv/libcuda.so.1")));
	liblist_free(&l);
	CHECK(runpath_read("", at("app/keep"), &run) == -ENOENT);
	CHECK(runpath_read("", "relative", &run) == -EINVAL);
}

int main(int argc, char **argv)
{
	char cmd[128];
	int r = t_main(argc, argv);

	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	if (!strchr(dir, 'X') && system(cmd))
		perror("rm");
	return r;
}
