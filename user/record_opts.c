// SPDX-License-Identifier: GPL-2.0-or-later
#include "record_opts.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "util/err.h"
#include "util/fmt.h"

int record_parse_method(const char *arg, void *dst, struct err *err)
{
	for (enum attach_method m = 0; m < ATTACH_METHODS; m++) {
		if (strcmp(arg, attach_method_names[m]) == 0) {
			*(enum attach_method *)dst = m;
			return 0;
		}
	}
	return err_set(err, -EINVAL, "unknown attach method \"%s\": auto, session, multi, perf or percall",
		       arg);
}

const char *record_common_refuse(const struct record_common *o, bool command)
{
	if (!!o->pids.n + !!o->system + command != 1)
		return "one of -p PID, -a, or a command is needed";
	if (o->returns != RETURNS_NOT_GIVEN && (!o->returns || o->returns > 1000000))
		return "--returns takes 1 to 1000000";
	if (o->ring_size && (o->ring_size < 4096 || o->ring_size > 1ull << 30))
		return "--ring-size takes 4K to 1G";
	if (o->max_threads > 1u << 20)
		return "--max-threads takes up to 1048576";
	return NULL;
}

void record_common_fill(struct recorder_opts *r, const struct record_common *o, const pid_t *pids,
			char **command)
{
	r->pids = pids;
	r->npids = o->pids.n;
	r->command = command;
	r->system = o->system;
	r->follow = o->follow;
	r->attach.method = o->method;
	r->attach.ring_bytes = o->ring_size;
	r->attach.max_threads = (uint32_t)o->max_threads;
	r->attach.trace_all = o->system;
	r->attach.measure_one_of = (uint32_t)o->returns;
	r->attach.latency = o->latency;
	r->attach.shim = !o->no_shim;
	r->attach.shim_by_pid = !o->system;
	r->attach.init_apart = command != NULL;
	r->libcuda = o->libcuda.items;
	r->nlibcuda = o->libcuda.n;
	r->no_shim = o->no_shim;
	r->shim_path = o->shim;
	r->duration_ns = o->duration;
}

static int print_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	return vfprintf(stderr, fmt, ap);
}

static int drop_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

void record_libbpf_prints(bool verbose)
{
	libbpf_set_print(verbose ? print_libbpf : drop_libbpf);
}

void record_say(const char *line, void *arg)
{
	(void)arg;
	fputs("gpubpf: ", stderr);
	fmt_put_safe(stderr, line); /* names of files and commands are in it */
	fputc('\n', stderr);
}

int record_failed(const char *verb, const struct err *err, int e)
{
	fprintf(stderr, "gpubpf %s: ", verb);
	fmt_put_safe(stderr, err->msg[0] ? err->msg : strerror(-e));
	fputc('\n', stderr);
	return 1;
}

int record_usage(const char *verb, const char *message)
{
	fprintf(stderr, "gpubpf %s: %s\nTry `gpubpf %s --help`.\n", verb, message, verb);
	return 2;
}
