// SPDX-License-Identifier: BSD-2-Clause
#include "gatefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define NAME_MAX_LEN 64

struct text {
	char *at, *end; /* at == end: full */
};

static void put(struct text *t, const char *s)
{
	while (*s && t->at < t->end)
		*t->at++ = *s++;
}

static void put_number(struct text *t, uint64_t v)
{
	char digits[24], *d = digits + sizeof(digits) - 1;

	*d = 0;
	do
		*--d = (char)('0' + v % 10);
	while (v /= 10);
	put(t, d);
}

static void put_signed(struct text *t, int v)
{
	if (v < 0)
		put(t, "-");
	put_number(t, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

static void put_key(struct text *t, const char *key)
{
	put(t, ",\"");
	put(t, key);
	put(t, "\":");
}

static void put_word(struct text *t, const char *key, const char *word)
{
	put_key(t, key);
	put(t, "\"");
	put(t, word);
	put(t, "\"");
}

static void put_count(struct text *t, const char *key, uint64_t v)
{
	put_key(t, key);
	put_number(t, v);
}

#define ROW(name, value, word) [value] = (word),
static const char *const lifecycles[] = { GPUBPF_LIFECYCLES(ROW) };
static const char *const readinesses[] = { GPUBPF_READINESSES(ROW) };
static const char *const reasons[] = { [0] = "", GPUBPF_GATE_REASONS(ROW) };
static const char *const notes[] = { GPUBPF_GATE_NOTES(ROW) };
#undef ROW

/* The words that the reports of gpubpf have for them. */
static const char *const facilities[GATE_KINDS] = {
	[GPUBPF_FACILITY_SUBSCRIBE] = "subscribe",
	[GPUBPF_FACILITY_TIMESTAMP] = "timestamp",
	[GPUBPF_FACILITY_BUFFERS] = "buffers",
	[GPUBPF_FACILITY_KERNEL] = "kernel",
	[GPUBPF_FACILITY_COPY] = "copy",
	[GPUBPF_FACILITY_COPY_PEER] = "copy_peer",
	[GPUBPF_FACILITY_SET] = "set",
	[GPUBPF_FACILITY_CALLBACKS] = "callbacks",
	[GPUBPF_FACILITY_MODULES] = "modules",
	[GPUBPF_FACILITY_LATENCY] = "latency",
	[GPUBPF_FACILITY_FLUSH] = "flush",
	[GPUBPF_FACILITY_SYNC] = "sync",
	[GPUBPF_FACILITY_MEMORY] = "memory",
	[GPUBPF_FACILITY_OVERHEAD] = "overhead",
	[GPUBPF_FACILITY_UNSUBSCRIBE] = "unsubscribe",
	[GPUBPF_FACILITY_EXTERNAL] = "external",
	[GPUBPF_FACILITY_DRIVER_CALLS] = "driver_calls",
	[GPUBPF_FACILITY_NVTX] = "nvtx",
	[GPUBPF_FACILITY_THREAD_IDS] = "thread_ids",
	[GPUBPF_FACILITY_UNIFIED] = "unified_memory",
	[GPUBPF_FACILITY_UNIFIED + 1] = "unified_bytes_htod",
	[GPUBPF_FACILITY_UNIFIED + 2] = "unified_bytes_dtoh",
	[GPUBPF_FACILITY_UNIFIED + 3] = "unified_cpu_faults",
	[GPUBPF_FACILITY_UNIFIED + 4] = "unified_gpu_faults",
	[GPUBPF_FACILITY_UNIFIED + 5] = "unified_thrashing",
	[GPUBPF_FACILITY_UNIFIED + 6] = "unified_throttling",
	[GPUBPF_FACILITY_UNIFIED + 7] = "unified_remote_map",
	[GPUBPF_FACILITY_UNIFIED + 8] = "unified_bytes_dtod",
};

static void put_kinds(struct text *t, const struct gate *g)
{
	const char *between = "";

	put_key(t, "kinds");
	put(t, "{");
	for (int k = 0; k < GATE_KINDS; k++) {
		if (!g->kinds[k].tried)
			continue;
		put(t, between);
		put(t, "\"");
		put(t, facilities[k]);
		put(t, "\":{\"required\":");
		put(t, g->kinds[k].required ? "true" : "false");
		put(t, ",\"result\":");
		put_signed(t, g->kinds[k].result);
		put(t, "}");
		between = ",";
	}
	put(t, "}");
}

static void put_notes(struct text *t, const struct gate *g)
{
	const char *between = "";

	put_key(t, "notes");
	put(t, "[");
	for (size_t n = 0; n < sizeof(notes) / sizeof(notes[0]); n++) {
		if (!(g->notes >> n & 1))
			continue;
		put(t, between);
		put(t, "\"");
		put(t, notes[n]);
		put(t, "\"");
		between = ",";
	}
	put(t, "]");
}

/* What comes before the sequence is the same in each file of a program, and of the one that exec() puts in its place. */
static void put_identity(struct text *t, const struct gatefile *f)
{
	put(t, "{\"schema\":\"" GPUBPF_GATE_SCHEMA "\"");
	put_word(t, "token", f->token);
	put_count(t, "pid", (uint64_t)f->pid);
	put_count(t, "start_time", f->start_time);
	put_key(t, "sequence");
}

size_t gatefile__format(const struct gatefile *f, char *text, size_t size)
{
	const struct gate *g = f->gate;
	struct text t = { text, text + size };

	put_identity(&t, f);
	put_number(&t, f->sequence);
	put_word(&t, "lifecycle", lifecycles[g->lifecycle]);
	put_word(&t, "readiness", readinesses[g->readiness]);
	put_word(&t, "reason", reasons[g->reason]);
	put_count(&t, "now", f->now);
	put_count(&t, "first_touch", g->touched);
	put_count(&t, "deadline", g->deadline);
	put_count(&t, "warmup", g->warmup);
	put_kinds(&t, g);
	put_notes(&t, g);
	put(&t, "}\n");
	return t.at < t.end ? (size_t)(t.at - text) : 0;
}

static void file_name(char *name, pid_t pid)
{
	struct text t = { name, name + NAME_MAX_LEN - 1 };

	put(&t, "status-");
	put_number(&t, (uint64_t)pid);
	put(&t, ".json");
	*t.at = 0;
}

static int write_all(int fd, const char *text, size_t n)
{
	while (n) {
		ssize_t r = write(fd, text, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return r ? -errno : -EIO;
		text += r;
		n -= (size_t)r;
	}
	return 0;
}

/* Beyond its limit a write ends the process by SIGXFSZ. */
static bool may_write(size_t n)
{
	struct rlimit l;

	return getrlimit(RLIMIT_FSIZE, &l) != 0 || l.rlim_cur >= n;
}

static int replace(int dir, const struct gatefile *f, const char *text, size_t n)
{
	const int how = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	char name[NAME_MAX_LEN], temporary[NAME_MAX_LEN];
	struct text t = { temporary, temporary + sizeof(temporary) - 1 };
	int fd, rc;

	file_name(name, f->pid);
	put(&t, ".");
	put(&t, name);
	put(&t, ".tmp");
	*t.at = 0;
	fd = openat(dir, temporary, how, 0644);
	/* Of one of this pid that died in here. */
	if (fd < 0 && errno == EEXIST && unlinkat(dir, temporary, 0) == 0)
		fd = openat(dir, temporary, how, 0644);
	if (fd < 0)
		return -errno;
	/* Not synced: it is to outlive the process, not the machine. */
	rc = write_all(fd, text, n);
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc && renameat(dir, temporary, dir, name))
		rc = -errno;
	if (rc)
		unlinkat(dir, temporary, 0);
	return rc;
}

int gatefile__write(const char *dir, const struct gatefile *f)
{
	char text[GPUBPF_GATE_FILE_MAX];
	size_t n = gatefile__format(f, text, sizeof(text));
	int saved = errno, fd, rc;

	if (!n || !may_write(n))
		return -EFBIG;
	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		rc = -errno;
	} else {
		rc = replace(fd, f, text, n);
		close(fd);
	}
	errno = saved;
	return rc;
}

static ssize_t read_file(const char *dir, const struct gatefile *f, char *text, size_t size)
{
	char name[NAME_MAX_LEN];
	int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;
	ssize_t n;

	if (at < 0)
		return -1;
	file_name(name, f->pid);
	/* A FIFO under this name would wait for a writer. */
	fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	close(at);
	if (fd < 0)
		return -1;
	n = read(fd, text, size);
	close(fd);
	return n;
}

uint64_t gatefile__sequence(const char *dir, const struct gatefile *f)
{
	char is[GPUBPF_GATE_FILE_MAX], wanted[256];
	struct text t = { wanted, wanted + sizeof(wanted) };
	size_t n, want;
	uint64_t v = 0;
	int saved = errno;
	ssize_t r = read_file(dir, f, is, sizeof(is));

	errno = saved;
	put_identity(&t, f);
	want = (size_t)(t.at - wanted);
	n = r > 0 ? (size_t)r : 0;
	if (n <= want || memcmp(is, wanted, want) != 0)
		return 0;
	for (size_t i = want; i < n && is[i] >= '0' && is[i] <= '9' && v < UINT32_MAX; i++)
		v = v * 10 + (uint64_t)(is[i] - '0');
	return v;
}
