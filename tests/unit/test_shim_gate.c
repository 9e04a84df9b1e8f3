/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The capture gate as a machine: every event in every state that it can be in, what is latched, what comes first; and its
 * file: what stands in it, and what becomes of it where it cannot be written.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/gate.h"
#include "shim/gatefile.h"
#include "t.h"

#define ALLOWANCE 1000u
#define WARMUP 5000u
#define TOUCH 100u
#define IN_TIME (TOUCH + 10)
#define LATE (TOUCH + ALLOWANCE + WARMUP)

/* ---- events ---- */

static struct gate_outcome outcome(enum gpubpf_reason failed)
{
	struct gate_outcome o = { .failed = failed };
	static const enum gpubpf_facility required[] = { GPUBPF_FACILITY_SUBSCRIBE, GPUBPF_FACILITY_BUFFERS,
							 GPUBPF_FACILITY_KERNEL, GPUBPF_FACILITY_COPY,
							 GPUBPF_FACILITY_SET };

	for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++)
		o.kinds[required[i]] = (struct gate_kind){ .tried = true, .required = true };
	o.kinds[GPUBPF_FACILITY_COPY_PEER] = (struct gate_kind){ .tried = true, .result = 27 };
	return o;
}

static struct gate_outcome refused(int kind, int result)
{
	struct gate_outcome o = outcome(0);

	o.kinds[kind].result = result;
	return o;
}

enum event {
	CALLBACK,
	WARM,
	INIT,
	GOOD,
	BAD,
	REFUSED,
	LATE_GOOD,
	LATE_BAD,
	AGAIN,
	LOST,
	EXIT,
	EXPIRE,
	EARLY,
	WEDGED,
	OFF,
	EVENTS
};

static bool feed(struct gate *g, enum event e)
{
	struct gate_outcome good = outcome(0), bad = outcome(GPUBPF_REASON_NOT_PERMITTED);
	struct gate_outcome no = refused(GPUBPF_FACILITY_COPY, 27);

	switch (e) {
	case CALLBACK:
		return gate__callback(g, TOUCH);
	case WARM:
		return gate__warm(g);
	case INIT:
		return gate__initialize(g, TOUCH);
	case GOOD:
		return gate__finish(g, IN_TIME, &good);
	case BAD:
		return gate__finish(g, IN_TIME, &bad);
	case REFUSED:
		return gate__finish(g, IN_TIME, &no);
	case LATE_GOOD:
		return gate__finish(g, LATE, &good);
	case LATE_BAD:
		return gate__finish(g, LATE, &bad);
	case AGAIN:
		return gate__again(g, &good);
	case LOST:
		return gate__again(g, &no);
	case EXIT:
		return gate__exit(g);
	case EXPIRE:
		return gate__expire(g, LATE);
	case EARLY:
		return gate__expire(g, LATE - 1) || gate__wedged(g, LATE - 1);
	case WEDGED:
		return gate__wedged(g, LATE);
	default:
		return gate__disable(g, 0);
	}
}

/* ---- every state that there is, by a way into it, and what each event makes of it ---- */

#define P GPUBPF_READINESS_PENDING
#define R GPUBPF_READINESS_READY
#define F GPUBPF_READINESS_FAILED
#define REASON(r) GPUBPF_GATE_##r

static const struct state {
	const char *name;
	enum gpubpf_lifecycle lifecycle;
	enum gpubpf_readiness readiness;
	enum gpubpf_gate_reason reason;
	enum event way[6]; /* up to EVENTS */
	/* The name of the state behind each event, in their order; "": nothing changed, and the event says so. */
	const char *next[EVENTS];
} states[] = {
	/* clang-format off */
	/*                                                       CALLBACK WARM   INIT      GOOD    BAD    REFUSED LATE_G  LATE_B  AGAIN   LOST    EXIT   EXPIRE  EARLY WEDGED OFF */
	{ "idle", GPUBPF_LIFECYCLE_IDLE, P, 0, { EVENTS },
	  { "seen", "", "init:called", "", "", "", "", "", "", "", "stop", "", "", "", "off" } },
	{ "seen", GPUBPF_LIFECYCLE_CALLBACK_SEEN, P, 0, { CALLBACK, EVENTS },
	  { "", "warm", "init", "", "", "", "", "", "", "", "stop", "", "", "", "off" } },
	{ "warm", GPUBPF_LIFECYCLE_WARMUP, P, 0, { CALLBACK, WARM, EVENTS },
	  { "", "", "init", "", "", "", "", "", "", "", "stop", "", "", "", "off" } },
	{ "init", GPUBPF_LIFECYCLE_INITIALIZING, P, 0, { CALLBACK, INIT, EVENTS },
	  { "", "", "", "ready", "denied", "refused", "late", "timeout", "", "", "", "init:time", "", "init:wedged", "off" } },
	{ "init:time", GPUBPF_LIFECYCLE_INITIALIZING, F, REASON(INIT_TIMEOUT), { CALLBACK, INIT, EXPIRE, EVENTS },
	  { "", "", "", "timeout", "timeout", "timeout", "timeout", "timeout", "", "", "", "", "", "", "off:time" } },
	{ "init:wedged", GPUBPF_LIFECYCLE_INITIALIZING, F, REASON(EXIT_WEDGED), { CALLBACK, INIT, WEDGED, EVENTS },
	  { "", "", "", "wedged", "wedged", "wedged", "wedged", "wedged", "", "", "", "", "", "", "off:wedged" } },
	{ "init:called", GPUBPF_LIFECYCLE_INITIALIZING, F, REASON(CALLBACK_MISSING), { INIT, EVENTS },
	  { "", "", "", "called", "called", "called", "called", "called", "", "", "", "", "", "", "off:called" } },
	{ "ready", GPUBPF_LIFECYCLE_FINISHED, R, 0, { CALLBACK, INIT, GOOD, EVENTS },
	  { "", "", "", "", "", "", "", "", "ready", "lost", "", "", "", "", "off:ready" } },
	{ "lost", GPUBPF_LIFECYCLE_FINISHED, F, REASON(TRACE_FACILITY_LOST), { CALLBACK, INIT, GOOD, LOST, EVENTS },
	  { "", "", "", "", "", "", "", "", "lost", "lost", "", "", "", "", "off:lost" } },
	{ "denied", GPUBPF_LIFECYCLE_FINISHED, F, REASON(CUPTI_NOT_PERMITTED), { CALLBACK, INIT, BAD, EVENTS },
	  { "", "", "", "", "", "", "", "", "denied", "denied", "", "", "", "", "off:denied" } },
	{ "refused", GPUBPF_LIFECYCLE_FINISHED, F, REASON(FACILITY_ENABLE_FAILED), { CALLBACK, INIT, REFUSED, EVENTS },
	  { "", "", "", "", "", "", "", "", "refused", "refused", "", "", "", "", "off:refused" } },
	{ "late", GPUBPF_LIFECYCLE_FINISHED, F, REASON(LATE_SUCCESS), { CALLBACK, INIT, LATE_GOOD, EVENTS },
	  { "", "", "", "", "", "", "", "", "late", "late", "", "", "", "", "off:late" } },
	{ "timeout", GPUBPF_LIFECYCLE_FINISHED, F, REASON(INIT_TIMEOUT), { CALLBACK, INIT, EXPIRE, LATE_GOOD, EVENTS },
	  { "", "", "", "", "", "", "", "", "timeout", "timeout", "", "", "", "", "off:time" } },
	{ "wedged", GPUBPF_LIFECYCLE_FINISHED, F, REASON(EXIT_WEDGED), { CALLBACK, INIT, WEDGED, GOOD, EVENTS },
	  { "", "", "", "", "", "", "", "", "wedged", "wedged", "", "", "", "", "off:wedged" } },
	{ "called", GPUBPF_LIFECYCLE_FINISHED, F, REASON(CALLBACK_MISSING), { INIT, GOOD, EVENTS },
	  { "", "", "", "", "", "", "", "", "called", "called", "", "", "", "", "off:called" } },
	{ "stop", GPUBPF_LIFECYCLE_STOPPED, F, REASON(EXIT_BEFORE_CAPTURE), { CALLBACK, EXIT, EVENTS },
	  { "", "", "", "", "", "", "", "", "", "", "", "", "", "", "off:stop" } },
	/* Nothing leads out of it. */
	{ "off", GPUBPF_LIFECYCLE_DISABLED, P, 0, { OFF, EVENTS }, { 0 } },
	{ "off:time", GPUBPF_LIFECYCLE_DISABLED, F, REASON(INIT_TIMEOUT), { CALLBACK, INIT, EXPIRE, OFF, EVENTS }, { 0 } },
	{ "off:wedged", GPUBPF_LIFECYCLE_DISABLED, F, REASON(EXIT_WEDGED), { CALLBACK, INIT, WEDGED, OFF, EVENTS }, { 0 } },
	{ "off:called", GPUBPF_LIFECYCLE_DISABLED, F, REASON(CALLBACK_MISSING), { INIT, OFF, EVENTS }, { 0 } },
	{ "off:ready", GPUBPF_LIFECYCLE_DISABLED, R, 0, { CALLBACK, INIT, GOOD, OFF, EVENTS }, { 0 } },
	{ "off:lost", GPUBPF_LIFECYCLE_DISABLED, F, REASON(TRACE_FACILITY_LOST), { CALLBACK, INIT, GOOD, LOST, OFF, EVENTS }, { 0 } },
	{ "off:denied", GPUBPF_LIFECYCLE_DISABLED, F, REASON(CUPTI_NOT_PERMITTED), { CALLBACK, INIT, BAD, OFF, EVENTS }, { 0 } },
	{ "off:refused", GPUBPF_LIFECYCLE_DISABLED, F, REASON(FACILITY_ENABLE_FAILED), { CALLBACK, INIT, REFUSED, OFF, EVENTS }, { 0 } },
	{ "off:late", GPUBPF_LIFECYCLE_DISABLED, F, REASON(LATE_SUCCESS), { CALLBACK, INIT, LATE_GOOD, OFF, EVENTS }, { 0 } },
	{ "off:stop", GPUBPF_LIFECYCLE_DISABLED, F, REASON(EXIT_BEFORE_CAPTURE), { CALLBACK, EXIT, OFF, EVENTS }, { 0 } },
	/* clang-format on */
};
#define STATES (sizeof(states) / sizeof(states[0]))

static struct gate arrive(const struct state *s)
{
	struct gate g;

	gate__init(&g, ALLOWANCE, WARMUP);
	for (size_t i = 0; s->way[i] != EVENTS; i++)
		CHECKF(feed(&g, s->way[i]), "the way to %s: step %zu", s->name, i);
	return g;
}

static bool is_in(const struct gate *g, const struct state *s)
{
	return g->lifecycle == s->lifecycle && g->readiness == s->readiness && g->reason == s->reason;
}

static const struct state *state_of(const char *name)
{
	for (size_t i = 0; i < STATES; i++) {
		if (strcmp(states[i].name, name) == 0)
			return &states[i];
	}
	printf("# there is no state %s\n", name);
	abort();
}

T(every_event_in_every_state)
{
	for (size_t i = 0; i < STATES; i++) {
		for (int e = 0; e < EVENTS; e++) {
			const char *to = states[i].next[e];
			struct gate g = arrive(&states[i]);
			bool changed;

			CHECKF(is_in(&g, &states[i]), "no way to %s", states[i].name);
			changed = feed(&g, (enum event)e);
			CHECKF(changed == (to && *to), "%s, event %d: it says %d", states[i].name, e,
			       changed);
			to = to && *to ? to : states[i].name;
			CHECKF(is_in(&g, state_of(to)),
			       "%s, event %d: lifecycle %d, readiness %d, reason %d, not %s", states[i].name,
			       e, g.lifecycle, g.readiness, g.reason, to);
		}
	}
}

/* Whatever comes in whatever order, for as long as it comes: what the reader of the file takes for granted. */
T(latched_whatever_comes)
{
	unsigned seed = 1;

	for (int run = 0; run < 20000; run++) {
		struct gate g, was;

		gate__init(&g, ALLOWANCE, WARMUP);
		for (int i = 0; i < 12; i++) {
			was = g;
			feed(&g, (enum event)((unsigned)rand_r(&seed) % EVENTS));
			CHECK((g.readiness == F) == (g.reason != GPUBPF_GATE_NO_REASON));
			CHECK(g.readiness != R || (g.callback && g.lifecycle != GPUBPF_LIFECYCLE_STOPPED));
			CHECK(was.readiness != F || (g.readiness == F && g.reason == was.reason));
			CHECK(was.readiness != R || g.readiness == R ||
			      g.reason == GPUBPF_GATE_TRACE_FACILITY_LOST);
			CHECK(!was.deadline || (g.deadline == was.deadline && g.touched == was.touched));
			CHECK((g.notes & was.notes) == was.notes);
			for (int k = 0; g.readiness == R && k < GATE_KINDS; k++)
				CHECK(!g.kinds[k].required || (g.kinds[k].tried && !g.kinds[k].result));
			if (t_bad)
				return;
		}
	}
}

T(one_deadline)
{
	struct gate g;

	gate__init(&g, ALLOWANCE, WARMUP);
	CHECK(!g.deadline && !g.touched);
	gate__callback(&g, TOUCH);
	CHECK(g.touched == TOUCH && g.deadline == TOUCH + ALLOWANCE + WARMUP);
	gate__warm(&g);
	gate__initialize(&g, TOUCH + WARMUP);
	CHECK(g.touched == TOUCH && g.deadline == TOUCH + ALLOWANCE + WARMUP);
	CHECK(g.notes == GPUBPF_GATE_NOTE_WARMUP_UNQUALIFIED);
	/* A healthy warmup that is longer than the allowance. */
	struct gate_outcome o = outcome(0);
	gate__finish(&g, LATE - 1, &o);
	CHECK(gate__ready(&g));
}

/* A result that is not success is not one, whatever CUPTI's log makes of it. */
T(every_result_of_every_required_kind)
{
	for (int k = 0; k < GATE_KINDS; k++) {
		bool required = outcome(0).kinds[k].required;

		for (int result = -1; result < 1000; result++) {
			struct gate g = arrive(state_of("init"));
			struct gate_outcome o = refused(k, result);

			gate__finish(&g, IN_TIME, &o);
			CHECKF(gate__ready(&g) == (!required || result == 0), "kind %d, result %d", k,
			       result);
			CHECK(!required || !result || g.reason == GPUBPF_GATE_FACILITY_ENABLE_FAILED);
			g = arrive(state_of("ready"));
			gate__again(&g, &o);
			CHECKF(gate__ready(&g) == (!required || result == 0), "again: kind %d, result %d", k,
			       result);
			CHECK(!required || !result || g.reason == GPUBPF_GATE_TRACE_FACILITY_LOST);
		}
		if (required) {
			struct gate g = arrive(state_of("init"));
			struct gate_outcome o = outcome(0);

			o.kinds[k].tried = false;
			gate__finish(&g, IN_TIME, &o);
			CHECKF(!gate__ready(&g), "kind %d not tried", k);
		}
	}
}

T(reasons_of_initializers)
{
	static const struct {
		enum gpubpf_reason failed;
		enum gpubpf_gate_reason reason;
	} rows[] = {
		{ GPUBPF_REASON_CUPTI_MISSING, REASON(CUPTI_MISSING) },
		{ GPUBPF_REASON_CUPTI_INCOMPLETE, REASON(CUPTI_MISSING) },
		{ GPUBPF_REASON_SECOND_SUBSCRIBER, REASON(SECOND_SUBSCRIBER) },
		{ GPUBPF_REASON_NOT_PERMITTED, REASON(CUPTI_NOT_PERMITTED) },
		{ GPUBPF_REASON_FACILITY, REASON(FACILITY_ENABLE_FAILED) },
		{ GPUBPF_REASON_SUBSCRIBE, REASON(INITIALIZER_FAILED) },
		{ GPUBPF_REASON_MEMORY, REASON(INITIALIZER_FAILED) },
		{ GPUBPF_REASON_FORKED, REASON(INITIALIZER_FAILED) },
		{ (enum gpubpf_reason)99, REASON(INITIALIZER_FAILED) },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gate g = arrive(state_of("init"));
		struct gate_outcome o = outcome(rows[i].failed);

		gate__finish(&g, IN_TIME, &o);
		CHECKF(g.reason == rows[i].reason, "%d gave %d", rows[i].failed, g.reason);
	}
}

T(notes_only_grow)
{
	struct gate g;

	gate__init(&g, ALLOWANCE, 0);
	CHECK(gate__note(&g, GPUBPF_GATE_NOTE_LATE_ATTACH) && !gate__note(&g, GPUBPF_GATE_NOTE_LATE_ATTACH));
	CHECK(gate__disable(&g, GPUBPF_GATE_NOTE_FORKED_CHILD));
	CHECK(!gate__disable(&g, GPUBPF_GATE_NOTE_FORKED_CHILD));
	CHECK(g.notes == (GPUBPF_GATE_NOTE_LATE_ATTACH | GPUBPF_GATE_NOTE_FORKED_CHILD));
	CHECK(g.lifecycle == GPUBPF_LIFECYCLE_DISABLED);
}

/* ---- the file ---- */

#define TOKEN "0123456789abcdef0123456789abcdef"

static struct gatefile a_file(const struct gate *g)
{
	return (struct gatefile){
		.gate = g, .token = TOKEN, .pid = 4711, .start_time = 99, .sequence = 7, .now = 123
	};
}

T(format)
{
	struct gate g = arrive(state_of("denied"));
	struct gatefile f = a_file(&g);
	char text[GPUBPF_GATE_FILE_MAX];
	size_t n;

	gate__note(&g, GPUBPF_GATE_NOTE_LATE_ATTACH | GPUBPF_GATE_NOTE_EXEC_REPLACED);
	memset(g.kinds, 0, sizeof(g.kinds));
	g.kinds[GPUBPF_FACILITY_SUBSCRIBE] = (struct gate_kind){ true, true, 0 };
	g.kinds[GPUBPF_FACILITY_KERNEL] = (struct gate_kind){ true, true, -2147483647 - 1 };
	g.kinds[GPUBPF_FACILITY_COPY_PEER] = (struct gate_kind){ true, false, 27 };
	n = gatefile__format(&f, text, sizeof(text));
	text[n] = 0;
	CHECKF(!strcmp(text,
		       "{\"schema\":\"gpubpf-gate-1\",\"token\":\"" TOKEN "\",\"pid\":4711,\"start_time\":99,"
		       "\"sequence\":7,\"lifecycle\":\"finished\",\"readiness\":\"failed\","
		       "\"reason\":\"cupti_not_permitted\",\"now\":123,\"first_touch\":100,\"deadline\":6100,"
		       "\"warmup\":5000,\"kinds\":{\"subscribe\":{\"required\":true,\"result\":0},"
		       "\"kernel\":{\"required\":true,\"result\":-2147483648},"
		       "\"copy_peer\":{\"required\":false,\"result\":27}},"
		       "\"notes\":[\"late_attach\",\"exec_replaced\"]}\n"),
	       "%s", text);
	/* Whole or not at all. */
	for (size_t size = 0; size <= n; size++)
		CHECK(gatefile__format(&f, text, size) == 0);
	CHECK(gatefile__format(&f, text, n + 1) == n);
}

T(the_longest_fits)
{
	struct gate g = { .touched = UINT64_MAX,
			  .deadline = UINT64_MAX,
			  .warmup = UINT64_MAX,
			  .notes = ~0u,
			  .reason = GPUBPF_GATE_FACILITY_ENABLE_FAILED };
	struct gatefile f = { &g, TOKEN, 2147483647, UINT64_MAX, UINT64_MAX, UINT64_MAX };
	char text[GPUBPF_GATE_FILE_MAX];

	for (int k = 1; k < GATE_KINDS; k++)
		g.kinds[k] = (struct gate_kind){ true, false, -2147483647 - 1 };
	CHECK(gatefile__format(&f, text, sizeof(text)) > 0);
}

static char dir[64];

static void make_dir(void)
{
	strcpy(dir, "/tmp/gatefile.XXXXXX");
	CHECK(mkdtemp(dir) != NULL);
}

/* Removes it; how many files were there. */
static int end_dir(void)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.' && (!e->d_name[1] || e->d_name[1] == '.'))
			continue;
		n++;
		unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d)
		closedir(d);
	rmdir(dir);
	return n;
}

T(written_and_replaced)
{
	struct gate g = arrive(state_of("seen"));
	struct gatefile f = a_file(&g);
	char path[128], was[GPUBPF_GATE_FILE_MAX] = "";
	int fd;

	make_dir();
	snprintf(path, sizeof(path), "%s/" GPUBPF_GATE_FILE, dir, f.pid);
	CHECK(gatefile__sequence(dir, &f) == 0);
	errno = 77;
	CHECK(gatefile__write(dir, &f) == 0 && errno == 77);
	/* A reader that has it open keeps the old one, whole. */
	fd = open(path, O_RDONLY);
	f.sequence = 8;
	CHECK(gatefile__write(dir, &f) == 0);
	CHECK(fd >= 0 && read(fd, was, sizeof(was) - 1) > 0 && strstr(was, "\"sequence\":7,"));
	close(fd);
	CHECK(gatefile__sequence(dir, &f) == 8);
	f.start_time++;
	CHECK(gatefile__sequence(dir, &f) == 0);
	f.start_time--;
	f.token = "";
	CHECK(gatefile__sequence(dir, &f) == 0);
	CHECK(end_dir() == 1);
}

/* Links that somebody laid there are replaced, never followed. */
T(links_are_not_followed)
{
	struct gate g = arrive(state_of("seen"));
	struct gatefile f = a_file(&g);
	char path[128], temporary[128], victim[128];
	struct stat st;

	make_dir();
	snprintf(victim, sizeof(victim), "%s/victim", dir);
	snprintf(path, sizeof(path), "%s/status-4711.json", dir);
	snprintf(temporary, sizeof(temporary), "%s/.status-4711.json.tmp", dir);
	close(open(victim, O_CREAT | O_WRONLY, 0600));
	CHECK(symlink(victim, path) == 0 && symlink(victim, temporary) == 0);
	CHECK(gatefile__write(dir, &f) == 0);
	CHECK(stat(victim, &st) == 0 && st.st_size == 0);
	CHECK(lstat(path, &st) == 0 && S_ISREG(st.st_mode));
	unlink(path);
	CHECK(mkfifo(path, 0600) == 0 && gatefile__sequence(dir, &f) == 0);
	CHECK(end_dir() == 2);
}

T(a_folder_that_cannot_be_written)
{
	struct gate g = arrive(state_of("seen"));
	struct gatefile f = a_file(&g);
	char path[128];

	CHECK(gatefile__write("/nonexistent/folder", &f) == -ENOENT);
	CHECK(gatefile__write("/dev/null", &f) == -ENOTDIR);
	CHECK(gatefile__write("/proc", &f) < 0);
	make_dir();
	snprintf(path, sizeof(path), "%s/status-4711.json", dir);
	CHECK(mkdir(path, 0700) == 0);
	CHECK(gatefile__write(dir, &f) < 0);
	rmdir(path);
	CHECK(end_dir() == 0);
}

/* Beyond the limit of file sizes a write is a signal that ends the process. */
T(a_limit_of_file_sizes)
{
	struct gate g = arrive(state_of("seen"));
	struct gatefile f = a_file(&g);
	int status = -1;
	pid_t p;

	make_dir();
	p = fork();
	if (p == 0) {
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 10, 10 });
		_exit(gatefile__write(dir, &f) == -EFBIG ? 0 : 1);
	}
	waitpid(p, &status, 0);
	CHECKF(WIFEXITED(status) && WEXITSTATUS(status) == 0, "0x%x", status);
	CHECK(end_dir() == 0);
}

TEST_MAIN
