/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the attach cookie tells the BPF programs about each entry point of the table. */
#include "t.h"

#include "attach/attach_priv.h"
#include "cookie.h"

static struct apitab *tab;

static uint64_t cookie_of(const char *symbol, uint32_t id)
{
	if (!tab && apitab__builtin(&tab))
		return 0;
	for (size_t i = 0; i < apitab__size(tab); i++) {
		const struct api *a = apitab__get(tab, (uint32_t)i);

		if (strcmp(a->symbol, symbol) == 0)
			return cookie_for(a, id);
	}
	CHECKF(0, "no %s in the table", symbol);
	return 0;
}

T(launch)
{
	uint64_t c = cookie_of("cuLaunchKernel", 4095);

	CHECK(COOKIE_API(c) == 4095);
	CHECK(COOKIE_NARGS(c) == 11);
	CHECK(COOKIE_BLOB(c) == COOKIE_BLOB_NONE);
	CHECK(COOKIE_OUT_ARG(c) == COOKIE_NO_ARG);
}

T(launch_config)
{
	uint64_t c = cookie_of("cuLaunchKernelEx", 1);

	CHECK(COOKIE_BLOB(c) == COOKIE_BLOB_CONFIG && COOKIE_BLOB_ARG(c) == 0);
}

T(outs)
{
	uint64_t c = cookie_of("cuMemAlloc_v2", 2);

	CHECK(COOKIE_OUT_ARG(c) == 0 && !COOKIE_OUT32(c));
	c = cookie_of("cuMemAlloc", 2);
	CHECK(COOKIE_OUT_ARG(c) == 0 && COOKIE_OUT32(c));
	c = cookie_of("cuMemAllocHost", 2); /* a host pointer is 8 bytes in the old variant too */
	CHECK(COOKIE_OUT_ARG(c) == 0 && !COOKIE_OUT32(c));
	c = cookie_of("cuMemAllocPitch_v2", 2);
	CHECK(COOKIE_BLOB(c) == COOKIE_BLOB_OUT && COOKIE_BLOB_ARG(c) == 1 && COOKIE_BLOB_LEN(c) == 8);
	c = cookie_of("cuMemAllocPitch", 2);
	CHECK(COOKIE_BLOB_LEN(c) == 4);
}

T(strings_and_structs)
{
	CHECK(COOKIE_BLOB(cookie_of("cuModuleGetFunction", 3)) == COOKIE_BLOB_STR);
	CHECK(COOKIE_BLOB_ARG(cookie_of("cuModuleGetFunction", 3)) == 2);
	CHECK(COOKIE_BLOB(cookie_of("cuFuncGetName", 3)) == COOKIE_BLOB_STRPTR);
	CHECK(COOKIE_BLOB_LEN(cookie_of("cuMemcpy2D_v2", 3)) == 128);
	CHECK(COOKIE_BLOB_LEN(cookie_of("cuMemcpy3D_v2", 3)) == 200);
	CHECK(COOKIE_BLOB_LEN(cookie_of("cuMemcpy3DPeer", 3)) == 200);
	CHECK(COOKIE_BLOB(cookie_of("cuMemPoolGetAttribute", 3)) == COOKIE_BLOB_OUT);
	CHECK(COOKIE_BLOB(cookie_of("cuModuleLoadData", 3)) == COOKIE_BLOB_MEM);
	CHECK(COOKIE_BLOB_ARG(cookie_of("cuLibraryLoadData", 3)) == 1);
	CHECK(COOKIE_BLOB_LEN(cookie_of("cuModuleLoadDataEx", 3)) == 8);
	CHECK(COOKIE_BLOB(cookie_of("cuMemcpyBatchAsync", 3)) == COOKIE_BLOB_SIZES);
	CHECK(COOKIE_BLOB_ARG(cookie_of("cuMemcpyBatchAsync", 3)) == 2);
}

/* The program that reads the cookie looks for the number of sizes in the argument behind them. */
T(count_follows_sizes)
{
	CHECK(cookie_of("cuInit", 0) || tab);
	for (size_t i = 0; i < apitab__size(tab); i++) {
		const struct api *a = apitab__get(tab, (uint32_t)i);

		for (unsigned k = 0; k < a->nargs; k++) {
			if (a->args[k].type == 'Z')
				CHECKF(k + 1 < a->nargs && !strcmp(a->args[k + 1].name, "count"), "%s",
				       a->symbol);
		}
		CHECKF(i < GPUBPF_API_MAX, "the table outgrew its ids");
	}
}

TEST_MAIN
