/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GPUBPF_CAPTURE_RECORD_H
#define GPUBPF_CAPTURE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpubpf_rec;

/*
 * 1: all that the record says it holds is inside its size; 0: of a kind that is not known here; -EBADMSG: neither. The size
 * itself is the caller's to check against what is there.
 */
int capture_record_check(const struct gpubpf_rec *rec);

#endif
