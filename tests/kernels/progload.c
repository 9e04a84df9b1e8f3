// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads each program of the BPF object alone, in every way it can be attached and with every setting, and prints
 * the verifier's verdict and work (C14). What a kernel lacks is told from a refusal of ours by a control: a
 * minimal program that asks for the same feature.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "attach/attach_priv.h"
#include "attach/bpfobj.h"
#include "attach/kernel.h"
#include "cookie.h"
#include "maps.h"

#define TYPE_PLAIN 0
#define TYPE_RAW_TP -1
#define TYPE_TP_BTF -2

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define LOG_BYTES (1u << 20)
#define LOG_STATS 4 /* BPF_LOG_STATS */

enum control { CONTROL_PLAIN, CONTROL_COOKIE, CONTROL_RAW_TP, CONTROL_BAD };

static const char *const control_names[] = {
	"a minimal program of this kind",
	"a minimal program that asks for its attach cookie (Linux 5.15)",
	"a minimal raw tracepoint program",
	"a program that no kernel takes",
};

static const struct load {
	const char *program, *way;
	int attach_type;
	enum control control;
} rows[] = {
	{ "call_session", "session", KERNEL_UPROBE_SESSION, CONTROL_COOKIE },
	{ "call_entry", "multi", KERNEL_UPROBE_MULTI, CONTROL_COOKIE },
	{ "call_exit", "multi", KERNEL_UPROBE_MULTI, CONTROL_COOKIE },
	{ "call_entry", "perf", TYPE_PLAIN, CONTROL_COOKIE },
	{ "call_exit", "perf", TYPE_PLAIN, CONTROL_COOKIE },
	{ "call_entry_percall", "perf", TYPE_PLAIN, CONTROL_PLAIN },
	{ "call_exit_percall", "perf", TYPE_PLAIN, CONTROL_PLAIN },
	{ "shim_probe", "multi", KERNEL_UPROBE_MULTI, CONTROL_COOKIE },
	{ "shim_probe", "perf", TYPE_PLAIN, CONTROL_COOKIE },
	{ "shim_probe_percall", "perf", TYPE_PLAIN, CONTROL_PLAIN },
	{ "on_fork", "raw_tp", TYPE_RAW_TP, CONTROL_RAW_TP },
	{ "on_exec", "raw_tp", TYPE_RAW_TP, CONTROL_RAW_TP },
	{ "on_exit", "raw_tp", TYPE_RAW_TP, CONTROL_RAW_TP },
	{ "on_xid", "raw_tp", TYPE_RAW_TP, CONTROL_RAW_TP },
	{ "on_switch", "tp_btf", TYPE_TP_BTF, CONTROL_RAW_TP },
	{ "on_wakeup", "tp_btf", TYPE_TP_BTF, CONTROL_RAW_TP },
	{ "on_waking", "tp_btf", TYPE_TP_BTF, CONTROL_RAW_TP },
};

static int print_nothing(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

#define INSN(c, dst, src, offset, imm32)                                                                     \
	((struct bpf_insn){                                                                                  \
		.code = (c), .dst_reg = (dst), .src_reg = (src), .off = (offset), .imm = (imm32) })

/* 0: the kernel takes the minimal program. */
static int control_load(enum control control, int attach_type)
{
	struct bpf_insn insns[3];
	size_t n = 0;
	int fd;
	LIBBPF_OPTS(bpf_prog_load_opts, opts);

	if (control == CONTROL_COOKIE)
		insns[n++] = INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_attach_cookie);
	if (control == CONTROL_BAD)
		insns[n++] = INSN(BPF_LDX | BPF_MEM | BPF_DW, 0, 1, 0x4000, 0);
	insns[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0);
	insns[n++] = INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	if (attach_type > TYPE_PLAIN)
		opts.expected_attach_type = (enum bpf_attach_type)attach_type;
	fd = bpf_prog_load(control == CONTROL_RAW_TP ? BPF_PROG_TYPE_RAW_TRACEPOINT : BPF_PROG_TYPE_KPROBE,
			   "control", "GPL", insns, n, &opts);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* The settings that are constants to the verifier, one bit each: every pair of values stands in one of these; and --latency
 * with its time in a hash, and in the tasks. */
#define SETTING_HASH 0x10u
#define SETTING_STORAGE 0x20u
#define SETTING_WALK 0x40u /* --stacks along frame pointers */
#define SETTING_COPY 0x80u /* --stacks with copies */
#define SETTING_SLOW 0x100u
static const unsigned settings[] = { 0x0, 0x7, 0xb, 0xd, 0xe, 0x1c, 0x2c, 0x4c, 0x9c, 0x16c, 0x1ac, 0x42 };

/* False: the kernel has not what they need. */
static bool settings_apply(struct gpubpf_bpf *skel, unsigned bits)
{
	struct attach_latency can;

	skel->rodata->trace_all = bits & 1;
	skel->rodata->entry_only = bits >> 1 & 1;
	skel->rodata->has_view = bits >> 2 & 1;
	skel->rodata->view_inum = bits >> 2 & 1 ? 0xeffffffcu : 0;
	skel->rodata->measure_one_of = bits >> 3 & 1 ? 16 : 0;
	skel->rodata->stacks = bits & SETTING_WALK   ? STACKS_FP
			       : bits & SETTING_COPY ? STACKS_COPY
						     : STACKS_OFF;
	skel->rodata->stacks_bytes = STACK_LARGE;
	skel->rodata->stacks_one_of = 64;
	skel->rodata->stacks_slow_ns = bits & SETTING_SLOW ? 1000 : 0;
	if (!(bits & (SETTING_HASH | SETTING_STORAGE)) || attach_latency_probe(&can)) {
		attach_latency_set(skel, NULL);
		return true;
	}
	if (bits & SETTING_STORAGE && !can.task_storage)
		return false;
	can.task_storage = bits & SETTING_STORAGE;
	attach_latency_set(skel, &can);
	return true;
}

static unsigned long log_insns(const char *log)
{
	const char *p = strstr(log, "processed ");

	return p ? strtoul(p + strlen("processed "), NULL, 10) : 0;
}

static void print_log_tail(const char *log)
{
	const char *p = log + strlen(log);

	for (int lines = 0; p > log && lines < 12; p--)
		lines += p[-1] == '\n';
	while (*p) {
		size_t len = strcspn(p, "\n");

		printf("# %.*s\n", (int)len, p);
		p += len + (p[len] == '\n');
	}
}

/* The constant of the object stands for no probe, so the verifier sees what it does with one only here. */
static int load_patched(struct bpf_program *p)
{
	static const size_t sizes[GPUBPF_PROBES] = {
		sizeof(struct gpubpf_hello), sizeof(struct gpubpf_shim_call), sizeof(struct gpubpf_activity),
		sizeof(struct gpubpf_name),  sizeof(struct gpubpf_module),    sizeof(struct gpubpf_status),
	};

	for (unsigned i = 0; i < GPUBPF_PROBES; i++) {
		int fd = percall_load(p, SHIM_COOKIE_MAKE(i, sizes[i]));

		if (fd < 0) {
			printf("# probe %u\n", i);
			return fd;
		}
		close(fd);
	}
	return 0;
}

static int load_alone(const struct load *row, unsigned bits, char *log, unsigned long *insns)
{
	struct gpubpf_bpf *skel = bpfobj_open();
	struct bpf_program *p, *one = NULL;
	int err;

	if (!skel)
		return -errno;
	if (!settings_apply(skel, bits)) {
		bpfobj_close(skel);
		return 0;
	}
	/* The verifier does not look at its size, and a small guest need not find 16 MiB. */
	bpf_map__set_max_entries(skel->maps.ring, 65536);
	bpf_object__for_each_program (p, skel->obj) {
		bool it = !strcmp(bpf_program__name(p), row->program);

		bpf_program__set_autoload(p, it);
		if (it)
			one = p;
	}
	if (!one) {
		err = -ENOENT;
		goto out;
	}
	if (row->attach_type >= TYPE_PLAIN)
		bpf_program__set_expected_attach_type(one, (enum bpf_attach_type)row->attach_type);
	log[0] = '\0';
	bpf_program__set_log_buf(one, log, LOG_BYTES);
	bpf_program__set_log_level(one, LOG_STATS);
	err = gpubpf_bpf__load(skel);
	if (!err)
		*insns = log_insns(log);
	if (!err && !strcmp(row->program, "shim_probe_percall"))
		err = load_patched(one);
out:
	bpfobj_close(skel);
	return err;
}

static int row_test(const struct load *row, char *log)
{
	unsigned long most = 0;
	int err = control_load(row->control, row->attach_type);

	if (err) {
		printf("skip load %s/%s: %s: %s\n", row->program, row->way, control_names[row->control],
		       strerror(-err));
		return 0;
	}
	for (size_t i = 0; i < NELEM(settings); i++) {
		unsigned long insns = 0;

		if (row->attach_type == TYPE_TP_BTF && !(settings[i] & (SETTING_HASH | SETTING_STORAGE)))
			continue; /* never loaded then */
		err = load_alone(row, settings[i], log, &insns);
		if (err) {
			print_log_tail(log);
			printf("# settings %u: %s\n", settings[i], strerror(-err));
			printf("not ok load %s/%s\n", row->program, row->way);
			return 1;
		}
		if (insns > most)
			most = insns;
	}
	printf("ok load %s/%s\n", row->program, row->way);
	printf("verified %s/%s %lu\n", row->program, row->way, most);
	return 0;
}

/* A program without a row would be one that no kernel ever tried. */
static int every_program_has_a_row(void)
{
	struct gpubpf_bpf *skel = bpfobj_open();
	struct bpf_program *p;
	int missing = 0;

	if (!skel)
		return 1;
	bpf_object__for_each_program (p, skel->obj) {
		bool found = false;

		for (size_t i = 0; i < NELEM(rows); i++)
			found = found || !strcmp(rows[i].program, bpf_program__name(p));
		if (!found) {
			printf("# %s: no row in progload.c\n", bpf_program__name(p));
			missing++;
		}
	}
	bpfobj_close(skel);
	return missing;
}

int main(void)
{
	char *log = malloc(LOG_BYTES);
	int failed = 0, bad;

	if (!log)
		return 1;
	setvbuf(stdout, NULL, _IOLBF, 0);
	libbpf_set_print(print_nothing);
	bad = every_program_has_a_row();
	printf("%s every program has a row\n", bad ? "not ok" : "ok");
	failed += bad != 0;
	/* R58: a verdict "ok" means something only where a bad program is refused. */
	bad = !control_load(CONTROL_BAD, TYPE_PLAIN);
	printf("%s a read outside the context is refused\n", bad ? "not ok" : "ok");
	failed += bad;
	for (size_t i = 0; i < NELEM(rows); i++)
		failed += row_test(&rows[i], log);
	free(log);
	return failed != 0;
}
