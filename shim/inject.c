// SPDX-License-Identifier: BSD-2-Clause
/*
 * The way in. The driver loads this library (CUDA_INJECTION64_PATH) and calls InitializeInjection() on the
 * application's thread inside its first cuInit(). Whatever fails in here, the application goes on.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "emit.h"
#include "gate.h"
#include "gaterun.h"
#include "guard.h"
#include "inject.h"
#include "phase.h"
#include "session.h"
#include "worker.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int InitializeInjection(void);
EXPORTED int gpubpf_shim_start(void);

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static bool prepared, started;
static _Atomic bool forked;
static pid_t process;

/* The child has no worker, and whatever lock CUPTI held at the fork it holds for ever: the shim does nothing there. */
static void in_child(void)
{
	atomic_store(&forked, true);
	atomic_store(&shim_phase, 0);
	gaterun__forked();
	worker__forked();
}

bool inject__forked(void)
{
	return atomic_load(&forked);
}

static void at_exit(void)
{
	/* A child made without fork() ran no handler. */
	if (atomic_load(&forked) || getpid() != process)
		return;
	if (gaterun__exit())
		worker__exit();
}

/*
 * Handlers run last registered first, and CUPTI registers its own when it is loaded: a flush behind that one crashed
 * (driver 580). So this is called again once CUPTI is there; the handler that comes second finds nothing to do.
 */
void inject__hook_exit(void)
{
	atexit(at_exit);
}

/* Before anything that may not come back. */
static void prepare(void)
{
	pthread_mutex_lock(&starting);
	if (!prepared) {
		prepared = true;
		process = getpid();
		pthread_atfork(NULL, NULL, in_child);
		gaterun__configure();
		inject__hook_exit();
	}
	pthread_mutex_unlock(&starting);
}

/*
 * The session is armed here and now, before any CUDA call returns. CUPTI is this thread's until the worker exists: two
 * threads in CUPTI while cuInit() is on the stack crashed elsewhere. The gate hears of it when the worker has taken
 * over: an exit that was waiting finds somebody to take the session down.
 */
static void arm(enum gpubpf_arming how)
{
	struct gate_outcome outcome;
	bool armed;

	guard__own();
	armed = session__arm(how, 0);
	inject__hook_exit();
	session__outcome(&outcome);
	if (worker__start(armed ? WORKER_ARMED : WORKER_FAILED) && armed) {
		session__disarm(SESSION_EXIT);
		outcome.failed = GPUBPF_REASON_MEMORY;
	}
	gaterun__finish(&outcome);
}

/* With a recorder attached already; else, or after a warmup, the worker arms when there is one. */
static void start_once(enum gpubpf_arming how)
{
	bool first, here;

	pthread_mutex_lock(&starting);
	first = !started;
	started = true;
	if (first)
		session__configure(getenv("GPUBPF_CUPTI"));
	here = first && !(how == GPUBPF_ARMED_INLINE && gaterun__warm()) &&
	       emit__attached(GPUBPF_PROBE_HELLO) && gaterun__initialize(session__number() + 1);
	pthread_mutex_unlock(&starting);
	if (here)
		arm(how);
	else if (first)
		worker__start(WORKER_IDLE);
}

static bool manual(void)
{
	const char *v = getenv(GPUBPF_ENV_MANUAL);

	return v && v[0] == '1' && !v[1];
}

/* 1: the driver keeps the library. */
int InitializeInjection(void)
{
	if (atomic_load(&forked))
		return 1;
	prepare();
	gaterun__callback();
	if (!manual())
		start_once(GPUBPF_ARMED_INLINE);
	return 1;
}

/* For hosts that set GPUBPF_MANUAL_INIT=1, after their cuInit(). 1: ready, and armed. */
int gpubpf_shim_start(void)
{
	if (atomic_load(&forked))
		return 0;
	prepare();
	start_once(GPUBPF_ARMED_ATTACH);
	return gaterun__await() && worker__armed();
}
