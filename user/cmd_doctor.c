/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "doctor/doctor.h"
#include "util/err.h"

struct doctor_conf {
	unsigned long long pid;
	int json;
};

static const struct opt doctor_opts[] = {
	{ .letter = 'p',
	  .name = "pid",
	  .type = OPT_CALL,
	  .call = cmd_pid,
	  .arg = "PID",
	  .offset = offsetof(struct doctor_conf, pid),
	  .help = "Look at this process too: does it exist, may it be examined, is libcuda mapped." },
	{ .name = "json",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct doctor_conf, json),
	  .help = "Print JSON, with the values behind each line." },
	{ 0 },
};

static int print_json(const struct doctor *d)
{
	json_t *json = doctor__json(d);

	if (!json || json_dumpf(json, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER)) {
		fputs("gpubpf doctor: the JSON could not be written\n", stderr);
		json_decref(json);
		return -EIO;
	}
	putchar('\n');
	json_decref(json);
	return 0;
}

static int doctor_run(int argc, char **argv)
{
	struct doctor_conf conf = { 0 };
	const struct shimfile_image image = shim_image();
	struct doctor d = { .root = "" };
	struct err err = { "" };
	int rest, e, status;

	e = opts_parse(&verb_doctor, argc, argv, &conf, &rest, &err);
	if (e == 1)
		return 0;
	if (!e && rest < argc)
		e = err_set(&err, -EINVAL, "'%s' is one word too many; see `gpubpf doctor --help`",
			    argv[rest]);
	if (e) {
		fprintf(stderr, "gpubpf doctor: %s\n", err.msg);
		return 2;
	}
	doctor__check_rights(&d);
	doctor__check_kernel(&d);
	doctor__check_bpf(&d);
	doctor__check_container(&d);
	doctor__check_driver(&d);
	doctor__check_libcuda(&d);
	doctor__check_cupti(&d);
	doctor__check_shim(&d, &image);
	if (conf.pid)
		doctor__check_target(&d, (pid_t)conf.pid);
	if (d.error)
		fprintf(stderr, "gpubpf doctor: %s\n", strerror(-d.error));
	status = !doctor__can_record(&d);
	if (!conf.json)
		doctor__print(&d, stdout);
	else if (print_json(&d))
		status = 1;
	doctor__free(&d);
	return status;
}

const struct verb verb_doctor = {
	.name = "doctor",
	.synopsis = "[-p PID] [--json]",
	.summary = "say whether recording can work here, and what to do where it cannot",
	.text = "Looks at the kernel, the rights of this process, the GPU driver and its library, and, with `-p`, at "
		"one process. What can be tried is tried and not inferred: a BPF program is loaded, each kind of uprobe is "
		"placed on gpubpf itself.\n\n"
		"Each line reads: `ok`, `degraded` (works, with less or slower) or `missing`; what it is about; what was "
		"seen; and, behind a dash, what to do. `missing` alone does not mean that recording is impossible: the last "
		"line says that.",
	.exit_status = "0: `gpubpf record` can work here (on the process, with `-p`).\n\n"
		       "1: it cannot; the last line names what is missing.\n\n"
		       "2: wrong usage.",
	.examples =
		"gpubpf doctor\tthis machine\n"
		"gpubpf doctor -p 4321\tand this process\n"
		"gpubpf doctor --json | jq '.checks[] | select(.state != \"ok\")'\twhat is not as it could be",
	.opts = doctor_opts,
	.run = doctor_run,
};
