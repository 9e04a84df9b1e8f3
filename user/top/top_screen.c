/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/top_screen.h"

#include <errno.h>
#include <stdlib.h>

#include "util/err.h"

#ifdef HAVE_CURSES
#include <curses.h>
#include <termios.h>
#include <unistd.h>

#include "top/top_layout.h"

#define PAGE 10
#define PAIR_BAD 1

struct top_screen {
	SCREEN *screen;
	struct top_state state;
	struct top_view *shown; /* NULL until there is one */
	bool colors;
	struct top_text text;
};

/* The key that makes a core dump of a program would leave the terminal as it is then. */
static void no_quit_key(int fd)
{
	struct termios t;

	if (tcgetattr(fd, &t))
		return;
	t.c_cc[VQUIT] = _POSIX_VDISABLE;
	tcsetattr(fd, TCSANOW, &t);
}

static void draw(struct top_screen *s)
{
	static const int styles[] = {
		[TOP_PLAIN] = A_NORMAL, [TOP_TITLE] = A_BOLD,     [TOP_BAD] = A_BOLD,
		[TOP_TABS] = A_NORMAL,  [TOP_HEADER] = A_REVERSE, [TOP_HELP] = A_DIM,
	};
	int rows, columns;

	getmaxyx(stdscr, rows, columns);
	top_layout(s->shown, &s->state, rows > 0 ? (unsigned)rows : 1, columns > 0 ? (unsigned)columns : 1,
		   &s->text);
	erase();
	for (unsigned i = 0; i < s->text.n; i++) {
		enum top_style style = s->text.line[i].style;
		int attr = styles[style] | (style == TOP_BAD && s->colors ? COLOR_PAIR(PAIR_BAD) : 0);

		attrset((attr_t)attr);
		mvaddstr((int)i, 0, s->text.line[i].text);
	}
	attrset(A_NORMAL);
	refresh();
}

int top_screen__open(FILE *out, FILE *in, struct top_screen **screen, struct err *err)
{
	struct top_screen *s = calloc(1, sizeof(*s));
	const char *plain = getenv("NO_COLOR");

	*screen = NULL;
	if (!s)
		return err_set(err, -ENOMEM, "out of memory");
	s->screen = newterm(NULL, out, in);
	if (!s->screen) {
		free(s);
		return err_set(err, -EIO, "cannot draw on this terminal; --lines needs none");
	}
	cbreak();
	noecho();
	no_quit_key(fileno(in));
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	if (!(plain && plain[0]) && has_colors() && start_color() == OK && use_default_colors() == OK)
		s->colors = init_pair(PAIR_BAD, COLOR_RED, -1) == OK;
	*screen = s;
	draw(s);
	return 0;
}

void top_screen__show(struct top_screen *s, const struct top_view *v)
{
	/* of several of one moment the first holds the host's figures */
	if (s->state.paused || v->more)
		return;
	if (!s->shown)
		s->shown = malloc(sizeof(*s->shown));
	if (!s->shown)
		return;
	*s->shown = *v;
	draw(s);
}

static void scroll_by(struct top_state *st, long by)
{
	st->scroll = by < 0 && st->scroll < (size_t)-by ? 0 : (size_t)((long)st->scroll + by);
}

/* True: the end was asked for. */
static bool on_key(struct top_screen *s, int key)
{
	struct top_state *st = &s->state;

	if (key >= '1' && key < '1' + TOP_TABLES) {
		st->table = (enum top_table)(key - '1');
		st->scroll = 0;
		return false;
	}
	switch (key) {
	case 'q':
	case 'Q':
		return true;
	case 'p':
	case ' ':
		st->paused = !st->paused;
		break;
	case 's':
		top_state_sort(st);
		break;
	case KEY_LEFT:
		st->table = (enum top_table)((st->table + TOP_TABLES - 1) % TOP_TABLES);
		st->scroll = 0;
		break;
	case KEY_RIGHT:
	case '\t':
		st->table = (enum top_table)((st->table + 1) % TOP_TABLES);
		st->scroll = 0;
		break;
	case KEY_UP:
		scroll_by(st, -1);
		break;
	case KEY_DOWN:
		scroll_by(st, 1);
		break;
	case KEY_PPAGE:
		scroll_by(st, -PAGE);
		break;
	case KEY_NPAGE:
		scroll_by(st, PAGE);
		break;
	case KEY_HOME:
		st->scroll = 0;
		break;
	default:
		break;
	}
	return false;
}

bool top_screen__turn(struct top_screen *s)
{
	bool any = false;
	int key;

	while ((key = getch()) != ERR) {
		any = true;
		if (on_key(s, key))
			return true;
	}
	if (any)
		draw(s);
	return false;
}

void top_screen__say(struct top_screen *s, const char *line)
{
	snprintf(s->state.message, sizeof(s->state.message), "%s", line);
	draw(s);
}

void top_screen__close(struct top_screen *s)
{
	if (!s)
		return;
	endwin();
	delscreen(s->screen);
	free(s->shown);
	free(s);
}

#else

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

#endif
