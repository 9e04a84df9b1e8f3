/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a call costs its thread depends on how it is recorded. */
#ifndef GPUBPF_MODEL_COSTKIND_H
#define GPUBPF_MODEL_COSTKIND_H

enum cost_kind {
	COST_CALL,  /* recorded at its return; with --latency, one that stays on its processor */
	COST_ENTRY, /* recorded at its entry: an entry-only recording */
	COST_ROW,   /* a launch in a row whose return is left out (bpf/row.h) */
	COST_ALONE, /* the same where there is memory to be read, so that it is handed over by itself */
	COST_OTHER, /* made by a process that is not recorded */
	COST_KINDS,
};

/* As a capture has them (gpubpf.CostKind): "call", "entry", "row", "alone", "other_process". */
extern const char *const cost_kind_names[COST_KINDS];

#endif
