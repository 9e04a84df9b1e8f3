/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entry points as decoders see them: symbol, kind, and where each argument stands. Made from bpf/apis.h when
 * recording, and from a capture's own metadata when reading.
 */
#ifndef GPUBPF_APITAB_H
#define GPUBPF_APITAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

enum api_class { /* the part of `kind` before the dot */
		 API_OTHER,
		 API_INIT,
		 API_CONTEXT,
		 API_MODULE,
		 API_LAUNCH,
		 API_HOSTFUNC,
		 API_GRAPHLAUNCH,
		 API_GRAPH,
		 API_CAPTURE,
		 API_COPY,
		 API_SET,
		 API_ALLOC,
		 API_FREE,
		 API_POOL,
		 API_VIRTUAL, /* reserve, unreserve, map, unmap */
		 API_PLACE,
		 API_SYNC,
		 API_QUERY,
		 API_EVENT,
		 API_STREAM,
		 API_CLASS_MAX,
};

#define API_ARGS_MAX 12

struct api_arg {
	char name[16];
	char type; /* letters of bpf/apis.h */
};

struct api {
	char symbol[64];
	char kind[32];
	const char *detail; /* behind the dot of kind; "" when there is none */
	enum api_class cls;
	bool legacy32;
	unsigned nargs;
	struct api_arg args[API_ARGS_MAX];
	char signature[160];
};

struct apitab; /* immutable once made */

/* The whole built-in table: every symbol of bpf/apis.h, its index being the id used when recording. */
int apitab__builtin(struct apitab **out);
/* An empty table to be filled from a capture: api id → description. Hostile input gets -EINVAL. */
int apitab__new(struct apitab **out);
int apitab__add(struct apitab *t, uint32_t id, const char *symbol, const char *kind, const char *signature,
		bool legacy32);
size_t apitab__size(const struct apitab *t);                        /* highest id + 1 */
const struct api *apitab__get(const struct apitab *t, uint32_t id); /* NULL: no such id */
void apitab__free(struct apitab *t);

/* "launches", "graph launches", "copies", "sets" or "other calls": the ledger's populations (R15). */
const char *api_population(const struct api *a);
enum { API_POPULATIONS = 5 };
unsigned api_population_index(const struct api *a); /* 0 … 4 in that order */
extern const char *const api_population_names[API_POPULATIONS];

/* Index of the argument called `name`, or -1. */
int api_arg_index(const struct api *a, const char *name);
/*
 * Value of an argument of a recorded call, masked (signed: extended) to its width. False: the signature has
 * no such argument, or the record does not hold its word.
 */
bool api_arg_value(const struct api *a, const struct gpubpf_call *c, const char *name, uint64_t *v);
/* The same by the argument's index, for loops over many records. */
bool api_arg_at(const struct api *a, const struct gpubpf_call *c, unsigned index, uint64_t *v);
bool api_call_out(const struct api *a, const struct gpubpf_call *c, uint64_t *v); /* result behind o/O */
/* NUL-terminated string of an s or n argument (inside the record); NULL when absent. */
const char *api_call_string(const struct api *a, const struct gpubpf_call *c);
/* The blob's bytes; NULL and 0 when there is none. */
const void *api_call_blob(const struct gpubpf_call *c, size_t *n);

#endif
