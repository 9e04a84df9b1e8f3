// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "events.h"
#include "inspect/inspect.h"
#include "util/err.h"

static int describe_apis(struct inspection *s)
{
	int r = apitab__new(&s->tab);

	for (size_t i = 0; !r && i < s->meta->n_api; i++) {
		const Gpubpf__Api *a = s->meta->api[i];

		if (a->has_error && a->error)
			s->refused++;
		else if (a->missing)
			s->missing++;
		else
			s->armed++;
		r = a->id < GPUBPF_API_MAX
			    ? apitab__add(s->tab, a->id, a->symbol, a->kind, a->signature, a->legacy32)
			    : -EINVAL;
		if (r == -EINVAL) {
			s->bad_apis++;
			r = 0;
		}
	}
	return r;
}

int inspection__open(struct inspection *s, const char *path, struct err *err)
{
	int r;

	memset(s, 0, sizeof(*s));
	s->path = path;
	r = capture_reader__open(path, &s->reader, err);
	if (r)
		return r;
	s->meta = capture_reader__meta(s->reader);
	s->counts = capture_reader__counts(s->reader);
	s->footer = capture_reader__footer(s->reader);
	s->status = capture_reader__status(s->reader);
	r = describe_apis(s);
	return r ? err_set(err, r, "%s: %s", path, strerror(-r)) : 0;
}

void inspection__close(struct inspection *s)
{
	join__free(s->join);
	model__free(s->own_model);
	apitab__free(s->tab);
	capture_reader__close(s->reader);
}

const char *inspect_task_event(uint32_t event)
{
	static const char *const names[] = {
		[GPUBPF_TASK_SEEN] = "seen",
		[GPUBPF_TASK_FORK] = "fork",
		[GPUBPF_TASK_EXEC] = "exec",
		[GPUBPF_TASK_EXIT] = "exit",
		[GPUBPF_TASK_THREAD_EXIT] = "thread_exit",
	};

	return event < sizeof(names) / sizeof(names[0]) ? names[event] : NULL;
}

const char *inspect_call_flag(unsigned bit)
{
	static const char *const names[32] = {
		[2] = "blob_truncated", [3] = "blob_fault", [4] = "stack_fault",
		[5] = "out_fault",      [6] = "open",
	};

	return names[bit & 31];
}

const char *inspect_api_state(const Gpubpf__Api *a)
{
	return a->has_error && a->error ? "refused" : a->missing ? "missing" : "armed";
}

const char *inspect_block_kind(unsigned kind)
{
	static const char *const names[] = {
		"unknown", "records", "metadata", "counters", "strings", "footer"
	};

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : NULL;
}

bool inspect_wall(const struct inspection *s, uint64_t mono, uint64_t *wall)
{
	const Gpubpf__ClockPair *best = NULL;

	for (size_t i = 0; i < s->meta->n_clock; i++) {
		const Gpubpf__ClockPair *p = s->meta->clock[i];

		if (p->has_realtime_ns &&
		    (!best || (p->monotonic_ns <= mono && p->monotonic_ns >= best->monotonic_ns)))
			best = p;
	}
	if (!best)
		return false;
	/* An underflow or a wrap yields no anchor. */
	if (mono >= best->monotonic_ns)
		return !__builtin_add_overflow(best->realtime_ns, mono - best->monotonic_ns, wall);
	return !__builtin_sub_overflow(best->realtime_ns, best->monotonic_ns - mono, wall);
}
