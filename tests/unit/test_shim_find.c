/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <limits.h>

#include "shim/find.c"
#include "t.h"

static char root[64];
static char seen[64][CUPTI_PATH_MAX];
static enum cupti_source source_of[64];
static int nseen, stop_at;
static const char *objects[16];

static void make(const char *path)
{
	char full[PATH_MAX], *slash;
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (slash = strchr(full + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	f = fopen(full, "w");
	CHECK(f != NULL);
	if (f)
		fclose(f);
}

static void begin(void)
{
	snprintf(root, sizeof(root), "/tmp/gpubpf-find-XXXXXX");
	CHECK(mkdtemp(root) != NULL);
	memset(objects, 0, sizeof(objects));
	nseen = stop_at = 0;
}

static void end(void)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", root);
	CHECK(system(cmd) == 0);
}

/* As dl_iterate_phdr() would give them. */
static bool mapped(size_t nth, find_filter *filter, char *out, size_t size)
{
	for (size_t i = 0; i < 16 && objects[i]; i++)
		if (filter(base_of(objects[i])) && !nth--) {
			snprintf(out, size, "%s%s", objects[i][0] == '/' ? root : "", objects[i]);
			return true;
		}
	return false;
}

static int visit(const char *path, enum cupti_source source, void *arg)
{
	(void)arg;
	if (source == CUPTI_FROM_LOADER || nseen == 64)
		return 0;
	source_of[nseen] = source;
	snprintf(seen[nseen++], CUPTI_PATH_MAX, "%s",
		 strncmp(path, root, strlen(root)) ? path : path + strlen(root));
	return nseen == stop_at ? 7 : 0;
}

static int search(const char *setting, const char *library_path, int major)
{
	struct find f = { .root = root,
			  .setting = setting,
			  .library_path = library_path,
			  .major = major,
			  .mapped = mapped };

	nseen = 0;
	return find__each(&f, visit, NULL);
}

#define SEEN(i, path, source)                                                                                \
	CHECKF(nseen > (i) && !strcmp(seen[i], path) && source_of[i] == (source), "%d is %s (%d), not %s",   \
	       i, nseen > (i) ? seen[i] : "none", nseen > (i) ? (int)source_of[i] : -1, path)

/* Its file system may lack it (a deleted file, another root): what is mapped is not looked for on disk. */
T(the_process_first)
{
	char setting[128];

	begin();
	objects[0] = "/opt/app/libfoo.so";
	objects[1] = "/opt/app/libcupti.so.12";
	make("/set/libcupti.so.13");
	snprintf(setting, sizeof(setting), "%s/set", root);
	search(setting, NULL, 0);
	CHECK(nseen == 2);
	SEEN(0, "/opt/app/libcupti.so.12", CUPTI_FROM_PROCESS);
	SEEN(1, "/set/libcupti.so.13", CUPTI_FROM_SETTING);
	stop_at = 1;
	CHECK(search(setting, NULL, 0) == 7 && nseen == 1);
	end();
}

/* Somebody said which: no other is tried, and the driver's age does not matter. */
T(a_setting_is_final)
{
	char file[128], dir[128], plain[128];

	begin();
	make("/a/libcupti.so.2022.3.0");
	make("/b/libcupti.so.12");
	make("/b/libcupti.so.13");
	make("/b/libcupti.so");
	make("/c/libcupti.so");
	make("/usr/local/cuda/lib64/libcupti.so.13");
	snprintf(file, sizeof(file), "%s/a/libcupti.so.2022.3.0", root);
	snprintf(dir, sizeof(dir), "%s/b", root);
	snprintf(plain, sizeof(plain), "%s/c", root);
	search(file, dir, 0);
	CHECK(nseen == 1);
	SEEN(0, "/a/libcupti.so.2022.3.0", CUPTI_FROM_SETTING);
	search(dir, NULL, 11);
	CHECK(nseen == 3);
	SEEN(0, "/b/libcupti.so.13", CUPTI_FROM_SETTING);
	SEEN(1, "/b/libcupti.so.12", CUPTI_FROM_SETTING);
	SEEN(2, "/b/libcupti.so", CUPTI_FROM_SETTING);
	search(plain, NULL, 0);
	CHECK(nseen == 1);
	SEEN(0, "/c/libcupti.so", CUPTI_FROM_SETTING);
	/* A file that is not there is offered, so that its loss is told from no setting. */
	search("/nowhere/libcupti.so.13", NULL, 0);
	CHECK(nseen == 1);
	search("", NULL, 0);
	CHECK(nseen == 1);
	SEEN(0, "/usr/local/cuda/lib64/libcupti.so.13", CUPTI_FROM_TOOLKIT);
	end();
}

T(library_path_newest_first)
{
	char path[512];

	begin();
	make("/one/libcupti.so.12");
	make("/two/libcupti.so.13");
	make("/two/libcupti.so.11.8");
	make("/two/libcuptix.so.13");
	snprintf(path, sizeof(path), ":%s/one;%s/two::/nowhere:%s/one:", root, root, root);
	search(NULL, path, 0);
	CHECK(nseen == 3);
	SEEN(0, "/two/libcupti.so.13", CUPTI_FROM_LIBRARY_PATH);
	SEEN(1, "/one/libcupti.so.12", CUPTI_FROM_LIBRARY_PATH);
	SEEN(2, "/two/libcupti.so.11.8", CUPTI_FROM_LIBRARY_PATH);
	end();
}

/* CUPTI 13 with a driver of CUDA 12 refuses to work, and the wheel's of 12 stands beside it. */
T(not_newer_than_the_driver)
{
	char path[128];

	begin();
	make("/lib/libcupti.so.13");
	make("/lib/libcupti.so.12");
	snprintf(path, sizeof(path), "%s/lib", root);
	search(NULL, path, 12);
	CHECK(nseen == 1);
	SEEN(0, "/lib/libcupti.so.12", CUPTI_FROM_LIBRARY_PATH);
	search(NULL, path, 14);
	CHECK(nseen == 2);
	end();
}

#define SITE "/venv/lib/python3.12/site-packages"

static void check_neighbour(const char *object, const char *real)
{
	char got[PATH_MAX], want[PATH_MAX], full[PATH_MAX];

	begin();
	make(object);
	make(real);
	objects[0] = "/usr/bin/python3";
	objects[1] = object;
	search(NULL, NULL, 0);
	CHECKF(nseen >= 1 && source_of[0] == CUPTI_FROM_NEIGHBOUR, "%s is not found from %s", real, object);
	if (nseen) {
		snprintf(full, sizeof(full), "%s%s", root, seen[0]);
		CHECK(realpath(full, got) != NULL);
		snprintf(want, sizeof(want), "%s%s", root, real);
		CHECKF(!strcmp(got, want), "%s from %s, not %s", got, object, want);
	}
	end();
}

T(beside_the_process_s_libraries)
{
	check_neighbour("/app/libcudart.so.12", "/app/libcupti.so.12");
	check_neighbour("/conda/lib/libcublas.so.12", "/conda/lib/libcupti.so.12");
	/* Wheels of CUDA 11 and 12, of CUDA 13, seen from theirs and from a framework's. */
	check_neighbour(SITE "/nvidia/cublas/lib/libcublas.so.12",
			SITE "/nvidia/cuda_cupti/lib/libcupti.so.12");
	check_neighbour(SITE "/nvidia/cuda_runtime/lib/libcudart.so.11.0",
			SITE "/nvidia/cuda_cupti/lib/libcupti.so.11.8");
	check_neighbour(SITE "/nvidia/cu13/lib/libcudart.so.13", SITE "/nvidia/cu13/lib/libcupti.so.13");
	check_neighbour(SITE "/nvidia/cudnn/lib/libcudnn.so.9", SITE "/nvidia/cu13/lib/libcupti.so.13");
	check_neighbour(SITE "/torch/lib/libtorch_cuda.so", SITE "/nvidia/cu13/lib/libcupti.so.13");
	check_neighbour(SITE "/torch/lib/libc10_cuda.so", SITE "/nvidia/cuda_cupti/lib/libcupti.so.12");
	check_neighbour(SITE "/tensorflow/libtensorflow_framework.so.2",
			SITE "/nvidia/cuda_cupti/lib/libcupti.so.12");
	check_neighbour(SITE "/tensorflow/libtensorflow_framework.so.2",
			SITE "/nvidia/cu13/lib/libcupti.so.13");
	check_neighbour(SITE "/jax_plugins/xla_cuda12/xla_cuda_plugin.so",
			SITE "/nvidia/cuda_cupti/lib/libcupti.so.12");
	/* Toolkits. */
	check_neighbour("/data/cuda-12.4/lib64/libcudart.so.12",
			"/data/cuda-12.4/extras/CUPTI/lib64/libcupti.so.12");
	check_neighbour("/data/cuda-12.4/targets/x86_64-linux/lib/libcudart.so.12",
			"/data/cuda-12.4/extras/CUPTI/lib64/libcupti.so.12");
}

T(order_of_the_places)
{
	char path[128];

	begin();
	make("/lp/libcupti.so.12");
	make("/app/libcudart.so.13");
	make("/app/libcupti.so.13");
	make("/usr/local/cuda-12.4/extras/CUPTI/lib64/libcupti.so.12");
	make("/usr/local/cuda-13.0/lib64/libcupti.so.13");
	make("/usr/local/cuda-11.8/targets/" TARGET "/lib/libcupti.so.11.8");
	make("/usr/local/cudalike/lib64/libcupti.so.13");
	make("/usr/lib/" MULTIARCH "/libcupti.so.11.8");
	objects[0] = "/app/libcudart.so.13";
	snprintf(path, sizeof(path), "%s/lp", root);
	search(NULL, path, 0);
	CHECK(nseen == 6);
	SEEN(0, "/lp/libcupti.so.12", CUPTI_FROM_LIBRARY_PATH);
	SEEN(1, "/app/libcupti.so.13", CUPTI_FROM_NEIGHBOUR);
	SEEN(2, "/usr/local/cuda-13.0/lib64/libcupti.so.13", CUPTI_FROM_TOOLKIT);
	SEEN(3, "/usr/local/cuda-12.4/extras/CUPTI/lib64/libcupti.so.12", CUPTI_FROM_TOOLKIT);
	SEEN(4, "/usr/local/cuda-11.8/targets/" TARGET "/lib/libcupti.so.11.8", CUPTI_FROM_TOOLKIT);
	SEEN(5, "/usr/lib/" MULTIARCH "/libcupti.so.11.8", CUPTI_FROM_TOOLKIT);
	end();
}

/* Paths longer than we hold, and more folders than we hold, are left out, not cut. */
T(long_paths)
{
	char path[20000];
	size_t at = 0;

	begin();
	make("/last/libcupti.so.13");
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	at = snprintf(path + CUPTI_PATH_MAX, sizeof(path) - CUPTI_PATH_MAX, ":%s/last", root);
	search(NULL, path, 0);
	CHECK(nseen == 1);
	path[CUPTI_PATH_MAX + at] = 'x';
	path[sizeof(path) - 1] = '\0';
	search(NULL, path, 0);
	CHECK(nseen == 0);
	end();
}

/* A name that was cut would be another file's. */
T(cut_name)
{
	char dir[CUPTI_PATH_MAX + 64], file[CUPTI_PATH_MAX + 128];
	int n;

	begin();
	n = snprintf(dir, sizeof(dir), "%s/%0200d/%0200d/%0200d/%0200d/", root, 1, 2, 3, 4);
	snprintf(dir + n, sizeof(dir) - n, "%0*d", CUPTI_PATH_MAX - 17 - n, 5);
	snprintf(file, sizeof(file), "%s/libcupti.so.11.", dir + strlen(root));
	CHECK(strlen(root) + strlen(file) == CUPTI_PATH_MAX - 1);
	make(file);
	search(NULL, dir, 0);
	CHECK(nseen == 0);
	end();
}

T(objects_of_this_process)
{
	char path[CUPTI_PATH_MAX] = "";

	CHECK(!find__in_process(0, is_cupti, path, sizeof(path)));
	CHECK(!find__in_process(0, find__is_driver, path, sizeof(path)));
	CHECK(!path[0]);
}

static bool is_libc(const char *base)
{
	return starts_with(base, "libc.so");
}

T(libc_is_mapped)
{
	char path[CUPTI_PATH_MAX] = "", small[8];

	CHECK(find__in_process(0, is_libc, path, sizeof(path)) && strstr(path, "/libc.so"));
	CHECK(!find__in_process(1, is_libc, path, sizeof(path)));
	CHECK(!find__in_process(0, is_libc, small, sizeof(small)));
}

TEST_MAIN
