/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of the terminal. Apart from all else: <term.h> makes macros of common words. */
#include <errno.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

#include "top/top_screen.h"
#include "util/err.h"

#ifdef HAVE_CURSES
#include <curses.h>
#include <term.h>

static int known(const char *name, int fd, struct err *err)
{
	int how = 0;
	bool moves;

	if (setupterm(NULL, fd, &how) == ERR)
		return err_set(err, -ENOTSUP, "plain lines: nothing is known of a terminal \"%s\" (TERM)",
			       name);
	moves = cursor_address && clear_screen;
	del_curterm(cur_term);
	if (!moves)
		return err_set(err, -ENOTSUP, "plain lines: a terminal \"%s\" (TERM) cannot be drawn on",
			       name);
	return 0;
}
#else
static int known(const char *name, int fd, struct err *err)
{
	(void)name;
	(void)fd;
	return err_set(err, -ENOTSUP, "plain lines: this gpubpf was built without ncurses");
}
#endif

int top_screen_possible(int fd, struct err *err)
{
	const char *name = getenv("TERM");

	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		return err_set(err, -ENOTSUP,
			       "plain lines: the text of this locale is %s and not UTF-8 (LANG, LC_ALL)",
			       nl_langinfo(CODESET));
	if (!name || !name[0])
		return err_set(err, -ENOTSUP, "plain lines: TERM does not say what this terminal is");
	return known(name, fd, err);
}
