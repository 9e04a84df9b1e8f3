/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --latency: which of its programs and maps are loaded, and what this kernel can tell. */
#include "attach/attach_priv.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpubpf.skel.h"
#include "maps.h"
#include "util/err.h"

#ifdef __aarch64__
#define COUNT_IS_THE_TASKS true
#else
#define COUNT_IS_THE_TASKS false
#endif

static bool has_member(const struct btf *btf, const char *type, const char *member)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);

	for (unsigned i = 0; t && i < btf_vlen(t); i++) {
		const char *name = btf__name_by_offset(btf, btf_members(t)[i].name_off);

		if (name && !strcmp(name, member))
			return true;
	}
	return false;
}

/* Where a member stands, those of anonymous members too; negative: there is none. */
static int64_t member_offset(const struct btf *btf, uint32_t type, const char *name, unsigned deep)
{
	const struct btf_type *t = btf__type_by_id(btf, type);

	for (unsigned i = 0; t && deep && btf_is_composite(t) && i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *its = btf__name_by_offset(btf, m->name_off);
		int64_t at = btf_member_bit_offset(t, i) / 8, inner;

		if (its && !strcmp(its, name))
			return at;
		inner = its && *its ? -1 : member_offset(btf, m->type, name, deep - 1);
		if (inner >= 0)
			return at + inner;
	}
	return -1;
}

/* Among the variables that each processor has its own of, `member` of `name`; negative: it is none of them. */
static int64_t percpu_offset(const struct btf *btf, const char *name, const char *member)
{
	int id = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);

	for (unsigned i = 0; t && i < btf_vlen(t); i++) {
		const struct btf_var_secinfo *s = &btf_var_secinfos(t)[i];
		const struct btf_type *var = btf__type_by_id(btf, s->type);
		const char *its = var ? btf__name_by_offset(btf, var->name_off) : NULL;
		int64_t inner = 0;

		if (!its || strcmp(its, name) != 0)
			continue;
		if (member)
			inner = member_offset(btf, var->type, member, 4);
		return inner < 0 ? inner : s->offset + inner;
	}
	return -1;
}

/*
 * The preemption count tells interrupts from threads (bpf/waker.h). On aarch64 it is the task's. On x86-64 it is a
 * variable of the processor, alone or (Linux 6.2 to 6.14) in struct pcpu_hot. A BPF program can ask for one by name
 * only where the kernel was built to keep the names of all its data; but a task leads to the run queue of its
 * processor, which is another such variable, and they are all laid out alike.
 */
static void find_preempt_count(const struct btf *btf, struct attach_latency *l)
{
	int64_t rq = percpu_offset(btf, "runqueues", NULL);
	int64_t count = percpu_offset(btf, "__preempt_count", NULL);

	if (COUNT_IS_THE_TASKS) {
		l->wakers = true;
		return;
	}
	if (count < 0)
		count = percpu_offset(btf, "pcpu_hot", "preempt_count");
	l->wakers = rq >= 0 && count >= 0 && rq != count && has_member(btf, "cfs_rq", "rq");
	l->preempt_count_from_rq = l->wakers ? count - rq : 0;
}

/* Major numbers by name, as /proc/devices has them: "195 nvidia-frontend", "507 nvidia-uvm" … */
static unsigned nvidia_devices(uint32_t majors[NVIDIA_MAJORS])
{
	FILE *f = fopen("/proc/devices", "re");
	char line[128], name[64];
	unsigned major, n = 0;

	while (f && n < NVIDIA_MAJORS && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "Block", 5))
			break;
		if (sscanf(line, "%u %63s", &major, name) == 2 && !strncmp(name, "nvidia", 6))
			majors[n++] = major;
	}
	if (f)
		fclose(f);
	return n;
}

int attach_latency_probe(struct attach_latency *l)
{
	struct btf *btf = btf__load_vmlinux_btf();

	*l = (struct attach_latency){ 0 };
	if (!btf)
		return -errno;
	l->throttled = has_member(btf, "task_struct", "throttled") ||
		       (has_member(btf, "cfs_rq", "throttle_count") &&
			has_member(btf, "sched_entity", "cfs_rq"));
	find_preempt_count(btf, l);
	l->irq_accounted = btf__find_by_name_kind(btf, "cpu_irqtime", BTF_KIND_VAR) > 0;
	btf__free(btf);
	/* the helpers came in 5.11, for other kinds of program than ours in 5.12 */
	l->task_storage = libbpf_probe_bpf_map_type(BPF_MAP_TYPE_TASK_STORAGE, NULL) == 1 &&
			  libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_task_storage_get, NULL) == 1;
	return 0;
}

void attach_latency_set(struct gpubpf_bpf *skel, const struct attach_latency *l)
{
	bpf_map__set_autocreate(skel->maps.lat_storage, l && l->task_storage);
	bpf_map__set_autocreate(skel->maps.lat_hash, l && !l->task_storage);
	skel->rodata->latency = !l ? LATENCY_OFF : l->task_storage ? LATENCY_STORAGE : LATENCY_HASH;
	skel->rodata->latency_throttled = l && l->throttled;
	skel->rodata->preempt_count_from_rq = l ? l->preempt_count_from_rq : 0;
}

int attach_latency_prepare(struct attach *a, struct err *err)
{
	struct attach_latency *l = &a->latency;
	uint32_t majors[NVIDIA_MAJORS] = { 0 };
	int e;

	bpf_program__set_autoload(a->skel->progs.on_switch, a->opts.latency);
	bpf_program__set_autoload(a->skel->progs.on_wakeup, a->opts.latency);
	bpf_program__set_autoload(a->skel->progs.on_waking, a->opts.latency);
	attach_latency_set(a->skel, NULL);
	if (!a->opts.latency)
		return 0;
	if (a->opts.entry_only)
		return err_set(err, -ENOTSUP,
			       "--latency needs return probes, which this kernel does not let stand safely");
	e = attach_latency_probe(l);
	if (e)
		return err_set(err, e,
			       "--latency needs the kernel's type information (/sys/kernel/btf/vmlinux): %s",
			       strerror(-e));
	attach_latency_set(a->skel, l);
	if (a->opts.max_threads && !l->task_storage)
		bpf_map__set_max_entries(a->skel->maps.lat_hash, a->opts.max_threads);
	l->nvidia_devices = nvidia_devices(majors);
	memcpy((void *)a->skel->rodata->nvidia_majors, majors, sizeof(majors));
	return 0;
}

int attach_latency_activate(struct attach *a, struct err *err)
{
	struct bpf_program *progs[ATTACH_SWITCHES] = { a->skel->progs.on_switch, a->skel->progs.on_wakeup,
						       a->skel->progs.on_waking };
	static const char *const names[] = { "sched_switch", "sched_wakeup", "sched_waking" };

	for (size_t i = 0; i < ATTACH_SWITCHES && a->opts.latency; i++) {
		a->switches[i] = bpf_program__attach_trace(progs[i]);
		if (!a->switches[i])
			return err_set(err, -errno, "--latency: cannot attach to the tracepoint %s: %s",
				       names[i], strerror(errno));
	}
	return 0;
}

void attach_latency_detach(struct attach *a)
{
	for (size_t i = 0; i < ATTACH_SWITCHES; i++) {
		bpf_link__destroy(a->switches[i]);
		a->switches[i] = NULL;
	}
}

struct attach_latency attach__latency(const struct attach *a)
{
	return a->latency;
}
