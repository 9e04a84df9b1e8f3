/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "doctor/doctor.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif

/* The initial pid namespace (include/linux/proc_ns.h, PROC_PID_INIT_INO). */
#define INIT_PID_NS 0xEFFFFFFCUL

static void check_capabilities(struct doctor *d)
{
	static const struct {
		const char *name;
		unsigned bit;
	} caps[] = {
		{ "CAP_BPF", CAP_BPF },
		{ "CAP_PERFMON", CAP_PERFMON },
		{ "CAP_SYS_ADMIN", CAP_SYS_ADMIN },
		{ "CAP_SYS_PTRACE", CAP_SYS_PTRACE },
	};
	char line[64], have[128] = "", lack[128] = "";
	json_t *facts;
	struct finding *f;
	uint64_t set;
	bool ptrace;

	if (doctor__value(d, "/proc/self/status", "CapEff", line, sizeof(line))) {
		doctor__add(d, FINDING_DEGRADED, false, "rights", NULL, "/proc/self/status cannot be read");
		return;
	}
	set = strtoull(line, NULL, 16);
	facts = json_object();
	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
		bool has = set >> caps[i].bit & 1;
		char *text = has ? have : lack;
		size_t at = strlen(text);

		json_object_set_new(facts, caps[i].name, json_boolean(has));
		snprintf(text + at, sizeof(have) - at, "%s%s", at ? ", " : "", caps[i].name);
	}
	d->has_sys_admin = set >> CAP_SYS_ADMIN & 1;
	d->has_bpf_caps = d->has_sys_admin || ((set >> CAP_BPF & 1) && (set >> CAP_PERFMON & 1));
	ptrace = set >> CAP_SYS_PTRACE & 1;
	if (!d->has_bpf_caps) {
		f = doctor__add(
			d, FINDING_MISSING, true, "rights", facts,
			"this process has %s%sand lacks %s; BPF needs CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN",
			have, have[0] ? " " : "no capability of these ", lack);
		finding__advise(f,
				"run it as root (`sudo gpubpf …`), or once `sudo setcap "
				"cap_bpf,cap_perfmon,cap_sys_ptrace,cap_sys_admin+ep $(command -v gpubpf)`");
	} else if (!ptrace) {
		f = doctor__add(
			d, FINDING_DEGRADED, false, "rights", facts,
			"%s; without CAP_SYS_PTRACE the libraries of other users' processes cannot be found",
			have);
		finding__advise(f, "run it as root, or add cap_sys_ptrace with `setcap`");
	} else if (!d->has_sys_admin) {
		f = doctor__add(d, FINDING_DEGRADED, false, "rights", facts,
				"%s; without CAP_SYS_ADMIN only multi-link uprobes can be placed", have);
		finding__advise(f, "enough on Linux 6.6 and later; run it as root on older kernels");
	} else {
		doctor__add(d, FINDING_OK, false, "rights", facts, "%s", have);
	}
}

static void check_seccomp(struct doctor *d)
{
	static const char *const names[] = { "none", "strict", "filter" };
	char line[32];
	unsigned long mode;

	if (doctor__value(d, "/proc/self/status", "Seccomp", line, sizeof(line)))
		return; /* a kernel without seccomp: nothing can be refused by it */
	mode = strtoul(line, NULL, 10);
	d->seccomp = mode <= 2 ? (int)mode : 2;
	doctor__add(
		d, FINDING_OK, false, "seccomp", json_pack("{s:s}", "mode", names[d->seccomp]), "%s%s",
		names[d->seccomp],
		d->seccomp
			? " (a container's usual filter; whether it lets BPF through is what `bpf` below tried)"
			: "");
}

/* Kernels before 5.11 count BPF maps as locked memory. */
static void check_memlock(struct doctor *d)
{
	struct rlimit limit;
	struct finding *f;

	if (!d->kernel || d->kernel >= (5 << 8 | 11) || getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	if (limit.rlim_cur == RLIM_INFINITY) {
		doctor__add(d, FINDING_OK, false, "memlock", NULL, "unlimited");
		return;
	}
	f = doctor__add(d, geteuid() ? FINDING_MISSING : FINDING_DEGRADED, geteuid() != 0, "memlock",
			json_pack("{s:I}", "bytes", (json_int_t)limit.rlim_cur),
			"%llu bytes of locked memory; this kernel counts BPF maps in it",
			(unsigned long long)limit.rlim_cur);
	finding__advise(f, "`ulimit -l unlimited` as root before gpubpf is started");
}

void doctor__check_rights(struct doctor *d)
{
	char release[64] = "";
	char *end;

	if (!doctor__line(d, "/proc/sys/kernel/osrelease", release, sizeof(release))) {
		unsigned long major = strtoul(release, &end, 10),
			      minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;

		d->kernel = (unsigned)(major << 8 | (minor > 255 ? 255 : minor));
	}
	check_capabilities(d);
	check_seccomp(d);
	check_memlock(d);
}

static bool exists(const struct doctor *d, const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", d->root, path);
	return access(full, F_OK) == 0;
}

void doctor__check_container(struct doctor *d)
{
	char path[PATH_MAX], link[64], cgroup[1024] = "";
	const char *engine = exists(d, "/.dockerenv")          ? "docker"
			     : exists(d, "/run/.containerenv") ? "podman"
							       : NULL;
	unsigned long ns = 0;
	json_t *facts = json_object();
	ssize_t n;

	snprintf(path, sizeof(path), "%s/proc/self/ns/pid", d->root);
	n = readlink(path, link, sizeof(link) - 1);
	if (n > 0) {
		link[n] = 0;
		if (sscanf(link, "pid:[%lu]", &ns) != 1)
			ns = 0;
	}
	if (ns)
		json_object_set_new(facts, "initial_pid_namespace", json_boolean(ns == INIT_PID_NS));
	if (engine)
		json_object_set_new(facts, "engine", json_string(engine));
	if (!doctor__line(d, "/proc/self/cgroup", cgroup, sizeof(cgroup)))
		json_object_set_new(facts, "cgroup", json_string(cgroup));
	if (ns && ns != INIT_PID_NS) {
		struct finding *f = doctor__add(
			d, FINDING_DEGRADED, false, "container", facts,
			"in a pid namespace of its own%s%s%s (cgroup %s): `-a` sees only the "
			"processes of this container by name",
			engine ? " (" : "", engine ? engine : "", engine ? ")" : "", cgroup);

		finding__advise(f, "run gpubpf on the host, or start the container with `--pid=host`");
		return;
	}
	doctor__add(d, FINDING_OK, false, "container", facts, "%s%s%s, cgroup %s",
		    ns ? "the initial pid namespace" : "the pid namespace cannot be read",
		    engine ? ", in a container of " : "", engine ? engine : "",
		    cgroup[0] ? cgroup : "unknown");
}
