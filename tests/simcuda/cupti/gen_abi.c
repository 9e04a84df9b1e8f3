/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the facts of abi_facts.h as our own cupti.h states them, as assertions for abi_check.c. */
#include <cupti.h>

#include <stdio.h>

#include "abi_facts.h"

#define VALUE(name)                                                                                          \
	printf("_Static_assert((long long)(" #name ") == %lldll, \"" #name "\");\n", (long long)(name));
#define SIZE(type) printf("_Static_assert(sizeof(" #type ") == %zu, \"size of " #type "\");\n", sizeof(type));
#define OFFSET(type, field)                                                                                  \
	printf("_Static_assert(__builtin_offsetof(" #type ", " #field ") == %zu, \"" #type "." #field        \
	       "\");\n",                                                                                     \
	       __builtin_offsetof(type, field));
#define CBID(symbol, id)                                                                                     \
	printf("_Static_assert(CUPTI_DRIVER_TRACE_CBID_" #symbol " == %d, \"" #symbol "\");\n", id);

int main(void)
{
	CUPTI_ABI_VALUES(VALUE)
	CUPTI_ABI_SIZES(SIZE)
	CUPTI_ABI_OFFSETS(OFFSET)
	CUPTI_DRIVER_CBIDS(CBID)
	return fflush(stdout);
}
