/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the facts of abi_facts.h as our own headers state them, as assertions for abi_check.c. */
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <stdio.h>

#include "abi_facts.h"

#define VALUE(name)                                                                                          \
	printf("_Static_assert((long long)(" #name ") == %lldll, \"" #name "\");\n", (long long)(name));
#define SIZE(type) printf("_Static_assert(sizeof(" #type ") == %zu, \"size of " #type "\");\n", sizeof(type));
#define OFFSET(type, field)                                                                                  \
	printf("_Static_assert(__builtin_offsetof(" #type ", " #field ") == %zu, \"" #type "." #field        \
	       "\");\n",                                                                                     \
	       __builtin_offsetof(type, field));

int main(void)
{
	ABI_VALUES(VALUE)
	ABI_SIZES(SIZE)
	ABI_OFFSETS(OFFSET)
	return fflush(stdout);
}
