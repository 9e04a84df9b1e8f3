/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A view as lines for grep and awk: one block per interval, a blank line behind it. A row begins with the word of its
 * section, when it is of (seconds since the beginning) and how long; the line above it, with a "#", names its columns, of
 * which the last one may hold blanks. Times and sizes are plain numbers.
 */
#ifndef GPUBPF_TOP_LINES_H
#define GPUBPF_TOP_LINES_H

#include <stdio.h>

#include "top/top.h"

#define TOP_LINES_ROWS 10 /* of a table of kernels, entry points, waits, threads */

void top_lines(FILE *f, const struct top_view *v);

#endif
