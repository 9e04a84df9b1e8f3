// SPDX-License-Identifier: GPL-2.0-or-later
#include "util/progress.h"

#include <string.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/fmt.h"

#define QUIET_NS 1000000000u
#define AGAIN_NS 200000000u
#define LOOK_EVERY 20000

void progress__begin(struct progress *p, FILE *f, const char *what, uint64_t total)
{
	memset(p, 0, sizeof(*p));
	if (!f || !isatty(fileno(f)))
		return;
	p->f = f;
	p->what = what;
	p->total = total;
	p->begun = clock_now(CLOCK_MONOTONIC);
}

void progress__show(struct progress *p)
{
	uint64_t now = clock_now(CLOCK_MONOTONIC);
	char n[FMT_NUM];

	p->look = p->done + LOOK_EVERY;
	if (now - p->begun < QUIET_NS || now - p->shown < AGAIN_NS)
		return;
	p->shown = now;
	p->visible = 1;
	fprintf(p->f, "\r%s: ", p->what);
	if (p->total)
		fprintf(p->f, "%u %%, ",
			(unsigned)(100.0 * (double)(p->done < p->total ? p->done : p->total) /
				   (double)p->total));
	fprintf(p->f, "%s rows  ", fmt_count(n, p->done));
	fflush(p->f);
}

void progress__end(struct progress *p)
{
	if (p->visible) {
		fputs("\r\033[K", p->f);
		fflush(p->f);
	}
	p->visible = 0;
	p->f = NULL;
}
