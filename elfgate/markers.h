/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Versions that are no number: promises of the loader or of a library, each judged by itself. */
#ifndef GPUBPF_ELFGATE_MARKERS_H
#define GPUBPF_ELFGATE_MARKERS_H

#include <stdbool.h>

struct elfgate_marker {
	const char *version;
	const char
		*since; /* glibc release of the project itself; distributions take single ones back to older
			    * releases. NULL: of no release, or not a promise of glibc */
	const char *meaning;
};

const struct elfgate_marker *elfgate_marker_find(const char *version); /* NULL: unknown */
/* In the namespace of glibc, libstdc++ or libgcc, and no number behind it. */
bool elfgate_is_marker(const char *version);

#endif
