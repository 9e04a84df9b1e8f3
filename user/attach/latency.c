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
}

int attach_latency_prepare(struct attach *a, struct err *err)
{
	struct attach_latency *l = &a->latency;
	uint32_t majors[NVIDIA_MAJORS] = { 0 };
	int e;

	bpf_program__set_autoload(a->skel->progs.on_switch, a->opts.latency);
	bpf_program__set_autoload(a->skel->progs.on_wakeup, a->opts.latency);
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
	struct bpf_program *progs[] = { a->skel->progs.on_switch, a->skel->progs.on_wakeup };

	for (size_t i = 0; i < 2 && a->opts.latency; i++) {
		a->switches[i] = bpf_program__attach_trace(progs[i]);
		if (!a->switches[i])
			return err_set(err, -errno, "--latency: cannot attach to the tracepoint %s: %s",
				       i ? "sched_wakeup" : "sched_switch", strerror(errno));
	}
	return 0;
}

void attach_latency_detach(struct attach *a)
{
	for (size_t i = 0; i < 2; i++) {
		bpf_link__destroy(a->switches[i]);
		a->switches[i] = NULL;
	}
}

struct attach_latency attach__latency(const struct attach *a)
{
	return a->latency;
}
