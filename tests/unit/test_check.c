/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of captures: what is asked for, by file and by table, and the arithmetic of blocks. */
#include "../t.h"

#include <stdlib.h>

#include "check/blocks.h"
#include "check/config.h"
#include "util/err.h"
#include "util/fmt.h"

/* ---- R34: blocks ---- */

static uint64_t gaps[2000];

static struct blocks blocks(size_t n, uint64_t size)
{
	struct blocks b;

	CHECK(blocks_of(gaps, n, size, &b) == 0);
	return b;
}

static void even(size_t n)
{
	for (size_t i = 0; i < n; i++)
		gaps[i] = 1000;
}

T(R34_auto_is_an_eighth_1259_gives_157)
{
	struct blocks b;

	even(1259);
	b = blocks(1259, 0);
	CHECK(b.size == 157 && b.whole == 8 && b.trailing == 3 && blocks__count(&b) == 9);
	CHECK(b.median == 1000 && b.lowest == 1000 && b.highest == 1000);
}

T(R34_auto_needs_32_gaps)
{
	even(64);
	CHECK(blocks(31, 0).size == 0 && blocks(31, 0).needed == 32);
	CHECK(blocks(32, 0).size == 4 && blocks(32, 0).whole == 8 && blocks(32, 0).trailing == 0);
}

T(R34_an_explicit_size_is_honoured_and_needs_two_blocks_and_16)
{
	even(1259);
	CHECK(blocks(15, 3).size == 0 && blocks(15, 3).needed == 16);
	CHECK(blocks(16, 3).size == 3 && blocks(16, 3).whole == 5 && blocks(16, 3).trailing == 1);
	CHECK(blocks(15, 7).size == 0 && blocks(15, 7).needed == 16 && blocks(16, 8).size == 8);
	CHECK(blocks(19, 10).size == 0 && blocks(19, 10).needed == 20);
	CHECK(blocks(20, 10).size == 10 && blocks(20, 10).whole == 2);
	CHECK(blocks(1259, 1).size == 1 && blocks(1259, 100).size == 100 && blocks(1259, 629).size == 629);
	CHECK(blocks(1259, 630).size == 0 && blocks(1259, 630).needed == 1260);
	CHECK(blocks(1259, UINT64_MAX).size == 0 && blocks(1259, UINT64_MAX).needed == UINT64_MAX);
}

/* What fills no block is the end of one more of the same size: a change at the very end is seen. */
T(R34_a_trailing_partial_block_is_accounted_for)
{
	struct blocks b;
	double spread;

	even(25);
	for (size_t i = 20; i < 25; i++)
		gaps[i] = 5000;
	for (size_t i = 16; i < 20; i++)
		gaps[i] = 4000;
	b = blocks(25, 8); /* three whole ones, and one gap more */
	CHECK(b.whole == 3 && b.trailing == 1 && b.highest == 5000 && b.highest_at == 4);
	CHECK(b.lowest == 1000 && b.lowest_at == 1 && b.median == 1000);
	CHECK(blocks__spread(&b, &spread) && spread == 4.0);
}

T(R34_medians_are_exact)
{
	struct blocks b;
	double spread;

	for (size_t i = 0; i < 16; i++)
		gaps[i] = i < 8 ? 10 + i : 1000000 + 2 * i;
	b = blocks(16, 8);
	CHECK(b.lowest == 13 && b.highest == 1000023 && b.median == 17 + (1000016 - 17) / 2);
	memset(gaps, 0, sizeof(gaps));
	b = blocks(16, 8);
	CHECK(blocks__spread(&b, &spread) && spread == 0);
	gaps[8] = gaps[9] = gaps[10] = gaps[11] = gaps[12] = 7;
	b = blocks(16, 8);
	CHECK(!blocks__spread(&b, &spread));
	gaps[0] = gaps[1] = UINT64_MAX;
	CHECK(blocks(16, 8).whole == 2);
}

/* ---- The file ---- */

static struct check_config config;
static struct err error;

static int parse(const char *text)
{
	check_config__clear(&config);
	check_config__init(&config);
	error.msg[0] = '\0';
	return check_config__parse(&config, "dir/gpubpf.gate", text, strlen(text), &error);
}

static bool refused(const char *text, const char *words)
{
	char safe[sizeof(error.msg) * 4];
	bool is = parse(text) == -22 && strstr(error.msg, words) &&
		  !strncmp(error.msg, "dir/gpubpf.gate:", 16) &&
		  !strcmp(fmt_safe(safe, sizeof(safe), error.msg), error.msg);

	if (!is)
		printf("# %s: %s\n", words, error.msg);
	return is;
}

T(every_key_of_the_file_does_what_its_option_does)
{
	CHECK(parse("\xef\xbb\xbf# checks\n[kernel \"saxpy\"]\n  times = 101 ; so many\nslack = 0\n"
		    "[ledger]\nrequire = reconciled\r\n[readiness]\nrequire=proven\n"
		    "[completeness]\ncount = launches\nslack = 3\n"
		    "[stationarity]\nname = step\nname = saxpy\nmark-kind = nvtx\nblock-size = 16\ntolerance = 2.5%\n"
		    "[nested]\nranges = 4:6, 2:8,0:10\nmarks = step\nkernel = gemm*\nslack = 1\n"
		    "[staging]\nmanaged = none\nhost = some\n"
		    "[budget]\nmax-delay-p99 = 50us\nmin-busy = 0.8\n"
		    "[kernel \"long\"]\nname = void at::native::f<float [2], int>(char const*)\nmax-ratio = 1.05\n"
		    "[baseline]\ncapture = good.gpubpf\nmax-regression = 3 %\npower = 90%\nallow-cross-environment = yes") ==
	      0);
	CHECKF(!error.msg[0], "%s", error.msg);
	CHECK(config.nkernels == 2 && config.kernels[0].has_launches && config.kernels[0].launches == 101);
	CHECK(config.kernels[0].has_slack && config.kernels[0].slack == 0 && config.slack == 3);
	CHECK(!strcmp(config.kernels[1].name, "void at::native::f<float [2], int>(char const*)"));
	CHECK(config.kernels[1].has_ratio && config.kernels[1].ratio > 1.0499 &&
	      config.kernels[1].ratio < 1.0501);
	CHECK(!strcmp(config.ledger, "reconciled") && !strcmp(config.readiness, "proven"));
	CHECK(config.count == CHECK_LAUNCHES && config.marks == CHECK_NVTX && config.stationary.n == 2);
	CHECK(config.block_size == 16 && config.tolerance > 0.02499 && config.tolerance < 0.02501);
	CHECK(config.nranges == 3 && config.range[0].first == 4 && config.range[2].end == 10);
	CHECK(!strcmp(config.nested_kernel, "gemm*") && config.nested_slack == 1);
	CHECK(config.staging[MEM_MANAGED] == CHECK_NONE && config.staging[MEM_HOST] == CHECK_SOME);
	CHECK(config.delay_ns == 50000 && config.busy > 0.799 && config.busy < 0.801);
	CHECK(!strcmp(config.baseline, "dir/good.gpubpf") && config.power > 0.899 &&
	      config.cross_environment);
	CHECK(config.regression > 0.02999 && config.regression < 0.03001);
	CHECK(check_config__verify(&config, &error) == 0);
	check_config__clear(&config);
}

/* One table: an option that a check has can stand in a file, and those that say how the result is shown cannot. */
T(every_option_of_a_check_has_a_key)
{
	static const char *const shown[] = { "config", "explain", "json", "junit", "github" };

	for (const struct opt *o = check_options; o->name; o++) {
		bool is_shown = false;

		for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
			is_shown |= !strcmp(o->name, shown[i]);
		CHECKF(is_shown == !check_option_key(o), "%s", o->name);
	}
}

T(hostile_files_are_refused_with_their_line)
{
	char text[4096];

	CHECK(refused("[kernel \"a\"]\n\ntimes = -1\n", ":3: times: '-1' is not a whole number"));
	CHECK(refused("[nonsense]\n", ":1: there is no section [nonsense]"));
	CHECK(refused("times = 1\n", ":1: 'times' stands in no section"));
	CHECK(refused("[ledger]\nrequired = reconciled\n",
		      ":2: there is no key 'required' in [ledger]; did you mean 'require'?"));
	CHECK(refused("[kernel a]\ntimes = 1\n", ":1: a kernel's section is [kernel \"NAME\"]"));
	CHECK(refused("[kernel]\n", ":1: a kernel's section"));
	CHECK(refused("[kernel \"\"]\n", ":1: a kernel's section"));
	CHECK(refused("[kernel \"f<int[2]>\"]\ntimes = 1\n", ":1: something stands behind the ]"));
	CHECK(refused("[ledger\nrequire = reconciled\n", ":1: the section has no ]"));
	CHECK(refused("[ledger]\nrequire\n", ":2: the line is neither"));
	CHECK(refused("[ledger]\nrequire =\n", ":2: 'require' has no value"));
	CHECK(refused("[ledger]\nrequire = whole\n", ":2: require: 'whole' is not known"));
	CHECK(refused("[budget]\nmin-busy = 120%\n", ":2: min-busy: '120%' is more than 1"));
	CHECK(refused("[budget]\nmin-busy = nan\n", ":2: min-busy: 'nan' is no share"));
	CHECK(refused("[budget]\nmax-delay-p99 = 1e3\n", ":2: max-delay-p99: "));
	CHECK(refused("[baseline]\nallow-cross-environment = maybe\n", ":2: 'maybe' is neither yes nor no"));
	CHECK(refused("[baseline]\nmax-regression = 0\n", ":2: max-regression: "));
	CHECK(refused("[staging]\nmanged = none\n",
		      ":2: manged: 'manged' is not known; did you mean 'managed'?"));
	CHECK(refused("[nested]\nranges = 1:2\n", ":2: ranges: '1:2' holds no two ranges"));
	CHECK(refused("[ledger]\n\x1b[2Jrequire = reconciled\n", ":2: there is no key '\\x1b[2Jrequire'"));
	CHECK(refused("[\x1b]0;x\x07]\n", "]"));
	snprintf(text, sizeof(text), "[kernel \"%060d\"]\ntimes = 1\n", 0);
	CHECK(refused(text, ":1: the section is longer than 48 bytes"));
	snprintf(text, sizeof(text), "[stationarity]\nname = %0300d\n", 0);
	CHECK(refused(text, ":2: the line is longer than 190 bytes"));
	snprintf(text, sizeof(text), "# %0300d\n", 0);
	CHECK(refused(text, ":1: the line is longer"));
	error.msg[0] = '\0';
	CHECK(check_config__parse(&config, "f", "[ledger]\nrequire = reconciled\0 or so\n", 37, &error) ==
		      -22 &&
	      strstr(error.msg, "f:2: the line holds a zero byte"));
	check_config__clear(&config);
}

/* An indented line is no continuation, a comment no value, and the longest line and section that are taken are taken whole. */
T(lines_mean_what_they_say)
{
	char text[512], name[256];

	CHECK(parse("[kernel \"a\"]\n\ttimes = 5\n\t slack = 2\n\n;x\n   # y\n") == 0);
	CHECK(config.kernels[0].launches == 5 && config.kernels[0].slack == 2);
	snprintf(name, sizeof(name), "%0183d", 7);
	snprintf(text, sizeof(text), "[kernel \"a\"]\nname = %s\ntimes = 1", name);
	CHECKF(parse(text) == 0, "%s", error.msg);
	CHECK(config.nkernels == 1 && !strcmp(config.kernels[0].name, name));
	snprintf(name, sizeof(name), "%039d", 7);
	snprintf(text, sizeof(text), "[kernel \"%s\"]\ntimes = 1", name);
	CHECKF(parse(text) == 0, "%s", error.msg);
	CHECK(config.nkernels == 1 && !strcmp(config.kernels[0].name, name));
	CHECK(parse("") == 0 && !check_config__asks(&config));
	CHECK(refused("[kernel \"a\"]\ntimes=1\n[kernel \"b\"]\nname = a\n",
		      ":4: the kernel 'a' has a section already"));
	check_config__clear(&config);
}

T(R33_slack_0_is_0)
{
	CHECK(parse("[completeness]\nslack = 5\n[kernel \"a\"]\ntimes = 9\nslack = 0\n[kernel \"b\"]\ntimes = 9\n") ==
	      0);
	CHECK(config.kernels[0].has_slack && config.kernels[0].slack == 0 && !config.kernels[1].has_slack &&
	      config.slack == 5);
	CHECK(refused("[kernel \"a\"]\ntimes = 0\n", ":2: times: nothing can fall short of 0"));
	check_config__clear(&config);
}

T(R37_ranges_are_half_open_and_nested_innermost_first)
{
	CHECK(parse("[nested]\nranges = 4:6,4:8,0:8\nmarks = m\n") == 0);
	CHECK(refused("[nested]\nranges = 0:8,4:6\n", "4:6 does not hold the range before it"));
	CHECK(refused("[nested]\nranges = 4:6,4:6\n", "4:6 does not hold the range before it and more"));
	CHECK(refused("[nested]\nranges = 4:6,5:9\n", "5:9 does not hold"));
	CHECK(refused("[nested]\nranges = 4:4,0:9\n", "the range 4:4 is empty: its end is no part of it"));
	CHECK(refused("[nested]\nranges = 4-5,0:9\n", "'4-5' is no range"));
	CHECK(refused("[nested]\nranges = ,\n", "holds no two ranges"));
	CHECK(refused(
		"[nested]\nranges = 16:17,15:18,14:19,13:20,12:21,11:22,10:23,9:24,8:25,7:26,6:27,5:28,4:29,3:30,2:31,1:32,0:33\n",
		"more than 16 ranges"));
	check_config__clear(&config);
}

T(what_does_not_go_together_is_refused)
{
	static const char *const bad[][2] = {
		{ "[kernel \"a\"]\n", "nothing is asked" },
		{ "[kernel \"a\"]\nslack = 1\nmax-ratio = 1\n[baseline]\ncapture = /b\n", "needs --times" },
		{ "[kernel \"a\"]\nmax-ratio = 1.1\n", "--max-ratio needs --baseline" },
		{ "[baseline]\nmax-regression = 5%\n", "needs --baseline FILE" },
		{ "[nested]\nmarks = a\n", "needs --nested RANGES" },
		{ "[nested]\nranges = 1:2,0:3\n", "needs --nested-marks" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECKF(parse(bad[i][0]) == 0, "%s", error.msg);
		CHECKF(check_config__verify(&config, &error) == -22 && strstr(error.msg, bad[i][1]), "%s",
		       error.msg);
	}
	check_config__clear(&config);
}

TEST_MAIN
