// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What glibc 2.17 linked into every program out of its libc_nonshared.a, and what a compiler's crtbeginS.o holds:
 * a library that is linked without the newer ones of the building machine brings its own. Hidden in it.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The kernel's struct stat; the older functions take its version first. */
#ifdef __x86_64__
#define STAT_VERSION 1
#else
#define STAT_VERSION 0
#endif

extern void *__dso_handle __attribute__((visibility("hidden")));
void *__dso_handle = &__dso_handle;

extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);
extern int __cxa_atexit(void (*fn)(void *), void *arg, void *dso);
extern void __cxa_finalize(void *dso);
extern int __xstat(int version, const char *path, struct stat *st);
extern int __fxstat(int version, int fd, struct stat *st);
extern int __lxstat(int version, const char *path, struct stat *st);
extern int __fxstatat(int version, int dir, const char *path, struct stat *st, int flags);

int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	return __register_atfork(prepare, parent, child, __dso_handle);
}

int atexit(void (*fn)(void))
{
	return __cxa_atexit((void (*)(void *))(void *)fn, NULL, __dso_handle);
}

int stat(const char *path, struct stat *st)
{
	return __xstat(STAT_VERSION, path, st);
}

int fstat(int fd, struct stat *st)
{
	return __fxstat(STAT_VERSION, fd, st);
}

int lstat(const char *path, struct stat *st)
{
	return __lxstat(STAT_VERSION, path, st);
}

int fstatat(int dir, const char *path, struct stat *st, int flags)
{
	return __fxstatat(STAT_VERSION, dir, path, st, flags);
}

/* dlclose(): what was registered for this library is run now, and forgotten. */
__attribute__((destructor)) static void finalize(void)
{
	__cxa_finalize(__dso_handle);
}
