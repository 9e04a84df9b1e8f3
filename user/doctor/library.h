/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GPUBPF_DOCTOR_LIBRARY_H
#define GPUBPF_DOCTOR_LIBRARY_H

#include "doctor/doctor.h"

struct libfile;

/* Adds one finding for one libcuda file: where, version, entry points, kinds of probe places. True: usable. */
bool library_describe(struct doctor *d, const char *id, const struct libfile *f, bool needed);

#endif
