/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/config.h"
#include "util/err.h"

#define TOLERANCE 0.10
#define REGRESSION 0.05
#define POWER 0.80

void check_config__init(struct check_config *c)
{
	memset(c, 0, sizeof(*c));
	c->tolerance = TOLERANCE;
	c->regression = REGRESSION;
	c->power = POWER;
}

void check_config__clear(struct check_config *c)
{
	for (size_t i = 0; i < c->nkernels; i++)
		free(c->kernels[i].name);
	free(c->kernels);
	for (size_t i = 0; i < c->stationary.n; i++)
		free(c->stationary.text[i]);
	free(c->stationary.text);
	free(c->nested_marks);
	free(c->nested_kernel);
	free(c->baseline);
	memset(c, 0, sizeof(*c));
}

/* ---- Values ---- */

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

static int keep(char **to, const char *text, struct err *err)
{
	char *copy;

	if (!text[0])
		return err_set(err, -EINVAL, "a name is empty");
	copy = strdup(text);
	if (!copy)
		return no_memory(err);
	free(*to);
	*to = copy;
	return 0;
}

/* "3%" or "0.03", below `below`. No strtod(): the locale's point is not the file's, and "nan" is no share. */
static int share(const char *text, double below, double *v, struct err *err)
{
	double scale = 1, value = 0;
	const char *p = text;
	bool digits = false;

	for (; isdigit((unsigned char)*p); p++, digits = true)
		value = value * 10 + (*p - '0');
	if (*p == '.')
		for (p++; isdigit((unsigned char)*p); p++, digits = true)
			value += (scale /= 10) * (*p - '0');
	while (*p == ' ')
		p++;
	if (*p == '%') {
		value /= 100;
		p++;
	}
	if (!digits || *p || p - text > 32)
		return err_set(err, -EINVAL, "'%s' is no share: 5%% or 0.05", text);
	if (value > below)
		return err_set(err, -EINVAL, "'%s' is more than %g: say 5%% or 0.05", text, below);
	*v = value;
	return 0;
}

static int word(const char *text, const char *const *words, unsigned n, unsigned *v, struct err *err)
{
	const char *nearest = opts_nearest(text, words, n);

	for (*v = 0; *v < n; ++*v)
		if (!strcmp(text, words[*v]))
			return 0;
	if (nearest)
		return err_set(err, -EINVAL, "'%s' is not known; did you mean '%s'?", text, nearest);
	return err_set(err, -EINVAL, "'%s' is not known: it is %s or %s", text, words[0], words[n - 1]);
}

static const char *const population_words[] = { "auto", "executions", "launches", "nvtx" };

static int population(const char *text, unsigned n, enum check_population *to, struct err *err)
{
	unsigned v;
	int rc = word(text, population_words, n, &v, err);

	if (!rc)
		*to = (enum check_population)v;
	return rc;
}

/* ---- Options that parse by themselves; dst is the whole configuration ---- */

static int set_kernel(const char *arg, void *dst, struct err *err)
{
	struct check_config *c = dst;
	struct check_kernel *k;

	for (size_t i = 0; i < c->nkernels; i++)
		if (!strcmp(c->kernels[i].name, arg)) {
			c->current = i + 1;
			return 0;
		}
	k = realloc(c->kernels, (c->nkernels + 1) * sizeof(*k));
	if (!k)
		return no_memory(err);
	c->kernels = k;
	k += c->nkernels;
	memset(k, 0, sizeof(*k));
	if (keep(&k->name, arg, err))
		return -EINVAL;
	c->current = ++c->nkernels;
	return 0;
}

static struct check_kernel *of_kernel(struct check_config *c, struct err *err)
{
	if (c->current)
		return &c->kernels[c->current - 1];
	err_set(err, -EINVAL, "it belongs to a kernel: put --kernel NAME before it");
	return NULL;
}

static int set_times(const char *arg, void *dst, struct err *err)
{
	struct check_kernel *k = of_kernel(dst, err);
	unsigned long long n;

	if (!k || opts_uint(arg, &n, err))
		return -EINVAL;
	if (!n)
		return err_set(err, -EINVAL, "nothing can fall short of 0");
	k->has_launches = true;
	k->launches = n;
	return 0;
}

static int set_slack(const char *arg, void *dst, struct err *err)
{
	struct check_config *c = dst;
	struct check_kernel *k;
	unsigned long long n;
	int rc = opts_uint(arg, &n, err);

	if (rc)
		return rc;
	if (c->current) {
		k = &c->kernels[c->current - 1];
		k->has_slack = true;
		k->slack = n;
	} else {
		c->slack = n;
	}
	return 0;
}

static int set_ratio(const char *arg, void *dst, struct err *err)
{
	struct check_kernel *k = of_kernel(dst, err);

	if (!k || share(arg, 1000, &k->ratio, err))
		return -EINVAL;
	k->has_ratio = true;
	return 0;
}

static int set_count(const char *arg, void *dst, struct err *err)
{
	return population(arg, 3, &((struct check_config *)dst)->count, err);
}

static int set_marks(const char *arg, void *dst, struct err *err)
{
	return population(arg, 4, &((struct check_config *)dst)->marks, err);
}

static int set_ledger(const char *arg, void *dst, struct err *err)
{
	static const char *const words[] = { "uncontradicted", "reconciled" };
	unsigned v = 0;
	int rc = arg ? word(arg, words, 2, &v, err) : 0;

	if (!rc)
		((struct check_config *)dst)->ledger = words[v];
	return rc;
}

static int set_readiness(const char *arg, void *dst, struct err *err)
{
	static const char *const words[] = { "ready", "proven" };
	unsigned v = 0;
	int rc = arg ? word(arg, words, 2, &v, err) : 0;

	if (!rc)
		((struct check_config *)dst)->readiness = words[v];
	return rc;
}

static int set_stationary(const char *arg, void *dst, struct err *err)
{
	struct check_texts *t = &((struct check_config *)dst)->stationary;
	char **more;
	int rc;

	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->text[i], arg))
			return 0;
	more = realloc(t->text, (t->n + 1) * sizeof(*more));
	if (!more)
		return no_memory(err);
	t->text = more;
	more[t->n] = NULL;
	rc = keep(&more[t->n], arg, err);
	t->n += !rc;
	return rc;
}

static int set_tolerance(const char *arg, void *dst, struct err *err)
{
	return share(arg, 1000, &((struct check_config *)dst)->tolerance, err);
}

static int one_range(const char *text, size_t len, struct check_range *r, struct err *err)
{
	char part[64], *colon;
	unsigned long long first, end;

	snprintf(part, sizeof(part), "%.*s", (int)len, text);
	colon = strchr(part, ':');
	if (len >= sizeof(part) || !colon)
		return err_set(err, -EINVAL,
			       "'%.*s' is no range: FIRST:END, as 10:20 for marks 10 to 19, counted from 0",
			       (int)len, text);
	*colon = '\0';
	if (opts_uint(part, &first, err) || opts_uint(colon + 1, &end, err))
		return -EINVAL;
	if (first >= end)
		return err_set(err, -EINVAL, "the range %s:%s is empty: its end is no part of it", part,
			       colon + 1);
	*r = (struct check_range){ first, end };
	return 0;
}

/* R37: innermost first, each inside the next and narrower. */
static int set_nested(const char *arg, void *dst, struct err *err)
{
	struct check_config *c = dst;
	struct check_range r[CHECK_RANGES] = { 0 };
	size_t n = 0;

	for (const char *p = arg; *p; n++) {
		size_t len;

		while (*p == ' ' || *p == ',')
			p++;
		len = strcspn(p, ", ");
		if (!len)
			break;
		if (n == CHECK_RANGES)
			return err_set(err, -EINVAL, "there are more than %d ranges", CHECK_RANGES);
		if (one_range(p, len, &r[n], err))
			return -EINVAL;
		if (n && (r[n].first > r[n - 1].first || r[n].end < r[n - 1].end ||
			  r[n].end - r[n].first == r[n - 1].end - r[n - 1].first))
			return err_set(
				err, -EINVAL,
				"%.*s does not hold the range before it and more: ranges are nested, the innermost first",
				(int)len, p);
		p += len;
	}
	if (n < 2)
		return err_set(err, -EINVAL, "'%s' holds no two ranges", arg);
	memcpy(c->range, r, sizeof(r[0]) * n);
	c->nranges = n;
	return 0;
}

static int set_nested_marks(const char *arg, void *dst, struct err *err)
{
	return keep(&((struct check_config *)dst)->nested_marks, arg, err);
}

static int set_nested_kernel(const char *arg, void *dst, struct err *err)
{
	return keep(&((struct check_config *)dst)->nested_kernel, arg, err);
}

static int set_staging(const char *arg, void *dst, struct err *err)
{
	static const char *const words[] = { "any", "none", "some" };
	const char *is = strchr(arg, '=');
	char kind[32];
	unsigned k, v;

	if (!is)
		return err_set(err, -EINVAL, "'%s' is not KIND=none or KIND=some", arg);
	snprintf(kind, sizeof(kind), "%.*s", (int)(is - arg), arg);
	if (word(kind, mem_kind_names, MEM_OTHER, &k, err) || word(is + 1, words, 3, &v, err))
		return -EINVAL;
	((struct check_config *)dst)->staging[k] = (enum check_wants)v;
	return 0;
}

static int set_delay(const char *arg, void *dst, struct err *err)
{
	struct check_config *c = dst;
	unsigned long long ns;
	int rc = opts_duration(arg, &ns, err);

	if (!rc) {
		c->has_delay = true;
		c->delay_ns = ns;
	}
	return rc;
}

static int set_busy(const char *arg, void *dst, struct err *err)
{
	struct check_config *c = dst;
	int rc = share(arg, 1, &c->busy, err);

	if (!rc)
		c->has_busy = true;
	return rc;
}

static int set_baseline(const char *arg, void *dst, struct err *err)
{
	return keep(&((struct check_config *)dst)->baseline, arg, err);
}

static int set_regression(const char *arg, void *dst, struct err *err)
{
	struct check_config *c = dst;
	int rc = share(arg, 1000, &c->regression, err);

	if (!rc && c->regression <= 0)
		return err_set(
			err, -EINVAL,
			"no number of launches can prove that nothing at all changed: give more than 0");
	if (!rc)
		c->has_regression = true;
	return rc;
}

static int set_power(const char *arg, void *dst, struct err *err)
{
	struct check_config *c = dst;
	int rc = share(arg, 0.999, &c->power, err);

	if (!rc && c->power < 0.5)
		return err_set(err, -EINVAL, "'%s' is less than 50%%: a coin would see as much", arg);
	return rc;
}

#define ALL(fn) .type = OPT_CALL, .call = (fn)
#define O(field) .offset = offsetof(struct check_config, field)

/* clang-format off */
const struct opt check_options[] = {
	{ .letter = 'c', .name = "config", .type = OPT_STRING, .arg = "FILE", O(file),
	  .help = "Read checks from this file; what the command line says comes on top. Without it, and without a check on the "
		  "command line, gpubpf.gate in this directory." },
	{ .letter = 'k', .name = "kernel", ALL(set_kernel), .arg = "NAME",
	  .help = "The kernel that --times, --slack and --max-ratio behind it belong to: its whole name as reports show it or as "
		  "in the module; where no kernel is called so, a shell pattern. Several -k are several kernels." },
	{ .letter = 't', .name = "times", ALL(set_times), .arg = "N",
	  .help = "completeness: the kernel ran at least so often. Fewer, by more than --slack, fails; more passes and is called an "
		  "overshoot." },
	{ .name = "slack", ALL(set_slack), .arg = "N",
	  .help = "How many may be missing of the kernel before it; before any -k: of each that has no slack of its own.",
	  .has_default = 1, .default_text = "0" },
	{ .name = "count", ALL(set_count), .arg = "WHAT",
	  .help = "What completeness counts: executions (kernel records of the device: launches and nodes of graphs) or launches "
		  "(calls of the host observer, those captured into a graph left out).",
	  .has_default = 1, .default_text = "executions where the device was observed" },
	{ .name = "ledger", ALL(set_ledger), .arg = "[=VERDICT]",
	  .help = "The capture's verdict is at least uncontradicted, or reconciled." },
	{ .name = "readiness", ALL(set_readiness), .arg = "[=HOW]",
	  .help = "Capture was ready in every process before CUDA was used, by the shim's word (ready), or by the kernel's records, "
		  "too (proven)." },
	{ .name = "stationary", ALL(set_stationary), .arg = "NAME",
	  .help = "stationarity: the medians of blocks of gaps between marks of this name agree within --tolerance. Several are "
		  "several checks." },
	{ .name = "mark-kind", ALL(set_marks), .arg = "KIND",
	  .help = "What the marks of --stationary and --nested-marks are: executions or launches of a kernel, or nvtx (marks and "
		  "starts of ranges, recorded with record --cupti nvtx).",
	  .has_default = 1, .default_text = "executions where the device was observed, else launches" },
	{ .name = "block-size", .type = OPT_UINT, .arg = "N", O(block_size),
	  .help = "Gaps in a block, exactly so many; 0: an eighth of all.", .has_default = 1, .default_text = "0" },
	{ .name = "tolerance", ALL(set_tolerance), .arg = "SHARE",
	  .help = "How far the highest and the lowest median of a block may be apart, of the median of all gaps.",
	  .has_default = 1, .default_text = "10%" },
	{ .name = "nested", ALL(set_nested), .arg = "RANGES",
	  .help = "FIRST:END,FIRST:END…, ranges of --nested-marks, half-open, counted from 0, the innermost first: the launches in "
		  "them grow strictly, from each to the next by at least what its width grows less --nested-slack." },
	{ .name = "nested-marks", ALL(set_nested_marks), .arg = "NAME",
	  .help = "The marks that --nested counts; --mark-kind says what they are." },
	{ .name = "nested-kernel", ALL(set_nested_kernel), .arg = "NAME",
	  .help = "Count the launches of this kernel alone in the ranges.", .has_default = 1, .default_text = "all kernels" },
	{ .name = "nested-slack", .type = OPT_UINT, .arg = "N", O(nested_slack),
	  .help = "By how many a step of --nested may fall short.", .has_default = 1, .default_text = "0" },
	{ .name = "staging", ALL(set_staging), .arg = "KIND=HOW",
	  .help = "Allocations of a kind of memory: none was made, or some were. KIND: device, pitch, managed, host, registered, "
		  "pool, virtual, array." },
	{ .name = "max-delay-p99", ALL(set_delay), .arg = "TIME",
	  .help = "budget: the 99th percentile of the launch delay, from the entry of a call to the start on the device." },
	{ .name = "min-busy", ALL(set_busy), .arg = "SHARE",
	  .help = "budget: how much of its window each device is busy with work of its process." },
	{ .name = "max-ratio", ALL(set_ratio), .arg = "X",
	  .help = "budget of the kernel before it: the median time of each of its launch keys, divided by that of --baseline." },
	{ .name = "baseline", ALL(set_baseline), .arg = "FILE",
	  .help = "An earlier capture of the same workload, for --max-ratio and --max-regression." },
	{ .name = "max-regression", ALL(set_regression), .arg = "SHARE",
	  .help = "no-regression: no launch key takes longer than in the baseline by more than this. Passes when that is shown, fails "
		  "when the contrary is; what the launches cannot show is not evaluable.",
	  .has_default = 1, .default_text = "5% with --baseline alone" },
	{ .name = "power", ALL(set_power), .arg = "SHARE",
	  .help = "How surely a regression of that size must be seen for the check to count.",
	  .has_default = 1, .default_text = "80%" },
	{ .name = "allow-cross-environment", .type = OPT_FLAG, O(cross_environment),
	  .help = "Compare with a baseline of another environment, or of one that is not known: labelled non-causal." },
	{ .name = "explain", .type = OPT_FLAG, O(explain),
	  .help = "Say of each check that failed or could not be evaluated what was seen, what instrument is missing and what "
		  "supplies it." },
	{ .name = "json", .type = OPT_FLAG, O(json), .help = "Print one JSON object." },
	{ .name = "junit", .type = OPT_STRING, .arg = "FILE", O(junit),
	  .help = "Write the checks as JUnit XML, too: a test suite for each capture. What could not be evaluated is an error there." },
	{ .name = "github", .type = OPT_FLAG, O(github),
	  .help = "Print what did not pass as annotations of GitHub Actions, too." },
	{ 0 },
};

/* clang-format on */
