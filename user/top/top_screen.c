/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/top_screen.h"

#include <errno.h>

#include "util/err.h"

int top_screen_possible(int fd, struct err *err)
{
	(void)fd;
	return err_set(err, -ENOTSUP, "this gpubpf was built without ncurses: plain lines");
}

int top_screen__open(FILE *out, FILE *in, struct top_screen **s, struct err *err)
{
	(void)out;
	(void)in;
	*s = NULL;
	return top_screen_possible(-1, err);
}

void top_screen__show(struct top_screen *s, const struct top_view *v)
{
	(void)s;
	(void)v;
}

bool top_screen__turn(struct top_screen *s)
{
	(void)s;
	return false;
}

void top_screen__say(struct top_screen *s, const char *line)
{
	(void)s;
	(void)line;
}

void top_screen__close(struct top_screen *s)
{
	(void)s;
}
