/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/err.h"
#include "util/file.h"
#include "util/opts.h"

/* A field of /proc/PID/status, as a number or its first letter. */
static const char *status_field(const char *text, const char *name)
{
	const char *p = strstr(text, name);

	return p ? p + strlen(name) + strspn(p + strlen(name), " \t") : "";
}

static int check_process(pid_t pid, struct err *err)
{
	char path[64], *text;
	size_t n;
	int e = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	e = file_read_all(path, 1 << 16, &text, &n);
	if (e)
		return err_set(err, -ESRCH, "no process %d", pid);
	long tgid = atol(status_field(text, "\nTgid:"));
	char state = *status_field(text, "\nState:");

	if (tgid && tgid != pid)
		e = err_set(err, -ESRCH, "%d is a thread of process %ld; use -p %ld", pid, tgid, tgid);
	else if (state == 'Z' || state == 'X')
		e = err_set(err, -ESRCH, "process %d has ended (zombie)", pid);
	else if (!strstr(text, "\nVmSize:"))
		e = err_set(err, -ESRCH, "%d is a kernel thread", pid);
	else if (pid == getpid())
		e = err_set(err, -EINVAL, "%d is this gpubpf itself", pid);
	free(text);
	return e;
}

int targets_parse(const struct opt_list *list, pid_t **out, struct err *err)
{
	pid_t *pids;

	*out = NULL;
	if (!list->n)
		return 0;
	pids = calloc(list->n, sizeof(*pids));
	if (!pids)
		return -ENOMEM;
	for (size_t i = 0; i < list->n; i++) {
		const char *s = list->items[i];
		size_t digits = strspn(s, "0123456789");
		int e = 0;

		if (!digits || s[digits] || digits > 9 || atol(s) == 0)
			e = err_set(err, -EINVAL, "\"%s\" is no process id", s);
		else
			pids[i] = atoi(s);
		for (size_t j = 0; j < i && !e; j++) {
			if (pids[j] == pids[i])
				e = err_set(err, -EINVAL, "process %d is named twice", pids[i]);
		}
		if (!e)
			e = check_process(pids[i], err);
		if (e) {
			free(pids);
			return e;
		}
	}
	*out = pids;
	return 0;
}
