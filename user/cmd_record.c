/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stackraw.h"
#include "record/recorder.h"
#include "record/target.h"
#include "record_opts.h"
#include "util/err.h"
#include "util/fmt.h"

struct record_opts {
	struct record_common c; /* first */
	struct opt_list cupti;
	const char *output;
	unsigned long long calls, init_timeout, warmup, compress;
	unsigned stacks; /* STACKS_… */
	unsigned long long slow, stacks_every, stacks_bytes;
	int force, entry_only, no_host, no_cost, no_smi, require_ready, quiet;
};

/* "fp", "dwarf"; none: fp. */
static int parse_stacks(const char *arg, void *dst, struct err *err)
{
	unsigned *stacks = dst;

	if (!arg || !strcmp(arg, "fp"))
		*stacks = STACKS_FP;
	else if (!strcmp(arg, "dwarf"))
		*stacks = STACKS_COPY;
	else
		return err_set(err, -EINVAL, "unknown way to take stacks \"%s\": fp or dwarf", arg);
	return 0;
}

#define O(field) offsetof(struct record_opts, field)

static const struct opt options[] = {
	RECORD_OPT_TARGETS,
	{ 'o', "output", OPT_STRING, "FILE", O(output),
	  "The capture file; \"-\" is standard output. Without it: gpubpf-DATE-TIME.gpubpf in this directory.",
	  0, NULL, 0, NULL },
	{ 'f', "force", OPT_FLAG, NULL, O(force), "Replace an existing capture file.", 0, NULL, 0, NULL },
	RECORD_OPT_DURATION,
	{ 0, "calls", OPT_UINT, "N", O(calls), "End once this many calls are recorded.", 0, NULL, 0, NULL },
	RECORD_OPT_FOLLOW,
	{ 0, "entry-only", OPT_FLAG, NULL, O(entry_only),
	  "Probe entries alone: no results, durations, returned pointers or nesting, at a lower cost.", 0,
	  NULL, 0, NULL },
	{ 0, "latency", OPT_FLAG, NULL, RECORD_O(latency),
	  "Beside each call, where its time went and that since the thread's call before it: on a processor, waiting for "
	  "one, put aside by its control group's quota, or blocked, by what it had asked the kernel for (futex, ioctl on the GPU's devices, other "
	  "ioctl, poll, sleep, page fault); with counts of switches, migrations and page faults; and who ended each wait in a "
	  "futex inside a call. Measures every call "
	  "to its return unless --returns says otherwise.",
	  0, NULL, 0, NULL },
	{ 0, "stacks", OPT_CALL, "[=fp|dwarf]", O(stacks),
	  "Take the user stack of some calls, resolved to functions while the process lives. fp follows frame pointers: cheap, "
	  "and it ends where code was built without them. dwarf copies the top of the stack and the registers, and unwinds that "
	  "with the files' unwind information: up to 16 KiB a stack through the ring, and about 0.1 ms of another "
	  "processor each; the copies are in no file. Names are those of symbols and debug files on this machine and of the process "
	  "(no server is asked), and of /tmp/perf-PID.map. Which calls: --slow, else --stacks-every.",
	  0, parse_stacks, 0, NULL },
	{ 0, "slow", OPT_DURATION, "TIME", O(slow),
	  "Take a stack (--stacks, fp if it is not given) of each call that takes at least so long (50us), at its return. Measures every "
	  "call to its return unless --returns says otherwise.",
	  0, NULL, 0, NULL },
	{ 0, "stacks-every", OPT_UINT, "N", O(stacks_every),
	  "Take the stack of about one call in N, drawn at random, at its entry. Such a call is measured to its return, whatever "
	  "--returns says; the time that the stack takes is not in it.",
	  0, NULL, 1, "64" },
	{ 0, "stacks-bytes", OPT_SIZE, "SIZE", O(stacks_bytes),
	  "How much of a stack --stacks=dwarf copies at most, up to 64K. What lies behind is missing, and the stack says so.",
	  0, NULL, 1, "16K" },
	RECORD_OPT_HOST,
	{ 0, "no-host", OPT_FLAG, NULL, O(no_host),
	  "The device observer alone: no probe is put into libcuda. What a launch costs is then CUPTI's part alone; a launch "
	  "that left no trace on the device cannot be told from one that was captured into a graph, and nothing stands "
	  "against what CUPTI says.",
	  0, NULL, 0, NULL },
	RECORD_OPT_SHIM,
	{ 0, "cupti", OPT_LIST, "KIND", O(cupti),
	  "More of what CUPTI can record of a launched command: latency (times of queueing and submission), sync, memory, "
	  "overhead, external (ids that the application gives CUPTI for its calls, as profilers inside it do), nvtx (its NVTX ranges and marks, "
	  "with their payloads and categories), "
	  "unified-memory (migrations and faults of managed memory; GPUs that walk the host's page tables refuse). "
	  "Each costs more. Live processes have what GPUBPF_CUPTI was set to when they began.",
	  0, NULL, 0, NULL },
	{ 0, "init-timeout", OPT_DURATION, "TIME", O(init_timeout),
	  "How long capture may take to come up inside a launched command's first CUDA call. A process whose capture, or whose "
	  "first CUDA call, is still at it half a second later is ended.",
	  0, NULL, 1, "15s" },
	{ 0, "warmup", OPT_DURATION, "TIME", O(warmup),
	  "Let a launched command run for this long before capture comes up. What it does until then is counted and not timed, "
	  "and the capture says so; the time comes on top of --init-timeout.",
	  0, NULL, 0, NULL },
	{ 0, "require-ready", OPT_FLAG, NULL, O(require_ready),
	  "End with status 3, and leave no capture file, unless capture was ready in every process before CUDA was used. The "
	  "command runs to its end all the same.",
	  0, NULL, 0, NULL },
	RECORD_OPT_ROOM,
	{ 0, "compress", OPT_UINT, "LEVEL", O(compress), "zstd level of the file, 0 for none.", 0, NULL, 1,
	  "1" },
	{ 0, "no-cost", OPT_FLAG, NULL, O(no_cost),
	  "Do not measure, behind the end of the recording, what it cost the calls that were recorded. That takes some 20 ms, "
	  "on kernels older than 6.6 more.",
	  0, NULL, 0, NULL },
	{ 0, "no-smi", OPT_FLAG, NULL, O(no_smi),
	  "Do not start nvidia-smi, which is asked twice for the GPUs' clocks, power limits and modes: 2 s after the beginning (not "
	  "with -a, whose recording it would be in) and at the end, where it is waited for for 2 s at most.",
	  0, NULL, 0, NULL },
	{ 'q', "quiet", OPT_FLAG, NULL, O(quiet), "Say nothing but errors.", 0, NULL, 0, NULL },
	RECORD_OPT_VERBOSE,
	{ 0 },
};

static const char *default_output(char *buf, size_t n)
{
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(buf, n, "gpubpf-%Y%m%d-%H%M%S.gpubpf", &tm);
	return buf;
}

static void print_summary(const struct recorder_result *res, const char *output)
{
	char calls[FMT_NUM], bytes[FMT_NUM], line[512];

	ledger_headline(&res->ledger, line, sizeof(line));
	fmt_count(calls, res->ledger.host_left_out ? res->ledger.device.handed_calls : res->calls);
	fmt_bytes(bytes, res->bytes);
	fprintf(stderr, "gpubpf: %s\n", line);
	for (unsigned i = 0; i < res->ledger.nreasons; i++)
		fprintf(stderr, "gpubpf:   %s%s%s\n", res->ledger.reason[i].text,
			res->ledger.reason[i].remedy[0] ? "; " : "", res->ledger.reason[i].remedy);
	fprintf(stderr, "gpubpf: %s calls%s, %s, ended by: %s. Next: gpubpf report %s\n", calls,
		res->ledger.host_left_out ? " handed over by the device observer" : "", bytes,
		res->end_reason, output);
}

static const char *const cupti_kinds[] = { "latency",  "sync", "memory",         "overhead",
					   "external", "nvtx", "unified-memory", NULL };

/* The kinds as the shim reads them; false: one of them is none. */
static bool join_kinds(const struct opt_list *l, char *buf, size_t size, const char **wrong)
{
	unsigned chosen = 0;

	buf[0] = 0;
	for (size_t i = 0; i < l->n; i++) {
		size_t k = 0, at = strlen(buf);

		while (cupti_kinds[k] && strcmp(cupti_kinds[k], l->items[i]) != 0)
			k++;
		*wrong = l->items[i];
		if (!cupti_kinds[k])
			return false;
		if (!(chosen >> k & 1))
			snprintf(buf + at, size - at, "%s%s", at ? "," : "", l->items[i]);
		chosen |= 1u << k;
	}
	return true;
}

static int record(const struct record_opts *o, const pid_t *pids, char **command, const char *kinds)
{
	const struct shimfile_image image = shim_image();
	char name[64];
	struct recorder_opts r = {
		.output = o->output ? o->output : default_output(name, sizeof(name)),
		.file = { .force = o->force, .zstd_level = (int)o->compress },
		.no_host = o->no_host,
		.shim_image = &image,
		.cupti_kinds = kinds[0] ? kinds : NULL,
		.init_timeout_ns = o->init_timeout,
		.warmup_ns = o->warmup,
		.require_ready = o->require_ready,
		.no_cost = o->no_cost,
		.no_smi = o->no_smi,
		.max_calls = o->calls,
		.say = o->quiet ? NULL : record_say,
	};
	struct recorder_result res;
	struct err err = { "" };
	int e;

	record_common_fill(&r, &o->c, pids, command);
	r.attach.entry_only = o->entry_only;
	r.attach.stacks = o->stacks;
	r.attach.stacks_slow_ns = o->slow;
	r.attach.stacks_one_of = (uint32_t)o->stacks_every;
	r.attach.stacks_bytes = (uint32_t)o->stacks_bytes;
	record_libbpf_prints(o->c.verbose);
	e = recorder_run(&r, &res, &err);
	if (!o->quiet && res.end_reason && !res.not_ready)
		print_summary(&res, r.output);
	if (o->c.verbose && res.end_reason)
		fprintf(stderr, "gpubpf: attached by %s in %.1f ms, detached in %.1f ms\n", res.method,
			(double)res.attach_ns / 1e6, (double)res.detach_ns / 1e6);
	if (e)
		return record_failed("record", &err, e);
	if (res.not_ready) {
		fprintf(stderr,
			"gpubpf record: capture was not shown to be ready before CUDA was used: no file is left\n");
		return 3;
	}
	return res.launched ? res.exit_status : 0;
}

#define STACKS_EVERY_DEFAULT 64

static const char *refuse_stacks(const struct record_opts *o)
{
	if (o->stacks && o->no_host)
		return "--stacks is for the host observer, which --no-host leaves out";
	if (o->slow && o->entry_only)
		return "--slow measures calls to their returns: not with --entry-only";
	if (o->slow && o->stacks_every)
		return "--slow and --stacks-every exclude each other";
	if (!o->stacks && o->stacks_every)
		return "--stacks-every is for --stacks";
	if (o->stacks_every > 1000000)
		return "--stacks-every takes 1 to 1000000";
	if (o->stacks != STACKS_COPY && o->stacks_bytes)
		return "--stacks-bytes is for --stacks=dwarf";
	if (o->stacks_bytes && (o->stacks_bytes < 1024 || o->stacks_bytes > STACK_LARGE))
		return "--stacks-bytes takes 1K to 64K";
	return NULL;
}

/* What is wrong with the options together; NULL: nothing. */
static const char *refuse(const struct record_opts *o, bool command, char *kinds, size_t kinds_size)
{
	static char message[256];
	const char *wrong = "";
	size_t at;

	wrong = record_common_refuse(&o->c, command);
	if (wrong)
		return wrong;
	if (o->compress > 19)
		return "--compress takes 0 to 19";
	if (o->c.no_shim && (o->c.shim || o->cupti.n))
		return "--shim and --cupti are for the shim, which --no-shim leaves out";
	if (o->c.no_shim && o->no_host)
		return "--no-shim and --no-host together leave no observer";
	if (o->c.latency && (o->no_host || o->entry_only))
		return "--latency measures calls to their returns: not with --no-host or --entry-only";
	wrong = refuse_stacks(o);
	if (wrong)
		return wrong;
	if (o->no_host && (o->c.libcuda.n || o->calls || o->entry_only || o->c.returns != RETURNS_DEFAULT))
		return "--libcuda, --calls, --entry-only and --returns are for the host observer, which --no-host leaves out";
	if ((o->init_timeout || o->warmup) && (!command || o->c.no_shim))
		return "--init-timeout and --warmup are for a launched command with the shim";
	if (o->require_ready && (o->c.no_shim || o->no_host))
		return "--require-ready is for both observers: not with --no-shim or --no-host";
	if (o->init_timeout > 86400000000000ull || o->warmup > 86400000000000ull)
		return "--init-timeout and --warmup take up to a day";
	if (o->require_ready && o->output && !strcmp(o->output, "-"))
		return "--require-ready takes the file back when capture was not ready; what went to standard output is gone";
	if (o->cupti.n && !command)
		return "--cupti is for a launched command; in live processes GPUBPF_CUPTI of their environment decides";
	if (join_kinds(&o->cupti, kinds, kinds_size, &wrong))
		return NULL;
	at = (size_t)snprintf(message, sizeof(message), "--cupti takes %s", cupti_kinds[0]);
	for (size_t k = 1; cupti_kinds[k]; k++)
		at += (size_t)snprintf(message + at, sizeof(message) - at, "%s%s",
				       cupti_kinds[k + 1] ? ", " : " and ", cupti_kinds[k]);
	snprintf(message + at, sizeof(message) - at, ", not '%.64s'", wrong);
	return message;
}

static int run(int argc, char **argv)
{
	struct record_opts o = { .c = RECORD_COMMON_INIT, .compress = 1 };
	struct err err = { "" };
	const char *wrong;
	pid_t *pids = NULL;
	char kinds[128];
	int rest, e, status = 2;

	e = opts_parse(&verb_record, argc, argv, &o, &rest, &err);
	if (e == 1)
		return 0;
	if (e) {
		fprintf(stderr, "gpubpf record: %s\n", err.msg);
		return 2;
	}
	if (o.c.returns == RETURNS_NOT_GIVEN)
		o.c.returns = o.c.latency || o.slow ? 1 : RETURNS_DEFAULT;
	if (o.slow && !o.stacks)
		o.stacks = STACKS_FP;
	wrong = refuse(&o, rest < argc, kinds, sizeof(kinds));
	if (o.stacks && !o.stacks_every)
		o.stacks_every = STACKS_EVERY_DEFAULT;
	if (wrong)
		status = record_usage("record", wrong);
	else if ((e = targets_parse(&o.c.pids, &pids, &err)))
		status = e == -EINVAL ? record_usage("record", err.msg) : record_failed("record", &err, e);
	else
		status = record(&o, pids, rest < argc ? argv + rest : NULL, kinds);
	free(pids);
	opts_free(&verb_record, &o);
	return status;
}

const struct verb verb_record = {
	.name = "record",
	.synopsis = "[OPTIONS] -p PID[,PID…] | -a | [--] COMMAND [ARG…]",
	.command = 1,
	.summary = "record the CUDA calls of live or launched processes, and when the GPU ran them",
	.text = "Puts uprobes on the entry points of libcuda and writes one record for each call: when it began and "
		"returned, its result, its thread and the arguments that matter. Counters in the kernel that never lose "
		"stand beside the records, so that a lost record is a known loss.\n\n"
		"A launched COMMAND is probed before its first instruction and its exit status is passed on. Live "
		"processes are probed where they are; calls that were open at that moment are not seen. Children are "
		"recorded too. A process that has not loaded libcuda yet is recorded once it does; a libcuda that is loaded "
		"from a place where no loader configuration points is probed a moment after it was mapped, and the "
		"capture says so.\n\n"
		"Beside this host observer stands the device observer, the shim: a small library that the driver loads into the "
		"process (CUDA_INJECTION64_PATH) and that hands over what CUPTI says of kernels, copies and sets. A launched "
		"COMMAND gets a copy of it, unless another tool's library is set there already; that is left alone, and said. In "
		"a live process it is used if the process was started with it (see `gpubpf shim`); it idles until then, and does "
		"again afterwards. Without a shim the calls are recorded all the same, and the capture says that the GPU's "
		"side is missing. With --cupti nvtx the command finds the shim in NVTX_INJECTION64_PATH, too: NVTX loads it at its "
		"first call, and it passes NVTX on to the CUPTI that it uses. At the end gpubpf waits up to three seconds for what the GPU still runs.\n\n"
		"In a launched COMMAND the shim is a gate: capture comes up inside the first CUDA call, before that call returns, "
		"or the capture says why it did not, and by what the host observer saw whether CUDA was used before. `gpubpf report` "
		"shows it. A process that ends while capture is still coming up after its deadline ends with status 86.\n\n"
		"The recording ends when the processes named with -p, or the command, have ended; after --duration or "
		"--calls; or at SIGINT or SIGTERM. A launched command is then waited for: the first signal is given on to it, "
		"a second one ends the recording alone. The file can be read at any moment, also after the recorder was "
		"killed.\n\n"
		"Needs CAP_BPF and CAP_PERFMON (with perf-based probes CAP_SYS_ADMIN), and CAP_SYS_PTRACE for processes of "
		"other users. `gpubpf doctor` tells what is missing.",
	.exit_status =
		"0 when recorded; 1 when nothing could be recorded or the file could not be written to its end; 2 for wrong "
		"usage. With a COMMAND: its exit status, or 128 plus the number of the signal that ended it. With --require-ready: "
		"3 when capture was not shown to be ready, whatever the command ended with.",
	.examples =
		"gpubpf record -o train.gpubpf -- python3 train.py\trecord a command from its first call to its end\n"
		"gpubpf record -p 4711 -d 10s\trecord ten seconds of a live process\n"
		"gpubpf record -a --calls 1000000\ta million calls of whoever uses the GPU\n",
	.opts = options,
	.run = run,
};
