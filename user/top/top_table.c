/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/top_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/fmt.h"

#define COLUMNS 5

static const struct {
	const char *name;
	const char *column[COLUMNS + 1];
} tables[TOP_TABLES] = {
	[TOP_KERNELS] = { "kernels", { "time", "launches", "mean" } },
	[TOP_APIS] = { "calls", { "time", "calls", "mean", "p99", "failed" } },
	[TOP_WAITS] = { "waits", { "time", "calls" } },
	[TOP_TASKS] = { "processes", { "process", "calls", "launches", "time", "waited" } },
	[TOP_GPUS] = { "devices", { "process", "busy" } },
	[TOP_LOSSES] = { "losses", { "reason", "now" } },
};

const char *top_table_name(enum top_table t)
{
	return tables[t].name;
}

const char *top_table_column(enum top_table t, unsigned column)
{
	return column < COLUMNS ? tables[t].column[column] : NULL;
}

size_t top_table_rows(const struct top_view *v, enum top_table t)
{
	switch (t) {
	case TOP_KERNELS:
		return v->nkernels + (v->other_kernels.launches != 0);
	case TOP_APIS:
		return v->napis;
	case TOP_WAITS:
		return v->nwaits + v->napi_waits;
	case TOP_TASKS:
		return v->ntasks;
	case TOP_GPUS:
		return v->ngpus;
	case TOP_LOSSES:
		return v->nlosses;
	default:
		return 0;
	}
}

static const struct top_kernel *kernel(const struct top_view *v, size_t i)
{
	return i < v->nkernels ? &v->kernel[i] : &v->other_kernels;
}

static const struct top_wait *wait_of(const struct top_view *v, size_t i)
{
	return i < v->nwaits ? &v->wait[i] : &v->api_wait[i - v->nwaits];
}

static uint64_t mean(uint64_t ns, uint64_t n)
{
	return n ? ns / n : 0;
}

static uint64_t kernel_value(const struct top_view *v, unsigned column, const struct top_kernel *k)
{
	if (column == 1)
		return k->launches;
	if (!v->by_gpu)
		return 0;
	return column ? mean(k->ns, k->launches) : k->ns;
}

/* What stands in a column that is sorted by, the largest first; 0 where the order is the view's own. */
static uint64_t value(const struct top_view *v, enum top_table t, unsigned column, size_t i)
{
	/* all others stand last */
	if ((t == TOP_KERNELS && i == v->nkernels) || (t == TOP_APIS && !v->api[i].symbol[0]))
		return 0;
	if (t == TOP_KERNELS)
		return kernel_value(v, column, kernel(v, i));
	switch (t * 8 + column) {
	case TOP_APIS * 8 + 0:
		return v->api[i].ns;
	case TOP_APIS * 8 + 1:
		return v->api[i].calls;
	case TOP_APIS * 8 + 2:
		return v->api[i].mean;
	case TOP_APIS * 8 + 3:
		return v->api[i].p99;
	case TOP_APIS * 8 + 4:
		return v->api[i].failed;
	case TOP_WAITS * 8 + 1: /* causes stand before entry points */
		return wait_of(v, i)->calls | (i < v->nwaits ? 1ull << 63 : 0);
	case TOP_TASKS * 8 + 1:
		return v->task[i].calls;
	case TOP_TASKS * 8 + 2:
		return v->task[i].launches;
	case TOP_TASKS * 8 + 3:
		return v->task[i].ns;
	case TOP_TASKS * 8 + 4:
		return v->task[i].waited;
	case TOP_GPUS * 8 + 1:
		return v->gpu[i].busy;
	case TOP_LOSSES * 8 + 1:
		return v->loss[i].now;
	default:
		return 0;
	}
}

struct keyed {
	uint64_t value;
	size_t row;
};

static int by_value(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return x->row < y->row ? -1 : x->row > y->row;
}

void top_table_order(const struct top_view *v, enum top_table t, unsigned column, size_t *order)
{
	size_t n = top_table_rows(v, t);
	struct keyed *k = calloc(n + 1, sizeof(*k));

	for (size_t i = 0; k && i < n; i++)
		k[i] = (struct keyed){ value(v, t, column, i), i };
	if (k)
		qsort(k, n, sizeof(*k), by_value);
	for (size_t i = 0; i < n; i++)
		order[i] = k ? k[i].row : i;
	free(k);
}

void top_table_header(const struct top_view *v, enum top_table t, char *buf, size_t n)
{
	static const char *const headers[TOP_TABLES] = {
		[TOP_KERNELS] = "  LAUNCHES   GPU TIME      MEAN  KERNEL",
		[TOP_APIS] = "     CALLS  FAILED       TIME      MEAN       P99     WAITED  ENTRY POINT",
		[TOP_WAITS] = "      TIME      CALLS  WHERE THE TIME IN CALLS WENT",
		[TOP_TASKS] = "    PID     TID      CALLS   LAUNCHES  FAILED   IN CALLS     WAITED  COMMAND",
		[TOP_GPUS] = "    PID  DEVICE     BUSY   UNSURE    KERNELS     COPIES       SETS",
		[TOP_LOSSES] = "       NOW      TOTAL  REASON             WHAT",
	};

	(void)v;
	snprintf(buf, n, "%s", headers[t]);
}

const char *top_table_nothing(const struct top_view *v, enum top_table t)
{
	switch (t) {
	case TOP_KERNELS:
		return v->by_gpu && !v->gpu_length ? "the GPU's figures come a second later"
						   : "none in this interval";
	case TOP_WAITS:
		return v->has_waits ? "none in this interval" : v->waits_absent;
	case TOP_GPUS:
		return v->has_device ? "nothing ran yet" : v->device_absent;
	case TOP_LOSSES:
		return "nothing is known to be lost";
	default:
		return "none in this interval";
	}
}

static void api_row(const struct top_view *v, const struct top_api *a, char *buf, size_t n)
{
	char x[6][FMT_NUM];

	snprintf(buf, n, "%10s %7s %10s %9s %9s %10s  %s", fmt_count(x[0], a->calls),
		 fmt_count(x[1], a->failed), a->timed ? fmt_ns(x[2], a->ns) : "-",
		 a->timed ? fmt_ns(x[3], a->mean) : "-",
		 a->timed && a->symbol[0] ? fmt_ns(x[4], a->p99) : "-",
		 v->has_waits && a->timed ? fmt_ns(x[5], a->waited) : "-",
		 a->symbol[0] ? a->symbol : "(all others)");
}

static void task_row(const struct top_view *v, const struct top_task *t, char *buf, size_t n)
{
	char x[5][FMT_NUM], tid[16] = "all";

	if (t->tid)
		snprintf(tid, sizeof(tid), "%u", t->tid);
	snprintf(buf, n, "%7u %7s %10s %10s %7s %10s %10s  %s", t->pid, tid, fmt_count(x[0], t->calls),
		 fmt_count(x[1], t->launches), fmt_count(x[2], t->failed), fmt_ns(x[3], t->ns),
		 v->has_waits ? fmt_ns(x[4], t->waited) : "-", t->comm);
}

static void gpu_row(const struct top_view *v, const struct top_gpu *g, char *buf, size_t n)
{
	double whole = v->gpu_length ? (double)v->gpu_length : 1;
	char x[5][FMT_NUM];

	snprintf(buf, n, "%7u %7u %8s %8s %10s %10s %10s", g->pid, g->device,
		 fmt_percent(x[0], (double)g->busy / whole), fmt_percent(x[1], (double)g->unsure / whole),
		 fmt_count(x[2], g->kernels), fmt_count(x[3], g->copies), fmt_count(x[4], g->sets));
}

void top_table_row(const struct top_view *v, enum top_table t, size_t row, char *buf, size_t n)
{
	char x[3][FMT_NUM];
	const struct top_kernel *k;
	const struct top_wait *w;

	switch (t) {
	case TOP_KERNELS:
		k = kernel(v, row);
		snprintf(buf, n, "%10s %10s %9s  %s", fmt_count(x[0], k->launches),
			 v->by_gpu ? fmt_ns(x[1], k->ns) : "-",
			 v->by_gpu ? fmt_ns(x[2], mean(k->ns, k->launches)) : "-",
			 row < v->nkernels ? k->name : "(all others)");
		return;
	case TOP_APIS:
		api_row(v, &v->api[row], buf, n);
		return;
	case TOP_WAITS:
		w = wait_of(v, row);
		snprintf(buf, n, "%10s %10s  %s%s%s", fmt_ns(x[0], w->ns), fmt_count(x[1], w->calls),
			 w->symbol[0] ? w->symbol : "all calls", ": ", breakdown_words[w->cause]);
		return;
	case TOP_TASKS:
		task_row(v, &v->task[row], buf, n);
		return;
	case TOP_GPUS:
		gpu_row(v, &v->gpu[row], buf, n);
		return;
	default:
		snprintf(buf, n, "%10s %10s  %-18s %s", fmt_count(x[0], v->loss[row].now),
			 fmt_count(x[1], v->loss[row].total), v->loss[row].reason, v->loss[row].text);
	}
}
