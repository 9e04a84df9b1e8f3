/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs. One cmd_*.c each; main() only dispatches. A verb's run() returns the exit status:
 * 0 done, 1 failed (message printed), 2 wrong usage. */
#ifndef GPUBPF_CMD_H
#define GPUBPF_CMD_H

#include "record/shimfile.h"
#include "util/opts.h"

#define GPUBPF_VERSION "0.1.0"

extern const struct verb verb_record, verb_inspect, verb_report, verb_latency, verb_doctor, verb_shim,
	verb_usdt, verb_elfgate;

/* NULL-terminated, in the order of the help text. */
extern const struct verb *const gpubpf_verbs[];

/* The shim inside this program (user/shim_image.S). */
struct shimfile_image shim_image(void);

#endif
