/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where debug information stands that is not in a file itself: by build id, or by the link to it. libdw's own search would do,
 * but it brings a client of debug servers along, which loads libraries into a static program before it begins.
 */
#ifndef GPUBPF_STACKS_DEBUGFILE_H
#define GPUBPF_STACKS_DEBUGFILE_H

#include <stddef.h>
#include <stdint.h>

struct debugfile {
	const char *root; /* of the process, "" where it is ours; ours is looked at as well */
	const char *file; /* that it is of, in that root */
	const char *link; /* .gnu_debuglink, or the absolute name of a file that several share; NULL: none */
	uint32_t crc;     /* of the linked one */
	const uint8_t *build_id;
	size_t nbuild_id; /* 0: none */
};

/* A descriptor, and its name (to be freed) in *name; -1: there is none that fits. */
int debugfile_open(const struct debugfile *d, char **name);

#endif
