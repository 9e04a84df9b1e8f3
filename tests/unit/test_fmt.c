/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../t.h"

#include <stdlib.h>

#include "util/fmt.h"

#define IS(fn, value, want) CHECKF(strcmp(fn(b, value), want) == 0, "%s, not %s", b, want)

T(numbers_have_units)
{
	char b[FMT_NUM];

	IS(fmt_count, 0, "0");
	IS(fmt_count, 999, "999");
	IS(fmt_count, 1000, "1,000");
	IS(fmt_count, 1234567, "1,234,567");
	IS(fmt_count, UINT64_MAX, "18,446,744,073,709,551,615");
	IS(fmt_bytes, 0, "0 B");
	IS(fmt_bytes, 1023, "1023 B");
	IS(fmt_bytes, 1024, "1.00 KiB");
	IS(fmt_bytes, 1536, "1.50 KiB");
	IS(fmt_bytes, 16 << 20, "16.0 MiB");
	IS(fmt_bytes, (1 << 20) - 1, "1.00 MiB");
	IS(fmt_bytes, UINT64_MAX, "16.0 EiB");
	IS(fmt_ns, 999, "999 ns");
	IS(fmt_ns, 1000, "1.00 us");
	IS(fmt_ns, 12345, "12.3 us");
	IS(fmt_ns, 999999, "1.00 ms");
	IS(fmt_ns, 45600000, "45.6 ms");
	IS(fmt_ns, 3600000000000, "3600 s");
	IS(fmt_percent, 0.1234, "12.3 %");
}

static char *printed(void (*fn)(FILE *))
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	fn(f);
	fclose(f);
	return text;
}

T(terminals_obey_nothing)
{
	static const struct {
		const char *in, *out;
	} c[] = {
		{ "void k<int>(float*)", "void k<int>(float*)" },
		{ "a\033[2Jb", "a\\x1b[2Jb" },
		{ "a\tb\nc\x7f", "a\\x09b\\x0ac\\x7f" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "\xff\xc3", "\\xff\\xc3" },
		{ "\xc0\x80", "\\xc0\\x80" },
		{ "\xc2\x9b", "\\xc2\\x9b" },
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },
		{ "\xe2\x80\xae", "\\xe2\\x80\\xae" },
		{ "\xf0\x9f\x9a\x80", "\xf0\x9f\x9a\x80" },
	};
	char b[64];

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		CHECKF(strcmp(fmt_safe(b, sizeof(b), c[i].in), c[i].out) == 0, "%zu: %s", i, b);
	CHECK(strcmp(fmt_safe(b, 4, "ab\xc3\xbc"), "ab") == 0);
	CHECK(strcmp(fmt_safe(b, 5, "ab\xc3\xbc"), "ab\xc3\xbc") == 0);
	CHECK(fmt_width("gr\xc3\xbc\xc3\x9f") == 4);
}

static void csv(FILE *f)
{
	fmt_put_csv(f, "plain");
	fputc(';', f);
	fmt_put_csv(f, "a,b");
	fputc(';', f);
	fmt_put_csv(f, "say \"hi\"\n");
}

T(csv_fields_are_quoted_when_they_must_be)
{
	char *text = printed(csv);

	CHECKF(strcmp(text, "plain;\"a,b\";\"say \"\"hi\"\"\n\"") == 0, "%s", text);
	free(text);
}

static unsigned cut;

static void table(FILE *f)
{
	static const char *const cells[] = { "calls",  "x",          "name",
					     "1",      "gr\xc3\xbc", "alpha",
					     "12,345", "b",          "a_rather_long_kernel_name\033" };
	struct fmt_table *t = fmt_table__new(3);

	fmt_table__align(t, 0, FMT_RIGHT);
	for (size_t i = 0; i < 9; i++)
		CHECK(fmt_table__cell(t, cells[i]) == 0);
	fmt_table__print(t, f, 2, cut, false);
	fmt_table__free(t);
}

T(tables_are_aligned)
{
	char *text;

	cut = 0;
	text = printed(table);
	CHECKF(strcmp(text, "   calls  x    name\n"
			    "       1  gr\xc3\xbc  alpha\n"
			    "  12,345  b    a_rather_long_kernel_name\\x1b\n") == 0,
	       "\n%s", text);
	free(text);
	cut = 27;
	text = printed(table);
	CHECKF(strcmp(text, "   calls  x    name\n"
			    "       1  gr\xc3\xbc  alpha\n"
			    "  12,345  b    a_rath…e\\x1b\n") == 0,
	       "\n%s", text);
	free(text);
}

T(colour_needs_a_terminal)
{
	FILE *f = tmpfile();

	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	CHECK(!fmt_color(f));
	CHECK(fmt_columns(f) == 0);
	fclose(f);
	f = fopen("/dev/ptmx", "r+");
	if (!f || (!fmt_color(f) && !getenv("NO_COLOR")))
		SKIP("a pseudo terminal");
	setenv("NO_COLOR", "1", 1);
	CHECK(!fmt_color(f));
	setenv("NO_COLOR", "", 1);
	CHECK(fmt_color(f));
	setenv("TERM", "dumb", 1);
	CHECK(!fmt_color(f));
	fclose(f);
}

TEST_MAIN
