/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operands as gcc and clang print them into a descriptor: what `%n`-prefixed inline assembly operands of
 * constraint "nor" (and "x", "w" for floats) turn into, in AT&T syntax on x86 and in A64 syntax on aarch64.
 *
 *   [[-]SIZE[f|c…]@]OPERAND, separated by blanks that stand outside brackets
 *
 *   x86      %REG   $EXPR   [%SEG:]EXPR   [%SEG:][EXPR]([%BASE][,[%INDEX][,SCALE]])
 *   aarch64  REG    EXPR    [BASE]   [BASE, EXPR]   [BASE, INDEX[, lsl|uxtw|sxtw|sxtx [N]]]
 *
 * EXPR: numbers and at most one symbol, added and subtracted. A symbol may carry "@GOTPCREL", ":lo12:".
 */
#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "stapsdt.h"

struct text {
	const char *p, *end;
};

static bool at(const struct text *t, char c)
{
	return t->p < t->end && *t->p == c;
}

static bool take(struct text *t, char c)
{
	if (!at(t, c))
		return false;
	t->p++;
	return true;
}

static void blanks(struct text *t)
{
	while (t->p < t->end && isspace((unsigned char)*t->p))
		t->p++;
}

static bool is_symbol_char(char c, bool first)
{
	unsigned char u = (unsigned char)c;

	return isalpha(u) || u == '_' || u == '.' || u >= 0x80 ||
	       (!first && (isdigit(u) || u == '$' || u == '@'));
}

/* Decimal, 0x, or leading-zero octal as the assembler reads it; 64 bits. */
static bool number(struct text *t, uint64_t *v)
{
	unsigned base = 10, digits = 0;

	if (t->end - t->p > 2 && t->p[0] == '0' && (t->p[1] == 'x' || t->p[1] == 'X') &&
	    isxdigit((unsigned char)t->p[2])) {
		base = 16;
		t->p += 2;
	} else if (at(t, '0')) {
		base = 8;
	}
	*v = 0;
	for (; t->p < t->end && (base == 16 ? isxdigit((unsigned char)*t->p) : isdigit((unsigned char)*t->p));
	     t->p++, digits++) {
		unsigned d = isdigit((unsigned char)*t->p)
				     ? (unsigned)(*t->p - '0')
				     : (unsigned)(tolower((unsigned char)*t->p) - 'a' + 10);

		if (d >= base || *v > (UINT64_MAX - d) / base)
			return false;
		*v = *v * base + d;
	}
	return digits > 0;
}

/* ":lo12:sym", "sym@GOTPCREL", "\"odd name\"" */
static bool symbol(struct text *t, struct usdt_operand *o)
{
	const char *start = t->p;

	if (o->symbol)
		return false;
	if (take(t, ':')) {
		while (t->p < t->end && (isalnum((unsigned char)*t->p) || *t->p == '_'))
			t->p++;
		if (!take(t, ':'))
			return false;
	}
	if (take(t, '"')) {
		while (t->p < t->end && *t->p != '"')
			t->p++;
		if (!take(t, '"'))
			return false;
		while (t->p < t->end && is_symbol_char(*t->p, false))
			t->p++;
	} else if (t->p < t->end && is_symbol_char(*t->p, true)) {
		while (t->p < t->end && is_symbol_char(*t->p, false))
			t->p++;
	} else {
		return false;
	}
	o->symbol = start;
	o->symbol_len = (size_t)(t->p - start);
	return true;
}

/* Leaves t behind the expression. False: there is none, or it is none of ours. */
static bool expression(struct text *t, struct usdt_operand *o)
{
	bool any = false;

	for (;;) {
		bool minus = false;
		uint64_t v;

		blanks(t);
		if (at(t, '+') || at(t, '-'))
			minus = *t->p++ == '-';
		else if (any)
			return true;
		blanks(t);
		if (t->p < t->end && isdigit((unsigned char)*t->p)) {
			if (!number(t, &v))
				return false;
			o->value = (int64_t)((uint64_t)o->value + (minus ? -v : v));
		} else if (minus || !symbol(t, o)) {
			return false;
		}
		any = true;
	}
}

/* "%name" on x86, "name" on aarch64. "%st(3)" has its own brackets. */
static bool reg(struct text *t, unsigned machine, struct usdt_reg *r)
{
	const char *start;

	if (machine != EM_AARCH64 && !take(t, '%'))
		return false;
	start = t->p;
	while (t->p < t->end && isalnum((unsigned char)*t->p))
		t->p++;
	if (machine != EM_AARCH64 && t->p - start == 2 && memcmp(start, "st", 2) == 0 && t->end - t->p >= 3 &&
	    t->p[0] == '(' && t->p[2] == ')')
		t->p += 3;
	return usdt_reg_find(machine, start, (size_t)(t->p - start), r);
}

static bool is_address_reg(const struct usdt_reg *r)
{
	return !r->is_vector && r->bits >= 32;
}

static bool x86_brackets(struct text *t, unsigned machine, struct usdt_operand *o)
{
	uint64_t scale;

	blanks(t);
	if (!at(t, ',') && (!reg(t, machine, &o->base) || !is_address_reg(&o->base)))
		return false;
	blanks(t);
	if (take(t, ',')) {
		blanks(t);
		if (at(t, '%') && (!reg(t, machine, &o->index) || !is_address_reg(&o->index) ||
				   o->base.is_pc || o->index.is_pc))
			return false;
		blanks(t);
		if (take(t, ',')) {
			blanks(t);
			if (!number(t, &scale) || (scale != 1 && scale != 2 && scale != 4 && scale != 8))
				return false;
			o->scale = (uint8_t)scale;
		}
		if (!o->index.bits && !o->base.bits)
			return false;
	}
	blanks(t);
	return take(t, ')');
}

static bool x86(struct text *t, unsigned machine, struct usdt_operand *o)
{
	if (take(t, '$')) {
		o->kind = USDT_OPERAND_CONSTANT;
		return expression(t, o) && t->p == t->end;
	}
	o->kind = USDT_OPERAND_MEMORY;
	if (at(t, '%')) {
		if (!reg(t, machine, &o->base))
			return false;
		if (t->p == t->end) {
			o->kind = USDT_OPERAND_REGISTER;
			return true;
		}
		if (o->base.bits != 16 || o->base.number != -1 || !take(t, ':'))
			return false;
		o->segment = o->base;
		memset(&o->base, 0, sizeof(o->base));
	}
	blanks(t);
	if (!at(t, '(') && !expression(t, o))
		return false;
	if (t->p == t->end)
		return true;
	return take(t, '(') && x86_brackets(t, machine, o) && t->p == t->end;
}

static bool word(struct text *t, const char *w)
{
	size_t n = strlen(w);

	if ((size_t)(t->end - t->p) < n || strncmp(t->p, w, n) != 0)
		return false;
	t->p += n;
	return true;
}

static bool a64_shift(struct text *t, struct usdt_operand *o)
{
	bool w = o->index.bits == 32;
	uint64_t amount = 0;

	blanks(t);
	if (word(t, "lsl"))
		o->extend = USDT_EXTEND_NONE;
	else if (word(t, "uxtw"))
		o->extend = USDT_EXTEND_UXTW;
	else if (word(t, "sxtw"))
		o->extend = USDT_EXTEND_SXTW;
	else if (word(t, "sxtx"))
		o->extend = USDT_EXTEND_SXTX;
	else
		return false;
	/* The 32-bit extensions are of w registers and the others of x registers. */
	if (w != (o->extend == USDT_EXTEND_UXTW || o->extend == USDT_EXTEND_SXTW))
		return false;
	blanks(t);
	if (at(t, ']'))
		return true;
	take(t, '#');
	if (!number(t, &amount) || amount > 4)
		return false;
	o->scale = (uint8_t)(1u << amount);
	blanks(t);
	return true;
}

static bool a64_memory(struct text *t, struct usdt_operand *o)
{
	blanks(t);
	if (!reg(t, EM_AARCH64, &o->base) || o->base.is_vector || o->base.bits != 64 || o->base.number < 0)
		return false;
	blanks(t);
	if (take(t, ',')) {
		struct text ahead;

		blanks(t);
		ahead = *t;
		if (reg(&ahead, EM_AARCH64, &o->index)) {
			*t = ahead;
			if (o->index.is_vector)
				return false;
			blanks(t);
			/* w registers need their extension. */
			if (take(t, ',') ? !a64_shift(t, o) : o->index.bits == 32)
				return false;
		} else {
			take(t, '#');
			if (!expression(t, o))
				return false;
		}
	}
	blanks(t);
	return take(t, ']') && t->p == t->end;
}

static bool a64(struct text *t, struct usdt_operand *o)
{
	struct text ahead = *t;

	if (take(t, '[')) {
		o->kind = USDT_OPERAND_MEMORY;
		return a64_memory(t, o);
	}
	if (reg(&ahead, EM_AARCH64, &o->base) && ahead.p == ahead.end) {
		o->kind = USDT_OPERAND_REGISTER;
		return true;
	}
	memset(&o->base, 0, sizeof(o->base));
	take(t, '#');
	o->kind = USDT_OPERAND_CONSTANT;
	/* A name here is a register that there is not. */
	return expression(t, o) && t->p == t->end && !o->symbol;
}

/* "-4@", "8f@": leaves t behind it when there is one. */
static void size_prefix(struct text *t, struct usdt_operand *o)
{
	struct text s = *t;
	bool minus = take(&s, '-');
	uint64_t n;

	if (s.p == s.end || !isdigit((unsigned char)*s.p) || *s.p == '0' || !number(&s, &n) || n > 64)
		return;
	o->is_float = at(&s, 'f');
	/* A letter of the type: systemtap has f; others would change nothing about the place. */
	if (s.p < s.end && isalpha((unsigned char)*s.p))
		s.p++;
	if (!take(&s, '@')) {
		o->is_float = false;
		return;
	}
	o->has_size = true;
	o->size = (uint8_t)n;
	o->is_signed = minus;
	*t = s;
}

static void operand(unsigned machine, const char *p, const char *end, struct usdt_operand *o)
{
	struct text t = { p, end };
	bool good;

	memset(o, 0, sizeof(*o));
	o->scale = 1;
	o->text = p;
	o->text_len = (size_t)(end - p);
	size_prefix(&t, o);
	struct usdt_operand blank = *o;
	if (machine == EM_X86_64 || machine == EM_386)
		good = x86(&t, machine, o);
	else
		good = machine == EM_AARCH64 && a64(&t, o);
	if (!good) {
		*o = blank;
		o->kind = USDT_OPERAND_UNKNOWN;
	}
}

size_t usdt_operands_parse(unsigned machine, const char *args, struct usdt_operand *out, size_t max)
{
	size_t n = 0;

	for (const char *p = args; *p;) {
		const char *start;
		int depth = 0;
		bool quoted = false;

		if (isspace((unsigned char)*p)) {
			p++;
			continue;
		}
		for (start = p; *p && (depth > 0 || quoted || !isspace((unsigned char)*p)); p++) {
			quoted ^= *p == '"';
			depth += !quoted && (*p == '(' || *p == '[');
			depth -= !quoted && depth > 0 && (*p == ')' || *p == ']');
		}
		if (n < max)
			operand(machine, start, p, &out[n]);
		n++;
	}
	return n;
}
