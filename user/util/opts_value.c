/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/opts.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "util/err.h"

struct unit {
	const char *name;
	unsigned long long factor;
};

static const struct unit duration_units[] = {
	{ "", 1000000000ULL },
	{ "ns", 1ULL },
	{ "us", 1000ULL },
	{ "ms", 1000000ULL },
	{ "s", 1000000000ULL },
	{ "m", 60000000000ULL },
	{ "h", 3600000000000ULL },
	{ "d", 86400000000000ULL },
	{ NULL, 0 },
};

static const struct unit size_units[] = {
	{ "", 1 },           { "B", 1 },
	{ "K", 1ULL << 10 }, { "KiB", 1ULL << 10 },
	{ "M", 1ULL << 20 }, { "MiB", 1ULL << 20 },
	{ "G", 1ULL << 30 }, { "GiB", 1ULL << 30 },
	{ "T", 1ULL << 40 }, { "TiB", 1ULL << 40 },
	{ "k", 1ULL << 10 }, { "m", 1ULL << 20 },
	{ "g", 1ULL << 30 }, { "t", 1ULL << 40 },
	{ NULL, 0 },
};

static int digit_of(char c, unsigned base)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (base == 16 && isxdigit((unsigned char)c))
		return tolower((unsigned char)c) - 'a' + 10;
	return -1;
}

int opts_uint(const char *text, unsigned long long *value, struct err *err)
{
	unsigned base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
	const char *p = base == 16 ? text + 2 : text;
	unsigned long long v = 0;

	if (digit_of(*p, base) < 0)
		return err_set(err, -EINVAL, "'%s' is not a whole number (decimal, or hexadecimal with 0x)",
			       text);
	for (; *p; p++) {
		int d = digit_of(*p, base);

		if (d < 0)
			return err_set(err, -EINVAL,
				       "'%s' is not a whole number (decimal, or hexadecimal with 0x)", text);
		if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, (unsigned)d, &v))
			return err_set(err, -EINVAL, "'%s' is too large (at most %llu)", text, ~0ULL);
	}
	*value = v;
	return 0;
}

/*
 * A decimal number with a unit, exact in whole units of the base (nanoseconds, bytes): no floating point, so
 * 0.1s is 100000000 ns, and what is finer than the base is refused and not rounded.
 */
static int parse_scaled(const char *text, const struct unit *units, const char *want,
			unsigned long long *value, struct err *err)
{
	unsigned __int128 whole = 0, frac = 0, scale = 1;
	const unsigned __int128 max = ~0ULL;
	const char *p = text;

	if (!isdigit((unsigned char)*p))
		return err_set(err, -EINVAL, "'%s' is not %s", text, want);
	for (; isdigit((unsigned char)*p); p++) {
		whole = whole * 10 + (unsigned)(*p - '0');
		if (whole > max)
			return err_set(err, -EINVAL, "'%s' is too large", text);
	}
	if (*p == '.') {
		if (!isdigit((unsigned char)*++p))
			return err_set(err, -EINVAL, "'%s' is not %s", text, want);
		for (; isdigit((unsigned char)*p); p++) {
			if (scale > 1000000000000000000ULL)
				return err_set(err, -EINVAL, "'%s' has too many digits behind the point",
					       text);
			frac = frac * 10 + (unsigned)(*p - '0');
			scale *= 10;
		}
	}
	for (; units->name; units++) {
		if (strcmp(p, units->name) != 0)
			continue;
		if (frac * units->factor % scale)
			return err_set(err, -EINVAL, "'%s' is finer than the smallest unit", text);
		whole = whole * units->factor + frac * units->factor / scale;
		if (whole > max)
			return err_set(err, -EINVAL, "'%s' is too large", text);
		*value = (unsigned long long)whole;
		return 0;
	}
	return err_set(err, -EINVAL, "'%s' is not %s", text, want);
}

int opts_duration(const char *text, unsigned long long *ns, struct err *err)
{
	return parse_scaled(text, duration_units,
			    "a duration: a number and ns, us, ms, s, m, h or d; without a unit, seconds", ns,
			    err);
}

int opts_size(const char *text, unsigned long long *bytes, struct err *err)
{
	return parse_scaled(
		text, size_units,
		"a size: a number and K, M, G or T (powers of 1024, also KiB …); without a unit, bytes",
		bytes, err);
}
