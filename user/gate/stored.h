/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readiness as a capture holds it: a message for each gated process, and what they come to together. */
#ifndef GPUBPF_GATE_STORED_H
#define GPUBPF_GATE_STORED_H

#include <stdbool.h>
#include <stddef.h>

#include "capture.pb-c.h"

struct gate_sum {
	bool stated; /* false: the capture says nothing of it, as those of older versions */
	bool ready;  /* in every process */
	size_t processes, ready_processes, failed_processes;
	const Gpubpf__Readiness *first; /* that is not ready, a failed one before others; NULL: all are */
	size_t proven, contradicted;    /* by the kernel's records */
};
void gate_sum(const Gpubpf__Meta *m, struct gate_sum *s);
/* One line: "capture was ready before CUDA was used …". */
void gate_sum_text(const struct gate_sum *s, char *buf, size_t n);
const char *gate_sum_word(const struct gate_sum *s); /* "ready", "failed", "pending" */
/* What a stored reason means; a word of a newer version stays itself. */
const char *gate_stored_reason(const char *word, const char **remedy);

#endif
