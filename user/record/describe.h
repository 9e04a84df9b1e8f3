/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GPUBPF_DESCRIBE_H
#define GPUBPF_DESCRIBE_H

#include "attach/attach.h"
#include "attach/libfind.h"

struct err;
struct recorder;

/* Writes one library and its entry points as a metadata block. */
int describe_library(struct recorder *r, const struct libfile *f, const struct attach_result *res,
		     struct err *err);

#endif
