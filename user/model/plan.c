/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/plan.h"

#include <string.h>

const char *const mem_kind_names[MEM_KINDS] = { "device", "pitch",   "managed", "host", "registered",
						"pool",   "virtual", "array",   "other" };

struct word {
	const char *name;
	int value;
};

static int lookup(const struct word *words, const char *name, int otherwise)
{
	for (; words->name; words++)
		if (strcmp(words->name, name) == 0)
			return words->value;
	return otherwise;
}

static bool ends_with(const char *s, const char *tail)
{
	size_t n = strlen(s), k = strlen(tail);

	return n >= k && strcmp(s + n - k, tail) == 0;
}

static void plan_copy(struct plan *p, const char *detail)
{
	static const struct word kinds[] = {
		{ "unified", PLAN_COPY_UNIFIED },
		{ "2d", PLAN_COPY_2D },
		{ "3d", PLAN_COPY_3D },
		{ "2d32", PLAN_COPY_STRUCT32 },
		{ "peer", PLAN_COPY_PEER },
		{ "3dpeer", PLAN_COPY_3DPEER },
		{ "batch", PLAN_COPY_BATCH },
		{ "batch3d", PLAN_COPY_BATCH3D },
		{ NULL, 0 },
	};

	p->copy = (enum plan_copy)lookup(kinds, detail, PLAN_COPY_OTHER);
	if (p->copy == PLAN_COPY_OTHER && strlen(detail) == 3 && detail[1] == '2' &&
	    strchr("hda", detail[0]) && strchr("hda", detail[2])) {
		p->copy = PLAN_COPY_DIRECT;
		p->from = detail[0];
		p->to = detail[2];
	}
}

static enum plan_name plan_name(const char *kind)
{
	static const struct word kinds[] = {
		{ "module.function", PLAN_NAME_FUNCTION },      { "module.kernel", PLAN_NAME_KERNEL },
		{ "module.kernelfunc", PLAN_NAME_KERNEL_FUNC }, { "module.funcname", PLAN_NAME_OF_FUNC },
		{ "module.kernelname", PLAN_NAME_OF_KERNEL },   { "module.unload", PLAN_NAME_UNLOAD },
		{ "context.destroy", PLAN_NAME_CONTEXT_GONE },  { NULL, 0 },
	};

	return (enum plan_name)lookup(kinds, kind, PLAN_NAME_NONE);
}

static enum plan_graph plan_graph(const char *detail)
{
	static const struct word kinds[] = {
		{ "instantiate", PLAN_GRAPH_INSTANTIATE },
		{ "execdestroy", PLAN_GRAPH_EXEC_DESTROY },
		{ "update", PLAN_GRAPH_UPDATE },
		{ NULL, 0 },
	};

	return (enum plan_graph)lookup(kinds, detail, PLAN_GRAPH_OTHER);
}

static enum mem_kind plan_mem(const char *detail)
{
	for (unsigned i = 0; i < MEM_OTHER; i++)
		if (strcmp(mem_kind_names[i], detail) == 0)
			return (enum mem_kind)i;
	return MEM_OTHER;
}

static bool plan_shape(const struct plan *p, const struct api *a)
{
	const int first = p->arg[PLAN_GX];

	for (int i = 0; i < 7; i++)
		if (first < 0 || p->arg[PLAN_GX + i] != first + i || a->args[first + i].type != 'u')
			return false;
	return true;
}
_Static_assert(PLAN_SMEM == PLAN_GX + 6, "in the order of cuLaunchKernel()");

void plan__init(struct plan *p, const struct api *a)
{
	static const char *const roles[] = {
#define R(id, name) name,
		PLAN_ROLES(R)
#undef R
	};

	memset(p, 0, sizeof(*p));
	p->api = a;
	for (int r = 0; r < PLAN_ROLES_N; r++)
		p->arg[r] = (int8_t)api_arg_index(a, roles[r]);
	p->per_thread = ends_with(a->symbol, "_ptsz") || ends_with(a->symbol, "_ptds");
	for (unsigned i = 0; i < a->nargs; i++)
		p->config |= a->args[i].type == 'L';
	p->shape = plan_shape(p, a);
	p->population = api_population_index(a);
	p->name = plan_name(a->kind);
	if (a->cls == API_COPY)
		plan_copy(p, a->detail);
	if (a->cls == API_SET)
		p->set_bytes = strcmp(a->detail, "8") == 0    ? 1
			       : strcmp(a->detail, "16") == 0 ? 2
			       : strcmp(a->detail, "32") == 0 ? 4
							      : 0;
	if (a->cls == API_GRAPH)
		p->graph = plan_graph(a->detail);
	p->capture_begin = strcmp(a->kind, "capture.begin") == 0;
	p->event_record = strcmp(a->kind, "event.record") == 0;
	p->stream_wait = strcmp(a->kind, "stream.wait") == 0;
	p->capture_end = strcmp(a->kind, "capture.end") == 0;
	if (a->cls == API_ALLOC || a->cls == API_FREE)
		p->mem = plan_mem(a->detail);
}
