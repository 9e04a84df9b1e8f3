/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A view on a terminal, by ncurses. Where this program was built without it there is none, and says so. */
#ifndef GPUBPF_TOP_SCREEN_H
#define GPUBPF_TOP_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

#include "top/top.h"

struct err;
struct top_screen;

/* Whether this terminal can be drawn on: TERM is known, the locale's text is UTF-8. -ENOTSUP with the reason. */
int top_screen_possible(int fd, struct err *err);
/* Draws from now on. Both streams stay the caller's. Keys are read from `in` as they come, without waiting. */
int top_screen__open(FILE *out, FILE *in, struct top_screen **s, struct err *err);
/* Copied; drawn at once unless it is paused. */
void top_screen__show(struct top_screen *s, const struct top_view *v);
/* Takes keys and changes of the size; true: the end was asked for. */
bool top_screen__turn(struct top_screen *s);
/* A message, until the next one. */
void top_screen__say(struct top_screen *s, const char *line);
/* Leaves the terminal as it was. NULL is fine. */
void top_screen__close(struct top_screen *s);

#endif
