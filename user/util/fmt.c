/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/fmt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *fmt_count(char *buf, uint64_t n)
{
	char digits[FMT_NUM];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n), k = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf[k++] = ',';
		buf[k++] = digits[i];
	}
	buf[k] = '\0';
	return buf;
}

/* Three significant digits; a value that would round up to the next unit takes that unit. */
static const char *scaled(char *buf, uint64_t n, const char *const *units, unsigned nunits, double step)
{
	double v = (double)n;
	unsigned u = 0;

	while (u + 1 < nunits && v >= step - (u ? 0.5 : 0)) {
		v /= step;
		u++;
	}
	if (u == 0)
		snprintf(buf, FMT_NUM, "%llu %s", (unsigned long long)n, units[0]);
	else
		snprintf(buf, FMT_NUM, "%.*f %s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, units[u]);
	return buf;
}

const char *fmt_bytes(char *buf, uint64_t n)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };

	return scaled(buf, n, units, 7, 1024);
}

const char *fmt_ns(char *buf, uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };

	return scaled(buf, ns, units, 4, 1000);
}

const char *fmt_percent(char *buf, double share)
{
	snprintf(buf, FMT_NUM, "%.1f %%", share * 100);
	return buf;
}

/* Length of the printable character at s; 0 for a byte that must be escaped. */
static size_t char_len(const unsigned char *s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] < 0x80   ? 1
		   : s[0] < 0xc2 ? 0
		   : s[0] < 0xe0 ? 2
		   : s[0] < 0xf0 ? 3
		   : s[0] < 0xf5 ? 4
				 : 0;
	uint32_t c;

	if (n == 1)
		return s[0] >= 0x20 && s[0] != 0x7f;
	if (!n)
		return 0;
	c = s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3fu);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) || c < 0xa0)
		return 0;
	/* marks that turn the direction of the text around */
	if ((c >= 0x200e && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
		return 0;
	return n;
}

/* The next piece of `s` into out[8]; returns the bytes taken from s. */
static size_t safe_piece(const char *s, char *out, size_t *len)
{
	size_t n = char_len((const unsigned char *)s);

	if (n) {
		memcpy(out, s, n);
		*len = n;
		return n;
	}
	*len = (size_t)snprintf(out, 8, "\\x%02x", (unsigned char)*s);
	return 1;
}

const char *fmt_safe(char *buf, size_t size, const char *s)
{
	size_t k = 0, len;
	char piece[8];

	while (*s) {
		s += safe_piece(s, piece, &len);
		if (k + len >= size)
			break;
		memcpy(buf + k, piece, len);
		k += len;
	}
	if (size)
		buf[k] = '\0';
	return buf;
}

void fmt_put_safe(FILE *f, const char *s)
{
	char piece[8];
	size_t len;

	while (*s) {
		s += safe_piece(s, piece, &len);
		fwrite(piece, 1, len, f);
	}
}

void fmt_put_csv(FILE *f, const char *s)
{
	if (!s[strcspn(s, ",\"\r\n")]) {
		fputs(s, f);
		return;
	}
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '"')
			fputc('"', f);
		fputc(*s, f);
	}
	fputc('"', f);
}

size_t fmt_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

bool fmt_color(FILE *f)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && !(term && strcmp(term, "dumb") == 0) && isatty(fileno(f));
}

unsigned fmt_columns(FILE *f)
{
	struct winsize w;

	if (!isatty(fileno(f)) || ioctl(fileno(f), TIOCGWINSZ, &w))
		return 0;
	return w.ws_col;
}

struct fmt_table {
	unsigned columns;
	size_t n, cap;
	char **cells;
	enum fmt_align *align;
};

struct fmt_table *fmt_table__new(unsigned columns)
{
	struct fmt_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->columns = columns;
	t->align = calloc(columns, sizeof(*t->align));
	if (!t->align) {
		free(t);
		return NULL;
	}
	return t;
}

void fmt_table__align(struct fmt_table *t, unsigned column, enum fmt_align align)
{
	t->align[column] = align;
}

int fmt_table__cell(struct fmt_table *t, const char *text)
{
	size_t size = strlen(text) * 4 + 1;
	char *safe;

	if (t->n == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 64;
		char **cells = realloc(t->cells, cap * sizeof(*cells));

		if (!cells)
			return -ENOMEM;
		t->cells = cells;
		t->cap = cap;
	}
	safe = malloc(size);
	if (!safe)
		return -ENOMEM;
	fmt_safe(safe, size, text);
	t->cells[t->n++] = safe;
	return 0;
}

static const char *skip_chars(const char *s, size_t n)
{
	while (*s && n) {
		s++;
		while (((unsigned char)*s & 0xc0) == 0x80)
			s++;
		n--;
	}
	return s;
}

static void put_cut(FILE *f, const char *s, size_t room)
{
	size_t width = fmt_width(s), head = room / 2;

	if (width <= room || room < 8) {
		fputs(s, f);
		return;
	}
	fwrite(s, 1, (size_t)(skip_chars(s, head) - s), f);
	fputs("…", f);
	fputs(skip_chars(s, width - (room - head - 1)), f);
}

static void put_row(const struct fmt_table *t, FILE *f, size_t row, const size_t *width, unsigned indent,
		    unsigned columns)
{
	size_t used = indent;

	fprintf(f, "%*s", (int)indent, "");
	for (unsigned c = 0; c < t->columns; c++) {
		const char *cell = t->cells[row * t->columns + c];
		int pad = (int)(width[c] - fmt_width(cell));
		bool last = c + 1 == t->columns;

		if (t->align[c] == FMT_RIGHT)
			fprintf(f, "%*s", pad, "");
		if (last && columns > used)
			put_cut(f, cell, columns - used);
		else
			fputs(cell, f);
		if (!last)
			fprintf(f, "%*s", t->align[c] == FMT_LEFT ? pad + 2 : 2, "");
		used += width[c] + 2;
	}
}

void fmt_table__print(const struct fmt_table *t, FILE *f, unsigned indent, unsigned columns, bool bold_header)
{
	size_t *width = calloc(t->columns, sizeof(*width)), rows = t->n / t->columns;

	if (!width)
		return;
	for (size_t i = 0; i < rows * t->columns; i++) {
		size_t w = fmt_width(t->cells[i]);

		if (w > width[i % t->columns])
			width[i % t->columns] = w;
	}
	for (size_t r = 0; r < rows; r++) {
		if (!r && bold_header)
			fputs("\033[1m", f);
		put_row(t, f, r, width, indent, columns);
		fputs(!r && bold_header ? "\033[0m\n" : "\n", f);
	}
	free(width);
}

void fmt_table__free(struct fmt_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t->align);
	free(t);
}
