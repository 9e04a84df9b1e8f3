/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tells of the environment is read as it is meant: nvidia-smi's answers, command lines, files of container runtimes. */
#include "../t.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "environment/gather.h"
#include "inspect/inspect.h"

static const char *value(const struct environment *e, const char *group, const char *name)
{
	const struct env_fact *f = environment__find(e, group, name);

	return !f ? "no such fact" : f->value ? f->value : "absent";
}

static const char *why(const struct environment *e, const char *group, const char *name)
{
	const struct env_fact *f = environment__find(e, group, name);

	return !f ? "no such fact" : f->why_absent ? f->why_absent : "there";
}

#define IS(got, want)                                                                                        \
	do {                                                                                                 \
		const char *got_ = got;                                                                      \
		CHECKF(!strcmp(got_, want), "'%s', not '%s'", got_, want);                                   \
	} while (0)

static void done(struct environment *e)
{
	environment__clear(e);
	free(e->fact);
}

/* ---- The list ---- */

T(later_facts_of_a_name_take_the_place_of_former_ones)
{
	struct environment e = { 0 };

	environment__add(&e, "host", "a", "1", NULL, false);
	environment__add(&e, "device", "a", "2", NULL, false);
	environment__add(&e, "host", "a", NULL, "gone", true);
	environment__add(&e, "weather", "a", "3", NULL, false);
	CHECK(e.n == 2 && !e.error);
	IS(value(&e, "host", "a"), "absent");
	IS(why(&e, "host", "a"), "gone");
	IS(value(&e, "device", "a"), "2");
	IS(value(&e, "weather", "a"), "no such fact");
	CHECK(environment__find(&e, "host", "a")->per_run);
	done(&e);
}

static Gpubpf__Fact made_fact(const char *name, const char *value, const char *absent)
{
	Gpubpf__Fact f = GPUBPF__FACT__INIT;

	f.group = (char *)"host";
	f.name = (char *)name;
	f.value = (char *)value;
	f.absent = (char *)absent;
	return f;
}

T(facts_of_a_capture_and_of_the_members_of_a_merged_one)
{
	Gpubpf__Fact a = made_fact("CPU model", "one", NULL), b = made_fact("CPU model", NULL, "hidden"),
		     c = made_fact("CPU model", NULL, NULL), *of[] = { &a, &b }, *of_2[] = { &a },
		     *of_3[] = { &c };
	Gpubpf__Member first = GPUBPF__MEMBER__INIT, second = first, third = first,
		       *members[] = { &first, &second, &third };
	Gpubpf__Meta m = GPUBPF__META__INIT;
	struct inspection in = { .meta = &m };
	struct environment *e;

	m.n_fact = 2;
	m.fact = of;
	CHECK(!environment__of(&in, &e));
	IS(why(e, "host", "CPU model"), "hidden");
	IS(value(e, "device", "clocks and power"), "no such fact");
	for (size_t i = 1; i < environment__facts(e); i++)
		CHECK(strcmp(environment__fact(e, i)->name, environment__fact(e, i - 1)->name) != 0 ||
		      strcmp(environment__fact(e, i)->group, environment__fact(e, i - 1)->group) != 0);
	environment__free(e);
	first.index = 1;
	second.index = 2;
	third.index = 3;
	second.n_fact = third.n_fact = 1;
	second.fact = of_2;
	third.fact = of_3;
	m.n_member = 3;
	m.member = members;
	CHECK(!environment__of(&in, &e));
	IS(why(e, "device", "member 1: clocks and power"), "recorded by a gpubpf that did not look for it");
	IS(value(e, "host", "member 2: CPU model"), "one");
	IS(why(e, "host", "member 3: CPU model"), "not known");
	IS(value(e, "host", "CPU model"), "no such fact");
	environment__free(e);
}

T(facts_without_end_are_read_in_part)
{
	enum { MANY = 300000 };
	Gpubpf__Fact *fact = calloc(MANY, sizeof(*fact)), **facts = calloc(MANY, sizeof(*facts));
	char(*names)[12] = calloc(MANY, sizeof(*names));
	Gpubpf__Meta m = GPUBPF__META__INIT;
	struct inspection in = { .meta = &m };
	struct environment *e;

	for (size_t i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "%zu", i);
		fact[i] = made_fact(names[i], "x", NULL);
		facts[i] = &fact[i];
	}
	m.n_fact = MANY;
	m.fact = facts;
	CHECK(!environment__of(&in, &e));
	IS(value(e, "capture", "facts that were read"), "2000 of 300000");
	IS(value(e, "host", "1999"), "x");
	IS(value(e, "host", "2000"), "no such fact");
	environment__free(e);
	free(fact);
	free(facts);
	free(names);
}

/* ---- nvidia-smi ---- */

#define FULL                                                                                                 \
	"GPU-1, 00000000:61:00.0, 1980, 2619, NVIDIA H200, 580.159.03, 96.00.AF, Enabled, Default, "         \
	"Disabled, Enabled, 1980, 3201, 1830, 3201, 650.00, 650.00, 700.00, 700.00\n"

T(smi_answer_of_two_devices)
{
	struct environment e = { 0 };

	CHECK(smi_parse(
		      &e,
		      FULL
		      "GPU-2, 00000000:62:00.0, 0, 2619, NVIDIA H200, 580.159.03, 96, Disabled, Default, Enabled, "
		      "Disabled, 1980, 3201, 1830, 3201, 0.00, 650.00, 700.00, 700.00\r\n",
		      smi_fields(true), false, true) == 2);
	IS(value(&e, "device", "GPUs"), "2");
	IS(value(&e, "device", "GPU 0 UUID"), "GPU-1");
	IS(value(&e, "device", "GPU 0 SM clock after 2 s"), "1980 MHz");
	CHECK(environment__find(&e, "device", "GPU 0 SM clock after 2 s")->per_run);
	CHECK(!environment__find(&e, "device", "GPU 0 power limit")->per_run);
	IS(value(&e, "device", "GPU 0 power limit"), "650.00 W");
	IS(value(&e, "device", "GPU 1 MIG mode"), "Enabled");
	IS(value(&e, "device", "GPU 1 power limit, max"), "700.00 W");
	IS(value(&e, "driver", "driver version"), "580.159.03");
	done(&e);
}

/* One row with a zero, one that is not told and one that is not asked. */
T(R14_smi_zero_absent_and_not_asked_stay_apart)
{
	uint64_t asked = smi_fields(true) & ~(UINT64_C(1) << 16);
	struct environment e = { 0 };

	IS(smi_field(16), "enforced.power.limit");
	CHECK(smi_parse(
		      &e,
		      "GPU-1, [N/A], 0, [Unknown Error], A, [N/A], [Not Supported], N/A, Default, "
		      "[N/A], [N/A], what, 3201, [Requested functionality has been deprecated], 0, , 700.00, 700.00\n",
		      asked, true, true) == 1);
	IS(value(&e, "device", "GPU 0 SM clock at the end"), "0 MHz");
	IS(value(&e, "device", "GPU 0 memory clock for applications"), "0 MHz");
	IS(value(&e, "device", "GPU 0 bus id"), "absent");
	IS(why(&e, "device", "GPU 0 memory clock at the end"), "nvidia-smi says \"[Unknown Error]\"");
	IS(why(&e, "device", "GPU 0 VBIOS"), "nvidia-smi says \"[Not Supported]\"");
	IS(why(&e, "device", "GPU 0 persistence mode"), "nvidia-smi says \"N/A\"");
	IS(why(&e, "device", "GPU 0 SM clock, max"), "nvidia-smi gave no number: \"what\"");
	IS(why(&e, "device", "GPU 0 power limit, enforced"), "this nvidia-smi does not know it");
	IS(why(&e, "device", "GPU 0 power limit"), "nvidia-smi says \"\"");
	IS(why(&e, "driver", "driver version"), "nvidia-smi says \"[N/A]\"");
	/* what a device does not have is not held against another's; what could not be read is */
	CHECK(environment__find(&e, "device", "GPU 0 ECC mode")->per_run);
	CHECK(environment__find(&e, "device", "GPU 0 SM clock for applications")->per_run);
	CHECK(!environment__find(&e, "device", "GPU 0 SM clock, max")->per_run);
	done(&e);
}

T(smi_last_answer_has_clocks_alone)
{
	struct environment e = { 0 };

	CHECK(smi_parse(&e, "GPU-1, 00000000:61:00.0, 345, 2619\n", smi_fields(false), true, false) == 1);
	IS(value(&e, "device", "GPU 0 SM clock at the end"), "345 MHz");
	CHECK(e.n == 2);
	done(&e);
}

T(smi_lines_that_are_none_of_its_answer_are_no_facts)
{
	static const char *const garbage[] = {
		"",
		"\n\n",
		"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
		"GPU-1, 2\n",
		"a, b, c, d\n",
		",,,\n",
		"GPU-1, 00000000:61:00.0, 345, 2619, more\n",
	};
	struct environment e = { 0 };

	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++)
		CHECKF(smi_parse(&e, garbage[i], smi_fields(false), false, false) == 0, "%s", garbage[i]);
	CHECK(!e.n);
	CHECK(smi_parse(&e, "a warning\n" FULL, smi_fields(true), false, true) == 1);
	done(&e);
}

/* ---- Scripts ---- */

static void script_is(enum env_script want, const char *want_what, const char *exe, char *line)
{
	char *argv[16], *save = NULL;
	const char *what;
	size_t n = 0;
	enum env_script got;

	for (char *w = strtok_r(line, " ", &save); w && n < 16; w = strtok_r(NULL, " ", &save))
		argv[n++] = w;
	got = env_script_of(exe, argv, n, &what);
	CHECKF(got == want && (want_what ? what && !strcmp(what, want_what) : !what), "%s %s: %d %s", exe,
	       n > 1 ? argv[1] : "", got, what ? what : "(none)");
}

#define SCRIPT(want, what, exe, line)                                                                        \
	do {                                                                                                 \
		char line_[] = line;                                                                         \
		script_is(want, what, exe, line_);                                                           \
	} while (0)

T(script_of_a_command_line)
{
	SCRIPT(ENV_SCRIPT_FILE, "x.py", "/usr/bin/python3.11", "python x.py -c 1");
	SCRIPT(ENV_SCRIPT_FILE, "x.py", "/usr/bin/python3", "python3 -u -X dev -Wignore -W error x.py");
	SCRIPT(ENV_SCRIPT_FILE, "x.py", "python3", "python3 -uB -- x.py");
	SCRIPT(ENV_SCRIPT_FILE, "x.py", "python3", "python3 --check-hash-based-pycs always x.py");
	SCRIPT(ENV_SCRIPT_MODULE, "torch.distributed.run", "python3",
	       "python3 -um torch.distributed.run x.py");
	SCRIPT(ENV_SCRIPT_MODULE, "pip", "python3", "python3 -mpip");
	SCRIPT(ENV_SCRIPT_INLINE, NULL, "python3", "python3 -c print(1) x.py");
	SCRIPT(ENV_SCRIPT_INPUT, NULL, "python3", "python3");
	SCRIPT(ENV_SCRIPT_INPUT, NULL, "python3", "python3 - x.py");
	SCRIPT(ENV_SCRIPT_FILE, "run.sh", "/bin/bash", "bash -e run.sh -c");
	SCRIPT(ENV_SCRIPT_FILE, "run.sh", "/bin/bash", "bash -eo pipefail run.sh");
	SCRIPT(ENV_SCRIPT_FILE, "run.sh", "/bin/bash", "bash --rcfile rc +o posix run.sh");
	SCRIPT(ENV_SCRIPT_INLINE, NULL, "/bin/dash", "sh -ec true");
	SCRIPT(ENV_SCRIPT_INPUT, NULL, "/bin/bash", "bash -s run.sh");
	SCRIPT(ENV_SCRIPT_FILE, "x.pl", "/usr/bin/perl5.36.0", "perl -w -Mstrict -I lib x.pl");
	SCRIPT(ENV_SCRIPT_INLINE, NULL, "/usr/bin/perl", "perl -ne print");
	SCRIPT(ENV_NO_INTERPRETER, NULL, "/usr/bin/shuf", "shuf x.py");
	SCRIPT(ENV_NO_INTERPRETER, NULL, "/usr/bin/python3.11-config", "python3.11-config x.py");
}

/* ---- Containers ---- */

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define CGROUP "0::/system.slice/docker-" ID ".scope\n"

static void put_file(const char *root, const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = 0;
		mkdir(full, 0700);
		*p = '/';
	}
	f = fopen(full, "w");
	CHECK(f && fputs(text, f) >= 0);
	if (f)
		fclose(f);
}

static void image_is(const char *path, const char *text, const char *runtime, const char *image,
		     const char *digest)
{
	char root[] = "/tmp/gpubpf-test-XXXXXX", command[64];
	struct environment e = { 0 };

	CHECK(mkdtemp(root) != NULL);
	put_file(root, path, text);
	env_container(&e, "", CGROUP, root);
	IS(value(&e, "workload", "container"), ID);
	CHECK(environment__find(&e, "workload", "container")->per_run);
	IS(value(&e, "workload", "container runtime"), runtime);
	IS(value(&e, "workload", "container image"), image);
	IS(value(&e, "workload", "container image digest"), digest);
	done(&e);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	CHECK(!system(command));
}

T(image_of_a_container_by_its_runtimes_files)
{
	image_is("/var/lib/docker/containers/" ID "/config.v2.json",
		 "{\"Image\":\"sha256:aa\",\"Config\":{\"Image\":\"me/it:1\"}}", "docker", "me/it:1",
		 "sha256:aa");
	image_is("/run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json",
		 "{\"annotations\":{\"io.kubernetes.cri.image-name\":\"reg/it@sha256:bb\"}}", "containerd",
		 "reg/it@sha256:bb", "absent");
	image_is(
		"/run/containers/storage/overlay-containers/" ID "/userdata/config.json",
		"{\"annotations\":{\"io.kubernetes.cri-o.ImageName\":\"it\",\"io.kubernetes.cri-o.ImageRef\":\"cc\"}}",
		"CRI-O", "it", "cc");
	image_is("/var/lib/containers/storage/overlay-containers/containers.json",
		 "[{\"id\":\"x\",\"image\":\"no\"},{\"id\":\"" ID "\",\"image\":\"dd\"}]", "podman", "absent",
		 "dd");
}

T(R6_image_that_nobody_tells_is_absent)
{
	static const char *const broken[] = { "", "{", "[]", "{\"Image\":5}" };
	struct environment e = { 0 };

	env_container(&e, "", CGROUP, "/nonexistent");
	IS(value(&e, "workload", "container"), ID);
	IS(value(&e, "workload", "container image"), "absent");
	CHECK(strstr(why(&e, "workload", "container image"), "/var/lib/docker") != NULL);
	environment__clear(&e);
	env_container(&e, "", NULL, "");
	IS(value(&e, "workload", "container"), "absent");
	IS(value(&e, "workload", "container image"), "absent");
	done(&e);
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		char root[] = "/tmp/gpubpf-test-XXXXXX", command[64];
		struct environment b = { 0 };

		CHECK(mkdtemp(root) != NULL);
		put_file(root, "/var/lib/docker/containers/" ID "/config.v2.json", broken[i]);
		env_container(&b, "", CGROUP, root);
		IS(value(&b, "workload", "container image"), "absent");
		done(&b);
		snprintf(command, sizeof(command), "rm -rf %s", root);
		CHECK(!system(command));
	}
}

T(container_id_is_the_last_run_of_64_digits)
{
	char id[65];

	CHECK(env_container_id(CGROUP, id));
	IS(id, ID);
	CHECK(env_container_id("1:cpu:/\n0::/kubepods/pod-1/" ID "\n", id));
	IS(id, ID);
	CHECK(!env_container_id("0::/user.slice/0123456789abcdef0123456789abcdef\n", id));
	CHECK(!env_container_id(NULL, id));
}

T(libraries_of_CUDA_by_their_names)
{
	CHECK(env_is_library("/usr/lib/libcudart.so.12.4.127"));
	CHECK(env_is_library("/a/libcudnn_ops.so.9"));
	CHECK(env_is_library("libcublasLt.so.12"));
	CHECK(!env_is_library("/usr/lib/libcuda.so.1"));
	CHECK(!env_is_library("/libcudart.so.12/readme"));
	CHECK(!env_is_library("/usr/lib/libcublas_notes"));
}

TEST_MAIN
