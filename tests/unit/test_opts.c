/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../t.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/err.h"
#include "util/opts.h"

struct conf {
	int follow, quick;
	const char *output;
	unsigned long long calls, duration, size;
	struct opt_list pids, names;
	int colour;
};

static int parse_colour(const char *arg, void *dst, struct err *err)
{
	if (strcmp(arg, "red") != 0)
		return err_set(err, -EINVAL, "'%s' is no colour", arg);
	*(int *)dst = 7;
	return 0;
}

static const struct opt table[] = {
	{ 'q', "quick", OPT_FLAG, NULL, offsetof(struct conf, quick), "Quick.", 0, NULL, 0, NULL },
	{ 0, "no-follow", OPT_FLAG, NULL, offsetof(struct conf, follow), "Do not follow.", 1, NULL, 0, NULL },
	{ 'o', "output", OPT_STRING, "FILE", offsetof(struct conf, output),
	  "Where the capture goes; a file that is there already is never replaced without `--force`, "
	  "whatever else was asked for…",
	  0, NULL, 1, "gpubpf.capture" },
	{ 'n', "calls", OPT_UINT, "N", offsetof(struct conf, calls), "Calls.", 0, NULL, 0, NULL },
	{ 'd', "duration", OPT_DURATION, "TIME", offsetof(struct conf, duration), "Time.", 0, NULL, 0, NULL },
	{ 0, "size", OPT_SIZE, "SIZE", offsetof(struct conf, size), "Size.", 0, NULL, 0, NULL },
	{ 'p', "pid", OPT_LIST, "PID[,PID…]", offsetof(struct conf, pids), "Processes.", 0, NULL, 0, NULL },
	{ 0, "names", OPT_LIST, "NAME", offsetof(struct conf, names), "Names.", 0, NULL, 0, NULL },
	{ 'c', "colour", OPT_CALL, "COLOUR", offsetof(struct conf, colour), "Colour.", 0, parse_colour, 0,
	  NULL },
	{ 0 },
};

static const struct verb verb = {
	.name = "paint",
	.synopsis = "[OPTIONS] -- COMMAND [ARG…]",
	.summary = "Paint a process's walls.",
	.text = ".dot first\n'quote \\back `paint -o`\n\n  kept -line\n  second\n\nLast.",
	.examples = "gpubpf paint -o x\tpaints x\ngpubpf paint\tpaints the default",
	.opts = table,
	.command = 1,
};
static const struct verb no_command = { .name = "look", .opts = table };
static const struct verb *const verbs[] = { &verb, NULL };

/* Parses the words into a zeroed conf; the message ends up in `msg`. */
static struct err msg;
static int rest;
static int parse(const struct verb *v, struct conf *c, char **words)
{
	char *argv[32] = { "paint" };
	int argc = 1;

	for (; words[argc - 1]; argc++)
		argv[argc] = words[argc - 1];
	memset(c, 0, sizeof(*c));
	c->follow = 1;
	msg.msg[0] = 0;
	return opts_parse(v, argc, argv, c, &rest, &msg);
}
#define PARSE(c, ...) parse(&verb, c, (char *[]){ __VA_ARGS__, NULL })
#define PARSE_MIXED(c, ...) parse(&no_command, c, (char *[]){ __VA_ARGS__, NULL })

/* What a document function writes, as one string to be freed. */
static char *captured(void (*write)(FILE *f))
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	write(f);
	fclose(f);
	return text;
}

T(every_type_is_stored)
{
	struct conf c;

	CHECK(PARSE(&c, "-q", "--no-follow", "-o", "a", "--calls=12", "-d2m", "--size", "16M", "-c", "red",
		    "x") == 0);
	CHECK(c.quick == 1 && c.follow == 0 && c.calls == 12 && c.duration == 120000000000ULL);
	CHECK(!strcmp(c.output, "a") && c.size == 16u << 20 && c.colour == 7);
	CHECK(rest == 11);
	CHECK(PARSE(&c, "x") == 0 && c.follow == 1 && c.quick == 0 && rest == 1);
}

T(options_end_at_the_first_operand_or_at_two_dashes)
{
	struct conf c;

	CHECK(PARSE(&c, "-q", "cmd", "-o", "x") == 0 && rest == 2 && !c.output);
	CHECK(PARSE(&c, "-q", "--", "-o", "x") == 0 && rest == 3 && !c.output);
	CHECK(PARSE(&c, "--") == 0 && rest == 2);
	CHECK(PARSE(&c, "-o", "--", "x") == 0 && !strcmp(c.output, "--") && rest == 3);
	CHECK(PARSE(&c, "-", "-q") == 0 && rest == 1 && !c.quick);
}

T(options_may_follow_operands_that_are_no_command)
{
	struct conf c;

	CHECK(PARSE_MIXED(&c, "file", "-q", "other", "-o", "x") == 0 && rest == 4 && c.quick &&
	      !strcmp(c.output, "x"));
	CHECK(PARSE_MIXED(&c, "file", "--", "-q") == 0 && rest == 2 && !c.quick);
	CHECK(PARSE_MIXED(&c, "file", "--quik", "other") == -EINVAL && strstr(msg.msg, "--quik") &&
	      strstr(msg.msg, "--quick"));
}

T(a_value_may_hold_equals_signs_and_be_empty)
{
	struct conf c;

	CHECK(PARSE(&c, "--output=a=b=c") == 0 && !strcmp(c.output, "a=b=c"));
	CHECK(PARSE(&c, "--output=") == 0 && !strcmp(c.output, ""));
	CHECK(PARSE(&c, "-o", "first", "-o", "last") == 0 && !strcmp(c.output, "last"));
}

T(whole_numbers)
{
	unsigned long long v = 77;

	CHECK(opts_uint("0", &v, NULL) == 0 && v == 0);
	CHECK(opts_uint("18446744073709551615", &v, NULL) == 0 && v == ULLONG_MAX);
	CHECK(opts_uint("0xFfffFFFFffffffff", &v, NULL) == 0 && v == ULLONG_MAX);
	CHECK(opts_uint("010", &v, NULL) == 0 && v == 10);
	v = 77;
	for (const char *const *bad =
		     (const char *const[]){ "", "-1", "+1", " 1", "1 ", "1k", "0x", "0xg",
					    "18446744073709551616", "0x10000000000000000", "1.0", NULL };
	     *bad; bad++) {
		struct err e = { "" };

		CHECKF(opts_uint(*bad, &v, &e) == -EINVAL && v == 77, "'%s' was taken", *bad);
		CHECKF(strstr(e.msg, *bad), "message '%s' does not quote '%s'", e.msg, *bad);
	}
}

T(durations)
{
	static const struct {
		const char *text;
		unsigned long long ns;
	} good[] = {
		{ "10s", 10000000000ULL },
		{ "250ms", 250000000ULL },
		{ "1.5m", 90000000000ULL },
		{ "3", 3000000000ULL },
		{ "0.1", 100000000ULL },
		{ "7us", 7000 },
		{ "9ns", 9 },
		{ "2h", 7200000000000ULL },
		{ "1d", 86400000000000ULL },
		{ "0.000000001s", 1 },
		{ "0", 0 },
		{ "18446744073.709551615s", ULLONG_MAX },
	};
	unsigned long long v = 77;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECKF(opts_duration(good[i].text, &v, NULL) == 0 && v == good[i].ns, "%s gave %llu",
		       good[i].text, v);
	v = 77;
	for (const char *const *bad =
		     (const char *const[]){ "", "-1s", "s", "1 s", "1x", "1s1", "1.s", ".5s", "1e3", "0.5ns",
					    "18446744074s", "99999999999999999999999999",
					    "0.00000000000000000000001s", "1S", "inf", NULL };
	     *bad; bad++)
		CHECKF(opts_duration(*bad, &v, NULL) == -EINVAL && v == 77, "'%s' was taken", *bad);
}

T(sizes)
{
	static const struct {
		const char *text;
		unsigned long long bytes;
	} good[] = {
		{ "16M", 16u << 20 },
		{ "4KiB", 4096 },
		{ "4k", 4096 },
		{ "1.5G", 3ULL << 29 },
		{ "100", 100 },
		{ "100B", 100 },
		{ "2TiB", 2ULL << 40 },
		{ "0.5K", 512 },
		{ "0", 0 },
		{ "1g", 1u << 30 },
		{ "16777215T", 16777215ULL << 40 },
	};
	unsigned long long v = 77;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECKF(opts_size(good[i].text, &v, NULL) == 0 && v == good[i].bytes, "%s gave %llu",
		       good[i].text, v);
	v = 77;
	/* MB would mean 1000 or 1024 by taste: refused, the message offers M and MiB. */
	for (const char *const *bad =
		     (const char *const[]){ "", "-4K", "16MB", "4kib", "K", "0.3K", "0.5B", "16777216T",
					    "18446744073709551616", "1 M", NULL };
	     *bad; bad++)
		CHECKF(opts_size(*bad, &v, NULL) == -EINVAL && v == 77, "'%s' was taken", *bad);
}

T(lists_split_at_commas_and_add_up)
{
	struct conf c;

	CHECK(PARSE(&c, "-p", "1,22", "--pid=333", "--names", "a=b", "x") == 0);
	CHECK(c.pids.n == 3 && c.names.n == 1);
	CHECK(c.pids.n == 3 && !strcmp(c.pids.items[0], "1") && !strcmp(c.pids.items[1], "22") &&
	      !strcmp(c.pids.items[2], "333"));
	opts_free(&verb, &c);
	CHECK(c.pids.n == 0 && !c.pids.items);
	opts_free(&verb, &c);
	for (const char *const *bad = (const char *const[]){ "", ",", "1,", ",1", "1,,2", NULL }; *bad;
	     bad++) {
		CHECKF(PARSE(&c, "-p", (char *)*bad) == -EINVAL, "'%s' was taken", *bad);
		CHECKF(strstr(msg.msg, "--pid"), "%s", msg.msg);
		opts_free(&verb, &c);
	}
}

static void refused(char *word, char *value, const char *needle)
{
	struct conf c;

	CHECKF(PARSE(&c, word, value) == -EINVAL, "%s was taken", word);
	CHECKF(strstr(msg.msg, needle), "%s: message '%s' lacks '%s'", word, msg.msg, needle);
	opts_free(&verb, &c);
}

T(a_refusal_says_what_and_where_the_help_is)
{
	refused("--nope", NULL, "unknown option --nope");
	refused("--nope", NULL, "`gpubpf paint --help`");
	refused("--colr", "red", "did you mean --colour?");
	refused("--colr=red", NULL, "did you mean --colour?");
	refused("-z", NULL, "unknown option -z");
	refused("-qz", NULL, "unknown option -z");
	refused("-o", NULL, "--output needs a value: FILE");
	refused("--output", NULL, "--output needs a value: FILE");
	refused("--quick=1", NULL, "--quick takes no value");
	refused("--help=1", NULL, "--help takes no value");
	refused("--calls", "-1", "--calls: '-1'");
	refused("-d", "5x", "--duration: '5x' is not a duration");
	refused("--size=16MB", NULL, "--size: '16MB' is not a size");
	refused("-c", "blue", "--colour: 'blue' is no colour");
}

T(parsing_twice_starts_anew)
{
	struct conf c;

	CHECK(PARSE(&c, "-q", "-z") == -EINVAL);
	CHECK(PARSE(&c, "-qo", "x", "y") == 0 && c.quick && !strcmp(c.output, "x") && rest == 3);
}

T(nearest_name)
{
	const char *const names[] = { "record", "report", "inspect", "doctor" };

	CHECK(!strcmp(opts_nearest("recrod", names, 4), "record"));
	CHECK(!strcmp(opts_nearest("docter", names, 4), "doctor"));
	CHECK(!strcmp(opts_nearest("reports", names, 4), "report"));
	CHECK(!opts_nearest("xyz", names, 4));
	CHECK(!opts_nearest("", names, 4));
	CHECK(!opts_nearest("0123456789012345678901234567890123456789012345678901234567890123456789", names,
			    4));
}

static void write_help(FILE *f)
{
	opts_help(f, &verb);
}

T(help_is_in_the_order_of_the_table_and_80_wide)
{
	char *text = captured(write_help), *at = text;

	for (const struct opt *o = table; o->name; o++) {
		char word[64];
		char *next;

		snprintf(word, sizeof(word), "--%s", o->name);
		next = strstr(at, word);
		CHECKF(next, "%s is not in the help behind the row before it", word);
		at = next ? next : at;
	}
	CHECK(strstr(at, "-h, --help"));
	CHECK(strstr(text, "(default: gpubpf.capture)") || strstr(text, "(default:\n"));
	CHECK(!strchr(text, '`'));
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		size_t columns = 0;

		for (const char *p = line; *p; p++)
			columns += ((unsigned char)*p & 0xc0) != 0x80;
		CHECKF(columns <= 80, "%zu columns: %s", columns, line);
	}
	free(text);
}

T(help_goes_to_stdout_and_ends_parsing)
{
	int saved = dup(1), p[2];
	char buf[4096];
	struct conf c;
	ssize_t n;

	fflush(stdout);
	CHECK(pipe(p) == 0 && dup2(p[1], 1) == 1);
	CHECK(PARSE(&c, "--help", "--nope") == 1);
	fflush(stdout);
	dup2(saved, 1);
	close(saved);
	close(p[1]);
	n = read(p[0], buf, sizeof(buf) - 1);
	close(p[0]);
	buf[n > 0 ? n : 0] = 0;
	CHECK(!strncmp(buf, "Usage: gpubpf paint [OPTIONS]", 29));
}

static void write_man(FILE *f)
{
	opts_man(f, &verb, verbs, "1.2.3");
}

T(man_page_escapes_what_roff_would_obey)
{
	char *text = captured(write_man);

	CHECK(strstr(text, "\n\\&.dot first\n\\&\\(aqquote \\eback \\fBpaint \\-o\\fR\n"));
	CHECK(strstr(text, ".nf\nkept \\-line\nsecond\n.fi"));
	CHECK(strstr(text, "\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIFILE\\fR\n"));
	CHECK(strstr(text, "PID[,PID\\[u2026]]"));
	CHECK(strstr(text, "gpubpf 1.2.3"));
	CHECK(strstr(text, ".SH EXIT STATUS\n.TP\n0\n"));
	for (const char *p = text; *p; p++)
		CHECKF((unsigned char)*p < 0x80, "byte %x in the page", (unsigned char)*p);
	free(text);
}

static void write_completions(FILE *f)
{
	CHECK(opts_completion(f, verbs, "bash") == 0);
	CHECK(opts_completion(f, verbs, "zsh") == 0);
	CHECK(opts_completion(f, verbs, "fish") == 0);
	CHECK(opts_completion(f, verbs, "tcsh") == -EINVAL);
}

T(completions_name_every_option)
{
	char *text = captured(write_completions);

	for (const struct opt *o = table; o->name; o++) {
		char bash[64], zsh[64], fish[64];

		snprintf(bash, sizeof(bash), "--%s ", o->name);
		snprintf(zsh, sizeof(zsh), "'*--%s%s[", o->name, o->arg ? "=" : "");
		snprintf(fish, sizeof(fish), " -l %s ", o->name);
		CHECKF(strstr(text, bash) && strstr(text, zsh) && strstr(text, fish), "--%s is missing",
		       o->name);
	}
	free(text);
}

TEST_MAIN
