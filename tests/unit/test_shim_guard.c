/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Test builds of the shim end themselves where CUPTI is called by whom it must not be. */
#include <sys/wait.h>

#include "shim_fake.h"

/* In a child: the callback that the test puts in calls CUPTI. */
static int status_of_child(void (*fn)(void))
{
	int status;
	pid_t p;

	fflush(stdout);
	p = fork();
	if (p == 0) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(3);
		fn();
		_exit(0);
	}
	waitpid(p, &status, 0);
	return status;
}

static void cupti_inside_a_callback(void)
{
	guard__own();
	guard__enter_callback();
	CUPTI(session__cupti(), activity_flush_all, 0);
}

static void *cupti_of_another(void *arg)
{
	(void)arg;
	CUPTI(session__cupti(), activity_flush_all, 0);
	return NULL;
}

static void cupti_by_another_thread(void)
{
	pthread_t t;

	guard__own();
	pthread_create(&t, NULL, cupti_of_another, NULL);
	pthread_join(t, NULL);
}

T(guarded_calls_abort)
{
	int s;

	fake_begin();
	s = status_of_child(cupti_inside_a_callback);
	CHECKF(WIFSIGNALED(s) && WTERMSIG(s) == SIGABRT, "%x", s);
	s = status_of_child(cupti_by_another_thread);
	CHECKF(WIFSIGNALED(s) && WTERMSIG(s) == SIGABRT, "%x", s);
}

TEST_MAIN
