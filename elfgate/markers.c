// SPDX-License-Identifier: GPL-2.0-or-later
#include "markers.h"

#include <string.h>

#include "rule.h"

static const struct elfgate_marker markers[] = {
	{ "GLIBC_ABI_DT_RELR", "2.36", "packed relative relocations" },
	{ "GLIBC_ABI_GNU2_TLS", "2.42", "thread-local descriptors of x86 that keep vector registers" },
	{ "GLIBC_ABI_GNU_TLS", "2.42", "__tls_get_addr of x86 with an unaligned stack" },
	{ "GLIBC_ABI_DT_X86_64_PLT", "2.42", "DT_X86_64_PLT of x86" },
	{ "GLIBC_PRIVATE", NULL, "internals of glibc, which change in every release" },
	{ "GLIBCXX_LDBL_3.4", NULL, "long double of IBM or IEEE in libstdc++" },
	{ "CXXABI_FLOAT128", NULL, "type information of __float128" },
	{ "CXXABI_TM_1", NULL, "transactional memory" },
};

const struct elfgate_marker *elfgate_marker_find(const char *version)
{
	for (size_t i = 0; i < sizeof(markers) / sizeof(markers[0]); i++) {
		if (!strcmp(markers[i].version, version))
			return &markers[i];
	}
	return NULL;
}

bool elfgate_is_marker(const char *version)
{
	static const char *const prefixes[] = { "GLIBC_", "GLIBCXX_", "CXXABI_", "GCC_" };
	uint32_t v[4];

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (!strncmp(version, prefixes[i], strlen(prefixes[i])))
			return !elfgate_version_parse(version, prefixes[i], v);
	}
	return false;
}
