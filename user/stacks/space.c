// SPDX-License-Identifier: GPL-2.0-or-later
#include "stacks/space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "stacks/dw.h"
#include "stacks/intern.h"
#include "stacks/mappings.h"
#include "stacks/perfmap.h"
#include "stacks/quality.h"
#include "stacks/seen.h"
#include "util/clock.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define MAPS_MAX (64u << 20)
#define PERF_MAP_MAX (256u << 20)
#define KNOWN_MAX 200000
#define LOOK_AGAIN_NS 1000000000ull /* at mappings: a library may have taken another's place */
#define LOOKS_AT_ONCE 20            /* for addresses that were not among them, in LOOK_AGAIN_NS … */
#define MISSED_NS 100000000ull      /* at mappings and names, for an address that was not among them */

/* The frames of an address. */
struct known {
	UT_hash_handle hh;
	uint64_t pc;
	const char *role;
	uint32_t n, ids[];
};

struct space {
	pid_t view;
	int dir; /* its directory in /proc: no process that gets its number later is taken for it */
	struct intern *in;
	const struct seen *seen;
	struct maps maps;
	char *text; /* of /proc, that the maps are of */
	struct perfmap jit;
	uint64_t looked, jit_looked;
	uint64_t counting; /* looks are, since then */
	unsigned looks;
	unsigned ns_pid;
	bool gone;
	struct dw *dw;
	struct known *known;
};

/* Files of /proc say nothing of their size. */
static int read_at(int dir, const char *name, size_t max, char **text, size_t *len)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW), e = 0;
	size_t room = 65536, n = 0;
	char *buf;
	ssize_t got;

	if (fd < 0)
		return -errno;
	buf = malloc(room);
	while (buf && (got = read(fd, buf + n, room - n - 1)) != 0) {
		char *grown;

		if (got < 0 && errno == EINTR)
			continue;
		e = got < 0 ? -errno : n + (size_t)got > max ? -EFBIG : 0;
		if (e)
			break;
		n += (size_t)got;
		if (room - n > 1)
			continue;
		grown = realloc(buf, room * 2);
		if (!grown) {
			e = -ENOMEM;
			break;
		}
		buf = grown;
		room *= 2;
	}
	close(fd);
	if (!buf || e) {
		free(buf);
		return buf ? e : -ENOMEM;
	}
	buf[n] = '\0';
	*text = buf;
	*len = n;
	return 0;
}

static void forget(struct space *sp)
{
	struct known *k, *next;

	HASH_ITER (hh, sp->known, k, next) {
		/* NOLINTNEXTLINE(clang-analyzer-*): it believes in lists whose ends disagree */
		HASH_DEL(sp->known, k);
		free(k);
	}
}

/* Beside what is mapped now, what was: stacks may be older than an exec, or than the unloading of a library. */
static int with_seen(struct space *sp, const char *now, struct maps *maps)
{
	struct maps seen;
	char *text = strdup(now);
	size_t len;
	FILE *f;
	int e;

	e = text ? maps__parse(maps, text, strlen(text)) : -ENOMEM;
	if (e || seen__maps(sp->seen, sp->view, &seen))
		return e;
	text = NULL;
	f = open_memstream(&text, &len);
	if (f) {
		fputs(now, f);
		for (size_t i = 0; i < seen.n; i++)
			if (!maps__overlap(maps, seen.v[i].start, seen.v[i].end))
				mapping__put(&seen.v[i], f);
		if (fclose(f)) {
			free(text);
			text = NULL;
		}
	}
	maps__clear(&seen);
	maps__clear(maps);
	return text ? maps__parse(maps, text, len) : -ENOMEM;
}

static void look(struct space *sp)
{
	struct maps maps;
	char *text = NULL;
	size_t len = 0;

	sp->looked = clock_now(CLOCK_MONOTONIC);
	if (sp->gone || read_at(sp->dir, "maps", MAPS_MAX, &text, &len) || !len)
		sp->gone = true; /* or has given its memory back */
	if (sp->text && (sp->gone || !strcmp(sp->text, text))) {
		free(text);
		return;
	}
	if (with_seen(sp, text ? text : "", &maps)) {
		free(text);
		return;
	}
	maps__clear(&sp->maps);
	free(sp->text);
	sp->maps = maps;
	sp->text = text ? text : strdup("");
	forget(sp);
	if (sp->dw)
		dw__report(sp->dw, &sp->maps);
}

/* Its number in its own pid namespace, which names its map of made code. */
static unsigned ns_pid(const struct space *sp)
{
	unsigned pid = (unsigned)sp->view;
	const char *at;
	char *text;
	size_t len;

	if (read_at(sp->dir, "status", 1u << 20, &text, &len))
		return pid;
	at = strstr(text, "\nNSpid:");
	if (at) {
		const char *end = at + 1 + strcspn(at + 1, "\n"), *p = at + strlen("\nNSpid:");

		for (char *next; p < end; p = next) {
			unsigned long v = strtoul(p, &next, 10);

			if (next == p || next > end)
				break;
			pid = (unsigned)v;
		}
	}
	free(text);
	return pid;
}

int space__new(pid_t view, struct intern *in, const struct seen *seen, struct space **out)
{
	struct space *sp = calloc(1, sizeof(*sp));
	char path[32];
	int e;

	*out = NULL;
	if (!sp)
		return -ENOMEM;
	sp->view = view;
	sp->in = in;
	sp->seen = seen;
	snprintf(path, sizeof(path), "/proc/%d", view);
	sp->dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	sp->gone = sp->dir < 0;
	look(sp); /* first of all: it may be gone soon */
	e = dw__new(view, sp->dir, &sp->dw);
	if (e && e != -ENOTSUP) {
		space__free(sp);
		return e;
	}
	if (sp->dw)
		dw__report(sp->dw, &sp->maps);
	if (!sp->gone)
		sp->ns_pid = ns_pid(sp);
	*out = sp;
	return 0;
}

/* ---- Names ---- */

struct frames {
	struct space *sp;
	const struct mapping *m;
	uint64_t pc;
	uint32_t ids[GPUBPF_STACK_FRAMES];
	size_t n;
	const char *
		role; /* of the function of the last address, where it tells something of how far the stack goes */
};

static int add(struct frames *f, const struct dw_frame *d)
{
	struct intern_frame frame = { .function = d->function,
				      .source = d->source,
				      .flags = d->inlined ? GPUBPF_STACK_INLINE : 0,
				      .offset = f->pc };
	uint32_t id;
	int rc;

	if (d->function && !d->inlined)
		f->role = stack_is_start(d->function)    ? "_start"
			  : !strcmp(d->function, "main") ? "main"
							 : NULL;
	if (f->m && f->m->path[0])
		frame.module = f->m->path;
	if (frame.module)
		frame.offset = f->pc - f->m->start + f->m->offset;
	rc = intern__frame(f->sp->in, &frame, &id);
	if (rc)
		return rc;
	if (f->n < GPUBPF_STACK_FRAMES)
		f->ids[f->n++] = id;
	return 0;
}

static int on_frame(const struct dw_frame *d, void *arg)
{
	return add(arg, d);
}

static const char *made_code(struct space *sp, uint64_t pc)
{
	const char *name = perfmap__find(&sp->jit, pc);
	uint64_t now = clock_now(CLOCK_MONOTONIC);
	char path[64], *text;
	struct stat st;
	size_t len;

	if (name || sp->gone || (sp->jit_looked && now - sp->jit_looked < MISSED_NS))
		return name;
	sp->jit_looked = now;
	snprintf(path, sizeof(path), "root/tmp/perf-%u.map", sp->ns_pid);
	if (fstatat(sp->dir, path, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
	    (uint64_t)st.st_size == sp->jit.seen || read_at(sp->dir, path, PERF_MAP_MAX, &text, &len))
		return NULL;
	perfmap__clear(&sp->jit);
	if (perfmap__parse(&sp->jit, text))
		return NULL;
	sp->jit.seen = len;
	return perfmap__find(&sp->jit, pc);
}

/* Ids of an address that stays what it is, until mappings change. */
static void remember(struct space *sp, uint64_t pc, const char *role, const uint32_t *ids, size_t n)
{
	struct known *k;
	unsigned before;

	if (HASH_COUNT(sp->known) >= KNOWN_MAX)
		forget(sp);
	k = calloc(1, sizeof(*k) + n * sizeof(*ids));
	if (!k)
		return;
	k->pc = pc;
	k->role = role;
	k->n = (uint32_t)n;
	memcpy(k->ids, ids, n * sizeof(*ids));
	before = HASH_COUNT(sp->known);
	HASH_ADD(hh, sp->known, pc, sizeof(k->pc), k);
	if (HASH_COUNT(sp->known) == before)
		free(k);
}

static int frames_at(struct frames *f, uint64_t pc)
{
	struct space *sp = f->sp;
	struct dw_frame made = { 0 };
	size_t first = f->n;
	struct known *k;
	int rc;

	f->pc = pc;
	f->role = NULL;
	f->m = maps__find(&sp->maps, pc);
	HASH_FIND(hh, sp->known, &pc, sizeof(pc), k);
	if (k) {
		f->role = k->role;
		for (uint32_t i = 0; i < k->n && f->n < GPUBPF_STACK_FRAMES; i++)
			f->ids[f->n++] = k->ids[i];
		return 0;
	}
	if (f->m && mapping__is_file(f->m) && sp->dw) {
		rc = dw__frames(sp->dw, pc, on_frame, f);
	} else {
		if (f->m && !mapping__is_file(f->m))
			made.function = made_code(sp, pc);
		rc = add(f, &made);
	}
	if (!rc && f->m && mapping__is_file(f->m))
		remember(sp, pc, f->role, f->ids + first, f->n - first);
	return rc;
}

/* ---- Stacks ---- */

#if defined(__aarch64__)
#define CODE_ADDRESS(pc) ((pc)&0xffffffffffffull) /* without a signature of it (pointer authentication) */
#else
#define CODE_ADDRESS(pc) (pc)
#endif

static bool is_code(const struct space *sp, uint64_t pc)
{
	const struct mapping *m = maps__find(&sp->maps, pc);

	return m && m->exec;
}

/* Stacks without frame pointers are full of addresses that are none: these must not have all mappings read each time. */
static void look_for(struct space *sp, uint64_t pc, bool certain)
{
	uint64_t now = clock_now(CLOCK_MONOTONIC);
	bool code = is_code(sp, pc);

	if (sp->gone)
		return;
	if (now - sp->counting >= LOOK_AGAIN_NS) {
		sp->counting = now;
		sp->looks = 0;
	}
	if (code ? now - sp->looked < LOOK_AGAIN_NS
		 : !certain && sp->looks >= LOOKS_AT_ONCE && now - sp->looked < MISSED_NS)
		return;
	sp->looks += !code;
	look(sp);
}

/* The addresses of calls, up to the first that is in no code. */
static void walked(struct space *sp, const struct stack_raw *raw, struct dw_chain *c, bool *stray)
{
	*stray = false;
	c->n = 0;
	c->pc[c->n++] = CODE_ADDRESS(raw->pc) - 1;
	for (uint32_t i = 0; i < raw->n && i < STACK_ADDRESSES && !*stray; i++) {
		uint64_t pc = CODE_ADDRESS(raw->data[i]) - 1;

		if (sp->maps.n && !is_code(sp, pc))
			look_for(sp, pc, false);
		if (sp->maps.n && !is_code(sp, pc))
			*stray = true;
		else
			c->pc[c->n++] = pc;
	}
}

int space__resolve(struct space *sp, const struct stack_raw *raw, struct gpubpf_stack *s)
{
	struct frames *f = calloc(1, sizeof(*f));
	struct dw_chain *c = calloc(1, sizeof(*c));
	struct stack_walked w = { .end = (enum stack_end)raw->end, .unwound = raw->how == STACKS_COPY };
	int rc = f && c ? 0 : -ENOMEM;

	if (rc)
		goto out;
	f->sp = sp;
	look_for(sp, CODE_ADDRESS(raw->pc) - 1, true);
	if (w.unwound && sp->dw)
		dw__unwind(sp->dw, raw, c);
	if (w.unwound) {
		for (size_t i = 0; i < c->n; i++) /* code that was made, or loaded, since */
			if (!is_code(sp, c->pc[i]))
				look_for(sp, c->pc[i], false);
		w.whole = c->whole;
		w.limited = c->limited;
		if (!c->n)
			c->pc[c->n++] = CODE_ADDRESS(raw->pc) - 1;
	} else {
		walked(sp, raw, c, &w.stray);
	}
	w.frames = c->n;
	for (size_t i = 0; i < c->n && !rc; i++) {
		rc = frames_at(f, c->pc[i]);
		w.before = w.outermost;
		w.outermost = f->role;
	}
	*s = (struct gpubpf_stack){
		.kind = GPUBPF_REC_STACK,
		.size = sizeof(*s),
		.flags = GPUBPF_STACK_CALL | (raw->flags & GPUBPF_STACK_ENTRY),
		.tgid = raw->tgid,
		.tid = raw->tid,
		.t_entry = raw->t_entry,
		.api = raw->api,
		.quality = (uint8_t)stack_quality(&w),
	};
	if (sp->gone && !is_code(sp, c->pc[0]))
		s->flags |= GPUBPF_STACK_LATE;
	if (!rc)
		rc = intern__chain(sp->in, f->ids, f->n, &s->chain);
out:
	free(f);
	free(c);
	return rc;
}

void space__free(struct space *sp)
{
	if (!sp)
		return;
	dw__free(sp->dw);
	forget(sp);
	maps__clear(&sp->maps);
	perfmap__clear(&sp->jit);
	free(sp->text);
	if (sp->dir >= 0)
		close(sp->dir);
	free(sp);
}
