/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libraries call and gpubpf never does, for static programs alone. Standing before libc and libm in the
 * link, these leave a third of a megabyte out of the program.
 *
 * A static program cannot look names up anyway: glibc's resolver loads plugins, and the linker warns of each
 * caller. libevent could ask; an address as its digits needs no look-up and is answered, the rest is refused.
 *
 * SQLite offers trigonometry to SQL, in every variant that libm has for a processor. No statement of gpubpf
 * uses it, and nobody else's are run.
 */
#include <arpa/inet.h>
#include <math.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **res)
{
	(void)node, (void)service, (void)hints;
	*res = NULL;
	return EAI_FAIL;
}

void freeaddrinfo(struct addrinfo *ai)
{
	(void)ai;
}

const char *gai_strerror(int error)
{
	(void)error;
	return "a static program looks no name up";
}

static int digits(int family, const void *address, in_port_t port, char *host, socklen_t host_size,
		  char *serv, socklen_t serv_size)
{
	if (host && host_size && !inet_ntop(family, address, host, host_size))
		return EAI_OVERFLOW;
	if (serv && serv_size && (size_t)snprintf(serv, serv_size, "%u", ntohs(port)) >= serv_size)
		return EAI_OVERFLOW;
	return 0;
}

int getnameinfo(const struct sockaddr *sa, socklen_t size, char *host, socklen_t host_size, char *serv,
		socklen_t serv_size, int flags)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	(void)flags;
	if (sa->sa_family == AF_INET && size >= sizeof(in)) {
		memcpy(&in, sa, sizeof(in));
		return digits(AF_INET, &in.sin_addr, in.sin_port, host, host_size, serv, serv_size);
	}
	if (sa->sa_family == AF_INET6 && size >= sizeof(in6)) {
		memcpy(&in6, sa, sizeof(in6));
		return digits(AF_INET6, &in6.sin6_addr, in6.sin6_port, host, host_size, serv, serv_size);
	}
	return EAI_FAMILY;
}

struct protoent *getprotobynumber(int number)
{
	(void)number;
	return NULL;
}

struct servent *getservbyname(const char *name, const char *protocol)
{
	(void)name, (void)protocol;
	return NULL;
}

#define NO_TRIGONOMETRY(name)                                                                                \
	double name(double x)                                                                                \
	{                                                                                                    \
		(void)x;                                                                                     \
		return NAN;                                                                                  \
	}

NO_TRIGONOMETRY(acos)
NO_TRIGONOMETRY(acosh)
NO_TRIGONOMETRY(asin)
NO_TRIGONOMETRY(asinh)
NO_TRIGONOMETRY(atan)
NO_TRIGONOMETRY(atanh)
NO_TRIGONOMETRY(cos)
NO_TRIGONOMETRY(cosh)
NO_TRIGONOMETRY(sin)
NO_TRIGONOMETRY(sinh)
NO_TRIGONOMETRY(tan)
NO_TRIGONOMETRY(tanh)

double atan2(double y, double x)
{
	(void)y, (void)x;
	return NAN;
}
