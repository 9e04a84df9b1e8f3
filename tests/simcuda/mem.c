/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The simulated memory: one reserved range of the process that holds every allocation of CUDA, device and
 * pinned host alike, so that an address alone says what it belongs to (a table with one entry per page).
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096ull
#define MEMS_MAX (4u << 20)
#define RANGE (32ull << 30)

static char *base;
static uint64_t range_bytes;
static size_t lowest_free;   /* page; below it everything is taken */
static uint32_t *page_owner; /* index into mems, 0: none */
static struct mem *mems;
static unsigned mems_used = 1;
static struct mem *spare; /* unused entries of mems */
static size_t device_bytes;

struct registration {
	uint64_t base;
	size_t bytes;
	struct registration *next;
};
static struct registration *registrations;

static void *reserve(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		       0);

	return p == MAP_FAILED ? NULL : p;
}

static bool setup(void)
{
	if (base)
		return true;
	/* Less where the address space is limited. */
	for (range_bytes = RANGE; range_bytes >= 1ull << 30 && !base; range_bytes >>= 1)
		base = reserve(range_bytes);
	range_bytes <<= 1;
	if (!base)
		return false;
	madvise(base, range_bytes, MADV_DONTDUMP);
	page_owner = reserve(range_bytes / PAGE * sizeof(*page_owner));
	mems = reserve(MEMS_MAX * sizeof(*mems));
	return page_owner && mems;
}

/* The lowest hole that is large enough: what was freed is soon handed out again, as the driver does. 0: none. */
static uint64_t take_range(size_t pages)
{
	size_t total = range_bytes / PAGE, run = 0, i = lowest_free;

	while (i < total && run < pages) {
		const struct mem *m = page_owner[i] ? &mems[page_owner[i]] : NULL;

		run = m ? 0 : run + 1;
		i = m ? (m->base - (uintptr_t)base) / PAGE + m->pages : i + 1;
	}
	if (run < pages)
		return 0;
	if (i - pages == lowest_free)
		lowest_free = i;
	return (uintptr_t)base + (i - pages) * PAGE;
}

static bool on_device(enum mem_kind kind)
{
	return kind == MEM_DEVICE || kind == MEM_POOL || kind == MEM_ARRAY;
}

int mem__alloc(enum mem_kind kind, size_t bytes, struct ctx *ctx, struct mem **out)
{
	size_t pages = (bytes + PAGE - 1) / PAGE;
	struct mem *m;
	uint64_t at;

	if (bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (bytes > 1ull << 40 || (on_device(kind) && bytes > SIM_MEM_TOTAL - device_bytes) || !setup())
		return CUDA_ERROR_OUT_OF_MEMORY;
	at = take_range(pages);
	if (!at || (!spare && mems_used == MEMS_MAX))
		return CUDA_ERROR_OUT_OF_MEMORY;
	m = spare ? spare : &mems[mems_used++];
	if (m == spare)
		spare = m->next_free;
	*m = (struct mem){ .base = at,
			   .bytes = bytes,
			   .pages = pages,
			   .kind = kind,
			   .id = (unsigned)(m - mems),
			   .ctx = ctx };
	for (size_t i = 0; i < pages; i++)
		page_owner[(at - (uintptr_t)base) / PAGE + i] = m->id;
	if (on_device(kind))
		device_bytes += bytes;
	*out = m;
	return CUDA_SUCCESS;
}

void mem__free(struct mem *m)
{
	for (size_t i = 0; i < m->pages; i++)
		page_owner[(m->base - (uintptr_t)base) / PAGE + i] = 0;
	/* Smaller ones keep their pages: to fault them in anew would cost more than the call. */
	if (m->pages > 4096)
		madvise((void *)(uintptr_t)m->base, m->pages * PAGE, MADV_DONTNEED);
	if (on_device(m->kind))
		device_bytes -= m->bytes;
	if ((m->base - (uintptr_t)base) / PAGE < lowest_free)
		lowest_free = (m->base - (uintptr_t)base) / PAGE;
	m->kind = MEM_NONE;
	m->next_free = spare;
	spare = m;
}

struct mem *mem__at(uint64_t ptr)
{
	uint64_t off = ptr - (uintptr_t)base;
	uint32_t owner;

	if (!base || off >= range_bytes)
		return NULL;
	owner = page_owner[off / PAGE];
	return owner ? &mems[owner] : NULL;
}

size_t mem__free_bytes(void)
{
	return SIM_MEM_TOTAL - device_bytes;
}

bool mem__registered(uint64_t ptr, size_t *bytes)
{
	for (struct registration *r = registrations; r; r = r->next)
		if (ptr >= r->base && ptr - r->base < r->bytes) {
			*bytes = r->bytes - (ptr - r->base);
			return true;
		}
	return false;
}

/* ---- the virtual memory interface: physical handles mapped into reserved ranges; the bytes are the range's ---- */
struct phys {
	struct obj obj;
	size_t bytes;
	unsigned refs; /* the handle, and each mapping */
};

struct mapping {
	uint64_t base;
	size_t bytes;
	bool accessible;
	struct phys *phys;
	struct mapping *next;
};
static struct mapping *mappings;

static bool mapped(uint64_t ptr, size_t bytes)
{
	uint64_t end = ptr + bytes;
	bool moved = true;

	while (ptr < end && moved) {
		moved = false;
		for (struct mapping *m = mappings; m; m = m->next)
			if (m->accessible && ptr >= m->base && ptr - m->base < m->bytes) {
				ptr = m->base + m->bytes;
				moved = true;
			}
	}
	return ptr >= end;
}

bool mem__valid(uint64_t ptr, size_t bytes, bool device)
{
	struct mem *m = mem__at(ptr);
	size_t left;

	if (!m) {
		bool inside = base && ptr - (uintptr_t)base < range_bytes;

		if (!device)
			return !inside;
		return mem__registered(ptr, &left) && bytes <= left;
	}
	if (ptr - m->base > m->bytes || bytes > m->bytes - (ptr - m->base))
		return false;
	return m->kind != MEM_RESERVED || mapped(ptr, bytes);
}

#define GRANULARITY (2ull << 20)

SIM_IMPL(cuMemGetAllocationGranularity)
{
	(void)api;
	if (!PTR(0) || !PTR(1))
		return CUDA_ERROR_INVALID_VALUE;
	*(size_t *)PTR(0) = GRANULARITY;
	return CUDA_SUCCESS;
}

SIM_IMPL(cuMemCreate)
{
	struct phys *p;

	(void)api;
	if (!PTR(0) || !PTR(2) || a[1] == 0 || a[1] % GRANULARITY || a[3] != 0)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim.lock);
	p = a[1] <= SIM_MEM_TOTAL - device_bytes ? obj__new(OBJ_PHYS) : NULL;
	if (p) {
		p->bytes = a[1];
		p->refs = 1;
		device_bytes += p->bytes;
		*(uint64_t *)PTR(0) = (uintptr_t)p;
	}
	pthread_mutex_unlock(&sim.lock);
	return p ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static void phys__put(struct phys *p)
{
	if (--p->refs > 0)
		return;
	device_bytes -= p->bytes;
	obj__free(p);
}

SIM_IMPL(cuMemRelease)
{
	struct phys *p;

	(void)api;
	pthread_mutex_lock(&sim.lock);
	p = obj__get(a[0], OBJ_PHYS);
	if (p)
		phys__put(p);
	pthread_mutex_unlock(&sim.lock);
	return p ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_IMPL(cuMemAddressReserve)
{
	struct mem *m;
	int result;

	(void)api;
	if (!PTR(0) || a[1] == 0 || a[1] % GRANULARITY || a[4] != 0)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim.lock);
	result = mem__alloc(MEM_RESERVED, a[1], NULL, &m);
	if (result == CUDA_SUCCESS)
		*(uint64_t *)PTR(0) = m->base;
	pthread_mutex_unlock(&sim.lock);
	return result;
}

static bool overlaps_mapping(uint64_t ptr, size_t bytes)
{
	for (struct mapping *m = mappings; m; m = m->next)
		if (ptr < m->base + m->bytes && m->base < ptr + bytes)
			return true;
	return false;
}

SIM_IMPL(cuMemAddressFree)
{
	int result = CUDA_ERROR_INVALID_VALUE;
	struct mem *m;

	(void)api;
	pthread_mutex_lock(&sim.lock);
	m = mem__at(a[0]);
	if (m && m->kind == MEM_RESERVED && m->base == a[0] && m->bytes == a[1] &&
	    !overlaps_mapping(a[0], a[1])) {
		mem__free(m);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&sim.lock);
	return result;
}

SIM_IMPL(cuMemMap)
{
	int result = CUDA_ERROR_INVALID_VALUE;
	struct mapping *n = NULL;
	struct phys *p;
	struct mem *m;

	(void)api;
	pthread_mutex_lock(&sim.lock);
	m = mem__at(a[0]);
	p = obj__get(a[3], OBJ_PHYS);
	if (!m || m->kind != MEM_RESERVED || !p || a[2] + a[1] > p->bytes || a[0] - m->base + a[1] > m->bytes)
		goto out;
	if (overlaps_mapping(a[0], a[1])) {
		result = CUDA_ERROR_ALREADY_MAPPED;
		goto out;
	}
	n = calloc(1, sizeof(*n));
	if (!n)
		goto out;
	*n = (struct mapping){ .base = a[0], .bytes = a[1], .phys = p, .next = mappings };
	mappings = n;
	p->refs++;
	result = CUDA_SUCCESS;
out:
	pthread_mutex_unlock(&sim.lock);
	return result;
}

SIM_IMPL(cuMemUnmap)
{
	int result = CUDA_ERROR_INVALID_VALUE;
	struct mapping **link, *m;

	(void)api;
	pthread_mutex_lock(&sim.lock);
	for (link = &mappings; (m = *link);) {
		if (m->base < a[0] || m->base + m->bytes > a[0] + a[1]) {
			link = &m->next;
			continue;
		}
		*link = m->next;
		phys__put(m->phys);
		free(m);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&sim.lock);
	return result;
}

SIM_IMPL(cuMemSetAccess)
{
	const CUmemAccessDesc *desc = PTR(2);
	int result = CUDA_ERROR_INVALID_VALUE;

	(void)api;
	if (!desc || a[3] == 0)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim.lock);
	for (struct mapping *m = mappings; m; m = m->next)
		if (m->base >= a[0] && m->base + m->bytes <= a[0] + a[1]) {
			m->accessible = desc->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
			result = CUDA_SUCCESS;
		}
	pthread_mutex_unlock(&sim.lock);
	return result;
}

SIM_IMPL(cuMemHostRegister)
{
	struct registration *r;
	size_t left;
	bool known;

	(void)api;
	if (!a[0] || !a[1])
		return CUDA_ERROR_INVALID_VALUE;
	r = calloc(1, sizeof(*r));
	if (!r)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*r = (struct registration){ .base = a[0], .bytes = a[1] };
	pthread_mutex_lock(&sim.lock);
	known = mem__registered(a[0], &left) || mem__at(a[0]);
	if (!known) {
		r->next = registrations;
		registrations = r;
	}
	pthread_mutex_unlock(&sim.lock);
	if (known)
		free(r);
	return known ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED : CUDA_SUCCESS;
}

SIM_IMPL(cuMemHostUnregister)
{
	struct registration **link, *r;

	(void)api;
	pthread_mutex_lock(&sim.lock);
	for (link = &registrations; (r = *link) && r->base != a[0];)
		link = &r->next;
	if (r)
		*link = r->next;
	pthread_mutex_unlock(&sim.lock);
	free(r);
	return r ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}
