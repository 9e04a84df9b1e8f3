// SPDX-License-Identifier: BSD-2-Clause
#include "gaterun.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "emit.h"
#include "futex.h"
#include "gatefile.h"
#include "report.h"

#define MS 1000000ull
#define DIR_MAX 1024
#define LOCK_TRIES 200 /* of a millisecond: who holds the lock writes a file, to a folder that may hang */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	struct gate gate; /* under the lock, likewise session and sequence */
	uint32_t session;
	uint64_t sequence;
	bool gated; /* GPUBPF_RUN_TOKEN: one run, one result; without it each recorder has his own */
	char dir[DIR_MAX], token[GPUBPF_GATE_TOKEN_LEN + 1];
	uint64_t start_time;
	_Atomic uint32_t
		live; /* the word that waiters sleep on: an initializer is at it, or is being published */
	_Atomic uint32_t ready, exiting;
	_Atomic uint64_t deadline, warm_until;
	_Atomic long owner; /* the initializer's thread */
} r;

static uint64_t milliseconds(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);
	uint64_t v = 0;
	size_t n = s ? strspn(s, "0123456789") : 0;

	if (!n || n > 9 || s[n])
		return otherwise * MS;
	for (size_t i = 0; i < n; i++)
		v = v * 10 + (uint64_t)(s[i] - '0');
	return v * MS;
}

/* False: not a token as we know them. */
static bool take_token(void)
{
	const char *s = getenv(GPUBPF_ENV_RUN_TOKEN);

	if (!s || !*s)
		return true;
	if (strlen(s) != GPUBPF_GATE_TOKEN_LEN ||
	    strspn(s, "0123456789abcdefABCDEF") != GPUBPF_GATE_TOKEN_LEN)
		return false;
	memcpy(r.token, s, sizeof(r.token));
	r.gated = true;
	return true;
}

static struct gatefile file(void)
{
	return (struct gatefile){ .gate = &r.gate,
				  .token = r.token,
				  .pid = getpid(),
				  .start_time = r.start_time,
				  .sequence = r.sequence,
				  .now = now_ns() };
}

void gaterun__configure(void)
{
	/* A program with another user's rights writes nothing where he says. */
	const char *dir = secure_getenv(GPUBPF_ENV_STATUS_DIR);
	struct gatefile f;

	pthread_mutex_lock(&lock);
	gate__init(&r.gate, milliseconds(GPUBPF_ENV_INIT_TIMEOUT, GPUBPF_GATE_ALLOWANCE_MS),
		   milliseconds(GPUBPF_ENV_WARMUP, 0));
	if (!take_token()) {
		gate__disable(&r.gate, 0);
	} else if (dir && dir[0] == '/' && strlen(dir) < sizeof(r.dir)) {
		strcpy(r.dir, dir);
		r.start_time = report__start_time();
		f = file();
		r.sequence = gatefile__sequence(r.dir, &f);
		if (r.sequence)
			gate__note(&r.gate, GPUBPF_GATE_NOTE_EXEC_REPLACED);
	}
	pthread_mutex_unlock(&lock);
}

static void say(void)
{
	struct status_batch b;
	struct gpubpf_status *s;

	b.n = 0;
	s = status__add(&b, GPUBPF_STATUS_GATE, r.gate.lifecycle, r.gate.readiness, r.session);
	s->a = r.gate.reason | (__u64)r.gate.notes << 32;
	s->b = r.gate.touched;
	s->c = r.gate.deadline;
	s->d = r.sequence;
	s->e = r.gate.warmup;
	status__send(&b);
}

/* Under the lock: two that publish do not overtake each other. */
static void publish(void)
{
	struct gatefile f;

	if (r.gate.lifecycle == GPUBPF_LIFECYCLE_DISABLED)
		return;
	r.sequence++;
	f = file();
	/* A folder that cannot be written harms nothing: the probe says the same. */
	if (r.dir[0])
		gatefile__write(r.dir, &f);
	if (emit__attached(GPUBPF_PROBE_STATUS))
		say();
}

void gaterun__callback(void)
{
	pthread_mutex_lock(&lock);
	if (gate__callback(&r.gate, now_ns()))
		publish();
	pthread_mutex_unlock(&lock);
}

bool gaterun__warm(void)
{
	bool warm;

	pthread_mutex_lock(&lock);
	warm = r.gate.warmup && gate__warm(&r.gate);
	if (warm) {
		atomic_store(&r.warm_until, r.gate.touched + r.gate.warmup);
		publish();
	}
	pthread_mutex_unlock(&lock);
	return warm;
}

uint64_t gaterun__warm_until(void)
{
	return atomic_load(&r.warm_until);
}

/* Under the lock. */
static bool initialize(uint32_t session)
{
	/* Not ours to say: captured all the same. */
	if (r.gate.lifecycle == GPUBPF_LIFECYCLE_DISABLED)
		return true;
	if (!gate__initialize(&r.gate, now_ns()))
		return false;
	r.session = session;
	atomic_store(&r.owner, syscall(SYS_gettid));
	atomic_store(&r.deadline, r.gate.deadline);
	atomic_store(&r.live, 1);
	publish();
	return true;
}

bool gaterun__initialize(uint32_t session)
{
	bool go;

	pthread_mutex_lock(&lock);
	go = !atomic_load(&r.exiting) && initialize(session);
	pthread_mutex_unlock(&lock);
	return go;
}

/* A recorder of no run: what an earlier one was told is not about him, and his time begins with him. */
static void renew(void)
{
	bool callback = r.gate.callback;

	gate__init(&r.gate, r.gate.allowance, 0);
	if (callback)
		gate__callback(&r.gate, now_ns());
	atomic_store(&r.ready, 0);
}

bool gaterun__attach(uint32_t session)
{
	enum gpubpf_lifecycle *is = &r.gate.lifecycle;
	bool go = false;

	pthread_mutex_lock(&lock);
	if (atomic_load(&r.exiting))
		goto out;
	if (!r.gated && (*is == GPUBPF_LIFECYCLE_CALLBACK_SEEN || *is == GPUBPF_LIFECYCLE_FINISHED))
		renew();
	if (*is == GPUBPF_LIFECYCLE_IDLE || *is == GPUBPF_LIFECYCLE_CALLBACK_SEEN)
		gate__note(&r.gate, GPUBPF_GATE_NOTE_LATE_ATTACH);
	go = *is == GPUBPF_LIFECYCLE_FINISHED || initialize(session);
	r.session = session;
out:
	pthread_mutex_unlock(&lock);
	return go;
}

/* State, snapshot, and only then the wake: this thread touches no gate after it. */
void gaterun__finish(const struct gate_outcome *o)
{
	pthread_mutex_lock(&lock);
	if (gate__live(&r.gate) ? gate__finish(&r.gate, now_ns(), o) : gate__again(&r.gate, o))
		publish();
	atomic_store(&r.ready, gate__ready(&r.gate));
	pthread_mutex_unlock(&lock);
	atomic_store(&r.live, 0);
	futex__wake(&r.live);
}

void gaterun__say(void)
{
	pthread_mutex_lock(&lock);
	if (r.gate.lifecycle != GPUBPF_LIFECYCLE_DISABLED && emit__attached(GPUBPF_PROBE_STATUS))
		say();
	pthread_mutex_unlock(&lock);
}

/* False: the deadline passed. */
static bool wait_for_initializer(void)
{
	uint64_t now;

	while (atomic_load(&r.live)) {
		now = now_ns();
		if (now >= atomic_load(&r.deadline))
			return false;
		futex__wait(&r.live, 1, atomic_load(&r.deadline) - now);
	}
	return true;
}

static bool lock_in_time(void)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (pthread_mutex_trylock(&lock) == 0)
			return true;
		usleep(1000);
	}
	return false;
}

bool gaterun__await(void)
{
	if (!wait_for_initializer() && lock_in_time()) {
		if (gate__expire(&r.gate, now_ns()))
			publish();
		pthread_mutex_unlock(&lock);
	}
	return gaterun__ready();
}

bool gaterun__ready(void)
{
	return atomic_load(&r.ready);
}

static void end_now(int signal)
{
	(void)signal;
	_exit(GPUBPF_GATE_EXIT_STATUS);
}

/*
 * What the application printed is still to be written, and nobody else will: stdio is written out after all handlers.
 * A stream's lock, or a pipe that nobody reads, may hold this up for a second.
 */
static void write_out(void)
{
	struct sigaction end = { .sa_handler = end_now };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	if (sigaction(SIGALRM, &end, NULL) || pthread_sigmask(SIG_UNBLOCK, &set, NULL))
		return;
	alarm(1);
	fflush(NULL);
}

/* Its locks, and CUPTI's, are held by code that does not come back: nothing of the exit may pass by them. */
static void end_wedged(void)
{
	bool locked = lock_in_time();

	if (locked && !gate__live(&r.gate)) {
		pthread_mutex_unlock(&lock);
		return;
	}
	if (locked && gate__wedged(&r.gate, now_ns()))
		publish();
	write_out();
	_exit(GPUBPF_GATE_EXIT_STATUS);
}

bool gaterun__exit(void)
{
	if (atomic_exchange(&r.exiting, 1))
		return true;
	if (lock_in_time()) {
		if (gate__exit(&r.gate))
			publish();
		pthread_mutex_unlock(&lock);
	}
	if (atomic_load(&r.live) && atomic_load(&r.owner) == syscall(SYS_gettid)) {
		if (now_ns() >= atomic_load(&r.deadline))
			end_wedged();
		return false;
	}
	if (!wait_for_initializer())
		end_wedged();
	return true;
}

/* The lock may be held by a thread that is not here. Nothing is published: the file is the parent's. */
void gaterun__forked(void)
{
	atomic_store(&r.exiting, 1);
	atomic_store(&r.live, 0);
	atomic_store(&r.ready, 0);
	r.dir[0] = 0;
	pthread_mutex_init(&lock, NULL);
	gate__disable(&r.gate, GPUBPF_GATE_NOTE_FORKED_CHILD);
}
