// SPDX-License-Identifier: BSD-2-Clause
#include "report.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "guard.h"

#ifndef GPUBPF_SHIM_VERSION
#define GPUBPF_SHIM_VERSION "unknown"
#endif

/* The linker's name for the start of this object in memory. */
extern const Elf64_Ehdr shim_elf_header __asm__("__ehdr_start") __attribute__((visibility("hidden")));

static void note_of(const char *base, const Elf64_Phdr *p, __u8 *out, size_t max)
{
	const char *at = base + p->p_vaddr, *end = at + p->p_memsz;

	while (at + sizeof(Elf64_Nhdr) <= end) {
		const Elf64_Nhdr *n = (const void *)at;
		const char *name = at + sizeof(*n), *desc = name + ((n->n_namesz + 3) & ~3u);

		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
			memcpy(out, desc, n->n_descsz < max ? n->n_descsz : max);
			return;
		}
		at = desc + ((n->n_descsz + 3) & ~3u);
	}
}

static void build_id(__u8 *out, size_t max)
{
	const char *base = (const char *)&shim_elf_header;
	const Elf64_Phdr *p;

	/* More than the header lies there: the compiler must not think otherwise. */
	__asm__("" : "+r"(base));
	p = (const void *)(base + shim_elf_header.e_phoff);
	/* Addresses in the file are from 0 in a library, and from anywhere in a program (a test). */
	for (int i = 0; i < shim_elf_header.e_phnum; i++) {
		if (p[i].p_type == PT_LOAD && p[i].p_offset == 0)
			base -= p[i].p_vaddr;
	}
	for (int i = 0; i < shim_elf_header.e_phnum; i++) {
		if (p[i].p_type == PT_NOTE)
			note_of(base, &p[i], out, max);
	}
}

/* Field 22 of /proc/self/stat, behind the name, which may hold anything. 0: not readable. */
__u64 report__start_time(void)
{
	char text[1024], *at;
	ssize_t n;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = 0;
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

void report__hello(const struct report *r, const struct cupti *c, __u32 worker_tid)
{
	struct gpubpf_hello h = {
		.abi = GPUBPF_SHIM_ABI,
		.session = r->session,
		.pid = (__u32)getpid(),
		.worker_tid = worker_tid,
		.time = now_ns(),
		.start_time = report__start_time(),
		.cupti_version = c->version,
		.driver_version = c->driver_version,
		.time_source = r->time_source,
		.arming = r->arming,
	};
	size_t n = strlen(c->path);

	build_id(h.build_id, sizeof(h.build_id));
	strncpy(h.version, GPUBPF_SHIM_VERSION, sizeof(h.version) - 1);
	if (n >= sizeof(h.cupti_path))
		memcpy(h.cupti_path, c->path + n - sizeof(h.cupti_path) + 1, sizeof(h.cupti_path) - 1);
	else
		memcpy(h.cupti_path, c->path, n);
	emit__hit(GPUBPF_PROBE_HELLO, &h, 1);
}

static void add_facility(const struct report *r, struct status_batch *b, int f)
{
	status__add(b, GPUBPF_STATUS_FACILITY, f, r->facility[f].result, r->session);
}

void report__facility(struct report *r, enum gpubpf_facility f, cupti_result result)
{
	struct status_batch b;

	b.n = 0;
	r->facility[f].tried = true;
	r->facility[f].result = result;
	add_facility(r, &b, f);
	status__send(&b);
}

void report__state(const struct report *r)
{
	struct status_batch b;

	b.n = 0;
	for (int f = 0; f < FACILITIES; f++) {
		if (r->facility[f].tried)
			add_facility(r, &b, f);
	}
	if (r->failed) {
		status__add(&b, GPUBPF_STATUS_FAILED, (int)r->failed, r->failed_value, r->session);
	} else if (r->armed) {
		struct gpubpf_status *s = status__add(&b, GPUBPF_STATUS_ARMED, 0, 0, r->session);

		s->a = r->began;
		s->time = r->armed;
	}
	status__send(&b);
}

void report__counts(const struct report *r, const struct cupti *c)
{
	static const enum gpubpf_probe probes[] = { GPUBPF_PROBE_CALLS, GPUBPF_PROBE_ACTIVITY,
						    GPUBPF_PROBE_NAMES, GPUBPF_PROBE_MODULES };
	struct clock_match last, before;
	struct status_batch b;

	b.n = 0;
	clock__pair(c, status__add(&b, GPUBPF_STATUS_CLOCK, 0, 0, r->session));
	if (clock__matches(&last, &before) && last.time) {
		struct gpubpf_status *s = status__add(&b, GPUBPF_STATUS_MATCH, 0, 0, r->session);

		s->a = last.time;
		s->b = last.gap;
		s->c = before.time;
		s->d = before.gap;
	}
	for (int i = 1; i < (int)(sizeof(r->losses) / sizeof(r->losses[0])); i++) {
		if (r->losses[i])
			status__add(&b, GPUBPF_STATUS_LOSS, i, 0, r->session)->a = r->losses[i];
	}
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		struct emit_counts n = emit__counts(probes[i]);
		struct gpubpf_status *s = status__add(&b, GPUBPF_STATUS_COUNTS, (int)probes[i], 0,
						      r->session);

		s->a = n.made;
		s->b = n.handed;
	}
	for (int i = 1; i < GPUBPF_CALLBACKS; i++) {
		const struct batch_spent *n = &r->spent[i];
		struct gpubpf_status *s;

		if (!n->seen)
			continue;
		s = status__add(&b, GPUBPF_STATUS_COST, i, 0, r->session);
		s->a = n->seen;
		s->b = n->timed;
		s->c = n->ns;
		s->d = n->longest;
		s->e = r->clock_ns;
	}
	status__send(&b);
}

void report__one(const struct report *r, enum gpubpf_status_kind kind, int code, int value, __u64 a)
{
	struct status_batch b;

	b.n = 0;
	status__add(&b, kind, code, value, r->session)->a = a;
	status__send(&b);
}
