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
#include "guard.h"
#include "inject.h"
#include "phase.h"
#include "session.h"
#include "worker.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int InitializeInjection(void);
EXPORTED int gpubpf_shim_start(void);

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static bool started;
static _Atomic bool forked;
static pid_t process;

/* The child has no worker, and whatever lock CUPTI held at the fork it holds for ever: the shim does nothing there. */
static void in_child(void)
{
	atomic_store(&forked, true);
	atomic_store(&shim_phase, 0);
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

/*
 * With a recorder attached already the session is armed here and now, before any CUDA call returns. CUPTI is this
 * thread's until the worker exists: two threads in CUPTI while cuInit() is on the stack crashed elsewhere.
 */
static void start(enum gpubpf_arming how)
{
	enum worker_start worker = WORKER_IDLE;

	process = getpid();
	pthread_atfork(NULL, NULL, in_child);
	session__configure(getenv("GPUBPF_CUPTI"));
	if (emit__attached(GPUBPF_PROBE_HELLO)) {
		guard__own();
		worker = session__arm(how, 0) ? WORKER_ARMED : WORKER_FAILED;
	}
	inject__hook_exit();
	if (worker__start(worker) && worker == WORKER_ARMED)
		session__disarm(SESSION_EXIT);
}

static void start_once(enum gpubpf_arming how)
{
	if (atomic_load(&forked))
		return;
	pthread_mutex_lock(&starting);
	if (!started) {
		started = true;
		start(how);
	}
	pthread_mutex_unlock(&starting);
}

static bool manual(void)
{
	const char *v = getenv("GPUBPF_MANUAL_INIT");

	return v && v[0] == '1' && !v[1];
}

/* 1: the driver keeps the library. */
int InitializeInjection(void)
{
	if (!manual())
		start_once(GPUBPF_ARMED_INLINE);
	return 1;
}

/* For hosts that set GPUBPF_MANUAL_INIT=1, after their cuInit(). 1: a session is armed. */
int gpubpf_shim_start(void)
{
	start_once(GPUBPF_ARMED_ATTACH);
	return worker__armed();
}
