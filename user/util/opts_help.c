/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/opts.h"

#include <string.h>

enum { HELP_WIDTH = 80, HELP_COLUMN = 28 };

/* Columns of UTF-8 text: continuation bytes take none. */
static size_t text_columns(const char *s, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)s[i] & 0xc0) != 0x80;
	return n;
}

/* Writes words up to HELP_WIDTH, further lines indented; `at` is the column reached. Backquotes are left out.
 */
static void wrap(FILE *f, const char *text, size_t len, size_t at, size_t indent)
{
	const char *end = text + len;
	int first = 1;

	while (text < end) {
		size_t word = 0, columns;

		while (text < end && (*text == ' ' || *text == '\n'))
			text++;
		while (text + word < end && text[word] != ' ' && text[word] != '\n')
			word++;
		if (!word)
			break;
		columns = text_columns(text, word);
		for (size_t i = 0; i < word; i++)
			columns -= text[i] == '`';
		if (!first && at + 1 + columns > HELP_WIDTH) {
			fprintf(f, "\n%*s", (int)indent, "");
			at = indent;
		} else if (!first) {
			fputc(' ', f);
			at++;
		}
		for (size_t i = 0; i < word; i++) {
			if (text[i] != '`')
				fputc(text[i], f);
		}
		at += columns;
		text += word;
		first = 0;
	}
	fputc('\n', f);
}

static void help_option(FILE *f, char letter, const char *name, const char *arg, const char *help,
			const char *default_text)
{
	const char *gap = arg && arg[0] != '[' ? " " : "";
	char left[128], right[1024];
	size_t columns;

	if (letter)
		snprintf(left, sizeof(left), "  -%c, --%s%s%s", letter, name, gap, arg ? arg : "");
	else
		snprintf(left, sizeof(left), "      --%s%s%s", name, gap, arg ? arg : "");
	snprintf(right, sizeof(right), "%s%s%s%s", help, default_text ? " (default: " : "",
		 default_text ? default_text : "", default_text ? ")" : "");
	columns = text_columns(left, strlen(left));
	fputs(left, f);
	if (columns + 2 > HELP_COLUMN) {
		fputc('\n', f);
		columns = 0;
	}
	fprintf(f, "%*s", (int)(HELP_COLUMN - columns), "");
	wrap(f, right, strlen(right), HELP_COLUMN, HELP_COLUMN);
}

void opts_help(FILE *f, const struct verb *v)
{
	fprintf(f, "Usage: gpubpf %s %s\n\n", v->name, v->synopsis);
	wrap(f, v->summary, strlen(v->summary), 0, 0);
	fputs("\nOptions:\n", f);
	for (const struct opt *o = v->opts; o && o->name; o++)
		help_option(f, o->letter, o->name, o->arg, o->help, o->has_default ? o->default_text : NULL);
	help_option(f, 'h', "help", NULL, "Show this help.", NULL);
	if (v->examples && *v->examples)
		fputs("\nExamples:\n", f);
	for (const char *line = v->examples; line && *line;) {
		size_t len = strcspn(line, "\n"), command = strcspn(line, "\t\n");

		fprintf(f, "  %.*s\n", (int)command, line);
		if (command < len) {
			fputs("      ", f);
			wrap(f, line + command + 1, len - command - 1, 6, 6);
		}
		line += len + (line[len] == '\n');
	}
	fprintf(f, "\nThe whole text: man gpubpf-%s\n", v->name);
	fprintf(f, "where that is not installed: gpubpf --man %s | man -l -\n", v->name);
}

void opts_help_index(FILE *f, const struct verb *const *verbs)
{
	fputs("Usage: gpubpf COMMAND [OPTIONS] …\n\n"
	      "What a process asks of a GPU, what the GPU did, and how far the record can be trusted.\n\n"
	      "Commands:\n",
	      f);
	for (; *verbs; verbs++) {
		fprintf(f, "  %-12s", (*verbs)->name);
		wrap(f, (*verbs)->summary, strlen((*verbs)->summary), 14, 14);
	}
	fputs("\n  gpubpf COMMAND --help   the options of one command\n"
	      "  gpubpf --version        the version\n",
	      f);
}
