/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of exported functions, apart from cuda.h: exports.c defines those functions with plain words. */
#ifndef SIMCUDA_SIM_API_H
#define SIMCUDA_SIM_API_H

#include <stddef.h>
#include <stdint.h>

struct sim_api;
typedef int sim_impl_fn(const struct sim_api *api, const uint64_t *a);

enum sim_api_flags {
	SIM_API_LEGACY32 = 1u << 0,   /* 32-bit device pointers and sizes */
	SIM_API_PER_THREAD = 1u << 1, /* stream 0 is the calling thread's */
	SIM_API_EARLY = 1u << 2,      /* works before cuInit */
};

struct sim_api {
	const char *symbol;
	const char *base;
	const char *types; /* letters of bpf/apis.h, one per argument */
	uint8_t nargs;
	uint8_t flags;
	void *fn;
	sim_impl_fn *impl; /* NULL: stub */
};

extern const struct sim_api sim_apis[];
extern const unsigned sim_napis;

int sim_dispatch(const struct sim_api *api, const uint64_t *a);

#endif
