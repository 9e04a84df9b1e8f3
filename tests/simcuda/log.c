/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The writing side of simlog.h. */
#include "sim.h"
#include "simlog.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIMLOG_DEFAULT_RECORDS (4ull << 20)

static struct simlog_header *header;
static struct simlog_record *records;

static __thread struct {
	unsigned generation;
	uint32_t tgid, tid;
	uint16_t depth;
} self __attribute__((tls_model("initial-exec")));

void sim_log__open(const char *path)
{
	const char *max = getenv("SIMCUDA_LOG_MAX");
	uint64_t capacity = max ? strtoull(max, NULL, 10) : SIMLOG_DEFAULT_RECORDS;
	off_t bytes = (off_t)(SIMLOG_HEADER_BYTES + capacity * sizeof(struct simlog_record));
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	struct stat st;
	void *map;

	if (fd < 0)
		return;
	/* Processes that start together all write the same size and the same header. */
	if (fstat(fd, &st) != 0 || (st.st_size < bytes && ftruncate(fd, bytes) != 0))
		goto out;
	map = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (map == MAP_FAILED)
		goto out;
	header = map;
	header->record_bytes = sizeof(struct simlog_record);
	header->capacity = capacity;
	header->magic = SIMLOG_MAGIC;
	records = (struct simlog_record *)((char *)map + SIMLOG_HEADER_BYTES);
out:
	close(fd);
}

static void identify(void)
{
	unsigned generation = sim.forks + 1;

	if (likely(self.generation == generation))
		return;
	self.generation = generation;
	self.tgid = (uint32_t)getpid();
	self.tid = (uint32_t)syscall(SYS_gettid);
	self.depth = 0;
}

static uint64_t cut(const struct sim_api *api, unsigned i, uint64_t word)
{
	switch (api->types[i]) {
	case 'b':
		return (uint8_t)word;
	case 'w':
		return (uint16_t)word;
	case 'u':
	case 'i':
		return (uint32_t)word;
	case 'd':
	case 'z':
		return api->flags & SIM_API_LEGACY32 ? (uint32_t)word : word;
	default:
		return word;
	}
}

struct simlog_record *sim_log__enter(const struct sim_api *api, const uint64_t *a)
{
	struct simlog_record *r;
	uint64_t slot;

	if (!header)
		return NULL;
	identify();
	slot = __atomic_fetch_add(&header->claimed, 1, __ATOMIC_RELAXED);
	if (slot >= header->capacity) {
		self.depth++;
		return NULL;
	}
	r = &records[slot];
	r->t_entry = sim_now();
	strncpy(r->symbol, api->symbol, sizeof(r->symbol) - 1);
	r->tgid = self.tgid;
	r->tid = self.tid;
	r->nargs = api->nargs;
	r->depth = self.depth++;
	for (unsigned i = 0; i < api->nargs && i < SIMLOG_WORDS; i++)
		r->words[i] = cut(api, i, a[i]);
	__atomic_store_n(&r->state, SIMLOG_ENTERED, __ATOMIC_RELEASE);
	return r;
}

static uint64_t result_at(const struct sim_api *api, unsigned i, const uint64_t *a)
{
	if (api->types[i] == 'O' && (api->flags & SIM_API_LEGACY32))
		return *(uint32_t *)PTR(i);
	return *(uint64_t *)PTR(i);
}

void sim_log__leave(struct simlog_record *r, const struct sim_api *api, const uint64_t *a, int result,
		    bool injected)
{
	if (header)
		self.depth--;
	if (!r)
		return;
	r->result = result;
	r->flags = injected ? SIMLOG_INJECTED : 0;
	for (unsigned i = 0; result == CUDA_SUCCESS && !injected && i < api->nargs && i < SIMLOG_WORDS; i++) {
		char t = api->types[i];

		if (!a[i])
			continue;
		if ((t == 'o' || t == 'O') && !(r->flags & SIMLOG_HAS_OUT)) {
			r->out = result_at(api, i, a);
			r->flags |= SIMLOG_HAS_OUT;
		} else if (t == 'x') {
			r->out2 = result_at(api, i, a);
			r->flags |= SIMLOG_HAS_OUT2;
		}
	}
	r->t_exit = sim_now();
	__atomic_store_n(&r->state, SIMLOG_RETURNED, __ATOMIC_RELEASE);
}
