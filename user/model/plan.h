/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the model needs to know of an entry point, worked out once per API: where the arguments that play a
 * part stand, and which of its stream arguments mean a stream per thread.
 */
#ifndef GPUBPF_PLAN_H
#define GPUBPF_PLAN_H

#include "model/apitab.h"

/* version 14 never comes to rest on this list */
/* clang-format off */
#define PLAN_ROLES(R)                                                                                        \
	R(FUNC, "func")                                                                                      \
	R(GX, "gx")                                                                                          \
	R(GY, "gy")                                                                                          \
	R(GZ, "gz")                                                                                          \
	R(BX, "bx")                                                                                          \
	R(BY, "by") R(BZ, "bz") R(SMEM, "smem") R(STREAM, "stream") R(BYTES, "bytes") R(DST, "dst")          \
		R(SRC, "src") R(COUNT, "count") R(N, "n") R(WIDTH, "width") R(HEIGHT, "height")              \
			R(PTR, "ptr") R(EXEC, "exec") R(MODULE, "module") R(LIBRARY, "library")              \
				R(KERNEL, "kernel") R(EVENT, "event") R(POOL, "pool")                        \
					R(ADVICE, "advice") R(DEVICE, "device") R(LOCATION, "location")       \
						R(FLAGS, "flags") R(ATTR, "attr")
/* clang-format on */

enum plan_role {
#define R(id, name) PLAN_##id,
	PLAN_ROLES(R)
#undef R
		PLAN_ROLES_N
};

enum plan_copy {
	PLAN_COPY_DIRECT, /* the entry point says the direction */
	PLAN_COPY_UNIFIED,
	PLAN_COPY_2D,
	PLAN_COPY_3D,
	PLAN_COPY_STRUCT32, /* behind a pointer that is not followed */
	PLAN_COPY_PEER,
	PLAN_COPY_3DPEER,
	PLAN_COPY_BATCH,
	PLAN_COPY_BATCH3D,
	PLAN_COPY_OTHER,
};

enum plan_name { /* what a call says about the names of functions */
		 PLAN_NAME_NONE,
		 PLAN_NAME_FUNCTION,     /* cuModuleGetFunction */
		 PLAN_NAME_KERNEL,       /* cuLibraryGetKernel */
		 PLAN_NAME_KERNEL_FUNC,  /* cuKernelGetFunction */
		 PLAN_NAME_OF_FUNC,      /* cuFuncGetName */
		 PLAN_NAME_OF_KERNEL,    /* cuKernelGetName */
		 PLAN_NAME_UNLOAD,       /* cuModuleUnload, cuLibraryUnload */
		 PLAN_NAME_CONTEXT_GONE, /* functions may die with it; which ones is not in the call */
};

enum plan_graph {
	PLAN_GRAPH_NONE,
	PLAN_GRAPH_INSTANTIATE,
	PLAN_GRAPH_EXEC_DESTROY,
	PLAN_GRAPH_UPDATE,
	PLAN_GRAPH_OTHER,
};

enum mem_kind {
	MEM_DEVICE,
	MEM_PITCH,
	MEM_MANAGED,
	MEM_HOST,
	MEM_REGISTERED,
	MEM_POOL,
	MEM_VIRTUAL,
	MEM_ARRAY,
	MEM_OTHER, /* a kind of a later version */
	MEM_KINDS,
};
extern const char *const mem_kind_names[MEM_KINDS];

struct plan {
	const struct api *api; /* NULL: no such API */
	int8_t arg[PLAN_ROLES_N];
	bool per_thread; /* stream 0 is the thread's own: a _ptsz or _ptds symbol */
	bool config;     /* the blob is a CUlaunchConfig */
	bool shape;      /* grid, block and shared memory stand side by side, 32 bits each */
	unsigned population;
	enum plan_copy copy;
	char from, to; /* PLAN_COPY_DIRECT: h, d or a */
	unsigned set_bytes;
	enum plan_name name;
	enum plan_graph graph;
	bool capture_begin, capture_end;
	bool event_record, stream_wait;
	enum mem_kind mem; /* of an alloc or free */
};

void plan__init(struct plan *p, const struct api *a);

static inline bool plan_arg(const struct plan *p, const struct gpubpf_call *c, enum plan_role role,
			    uint64_t *v)
{
	return p->arg[role] >= 0 && api_arg_at(p->api, c, (unsigned)p->arg[role], v);
}

#endif
