/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the capture says about itself: metadata and counters. */
#include "record/describe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "latency/breakdown.h"
#include "record/hostinfo.h"
#include "stackraw.h"
#include "record/recorder_priv.h"
#include "stacks/stacks.h"

static const char *mode_name(const struct recorder_opts *o)
{
	return o->command ? "launch" : o->system ? "system" : "attach";
}

/* Options as given or as they came to be; the values live in `text`. */
static size_t list_options(const struct recorder_opts *o, Gpubpf__Option *opt, char text[][32])
{
	const struct {
		const char *name;
		uint64_t value;
	} list[] = {
		{ "duration_ns", o->duration_ns },
		{ "max_calls", o->max_calls },
		{ "ring_bytes", o->attach.ring_bytes ? o->attach.ring_bytes : 16u << 20 },
		{ "max_threads", o->attach.max_threads ? o->attach.max_threads : 16384 },
		{ "follow", o->follow },
		{ "shim", !o->no_shim },
		{ "host", !o->no_host },
		{ "zstd_level", (uint64_t)o->file.zstd_level },
	};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		if (!list[i].value && i < 2)
			continue; /* no such end was asked for */
		snprintf(text[n], 32, "%llu", (unsigned long long)list[i].value);
		gpubpf__option__init(&opt[n]);
		opt[n].name = (char *)list[i].name;
		opt[n].value = text[n];
		n++;
	}
	return n;
}

/* What of a call's time this kernel can tell, and why not the rest. */
struct latency_message {
	Gpubpf__Latency message;
	char *cause[BREAKDOWN_CAUSES + 5];
	Gpubpf__Absence absence[8], *absent[8];
};

static void tell(struct latency_message *m, bool told, const char *what, const char *why)
{
	Gpubpf__Absence *a = &m->absence[m->message.n_absent];

	if (told) {
		m->cause[m->message.n_cause++] = (char *)what;
		return;
	}
	gpubpf__absence__init(a);
	a->what = (char *)what;
	a->why = (char *)why;
	m->absent[m->message.n_absent++] = a;
}

static void describe_latency(const struct attach_latency *l, struct latency_message *m)
{
	gpubpf__latency__init(&m->message);
	m->message.store = l->task_storage ? (char *)"task_storage" : (char *)"hash";
	m->message.cause = m->cause;
	m->message.absent = m->absent;
	for (unsigned c = 0; c < BREAKDOWN_UNACCOUNTED; c++) {
		bool nvidia = c == BREAKDOWN_IOCTL_NVIDIA, throttled = c == BREAKDOWN_THROTTLED;

		tell(m, (!nvidia || l->nvidia_devices) && (!throttled || l->throttled), breakdown_names[c],
		     nvidia ? "/proc/devices has no device of the GPU's driver (in ioctl)"
			    : "this kernel does not say who is throttled (in runqueue)");
	}
	tell(m, true, "switches", NULL);
	tell(m, true, "migrations", NULL);
	tell(m, true, "page_faults", NULL);
	tell(m, l->wakers, "wakers",
	     "this kernel does not tell interrupts from threads: who woke a thread from a futex is not known");
	tell(m, false, "irq",
	     l->irq_accounted
		     ? "interrupts that came meanwhile are in on_cpu: this kernel's account of their time is not read"
		     : "interrupts that came meanwhile are in on_cpu: this kernel keeps no account of their time "
		       "(CONFIG_IRQ_TIME_ACCOUNTING)");
	tell(m, false, "user_kernel",
	     "user and kernel mode are counted as one: the kernel splits a thread's time by its tick, and every system call "
	     "of the machine would have to be traced to do better");
	tell(m, false, "page_fault_cpu",
	     "what page faults took on the processor is in on_cpu: the kernel says when one begins and not when it ends");
}

static void describe_stacks(const struct attach_opts *o, Gpubpf__Stacks *m)
{
	bool copy = o->stacks == STACKS_COPY;

	gpubpf__stacks__init(m);
	m->how = copy ? (char *)"dwarf" : (char *)"fp";
	m->has_slow_ns = o->stacks_slow_ns != 0;
	m->slow_ns = o->stacks_slow_ns;
	m->has_one_of = !m->has_slow_ns;
	m->one_of = o->stacks_one_of ? o->stacks_one_of : 1;
	m->has_bytes = copy;
	m->bytes = o->stacks_bytes ? o->stacks_bytes : STACK_MEDIUM;
	m->has_names = true;
	m->names = stacks_names_built();
}

int recorder_describe(struct recorder *r)
{
	const struct recorder_opts *o = r->o;
	Gpubpf__Meta m = GPUBPF__META__INIT;
	Gpubpf__Option opt[8], *opts[8];
	Gpubpf__ClockPair clock, *clocks = &clock;
	struct attach_latency can = attach__latency(r->attach);
	struct latency_message latency;
	Gpubpf__Stacks stacks;
	char text[8][32];
	bool unsafe;
	struct hostinfo *h = malloc(sizeof(*h));
	uint32_t *targets = calloc(o->npids + 1, sizeof(*targets));
	int e = -ENOMEM;

	if (!h || !targets)
		goto out;
	hostinfo_read(h);
	m.gpubpf_version = (char *)GPUBPF_VERSION;
	m.has_wire_abi = m.has_start_ns = m.has_entry_only = true;
	m.wire_abi = GPUBPF_WIRE_ABI;
	m.start_ns = r->start;
	m.mode = (char *)mode_name(o);
	m.command = o->command;
	while (m.command && m.command[m.n_command])
		m.n_command++;
	for (size_t i = 0; i < o->npids; i++)
		targets[i] = (uint32_t)o->pids[i];
	m.target = targets;
	m.n_target = o->npids;
	m.n_option = list_options(o, opt, text);
	m.option = opts;
	for (size_t i = 0; i < m.n_option; i++)
		opts[i] = &opt[i];
	m.host = &h->host;
	m.gpu = h->gpus;
	m.n_gpu = h->ngpus;
	clock_pair_read(&clock);
	m.clock = &clocks;
	m.n_clock = 1;
	m.attach = (char *)attach_method_names[attach__method(r->attach)];
	m.entry_only = attach__entry_only(r->attach, &unsafe);
	m.has_measure_one_of = true;
	m.measure_one_of = attach__measure_one_of(r->attach);
	m.has_host_left_out = o->no_host;
	m.host_left_out = o->no_host;
	if (o->attach.latency) {
		memset(&latency, 0, sizeof(latency));
		describe_latency(&can, &latency);
		m.latency = &latency.message;
	}
	if (o->attach.stacks) {
		describe_stacks(&o->attach, &stacks);
		m.stacks = &stacks;
	}
	if (o->no_host) /* properties of probes that are not there */
		m.has_entry_only = m.has_measure_one_of = false;
	e = capture_writer__meta(r->writer, &m, r->err);
out:
	free(h);
	free(targets);
	return e;
}

int recorder_clock(struct recorder *r)
{
	Gpubpf__Meta m = GPUBPF__META__INIT;
	Gpubpf__ClockPair clock, *clocks = &clock;

	clock_pair_read(&clock);
	m.clock = &clocks;
	m.n_clock = 1;
	return capture_writer__meta(r->writer, &m, r->err);
}

int recorder_note(struct recorder *r, const char *code, const char *text, uint32_t tgid)
{
	Gpubpf__Meta m = GPUBPF__META__INIT;
	Gpubpf__Note note = GPUBPF__NOTE__INIT, *notes = &note;

	note.time_ns = recorder_now();
	note.code = (char *)code;
	note.text = (char *)text;
	note.has_tgid = tgid != 0;
	note.tgid = tgid;
	m.note = &notes;
	m.n_note = 1;
	return capture_writer__meta(r->writer, &m, r->err);
}

static void describe_api(Gpubpf__Api *m, const struct api *a, uint32_t id, uint32_t library,
			 const struct elfsym *s, int error, const struct api *alias, char *probe,
			 size_t probe_size)
{
	gpubpf__api__init(m);
	m->id = id;
	m->symbol = (char *)a->symbol;
	m->kind = (char *)a->kind;
	m->signature = (char *)a->signature;
	m->has_legacy32 = a->legacy32;
	m->legacy32 = a->legacy32;
	m->has_library = true;
	m->library = library;
	m->has_missing = s->state == ELFSYM_MISSING;
	m->missing = s->state == ELFSYM_MISSING;
	if (s->state == ELFSYM_MISSING)
		return;
	m->has_offset = s->state != ELFSYM_REFUSED;
	m->offset = s->offset;
	m->probe = (char *)s->probe;
	if (s->state == ELFSYM_ALIAS) {
		snprintf(probe, probe_size, "alias of %s", alias->symbol);
		m->probe = probe;
	}
	if (s->state == ELFSYM_REFUSED)
		error = -ENOEXEC;
	m->has_error = error != 0;
	m->error = -error;
}

int describe_library(struct recorder *r, const struct libfile *f, const struct attach_result *res,
		     struct err *err)
{
	Gpubpf__Meta m = GPUBPF__META__INIT;
	Gpubpf__Library lib = GPUBPF__LIBRARY__INIT, *libs = &lib;
	Gpubpf__Api *api = calloc(res->syms.n, sizeof(*api)), **apis = calloc(res->syms.n, sizeof(*apis));
	char(*probes)[96] = calloc(res->syms.n, sizeof(*probes)), version[64];
	int e = -ENOMEM;

	if (!api || !apis || !probes)
		goto out;
	lib.index = (uint32_t)r->res->libraries;
	lib.path = f->path;
	lib.opened_as = f->open_path;
	lib.has_dev = lib.has_ino = lib.has_attached_ns = true;
	lib.dev = f->dev;
	lib.ino = f->ino;
	lib.attached_ns = recorder_now();
	lib.has_build_id = res->syms.build_id_len != 0;
	lib.build_id.len = res->syms.build_id_len;
	lib.build_id.data = (uint8_t *)res->syms.build_id;
	lib.version = libfind_version(f, version, sizeof(version)) ? version : NULL;
	m.library = &libs;
	m.n_library = 1;
	for (size_t i = 0; i < res->syms.n; i++) {
		const struct elfsym *s = &res->syms.syms[i];

		describe_api(&api[i], apitab__get(r->tab, (uint32_t)i), res->first_id + (uint32_t)i,
			     lib.index, s, res->errors[i],
			     s->state == ELFSYM_ALIAS ? apitab__get(r->tab, s->alias_of) : NULL, probes[i],
			     sizeof(probes[i]));
		apis[i] = &api[i];
	}
	m.api = apis;
	m.n_api = res->syms.n;
	e = capture_writer__meta(r->writer, &m, err);
out:
	free(api);
	free(apis);
	free(probes);
	return e;
}
