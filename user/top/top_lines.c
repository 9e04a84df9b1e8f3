/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/top_lines.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "util/fmt.h"

struct out {
	FILE *f;
	const char *section;
	uint64_t at, length;
};

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static double rate(uint64_t n, uint64_t length)
{
	return length ? (double)n / seconds(length) : 0;
}

static void columns(const struct out *o, const char *names)
{
	fprintf(o->f, "#%-8s %9s %8s %s\n", o->section, "AT_S", "LENGTH_S", names);
}

static void begin(const struct out *o)
{
	fprintf(o->f, "%-9s %9.3f %8.3f ", o->section, seconds(o->at), seconds(o->length));
}

__attribute__((format(printf, 2, 3))) static void row(const struct out *o, const char *fmt, ...)
{
	va_list ap;

	begin(o);
	va_start(ap, fmt);
	vfprintf(o->f, fmt, ap);
	va_end(ap);
	fputc('\n', o->f);
}

/* Names come from traced processes. */
static void last(const struct out *o, const char *name)
{
	fputc(' ', o->f);
	fmt_put_safe(o->f, name);
	fputc('\n', o->f);
}

static size_t few(size_t n)
{
	return n < TOP_LINES_ROWS ? n : TOP_LINES_ROWS;
}

static struct out section(FILE *f, const char *name, const struct top_view *v, bool gpu)
{
	return (struct out){ f, name, gpu ? v->gpu_at : v->at, gpu ? v->gpu_length : v->length };
}

static void rates(FILE *f, const struct top_view *v)
{
	struct out o = section(f, "rates", v, false);

	fprintf(f, "#%-8s %9s %8s %10s %11s %8s %9s %8s %9s %13s %13s %10s %11s %7s\n", "rates", "AT_S",
		"LENGTH_S", "LAUNCHES", "LAUNCHES/S", "GRAPHS", "GRAPHS/S", "COPIES", "COPIES/S", "BYTES",
		"BYTES/S", "CALLS", "CALLS/S", "FAILED");
	row(&o,
	    "%10" PRIu64 " %11.1f %8" PRIu64 " %9.1f %8" PRIu64 " %9.1f %13" PRIu64 " %13.0f %10" PRIu64
	    " %11.1f %7" PRIu64,
	    v->launches.n, rate(v->launches.n, v->length), v->graphs.n, rate(v->graphs.n, v->length),
	    v->copies.n, rate(v->copies.n, v->length), v->bytes.n, rate(v->bytes.n, v->length), v->calls.n,
	    rate(v->calls.n, v->length), v->failed.n);
}

static void absent(const struct out *o, const char *why)
{
	begin(o);
	fputs("absent:", o->f);
	last(o, why);
}

static void gpus(FILE *f, const struct top_view *v)
{
	struct out o = section(f, "gpu", v, v->has_device && v->gpu_length);

	columns(&o, "    PID DEVICE BUSY_% UNSURE_%    KERNELS   COPIES     SETS");
	for (size_t i = 0; i < v->ngpus; i++) {
		const struct top_gpu *g = &v->gpu[i];
		double whole = v->gpu_length ? (double)v->gpu_length / 100 : 1;

		row(&o, "%7u %6u %6.1f %8.1f %10" PRIu64 " %8" PRIu64 " %8" PRIu64, g->pid, g->device,
		    (double)g->busy / whole, (double)g->unsure / whole, g->kernels, g->copies, g->sets);
	}
	if (v->device_absent[0])
		absent(&o, v->device_absent);
}

static void kernels(FILE *f, const struct top_view *v)
{
	struct out o = section(f, "kernels", v, v->by_gpu);
	struct top_kernel rest = v->other_kernels;
	size_t n = few(v->nkernels);

	if (v->by_gpu && !v->gpu_length)
		return;
	columns(&o, "  LAUNCHES        GPU_NS    MEAN_NS NAME");
	for (size_t i = n; i < v->nkernels; i++) {
		rest.launches += v->kernel[i].launches;
		rest.ns += v->kernel[i].ns;
	}
	for (size_t i = 0; i <= n; i++) {
		const struct top_kernel *k = i < n ? &v->kernel[i] : &rest;

		if (!k->launches)
			continue;
		begin(&o);
		if (v->by_gpu)
			fprintf(f, "%10" PRIu64 " %13" PRIu64 " %10" PRIu64, k->launches, k->ns,
				k->ns / k->launches);
		else
			fprintf(f, "%10" PRIu64 " %13s %10s", k->launches, "-", "-");
		last(&o, i < n ? k->name : "(all others)");
	}
}

static void waits(FILE *f, const struct top_view *v)
{
	struct out o = section(f, "waits", v, false);
	uint64_t whole = 0;

	columns(&o, "           NS SHARE_%      CALLS CAUSE");
	for (size_t i = 0; i < v->nwaits; i++)
		whole += v->wait[i].ns;
	for (size_t i = 0; i < v->nwaits; i++)
		row(&o, "%13" PRIu64 " %7.1f %10" PRIu64 " %s", v->wait[i].ns,
		    100.0 * (double)v->wait[i].ns / (double)whole, v->wait[i].calls,
		    breakdown_names[v->wait[i].cause]);
	if (v->waits_absent[0])
		absent(&o, v->waits_absent);
	o.section = "apiwaits";
	if (v->napi_waits)
		columns(&o, "           NS      CALLS CAUSE         API");
	for (size_t i = 0; i < few(v->napi_waits); i++)
		row(&o, "%13" PRIu64 " %10" PRIu64 " %-13s %s", v->api_wait[i].ns, v->api_wait[i].calls,
		    breakdown_names[v->api_wait[i].cause], v->api_wait[i].symbol);
}

static void apis(FILE *f, const struct top_view *v)
{
	struct out o = section(f, "apis", v, false);
	struct top_api rest = { 0 };
	size_t n = few(v->napis);

	columns(&o, "     CALLS     CALLS/S  FAILED     TIMED       MEAN_NS        P99_NS API");
	for (size_t i = n; i < v->napis; i++) {
		rest.calls += v->api[i].calls;
		rest.failed += v->api[i].failed;
		rest.timed += v->api[i].timed;
		rest.ns += v->api[i].ns;
	}
	rest.mean = rest.timed ? rest.ns / rest.timed : 0;
	for (size_t i = 0; i <= n; i++) {
		const struct top_api *a = i < n ? &v->api[i] : &rest;
		char mean[24] = "-", p99[24] = "-";

		if (!a->calls && !a->timed)
			continue;
		if (a->timed)
			snprintf(mean, sizeof(mean), "%" PRIu64, a->mean);
		if (a->timed && a->symbol[0])
			snprintf(p99, sizeof(p99), "%" PRIu64, a->p99);
		row(&o, "%10" PRIu64 " %11.1f %7" PRIu64 " %9" PRIu64 " %13s %13s %s", a->calls,
		    rate(a->calls, v->length), a->failed, a->timed, mean, p99,
		    a->symbol[0] ? a->symbol : "(all others)");
	}
}

static void tasks(FILE *f, const struct top_view *v)
{
	struct out o = section(f, "tasks", v, false);

	columns(&o, "    PID     TID      CALLS   LAUNCHES  FAILED   IN_CALLS_NS     WAITED_NS COMM");
	for (size_t i = 0; i < v->ntasks; i++) {
		const struct top_task *t = &v->task[i];
		char tid[16] = "all";

		if (t->tid)
			snprintf(tid, sizeof(tid), "%u", t->tid);
		begin(&o);
		fprintf(f, "%7u %7s %10" PRIu64 " %10" PRIu64 " %7" PRIu64 " %13" PRIu64 " ", t->pid, tid,
			t->calls, t->launches, t->failed, t->ns);
		if (v->has_waits)
			fprintf(f, "%13" PRIu64, t->waited);
		else
			fprintf(f, "%13s", "-");
		last(&o, t->comm);
	}
}

static void losses(FILE *f, const struct top_view *v)
{
	struct out o = section(f, "losses", v, false);

	columns(&o, "       NOW      TOTAL REASON             TEXT");
	for (size_t i = 0; i < v->nlosses; i++) {
		begin(&o);
		fprintf(f, "%10" PRIu64 " %10" PRIu64 " %-18s", v->loss[i].now, v->loss[i].total,
			v->loss[i].reason);
		last(&o, v->loss[i].text);
	}
	if (!v->nlosses)
		row(&o, "%10d %10d %-18s %s", 0, 0, "none", "nothing is known to be lost");
	if (v->bytes_unknown)
		row(&o, "%10" PRIu64 " %10s %-18s %s", v->bytes_unknown, "-", "bytes_unknown",
		    "copies whose size is not in their records: in no bytes");
	if (v->other_tasks)
		row(&o, "%10" PRIu64 " %10s %-18s %s", v->other_tasks, "-", "threads_full",
		    "threads or calls that found no room in the table of threads");
	o.section = "verdict";
	begin(&o);
	last(&o, v->verdict);
}

void top_lines(FILE *f, const struct top_view *v)
{
	if (!v->more)
		rates(f, v);
	gpus(f, v);
	if (!v->more || v->by_gpu)
		kernels(f, v);
	if (!v->more) {
		waits(f, v);
		apis(f, v);
		tasks(f, v);
		losses(f, v);
	}
	fputc('\n', f);
}
