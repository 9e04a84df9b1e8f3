/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known to be missing, each with its reason, and what can be said of the whole so far. */
#include "top/top_priv.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "join/join.h"

/* How many there were when the interval before ended. */
static uint64_t before(struct top_feed *f, const char *key, uint64_t total)
{
	uint64_t was = 0;
	size_t i = 0;

	while (i < f->nsaid && strcmp(f->said[i].key, key) != 0)
		i++;
	if (i == sizeof(f->said) / sizeof(f->said[0]))
		return 0;
	if (i == f->nsaid) {
		snprintf(f->said[i].key, sizeof(f->said[i].key), "%s", key);
		f->nsaid++;
	}
	was = f->said[i].total;
	f->said[i].total = total;
	return was < total ? was : total;
}

__attribute__((format(printf, 4, 5))) static void lost(struct top_feed *f, const char *reason, uint64_t total,
						       const char *fmt, ...)
{
	struct top_view *v = &f->view;
	struct top_loss *l = &v->loss[v->nlosses];
	va_list ap;

	if (!total || v->nlosses == sizeof(v->loss) / sizeof(v->loss[0]))
		return;
	v->nlosses++;
	l->reason = reason;
	l->total = total;
	va_start(ap, fmt);
	vsnprintf(l->text, sizeof(l->text), fmt, ap);
	va_end(ap);
}

/* One reason can stand for several things (the probes of the shim): apart by their texts' beginning behind the number. */
static void since(struct top_feed *f)
{
	struct top_view *v = &f->view;

	for (size_t i = 0; i < v->nlosses; i++) {
		struct top_loss *l = &v->loss[i];
		const char *text = l->text + strspn(l->text, "0123456789");
		char key[48];

		snprintf(key, sizeof(key), "%.20s%.27s", l->reason, text);
		l->now = l->total - before(f, key, l->total);
	}
}

/*
 * What is neither recorded nor lost yet is open, or kept by its thread (bpf/row.h): while calls go on nobody can tell
 * that from what is unexplained.
 */
static Gpubpf__Counts *with_open(const Gpubpf__Counts *c, Gpubpf__Counts *to, Gpubpf__ApiCounts *n,
				 Gpubpf__ApiCounts **list)
{
	*to = *c;
	to->api = list;
	for (size_t i = 0; i < c->n_api; i++) {
		uint64_t had;

		n[i] = *c->api[i];
		list[i] = &n[i];
		had = n[i].recorded + n[i].lost_ring + n[i].lost_thread + n[i].lost_depth + n[i].abandoned;
		n[i].in_flight = n[i].entered + n[i].nested > had ? n[i].entered + n[i].nested - had : 0;
		n[i].has_in_flight = true;
	}
	return to;
}

static void shim_losses(struct top_feed *f)
{
	static const char *const texts[16] = {
		[GPUBPF_LOSS_CUPTI_DROPPED] = "records of what ran were dropped by CUPTI",
		[GPUBPF_LOSS_NO_BUFFER] = "times CUPTI asked for a buffer and none was free",
		[GPUBPF_LOSS_CALLS] = "calls found no room in the shim",
		[GPUBPF_LOSS_NAMES] = "kernels have no name: it found no room in the shim",
		[GPUBPF_LOSS_MODULES] = "loads of modules found no room in the shim",
		[GPUBPF_LOSS_UNKNOWN_KIND] = "records of CUPTI are of an unknown kind",
		[GPUBPF_LOSS_IN_FLIGHT] = "things still ran on the device when their process ended",
		[GPUBPF_LOSS_LABELS] = "names of NVTX found no room in the shim",
	};

	for (unsigned i = 0; i < 16; i++) {
		uint64_t n = f->loss[i];
		const char *word = join_loss_name(i);

		for (const struct top_shim *s = f->shims; s; s = s->next_live)
			n += s->losses[i] + s->past_losses[i];
		lost(f, word ? word : "unknown_loss", n, "%" PRIu64 " %s", n,
		     texts[i] ? texts[i] : "losses of a kind that this version does not know");
	}
}

/* What is missing here alone, and would not be in a capture. */
static void own_losses(struct top_feed *f, const Gpubpf__Counts *c, bool end)
{
	uint64_t lost_hits = 0, gap = f->missing, seen = f->missing_seen;
	size_t first_kept;

	for (size_t i = 0; i < c->n_probe; i++)
		lost_hits += c->probe[i]->lost_hits + c->probe[i]->faults;
	for (const struct top_shim *s = f->shims; s; s = s->next_live)
		gap += top_shim__missing(s);
	f->missing_seen = gap;
	gap = gap < seen || end ? gap : seen; /* what is new may still be on its way */
	if (gap > lost_hits)
		lost(f, "device_gap", gap - lost_hits,
		     "%" PRIu64 " batches of the device observer are missing from their sequence",
		     gap - lost_hits);
	lost(f, "refused", f->refused,
	     "%" PRIu64 " entry points could not be armed: their calls are not counted", f->refused);
	lost(f, "device_bad_items", f->bad_items, "%" PRIu64 " items of the device observer cannot be used",
	     f->bad_items);
	lost(f, "invalid_time", f->bad_times, "%" PRIu64 " records of the GPU have times that cannot be",
	     f->bad_times);
	lost(f, "no_clock", f->no_clock,
	     "%" PRIu64 " records of the GPU came before the shim had said by which clock", f->no_clock);
	first_kept = f->view.nlosses;
	lost(f, "late", f->late,
	     "%" PRIu64 " records of the GPU came after their window: counted in the next", f->late);
	lost(f, "late_ns", f->late_ns, "%" PRIu64 " ns of GPU time came after their window: in no busy time",
	     f->late_ns);
	for (size_t i = first_kept; i < f->view.nlosses; i++)
		f->view.loss[i].kept = true;
	lost(f, "names_full", f->names_lost, "%" PRIu64 " names of kernels found no room here",
	     f->names_lost);
	lost(f, "shims_full", f->shims_lost,
	     "%" PRIu64 " batches are of more processes than are kept apart here", f->shims_lost);
	lost(f, "forgotten", f->forgotten,
	     "%" PRIu64 " times what functions are called was forgotten, to bound memory", f->forgotten);
}

static void judge(struct top_feed *f, const struct ledger *l, bool end)
{
	struct top_view *v = &f->view;
	const char *so_far = end ? "" : " so far";
	uint64_t open = l->total.in_flight;
	const struct top_loss *worst = NULL;
	size_t more = 0;
	char left[96] = "", also[32] = "";

	for (size_t i = 0; i < v->nlosses; i++) {
		if (v->loss[i].kept)
			continue;
		more += worst != NULL;
		worst = worst ? worst : &v->loss[i];
	}
	if (more)
		snprintf(also, sizeof(also), " (and %zu more)", more);
	if (open && !end)
		snprintf(left, sizeof(left), ", %" PRIu64 " of them open or not handed over yet", open);
	if (l->verdict == LEDGER_EMPTY || l->verdict == LEDGER_NOT_EVALUABLE) {
		snprintf(v->verdict, sizeof(v->verdict),
			 "empty%s: no call of a traced entry point was counted", so_far);
	} else if (worst) {
		snprintf(v->verdict, sizeof(v->verdict), "incomplete%s: %s%s", so_far, worst->text, also);
	} else {
		snprintf(v->verdict, sizeof(v->verdict),
			 "uncontradicted%s: %" PRIu64 " calls counted by the host observer%s; %s", so_far,
			 l->total.calls, left,
			 v->has_device ? "the device observer's records are shown, not held against them"
				       : "no device observer");
	}
}

void top_view__ledger(struct top_feed *f, const Gpubpf__Counts *c, bool end)
{
	struct ledger_input in = { .tab = f->tab, .counts = c, .late_libraries = f->late_libraries };
	Gpubpf__ApiCounts *n = calloc(c->n_api + 1, sizeof(*n)), **list = calloc(c->n_api + 1, sizeof(*list));
	struct ledger *l = malloc(sizeof(*l));
	Gpubpf__Counts open;

	if (n && list && l) {
		in.counts = end ? c : with_open(c, &open, n, list);
		ledger_compute(&in, l);
		for (unsigned i = 0; i < l->nreasons; i++)
			if (strcmp(l->reason[i].code, "no_calls") != 0)
				lost(f, l->reason[i].code, l->reason[i].count ? l->reason[i].count : 1, "%s",
				     l->reason[i].text);
		shim_losses(f);
		own_losses(f, c, end);
		since(f);
		judge(f, l, end);
	}
	free(n);
	free(list);
	free(l);
}
