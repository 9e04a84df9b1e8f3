// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts of the observers: versions that the shim tells, which clock the times come from and how far they hold (R22). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "environment/list.h"
#include "inspect/inspect.h"
#include "model/member.h"
#include "model/procs.h"
#include "util/fmt.h"

#define NO_SHIM "no process had the shim: there was no device observer"
#define NO_HELLO "the shim did not say: none was armed"

/* Sessions of this capture. */
static const struct join_session *next(const struct env_scope *s, size_t *i)
{
	while (s->in->join && *i < join__sessions(s->in->join)) {
		const struct join_session *of = join__session(s->in->join, (*i)++);

		if (!s->member || member_of(s->in->meta, of->proc->tgid) == s->member)
			return of;
	}
	return NULL;
}

/* CUDA's and CUPTI's numbers, and texts: several where processes differ. */
struct values {
	char text[512];
	const char *why;
};

static void one_more(struct values *v, const char *text)
{
	size_t n = strlen(v->text), len = strlen(text);
	const char *at = v->text;

	while ((at = strstr(at, text)) != NULL) {
		if ((at == v->text || at[-1] == ' ') && (!at[len] || at[len] == ','))
			return;
		at += len;
	}
	snprintf(v->text + n, sizeof(v->text) - n, "%s%s", n ? ", " : "", text);
}

static void put(struct environment *e, const char *group, const char *name, const struct values *v)
{
	environment__add(e, group, name, v->text[0] ? v->text : NULL, v->why, false);
}

static const char *source_name(uint32_t source)
{
	return source == GPUBPF_TIME_MONOTONIC ? "CLOCK_MONOTONIC, by CUPTI's timestamp callback"
	       : source == GPUBPF_TIME_CUPTI   ? "CUPTI's own clock, by clock pairs"
					       : NULL;
}

static void facilities(struct values *v, const struct join_session *s)
{
	for (unsigned i = 0; i < JOIN_FACILITIES; i++)
		if (s->facility[i].tried && !s->facility[i].result && join_facility_name(i))
			one_more(v, join_facility_name(i));
}

static void hellos(struct environment *e, const struct env_scope *s)
{
	const char *why = s->in->join ? NO_HELLO : NO_SHIM;
	struct values cuda = { "", why }, cupti = cuda, file = cuda, shim = cuda, id = cuda, armed = cuda,
		      source = cuda, kinds = cuda, state = cuda;
	const struct join_session *of;
	char text[64];

	for (size_t i = 0; (of = next(s, &i)) != NULL;) {
		const struct gpubpf_hello *h = &of->hello;

		one_more(&state, of->state == JOIN_SESSION_FAILED
					 ? (of->reason ? join_reason_name(of->reason) : "failed")
					 : "armed");
		facilities(&kinds, of);
		if (!of->has_hello)
			continue;
		snprintf(text, sizeof(text), "%u.%u", h->driver_version / 1000,
			 h->driver_version % 1000 / 10);
		if (h->driver_version)
			one_more(&cuda, text);
		snprintf(text, sizeof(text), "%u", h->cupti_version);
		if (h->cupti_version)
			one_more(&cupti, text);
		if (h->cupti_path[0])
			one_more(&file, h->cupti_path);
		one_more(&shim, h->version);
		for (size_t k = 0; k < sizeof(h->build_id); k++)
			snprintf(text + 2 * k, 3, "%02x", h->build_id[k]);
		one_more(&id, text);
		if (h->arming)
			one_more(&armed, h->arming == GPUBPF_ARMED_INLINE ? "at start" : "by attach");
		if (source_name(h->time_source))
			one_more(&source, source_name(h->time_source));
	}
	environment__add(e, "driver", "CUDA driver version", cuda.text[0] ? cuda.text : NULL, why,
			 !s->in->join);
	if (s->in->join) {
		put(e, "runtime", "CUPTI version", &cupti);
		put(e, "runtime", "CUPTI file", &file);
		put(e, "runtime", "shim version", &shim);
		put(e, "runtime", "shim build id", &id);
		put(e, "capture", "device observer armed", &armed);
		put(e, "capture", "CUPTI facilities", &kinds);
	} else { /* it was not there: nothing of it is left open */
		environment__add(e, "runtime", "CUPTI version", "none in use", NULL, false);
		environment__add(e, "runtime", "shim version", "none in use", NULL, false);
		snprintf(state.text, sizeof(state.text), "none");
	}
	put(e, "capture", "device observer", &state);
	put(e, "timing", "clock of the device's times", &source);
}

/* Bounds are measured, each time others; the words beside them are what two captures are held against. */
static void device_error(struct environment *e, const struct env_scope *s)
{
	const struct join_session *of;
	bool any = false, bounded = true;
	char buf[FMT_NUM];
	uint64_t worst = 0;

	for (size_t i = 0; (of = next(s, &i)) != NULL;) {
		if (of->state == JOIN_SESSION_FAILED)
			continue;
		any = true;
		bounded &= of->has_clock_error;
		if (of->has_clock_error && of->clock_error_ns > worst)
			worst = of->clock_error_ns;
	}
	environment__add(e, "timing", "error of the device's times",
			 !any      ? NULL
			 : bounded ? "bounded"
				   : "not bounded",
			 s->in->join ? NO_HELLO : NO_SHIM, false);
	environment__add(e, "timing", "bound of that error", any && bounded ? fmt_ns(buf, worst) : NULL,
			 !any ? s->in->join ? NO_HELLO : NO_SHIM : "not measured in every session", true);
}

static void device_times(struct environment *e, const struct env_scope *s)
{
	static const unsigned kinds[] = { GPUBPF_ACTIVITY_KERNEL, GPUBPF_ACTIVITY_COPY, GPUBPF_ACTIVITY_SET };
	char name[64];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct join_times *t = s->in->join ? &join__totals(s->in->join)->times[kinds[i]] : NULL;
		const char *reason = t ? join_times_reason(kinds[i], t) : NULL;

		/* of a merged capture: over all of its members */
		snprintf(name, sizeof(name), "times of %s records", join_kind_name(kinds[i]));
		environment__add(e, "timing", name,
				 !t            ? NULL
				 : !t->records ? "no record"
				 : reason      ? reason
					       : "valid",
				 NO_SHIM, false);
	}
}

static void host_times(struct environment *e, const struct env_scope *s)
{
	const Gpubpf__Meta *m = s->in->meta;
	bool left_out = m->host_left_out, bounded = m->n_clock > 0;
	char buf[FMT_NUM];
	uint64_t worst = 0;

	environment__add(e, "timing", "clock of calls",
			 left_out ? NULL : "CLOCK_MONOTONIC, read in the kernel",
			 "the host observer was left out", false);
	for (size_t i = 0; i < m->n_clock; i++) {
		bounded &= m->clock[i]->has_error_ns;
		worst = m->clock[i]->error_ns > worst ? m->clock[i]->error_ns : worst;
	}
	environment__add(e, "timing", "clock pairs",
			 !m->n_clock ? "none"
			 : bounded   ? "bounded"
				     : "not bounded",
			 NULL, false);
	environment__add(e, "timing", "bound of clock pairs", bounded ? fmt_ns(buf, worst) : NULL,
			 m->n_clock ? "not measured in each" : "there is no pair", true);
}

void environment__observers(struct environment *e, const struct env_scope *s)
{
	hellos(e, s);
	host_times(e, s);
	device_error(e, s);
	device_times(e, s);
}
