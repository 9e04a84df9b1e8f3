// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as an ELF file: read, judged by every built-in profile, and asked which distributions load it. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elfgate/distros.h"
#include "elfgate/elfgate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(const struct elfobj *obj, const char *profile)
{
	struct elfgate_error err = { "" };
	struct elfgate_report report = { 0 };
	struct elfgate_profile *p;

	if (elfgate_profile__builtin(&p, profile, &err) || elfgate_judge(obj, p, &report))
		abort();
	/* Everything that is printed is printable. */
	for (size_t i = 0; i < report.n; i++) {
		for (const char *s = report.findings[i].found; *s; s++) {
			if (*s < ' ' || *s > '~')
				abort();
		}
	}
	elfgate_report__free(&report);
	elfgate_profile__free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elfgate_loading loading;
	struct elfgate_error err = { "" };
	struct elfgate_profile *p;
	struct elfobj *obj;
	int fd = memfd_create("elf", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (!elfobj__open_fd(&obj, fd, &err)) {
		judge(obj, "shim");
		judge(obj, "any");
		if (elfgate_loading(obj, &loading))
			abort();
		elfgate_loading__free(&loading);
		elfobj__close(obj);
	}
	close(fd);
	if (!elfgate_profile__parse(&p, "fuzz", (const char *)data, size, &err))
		elfgate_profile__free(p);
	return 0;
}
