// SPDX-License-Identifier: GPL-2.0-or-later
#include "stacks/stacks.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events.h"
#include "stackraw.h"
#include "stacks/dw.h"
#include "stacks/mappings.h"
#include "util/clock.h"
#include "util/err.h"

#define SOCKET_BYTES (16 << 20)   /* what waits there is bounded by the kernel … */
#define WAITING_MAX (32ull << 20) /* … and what waits here by this */
#define SILENCE_MS 3000
#define FINISH_NS 15000000000ull

struct waiting {
	struct waiting *next;
	size_t n;
	uint8_t message[];
};

struct stacks {
	pid_t pid;
	int fd;
	bool dead, closing;
	uint64_t taken, resolved;
	struct waiting *first, **last;
	size_t waiting; /* bytes */
	uint8_t *in;
};

bool stacks_names_built(void)
{
	return dw_built();
}

/* Links of probes and the ring are not for it; it holds nothing but its socket. */
static void close_all_but(int fd)
{
	struct dirent *e;
	DIR *d = opendir("/proc/self/fd");

	while (d && (e = readdir(d))) {
		int n = atoi(e->d_name);

		if (n > 2 && n != fd && n != dirfd(d))
			close(n);
	}
	if (d)
		closedir(d);
}

static void resolver(int fd, pid_t parent)
{
	struct rlimit none = { 0, 0 }, files;
	sigset_t signals;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	prctl(PR_SET_NAME, "gpubpf-stacks");
	/* those of the terminal are the recorder's */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigemptyset(&signals);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	setrlimit(RLIMIT_CORE, &none);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	unsetenv("DEBUGINFOD_URLS"); /* no server is asked */
	close_all_but(fd);
	stacks_resolver(fd);
}

static void room(int fd)
{
	int bytes = SOCKET_BYTES;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

int stacks__start(struct stacks **out, struct err *err)
{
	struct stacks *s = calloc(1, sizeof(*s));
	pid_t parent = getpid();
	int pair[2];

	*out = NULL;
	if (!s)
		return -ENOMEM;
	s->last = &s->first;
	s->in = malloc(STACKS_MESSAGE_MAX);
	if (!s->in) {
		free(s);
		return -ENOMEM;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		int e = err_set(err, -errno, "--stacks: no socket pair: %s", strerror(errno));

		free(s->in);
		free(s);
		return e;
	}
	room(pair[0]);
	room(pair[1]);
	s->fd = pair[0];
	s->pid = fork();
	if (!s->pid)
		resolver(pair[1], parent);
	close(pair[1]);
	if (s->pid < 0) {
		int e = err_set(err, -errno, "--stacks: cannot start a process: %s", strerror(errno));

		s->dead = true;
		stacks__free(s);
		return e;
	}
	*out = s;
	return 0;
}

int stacks__fd(const struct stacks *s)
{
	return s->fd;
}

static void died(struct stacks *s)
{
	s->dead = true;
	while (s->first) {
		struct waiting *w = s->first;

		s->first = w->next;
		free(w);
	}
	s->last = &s->first;
	s->waiting = 0;
}

/* False: not now. */
static bool try_send(struct stacks *s, const void *message, size_t n)
{
	if (send(s->fd, message, n, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return true;
	if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR && errno != ENOBUFS)
		died(s);
	return false;
}

static void send_waiting(struct stacks *s)
{
	while (!s->dead && s->first) {
		struct waiting *w = s->first;

		if (!try_send(s, w->message, w->n))
			return;
		s->first = w->next;
		if (!s->first)
			s->last = &s->first;
		s->waiting -= w->n;
		free(w);
	}
}

static void post(struct stacks *s, const struct stacks_message *head, const void *raw, size_t n)
{
	size_t bytes = sizeof(*head) + n;
	struct waiting *w;

	send_waiting(s);
	if (s->dead || s->waiting + bytes > WAITING_MAX)
		return;
	w = malloc(sizeof(*w) + bytes);
	if (!w)
		return;
	w->next = NULL;
	w->n = bytes;
	memcpy(w->message, head, sizeof(*head));
	if (n)
		memcpy(w->message + sizeof(*head), raw, n);
	*s->last = w;
	s->last = &w->next;
	s->waiting += bytes;
	send_waiting(s);
}

void stacks__begun(struct stacks *s, uint32_t tgid, pid_t view)
{
	post(s, &(struct stacks_message){ .what = STACKS_BEGUN, .tgid = tgid, .view = view }, NULL, 0);
}

void stacks__ended(struct stacks *s, uint32_t tgid)
{
	post(s, &(struct stacks_message){ .what = STACKS_ENDED, .tgid = tgid }, NULL, 0);
}

void stacks__mapped(struct stacks *s, pid_t view, const struct mapping *m)
{
	const struct stacks_message head = { .what = STACKS_MAPPED, .view = view };
	size_t len = strlen(m->path);
	struct stacks_mapping body = { m->start, m->end, m->offset, m->ino, m->major, m->minor, "" };

	if (len >= sizeof(body.path))
		return;
	memcpy(body.path, m->path, len);
	post(s, &head, &body, offsetof(struct stacks_mapping, path) + len);
}

void stacks__take(struct stacks *s, const struct stack_raw *raw, pid_t view)
{
	const struct stacks_message m = { .what = STACKS_RAW, .tgid = raw->tgid, .view = view };
	size_t data = raw->how == STACKS_FP ? 8 * (size_t)raw->n : raw->n;

	s->taken++;
	if (data <= STACK_LARGE)
		post(s, &m, raw, sizeof(*raw) + data);
}

/* False: the other side has said its last. It may have gone mad over what it read: nothing is believed unseen. */
static bool take_in(struct stacks *s, void (*fn)(const struct gpubpf_rec *rec, void *arg), void *arg)
{
	for (;;) {
		ssize_t n = recv(s->fd, s->in, STACKS_MESSAGE_MAX, MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		if (n <= 0)
			return false;
		for (size_t at = 0; at + sizeof(struct gpubpf_rec) <= (size_t)n;) {
			const struct gpubpf_rec *rec = (const struct gpubpf_rec *)(s->in + at);

			if (rec->size < sizeof(*rec) || (rec->size & 7) || rec->size > (size_t)n - at ||
			    rec->kind != GPUBPF_REC_STACK || !stacks_record_right(rec))
				break;
			s->resolved += (rec->flags & GPUBPF_STACK_CALL) && s->resolved < s->taken;
			fn(rec, arg);
			at += rec->size;
		}
	}
}

void stacks__read(struct stacks *s, void (*fn)(const struct gpubpf_rec *rec, void *arg), void *arg)
{
	send_waiting(s);
	if (!s->dead && !take_in(s, fn, arg))
		died(s);
}

void stacks__finish(struct stacks *s, void (*fn)(const struct gpubpf_rec *rec, void *arg), void *arg)
{
	uint64_t end = clock_now(CLOCK_MONOTONIC) + FINISH_NS;
	bool more = !s->dead;

	while (more && clock_now(CLOCK_MONOTONIC) < end) {
		struct pollfd p = { .fd = s->fd, .events = POLLIN | (s->first ? POLLOUT : 0) };

		send_waiting(s);
		if (s->dead)
			break;
		if (!s->first && !s->closing) {
			s->closing = true;
			shutdown(s->fd, SHUT_WR);
		}
		if (poll(&p, 1, SILENCE_MS) == 0)
			break;
		more = take_in(s, fn, arg);
	}
	s->dead |= !more && !s->closing;
}

uint64_t stacks__taken(const struct stacks *s)
{
	return s->taken;
}

uint64_t stacks__unresolved(const struct stacks *s)
{
	return s->taken - s->resolved;
}

bool stacks__died(const struct stacks *s)
{
	return s->dead;
}

void stacks__free(struct stacks *s)
{
	if (!s)
		return;
	if (s->pid > 0) {
		kill(s->pid, SIGKILL);
		while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	died(s);
	if (s->fd >= 0)
		close(s->fd);
	free(s->in);
	free(s);
}
