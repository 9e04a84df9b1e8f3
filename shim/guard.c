// SPDX-License-Identifier: BSD-2-Clause
#include "guard.h"

#ifdef GPUBPF_SHIM_OLD_DESIGN
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void guard__lock(void)
{
	pthread_mutex_lock(&lock);
}

void guard__unlock(void)
{
	pthread_mutex_unlock(&lock);
}
#endif

#ifdef GPUBPF_SHIM_TEST
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Test builds alone have thread-local storage: the library that is shipped has no TLS segment. */
static __thread int depth;
static _Atomic(pthread_t) owner;

void guard__own(void)
{
	atomic_store(&owner, pthread_self());
}

void guard__check(const char *what)
{
	if (depth) {
		fprintf(stderr, "gpubpf-shim: %s called inside a callback\n", what);
		abort();
	}
	if (!pthread_equal(atomic_load(&owner), pthread_self())) {
		fprintf(stderr, "gpubpf-shim: %s called by a thread that does not own CUPTI\n", what);
		abort();
	}
}

void guard__enter_callback(void)
{
	depth++;
}

void guard__leave_callback(void)
{
	depth--;
}
#endif
