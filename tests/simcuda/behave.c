/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a call does with its thread, on demand:
 *
 * SIMCUDA_DO=SYMBOL:WHAT:N[,…]  Each call of SYMBOL first does this for N milliseconds:
 *   spin       keeps a processor busy for so much time of its own
 *   sleep      nanosleep
 *   poll       poll with a timeout
 *   futex      waits for a lock that another thread holds, one that makes no call
 *   heldin     the same; it holds it inside cuCtxSynchronize, which has a line of its own: WHAT is "holds"
 *   heldout    the same; it makes that call first and holds the lock when that has returned
 *   handed     the same; when it lets go of it, a second one gets it first, which holds it half as long inside the call
 *   expires    waits for what nobody gives it, three times N ms: for a time, to a time, to a time of the day
 *   read       reads from a pipe that another thread writes to
 *   ioctl      an ioctl of a pseudo terminal waits for another thread's write to it
 *   faultwait  touches a page that another thread provides (userfaultfd)
 *   faults     touches N new pages
 * SIMCUDA_DO_LOG=FILE  A line for each time, by the kernel's own accounting of the thread:
 *   SYMBOL WHAT TID START WALL CPU DELAY MINFLT MAJFLT NVCSW NIVCSW
 * Times are nanoseconds; DELAY is how long it was ready to run and did not (/proc/thread-self/schedstat). What is left
 * of WALL it was blocked.
 */
#include "sim.h"
#include "usage.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#define PAGE 4096u
#define SETTLE_MS 5 /* until another thread is blocked where it should be */

struct helper {
	pthread_t thread;
	pthread_mutex_t lock;
	sem_t ready;
	unsigned ms;
	int fd;
	char *page;
	_Atomic int over;
	_Atomic uint32_t turn;
	CUcontext ctx;
	struct helper *other;
};

static struct deed {
	char symbol[64];
	const char *what;
	void (*fn)(unsigned n, struct usage *from);
	unsigned n;
} deeds[8];
static unsigned ndeeds;
static int log_fd = -1;

static void nap(unsigned ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static void start(struct helper *h, void *(*fn)(void *), unsigned ms)
{
	h->ms = ms;
	cuCtxGetCurrent(&h->ctx);
	pthread_mutex_init(&h->lock, NULL);
	sem_init(&h->ready, 0, 0);
	pthread_create(&h->thread, NULL, fn, h);
}

static void do_spin(unsigned ms, struct usage *from)
{
	uint64_t end = usage_clock(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)ms * 1000000;

	(void)from;
	while (usage_clock(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void do_sleep(unsigned ms, struct usage *from)
{
	(void)from;
	nap(ms);
}

static void do_poll(unsigned ms, struct usage *from)
{
	(void)from;
	poll(NULL, 0, (int)ms);
}

/* Asks the next call of this thread to hold the lock. */
static __thread struct helper *holds __attribute__((tls_model("initial-exec")));

static void hold(struct helper *h)
{
	pthread_mutex_lock(&h->lock);
	sem_post(&h->ready);
	nap(h->ms);
	pthread_mutex_unlock(&h->lock);
}

static void *hold_outside(void *arg)
{
	hold(arg);
	return NULL;
}

static void *hold_in_call(void *arg)
{
	struct helper *h = arg;

	cuCtxSetCurrent(h->ctx);
	holds = h;
	cuCtxSynchronize();
	return NULL;
}

static void *hold_after_call(void *arg)
{
	struct helper *h = arg;

	cuCtxSetCurrent(h->ctx);
	cuCtxSynchronize();
	hold(h);
	return NULL;
}

static void wait_for(void *(*fn)(void *), unsigned ms, struct usage *from)
{
	struct helper h = { 0 };

	start(&h, fn, ms);
	while (sem_wait(&h.ready) && errno == EINTR)
		;
	usage_read(from);
	pthread_mutex_lock(&h.lock);
	pthread_mutex_unlock(&h.lock);
	pthread_join(h.thread, NULL);
}

static void do_futex(unsigned ms, struct usage *from)
{
	wait_for(hold_outside, ms, from);
}

static void do_heldin(unsigned ms, struct usage *from)
{
	wait_for(hold_in_call, ms, from);
}

static void do_heldout(unsigned ms, struct usage *from)
{
	wait_for(hold_after_call, ms, from);
}

/* One word, so that who is next is not left to chance: a lock of tickets. */
static long futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *limit)
{
	return syscall(SYS_futex, word, op, value, limit, NULL, ~0u);
}

static void take_turn(_Atomic uint32_t *turn, uint32_t mine)
{
	for (uint32_t at = *turn; at != mine; at = *turn)
		futex(turn, FUTEX_WAIT_PRIVATE, at, NULL);
}

static void next_turn(_Atomic uint32_t *turn)
{
	++*turn;
	futex(turn, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
}

static void *first_turn(void *arg)
{
	struct helper *h = arg;

	nap(h->ms);
	next_turn(&h->turn);
	return NULL;
}

/* In the call, by sim_do(). */
static void *second_turn(void *arg)
{
	struct helper *h = arg;

	take_turn(&h->other->turn, 1);
	return hold_in_call(h);
}

static void do_handed(unsigned ms, struct usage *from)
{
	struct helper first = { 0 }, second = { .other = &first };

	start(&second, second_turn, ms / 2);
	start(&first, first_turn, ms);
	usage_read(from);
	take_turn(&first.turn, 2);
	pthread_join(first.thread, NULL);
	pthread_join(second.thread, NULL);
}

static struct timespec later(clockid_t id, unsigned ms)
{
	uint64_t t = usage_clock(id) + (uint64_t)ms * 1000000;

	return (struct timespec){ .tv_sec = (time_t)(t / 1000000000u), .tv_nsec = (long)(t % 1000000000u) };
}

static void do_expires(unsigned ms, struct usage *from)
{
	struct timespec limit = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };
	_Atomic uint32_t word = 0;

	(void)from;
	while (futex(&word, FUTEX_WAIT_PRIVATE, 0, &limit) && errno == EINTR)
		;
	limit = later(CLOCK_MONOTONIC, ms);
	while (futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 0, &limit) && errno == EINTR)
		;
	limit = later(CLOCK_REALTIME, ms);
	while (futex(&word, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 0, &limit) && errno == EINTR)
		;
}

static void *write_late(void *arg)
{
	struct helper *h = arg;

	nap(h->ms);
	if (write(h->fd, "x", 1) != 1)
		abort();
	return NULL;
}

static void do_read(unsigned ms, struct usage *from)
{
	struct helper h = { 0 };
	int fds[2];
	char c;

	(void)from;
	if (pipe2(fds, O_CLOEXEC))
		abort();
	h.fd = fds[1];
	start(&h, write_late, ms);
	if (read(fds[0], &c, 1) != 1)
		abort();
	pthread_join(h.thread, NULL);
	close(fds[0]);
	close(fds[1]);
}

/* More than a pseudo terminal holds, whatever moves on inside it meanwhile. */
static void *write_more(void *arg)
{
	static char text[131072];
	struct helper *h = arg;

	if (write(h->fd, text, sizeof(text)) < 0)
		abort();
	h->over = 1;
	return NULL;
}

static void *read_late(void *arg)
{
	struct helper *h = arg;
	char text[65536];

	nap(h->ms);
	while (!h->other->over)
		if (read(h->fd, text, sizeof(text)) < 0)
			sched_yield();
	return NULL;
}

/* A pseudo terminal that is full blocks a writer, which holds a lock that flow control takes, too. */
static void do_ioctl(unsigned ms, struct usage *from)
{
	struct helper writer = { 0 }, reader = { 0 };
	char name[64], text[4096];
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;

	memset(text, 'x', sizeof(text));
	if (master < 0 || grantpt(master) || unlockpt(master) || ptsname_r(master, name, sizeof(name)))
		abort();
	slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	while (write(slave, text, sizeof(text)) > 0 || write(slave, text, 1) > 0)
		;
	fcntl(slave, F_SETFL, 0);
	fcntl(master, F_SETFL, O_NONBLOCK);
	writer.fd = slave;
	reader.fd = master;
	reader.other = &writer;
	start(&writer, write_more, 0);
	nap(SETTLE_MS);
	start(&reader, read_late, ms);
	usage_read(from);
	if (ioctl(slave, TCXONC, TCIOFF))
		abort();
	pthread_join(writer.thread, NULL);
	pthread_join(reader.thread, NULL);
	close(slave);
	close(master);
}

static void *provide_late(void *arg)
{
	struct helper *h = arg;
	struct uffdio_zeropage z = { .range = { (uintptr_t)h->page, PAGE } };
	struct uffd_msg m;

	if (read(h->fd, &m, sizeof(m)) != sizeof(m))
		abort();
	nap(h->ms);
	if (ioctl(h->fd, UFFDIO_ZEROPAGE, &z))
		abort();
	return NULL;
}

static char *new_pages(unsigned n)
{
	char *p = mmap(NULL, (size_t)n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	madvise(p, (size_t)n * PAGE, MADV_NOHUGEPAGE);
	return p;
}

static void do_faultwait(unsigned ms, struct usage *from)
{
	struct helper h = { .page = new_pages(1) };
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register r = { .range = { (uintptr_t)h.page, PAGE },
				     .mode = UFFDIO_REGISTER_MODE_MISSING };

	(void)from;
	h.fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (h.fd < 0 || ioctl(h.fd, UFFDIO_API, &api) || ioctl(h.fd, UFFDIO_REGISTER, &r))
		abort();
	start(&h, provide_late, ms);
	*(volatile char *)h.page;
	pthread_join(h.thread, NULL);
	close(h.fd);
	munmap(h.page, PAGE);
}

static void do_faults(unsigned n, struct usage *from)
{
	char *p = new_pages(n);

	(void)from;
	for (unsigned i = 0; i < n; i++)
		((volatile char *)p)[(size_t)i * PAGE] = 1;
	munmap(p, (size_t)n * PAGE);
}

static const struct {
	const char *what;
	void (*fn)(unsigned n, struct usage *from);
} kinds[] = {
	{ "spin", do_spin },     { "sleep", do_sleep },         { "poll", do_poll },
	{ "futex", do_futex },   { "heldin", do_heldin },       { "heldout", do_heldout },
	{ "handed", do_handed }, { "expires", do_expires },     { "read", do_read },
	{ "ioctl", do_ioctl },   { "faultwait", do_faultwait }, { "faults", do_faults },
};

bool sim_do__parse(const char *spec, const char *log)
{
	char *copy = strdup(spec), *save = NULL;

	for (char *p = copy ? strtok_r(copy, ",", &save) : NULL;
	     p && ndeeds < sizeof(deeds) / sizeof(deeds[0]); p = strtok_r(NULL, ",", &save)) {
		struct deed *d = &deeds[ndeeds];
		char what[16];

		if (sscanf(p, "%63[^:]:%15[^:]:%u", d->symbol, what, &d->n) != 3)
			continue;
		for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			if (strcmp(kinds[i].what, what) != 0)
				continue;
			d->what = kinds[i].what;
			d->fn = kinds[i].fn;
			ndeeds++;
			break;
		}
	}
	free(copy);
	if (log && ndeeds)
		log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	return ndeeds != 0;
}

static void tell(const struct deed *d, const struct usage *a, const struct usage *b)
{
	dprintf(log_fd, "%s %s %ld %lu %lu %lu %lu %ld %ld %ld %ld\n", d->symbol, d->what,
		syscall(SYS_gettid), a->t, b->t - a->t, b->cpu - a->cpu, b->delay - a->delay,
		b->ru.ru_minflt - a->ru.ru_minflt, b->ru.ru_majflt - a->ru.ru_majflt,
		b->ru.ru_nvcsw - a->ru.ru_nvcsw, b->ru.ru_nivcsw - a->ru.ru_nivcsw);
}

/* The lock of another thread's deed. */
static void hold_as_asked(const struct sim_api *api)
{
	struct deed d = { .what = "holds" };
	struct helper *h = holds;
	struct usage from, to;

	holds = NULL;
	strncpy(d.symbol, api->symbol, sizeof(d.symbol) - 1);
	usage_read(&from);
	if (h->other) {
		nap(h->ms);
		next_turn(&h->other->turn);
	} else {
		hold(h);
	}
	usage_read(&to);
	if (log_fd >= 0)
		tell(&d, &from, &to);
}

void sim_do(const struct sim_api *api)
{
	if (holds)
		hold_as_asked(api);
	for (unsigned i = 0; i < ndeeds; i++) {
		const struct deed *d = &deeds[i];
		struct usage from, to;

		if (strcmp(d->symbol, api->symbol) != 0)
			continue;
		usage_read(&from);
		d->fn(d->n, &from);
		usage_read(&to);
		if (log_fd >= 0)
			tell(d, &from, &to);
	}
}
