// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a library inside a foreign process calls, each call once, with its result looked at. Loaded by LD_PRELOAD
 * (or dlopen) it runs at once, prints "floor sample: ok" or the line that failed, and lets the process go on.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MUST(cond)                                                                                           \
	do {                                                                                                 \
		if (!(cond))                                                                                 \
			return __LINE__;                                                                     \
	} while (0)

struct shared {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	sem_t sem;
	int value, forked;
};

static struct shared s = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void in_child(void)
{
	s.forked = 1;
}

static void *worker(void *arg)
{
	pthread_setname_np(pthread_self(), "floor");
	pthread_mutex_lock(&s.lock);
	s.value = *(int *)arg;
	pthread_cond_signal(&s.changed);
	pthread_mutex_unlock(&s.lock);
	sem_post(&s.sem);
	return arg;
}

static int threads(void)
{
	struct timespec until;
	pthread_condattr_t attr;
	pthread_attr_t small;
	int want = 42, e = 0;
	sigset_t all, old;
	pthread_t t;
	void *got;

	MUST(!sem_init(&s.sem, 0, 0));
	MUST(!pthread_condattr_init(&attr) && !pthread_condattr_setclock(&attr, CLOCK_MONOTONIC));
	MUST(!pthread_cond_init(&s.changed, &attr));
	MUST(!pthread_attr_init(&small) && !pthread_attr_setstacksize(&small, 128 << 10));
	sigfillset(&all);
	MUST(!pthread_sigmask(SIG_SETMASK, &all, &old));
	MUST(!pthread_create(&t, &small, worker, &want));
	MUST(!pthread_sigmask(SIG_SETMASK, &old, NULL));
	MUST(!clock_gettime(CLOCK_MONOTONIC, &until));
	until.tv_sec += 20;
	pthread_mutex_lock(&s.lock);
	while (s.value != want && !e)
		e = pthread_cond_timedwait(&s.changed, &s.lock, &until);
	pthread_mutex_unlock(&s.lock);
	MUST(!e && !sem_wait(&s.sem));
	MUST(!pthread_join(t, &got) && got == &want);
	return 0;
}

static int files(void)
{
	const char *dir = getenv("TMPDIR");
	char from[256], to[256], text[32] = "";
	struct stat st;
	void *map;
	int fd;

	snprintf(from, sizeof(from), "%s/floor-%ld", dir ? dir : "/tmp", (long)syscall(SYS_gettid));
	snprintf(to, sizeof(to), "%s.done", from);
	fd = open(from, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	MUST(fd >= 0 && write(fd, "0x11", 4) == 4 && !fsync(fd) && lseek(fd, 0, SEEK_SET) == 0);
	MUST(read(fd, text, sizeof(text)) == 4 && strtoul(text, NULL, 16) == 17);
	MUST(!fstat(fd, &st) && st.st_size == 4 && S_ISREG(st.st_mode));
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	MUST(map != MAP_FAILED && !memcmp(map, "0x11", 4) && !munmap(map, 4096));
	MUST(!close(fd) && !rename(from, to) && stat(from, &st) && errno == ENOENT && !unlink(to));
	return 0;
}

static int others(void)
{
	int *(*where)(void) = NULL;
	void *self = dlopen(NULL, RTLD_NOW);
	char copy[16];
	int status;
	pid_t pid;

	MUST(self);
	*(void **)&where = dlsym(self, "__errno_location");
	MUST(where && where() == &errno && !dlclose(self));
	MUST(!dlopen("/no/such/library", RTLD_NOW) && dlerror());
	memcpy(copy, "sample", 7);
	MUST(!strcmp(copy, "sample") && secure_getenv("PATH"));
	MUST(!pthread_atfork(NULL, NULL, in_child));
	pid = fork();
	if (!pid)
		_exit(s.forked ? 7 : 8);
	MUST(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7);
	MUST(__atomic_add_fetch(&s.forked, 1, __ATOMIC_SEQ_CST) == 1);
	return 0;
}

__attribute__((visibility("default"))) int floor_sample(void)
{
	int line = threads();

	line = line ? line : files();
	return line ? line : others();
}

__attribute__((constructor)) static void at_load(void)
{
	int line = floor_sample();
	char text[80];
	int n = line ? snprintf(text, sizeof(text), "floor sample: line %d: %s\n", line, strerror(errno))
		     : snprintf(text, sizeof(text), "floor sample: ok\n");

	if (write(2, text, (size_t)n) != n)
		abort();
}
