/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every check that reads files, on a made-up /proc and /sys. */
#include "../t.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "doctor/doctor.h"

static char root[] = "/tmp/gpubpf-doctor.XXXXXX";

static void put(const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(full, 0755);
		*slash = '/';
	}
	f = fopen(full, "w");
	CHECKF(f, "cannot write %s", full);
	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

static void link_to(const char *path, const char *to)
{
	char full[PATH_MAX];

	put(path, "");
	snprintf(full, sizeof(full), "%s%s", root, path);
	unlink(full);
	CHECK(symlink(to, full) == 0);
}

/* An empty root of its own for every test. */
static struct doctor begin(void)
{
	strcpy(root + strlen(root) - 6, "XXXXXX");
	CHECK(mkdtemp(root));
	return (struct doctor){ .root = root };
}

static void end(struct doctor *d)
{
	char command[PATH_MAX];

	doctor__free(d);
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	CHECK(system(command) == 0);
}

static const struct finding *find(const struct doctor *d, const char *id)
{
	for (size_t i = 0; i < d->n; i++) {
		if (!strcmp(d->findings[i].id, id))
			return &d->findings[i];
	}
	return NULL;
}

/* The finding is there in this state, and its text or advice holds the word. */
static void expect(const struct doctor *d, const char *id, enum finding_state state, const char *word)
{
	const struct finding *f = find(d, id);

	CHECKF(f, "no finding %s", id);
	if (!f)
		return;
	CHECKF(f->state == state, "%s is %s: %s", id, finding_state_names[f->state], f->detail);
	CHECKF(strstr(f->detail, word) || (f->advice && strstr(f->advice, word)),
	       "%s: '%s' / '%s' lacks '%s'", id, f->detail, f->advice ? f->advice : "", word);
	CHECKF(f->state == FINDING_OK || !f->needed || f->advice, "%s is needed and says not what to do", id);
}

#define STATUS(caps, seccomp) "Name:\tx\nCapEff:\t" caps "\nSeccomp:\t" seccomp "\n"

T(rights_of_root)
{
	struct doctor d = begin();

	put("/proc/self/status", STATUS("000001ffffffffff", "0"));
	doctor__check_rights(&d);
	expect(&d, "rights", FINDING_OK, "CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN, CAP_SYS_PTRACE");
	CHECK(d.has_bpf_caps && d.has_sys_admin && doctor__can_record(&d));
	end(&d);
}

T(rights_of_nobody)
{
	struct doctor d = begin();

	put("/proc/self/status", STATUS("0000000000000000", "2"));
	doctor__check_rights(&d);
	expect(&d, "rights", FINDING_MISSING, "sudo");
	expect(&d, "rights", FINDING_MISSING, "lacks CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN, CAP_SYS_PTRACE");
	CHECK(!d.has_bpf_caps && !doctor__can_record(&d) && d.seccomp == 2);
	end(&d);
}

T(rights_without_sys_admin_or_without_ptrace)
{
	struct doctor d = begin();

	put("/proc/self/status", STATUS("000000c000080000", "0")); /* BPF, PERFMON, SYS_PTRACE */
	doctor__check_rights(&d);
	expect(&d, "rights", FINDING_DEGRADED, "multi-link");
	CHECK(d.has_bpf_caps && !d.has_sys_admin && doctor__can_record(&d));
	doctor__free(&d);
	put("/proc/self/status", STATUS("000000c000000000", "0"));
	doctor__check_rights(&d);
	expect(&d, "rights", FINDING_DEGRADED, "CAP_SYS_PTRACE");
	doctor__free(&d);
	put("/proc/self/status", STATUS("0000004000000000", "0")); /* PERFMON alone */
	doctor__check_rights(&d);
	expect(&d, "rights", FINDING_MISSING, "lacks CAP_BPF");
	doctor__free(&d);
	put("/proc/self/status", STATUS("0000008000000000", "0")); /* BPF alone */
	doctor__check_rights(&d);
	expect(&d, "rights", FINDING_MISSING, "lacks CAP_PERFMON");
	end(&d);
}

T(kernel_versions)
{
	struct doctor d = begin();

	put("/proc/sys/kernel/osrelease", "5.7.19-generic\n");
	put("/sys/kernel/btf/vmlinux", "x");
	doctor__check_rights(&d);
	doctor__check_kernel(&d);
	expect(&d, "kernel", FINDING_MISSING, "5.8");
	CHECK(!doctor__can_record(&d));
	doctor__free(&d);
	put("/proc/sys/kernel/osrelease", "5.10.0-8\n");
	doctor__check_rights(&d);
	doctor__check_kernel(&d);
	expect(&d, "kernel", FINDING_OK, "5.10.0-8");
	CHECK(d.kernel == (5 << 8 | 10));
	doctor__free(&d);
	put("/proc/sys/kernel/osrelease", "6.18.44\n");
	doctor__check_rights(&d);
	CHECK(d.kernel == (6 << 8 | 18) && !find(&d, "memlock"));
	end(&d);
}

T(a_kernel_without_btf)
{
	struct doctor d = begin();

	doctor__check_kernel(&d);
	expect(&d, "btf", FINDING_MISSING, "CONFIG_DEBUG_INFO_BTF");
	CHECK(!doctor__can_record(&d));
	end(&d);
}

T(lockdown_and_settings)
{
	struct doctor d = begin();

	put("/sys/kernel/btf/vmlinux", "x");
	put("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	put("/proc/sys/kernel/perf_event_paranoid", "3\n");
	put("/proc/sys/kernel/unprivileged_bpf_disabled", "2\n");
	doctor__check_kernel(&d);
	expect(&d, "lockdown", FINDING_MISSING, "lockdown=confidentiality");
	expect(&d, "paranoid", FINDING_DEGRADED, "is 3");
	expect(&d, "unpriv-bpf", FINDING_OK, "is 2");
	doctor__free(&d);
	put("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	d.has_bpf_caps = true;
	doctor__check_kernel(&d);
	expect(&d, "lockdown", FINDING_OK, "integrity");
	expect(&d, "paranoid", FINDING_OK, "no effect");
	doctor__free(&d);
	put("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
	doctor__check_kernel(&d);
	expect(&d, "lockdown", FINDING_OK, "none");
	end(&d);
}

T(containers)
{
	struct doctor d = begin();

	link_to("/proc/self/ns/pid", "pid:[4026531836]");
	put("/proc/self/cgroup", "0::/user.slice\n");
	doctor__check_container(&d);
	expect(&d, "container", FINDING_OK, "/user.slice");
	doctor__free(&d);
	link_to("/proc/self/ns/pid", "pid:[4026532999]");
	put("/.dockerenv", "");
	doctor__check_container(&d);
	expect(&d, "container", FINDING_DEGRADED, "--pid=host");
	expect(&d, "container", FINDING_DEGRADED, "docker");
	end(&d);
}

/* C26: plain words, what is refused, by which setting, what still works. */
T(C26_gpus_and_profiling_permission)
{
	struct doctor d = begin();
	const json_t *gpu;

	doctor__check_driver(&d);
	expect(&d, "gpu", FINDING_MISSING, "no NVIDIA kernel driver");
	CHECK(!find(&d, "profiling") && doctor__can_record(&d));
	doctor__free(&d);

	put("/proc/driver/nvidia/version",
	    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.03  Release Build\n");
	doctor__check_driver(&d);
	expect(&d, "gpu", FINDING_MISSING, "driver 580.159.03, and no GPU");
	doctor__free(&d);

	put("/proc/driver/nvidia/gpus/0000:1b:00.0/information",
	    "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-1234\n");
	put("/proc/driver/nvidia/gpus/0000:2b:00.0/information", "IRQ: 7\n");
	put("/proc/driver/nvidia/params", "RmMsg: \"\"\nRmProfilingAdminOnly: 1\n");
	doctor__check_driver(&d);
	expect(&d, "gpu", FINDING_OK, "driver 580.159.03: NVIDIA H200 (0000:1b:00.0), GPU 0000:2b:00.0");
	gpu = json_array_get(json_object_get(find(&d, "gpu")->facts, "gpus"), 0);
	CHECK(!strcmp(json_string_value(json_object_get(gpu, "uuid")) ?: "", "GPU-1234"));
	gpu = json_array_get(json_object_get(find(&d, "gpu")->facts, "gpus"), 1);
	CHECK(gpu && !json_object_get(gpu, "uuid") && !json_object_get(gpu, "model")); /* R14 */
	expect(&d, "profiling", FINDING_DEGRADED, "NVreg_RestrictProfilingToAdminUsers=0");
	expect(&d, "profiling", FINDING_DEGRADED, "recorded all the same");
	doctor__free(&d);
	d.has_sys_admin = true;
	doctor__check_driver(&d);
	expect(&d, "profiling", FINDING_OK, "which this process is");
	doctor__free(&d);
	put("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
	d.has_sys_admin = false;
	doctor__check_driver(&d);
	expect(&d, "profiling", FINDING_OK, "every user");
	end(&d);
}

T(libraries_that_are_none)
{
	struct doctor d;

	if (LACKS_SYSCALL(SYS_openat2))
		SKIP("openat2(2)");
	d = begin();
	doctor__check_libcuda(&d);
	doctor__check_cupti(&d);
	expect(&d, "libcuda", FINDING_MISSING, "ldconfig");
	expect(&d, "cupti", FINDING_MISSING, "LD_LIBRARY_PATH");
	CHECK(doctor__can_record(&d));
	doctor__free(&d);
	put("/usr/lib64/libcuda.so.1", "text");
	put("/usr/lib64/libcupti.so.13", "text");
	doctor__check_libcuda(&d);
	doctor__check_cupti(&d);
	expect(&d, "libcuda", FINDING_MISSING, "no ELF");
	expect(&d, "cupti", FINDING_MISSING, "no libcupti.so");
	end(&d);
}

T(json_says_what_the_text_says)
{
	struct doctor d = begin();
	const char *state;
	json_t *json, *one;

	put("/proc/self/status", STATUS("0000000000000000", "0"));
	doctor__check_rights(&d);
	doctor__add(&d, FINDING_OK, false, "odd", NULL, "a\033[31m path");
	json = doctor__json(&d);
	CHECK(json && json_is_false(json_object_get(json, "can_record")));
	CHECK(json_array_size(json_object_get(json, "checks")) == d.n);
	one = json_array_get(json_object_get(json, "checks"), 0);
	state = json_string_value(json_object_get(one, "state"));
	CHECK(state && !strcmp(state, "missing"));
	CHECK(json_is_false(json_object_get(json_object_get(one, "facts"), "CAP_BPF")));
	CHECK(json_object_get(one, "advice"));
	one = json_array_get(json_object_get(json, "checks"), d.n - 1);
	CHECK(!json_object_get(one, "advice") &&
	      !json_object_get(one, "facts")); /* R14: absent, not null or "" */
	CHECK(!strchr(json_string_value(json_object_get(one, "detail")), '\033'));
	json_decref(json);
	end(&d);
}

T(text_escapes_what_others_wrote)
{
	struct doctor d = begin();
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	finding__advise(doctor__add(&d, FINDING_MISSING, true, "odd", NULL, "a\033[31m path\nsecond"),
			"do `this`");
	doctor__print(&d, f);
	fclose(f);
	CHECK(!strchr(text, '\033') && !strstr(text, "path\n"));
	CHECK(strstr(text, "missing   odd "));
	CHECK(strstr(text, " — do `this`\n"));
	CHECK(strstr(text, "cannot work here; missing: odd\n"));
	free(text);
	end(&d);
}

TEST_MAIN
