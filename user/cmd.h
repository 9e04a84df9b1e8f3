/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs. One cmd_*.c each; main() only dispatches. A verb's run() returns the exit status:
 * 0 done, 1 failed (message printed), 2 wrong usage. */
#ifndef GPUBPF_CMD_H
#define GPUBPF_CMD_H

#include <stddef.h>
#include <stdint.h>

#include "record/shimfile.h"
#include "util/opts.h"

#define GPUBPF_VERSION "0.1.0"

extern const struct verb verb_record, verb_top, verb_inspect, verb_report, verb_latency, verb_timeline,
	verb_export, verb_merge, verb_diff, verb_gate, verb_doctor, verb_shim, verb_usdt, verb_elfgate;

/* NULL-terminated, in the order of the help text. */
extern const struct verb *const gpubpf_verbs[];

/* shared.c. Prints the message; returns the status. */
int cmd_failed(const struct err *err, int status);
/* The exit status. A reader that went away (`| head`) knows; any other failure of standard output is printed. */
int cmd_flush_output(void);
/* 0, or -EINVAL: this verb reads one capture. */
int cmd_one_file(const struct verb *verb, int files, struct err *err);
/* OPT_CALL: one process id, into an unsigned long long. */
int cmd_pid(const char *arg, void *dst, struct err *err);
/* Process and thread ids of an option. *out is the caller's to free, after a failure too; 0 or a negative errno. */
int cmd_ids(const struct opt_list *list, uint32_t **out, size_t *n, struct err *err);

struct sidecar;
struct trace;
/* --sidecar: reads it and binds it to the capture; without a path *out is NULL. It is the caller's to free. */
int cmd_sidecar(const char *path, struct trace *t, struct sidecar **out, struct err *err);

/* The shim inside this program (user/shim_image.S). */
struct shimfile_image shim_image(void);

#endif
