/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/opts.h"

#include <ctype.h>
#include <string.h>

/* One UTF-8 sequence as a code point; its length, or 1 for a byte that starts none. */
static size_t utf8_decode(const char *s, size_t len, unsigned *cp)
{
	unsigned char c = (unsigned char)s[0];
	size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

	if (n == 1 || n > len) {
		*cp = c;
		return 1;
	}
	*cp = c & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++)
		*cp = *cp << 6 | ((unsigned char)s[i] & 0x3f);
	return n;
}

/* Text as roff takes it literally. A line of it never becomes a request; `backquotes` turn bold on and off.
 */
static void roff(FILE *f, const char *s, size_t len)
{
	int bold = 0, line_start = 1;

	while (len) {
		unsigned cp;
		size_t n = utf8_decode(s, len, &cp);

		if (line_start && (cp == '.' || cp == '\''))
			fputs("\\&", f);
		line_start = cp == '\n';
		if (cp == '`')
			fputs((bold = !bold) ? "\\fB" : "\\fR", f);
		else if (cp == '\\')
			fputs("\\e", f);
		else if (cp == '-')
			fputs("\\-", f);
		else if (cp == '\'')
			fputs("\\(aq", f);
		else if (cp == '^' || cp == '~')
			fputs(cp == '^' ? "\\(ha" : "\\(ti", f);
		else if (cp >= 0x80)
			fprintf(f, "\\[u%04X]", cp);
		else
			fputc((int)cp, f);
		s += n;
		len -= n;
	}
	if (bold)
		fputs("\\fR", f);
}

static void roff_str(FILE *f, const char *s)
{
	roff(f, s, strlen(s));
}

static void man_title(FILE *f, const char *page, const char *version)
{
	fprintf(f, ".TH \"%s\" 1 \"\" \"gpubpf %s\" \"gpubpf manual\"\n.nh\n.ad l\n", page, version);
}

/* Paragraphs separated by blank lines; one whose lines start with two spaces keeps its lines. */
static void man_paragraphs(FILE *f, const char *text)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");
		size_t len = end ? (size_t)(end - text) : strlen(text);
		int keep = !strncmp(text, "  ", 2);

		fputs(keep ? ".PP\n.RS 4\n.nf\n" : ".PP\n", f);
		for (size_t at = 0; at < len;) {
			size_t n = strcspn(text + at, "\n"),
			       skip = keep && !strncmp(text + at, "  ", 2) ? 2 : 0;

			if (at + n > len)
				n = len - at;
			roff(f, text + at + skip, n - skip);
			fputc('\n', f);
			at += n + 1;
		}
		fputs(keep ? ".fi\n.RE\n" : "", f);
		text += len;
		text += strspn(text, "\n");
	}
}

static void man_option(FILE *f, char letter, const char *name, const char *arg, const char *help,
		       const char *default_text)
{
	fputs(".TP\n", f);
	if (letter)
		fprintf(f, "\\fB\\-%c\\fR, ", letter);
	fputs("\\fB\\-\\-", f);
	roff_str(f, name);
	fputs("\\fR", f);
	if (arg) {
		fputs(arg[0] == '[' ? "\\fI" : " \\fI", f);
		roff_str(f, arg);
		fputs("\\fR", f);
	}
	fputc('\n', f);
	roff_str(f, help);
	if (default_text) {
		fputs(" Default: ", f);
		roff_str(f, default_text);
		fputc('.', f);
	}
	fputc('\n', f);
}

static void man_exit_status(FILE *f, const char *text)
{
	fputs(".SH EXIT STATUS\n", f);
	if (text)
		man_paragraphs(f, text);
	else
		fputs(".TP\n0\nDone.\n.TP\n1\nFailed; the reason was printed on standard error.\n"
		      ".TP\n2\nWrong usage.\n",
		      f);
}

static void man_examples(FILE *f, const char *examples)
{
	if (!examples || !*examples)
		return;
	fputs(".SH EXAMPLES\n", f);
	for (const char *line = examples; *line;) {
		size_t len = strcspn(line, "\n"), command = strcspn(line, "\t\n");

		fputs(".TP\n\\fB", f);
		roff(f, line, command);
		fputs("\\fR\n", f);
		if (command < len)
			roff(f, line + command + 1, len - command - 1);
		fputc('\n', f);
		line += len + (line[len] == '\n');
	}
}

void opts_man(FILE *f, const struct verb *v, const struct verb *const *verbs, const char *version)
{
	char page[64] = "GPUBPF-";
	size_t at = strlen(page);

	for (const char *c = v->name; *c && at < sizeof(page) - 1; c++)
		page[at++] = (char)toupper((unsigned char)*c);
	man_title(f, page, version);
	fprintf(f, ".SH NAME\ngpubpf\\-%s \\- ", v->name);
	roff_str(f, v->summary);
	fprintf(f, "\n.SH SYNOPSIS\n\\fBgpubpf %s\\fR ", v->name);
	roff_str(f, v->synopsis);
	fputs("\n.SH DESCRIPTION\n", f);
	man_paragraphs(f, v->text && *v->text ? v->text : v->summary);
	fputs(".SH OPTIONS\n", f);
	for (const struct opt *o = v->opts; o && o->name; o++)
		man_option(f, o->letter, o->name, o->arg, o->help, o->has_default ? o->default_text : NULL);
	man_option(f, 'h', "help", NULL, "Show a short help.", NULL);
	man_exit_status(f, v->exit_status);
	man_examples(f, v->examples);
	fputs(".SH SEE ALSO\n\\fBgpubpf\\fR(1)", f);
	for (; *verbs; verbs++) {
		if (*verbs != v)
			fprintf(f, ",\n\\fBgpubpf\\-%s\\fR(1)", (*verbs)->name);
	}
	fputc('\n', f);
}

void opts_man_index(FILE *f, const struct verb *const *verbs, const char *version)
{
	man_title(f, "GPUBPF", version);
	fputs(".SH NAME\ngpubpf \\- record and explain what processes ask of a GPU\n"
	      ".SH SYNOPSIS\n\\fBgpubpf\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n"
	      ".SH DESCRIPTION\n"
	      "gpubpf records what a process asks of a GPU through the CUDA driver library, with BPF "
	      "programs\n"
	      "on the library's entry points, and says how far the record can be trusted.\n"
	      ".SH COMMANDS\n",
	      f);
	for (const struct verb *const *v = verbs; *v; v++) {
		fprintf(f, ".TP\n\\fBgpubpf\\-%s\\fR(1)\n", (*v)->name);
		roff_str(f, (*v)->summary);
		fputc('\n', f);
	}
	fputs(".SH OPTIONS\n", f);
	man_option(f, 'h', "help", NULL, "List the commands; with a command, list its options.", NULL);
	man_option(f, 0, "version", NULL, "Print the version.", NULL);
	man_exit_status(f, NULL);
	fputs(".SH SEE ALSO\n", f);
	for (const struct verb *const *v = verbs; *v; v++)
		fprintf(f, "%s\\fBgpubpf\\-%s\\fR(1)", v == verbs ? "" : ",\n", (*v)->name);
	fputc('\n', f);
}
