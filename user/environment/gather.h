/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a recorder finds out of a machine and of the processes that it traces. All of it is read from where it stands
 * (/proc, /sys, the files of container runtimes, nvidia-smi), never concluded from something else (R6); what cannot be
 * read is a fact with the reason (R5).
 */
#ifndef GPUBPF_ENVIRONMENT_GATHER_H
#define GPUBPF_ENVIRONMENT_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "environment/list.h"

/* host.c: processor, frequency governor, the driver's kernel module and its parameters. */
void environment__host(struct environment *e);

/* ---- programs.c: what the traced processes run ---- */

struct env_programs;
int env_programs__new(struct env_programs **out);
void env_programs__free(struct env_programs *p);
/*
 * Looks at a process. `first`: the one that was launched or attached to; its facts bear plain names, and what it becomes by exec
 * takes their place; those of others begin with the program's name. One that runs what was looked at before adds nothing. False:
 * it has ended, or is just about to become another program.
 */
bool env_programs__look(struct env_programs *p, pid_t pid, bool first, struct environment *e);
/* A library of CUDA's, as a process has mapped it; one that is known adds nothing. */
bool env_programs__library(struct env_programs *p, pid_t pid, const char *path, uint64_t ino,
			   struct environment *e);
/* All of these that the process has mapped now. */
bool env_programs__libraries(struct env_programs *p, pid_t pid, struct environment *e);
/* At the end. `watched`: every mapping was told of. */
void env_programs__finish(struct env_programs *p, bool watched, struct environment *e);
bool env_is_library(const char *path); /* the last part of the path is one of CUDA's beside libcuda */

/* The build id of an ELF file in hexadecimal; false: none, or no ELF file. */
bool env_build_id(const char *path, char hex[129]);
/* A file by its name in the root of a process, as we can open it, into `open_path`. A descriptor to be closed, or a negative errno. */
int env_open_in(pid_t pid, const char *path, char open_path[64]);

/* ---- script.c ---- */

enum env_script {
	ENV_NO_INTERPRETER,
	ENV_SCRIPT_FILE,
	ENV_SCRIPT_MODULE,
	ENV_SCRIPT_INLINE,
	ENV_SCRIPT_INPUT
};
/* What an interpreter was told to run, by the name of its file and the command line; *what: the file or module, else NULL. */
enum env_script env_script_of(const char *exe, char *const *argv, size_t n, const char **what);

/* ---- container.c ---- */

/* The run of 64 hex digits that every runtime puts into the path of the control group. `text`: /proc/PID/cgroup. */
bool env_container_id(const char *text, char id[65]);
/* `cgroup`: of the process. Names begin with `prefix`. `root`: where runtimes' files are looked for, "" but in tests. */
void env_container(struct environment *e, const char *prefix, const char *cgroup, const char *root);

/* ---- smi.c: nvidia-smi as a child of ours; it is waited for by nobody ---- */

struct smi;
int smi__new(struct smi **out);
/* Starts a query, which ends in any case after limit_ns. What keeps it from that is a fact. */
void smi__start(struct smi *s, bool at_end, bool all, uint64_t limit_ns, struct environment *e);
bool smi__running(const struct smi *s);
int smi__fd(const struct smi *s); /* readable: something for smi__poll(); -1: not running */
/* Takes in what has come, ends what is over its time. True: it is over, and has added its facts. */
bool smi__poll(struct smi *s, struct environment *e);
void smi__cut(struct smi *s); /* its time is over */
bool smi__started(const struct smi *s);
void smi__free(struct smi *s); /* ends it */

/*
 * Its answer, a line per GPU. `asked`: bits of smi_field(); values are facts, or absent where it says so. `all`: not of clocks
 * alone; `at_end`: what clocks are called. Returns how many lines could be read; 0 adds nothing.
 */
size_t smi_parse(struct environment *e, const char *text, uint64_t asked, bool at_end, bool all);
const char *smi_field(unsigned i); /* NULL behind the last */
uint64_t smi_fields(bool all);     /* that a query asks for */

#endif
