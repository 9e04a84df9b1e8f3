// SPDX-License-Identifier: BSD-2-Clause
#include "worker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "driver.h"
#include "emit.h"
#include "futex.h"
#include "gate.h"
#include "gaterun.h"
#include "guard.h"
#include "inject.h"
#include "session.h"

#define TICK 50000000ull
#define SECOND 1000000000ull
/* Between ticks that take as long as they are apart: the application gets its turn. */
#define MOMENT 1000000ull
#define EXIT_WAIT 500000000ull
/* For so long after its first CUDA call a process may be about to make its contexts: settled(). */
#define YOUNG (5 * SECOND)
#define SETTLED 300000000ull
/* CUPTI's own code runs on it, dlopen() too. Only what is used is touched. */
#define STACK (512u << 10)

enum state {
	STATE_NONE = 0, /* no worker, or none any more */
	STATE_IDLE = 1, /* nothing is subscribed */
	STATE_BUSY = 2, /* arming, armed or disarming */
	STATE_STOP = 3, /* the process ends, found idle: the worker leaves by itself */
};

static struct {
	_Atomic uint32_t state;
	_Atomic uint32_t poked;    /* the word that the worker sleeps on */
	_Atomic uint32_t sleeping; /* a poke costs a system call only then */
	_Atomic uint32_t exiting;
	_Atomic uint32_t done; /* the word that the exit sleeps on */
	_Atomic uint32_t armed;
	uint32_t tid;
	uint64_t born; /* inside the first CUDA call, or in the host's start by hand */
	uint64_t contexts, contexts_since;
	bool settled;
} w;

void worker__poke(void)
{
	atomic_fetch_add(&w.poked, 1);
	if (atomic_load(&w.sleeping))
		futex__wake(&w.poked);
}

static void nap(uint64_t ns)
{
	uint32_t seen = atomic_load(&w.poked);

	atomic_store(&w.sleeping, 1);
	if (atomic_load(&w.poked) == seen && !atomic_load(&w.exiting))
		futex__wait(&w.poked, seen, ns);
	atomic_store(&w.sleeping, 0);
}

static void disarm(enum session_end why)
{
	session__disarm(why);
	atomic_store(&w.armed, 0);
}

/* Until the session is over. */
static void stay_armed(void)
{
	uint64_t last_tick = 0, last_second = now_ns();

	/* In this order: the call is the tracer's, and hello says so. */
	session__announce(w.tid);
	gaterun__say();
	driver__await_init();
	for (;;) {
		uint64_t now = now_ns(), spent;

		if (atomic_load(&w.exiting)) {
			disarm(SESSION_EXIT);
			return;
		}
		if (!emit__attached(GPUBPF_PROBE_HELLO)) {
			disarm(emit__any_attached() ? SESSION_ASKED : SESSION_DEAD);
			return;
		}
		/* Woken before its time: CUPTI filled buffers, and needs no flush to give them back. */
		if (now - last_tick >= TICK) {
			last_tick = now;
			session__tick();
		} else {
			session__drain();
		}
		if (now - last_second >= SECOND) {
			last_second = now;
			session__second(w.tid);
			gaterun__say();
		}
		spent = now_ns() - last_tick;
		nap(spent < TICK ? TICK - spent : MOMENT);
	}
}

/* False: the process ends, or this is no longer its thread to arm. */
static bool become(enum state from, enum state to)
{
	uint32_t is = from;

	return atomic_compare_exchange_strong(&w.state, &is, to);
}

static void stay_failed(void)
{
	uint64_t last = now_ns();

	session__announce(w.tid);
	gaterun__say();
	while (emit__attached(GPUBPF_PROBE_HELLO) && !atomic_load(&w.exiting)) {
		nap(TICK);
		if (now_ns() - last >= SECOND) {
			last = now_ns();
			session__second(w.tid);
			gaterun__say();
		}
	}
}

static void serve(bool armed)
{
	if (armed) {
		atomic_store(&w.armed, 1);
		stay_armed();
	}
	/* Asked to go while it was busy: the exit waits. */
	become(STATE_BUSY, STATE_IDLE);
	if (!armed)
		stay_failed();
}

/*
 * CUPTI that came up on this thread beside the application's first context crashed the application at a launch in 4 of
 * 170 runs (driver 580, CUPTI 13.0: that context had no pool for records), in none when the context was there
 * before. So a young process gets the time to make it; of contexts that are not primary ones the driver tells nothing.
 */
static bool settled(void)
{
	uint64_t now = now_ns(), have;

	if (w.settled || now - w.born >= YOUNG || driver__contexts(&have))
		return w.settled = true;
	if (have != w.contexts) {
		w.contexts = have;
		w.contexts_since = now;
	}
	return w.settled = have && now - w.contexts_since >= SETTLED;
}

/* A recorder is there, and nothing says that it is not time yet. */
static bool wanted(void)
{
	return !atomic_load(&w.exiting) && emit__attached(GPUBPF_PROBE_HELLO) &&
	       now_ns() >= gaterun__warm_until() && settled();
}

static void *work(void *arg)
{
	struct gate_outcome outcome;
	enum worker_start how = (enum worker_start)(uintptr_t)arg;
	bool armed, hooked = how == WORKER_ARMED;

	prctl(PR_SET_NAME, "gpubpf");
	w.tid = (uint32_t)syscall(SYS_gettid);
	guard__own();
	if (how != WORKER_IDLE)
		serve(how == WORKER_ARMED);
	while (!atomic_load(&w.exiting)) {
		nap(TICK);
		if (!wanted())
			continue;
		if (!become(STATE_IDLE, STATE_BUSY))
			break;
		/* The process ends, and will say so here in a moment. */
		if (!gaterun__attach(session__number() + 1)) {
			become(STATE_BUSY, STATE_IDLE);
			continue;
		}
		armed = session__arm(GPUBPF_ARMED_ATTACH, w.tid);
		if (armed && !hooked) {
			hooked = true;
			inject__hook_exit();
		}
		session__outcome(&outcome);
		gaterun__finish(&outcome);
		serve(armed);
	}
	atomic_store(&w.done, 1);
	futex__wake(&w.done);
	return NULL;
}

/* The worker takes none of the application's signals. */
static int create(void *arg, size_t stack)
{
	pthread_attr_t attr;
	pthread_t t;
	sigset_t all, old;
	int e = pthread_attr_init(&attr);

	if (e)
		return e;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (stack)
		pthread_attr_setstacksize(&attr, stack);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	e = pthread_create(&t, &attr, work, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return e;
}

int worker__start(enum worker_start how)
{
	void *arg = (void *)(uintptr_t)how;
	int e;

	w.born = now_ns();
	atomic_store(&w.state, how == WORKER_IDLE ? STATE_IDLE : STATE_BUSY);
	if (how == WORKER_ARMED)
		atomic_store(&w.armed, 1);
	e = create(arg, STACK);
	/* An application with much thread-local storage leaves no room in a small stack (glibc puts both into it). */
	if (e == EINVAL)
		e = create(arg, 0);
	if (e) {
		atomic_store(&w.armed, 0);
		atomic_store(&w.state, STATE_NONE);
	}
	return e;
}

void worker__exit(void)
{
	uint64_t end = now_ns() + EXIT_WAIT, now;

	/* The second of two handlers (inject.c) has nothing to wait for, nor has a second that finds the first gave up. */
	if (atomic_exchange(&w.exiting, 1) || atomic_load(&w.state) == STATE_NONE)
		return;
	if (become(STATE_IDLE, STATE_STOP)) {
		worker__poke();
		return;
	}
	worker__poke();
	while (!atomic_load(&w.done) && (now = now_ns()) < end)
		futex__wait(&w.done, 0, end - now);
	if (!atomic_load(&w.done))
		session__give_up();
}

void worker__forked(void)
{
	atomic_store(&w.state, STATE_NONE);
	atomic_store(&w.armed, 0);
	atomic_store(&w.exiting, 1);
}

bool worker__armed(void)
{
	return atomic_load(&w.armed);
}
