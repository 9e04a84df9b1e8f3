// SPDX-License-Identifier: GPL-2.0-or-later
#include "inspect/latency.h"

#include <inttypes.h>

#include "events.h"
#include "inspect/jsonsafe.h"
#include "latency/breakdown.h"
#include "latency/futexes.h"
#include "util/fmt.h"

static void put_words(FILE *f, const char *prefix, const struct breakdown *b)
{
	const struct {
		const char *name;
		uint64_t n;
	} counts[] = {
		{ "faults", b->faults },           { "major_faults", b->major_faults },
		{ "voluntary", b->voluntary },     { "involuntary", b->involuntary },
		{ "migrations", b->migrations },   { "missed", b->missed },
		{ "ioctl_major", b->ioctl_major }, { "excess_ns", b->excess },
	};

	fprintf(f, " %sdur_ns=%" PRIu64, prefix, b->duration);
	for (unsigned c = 0; c < BREAKDOWN_CAUSES; c++)
		if (b->ns[c] || c == BREAKDOWN_ON_CPU)
			fprintf(f, " %s%s_ns=%" PRIu64, prefix, breakdown_names[c], b->ns[c]);
	if (b->has_irq)
		fprintf(f, " %sirq_ns=%" PRIu64, prefix, b->irq);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (counts[i].n)
			fprintf(f, " %s%s=%" PRIu64, prefix, counts[i].name, counts[i].n);
}

void inspect_latency_record_text(const struct gpubpf_latency *r, FILE *f)
{
	struct breakdown b;

	fprintf(f, "latency t=%" PRIu64 " pid=%u tid=%u", (uint64_t)r->t_entry, r->tgid, r->tid);
	breakdown_of_call(r, &b);
	put_words(f, "", &b);
	if (breakdown_of_gap(r, &b))
		put_words(f, "gap_", &b);
	putc('\n', f);
}

/* Times that are 0 are there: 0 was measured. What this kernel cannot tell is not. */
static json_t *parts(const struct breakdown *b)
{
	json_t *o = json_object(), *ns = json_object();

	json_put_int(o, "duration_ns", b->duration);
	for (unsigned c = 0; c < BREAKDOWN_CAUSES; c++)
		json_put_if(ns, breakdown_names[c], c != BREAKDOWN_THROTTLED || b->has_throttled, b->ns[c]);
	json_object_set_new(o, "ns", ns);
	json_put_if(o, "irq_ns", b->has_irq, b->irq);
	json_put_if(o, "excess_ns", b->excess != 0, b->excess);
	json_put_int(o, "faults", b->faults);
	json_put_int(o, "major_faults", b->major_faults);
	json_put_int(o, "voluntary_switches", b->voluntary);
	json_put_int(o, "involuntary_switches", b->involuntary);
	json_put_int(o, "migrations", b->migrations);
	json_put_int(o, "missed_switches", b->missed);
	json_put_if(o, "ioctl_major", b->ioctl_major != 0, b->ioctl_major);
	return o;
}

void inspect_latency_record_json(const struct gpubpf_latency *r, json_t *o)
{
	struct breakdown b;

	json_object_set_new(o, "record", json_string("latency"));
	json_put_int(o, "t_entry_ns", r->t_entry);
	json_put_int(o, "t_return_ns", r->t_return);
	json_put_int(o, "pid", r->tgid);
	json_put_int(o, "tid", r->tid);
	breakdown_of_call(r, &b);
	json_object_set_new(o, "call", parts(&b));
	if (!breakdown_of_gap(r, &b))
		return;
	json_put_int(o, "t_before_ns", r->t_before);
	json_object_set_new(o, "gap", parts(&b));
}

void inspect_latency_text(const struct inspection *s, FILE *f)
{
	const Gpubpf__Latency *l = s->meta->latency;
	char buf[FMT_NUM];

	if (!l && !s->breakdowns)
		return;
	fprintf(f, "\nLatency: where the time of %s calls went\n", fmt_count(buf, s->breakdowns));
	if (s->waits)
		fprintf(f, "  %s waits in a futex inside calls, with who ended them\n",
			fmt_count(buf, s->waits));
	if (!l)
		return;
	fputs("  told: ", f);
	for (size_t i = 0; i < l->n_cause; i++) {
		fputs(i ? ", " : "", f);
		fmt_put_safe(f, l->cause[i]);
	}
	putc('\n', f);
	for (size_t i = 0; i < l->n_absent; i++) {
		fputs("  absent: ", f);
		fmt_put_safe(f, l->absent[i]->what);
		fputs(": ", f);
		fmt_put_safe(f, l->absent[i]->why);
		putc('\n', f);
	}
}

static void absent(json_t *list, const char *what, const char *why)
{
	json_t *o = json_add_object(list);

	json_put_text(o, "what", what);
	json_put_text(o, "why", why);
}

json_t *inspect_latency_json(const struct inspection *s)
{
	const Gpubpf__Latency *l = s->meta->latency;
	json_t *o, *told, *none;

	if (!l && !s->breakdowns)
		return NULL;
	o = json_object();
	json_put_int(o, "records", s->breakdowns);
	json_put_int(o, "futex_waits", s->waits);
	if (!l)
		return o;
	json_put_text(o, "store", l->store);
	told = json_array();
	none = json_array();
	for (size_t i = 0; i < l->n_cause; i++)
		json_array_append_new(told, json_safe_string(l->cause[i]));
	for (size_t i = 0; i < l->n_absent; i++)
		absent(none, l->absent[i]->what, l->absent[i]->why);
	json_object_set_new(o, "told", told);
	json_object_set_new(o, "absent", none);
	return o;
}

/* ---- Waits in a futex ---- */

static const char *waker_end(const struct inspection *s, const struct gpubpf_waker *w)
{
	uint64_t wall;

	return wait_end_names[wait_end_of(w, inspect_wall(s, w->t_wake, &wall) ? wall : 0)];
}

static const char *waker_api(const struct inspection *s, uint32_t id)
{
	const struct api *a = apitab__get(s->tab, id);

	return a ? a->symbol : "?";
}

static const char *limit_clock(const struct gpubpf_waker *w)
{
	return w->flags & GPUBPF_WAKER_RELATIVE   ? "relative"
	       : w->flags & GPUBPF_WAKER_REALTIME ? "realtime"
						  : "monotonic";
}

void inspect_waker_text(const struct inspection *s, const struct gpubpf_waker *w, FILE *f)
{
	fprintf(f, "futex_wait t=%" PRIu64 " pid=%u tid=%u t_entry=%" PRIu64 " api=%s dur_ns=%" PRIu64,
		(uint64_t)w->t_wait, w->tgid, w->tid, (uint64_t)w->t_entry, waker_api(s, w->api), wait_ns(w));
	fprintf(f, " futex%s=0x%" PRIx64 " op=%u", w->flags & GPUBPF_WAKER_VECTOR ? "_list" : "",
		(uint64_t)w->futex, w->op);
	if (w->flags & GPUBPF_WAKER_LIMIT)
		fprintf(f, " limit_ns=%" PRIu64 " limit_clock=%s", (uint64_t)w->limit, limit_clock(w));
	if (w->flags & GPUBPF_WAKER_NO_LIMIT)
		fputs(" limit_unreadable", f);
	fprintf(f, " woken=%s", waker_end(s, w));
	if (w->how == GPUBPF_WAKER_THREAD) {
		fprintf(f, " waker_pid=%u waker_tid=%u by=%s comm=", w->waker_tgid, w->waker_tid,
			wait_by_name(w->by) ? wait_by_name(w->by) : "?");
		inspect_put_quoted(f, w->comm);
		if (w->flags & GPUBPF_WAKER_IN_CALL)
			fprintf(f, " waker_api=%s waker_t_entry=%" PRIu64, waker_api(s, w->waker_api),
				(uint64_t)w->waker_entry);
	}
	putc('\n', f);
}

static void put_address(json_t *o, const char *key, uint64_t address)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "0x%" PRIx64, address);
	json_object_set_new(o, key, json_string(buf));
}

void inspect_waker_json(const struct inspection *s, const struct gpubpf_waker *w, json_t *o)
{
	json_object_set_new(o, "record", json_string("futex_wait"));
	json_put_int(o, "t_wait_ns", w->t_wait);
	json_put_int(o, "t_wake_ns", w->t_wake);
	json_put_int(o, "pid", w->tgid);
	json_put_int(o, "tid", w->tid);
	json_put_int(o, "t_entry_ns", w->t_entry);
	json_object_set_new(o, "api", json_safe_string(waker_api(s, w->api)));
	put_address(o, w->flags & GPUBPF_WAKER_VECTOR ? "futex_list" : "futex", w->futex);
	json_put_if(o, "op", w->op != 0, w->op);
	if (w->flags & GPUBPF_WAKER_LIMIT) {
		json_put_int(o, "limit_ns", w->limit);
		json_object_set_new(o, "limit_clock", json_string(limit_clock(w)));
	}
	if (w->flags & GPUBPF_WAKER_NO_LIMIT)
		json_object_set_new(o, "limit_unreadable", json_true());
	json_object_set_new(o, "woken", json_string(waker_end(s, w)));
	if (w->how != GPUBPF_WAKER_THREAD)
		return;
	json_put_int(o, "waker_pid", w->waker_tgid);
	json_put_int(o, "waker_tid", w->waker_tid);
	json_object_set_new(o, "waker_comm", json_safe_string(w->comm));
	if (wait_by_name(w->by))
		json_object_set_new(o, "by", json_string(wait_by_name(w->by)));
	if (w->flags & GPUBPF_WAKER_IN_CALL) {
		json_object_set_new(o, "waker_api", json_safe_string(waker_api(s, w->waker_api)));
		json_put_int(o, "waker_t_entry_ns", w->waker_entry);
	}
}
