/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the objects of tests/elfgate/objects.table are. */
#ifndef TESTS_ELFGATE_OBJECTS_H
#define TESTS_ELFGATE_OBJECTS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elfgate/elfgate.h"

/* The objects of an architecture: of this build, or of the cross build inside it; false: not made. */
static bool object_path(char *dst, size_t size, const char *arch, const char *name)
{
	const char *b = getenv("B");
	unsigned machine = !strcmp(arch, "x86_64") ? 62 : 183;
	struct elfgate_error err;
	struct elfobj *obj;
	bool right;

	snprintf(dst, size, "%s/cross/%s/elfgate/%s.so", b ? b : ".", arch, name);
	if (!access(dst, R_OK))
		return true;
	/* The build's own: is it this architecture's? */
	snprintf(dst, size, "%s/elfgate/good.so", b ? b : ".");
	if (elfobj__open(&obj, dst, &err))
		return false;
	right = !strncmp(elfobj__describe(obj), machine == 62 ? "x86_64 " : "aarch64 ", 7);
	elfobj__close(obj);
	snprintf(dst, size, "%s/elfgate/%s.so", b ? b : ".", name);
	return right && !access(dst, R_OK);
}

#endif
