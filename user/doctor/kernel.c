/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "attach/kernel.h"
#include "doctor/doctor.h"
#include "util/err.h"

static void check_version(struct doctor *d)
{
	char release[64] = "unknown";
	struct utsname u = { 0 };
	struct finding *f;
	json_t *facts;

	doctor__line(d, "/proc/sys/kernel/osrelease", release, sizeof(release));
	uname(&u);
	facts = json_pack("{s:s, s:s}", "release", release, "machine", u.machine);
	if (d->kernel && d->kernel < (5 << 8 | 8)) {
		f = doctor__add(d, FINDING_MISSING, true, "kernel", facts,
				"Linux %s (%s): before 5.8 there is no BPF ring buffer", release, u.machine);
		finding__advise(f, "boot Linux 5.8 or later (`uname -r` shows the running one)");
		return;
	}
	doctor__add(d, FINDING_OK, false, "kernel", facts, "Linux %s (%s)", release, u.machine);
}

static void check_btf(struct doctor *d)
{
	char path[PATH_MAX];
	struct finding *f;
	struct stat st;

	snprintf(path, sizeof(path), "%s/sys/kernel/btf/vmlinux", d->root);
	if (stat(path, &st)) {
		f = doctor__add(d, FINDING_MISSING, true, "btf", NULL, "/sys/kernel/btf/vmlinux: %s",
				strerror(errno));
		finding__advise(
			f,
			"use a kernel built with CONFIG_DEBUG_INFO_BTF=y (`grep BTF /boot/config-$(uname -r)`)");
	} else if (access(path, R_OK)) {
		f = doctor__add(d, FINDING_MISSING, true, "btf", NULL, "/sys/kernel/btf/vmlinux: %s",
				strerror(errno));
		finding__advise(f, "run it as root");
	} else {
		doctor__add(d, FINDING_OK, false, "btf", json_pack("{s:I}", "bytes", (json_int_t)st.st_size),
			    "/sys/kernel/btf/vmlinux");
	}
}

static void check_settings(struct doctor *d)
{
	char line[128];
	struct finding *f;
	long v;

	if (!doctor__line(d, "/proc/sys/kernel/unprivileged_bpf_disabled", line, sizeof(line))) {
		v = strtol(line, NULL, 10);
		doctor__add(d, FINDING_OK, false, "unpriv-bpf",
			    json_pack("{s:I}", "unprivileged_bpf_disabled", (json_int_t)v),
			    "kernel.unprivileged_bpf_disabled is %ld%s", v,
			    d->has_bpf_caps ? "; of no effect with these rights" : "");
	}
	if (!doctor__line(d, "/proc/sys/kernel/perf_event_paranoid", line, sizeof(line))) {
		json_t *facts;

		v = strtol(line, NULL, 10);
		facts = json_pack("{s:I}", "perf_event_paranoid", (json_int_t)v);
		if (v > 1 && !d->has_bpf_caps) {
			f = doctor__add(d, FINDING_DEGRADED, false, "paranoid", facts,
					"kernel.perf_event_paranoid is %ld", v);
			finding__advise(f, "run it as root, or give it CAP_PERFMON");
		} else {
			doctor__add(d, FINDING_OK, false, "paranoid", facts,
				    "kernel.perf_event_paranoid is %ld%s", v,
				    d->has_bpf_caps ? "; of no effect with these rights" : "");
		}
	}
	if (doctor__line(d, "/sys/kernel/security/lockdown", line, sizeof(line)))
		return; /* no lockdown in this kernel, or securityfs not mounted: what it forbids shows in `bpf` */
	if (strstr(line, "[confidentiality]")) {
		f = doctor__add(d, FINDING_MISSING, true, "lockdown",
				json_pack("{s:s}", "mode", "confidentiality"),
				"confidentiality: BPF programs may not read kernel memory");
		finding__advise(f, "boot without `lockdown=confidentiality` (integrity is fine)");
	} else {
		bool integrity = strstr(line, "[integrity]");

		doctor__add(d, FINDING_OK, false, "lockdown",
			    json_pack("{s:s}", "mode", integrity ? "integrity" : "none"), "%s",
			    integrity ? "integrity; it does not forbid what gpubpf does" : "none");
	}
}

void doctor__check_kernel(struct doctor *d)
{
	check_version(d);
	check_btf(d);
	check_settings(d);
}

static void explain_bpf(const struct doctor *d, struct finding *f, int e)
{
	if (e == ENOSYS)
		finding__advise(f, "use a kernel built with CONFIG_BPF_SYSCALL=y");
	else if (e != EPERM && e != EACCES)
		finding__advise(f, "see `dmesg` for what the kernel says about it");
	else if (!d->has_bpf_caps)
		finding__advise(f, "run it as root");
	else if (d->seccomp)
		finding__advise(
			f,
			"a seccomp filter forbids it: start the container with `--security-opt seccomp=unconfined`, "
			"or with `--privileged`");
	else if (d->kernel && d->kernel < (5 << 8 | 11))
		finding__advise(f, "locked memory is used up: `ulimit -l unlimited`");
	else
		finding__advise(f, "a security module forbids it: `dmesg | grep -i -e denied -e lockdown`");
}

/* "r0 = 0; exit", of the type that uprobes run, and a ring buffer of one page. */
static bool check_load(struct doctor *d)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	int prog, map, e;

	prog = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "gpubpf_doctor", "GPL", insns, 2, &opts);
	if (prog < 0) {
		e = -prog;
		explain_bpf(d,
			    doctor__add(d, FINDING_MISSING, true, "bpf", json_pack("{s:i}", "errno", e),
					"the kernel refuses a two-instruction program: %s", strerror(e)),
			    e);
		return false;
	}
	close(prog);
	map = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "gpubpf_doctor", 0, 0, (__u32)getpagesize(), NULL);
	if (map < 0) {
		e = -map;
		explain_bpf(d,
			    doctor__add(d, FINDING_MISSING, true, "bpf", json_pack("{s:i}", "errno", e),
					"programs load, but the kernel refuses a ring buffer of one page: %s",
					strerror(e)),
			    e);
		return false;
	}
	close(map);
	doctor__add(d, FINDING_OK, false, "bpf", NULL, "a program and a ring buffer were loaded");
	return true;
}

/* The kinds are tried from the cheapest; the attach step takes the first that works. */
static void check_uprobes(struct doctor *d)
{
	char works[64] = "", refused[256] = "";
	enum attach_method best = ATTACH_AUTO;
	json_t *facts = json_object();
	struct finding *f;

	for (enum attach_method m = ATTACH_SESSION; m < ATTACH_METHODS; m++) {
		struct err err = { "" };
		int e = kernel_try(m, &err);
		char *text = e ? refused : works;
		size_t size = e ? sizeof(refused) : sizeof(works), at = strlen(text);

		json_object_set_new(facts, attach_method_names[m], json_boolean(!e));
		if (e)
			snprintf(text + at, size - at, "%s%s (%s)", at ? ", " : "", attach_method_names[m],
				 strerror(-e));
		else
			snprintf(text + at, size - at, "%s%s", at ? ", " : "", attach_method_names[m]);
		if (!e && best == ATTACH_AUTO)
			best = m;
	}
	if (best == ATTACH_AUTO) {
		f = doctor__add(d, FINDING_MISSING, true, "uprobes", facts, "no kind can be placed: %s",
				refused);
		finding__advise(f, d->has_sys_admin
					   ? "use a kernel built with CONFIG_UPROBE_EVENTS=y (`grep UPROBE "
					     "/boot/config-$(uname -r)`)"
					   : "run it as root: before Linux 6.6 uprobes need CAP_SYS_ADMIN");
	} else if (best >= ATTACH_PERF) {
		f = doctor__add(d, FINDING_DEGRADED, false, "uprobes", facts,
				"%s; refused: %s. One perf event per probe: stopping takes seconds", works,
				refused);
		finding__advise(f, "Linux 6.6 and later place all probes with one link");
	} else {
		doctor__add(d, FINDING_OK, false, "uprobes", facts, "%s%s%s", works,
			    refused[0] ? "; refused: " : "", refused);
	}
}

void doctor__check_bpf(struct doctor *d)
{
	if (check_load(d))
		check_uprobes(d);
}
