/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a recorded call costs the thread that makes it, measured by calling functions of our own with the signature of a
 * launch, bare and probed: the recording's own programs and maps, attached in its own way, in this process. What a call
 * costs depends on the machine, so it is no constant of ours.
 *
 * It comes behind the end of the recording: it delays no start, and nobody is recorded meanwhile whom it might
 * disturb. Counters, threads and ring have been read by then and are read by nobody again, so that nothing of it can get
 * into a capture.
 */
#include "attach/attach_priv.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/prologue.h"
#include "cookie.h"
#include "gpubpf.skel.h"
#include "maps.h"
#include "util/clock.h"
#include "util/err.h"

#define BATCH                                                                                                \
	ROW_LAUNCHES /* calls between two looks at the clock: launches in a row are handed over by so many */
#define BATCHES 250
#define BATCHES_MIN 8
#define KIND_NS 4000000ull /* for one kind; where a trap takes long there are fewer batches */
#define ROWS_PURE 16       /* with fewer launches to a measured one the median batch has some of both */

/* They begin as most of the driver's entry points do: with what a probe's cost depends on most. */
#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define BODY "push %rbp\n mov %rsp, %rbp\n xor %eax, %eax\n pop %rbp\n ret\n"
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#define BODY "stp x29, x30, [sp, #-16]!\n mov x29, sp\n mov w0, #0\n ldp x29, x30, [sp], #16\n ret\n"
#endif

typedef int launch_fn(const void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
		      unsigned bz, unsigned shared, void *stream, void **params, void **extra);

#define FUNCTION(name)                                                                                       \
	launch_fn name __attribute__((visibility("hidden")));                                                \
	__asm__(".pushsection .text\n .p2align 6\n .type " #name ", %function\n .hidden " #name "\n" #name   \
		":\n" BODY ".size " #name ", . - " #name "\n .popsection")
FUNCTION(cost_bare);
FUNCTION(cost_call);
FUNCTION(cost_row);
FUNCTION(cost_alone);

enum point { CALL, ROW, ALONE, POINTS };
static launch_fn *const functions[POINTS] = { cost_call, cost_row, cost_alone };

/* CUlaunchConfig (cuda.h) with no attributes: what is read for a launch that is recorded by itself. */
static const uint64_t launch_config[7];

static uint64_t timed(launch_fn *fn)
{
	uint64_t t0 = clock_now(CLOCK_MONOTONIC);

	for (int i = 0; i < BATCH; i++)
		fn(launch_config, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
	return clock_now(CLOCK_MONOTONIC) - t0;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t each(int64_t batch)
{
	return batch > 0 ? (uint64_t)(batch + BATCH / 2) / BATCH : 0;
}

/* A batch bare, a batch probed, in turns, and what the second took more. The ring is emptied beside the clock. */
static void measure(launch_fn *fn, struct ring_buffer *ring, struct attach_cost_kind *k)
{
	uint64_t end = clock_now(CLOCK_MONOTONIC) + KIND_NS;
	int64_t more[BATCHES];
	unsigned n = 0;

	while (n < BATCHES && (n < BATCHES_MIN || clock_now(CLOCK_MONOTONIC) < end)) {
		uint64_t bare = timed(cost_bare);

		more[n++] = (int64_t)(timed(fn) - bare);
		ring_buffer__consume(ring);
	}
	qsort(more, n, sizeof(*more), by_value);
	k->measured = n * BATCH;
	k->ns = each(more[n / 2]);
	k->low_ns = each(more[n / 10]);
	k->high_ns = each(more[n - 1 - n / 10]);
}

static int discard(void *ctx, void *data, size_t size)
{
	(void)ctx;
	(void)data;
	(void)size;
	return 0;
}

/* The recording may have filled it to the last place. */
static void make_room(int fd)
{
	uint32_t key;

	if (!bpf_map_get_next_key(fd, NULL, &key))
		bpf_map_delete_elem(fd, &key);
}

/* Launches in a row are recorded in another way than the rest. */
static bool has_rows(const struct attach *a)
{
	return a->opts.entry_only || attach__measure_one_of(a) > 1;
}

static int link_points(struct attach *a, struct attach_cost *c)
{
	size_t n = !has_rows(a) ? 1 : a->opts.entry_only ? 2 : POINTS;
	struct prologue p = prologue_choose(MACHINE, (const uint8_t *)cost_call, 8);
	uint64_t offsets[POINTS], cookies[POINTS] = {
		[CALL] = COOKIE_MAKE(CALL, 11, COOKIE_BLOB_NONE, 0, 0, COOKIE_NO_ARG, 0, 0),
		[ROW] = COOKIE_MAKE(ROW, 11, COOKIE_BLOB_NONE, 0, 0, COOKIE_NO_ARG, 0, 1),
		[ALONE] = COOKIE_MAKE(ALONE, 4, COOKIE_BLOB_CONFIG, 0, 0, COOKIE_NO_ARG, 0, 1),
	};

	c->probe = p.kind;
	for (int i = 0; i < POINTS; i++) {
		int e = kernel_own_offset((void (*)(void))functions[i], &offsets[i]);

		if (e)
			return e;
		offsets[i] += p.offset;
	}
	return attach_points(a, "/proc/self/exe", offsets, cookies, n, getpid());
}

static void measure_all(struct attach *a, struct ring_buffer *ring, struct attach_cost *c)
{
	double share = a->opts.entry_only ? 0 : 1.0 / attach__measure_one_of(a);
	struct attach_cost_kind *call = &c->kind[a->opts.entry_only ? COST_ENTRY : COST_CALL];
	struct attach_cost_kind *left[] = { &c->kind[COST_ROW], &c->kind[COST_ALONE] };

	timed(cost_call); /* the thread is new, pages are cold */
	ring_buffer__consume(ring);
	measure(cost_call, ring, call);
	for (int i = 0; i < 2 && has_rows(a); i++) {
		if (i && a->opts.entry_only) /* there all are recorded by themselves */
			break;
		measure(functions[ROW + i], ring, left[i]);
		/* some of each batch were measured to their return */
		if (share > 1.0 / ROWS_PURE) {
			double pure = ((double)left[i]->ns - share * (double)call->ns) / (1 - share);

			left[i]->ns = pure > 0 ? (uint64_t)pure : 0;
			left[i]->low_ns = left[i]->high_ns = 0;
		}
	}
}

/* What found no room is cheaper. A few, where the ring is of one page, move no median. */
static int nearly_all_recorded(struct attach *a, const struct gpubpf_counts *before,
			       const struct attach_cost *c, struct err *err)
{
	struct gpubpf_counts now[POINTS];
	uint64_t recorded = 0, made = BATCH;
	int e = attach__counts(a, now, POINTS);

	for (int i = 0; i < POINTS && !e; i++)
		recorded += now[i].recorded - before[i].recorded;
	for (int i = 0; i < COST_KINDS; i++)
		made += i == COST_OTHER ? 0 : c->kind[i].measured;
	if (!e && (recorded > made || recorded < made - made / 100))
		e = err_set(err, -ENOBUFS,
			    "of %llu calls that were to be measured %llu found room in the ring",
			    (unsigned long long)made, (unsigned long long)recorded);
	return e;
}

static int probed(struct attach *a, struct attach_cost *c, struct err *err)
{
	struct ring_buffer *ring = ring_buffer__new(bpf_map__fd(a->skel->maps.ring), discard, NULL, NULL);
	struct gpubpf_counts before[POINTS];
	int e;

	if (!ring)
		return err_set(err, -errno, "cannot map the ring: %s", strerror(errno));
	make_room(bpf_map__fd(a->skel->maps.threads));
	make_room(bpf_map__fd(a->has_view ? a->skel->maps.view_targets : a->skel->maps.targets));
	e = link_points(a, c);
	if (e) {
		err_set(err, e, "no probe could be placed in this program: %s", strerror(-e));
		goto out;
	}
	if (!a->opts.trace_all) {
		timed(cost_call);
		measure(cost_call, ring, &c->kind[COST_OTHER]);
	}
	e = attach__counts(a, before, POINTS);
	if (!e)
		e = attach__target(a, getpid(), false, err);
	if (!e) {
		measure_all(a, ring, c);
		e = nearly_all_recorded(a, before, c, err);
	}
out:
	ring_buffer__free(ring);
	return e;
}

int attach__measure_cost(struct attach *a, struct attach_cost *c, struct err *err)
{
	uint64_t t0 = clock_now(CLOCK_MONOTONIC);
	int e;

	memset(c, 0, sizeof(*c));
	if (!a->skel->bss || a->skel->bss->closed || a->nlinks)
		return err_set(err, -EBUSY, "probes of the recording still stand");
	a->skel->bss->stopped = 0;
	e = probed(a, c, err);
	attach__detach(a);
	c->spent_ns = clock_now(CLOCK_MONOTONIC) - t0;
	return e;
}
