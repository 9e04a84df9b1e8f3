/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which distributions can load a file, and what keeps older ones from it: the releases, their glibc and the gcc
 * that their libstdc++ and libgcc_s come from.
 */
#ifndef GPUBPF_ELFGATE_DISTROS_H
#define GPUBPF_ELFGATE_DISTROS_H

#include "elfgate.h"

enum elfgate_loads { ELFGATE_LOADS, ELFGATE_LOADS_NOT, ELFGATE_LOADS_UNKNOWN };

struct elfgate_distro {
	const char *family, *release; /* rows of a family stand together, the oldest first */
	unsigned archs;
	const char *glibc; /* NULL: musl */
	unsigned gcc;      /* of libstdc++.so.6 and libgcc_s.so.1: 408 is 4.8, 1200 is 12 */
	bool gcc_moves;    /* updates bring newer ones: at least that */
	/* Updates have brought single functions and markers of glibc up to this one (RHEL 10.2: GLIBC_2.40; Oracle
	 * Linux 10: GLIBC_ABI_GNU2_TLS of 2.42), not all: what asks for them may load. NULL: none known. */
	const char *backports;
};

extern const struct elfgate_distro elfgate_distros[];
extern const size_t elfgate_n_distros;

struct elfgate_load {
	const struct elfgate_distro *distro;
	enum elfgate_loads loads;
	char why[600]; /* of NOT and UNKNOWN: "it has glibc 2.31; libc.so.6 GLIBC_2.34 is needed, by pthread_create" */
};

struct elfgate_loading {
	struct elfgate_load *loads; /* one per row of the table */
	size_t n;
	bool is_static, is_musl;
	char kernel[40];  /* oldest kernel by NT_GNU_ABI_TAG, "" : not said */
	char others[400]; /* needed libraries that belong to neither glibc nor gcc, "": none */
	const char
		*refused; /* why the question has no answer (not loaded, an unknown architecture, damaged) */
};

int elfgate_loading(const struct elfobj *obj, struct elfgate_loading *out); /* 0, -ENOMEM */
void elfgate_loading__free(struct elfgate_loading *l);

#endif
