/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a call costs, measured with real probes on functions of this very program: each way to attach, each kind of recording. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/attach.h"
#include "t.h"
#include "util/err.h"

#define MOST_NS 50000

static struct attach_cost c;

/* False: this kernel has no such way, or these are not the rights; the reason is in `lacks`. */
static bool measure(struct attach_opts o, char *lacks, size_t size, int *e)
{
	struct err err = { "" };
	struct attach *a = NULL;

	libbpf_set_print(NULL);
	if (attach__open(&o, &a, &err) || attach__load(a, &err)) {
		snprintf(lacks, size, "%s", err.msg);
		attach__close(a);
		return false;
	}
	*e = attach__measure_cost(a, &c, &err);
	if (*e)
		printf("# %s\n", err.msg);
	attach__close(a);
	return true;
}

static void check_kind(enum cost_kind id, bool there)
{
	const struct attach_cost_kind *k = &c.kind[id];

	if (!there) {
		CHECKF(!k->measured && !k->ns, "%s: %u measured", cost_kind_names[id], k->measured);
		return;
	}
	CHECKF(k->measured >= 64 && k->ns > 0 && k->ns < MOST_NS && k->low_ns <= k->ns && k->ns <= k->high_ns,
	       "%s: %u measured, %llu ns, %llu to %llu", cost_kind_names[id], k->measured,
	       (unsigned long long)k->ns, (unsigned long long)k->low_ns, (unsigned long long)k->high_ns);
}

static void try_with(struct attach_opts o, bool rows)
{
	static char lacks[512];
	int e;

	if (LACKS_SYSCALL(SYS_bpf))
		SKIP("bpf(2)");
	if (!measure(o, lacks, sizeof(lacks), &e))
		SKIP(lacks);
	CHECKF(e == 0, "error %d", e);
	check_kind(COST_CALL, !o.entry_only);
	check_kind(COST_ENTRY, o.entry_only);
	check_kind(COST_ROW, rows);
	check_kind(COST_ALONE, rows && !o.entry_only);
	check_kind(COST_OTHER, !o.trace_all);
	CHECK(c.probe && *c.probe && strcmp(c.probe, "stepped") != 0);
	CHECK(c.spent_ns > 0);
}

T(by_session)
{
	try_with((struct attach_opts){ .method = ATTACH_SESSION, .measure_one_of = 64 }, true);
}

T(by_multi_links)
{
	try_with((struct attach_opts){ .method = ATTACH_MULTI }, false);
}

T(by_perf_events)
{
	try_with((struct attach_opts){ .method = ATTACH_PERF }, false);
}

T(by_a_program_per_probe)
{
	try_with((struct attach_opts){ .method = ATTACH_PERCALL }, false);
}

T(with_latency)
{
	try_with((struct attach_opts){ .latency = true }, false);
}

T(at_entries_alone)
{
	try_with((struct attach_opts){ .entry_only = true }, true);
}

T(of_everybody)
{
	try_with((struct attach_opts){ .trace_all = true }, false);
}

T(with_no_room_to_spare)
{
	try_with((struct attach_opts){ .ring_bytes = 1, .max_threads = 1, .max_targets = 1 }, false);
}

/* Half of the launches in a row are measured to their return: what the other half costs is told apart. */
T(of_rows_with_many_returns)
{
	struct attach_opts o = { .method = ATTACH_SESSION, .measure_one_of = 2 };
	static char lacks[512];
	int e;

	if (LACKS_SYSCALL(SYS_bpf))
		SKIP("bpf(2)");
	if (!measure(o, lacks, sizeof(lacks), &e))
		SKIP(lacks);
	CHECK(e == 0 && c.kind[COST_ROW].ns < c.kind[COST_CALL].ns);
	CHECK(!c.kind[COST_ROW].low_ns && !c.kind[COST_ROW].high_ns);
}

/* Probes of the recording that still stand would record what is made here. */
T(not_while_it_records)
{
	struct attach_opts o = { 0 };
	struct err err = { "" };
	struct attach *a = NULL;

	if (LACKS_SYSCALL(SYS_bpf))
		SKIP("bpf(2)");
	if (attach__open(&o, &a, &err) || attach__load(a, &err)) {
		attach__close(a);
		SKIP("the rights for BPF");
	}
	attach__detach_but_init(a);
	CHECK(attach__measure_cost(a, &c, &err) == -EBUSY && err.msg[0]);
	CHECK(!c.kind[COST_CALL].measured);
	attach__close(a);
}

TEST_MAIN
