/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The folder of the status files: whose it is, and what is not read out of it. */
#include "t.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gate/dir.h"
#include "util/err.h"

static struct gate_dir d;
static struct gate_seen seen;
static struct gate_status s;
static struct err why;
static bool fresh;

#define STATUS                                                                                               \
	"{\"schema\":\"gpubpf-gate-1\",\"token\":\"\",\"pid\":7,\"start_time\":1,\"sequence\":1,"            \
	"\"lifecycle\":\"idle\",\"readiness\":\"pending\",\"reason\":\"\",\"now\":5,\"first_touch\":0,"      \
	"\"deadline\":0,\"warmup\":0,\"kinds\":{},\"notes\":[]}\n"

static void make(void)
{
	memset(&seen, 0, sizeof(seen));
	why.msg[0] = 0;
	CHECK(gate_dir__make(&d, &why) == 0);
}

static const char *in(const char *name)
{
	static char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", d.path, name);
	return path;
}

static void put(const char *path, const char *text, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0 && write(fd, text, n) == (ssize_t)n);
	close(fd);
}

static const char *get(void)
{
	why.msg[0] = 0;
	return gate_refusal_word(gate_dir__read(&d, 7, &seen, &fresh, &s, &why));
}

static bool gone(const char *path)
{
	return access(path, F_OK) != 0;
}

T(gate_dir_made_and_removed)
{
	struct stat st;

	make();
	CHECK(!stat(d.path, &st) && S_ISDIR(st.st_mode));
	CHECK((st.st_mode & 07777) == (geteuid() ? 0700u : 01733u));
	put(in("status-7.json"), STATUS, strlen(STATUS));
	put(in(".status-7.json.tmp"), "x", 1);
	gate_dir__remove(&d);
	CHECK(gone(d.path) && d.fd == -1);
	gate_dir__remove(&d);
}

T(gate_dir_reads_once)
{
	make();
	CHECK(!strcmp(get(), "missing") && !fresh);
	put(in("status-7.json"), STATUS, strlen(STATUS));
	CHECK(!strcmp(get(), "accepted") && fresh && s.pid == 7);
	CHECK(!strcmp(get(), "accepted") && !fresh);
	put(in("new"), STATUS, strlen(STATUS) - 9);
	CHECK(!rename(in("new"), strcat(strcpy((char[PATH_MAX + 64]){ 0 }, d.path), "/status-7.json")));
	CHECK(!strcmp(get(), "malformed") && fresh);
	gate_dir__remove(&d);
}

T(gate_dir_follows_nothing)
{
	char outside[] = "/tmp/gpubpf-outside.XXXXXX", *big = calloc(1, 1 << 20);
	int fd = mkstemp(outside);

	CHECK(fd >= 0 && write(fd, STATUS, strlen(STATUS)) > 0);
	close(fd);
	make();
	CHECK(!symlink(outside, in("status-7.json")));
	CHECK(!strcmp(get(), "not_a_file"));
	unlink(in("status-7.json"));
	/* a second name of a file that stands elsewhere */
	if (!link(outside, in("status-7.json")))
		CHECK(!strcmp(get(), "not_a_file"));
	unlink(in("status-7.json"));
	CHECK(!mkfifo(in("status-7.json"), 0666));
	CHECK(!strcmp(get(), "not_a_file"));
	unlink(in("status-7.json"));
	CHECK(!mkdir(in("status-7.json"), 0777));
	CHECK(!strcmp(get(), "not_a_file"));
	rmdir(in("status-7.json"));
	put(in("status-7.json"), big, 1 << 20);
	CHECK(!strcmp(get(), "oversize"));
	CHECK(why.msg[0]);
	put(in("status-7.json"), "", 0);
	CHECK(!strcmp(get(), "malformed"));
	gate_dir__remove(&d);
	unlink(outside);
	free(big);
}

T(gate_dir_must_be_ours)
{
	char path[PATH_MAX], moved[PATH_MAX + 8];
	struct gate_dir other;

	make();
	put(in("status-7.json"), STATUS, strlen(STATUS));
	strcpy(path, d.path);
	snprintf(moved, sizeof(moved), "%s.real", path);
	CHECK(!strcmp(get(), "accepted"));
	/* replaced by a link: the one that is held is read, and not removed by its name */
	CHECK(!rename(path, moved) && !symlink("/etc", path));
	CHECK(!strcmp(get(), "accepted"));
	CHECK(gate_dir__open(&other, path, &why) < 0 && other.fd == -1);
	CHECK(gate_dir__open(&other, moved, &why) == 0);
	close(other.fd);
	CHECK(!chmod(moved, 0777));
	CHECK(!strcmp(get(), "directory"));
	CHECK(gate_dir__open(&other, moved, &why) < 0);
	CHECK(gate_dir__open(&other, "/etc/passwd", &why) < 0);
	CHECK(gate_dir__open(&other, "/nonexistent", &why) < 0);
	if (!geteuid()) {
		CHECK(!chmod(moved, 0700) && !chown(moved, 65534, 65534));
		CHECK(!strcmp(get(), "directory"));
	}
	gate_dir__remove(&d);
	CHECK(!gone(path) && !gone(moved));
	unlink(path);
	rmdir(moved);
}

static unsigned names, sum;

static void on_name(uint32_t pid, void *arg)
{
	(void)arg;
	names++;
	sum += pid;
}

T(gate_dir_lists_status_files)
{
	make();
	put(in("status-7.json"), "", 0);
	put(in("status-12.json"), "", 0);
	put(in("status-012.json"), "", 0);
	put(in("status-.json"), "", 0);
	put(in("status-99999999999.json"), "", 0);
	put(in("status--3.json"), "", 0);
	put(in("other"), "", 0);
	gate_dir__each(&d, on_name, NULL);
	CHECKF(names == 2 && sum == 19, "%u %u", names, sum);
	gate_dir__remove(&d);
}

T(gate_tokens)
{
	char a[GPUBPF_GATE_TOKEN_LEN + 1], b[GPUBPF_GATE_TOKEN_LEN + 1];

	CHECK(!gate_token(a) && !gate_token(b));
	CHECK(strlen(a) == 32 && strspn(a, "0123456789abcdef") == 32 && strcmp(a, b) != 0);
}

TEST_MAIN
