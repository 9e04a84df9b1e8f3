/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GPUBPF_RUNPATH_H
#define GPUBPF_RUNPATH_H

/* DT_RUNPATH or DT_RPATH of root + exe with $ORIGIN put in, colon separated, allocated. A negative errno when the
 * file has none or is no ELF. */
int runpath_read(const char *root, const char *exe, char **out);

#endif
