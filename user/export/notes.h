/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every export says of the capture beside its data. */
#ifndef GPUBPF_EXPORT_NOTES_H
#define GPUBPF_EXPORT_NOTES_H

#include "trace/trace.h"

/* Other than 0 ends it and is returned. */
typedef int export_note_fn(const char *text, void *arg);

/* Lines of text: verdict, identity, the observers, clocks, and what evidence is absent (R47). 0 or what fn returned. */
int export_notes(const struct trace *t, export_note_fn *fn, void *arg);
/* How long the capture lasted, as far as it says; false: it does not. */
bool trace_took(const struct trace *t, uint64_t *ns);

#endif
