/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the capture that the lines on standard input describe, with counters and footer that agree:
 *
 *   pid P        tid T        depth D     what the calls that follow have (pid sets tid too)
 *   took NS      result N                 of the next call only; took "open" or "entry" instead of NS
 *   out V        text S       trunc       of the next call only
 *   SYMBOL [ARG …]                        a call: argument words in order
 *   fork CHILD · exit                     of the process in `pid`
 *   lose SYMBOL                           a call that was counted and found no room in the ring
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "cmd.h"
#include "events.h"
#include "model/apitab.h"
#include "util/err.h"

struct scene {
	struct apitab *tab;
	struct capture_writer *w;
	struct err err;
	uint32_t pid, tid;
	uint8_t depth;
	uint64_t now, took, out;
	uint32_t flags;
	int32_t result;
	bool has_out, entry_only;
	char text[256];
	Gpubpf__ApiCounts counts[GPUBPF_API_MAX];
};

static void die(struct scene *s, const char *what)
{
	fprintf(stderr, "mkscene: %s: %s\n", what, s->err.msg);
	exit(1);
}

static uint32_t id_of(struct scene *s, const char *symbol)
{
	for (uint32_t i = 0; i < apitab__size(s->tab); i++)
		if (strcmp(apitab__get(s->tab, i)->symbol, symbol) == 0)
			return i;
	die(s, symbol);
	return 0;
}

static void next_call(struct scene *s)
{
	s->took = 1000;
	s->flags = GPUBPF_CALL_RETURNED;
	s->result = 0;
	s->has_out = false;
	s->text[0] = '\0';
}

static void count(struct scene *s, uint32_t api)
{
	Gpubpf__ApiCounts *n = &s->counts[api];

	*(s->depth ? &n->nested : &n->entered) += 1;
	if (s->flags & GPUBPF_CALL_OPEN) {
		n->in_flight++;
		return;
	}
	n->returned += s->flags & GPUBPF_CALL_RETURNED;
	n->failed += !s->depth && s->result && s->result != 600;
	n->recorded++;
}

static void call(struct scene *s, const char *symbol, char *args)
{
	union {
		struct gpubpf_call c;
		uint8_t room[sizeof(struct gpubpf_call) + 8 * GPUBPF_WORDS_MAX + sizeof(s->text)];
	} u;
	char *word, *save;

	memset(&u, 0, sizeof(u));
	u.c.kind = GPUBPF_REC_CALL;
	u.c.flags = s->flags | (s->has_out ? GPUBPF_CALL_HAS_OUT : 0);
	u.c.tgid = s->pid;
	u.c.tid = s->tid;
	u.c.t_entry = s->now;
	u.c.t_return = s->flags & GPUBPF_CALL_RETURNED ? s->now + s->took : 0;
	u.c.result = s->result;
	u.c.api = (uint16_t)id_of(s, symbol);
	u.c.depth = s->depth;
	u.c.nwords = GPUBPF_WORDS_MAX;
	u.c.out = s->has_out ? s->out : 0;
	word = strtok_r(args, " ", &save);
	for (int i = 0; word && i < GPUBPF_WORDS_MAX; i++, word = strtok_r(NULL, " ", &save))
		u.c.words[i] = strtoull(word, NULL, 0);
	if (s->text[0]) {
		u.c.nblob = (uint32_t)strlen(s->text) + 1;
		memcpy(u.c.words + GPUBPF_WORDS_MAX, s->text, u.c.nblob);
	}
	u.c.size = (uint16_t)(sizeof(u.c) + 8 * GPUBPF_WORDS_MAX + ((u.c.nblob + 7) & ~7u));
	count(s, u.c.api);
	if (capture_writer__record(s->w, (struct gpubpf_rec *)&u.c, s->now, &s->err))
		die(s, "record");
	s->now += s->took + 500;
	next_call(s);
}

static void task(struct scene *s, uint32_t event, uint32_t pid, uint32_t peer)
{
	struct gpubpf_task t = { .kind = GPUBPF_REC_TASK,
				 .size = sizeof(t),
				 .event = event,
				 .tgid = pid,
				 .tid = pid,
				 .peer = peer,
				 .time = s->now,
				 .start_time = pid,
				 .comm = "scene" };

	if (capture_writer__record(s->w, (struct gpubpf_rec *)&t, s->now, &s->err))
		die(s, "record");
	s->now += 100;
}

static void line(struct scene *s, char *text)
{
	char *verb = strsep(&text, " "), none[] = "";
	unsigned long long n;

	text = text ? text : none;
	n = strtoull(text, NULL, 0);
	if (strcmp(verb, "pid") == 0) {
		s->pid = s->tid = (uint32_t)n;
	} else if (strcmp(verb, "tid") == 0) {
		s->tid = (uint32_t)n;
	} else if (strcmp(verb, "depth") == 0) {
		s->depth = (uint8_t)n;
	} else if (strcmp(verb, "took") == 0) {
		s->took = n;
		if (strcmp(text, "open") == 0)
			s->flags = GPUBPF_CALL_OPEN;
		else if (strcmp(text, "entry") == 0)
			s->flags = 0;
		s->entry_only |= !s->flags;
	} else if (strcmp(verb, "result") == 0) {
		s->result = (int32_t)n;
	} else if (strcmp(verb, "out") == 0) {
		s->has_out = true;
		s->out = n;
	} else if (strcmp(verb, "text") == 0) {
		snprintf(s->text, sizeof(s->text), "%s", text);
	} else if (strcmp(verb, "trunc") == 0) {
		s->flags |= GPUBPF_CALL_BLOB_TRUNC;
	} else if (strcmp(verb, "fork") == 0) {
		task(s, GPUBPF_TASK_FORK, (uint32_t)n, s->pid);
	} else if (strcmp(verb, "exit") == 0) {
		task(s, GPUBPF_TASK_EXIT, s->pid, 0);
	} else if (strcmp(verb, "lose") == 0) {
		s->counts[id_of(s, text)].entered++;
		s->counts[id_of(s, text)].returned++;
		s->counts[id_of(s, text)].lost_ring++;
	} else {
		call(s, verb, text);
	}
}

static void write_meta(struct scene *s)
{
	static char *command[] = { "./scene" };
	size_t n = apitab__size(s->tab);
	Gpubpf__Api *api = calloc(n, sizeof(*api)), **apis = calloc(n, sizeof(*apis));
	Gpubpf__Meta m = GPUBPF__META__INIT;

	if (!api || !apis)
		die(s, "memory");
	for (size_t i = 0; i < n; i++) {
		const struct api *a = apitab__get(s->tab, (uint32_t)i);

		gpubpf__api__init(apis[i] = &api[i]);
		api[i].id = (uint32_t)i;
		api[i].symbol = (char *)a->symbol;
		api[i].kind = (char *)a->kind;
		api[i].signature = (char *)a->signature;
		api[i].has_legacy32 = true;
		api[i].legacy32 = a->legacy32;
	}
	m.has_start_ns = true;
	m.start_ns = 1000000;
	m.mode = "launch";
	m.attach = "session";
	m.has_entry_only = m.entry_only = s->entry_only;
	m.n_command = 1;
	m.command = command;
	m.n_api = n;
	m.api = apis;
	if (capture_writer__meta(s->w, &m, &s->err))
		die(s, "meta");
	free(api);
	free(apis);
}

static void write_end(struct scene *s)
{
	Gpubpf__ApiCounts *api[GPUBPF_API_MAX];
	Gpubpf__Counts counts = GPUBPF__COUNTS__INIT;
	Gpubpf__Footer f = GPUBPF__FOOTER__INIT;

	counts.time_ns = f.end_ns = s->now;
	counts.api = api;
	for (uint32_t i = 0; i < apitab__size(s->tab); i++)
		if (s->counts[i].entered || s->counts[i].nested)
			api[counts.n_api++] = &s->counts[i];
	f.end_reason = "target exited";
	f.counts = &counts;
	if (capture_writer__finish(s->w, &f, &s->err))
		die(s, "finish");
}

int main(int argc, char **argv)
{
	struct scene *s = calloc(1, sizeof(*s));
	char text[1024];

	if (!s || argc != 2 || apitab__builtin(&s->tab)) {
		fputs("mkscene FILE <LINES\n", stderr);
		return 2;
	}
	s->pid = s->tid = 100;
	s->now = 1000000;
	next_call(s);
	for (uint32_t i = 0; i < apitab__size(s->tab); i++) {
		gpubpf__api_counts__init(&s->counts[i]);
		s->counts[i].api = i;
		s->counts[i].has_entered = s->counts[i].has_nested = s->counts[i].has_returned = true;
		s->counts[i].has_failed = s->counts[i].has_recorded = s->counts[i].has_lost_ring = true;
		s->counts[i].has_in_flight = true;
	}
	if (capture_writer__open(argv[1], &(struct capture_writer_opts){ .force = true }, &s->w, &s->err))
		die(s, argv[1]);
	while (fgets(text, sizeof(text), stdin)) {
		text[strcspn(text, "\n")] = '\0';
		if (text[0] && text[0] != '#')
			line(s, text);
	}
	write_meta(s);
	write_end(s);
	capture_writer__close(s->w);
	apitab__free(s->tab);
	free(s);
	return 0;
}
