/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line on a terminal that says how far long work is. Where the stream is no terminal: nothing, ever. */
#ifndef GPUBPF_PROGRESS_H
#define GPUBPF_PROGRESS_H

#include <stdint.h>
#include <stdio.h>

struct progress {
	FILE *f; /* NULL: silent */
	const char *what;
	uint64_t total, done, look; /* total 0: not known; look: at this many the clock is asked */
	uint64_t begun, shown;      /* ns */
	int visible;
};

/* `f`: stderr; NULL is fine. `what`: "export"; it must outlive the work. */
void progress__begin(struct progress *p, FILE *f, const char *what, uint64_t total);
void progress__show(struct progress *p); /* at most five times a second, and not in the first second */
void progress__end(struct progress *p);  /* the line is gone; before any message */

static inline void progress__add(struct progress *p, uint64_t n)
{
	p->done += n;
	if (p->f && p->done >= p->look)
		progress__show(p);
}

#endif
