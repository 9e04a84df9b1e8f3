/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One arming of CUPTI, from subscription to unsubscription. All of it is called by the owner of CUPTI: the
 * application's thread inside InitializeInjection (session__arm() alone), from then on the worker.
 */
#ifndef GPUBPF_SHIM_SESSION_H
#define GPUBPF_SHIM_SESSION_H

#include <stdbool.h>

#include "events.h"

struct gate_outcome;

/* What GPUBPF_CUPTI asks for beside kernels, copies and sets: words with commas. NULL: nothing. */
void session__configure(const char *kinds);

/* True: armed. False: nothing is subscribed or enabled, and a status said why. worker_tid 0: not started yet. */
bool session__arm(enum gpubpf_arming how, __u32 worker_tid);

/* From 1, of the last arming; 0: none yet. */
__u32 session__number(void);
/* How that went, for the gate. */
void session__outcome(struct gate_outcome *o);

/* The worker: hello, and what has been said about this session, for a recorder that may have come since. */
void session__announce(__u32 worker_tid);

/* Flushes CUPTI and hands over all that waits. */
void session__tick(void);
/* The same without the flush: what CUPTI gave back by itself. */
void session__drain(void);
/* Clocks and counters; a part of the names once more. */
void session__second(__u32 worker_tid);

enum session_end {
	SESSION_ASKED = 1, /* hello_v1 is no longer attached, others are */
	SESSION_EXIT = 2,  /* the process ends */
	SESSION_DEAD = 3,  /* nobody is attached */
};
void session__disarm(enum session_end why);

/* Any thread: the process will not wait any longer. What can be left out is. */
void session__give_up(void);

#ifdef GPUBPF_SHIM_TEST
struct cupti;
/* For a test to fill in its own functions; with a handle it counts as open. */
struct cupti *session__cupti(void);
#endif

#endif
