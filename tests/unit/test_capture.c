// SPDX-License-Identifier: GPL-2.0-or-later
/* The capture file as its writer makes it: round trip, and what it does with the paths it is given. */
#include "capture_file.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static int write_file(const char *path, const struct capture_writer_opts *o, unsigned n, struct err *e)
{
	struct capture_writer *w;
	union record rec;
	Gpubpf__Meta meta = GPUBPF__META__INIT;
	Gpubpf__Counts counts = GPUBPF__COUNTS__INIT;
	Gpubpf__Footer footer = GPUBPF__FOOTER__INIT;
	uint32_t targets[2] = { 5, 6 };
	int r = capture_writer__open(path, o, &w, e);

	if (r)
		return r;
	meta.mode = "attach";
	meta.n_target = 2;
	meta.target = targets;
	counts.time_ns = 9;
	footer.end_ns = 10;
	footer.end_reason = "SIGINT";
	footer.counts = &counts;
	r = capture_writer__meta(w, &meta, e);
	for (unsigned i = 0; !r && i < n; i++) {
		r = capture_writer__record(w, make_record(&rec, i), 1000 + i, e);
		if (!r && i == n / 2)
			r = capture_writer__counts(w, &counts, e);
	}
	meta.mode = "launch";
	meta.n_target = 1;
	if (!r)
		r = capture_writer__meta(w, &meta, e);
	if (!r)
		r = capture_writer__finish(w, &footer, e);
	CHECK(r || footer.records == n);
	CHECK(r || capture_writer__records(w) == n);
	capture_writer__close(w);
	return r;
}

static void check_file(const char *path, unsigned n)
{
	struct capture_reader *r;
	const struct gpubpf_rec *got;
	const struct capture_status *s;
	struct err e = { 0 };
	union record want;

	CHECKF(capture_reader__open(path, &r, &e) == 0, "%s", e.msg);
	if (!r)
		return;
	for (int pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < n; i++) {
			make_record(&want, i);
			if (capture_reader__next(r, &got, &e) != 1 ||
			    memcmp(got, &want, want.head.size) != 0) {
				CHECKF(0, "record %u of %u: %s", i, n, e.msg);
				break;
			}
		}
		CHECK(capture_reader__next(r, &got, &e) == 0);
		capture_reader__rewind(r);
	}
	s = capture_reader__status(r);
	CHECK(s->has_footer && s->records == n && s->damaged_bytes == 0 && s->damaged_blocks == 0);
	CHECK(s->bad_records == 0 && s->tail_bytes == 0 && s->unknown_records == 0);
	CHECK(n == 0 || (s->first_ns == 1000 && s->last_ns == 999 + n));
	CHECK(capture_reader__footer(r) && capture_reader__footer(r)->records == n);
	CHECK(capture_reader__counts(r) == capture_reader__footer(r)->counts);
	/* META blocks add up: repeated fields go on, a later scalar replaces. */
	CHECK(capture_reader__meta(r)->n_target == 3 && strcmp(capture_reader__meta(r)->mode, "launch") == 0);
	capture_reader__close(r);
}

T(round_trip)
{
	static const struct capture_writer_opts o[] = { { .zstd_level = 1 },
							{ .zstd_level = 0 },
							{ .zstd_level = 19, .block_bytes = 1 } };
	struct err e = { 0 };
	char name[16];

	for (unsigned i = 0; i < 3; i++) {
		for (unsigned n = 0; n <= 20000; n = n * 27 + 1) {
			snprintf(name, sizeof(name), "rt%u.%u", i, n);
			CHECKF(write_file(in_dir(name), &o[i], n, &e) == 0, "%s", e.msg);
			check_file(in_dir(name), n);
		}
	}
}

T(record_that_does_not_compress_is_stored_plain)
{
	struct capture_writer *w;
	struct capture_reader *r;
	struct err e = { 0 };
	union record rec;
	uint64_t random = 88172645463325252ull;

	CHECK(capture_writer__open(in_dir("noise"), NULL, &w, &e) == 0);
	make_record(&rec, 0);
	rec.call.nwords = GPUBPF_WORDS_SHORT;
	rec.call.nblob = 4000 - sizeof(rec.call) - 48;
	rec.call.size = 4000;
	for (unsigned i = 0; i < 500; i++) {
		for (unsigned k = sizeof(rec.call) / 8; k < 500; k++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			memcpy(rec.room + 8 * k, &random, 8);
		}
		CHECK(capture_writer__record(w, &rec.head, 1, &e) == 0);
	}
	CHECK(capture_writer__flush(w, &e) == 0);
	capture_writer__close(w);
	CHECK(capture_reader__open(in_dir("noise"), &r, &e) == 0);
	CHECK(capture_reader__status(r)->stored_bytes <= capture_reader__status(r)->plain_bytes);
	CHECK(count_records(r) == 500);
	capture_reader__close(r);
}

T(existing_file_stays_and_the_message_names_the_flag)
{
	struct err e = { 0 };
	struct stat st;
	size_t n;
	uint8_t *p;

	spill(in_dir("old"), "precious", 8);
	CHECK(write_file(in_dir("old"), NULL, 3, &e) == -EEXIST);
	CHECKF(strstr(e.msg, "-f") != NULL, "%s", e.msg);
	p = slurp(in_dir("old"), &n);
	CHECK(n == 8 && memcmp(p, "precious", 8) == 0);
	free(p);
	e.msg[0] = 0;
	CHECKF(write_file(in_dir("old"), &(struct capture_writer_opts){ .force = true }, 3, &e) == 0, "%s",
	       e.msg);
	check_file(in_dir("old"), 3);
	CHECK(stat(in_dir("old"), &st) == 0 && (st.st_mode & 07777) == 0600);
}

T(force_replaces_a_regular_file_only)
{
	const struct capture_writer_opts o = { .force = true };
	struct err e = { 0 };
	size_t n;
	uint8_t *p;

	spill(in_dir("target"), "precious", 8);
	CHECK(symlink(in_dir("target"), in_dir("link")) == 0);
	for (int force = 0; force < 2; force++) {
		e.msg[0] = 0;
		CHECK(write_file(in_dir("link"), force ? &o : NULL, 3, &e) == -EEXIST);
		CHECKF(strstr(e.msg, "symbolic link") != NULL, "%s", e.msg);
	}
	p = slurp(in_dir("target"), &n);
	CHECK(n == 8 && memcmp(p, "precious", 8) == 0);
	free(p);
	CHECK(mkdir(in_dir("d"), 0700) == 0);
	e.msg[0] = 0;
	CHECK(write_file(in_dir("d"), &o, 3, &e) == -EISDIR);
	CHECKF(strstr(e.msg, "directory") != NULL, "%s", e.msg);
	e.msg[0] = 0;
	CHECK(write_file(in_dir("nowhere/file"), NULL, 3, &e) == -ENOENT);
	CHECKF(strstr(e.msg, "nowhere") != NULL, "%s", e.msg);
}

T(unwritable_directory)
{
	struct err e = { 0 };
	bool root = geteuid() == 0;
	int r;

	CHECK(mkdir(in_dir("ro"), 0555) == 0 && chmod(dir, 0755) == 0);
	if (root && seteuid(65534))
		SKIP("a second user");
	r = write_file(in_dir("ro/file"), NULL, 3, &e);
	if (root && seteuid(0))
		abort();
	CHECK(r == -EACCES);
	CHECKF(strstr(e.msg, "ro/file") && strstr(e.msg, "-o"), "%s", e.msg);
}

T(full_device)
{
	struct err e = { 0 };

	if (access("/dev/full", W_OK))
		SKIP("/dev/full");
	CHECK(write_file("/dev/full", NULL, 3, &e) == -ENOSPC);
	CHECKF(strstr(e.msg, "/dev/full") && strstr(e.msg, "free some space"), "%s", e.msg);
}

/* The file size limit stands for a full disk: the write that crosses it comes back short, the next fails. */
T(full_disk_leaves_whole_blocks_and_counts_every_drop)
{
	struct rlimit old, low;
	struct capture_writer *w;
	struct capture_reader *r;
	struct err e = { 0 }, again = { 0 };
	Gpubpf__Counts counts = GPUBPF__COUNTS__INIT;
	Gpubpf__Footer footer = GPUBPF__FOOTER__INIT;
	union record rec;
	unsigned failed = 0, kept, n = 5000, calls = 0;
	uint64_t dropped_calls = 0;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	low = old;
	low.rlim_cur = 200000;
	CHECK(capture_writer__open(in_dir("full"), &(struct capture_writer_opts){ .block_bytes = 65536 }, &w,
				   &e) == 0);
	setrlimit(RLIMIT_FSIZE, &low);
	for (unsigned i = 0; i < n; i++) {
		make_record(&rec, i);
		calls += rec.head.kind == GPUBPF_REC_CALL;
		e.msg[0] = 0;
		if (capture_writer__record(w, &rec.head, i, &e)) {
			failed++;
			CHECK(strstr(e.msg, "stay readable") && strstr(e.msg, "ulimit -f"));
		}
	}
	CHECK(failed > 0);
	CHECK(capture_writer__flush(w, &again) == -EFBIG && strcmp(again.msg, e.msg) == 0);
	kept = (unsigned)capture_writer__records(w);
	CHECK(kept > 0 && kept + capture_writer__dropped(w) == n);
	for (unsigned i = 0; i < GPUBPF_API_MAX; i++)
		dropped_calls += capture_writer__dropped_calls(w)[i];
	footer.end_reason = "write error";
	footer.counts = &counts;
	CHECK(capture_writer__finish(w, &footer, &again) == -EFBIG);
	capture_writer__close(w);
	setrlimit(RLIMIT_FSIZE, &old);
	CHECK(capture_reader__open(in_dir("full"), &r, &e) == 0);
	for (unsigned i = 0; i < kept; i++)
		calls -= make_record(&rec, i)->kind == GPUBPF_REC_CALL;
	CHECK(dropped_calls == calls);
	CHECK(count_records(r) == kept);
	CHECK(capture_reader__status(r)->tail_bytes == 0 && capture_reader__status(r)->damaged_bytes == 0);
	/* the cut made room for the footer, and it tells how it ended */
	CHECK(capture_reader__footer(r) && strcmp(capture_reader__footer(r)->end_reason, "write error") == 0);
	capture_reader__close(r);
}

T(pipe_takes_a_capture)
{
	struct err e = { 0 };
	char cmd[512];
	int status = -1;
	pid_t pid;

	CHECK(mkfifo(in_dir("fifo"), 0600) == 0);
	snprintf(cmd, sizeof(cmd), "cat '%s/fifo' >'%s/fromfifo'", dir, dir);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(system(cmd) != 0);
	CHECKF(write_file(in_dir("fifo"), NULL, 5000, &e) == 0, "%s", e.msg);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	check_file(in_dir("fromfifo"), 5000);
}

T(closed_pipe_is_an_error)
{
	struct capture_writer *w;
	struct err e = { 0 };
	union record rec;
	int fd;

	signal(SIGPIPE, SIG_IGN);
	CHECK(mkfifo(in_dir("fifo2"), 0600) == 0);
	fd = open(in_dir("fifo2"), O_RDONLY | O_NONBLOCK);
	CHECK(capture_writer__open(in_dir("fifo2"), NULL, &w, &e) == 0);
	close(fd);
	CHECK(capture_writer__record(w, make_record(&rec, 0), 1, &e) == 0);
	CHECK(capture_writer__flush(w, &e) == -EPIPE && strstr(e.msg, "went away"));
	CHECK(capture_writer__dropped(w) == 1);
	capture_writer__close(w);
}

T(malformed_record_is_refused_and_the_writer_lives)
{
	struct capture_writer *w;
	struct err e = { 0 };
	union record rec;

	CHECK(capture_writer__open(in_dir("malformed"), NULL, &w, &e) == 0);
	make_record(&rec, 0);
	rec.head.size = 0;
	CHECK(capture_writer__record(w, &rec.head, 1, &e) == -EINVAL);
	rec.head.size = 61;
	CHECK(capture_writer__record(w, &rec.head, 1, &e) == -EINVAL);
	CHECK(capture_writer__record(w, make_record(&rec, 0), 1, &e) == 0);
	CHECK(capture_writer__flush(w, &e) == 0 && capture_writer__records(w) == 1);
	capture_writer__close(w);
}

TEST_MAIN
