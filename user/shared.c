// SPDX-License-Identifier: GPL-2.0-or-later
/* What verbs share. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "sidecar/sidecar.h"
#include "util/err.h"

int cmd_failed(const struct err *err, int status)
{
	fprintf(stderr, "gpubpf: %s\n", err->msg);
	return status;
}

int cmd_flush_output(void)
{
	int error = ferror(stdout) ? errno : 0;

	if (fflush(stdout) != 0)
		error = errno;
	if (error && error != EPIPE)
		fprintf(stderr, "gpubpf: standard output: %s\n", strerror(error));
	return error ? 1 : 0;
}

int cmd_one_file(const struct verb *verb, int files, struct err *err)
{
	if (files == 1)
		return 0;
	return files ? err_set(err, -EINVAL, "%s takes one capture file, not %d", verb->name, files)
		     : err_set(err, -EINVAL, "%s needs the name of a capture file", verb->name);
}

int cmd_pid(const char *arg, void *dst, struct err *err)
{
	unsigned long long pid;
	int e = opts_uint(arg, &pid, err);

	if (e)
		return e;
	if (!pid || pid > INT_MAX)
		return err_set(err, -EINVAL, "'%s' is no process id", arg);
	*(unsigned long long *)dst = pid;
	return 0;
}

int cmd_ids(const struct opt_list *list, uint32_t **out, size_t *n, struct err *err)
{
	unsigned long long v;

	*out = calloc(list->n + 1, sizeof(**out));
	if (!*out)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < list->n; i++) {
		int rc = opts_uint(list->items[i], &v, err);

		if (rc)
			return rc;
		if (v == 0 || v > UINT32_MAX)
			return err_set(err, -EINVAL, "'%s' is no process or thread id", list->items[i]);
		(*out)[(*n)++] = (uint32_t)v;
	}
	return 0;
}

int cmd_sidecar(const char *path, struct trace *t, struct sidecar **out, struct err *err)
{
	int rc = path ? sidecar__read(path, out, err) : 0;

	if (!path)
		*out = NULL;
	return rc || !path ? rc : sidecar__bind(*out, t, err);
}
