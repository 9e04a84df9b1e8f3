/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits in futexes inside calls, and who ended them (`record --latency`). What is known is who woke the thread. For a mutex
 * that is the thread which let go of it last, and of several that had it one after the other only that one; of a
 * condition variable, a semaphore or a thread's end it is whoever signalled, which need not have held anything.
 */
#ifndef GPUBPF_FUTEXES_H
#define GPUBPF_FUTEXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"
#include "util/hmap.h"

#define FUTEX_WAITS_MAX 65536 /* of one call that are kept */

enum wait_end {
	WAIT_END_IN_CALL,   /* by a traced thread inside a call: waker_api */
	WAIT_END_OUTSIDE,   /* by a traced thread outside of calls */
	WAIT_END_UNSURE,    /* either: its last launch was recorded at its entry alone */
	WAIT_END_OBSERVER,  /* by the shim's own thread */
	WAIT_END_ENDED,     /* by a thread that ended: what it had been doing is not known */
	WAIT_END_UNTRACED,  /* by a thread of which no traced call was seen */
	WAIT_END_KERNEL,    /* by a thread of the kernel's */
	WAIT_END_TIMEOUT,   /* in an interrupt, when the wait's time limit was over */
	WAIT_END_INTERRUPT, /* in another one: nobody's thread */
	WAIT_END_UNKNOWN,
	WAIT_ENDS,
};

/* "in_call", "outside_calls" … for JSON and CSV; and for people, behind the waker where there is one. */
extern const char *const wait_end_names[WAIT_ENDS], *const wait_end_words[WAIT_ENDS];

static inline uint64_t wait_ns(const struct gpubpf_waker *w)
{
	return w->t_wake > w->t_wait ? w->t_wake - w->t_wait : 0;
}

/* `wall`: CLOCK_REALTIME at t_wake; 0: not known. */
enum wait_end wait_end_of(const struct gpubpf_waker *w, uint64_t wall);
/* Of these ends somebody is named: waker_tgid, waker_tid, comm, by. */
static inline bool wait_end_has_waker(enum wait_end e)
{
	return e <= WAIT_END_KERNEL;
}
/* enum gpubpf_waker_by: "futex", "exit", "other", "kernel"; NULL: none. */
const char *wait_by_name(unsigned by);

/* Puts waits beside their calls, in one pass over the file. */
struct futex_waits {
	struct hmap of; /* by thread */
	uint64_t cut;   /* more than FUTEX_WAITS_MAX in a call */
};

void futex_waits__init(struct futex_waits *w);
void futex_waits__clear(struct futex_waits *w);
int futex_waits__add(struct futex_waits *w, const struct gpubpf_waker *rec); /* 0 or -ENOMEM */
/* Those inside this call, until the next futex_waits__add(); NULL: none. */
const struct gpubpf_waker *futex_waits__of(const struct futex_waits *w, const struct gpubpf_call *c,
					   size_t *n);

#endif
