/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../t.h"

#include <stdlib.h>
#include <string.h>

#include "serve/guard.h"

T(tokens_differ_and_are_plain_R51)
{
	char a[GUARD_TOKEN_LEN + 1], b[GUARD_TOKEN_LEN + 1];

	CHECK(guard_token(a) == 0 && guard_token(b) == 0);
	CHECK(strlen(a) == GUARD_TOKEN_LEN && strcmp(a, b) != 0);
	CHECK(strspn(a, "abcdefghijklmnopqrstuvwxyz234567") == GUARD_TOKEN_LEN);
	CHECK(GUARD_TOKEN_LEN * 5 >= 128);
}

T(paths_need_the_whole_token_R51)
{
	const char token[GUARD_TOKEN_LEN + 1] = "abcdefghijklmnopqrstuvwxyz";
	const char *rest = guard_path(token, "/abcdefghijklmnopqrstuvwxyz/trace?x");
	static const char *const refused[] = {
		"",
		"/",
		"//",
		"/abcdefghijklmnopqrstuvwxyz",
		"/abcdefghijklmnopqrstuvwxy/",
		"/abcdefghijklmnopqrstuvwxy//",
		"/abcdefghijklmnopqrstuvwxyz_trace",
		"/bbcdefghijklmnopqrstuvwxyz/trace",
		"/abcdefghijklmnopqrstuvwxyy/trace",
		"/ABCDEFGHIJKLMNOPQRSTUVWXYZ/trace",
		"xabcdefghijklmnopqrstuvwxyz/trace",
		"/./abcdefghijklmnopqrstuvwxyz/trace",
		"http://127.0.0.1/abcdefghijklmnopqrstuvwxyz/trace",
	};

	CHECK(rest && strcmp(rest, "trace?x") == 0);
	rest = guard_path(token, "/abcdefghijklmnopqrstuvwxyz/");
	CHECK(rest && !*rest);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		CHECKF(!guard_path(token, refused[i]), "%s", refused[i]);
}

T(hosts_are_this_one_and_its_port_R51)
{
	static const char *const refused[] = {
		"",
		"127.0.0.1",
		"127.0.0.1:90011",
		"127.0.0.1:900",
		"127.0.0.1:09001",
		"localhost:9002",
		"localhost.:9001",
		"[::1]:9001",
		"127.0.0.2:9001",
		"0.0.0.0:9001",
		"evil.example:9001",
		"localhost:9001.evil.example",
		"127.0.0.1:9001 ",
		"x@127.0.0.1:9001",
	};

	CHECK(guard_host("127.0.0.1:9001", 9001) && guard_host("LocalHost:9001", 9001));
	CHECK(guard_host("127.0.0.1", 80) && guard_host("localhost:80", 80));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		CHECKF(!guard_host(refused[i], 9001), "%s", refused[i]);
}

T(origins_are_ours_and_the_viewers_R51)
{
	static const char viewer[] = "https://ui.perfetto.dev";
	static const char *const refused[] = {
		"",
		"null",
		"http://ui.perfetto.dev",
		"https://ui.perfetto.dev:444",
		"https://ui.perfetto.dev/",
		"https://ui.perfetto.dev.evil.example",
		"https://evil.example",
		"https://127.0.0.1:9001",
		"http://127.0.0.1:9002",
		"http://127.0.0.1",
		"http://evil.example:9001",
	};

	CHECK(guard_origin(viewer, 9001, viewer) && !guard_origin(viewer, 9001, NULL));
	CHECK(guard_origin("http://127.0.0.1:9001", 9001, NULL));
	CHECK(guard_origin("http://localhost:9001", 9001, viewer));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		CHECKF(!guard_origin(refused[i], 9001, viewer), "%s", refused[i]);
}

static void range(const char *text, uint64_t size, enum guard_range want, uint64_t from, uint64_t n)
{
	uint64_t got_from = 0, got_n = 0;
	enum guard_range got = guard_range(text, size, &got_from, &got_n);

	CHECKF(got == want && (want != RANGE_PART || (got_from == from && got_n == n)),
	       "%s of %llu: %d, %llu + %llu", text ? text : "none", (unsigned long long)size, got,
	       (unsigned long long)got_from, (unsigned long long)got_n);
}

T(ranges)
{
	range("bytes=0-0", 10, RANGE_PART, 0, 1);
	range("Bytes=2-5", 10, RANGE_PART, 2, 4);
	range("bytes=9-", 10, RANGE_PART, 9, 1);
	range("bytes=0-", 10, RANGE_PART, 0, 10);
	range("bytes=8-100", 10, RANGE_PART, 8, 2);
	range("bytes=8-18446744073709551615", 10, RANGE_PART, 8, 2);
	range("bytes=-1", 10, RANGE_PART, 9, 1);
	range("bytes=-100", 10, RANGE_PART, 0, 10);
	range("bytes=10-", 10, RANGE_BEYOND, 0, 0);
	range("bytes=10-20", 10, RANGE_BEYOND, 0, 0);
	range("bytes=-0", 10, RANGE_BEYOND, 0, 0);
	range("bytes=-1", 0, RANGE_BEYOND, 0, 0);
	range("bytes=0-", 0, RANGE_BEYOND, 0, 0);
}

T(ranges_that_are_none_mean_the_whole)
{
	static const char *const whole[] = {
		"",
		"bytes",
		"bytes=",
		"bytes=-",
		"bytes=a-b",
		"bytes=5-2",
		"bytes=0-1,4-5",
		"bytes=0-1 ",
		"bytes=0",
		"items=0-1",
		"bytes=--1",
		"bytes=+1-2",
		"bytes= 0-1",
		"bytes=0x0-1",
		"bytes=0-1-2",
		"0-1",
		"bytes=-1-2",
		"bytes=18446744073709551616-",
	};

	range(NULL, 10, RANGE_ALL, 0, 0);
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		range(whole[i], 10, RANGE_ALL, 0, 0);
}

TEST_MAIN
