/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shim as a file: its names, copies of it, and what doctor says of them. */
#include "t.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "record/shimfile.h"
#include "util/err.h"

static const char bytes[] = "what a shim holds";
static const struct shimfile_image image = { bytes, sizeof(bytes) }, none = { NULL, 0 };

static const char *fresh_dir(void)
{
	static char dir[] = "/tmp/gpubpf-shimfile.XXXXXX";

	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	CHECK(mkdtemp(dir) != NULL);
	return dir;
}

static void remove_dir(const char *dir)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	CHECK(system(command) == 0);
}

static bool holds_bytes(const char *path, struct stat *st)
{
	char got[sizeof(bytes) + 1];
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, got, sizeof(got));

	if (fd >= 0) {
		fstat(fd, st);
		close(fd);
	}
	return n == (ssize_t)sizeof(bytes) && !memcmp(got, bytes, sizeof(bytes));
}

T(names)
{
	CHECK(shimfile_is_shim("/usr/lib/gpubpf/libgpubpf-shim.so"));
	CHECK(shimfile_is_shim("libgpubpf-shim.so"));
	CHECK(shimfile_is_shim("/tmp/libgpubpf-shim.so.a1B2c3"));
	CHECK(shimfile_is_shim("/tmp/libgpubpf-shim.so (deleted)"));
	CHECK(!shimfile_is_shim("/usr/lib/libgpubpf-shim.sources"));
	CHECK(!shimfile_is_shim("/usr/lib/libcuda.so.1"));
	CHECK(!shimfile_is_shim("/libgpubpf-shim.so/libother.so"));
	CHECK(!shimfile_is_shim(""));
}

T(install_is_whole_and_new)
{
	const char *dir = fresh_dir();
	char deep[PATH_MAX], path[PATH_MAX];
	struct stat first = { 0 }, second = { 0 };
	struct err err = { "" };

	snprintf(deep, sizeof(deep), "%s/a/b", dir);
	CHECK(shimfile_install(&image, deep, path, sizeof(path), &err) == 0);
	CHECK(holds_bytes(path, &first) && (first.st_mode & 07777) == 0755);
	CHECK(shimfile_install(&image, deep, path, sizeof(path), &err) == 0);
	CHECK(holds_bytes(path, &second) && first.st_ino != second.st_ino);
	remove_dir(dir);
}

T(install_that_cannot)
{
	char path[PATH_MAX], small[16];
	struct err err = { "" };

	CHECK(shimfile_install(&none, "/tmp", path, sizeof(path), &err) == -ENODATA && err.msg[0]);
	err.msg[0] = 0;
	CHECK(shimfile_install(&image, "", path, sizeof(path), &err) < 0 && err.msg[0]);
	err.msg[0] = 0;
	CHECK(shimfile_install(&image, "/dev/null/x", path, sizeof(path), &err) == -ENOTDIR);
	CHECK(strstr(err.msg, "/dev/null/x") != NULL);
	CHECK(shimfile_install(&image, "/tmp/a-longer-name", small, sizeof(small), NULL) == -ENAMETOOLONG);
}

T(temporary_copies_are_one_each)
{
	const char *dir = fresh_dir();
	char one[PATH_MAX], two[PATH_MAX];
	struct stat st = { 0 };

	setenv("TMPDIR", dir, 1);
	CHECK(shimfile_temporary(&image, one, sizeof(one), NULL) == 0);
	CHECK(shimfile_temporary(&image, two, sizeof(two), NULL) == 0);
	CHECK(!strncmp(one, dir, strlen(dir)) && strcmp(one, two) != 0);
	CHECK(holds_bytes(one, &st) && (st.st_mode & 07777) == 0755 && shimfile_is_shim(one));
	remove_dir(dir);
	/* the folder is gone: another one is taken */
	CHECK(shimfile_temporary(&image, one, sizeof(one), NULL) == 0 && !strncmp(one, "/tmp/", 5));
	unlink(one);
	setenv("TMPDIR", "relative", 1);
	CHECK(shimfile_temporary(&image, one, sizeof(one), NULL) == 0 && one[0] == '/');
	unlink(one);
	CHECK(shimfile_temporary(&none, one, sizeof(one), NULL) == -ENODATA && !one[0]);
	unsetenv("TMPDIR");
}

T(probes_tell_a_shim)
{
	CHECK(!shimfile_has_probes("/nonexistent"));
	CHECK(!shimfile_has_probes("/proc/self/exe"));
}

static const struct finding *find(const struct doctor *d, const char *id)
{
	for (size_t i = 0; i < d->n; i++) {
		if (strcmp(d->findings[i].id, id) == 0)
			return &d->findings[i];
	}
	return NULL;
}

T(R20_doctor_says_what_to_do)
{
	struct doctor d = { .root = "" };
	const struct finding *f;

	setenv(SHIMFILE_INJECTION, "/usr/lib/other-tool.so", 1);
	doctor__check_shim(&d, &image); /* the bytes above are no ELF file */
	f = find(&d, "shim");
	CHECK(f && f->state == FINDING_MISSING && !f->needed && f->advice);
	f = find(&d, "injection");
	CHECK(f && f->state == FINDING_DEGRADED && strstr(f->detail, "/usr/lib/other-tool.so") && f->advice);
	doctor__free(&d);
	unsetenv(SHIMFILE_INJECTION);
	doctor__check_shim(&d, &none);
	f = find(&d, "injection");
	CHECK(f && f->state == FINDING_OK);
	CHECK(find(&d, "shim")->state == FINDING_MISSING);
	doctor__free(&d);
	doctor__check_target_shim(&d, getpid());
	f = find(&d, "its-shim");
	CHECK(f && f->state == FINDING_DEGRADED && f->advice && !f->needed);
	doctor__free(&d);
}

TEST_MAIN
