// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts that the metadata has fields for, in captures of every age; and names of those that an old one has not. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "environment/list.h"
#include "inspect/inspect.h"
#include "model/member.h"

#define NOT_THERE "the capture does not say"
#define OLD "recorded by a gpubpf that did not look for it"

static void text(struct environment *e, const char *group, const char *name, const char *value)
{
	environment__add(e, group, name, value && *value ? value : NULL, NOT_THERE, false);
}

static void number(struct environment *e, const char *group, const char *name, bool there, uint64_t n)
{
	if (there)
		environment__addf(e, group, name, false, "%" PRIu64, n);
	else
		environment__add(e, group, name, NULL, NOT_THERE, false);
}

static void flag(struct environment *e, const char *name, bool there, bool value)
{
	environment__add(e, "capture", name, !there ? NULL : value ? "yes" : "no", NOT_THERE, false);
}

/* Words as a shell would take them; NULL: none, or no memory. */
static char *command_line(char *const *word, size_t n)
{
	char *line = NULL;
	size_t size;
	FILE *f = n ? open_memstream(&line, &size) : NULL;

	for (size_t i = 0; f && i < n; i++) {
		bool plain = *word[i] && !strpbrk(word[i], " \t\n\"'\\$`*?[]{}();&|<>#~!");

		if (i)
			putc(' ', f);
		for (const char *p = word[i]; plain && *p; p++)
			putc(*p, f);
		if (plain)
			continue;
		putc('\'', f);
		for (const char *p = word[i]; *p; p++)
			*p == '\'' ? (void)fputs("'\\''", f) : (void)putc(*p, f);
		putc('\'', f);
	}
	if (!f || fclose(f)) {
		free(line);
		return NULL;
	}
	return line;
}

/* The first process that was attached to or launched, of this capture. */
static const Gpubpf__Process *first_process(const struct env_scope *s)
{
	const Gpubpf__Meta *m = s->in->meta;

	for (size_t i = m->n_process; i--;) { /* the last word on it is the one that holds */
		const Gpubpf__Process *p = m->process[i];

		if (p->n_cmdline && p->origin && !strcmp(p->origin, "attached") &&
		    (!s->member || member_of(m, p->tgid) == s->member))
			return p;
	}
	return NULL;
}

static void workload(struct environment *e, const struct env_scope *s, const char *mode)
{
	const Gpubpf__Meta *m = s->in->meta;
	size_t n = s->member ? s->member->n_command : m->n_command;
	char **word = s->member ? s->member->command : m->command, *line;
	const Gpubpf__Process *p = n ? NULL : first_process(s);

	line = p ? command_line(p->cmdline, p->n_cmdline) : command_line(word, n);
	environment__add(e, "workload", "command", line,
			 mode && !strcmp(mode, "system") ? "all processes of the system were recorded"
							 : NOT_THERE,
			 false);
	free(line);
}

static void libcuda(struct environment *e, const struct env_scope *s)
{
	const Gpubpf__Meta *m = s->in->meta;
	char name[64], hex[2 * 64 + 1];
	unsigned n = 0;

	for (size_t i = 0; i < m->n_library; i++) {
		const Gpubpf__Library *l = m->library[i];
		size_t len = l->has_build_id && l->build_id.len <= 64 ? l->build_id.len : 0;

		n++;
		for (size_t k = 0; k < len; k++)
			snprintf(hex + 2 * k, 3, "%02x", l->build_id.data[k]);
		snprintf(name, sizeof(name), n > 1 ? "libcuda %u version" : "libcuda version", n);
		environment__add(e, "driver", name, l->version, "its file's name has none", false);
		snprintf(name, sizeof(name), n > 1 ? "libcuda %u build id" : "libcuda build id", n);
		environment__add(e, "driver", name, len ? hex : NULL, "the file has none", false);
	}
	if (n)
		return;
	environment__add(e, "driver", "libcuda version", NULL, "no libcuda was probed", false);
	environment__add(e, "driver", "libcuda build id", NULL, "no libcuda was probed", false);
}

static void devices(struct environment *e, Gpubpf__Gpu *const *gpu, size_t n)
{
	char name[64];

	if (n)
		number(e, "device", "GPUs", true, n);
	else
		environment__add(e, "device", "GPUs", NULL, "/proc/driver/nvidia shows none", false);
	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "GPU %zu name", i);
		text(e, "device", name, gpu[i]->name);
		snprintf(name, sizeof(name), "GPU %zu UUID", i);
		text(e, "device", name, gpu[i]->uuid);
		snprintf(name, sizeof(name), "GPU %zu bus id", i);
		text(e, "device", name, gpu[i]->bus_id);
	}
}

static void host(struct environment *e, const Gpubpf__Host *h)
{
	environment__add(e, "driver", "driver version", h ? h->driver_version : NULL,
			 "/proc/driver/nvidia/version did not tell it", false);
	text(e, "host", "hostname", h ? h->hostname : NULL);
	environment__add(e, "host", "boot id", h ? h->boot_id : NULL, NOT_THERE, true);
	text(e, "host", "kernel", h ? h->kernel : NULL);
	text(e, "host", "architecture", h ? h->arch : NULL);
	number(e, "host", "CPUs", h && h->has_cpus, h ? h->cpus : 0);
}

static void recorder(struct environment *e, const struct env_scope *s, const char *mode)
{
	const Gpubpf__Meta *m = s->in->meta;
	Gpubpf__Option **o = s->member ? s->member->option : m->option;
	size_t n = s->member ? s->member->n_option : m->n_option;

	text(e, "capture", "gpubpf version", s->member ? s->member->gpubpf_version : m->gpubpf_version);
	text(e, "capture", "mode", mode);
	/* of a merged capture: what all members have alike */
	text(e, "capture", "attached by", m->attach);
	environment__add(e, "capture", "host observer", m->host_left_out ? "left out" : "there", NULL, false);
	flag(e, "entries only", m->has_entry_only, m->entry_only);
	number(e, "capture", "of launches in a row, one measured in", m->has_measure_one_of,
	       m->measure_one_of);
	environment__add(e, "capture", "latency", m->latency ? "recorded" : "not recorded", NULL, false);
	if (m->stacks)
		environment__addf(e, "capture", "stacks", false, "%s, %s %" PRIu64, m->stacks->how,
				  m->stacks->has_slow_ns ? "of calls of ns" : "of one call in",
				  m->stacks->has_slow_ns ? m->stacks->slow_ns : m->stacks->one_of);
	else
		environment__add(e, "capture", "stacks", "not taken", NULL, false);
	for (size_t i = 0; i < n; i++) {
		char name[128];

		snprintf(name, sizeof(name), "option %s", o[i]->name);
		environment__add(e, "capture", name, o[i]->value, NULL, false);
	}
}

/* What a recorder of today finds out in every capture. */
static void expected(struct environment *e)
{
	static const char *const names[][2] = {
		{ "workload", "executable" },     { "workload", "executable identity" },
		{ "workload", "container" },      { "device", "MPS" },
		{ "driver", "kernel module" },    { "host", "CPU model" },
		{ "host", "CPU governor" },       { "runtime", "CUDA libraries" },
		{ "device", "clocks and power" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		environment__add(e, names[i][0], names[i][1], NULL, OLD, false);
}

void environment__known(struct environment *e, const struct env_scope *s)
{
	const Gpubpf__Meta *m = s->in->meta;
	const Gpubpf__Member *mb = s->member;
	const char *mode = mb ? mb->mode : m->mode;

	workload(e, s, mode);
	if (!(mb ? mb->n_fact : m->n_fact))
		expected(e);
	devices(e, mb ? mb->gpu : m->gpu, mb ? mb->n_gpu : m->n_gpu);
	libcuda(e, s);
	host(e, mb ? mb->host : m->host);
	recorder(e, s, mode);
}
