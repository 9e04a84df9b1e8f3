// SPDX-License-Identifier: BSD-2-Clause
#include <stdatomic.h>
#include <string.h>

#include "clock.h"
#include "emit.h"
#include "usdt/probe.h"
#include "usdt/probes.h"

#define X(name, NAME) GPUBPF_PROBE_DEFINE(name);
GPUBPF_EACH_PROBE(X)
#undef X

static struct {
	_Atomic __u64 sequence, made, handed;
} probes[GPUBPF_PROBES];

#ifdef GPUBPF_SHIM_TEST
emit_hook *_Atomic emit__hook;
#endif

void emit__begin(void)
{
	for (int i = 0; i < GPUBPF_PROBES; i++) {
		atomic_store(&probes[i].made, 0);
		atomic_store(&probes[i].handed, 0);
	}
}

/* The kernel writes the semaphores: no synchronization of ours. */
__attribute__((no_sanitize("thread"))) bool emit__attached(enum gpubpf_probe p)
{
	switch (p) {
#define X(name, NAME)                                                                                        \
	case GPUBPF_PROBE_##NAME:                                                                            \
		return GPUBPF_PROBE_ENABLED(name);
		GPUBPF_EACH_PROBE(X)
#undef X
	case GPUBPF_PROBES:
		break;
	}
	return false;
}

bool emit__any_attached(void)
{
	for (int i = 0; i < GPUBPF_PROBES; i++) {
		if (emit__attached((enum gpubpf_probe)i))
			return true;
	}
	return false;
}

static void fire(enum gpubpf_probe p, const void *items, size_t n, __u64 sequence)
{
	switch (p) {
#define X(name, NAME)                                                                                        \
	case GPUBPF_PROBE_##NAME:                                                                            \
		GPUBPF_PROBE(name, items, n, sequence);                                                      \
		break;
		GPUBPF_EACH_PROBE(X)
#undef X
	case GPUBPF_PROBES:
		break;
	}
}

bool emit__hit(enum gpubpf_probe p, const void *items, size_t n)
{
	__u64 sequence;

	atomic_fetch_add_explicit(&probes[p].made, n, memory_order_relaxed);
	if (!n || !emit__attached(p))
		return false;
	sequence = atomic_fetch_add_explicit(&probes[p].sequence, 1, memory_order_relaxed);
	fire(p, items, n, sequence);
#ifdef GPUBPF_SHIM_TEST
	emit_hook *hook = atomic_load(&emit__hook);

	if (hook)
		hook(p, items, n, sequence);
#endif
	atomic_fetch_add_explicit(&probes[p].handed, n, memory_order_relaxed);
	return true;
}

void emit__lost(enum gpubpf_probe p, size_t n)
{
	atomic_fetch_add_explicit(&probes[p].made, n, memory_order_relaxed);
}

struct emit_counts emit__counts(enum gpubpf_probe p)
{
	return (struct emit_counts){ .made = atomic_load(&probes[p].made),
				     .handed = atomic_load(&probes[p].handed) };
}

struct gpubpf_status *status__add(struct status_batch *b, enum gpubpf_status_kind kind, int code, int value,
				  __u32 session)
{
	struct gpubpf_status *s;

	if (b->n == STATUS_BATCH)
		status__send(b);
	s = &b->v[b->n++];
	memset(s, 0, sizeof(*s));
	s->kind = (__u16)kind;
	s->code = (__u16)code;
	s->value = value;
	s->session = session;
	s->time = now_ns();
	return s;
}

void status__send(struct status_batch *b)
{
	if (b->n)
		emit__hit(GPUBPF_PROBE_STATUS, b->v, b->n);
	b->n = 0;
}
