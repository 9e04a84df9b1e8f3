/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/mmapwatch.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGES 8 /* of data, per processor: about two hundred mappings between two looks */
#define RECORD_MAX 8192

struct cpu {
	int fd;
	struct perf_event_mmap_page *page;
};

struct mmapwatch {
	size_t page_size, map_bytes;
	int n;
	struct cpu cpus[];
};

/* PERF_RECORD_MMAP2 (linux/perf_event.h), up to the name. */
struct mmap2 {
	struct perf_event_header head;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	char name[];
};

static int open_cpu(struct mmapwatch *m, int cpu)
{
	struct perf_event_attr pe = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(pe),
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		.mmap2 = 1,
		.sample_id_all = 1,
		.sample_type = PERF_SAMPLE_TIME,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		/* read at each nap of the recorder: a machine that starts many programs must not wake it for each */
		.wakeup_watermark = PAGES / 2 * 4096,
	};
	struct cpu *c = &m->cpus[m->n];
	void *map;

	c->fd = (int)syscall(SYS_perf_event_open, &pe, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (c->fd < 0)
		return -errno;
	map = mmap(NULL, m->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
	if (map == MAP_FAILED) {
		int e = -errno;

		close(c->fd);
		return e;
	}
	c->page = map;
	m->n++;
	return 0;
}

int mmapwatch__open(struct mmapwatch **out)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct mmapwatch *m;
	int e = 0;

	m = calloc(1, sizeof(*m) + (size_t)cpus * sizeof(m->cpus[0]));
	if (!m)
		return -ENOMEM;
	m->page_size = (size_t)sysconf(_SC_PAGESIZE);
	m->map_bytes = (PAGES + 1) * m->page_size;
	for (int cpu = 0; cpu < cpus && !e; cpu++) {
		e = open_cpu(m, cpu);
		if (e == -ENODEV) /* offline */
			e = 0;
	}
	if (e) {
		mmapwatch__close(m);
		return e;
	}
	*out = m;
	return 0;
}

int mmapwatch__epoll_add(struct mmapwatch *m, int epfd)
{
	for (int i = 0; i < m->n; i++) {
		struct epoll_event ev = { .events = EPOLLIN, .data.fd = m->cpus[i].fd };

		if (epoll_ctl(epfd, EPOLL_CTL_ADD, m->cpus[i].fd, &ev))
			return -errno;
	}
	return 0;
}

static void copy_out(const struct mmapwatch *m, const struct cpu *c, uint64_t at, void *to, size_t n)
{
	size_t size = PAGES * m->page_size, off = at % size, first = size - off < n ? size - off : n;
	const char *data = (const char *)c->page + m->page_size;

	memcpy(to, data + off, first);
	memcpy((char *)to + first, data, n - first);
}

static void read_cpu(struct mmapwatch *m, struct cpu *c, bool (*wanted)(const char *path), mmapwatch_fn *fn,
		     void *arg)
{
	uint64_t head = __atomic_load_n(&c->page->data_head, __ATOMIC_ACQUIRE), tail = c->page->data_tail;
	char buf[RECORD_MAX + 1];

	while (tail < head) {
		struct perf_event_header h;
		const struct mmap2 *r = (const struct mmap2 *)buf;

		copy_out(m, c, tail, &h, sizeof(h));
		if (h.size < sizeof(h))
			break;
		if (h.type == PERF_RECORD_MMAP2 && h.size <= RECORD_MAX && h.size > sizeof(*r) + 8) {
			copy_out(m, c, tail, buf, h.size);
			buf[h.size] = 0;
			/* the time stands behind the name (sample_id_all) */
			struct mmapwatch_event ev = { 0,      (pid_t)r->pid, r->name, r->ino, r->addr,
						      r->len, r->pgoff,      r->maj,  r->min };

			memcpy(&ev.time, buf + h.size - sizeof(ev.time), sizeof(ev.time));
			if (wanted(r->name))
				fn(&ev, arg);
		}
		tail += h.size;
	}
	__atomic_store_n(&c->page->data_tail, head, __ATOMIC_RELEASE);
}

void mmapwatch__read(struct mmapwatch *m, bool (*wanted)(const char *path), mmapwatch_fn *fn, void *arg)
{
	for (int i = 0; i < m->n; i++)
		read_cpu(m, &m->cpus[i], wanted, fn, arg);
}

void mmapwatch__close(struct mmapwatch *m)
{
	if (!m)
		return;
	for (int i = 0; i < m->n; i++) {
		munmap(m->cpus[i].page, m->map_bytes);
		close(m->cpus[i].fd);
	}
	free(m);
}
