/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../t.h"

#include <errno.h>
#include <stdlib.h>

#include "apis.h"
#include "model/apitab.h"

#define LINE(kind, base, variants, signature) { kind, base, variants, signature },
static const struct {
	const char *kind, *base, *variants, *signature;
} lines[] = { GPUBPF_APIS(LINE) };

union call {
	struct gpubpf_call c;
	unsigned char room[56 + 12 * 8 + 64];
};

static const struct api *find(const struct apitab *t, const char *symbol)
{
	for (size_t i = 0; i < apitab__size(t); i++)
		if (strcmp(apitab__get(t, (uint32_t)i)->symbol, symbol) == 0)
			return apitab__get(t, (uint32_t)i);
	return NULL;
}

T(every_line_of_the_table_parses)
{
	size_t n = 0;
	struct apitab *t = NULL;

	CHECK(apitab__builtin(&t) == 0);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const char *v = lines[i].variants;

		for (; *v; n++) {
			size_t len = strcspn(v, " ");
			const struct api *a = t ? apitab__get(t, (uint32_t)n) : NULL;

			CHECKF(a && strncmp(a->symbol, lines[i].base, strlen(lines[i].base)) == 0, "%s %s",
			       lines[i].base, v);
			if (a) {
				const char *suffix = a->symbol + strlen(lines[i].base);

				CHECKF(*v == '-' || *v == '!' ? !*suffix
							      : !strncmp(suffix, v, len) && !suffix[len],
				       "%s", a->symbol);
				CHECK(a->legacy32 == (*v == '!'));
				CHECK(strcmp(a->kind, lines[i].kind) == 0);
				CHECK(strcmp(a->signature, lines[i].signature) == 0);
				CHECKF(a->cls != API_OTHER || strcmp(a->kind, "other") == 0, "class of %s",
				       a->kind);
				CHECK(a->nargs <= 12);
			}
			v += len + (v[len] == ' ');
		}
	}
	CHECK(t && apitab__size(t) == n);
	CHECK(n <= GPUBPF_API_MAX);
	apitab__free(t);
}

T(table_has_no_symbol_twice)
{
	struct apitab *t;

	CHECK(apitab__builtin(&t) == 0);
	for (size_t i = 0; i < apitab__size(t); i++)
		for (size_t k = 0; k < i; k++)
			CHECKF(strcmp(apitab__get(t, (uint32_t)i)->symbol,
				      apitab__get(t, (uint32_t)k)->symbol) != 0,
			       "%s", apitab__get(t, (uint32_t)i)->symbol);
	apitab__free(t);
}

T(table_has_one_blob_per_signature)
{
	struct apitab *t;

	CHECK(apitab__builtin(&t) == 0);
	for (size_t i = 0; i < apitab__size(t); i++) {
		const struct api *a = apitab__get(t, (uint32_t)i);
		unsigned blobs = 0;

		for (unsigned k = 0; k < a->nargs; k++)
			blobs += strchr("snL23PZx", a->args[k].type) != NULL;
		CHECKF(blobs <= 1, "%s", a->symbol);
	}
	apitab__free(t);
}

T(populations_R15)
{
	static const struct {
		const char *symbol, *population, *detail;
	} want[] = {
		{ "cuLaunchKernel", "launches", "" },
		{ "cuLaunchKernelEx_ptsz", "launches", "ex" },
		{ "cuGraphLaunch", "graph launches", "" },
		{ "cuMemcpyHtoD_v2", "copies", "h2d" },
		{ "cuMemsetD8Async", "sets", "8" },
		{ "cuMemAlloc_v2", "other calls", "device" },
		{ "cuGraphInstantiateWithFlags", "other calls", "instantiate" },
		{ "cuLaunchHostFunc", "other calls", "" },
	};
	struct apitab *t;

	CHECK(apitab__builtin(&t) == 0);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const struct api *a = find(t, want[i].symbol);

		CHECKF(a, "%s", want[i].symbol);
		if (!a)
			continue;
		CHECKF(strcmp(api_population(a), want[i].population) == 0, "%s: %s", a->symbol,
		       api_population(a));
		CHECK(strcmp(api_population_names[api_population_index(a)], want[i].population) == 0);
		CHECK(strcmp(a->detail, want[i].detail) == 0);
	}
	apitab__free(t);
}

T(arguments_are_masked_to_their_width)
{
	union call u = { .c = { .nwords = 12 } };
	struct apitab *t;
	uint64_t v;

	CHECK(apitab__new(&t) == 0);
	CHECK(apitab__add(t, 3, "cuT", "other", "h:h p:p d:d u:u i:i q:q z:z b:b w:w l:l", false) == 0);
	CHECK(apitab__add(t, 4, "cuT_old", "other", "h:h p:p d:d u:u i:i q:q z:z b:b w:w l:l", true) == 0);
	CHECK(apitab__size(t) == 5 && !apitab__get(t, 0) && !apitab__get(t, 5));
	for (int i = 0; i < 12; i++)
		u.c.words[i] = 0xfedcba98fedcba90u + (unsigned)i;
	u.c.words[4] = 0x11111111fffffffdu;
#define IS(id, name, value)                                                                                  \
	CHECKF(api_arg_value(apitab__get(t, id), &u.c, name, &v) && v == (value), "%s: %lx", name, v)
	IS(3, "h", 0xfedcba98fedcba90u);
	IS(3, "d", 0xfedcba98fedcba92u);
	IS(3, "u", 0xfedcba93u);
	IS(3, "i", (uint64_t)-3);
	IS(3, "q", 0xfedcba98fedcba95u);
	IS(3, "z", 0xfedcba98fedcba96u);
	IS(3, "b", 0x97u);
	IS(3, "w", 0xba98u);
	IS(3, "l", 0xfedcba98fedcba99u);
	IS(4, "h", 0xfedcba98fedcba90u);
	IS(4, "p", 0xfedcba98fedcba91u);
	IS(4, "d", 0xfedcba92u);
	IS(4, "z", 0xfedcba96u);
	IS(4, "q", 0xfedcba98fedcba95u);
	CHECK(!api_arg_value(apitab__get(t, 3), &u.c, "none", &v));
	apitab__free(t);
}

T(absent_words_are_absent_R14)
{
	union call u = { .c = { .nwords = 6 } };
	struct apitab *t;
	uint64_t v;
	const struct api *a;

	CHECK(apitab__builtin(&t) == 0);
	a = find(t, "cuLaunchKernel");
	CHECK(api_arg_value(a, &u.c, "by", &v));
	CHECK(!api_arg_value(a, &u.c, "bz", &v));
	u.c.nwords = 12;
	CHECK(api_arg_value(a, &u.c, "stream", &v));
	u.c.flags = GPUBPF_CALL_STACK_FAULT;
	CHECK(!api_arg_value(a, &u.c, "stream", &v));
	CHECK(api_arg_value(a, &u.c, "by", &v));
	apitab__free(t);
}

T(out_and_strings)
{
	union call u = { .c = { .nwords = 6, .out = 0x1111222233334444u } };
	struct apitab *t;
	uint64_t v;
	size_t n;

	CHECK(apitab__builtin(&t) == 0);
	CHECK(!api_call_out(find(t, "cuMemAlloc_v2"), &u.c, &v));
	u.c.flags = GPUBPF_CALL_HAS_OUT;
	CHECK(api_call_out(find(t, "cuMemAlloc_v2"), &u.c, &v) && v == 0x1111222233334444u);
	CHECK(api_call_out(find(t, "cuMemAlloc"), &u.c, &v) && v == 0x33334444u);
	CHECK(api_call_out(find(t, "cuMemAllocHost"), &u.c, &v) && v == 0x1111222233334444u);
	CHECK(!api_call_out(find(t, "cuMemFree_v2"), &u.c, &v));

	CHECK(!api_call_string(find(t, "cuModuleGetFunction"), &u.c) && !api_call_blob(&u.c, &n) && n == 0);
	memcpy(u.c.words + 6, "axpy", 5);
	u.c.nblob = 4;
	CHECK(!api_call_string(find(t, "cuModuleGetFunction"), &u.c));
	u.c.nblob = 5;
	CHECK(api_call_string(find(t, "cuModuleGetFunction"), &u.c) &&
	      strcmp(api_call_string(find(t, "cuModuleGetFunction"), &u.c), "axpy") == 0);
	CHECK(!api_call_string(find(t, "cuMemAlloc_v2"), &u.c));
	u.c.flags = GPUBPF_CALL_BLOB_FAULT;
	CHECK(!api_call_string(find(t, "cuModuleGetFunction"), &u.c));
	apitab__free(t);
}

T(hostile_descriptions_are_refused)
{
	static const char *const bad[] = { "a",
					   "a:",
					   ":h",
					   "a:h ",
					   "a:h  b:h",
					   " a:h",
					   "a:y",
					   "a:hh",
					   "a:h a:h",
					   "a:s b:s",
					   "a:L b:x",
					   "a:Z",
					   "a:o b:O",
					   "a\033:h",
					   "a:h\n",
					   "a:h b",
					   "a0123456789abcdef:h",
					   "a:h b:h c:h d:h e:h f:h g:h h:h i:h j:h k:h l:h m:h" };
	struct apitab *t;
	char big[400];

	CHECK(apitab__new(&t) == 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECKF(apitab__add(t, 0, "cuX", "launch", bad[i], false) == -EINVAL, "accepted \"%s\"",
		       bad[i]);
	memset(big, 'a', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	CHECK(apitab__add(t, 0, big, "launch", "", false) == -EINVAL);
	CHECK(apitab__add(t, 0, "cuX", big, "", false) == -EINVAL);
	CHECK(apitab__add(t, 0, "cuX", "launch", big, false) == -EINVAL);
	CHECK(apitab__add(t, 0, "", "launch", "", false) == -EINVAL);
	CHECK(apitab__add(t, 0, "cu\033[2J", "launch", "", false) == -EINVAL);
	CHECK(apitab__add(t, 65536, "cuX", "launch", "", false) == -EINVAL);
	CHECK(apitab__size(t) == 0);
	CHECK(apitab__add(t, 65535, "cuX", "launch", "", false) == 0);
	CHECK(apitab__add(t, 65535, "cuX", "launch", "", false) == -EINVAL);
	CHECK(apitab__add(t, 1, "cuNew", "teleport.fast", "a:h", false) == 0);
	CHECK(apitab__get(t, 1)->cls == API_OTHER && strcmp(apitab__get(t, 1)->detail, "fast") == 0);
	apitab__free(t);
}

TEST_MAIN
