// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library that keeps every rule of the profile `shim`, and with one macro defined breaks one of them. The
 * functions do nothing of use; what counts is what the file looks like.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "probes.h"

#define EXPORTED __attribute__((visibility("default")))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#ifdef CALLS
/* Out of a stub library with whatever version the test wants. */
int CALLS(void);
#endif

#ifdef TLS_VARIABLE
__attribute__((used)) static __thread int per_thread = 3;
#endif

#ifdef TLS_DYNAMIC
/* A general-dynamic access, without the variable and without the call behind it. */
#ifdef __x86_64__
__asm__(".weak of_others; .type of_others, %tls_object; .pushsection .text; leaq of_others@tlsgd(%rip), %rdi; .popsection");
#else
__asm__(".weak of_others; .type of_others, %tls_object; .pushsection .text; adrp x0, :tlsgd:of_others;"
	"add x0, x0, :tlsgd_lo12:of_others; .popsection");
#endif
#endif

#ifdef TLS_DESCRIPTOR
#ifdef __x86_64__
__asm__(".weak of_others; .type of_others, %tls_object; .pushsection .text; leaq of_others@tlsdesc(%rip), %rax;"
	"call *of_others@tlscall(%rax); .popsection");
#else
__asm__(".weak of_others; .type of_others, %tls_object; .pushsection .text; adrp x0, :tlsdesc:of_others;"
	"ldr x1, [x0, :tlsdesc_lo12:of_others]; add x0, x0, :tlsdesc_lo12:of_others; .tlsdesccall of_others; blr x1;"
	".popsection");
#endif
#endif

#ifdef TLS_INITIAL_EXEC
#ifdef __x86_64__
__asm__(".weak of_others; .type of_others, %tls_object; .pushsection .text; movq of_others@gottpoff(%rip), %rax;"
	".popsection");
#else
__asm__(".weak of_others; .type of_others, %tls_object; .pushsection .text; adrp x0, :gottprel:of_others;"
	"ldr x0, [x0, :gottprel_lo12:of_others]; .popsection");
#endif
#endif

#ifdef ADDRESS_IN_CODE
__asm__(".pushsection .text; .balign 8; .quad InitializeInjection; .popsection");
#endif

#ifdef MORE_EXPORTS
EXPORTED int leaked(void)
{
	return 1;
}
#endif

static void *work(void *arg)
{
	probes_fire(arg);
	return arg;
}

static int start(void)
{
	pthread_t t;
	int e;

	pthread_mutex_lock(&lock);
	e = getenv("SHIM_LIKE") ? pthread_create(&t, NULL, work, dlopen(NULL, RTLD_NOW)) : 0;
	pthread_mutex_unlock(&lock);
#ifdef CALLS
	e += CALLS();
#endif
	return e;
}

EXPORTED int InitializeInjection(void)
{
	return !start();
}

EXPORTED int InitializeInjectionNvtx(void)
{
	return 0;
}

EXPORTED int InitializeInjectionNvtx2(void)
{
	return 0;
}

#ifdef EXPORT_OF_ANOTHER_TYPE
EXPORTED int gpubpf_shim_start = 1;
#elif !defined(FEWER_EXPORTS)
EXPORTED int gpubpf_shim_start(void)
{
	return start();
}
#endif
