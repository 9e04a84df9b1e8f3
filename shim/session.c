// SPDX-License-Identifier: BSD-2-Clause
#include "session.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "batch.h"
#include "buffers.h"
#include "callbacks.h"
#include "clock.h"
#include "decode.h"
#include "driver.h"
#include "gate.h"
#include "guard.h"
#include "modules.h"
#include "phase.h"
#include "report.h"
#include "texts.h"
#include "unified.h"
#include "word.h"

#define MS 1000000ull
#define WAIT_OPEN (20 * MS)       /* for calls that are open when the end is asked for */
#define WAIT_WORK (2000 * MS)     /* for device work; the recorder waits 3 s in all */
#define WAIT_WORK_EXIT (250 * MS) /* of the 500 ms that the exit of a process waits */
#define QUIET (100 * MS)          /* without a record: nothing more is expected */
/* The same where CUPTI holds an empty buffer and calls stay without a record. */
#define QUIET_UNSURE (500 * MS)
#define POLL_US 5000
/*
 * After the clock was registered. The first buffer that comes back makes CUPTI match the clocks for the second time, and
 * what they drift apart until the third, four seconds later, is the error of both by the time between them: 300 us were
 * seen where that had been two milliseconds, 1 us after a second.
 */
#define HOLD (1000 * MS)
#define SETTLE_US 200
#define ACTIVITY_HIT 64

struct kind {
	enum gpubpf_facility facility;
	bool required, wanted;
};

/* Of this process: CUPTI's callbacks carry no pointer of ours, and there is one CUPTI. */
static struct {
	struct cupti cupti;
	cupti_subscriber subscriber;
	struct report report;
	struct decode decode;
	struct kind kinds[11];
	bool latency;
	struct unified unified;
	bool has_timestamp; /* registered, once and for ever */
	uint64_t hold;      /* until then no buffer is asked back but at the end */
	cupti_result timestamp_result;
	uint32_t enabled; /* kinds, a bit each */

	struct gpubpf_activity batch[ACTIVITY_HIT];
	uint32_t nbatch;
	uint64_t device_seen; /* kernels, copies and sets of calls, not of graphs */
	/* Launches of graphs of which a record came; fewer, where they came in another order. */
	uint64_t graphs_seen;
	uint32_t last_graph; /* correlation id of the latest one */
	uint64_t last_seen;  /* when one came last */
	uint64_t dropped, in_flight, bad_said;
	bool ending, forced;
	bool has_first, has_last;
	uint32_t first_correlation; /* earlier ones are of calls that were entered before the session */
	uint32_t last_correlation;  /* ending: later ones are of calls after the session */
	int thread_ids;             /* how CUPTI numbered threads before */
	_Atomic uint32_t gave_up;
} s = {
	.kinds = { { GPUBPF_FACILITY_KERNEL, true, true },
		   { GPUBPF_FACILITY_COPY, true, true },
		   { GPUBPF_FACILITY_COPY_PEER, false, true },
		   { GPUBPF_FACILITY_SET, true, true },
		   { GPUBPF_FACILITY_SYNC, false, false },
		   { GPUBPF_FACILITY_MEMORY, false, false },
		   { GPUBPF_FACILITY_OVERHEAD, false, false },
		   { GPUBPF_FACILITY_EXTERNAL, false, false },
		   { GPUBPF_FACILITY_DRIVER_CALLS, false, false },
		   { GPUBPF_FACILITY_NVTX, false, false },
		   { GPUBPF_FACILITY_NVTX_DATA, false, false } },
};
#define KINDS (sizeof(s.kinds) / sizeof(s.kinds[0]))

#ifdef GPUBPF_SHIM_TEST
struct cupti *session__cupti(void)
{
	return &s.cupti;
}
#endif

void session__configure(const char *kinds)
{
	static const struct {
		const char *word;
		enum gpubpf_facility facility;
	} words[] = { { "sync", GPUBPF_FACILITY_SYNC },         { "synchronization", GPUBPF_FACILITY_SYNC },
		      { "memory", GPUBPF_FACILITY_MEMORY },     { "overhead", GPUBPF_FACILITY_OVERHEAD },
		      { "external", GPUBPF_FACILITY_EXTERNAL }, { "external", GPUBPF_FACILITY_DRIVER_CALLS },
		      { "nvtx", GPUBPF_FACILITY_NVTX },         { "nvtx", GPUBPF_FACILITY_NVTX_DATA } };

	s.latency = word__in(kinds, "latency");
	s.unified.wanted = word__in(kinds, "unified-memory");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		for (size_t k = 0; k < KINDS; k++) {
			if (s.kinds[k].facility == words[i].facility && word__in(kinds, words[i].word))
				s.kinds[k].wanted = true;
		}
	}
}

/* ---- arming ---- */

static int map_all(void)
{
	int e = buffers__map();

	if (!e)
		e = batch__map();
	if (!e)
		e = modules__map();
	return e;
}

/* The callback is the process's: CUPTI keeps it, and a second registration would spoil records. */
static void take_time(void)
{
	if (!s.has_timestamp) {
		s.timestamp_result = ABI_ERROR_NOT_SUPPORTED;
		if (s.cupti.activity_register_timestamp)
			s.timestamp_result = CUPTI(&s.cupti, activity_register_timestamp, clock__timestamp);
		s.has_timestamp = s.timestamp_result == ABI_SUCCESS;
		if (s.has_timestamp && s.report.arming == GPUBPF_ARMED_ATTACH) {
			s.hold = now_ns() + HOLD;
			buffers__widen();
		}
	}
	s.report.time_source = s.has_timestamp ? GPUBPF_TIME_MONOTONIC : GPUBPF_TIME_CUPTI;
	report__facility(&s.report, GPUBPF_FACILITY_TIMESTAMP, s.timestamp_result);
}

static void enable_callbacks(void)
{
	cupti_result first = ABI_SUCCESS, r;

	for (size_t i = 0; i < callbacks_driver_size; i++) {
		uint32_t id = callbacks_driver[i].cbid;

		guard__check("cupti__knows");
		if (!cupti__knows(&s.cupti, ABI_CB_DOMAIN_DRIVER_API, id))
			continue;
		r = CUPTI(&s.cupti, enable_callback, 1, s.subscriber, ABI_CB_DOMAIN_DRIVER_API, id);
		if (r != ABI_SUCCESS && first == ABI_SUCCESS)
			first = r;
	}
	report__facility(&s.report, GPUBPF_FACILITY_CALLBACKS, first);
	first = CUPTI(&s.cupti, enable_callback, 1, s.subscriber, ABI_CB_DOMAIN_RESOURCE,
		      ABI_CBID_RESOURCE_MODULE_LOADED);
	r = CUPTI(&s.cupti, enable_callback, 1, s.subscriber, ABI_CB_DOMAIN_RESOURCE,
		  ABI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
	report__facility(&s.report, GPUBPF_FACILITY_MODULES, first != ABI_SUCCESS ? first : r);
}

static void disable_callbacks(void)
{
	if (s.cupti.enable_domain) {
		CUPTI(&s.cupti, enable_domain, 0, s.subscriber, ABI_CB_DOMAIN_DRIVER_API);
		CUPTI(&s.cupti, enable_domain, 0, s.subscriber, ABI_CB_DOMAIN_RESOURCE);
		return;
	}
	for (size_t i = 0; i < callbacks_driver_size; i++)
		CUPTI(&s.cupti, enable_callback, 0, s.subscriber, ABI_CB_DOMAIN_DRIVER_API,
		      callbacks_driver[i].cbid);
	CUPTI(&s.cupti, enable_callback, 0, s.subscriber, ABI_CB_DOMAIN_RESOURCE,
	      ABI_CBID_RESOURCE_MODULE_LOADED);
	CUPTI(&s.cupti, enable_callback, 0, s.subscriber, ABI_CB_DOMAIN_RESOURCE,
	      ABI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
}

/* Whose numbers the application's own profiler gets afterwards is its affair: leave_thread_ids(). */
static void take_thread_ids(void)
{
	cupti_result r = ABI_ERROR_NOT_SUPPORTED;

	if (s.cupti.get_thread_id_type && s.cupti.set_thread_id_type)
		r = CUPTI(&s.cupti, get_thread_id_type, &s.thread_ids);
	if (r == ABI_SUCCESS)
		r = CUPTI(&s.cupti, set_thread_id_type, ABI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	report__facility(&s.report, GPUBPF_FACILITY_THREAD_IDS, r);
	s.decode.thread_ids = r == ABI_SUCCESS;
}

static void leave_thread_ids(void)
{
	if (s.decode.thread_ids)
		CUPTI(&s.cupti, set_thread_id_type, s.thread_ids);
}

/* 0, or the result of the first required one that was refused; *which says which. */
static cupti_result enable_kinds(enum gpubpf_facility *which)
{
	for (size_t k = 0; k < KINDS; k++) {
		enum gpubpf_facility f = s.kinds[k].facility;
		cupti_result r;

		if (!s.kinds[k].wanted)
			continue;
		if (f == GPUBPF_FACILITY_NVTX)
			take_thread_ids();
		r = CUPTI(&s.cupti, activity_enable, decode__kind_of(f));
		report__facility(&s.report, f, r);
		if (r == ABI_SUCCESS)
			s.enabled |= 1u << k;
		*which = f;
		if (r != ABI_SUCCESS && s.kinds[k].required)
			return r;
	}
	return ABI_SUCCESS;
}

static void disable_kinds(void)
{
	for (size_t k = KINDS; k-- > 0;) {
		if (s.enabled >> k & 1)
			CUPTI(&s.cupti, activity_disable, decode__kind_of(s.kinds[k].facility));
	}
	s.enabled = 0;
	unified__disable(&s.unified, &s.cupti, &s.report);
	leave_thread_ids();
	if (s.report.facility[GPUBPF_FACILITY_LATENCY].tried &&
	    s.report.facility[GPUBPF_FACILITY_LATENCY].result == ABI_SUCCESS)
		CUPTI(&s.cupti, activity_enable_latency, 0);
}

static cupti_result flush(uint32_t flag)
{
	cupti_result r;

	guard__lock();
	r = CUPTI(&s.cupti, activity_flush_all, flag);
	guard__unlock();
	if (r != ABI_SUCCESS && r != s.report.flush_error) {
		s.report.flush_error = r;
		report__one(&s.report, GPUBPF_STATUS_CUPTI_ERROR, GPUBPF_FACILITY_FLUSH, r, 0);
	}
	return r;
}

static void unsubscribe(void)
{
	cupti_result r = CUPTI(&s.cupti, unsubscribe, s.subscriber);

	s.subscriber = NULL;
	if (r != ABI_SUCCESS)
		report__one(&s.report, GPUBPF_STATUS_CUPTI_ERROR, GPUBPF_FACILITY_UNSUBSCRIBE, r, 0);
}

static bool fail(enum gpubpf_reason reason, int value)
{
	s.report.failed = reason;
	s.report.failed_value = value;
	s.report.time_source = 0;
	report__one(&s.report, GPUBPF_STATUS_FAILED, (int)reason, value, 0);
	return false;
}

static void begin(enum gpubpf_arming how)
{
	__u32 session = s.report.session + 1;

	s.report = (struct report){
		.session = session, .arming = how, .began = now_ns(), .clock_ns = clock__look()
	};
	s.enabled = s.nbatch = 0;
	s.device_seen = s.graphs_seen = s.dropped = s.in_flight = s.bad_said = 0;
	s.ending = s.forced = s.has_first = s.has_last = false;
	emit__begin();
}

bool session__arm(enum gpubpf_arming how, __u32 worker_tid)
{
	enum gpubpf_facility which = GPUBPF_FACILITY_SUBSCRIBE;
	enum gpubpf_reason reason;
	cupti_result r;
	int e;

	begin(how);
	/* Says whose thread this is before it makes a call that the recorder would take for the application's. */
	if (worker_tid) {
		report__hello(&s.report, &s.cupti, worker_tid);
		driver__await_init();
	}
	e = cupti__open(&s.cupti);
	if (e)
		return fail((enum gpubpf_reason)e, 0);
	e = map_all();
	if (e)
		return fail(GPUBPF_REASON_MEMORY, e);
	callbacks__init();
	batch__begin();
	modules__begin();
	buffers__begin();
	texts__begin(s.report.session);
	decode__begin(&s.decode, &s.cupti, &texts_kernels, s.report.session);
	s.decode.labels = &texts_labels;

	/* The subscription is the lock: whoever has it keeps his records, so nothing is touched without it. */
	r = CUPTI(&s.cupti, subscribe, &s.subscriber, callbacks__on, NULL);
	report__facility(&s.report, GPUBPF_FACILITY_SUBSCRIBE, r);
	reason = cupti__reason(GPUBPF_FACILITY_SUBSCRIBE, r);
	if (reason)
		return fail(reason, r);
	take_time();
	which = GPUBPF_FACILITY_BUFFERS;
	r = CUPTI(&s.cupti, activity_register_callbacks, buffers__requested, buffers__completed);
	report__facility(&s.report, which, r);
	if (r != ABI_SUCCESS)
		goto refused;
	if (s.latency) {
		report__facility(&s.report, GPUBPF_FACILITY_LATENCY,
				 s.cupti.activity_enable_latency ? CUPTI(&s.cupti, activity_enable_latency, 1)
								 : ABI_ERROR_NOT_SUPPORTED);
	}
	enable_callbacks();
	r = enable_kinds(&which);
	if (r != ABI_SUCCESS)
		goto refused;
	/* With a worker the driver is initialized; inside of cuInit() it is the first tick's. */
	s.unified.pending = s.unified.wanted;
	if (s.unified.pending && worker_tid)
		unified__enable(&s.unified, &s.cupti, &s.report);
	s.report.armed = s.last_seen = now_ns();
	atomic_store(&shim_began, s.report.armed);
	phase__set(s.report.session, PHASE_ON);
	report__state(&s.report);
	report__counts(&s.report, &s.cupti);
	return true;

refused:
	disable_kinds();
	unsubscribe();
	return fail(cupti__reason(which, r), r);
}

__u32 session__number(void)
{
	return s.report.session;
}

void session__outcome(struct gate_outcome *o)
{
	*o = (struct gate_outcome){ .failed = s.report.failed };
	for (int f = 0; f < FACILITIES; f++) {
		o->kinds[f].tried = s.report.facility[f].tried;
		o->kinds[f].result = s.report.facility[f].result;
	}
	o->kinds[GPUBPF_FACILITY_SUBSCRIBE].required = true;
	o->kinds[GPUBPF_FACILITY_BUFFERS].required = true;
	for (size_t k = 0; k < KINDS; k++)
		o->kinds[s.kinds[k].facility].required = s.kinds[k].required;
}

void session__announce(__u32 worker_tid)
{
	report__hello(&s.report, &s.cupti, worker_tid);
	report__state(&s.report);
}

/* ---- armed ---- */

static void send_batch(void)
{
	if (s.nbatch)
		emit__hit(GPUBPF_PROBE_ACTIVITY, s.batch, s.nbatch);
	s.nbatch = 0;
}

static void saw_graph(uint32_t correlation)
{
	if (s.graphs_seen && (int32_t)(correlation - s.last_graph) <= 0)
		return;
	s.last_graph = correlation;
	s.graphs_seen++;
}

static int keep(const struct gpubpf_activity *a, void *arg)
{
	bool device = a->kind >= GPUBPF_ACTIVITY_KERNEL && a->kind <= GPUBPF_ACTIVITY_SET;

	(void)arg;
	/* Of a call that was entered before the callbacks were on: with none seen yet, all are. */
	if (device && s.report.arming == GPUBPF_ARMED_ATTACH &&
	    (!s.has_first || (int32_t)(a->correlation - s.first_correlation) < 0))
		return 0;
	/* Of a call after the end of the session, which went on in the application meanwhile. */
	if (s.ending && s.has_last && device && (int32_t)(a->correlation - s.last_correlation) > 0)
		return 0;
	/* CUPTI gave it back unfinished, as we forced it to. */
	if (s.forced && device && !a->end) {
		s.in_flight++;
		return 0;
	}
	if (device) {
		s.last_seen = now_ns();
		s.device_seen += !(a->flags & GPUBPF_ACTIVITY_HAS_NODE);
	}
	if (a->kind == GPUBPF_ACTIVITY_GRAPH || a->flags & GPUBPF_ACTIVITY_HAS_NODE)
		saw_graph(a->correlation);
	s.batch[s.nbatch++] = *a;
	if (s.nbatch == ACTIVITY_HIT)
		send_batch();
	return 0;
}

/* A buffer that could not be walked to its end is a loss that no count tells. */
static void say_bad_buffers(void)
{
	__u64 bad = __atomic_load_n(&s.decode.bad, __ATOMIC_RELAXED);

	if (bad != s.bad_said)
		report__one(&s.report, GPUBPF_STATUS_CUPTI_ERROR, GPUBPF_FACILITY_BUFFERS,
			    s.decode.bad_result, bad);
	s.bad_said = bad;
}

void session__drain(void)
{
	uint64_t full = buffers__take();
	size_t dropped = 0;

	/* Each time: a thread that slept before its first callback has an earlier one, and had it before its record was. */
	s.has_first = batch__first_correlation(&s.first_correlation);
	for (; full; full &= full - 1) {
		unsigned i = (unsigned)__builtin_ctzll(full);
		size_t valid;
		uint8_t *bytes = buffers__bytes(i, &valid);

		decode__buffer(&s.decode, bytes, valid, keep, NULL);
		buffers__release(i);
	}
	send_batch();
	texts__send();
	modules__send();
	say_bad_buffers();
	if (CUPTI(&s.cupti, activity_get_num_dropped, NULL, 0, &dropped) == ABI_SUCCESS)
		s.dropped += dropped;
}

static void counts(void)
{
	struct batch_totals t;

	batch__totals(&t);
	batch__costs(s.report.spent);
	s.report.losses[GPUBPF_LOSS_CUPTI_DROPPED] = s.dropped;
	s.report.losses[GPUBPF_LOSS_NO_BUFFER] = buffers__unserved();
	s.report.losses[GPUBPF_LOSS_CALLS] = t.lost;
	s.report.losses[GPUBPF_LOSS_NAMES] = texts_kernels.lost;
	s.report.losses[GPUBPF_LOSS_MODULES] = modules__lost();
	s.report.losses[GPUBPF_LOSS_UNKNOWN_KIND] = __atomic_load_n(&s.decode.unknown, __ATOMIC_RELAXED);
	s.report.losses[GPUBPF_LOSS_IN_FLIGHT] = s.in_flight;
	s.report.losses[GPUBPF_LOSS_LABELS] = texts_labels.lost;
	report__counts(&s.report, &s.cupti);
}

void session__tick(void)
{
	if (s.unified.pending)
		unified__enable(&s.unified, &s.cupti, &s.report);
	if (now_ns() >= s.hold)
		flush(0);
	batch__collect();
	session__drain();
}

void session__second(__u32 worker_tid)
{
	session__announce(worker_tid);
	if (!s.report.armed)
		return;
	counts();
	texts__send_again();
}

/* ---- disarming ---- */

static bool gave_up(void)
{
	return atomic_load(&s.gave_up);
}

void session__give_up(void)
{
	atomic_store(&s.gave_up, 1);
}

/* Calls that were entered in time may come to their end, if that is soon: a launch does, a synchronization need not. */
static void stop_calls(enum session_end why, uint64_t *stopped)
{
	*stopped = now_ns();
	if (why != SESSION_DEAD) {
		phase__set(s.report.session, PHASE_ENDING);
		usleep(SETTLE_US); /* what a thread stored before its look at the phase is here by then */
		while (batch__open_device_call() && now_ns() - *stopped < WAIT_OPEN && !gave_up())
			usleep(200);
	}
	phase__set(s.report.session, PHASE_OFF);
	s.has_last = batch__last_correlation(&s.last_correlation);
	s.ending = true;
}

/* How long nothing must have come for nothing more to be expected; UINT64_MAX: something is. */
static uint64_t quiet_enough(uint64_t held, const struct batch_totals *t)
{
	if (!held)
		return QUIET;
	if (buffers__begun(held))
		return UINT64_MAX;
	return s.device_seen >= t->device && s.graphs_seen >= t->graphs ? QUIET : QUIET_UNSURE;
}

/*
 * Polls until what was launched in the session has come back. Each launch, copy and set that the driver took on has one
 * record; but those captured into a graph have none, and a graph launch has who knows how many: with such, until
 * CUPTI holds no buffer with a record in it that it had at the end, and nothing came for a while. An empty buffer it may
 * keep for as long as it likes. False: the deadline passed.
 */
static bool await_work(uint64_t deadline)
{
	uint64_t held = buffers__held(), flushed = 0;
	struct batch_totals t;

	batch__totals(&t);
	s.last_seen = now_ns();
	for (;;) {
		uint64_t now = now_ns();

		/* Where records come by themselves nothing needs to be asked for: a flush under load may not come back. */
		if (now - s.last_seen >= POLL_US * 1000ull || now - flushed >= 50 * MS) {
			flush(0);
			flushed = now;
		}
		session__drain();
		now = now_ns();
		held &= buffers__held();
		if (!t.graphs && s.device_seen >= t.device)
			return true;
		if (now - s.last_seen >= quiet_enough(held, &t))
			return true;
		if (now >= deadline || gave_up() || !emit__any_attached())
			return false;
		usleep(POLL_US);
	}
}

void session__disarm(enum session_end why)
{
	enum gpubpf_disarm code = why == SESSION_EXIT ? GPUBPF_DISARM_EXIT : GPUBPF_DISARM_ASKED;
	uint64_t stopped;

	stop_calls(why, &stopped);
	disable_callbacks();
	if (why != SESSION_DEAD &&
	    !await_work(stopped + (why == SESSION_EXIT ? WAIT_WORK_EXIT : WAIT_WORK)) && why == SESSION_ASKED)
		code = GPUBPF_DISARM_LATE;
	disable_kinds();
	s.forced = true;
	flush(ABI_ACTIVITY_FLAG_FLUSH_FORCED);
	session__drain();
	unsubscribe();
	batch__finish(s.report.session);
	modules__send();
	counts();
	report__one(&s.report, GPUBPF_STATUS_DISARMED, (int)code, 0, stopped);
	s.report.armed = 0;
}
