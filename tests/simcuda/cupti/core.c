/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options, the log, failures and delays on demand, the way to the simulated driver, clocks, forks. */
#include "sc.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct sc sc = { .state = PTHREAD_MUTEX_INITIALIZER };
__thread enum sc_in sc_in;
static __thread CUptiResult last_error;

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t sc_monotonic(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t sc_timestamp(void)
{
	CUpti_TimestampCallbackFunc clock = sc.clock;
	enum sc_in was = sc_in;
	uint64_t t;

	if (!clock)
		return clock_ns(CLOCK_REALTIME);
	sc_in = SC_IN_CLOCK;
	t = clock();
	sc_in = was;
	return t;
}

void sc_match_clocks(void)
{
	for (int i = 0; i < 5; i++)
		sc_timestamp();
}

/* ---- the log: SEQUENCE NANOSECONDS PID TID WHERE TEXT ---- */
static int log_fd = -1;

void sc_log(const char *format, ...)
{
	static const char *const where[] = { "-", "api", "resource", "request", "complete", "clock" };
	static _Atomic uint64_t sequence;
	char line[256];
	va_list args;
	int n, m;

	if (log_fd < 0)
		return;
	n = snprintf(line, sizeof(line), "%llu %llu %d %ld %s ", (unsigned long long)sequence++,
		     (unsigned long long)sc_monotonic(), (int)getpid(), syscall(SYS_gettid), where[sc_in]);
	va_start(args, format);
	m = vsnprintf(line + n, sizeof(line) - (size_t)n - 1, format, args);
	va_end(args);
	n = n + m < (int)sizeof(line) - 1 ? n + m : (int)sizeof(line) - 2;
	line[n++] = '\n';
	while (write(log_fd, line, (size_t)n) < 0 && errno == EINTR)
		;
}

/* ---- FUNCTION:ARG:VALUE[:N][,…] of SIMCUPTI_FAIL and SIMCUPTI_DELAY ---- */
struct rule {
	char function[64];
	bool any_arg;
	uint64_t arg, value, nth; /* nth 0: always */
	_Atomic uint64_t calls;
};

#define RULES_MAX 32
static struct rules {
	struct rule rule[RULES_MAX];
	unsigned count;
} failures, delays;

static void parse_rules(struct rules *rules, const char *spec)
{
	char *copy = spec ? strdup(spec) : NULL, *save = NULL;

	for (char *p = copy ? strtok_r(copy, ",", &save) : NULL; p && rules->count < RULES_MAX;
	     p = strtok_r(NULL, ",", &save)) {
		struct rule *r = &rules->rule[rules->count];
		char *arg = strchr(p, ':'), *value = arg ? strchr(arg + 1, ':') : NULL;
		char *nth = value ? strchr(value + 1, ':') : NULL;

		if (!value || arg - p >= (long)sizeof(r->function))
			continue;
		memcpy(r->function, p, (size_t)(arg - p));
		r->any_arg = arg[1] == '*';
		r->arg = strtoull(arg + 1, NULL, 10);
		r->value = strtoull(value + 1, NULL, 10);
		r->nth = nth && nth[1] != '*' ? strtoull(nth + 1, NULL, 10) : 0;
		rules->count++;
	}
	free(copy);
}

static bool pick(struct rules *rules, const char *function, uint64_t arg, uint64_t *value)
{
	bool hit = false;

	for (unsigned i = 0; i < rules->count; i++) {
		struct rule *r = &rules->rule[i];
		uint64_t n;

		if (strcmp(r->function, function) != 0 || (!r->any_arg && r->arg != arg))
			continue;
		n = ++r->calls;
		if (r->nth == 0 || r->nth == n) {
			*value = r->value;
			hit = true;
		}
	}
	return hit;
}

static void sleep_ms(uint64_t ms)
{
	struct timespec ts = { .tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000 * 1000000) };

	while (nanosleep(&ts, &ts) != 0 && errno == EINTR)
		;
}

static void refuse(const char *name, const char *why)
{
	fprintf(stderr, "simulated CUPTI: %s %s\n", name, why);
	sc_log("! abort %s %s", name, why);
	abort();
}

bool sc_enter(struct sc_call *call, const char *name, uint64_t arg, unsigned flags)
{
	const struct sim_private *d = sc.driver;
	uint64_t value;

	call->name = name;
	sc_log("> %s %llu", name, (unsigned long long)arg);
	if ((sc.opt.abort & SC_ABORT_CALLBACK) && (flags & SC_OWNER) && sc_in != SC_IN_NONE)
		refuse(name, "was called from inside a callback");
	if ((sc.opt.abort & SC_ABORT_INIT) && (flags & SC_OWNER) && d && d->initializing())
		refuse(name, "was called while another thread is inside the first cuInit");
	if ((sc.opt.abort & SC_ABORT_CONTEXT) && (flags & SC_OWNER) && d && d->making_context())
		refuse(name, "was called while another thread is making a context");
	if (pick(&delays, name, arg, &value))
		sleep_ms(value);
	if (sc.dead) {
		sc_leave(call, CUPTI_ERROR_NOT_INITIALIZED);
		return false;
	}
	if (pick(&failures, name, arg, &value)) {
		sc_leave(call, (CUptiResult)value);
		return false;
	}
	return true;
}

CUptiResult sc_leave(struct sc_call *call, CUptiResult result)
{
	call->result = result;
	if (result != CUPTI_SUCCESS && result != CUPTI_ERROR_MAX_LIMIT_REACHED)
		last_error = result;
	sc_log("< %s %d", call->name, (int)result);
	return result;
}

CUptiResult sc_last_error(void)
{
	CUptiResult result = last_error;

	last_error = CUPTI_SUCCESS;
	return result;
}

/* ---- the driver ---- */
const struct sim_private *sc_attach(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	const struct sim_private *d = sc.driver;
	void *lib;

	if (d)
		return d;
	pthread_mutex_lock(&lock);
	d = sc.driver;
	if (!d) {
		lib = dlopen("libcuda.so.1", RTLD_NOW);
		d = lib ? dlsym(lib, "simcuda_private") : NULL;
		if (d && d->abi != SIM_TRACE_ABI)
			d = NULL;
		if (d)
			sc_callback_setup(d);
		sc.driver = d;
	}
	pthread_mutex_unlock(&lock);
	return d;
}

/* As in the driver, there is no way back for a thread that holds the lock for writing. */
void sc_lock_driver(const struct sim_private *d)
{
	if (pthread_rwlock_rdlock(d->driver_lock) == 0)
		return;
	sc_log("! hung: the driver's lock is this thread's own");
	for (;;)
		pause();
}

/* ---- start, fork ---- */
static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);
	char *end;
	uint64_t v;

	if (!s || !*s)
		return otherwise;
	v = strtoull(s, &end, 10);
	return *end ? otherwise : v;
}

static unsigned words(const char *name, const char *const *list, unsigned n)
{
	const char *s = getenv(name);
	unsigned bits = 0;

	for (unsigned i = 0; s && i < n; i++) {
		const char *at = strstr(s, list[i]);

		if (at && (at == s || at[-1] == ',') && strchr(",", at[strlen(list[i])]))
			bits |= 1u << i;
	}
	return bits;
}

static void before_fork(void)
{
	if (sc.opt.order & SC_ORDER_FORK) {
		sc_hold_flush(true);
		sc_await_flush("fork");
	}
}

static void after_fork(void)
{
	if (sc.opt.order & SC_ORDER_FORK)
		sc_hold_flush(false);
}

static void in_child(void)
{
	sc.dead = true;
	sc.kinds = 0;
	sc.subscriber = NULL;
	sc_in = SC_IN_NONE;
}

__attribute__((constructor)) static void setup(void)
{
	static const char *const orders[] = { "flush-before-callback", "flush-before-fork",
					      "flush-before-exit" };
	static const char *const aborts[] = { "callback", "init", "context" };
	const char *log = getenv("SIMCUPTI_LOG");

	sc.opt.correlation = (uint32_t)number("SIMCUPTI_CORRELATION", 1);
	sc.correlation = sc.opt.correlation;
	sc.opt.version = (uint32_t)number("SIMCUPTI_VERSION", sc_built_version);
	sc.opt.lost = number("SIMCUPTI_LOST", 0);
	sc.opt.drop = number("SIMCUPTI_DROP", 0);
	sc.opt.zero = number("SIMCUPTI_ZERO", 0);
	sc.opt.backward = number("SIMCUPTI_BACKWARD", 0);
	sc.opt.early_ns = number("SIMCUPTI_EARLY_NS", 0);
	sc.opt.flush_ms = number("SIMCUPTI_FLUSH_MS", 0);
	sc.opt.order_ms = number("SIMCUPTI_ORDER_MS", 5000);
	sc.opt.device_launched = number("SIMCUPTI_DEVICE_LAUNCHED", 0);
	sc.opt.hold = number("SIMCUPTI_HOLD", 0) != 0;
	sc.opt.empty = number("SIMCUPTI_EMPTY", 0) != 0;
	sc.opt.order = words("SIMCUPTI_ORDER", orders, 3);
	sc.opt.abort = words("SIMCUPTI_ABORT", aborts, 3);
	parse_rules(&failures, getenv("SIMCUPTI_FAIL"));
	parse_rules(&delays, getenv("SIMCUPTI_DELAY"));
	if (log && *log)
		log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	pthread_atfork(before_fork, after_fork, in_child);
}
