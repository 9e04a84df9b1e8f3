/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The digest of what ran: fed by hand with activities as the join gives them. */
#include "../t.h"

#include "model/procs.h"
#include "report/device.h"

#define LAUNCH 0
#define GRAPH 1
#define COPY 2

static struct proc process[2];
static struct join_session session[2];
static struct join_lane
	lane[4]; /* process 0: device 0 streams 7 and 8, device 1 stream 7; process 1: device 0 stream 7 */
static struct device *d;
static size_t index_of_next;

static void begin_with(struct device_opts o)
{
	static const uint32_t where[4][3] = { { 0, 0, 7 }, { 0, 0, 8 }, { 0, 1, 7 }, { 1, 0, 7 } };

	memset(process, 0, sizeof(process));
	memset(session, 0, sizeof(session));
	for (int i = 0; i < 2; i++) {
		process[i].tgid = 100 + (uint32_t)i;
		process[i].selected = true;
		session[i].proc = &process[i];
		session[i].has_clock_error = true;
		session[i].clock_error_ns = 50;
	}
	for (int i = 0; i < 4; i++)
		lane[i] = (struct join_lane){ .session = &session[where[i][0]],
					      .device = where[i][1],
					      .context = 1,
					      .stream = where[i][2] };
	index_of_next = 0;
	CHECK(device__new(&o, &d) == 0);
}

static void begin(void)
{
	begin_with((struct device_opts){ 0 });
}

static void add(uint32_t on, struct join_activity a)
{
	a.lane = on;
	if (!a.kind)
		a.kind = GPUBPF_ACTIVITY_KERNEL;
	if (a.has_call && !a.call.proc)
		a.call.proc = lane[on].session->proc;
	if (a.has_call && !a.call.tid)
		a.call.tid = a.call.proc->tgid;
	a.link = a.has_call ? JOIN_JOINED : a.link;
	CHECK(device__add(d, &lane[on], &a, index_of_next++) == 0);
}

/* What ran for a call of its own. */
static void ran(uint32_t on, uint64_t asked, uint64_t start, uint64_t end)
{
	add(on, (struct join_activity){ .start = start,
					.end = end,
					.has_call = true,
					.call = { .entry = asked, .population = LAUNCH } });
}

static void node(uint32_t on, uint64_t asked, uint64_t start, uint64_t end)
{
	add(on, (struct join_activity){ .start = start,
					.end = end,
					.has_node = true,
					.graph = 5,
					.has_call = true,
					.call = { .entry = asked, .population = GRAPH } });
}

static const struct place *device_at(size_t i)
{
	return hmap__at(&d->devices, i);
}

static const struct place *stream_at(size_t i)
{
	return hmap__at(&d->streams, i);
}

static const struct ran *row(size_t i)
{
	return hmap__at(&d->keys, i);
}

static uint64_t p50(const struct hist *h)
{
	uint64_t v = 0;

	CHECK(hist__quantile(h, 0.5, &v));
	return v;
}

T(a_kernel_behind_a_long_one_waited_for_it_C19)
{
	begin();
	ran(0, 1000, 2000, 1002000);
	ran(0, 1500, 1002000, 1002100);
	CHECK(device__finish(d) == 0);
	CHECK(row(0)->delay.n == 2 && row(0)->delay.max == 1000500);
	CHECK(stream_at(0)->waits.delay.max == 1000500);
	CHECK(stream_at(0)->waits.depth.peak == 2);
	CHECK(stream_at(0)->waits.early == 0);
	device__free(d);
}

T(a_start_before_its_call_is_a_violation_and_no_delay_C18)
{
	begin();
	ran(0, 1000, 970, 1100);  /* by 30: the clock error explains it */
	ran(0, 2000, 1900, 2100); /* by 100: it does not */
	ran(0, 3000, 3010, 3100);
	CHECK(device__finish(d) == 0);
	CHECK(row(0)->delay.n == 1 && row(0)->delay.max == 10);
	CHECK(device_at(0)->waits.early == 2 && device_at(0)->waits.delay.n == 1);
	CHECK(d->early[RAN_KERNEL].early == 2 && d->early[RAN_KERNEL].beyond == 1);
	CHECK(d->early[RAN_KERNEL].worst == 100);
	CHECK(device_at(0)->waits.depth.peak == 1);
	/* what it did is still there */
	CHECK(row(0)->time.n == 3 && device_at(0)->n[RAN_KERNEL] == 3);
	device__free(d);
}

T(without_a_bound_every_violation_is_beyond_it_C18)
{
	begin();
	session[0].has_clock_error = false;
	session[0].clock_error_ns = 50; /* means nothing then */
	ran(0, 1000, 999, 1100);
	CHECK(device__finish(d) == 0);
	CHECK(d->early[RAN_KERNEL].early == 1 && d->early[RAN_KERNEL].beyond == 1);
	device__free(d);
}

T(overlap_on_one_stream_is_kept_C25)
{
	begin();
	ran(0, 10, 100, 300);
	ran(0, 20, 200, 400);
	CHECK(device__finish(d) == 0);
	CHECK(stream_at(0)->busy.ran.above_zero == 300);
	CHECK(stream_at(0)->busy.ran.above_one == 100);
	CHECK(stream_at(0)->busy.ran.area == 400);
	CHECK(row(0)->time.sum == 400 && row(0)->records == 2);
	device__free(d);
}

T(a_device_is_busy_when_one_of_its_streams_is)
{
	begin();
	ran(0, 10, 100, 200);
	ran(1, 20, 150, 250);
	ran(0, 30, 300, 400);
	CHECK(device__finish(d) == 0);
	CHECK(d->devices.n == 1 && d->streams.n == 2);
	CHECK(device_at(0)->streams == 2);
	CHECK(device_at(0)->busy.ran.above_zero == 250);
	CHECK(device_at(0)->busy.ran.at_zero == 50);
	CHECK(stream_at(0)->busy.ran.above_zero == 200);
	CHECK(stream_at(1)->busy.ran.above_zero == 100);
	CHECK(device_at(0)->busy.gaps == 1);
	CHECK(device_at(0)->busy.top[0].before == 1 && device_at(0)->busy.top[0].after == 2);
	device__free(d);
}

T(equal_ordinals_of_two_processes_are_two_devices_R17)
{
	begin();
	ran(0, 10, 100, 200);
	ran(3, 10, 120, 220);
	ran(2, 10, 130, 230);
	CHECK(device__finish(d) == 0);
	CHECK(d->devices.n == 3 && d->streams.n == 3);
	CHECK(device_at(0)->busy.ran.above_zero == 100 && device_at(1)->busy.ran.above_zero == 100);
	CHECK(device_at(0)->proc == &process[0] && device_at(1)->proc == &process[1]);
	CHECK(device_at(2)->device == 1);
	device__free(d);
}

T(depth_is_of_a_stream_and_of_a_device)
{
	const struct sweep *s;

	begin();
	/* stream 7 waits 100 … 200 and 110 … 300, stream 8 120 … 220 */
	ran(0, 100, 200, 290);
	ran(1, 120, 220, 230);
	ran(0, 110, 300, 310);
	CHECK(device__finish(d) == 0);
	CHECK(stream_at(0)->waits.depth.peak == 2 && stream_at(1)->waits.depth.peak == 1);
	s = &device_at(0)->waits.depth;
	CHECK(s->peak == 3 && s->first == 100 && s->last == 300);
	CHECK(s->area == 100 + 190 + 100);
	device__free(d);
}

T(depth_does_not_depend_on_the_order_of_the_calls)
{
	begin();
	ran(0, 500, 600, 610); /* asked last, ran first */
	ran(1, 100, 700, 710);
	CHECK(device__finish(d) == 0);
	CHECK(device_at(0)->waits.depth.first == 100 && device_at(0)->waits.depth.peak == 2);
	CHECK(device_at(0)->waits.depth.area == 600 + 100);
	device__free(d);
}

T(a_graph_waits_once_and_has_its_nodes_C5)
{
	const struct graph_run *g;

	begin();
	node(0, 1000, 1200, 1300);
	node(1, 1000, 1250, 1400);
	node(0, 1000, 1300, 1350);
	ran(0, 1100, 1500, 1600);
	CHECK(device__finish(d) == 0);
	CHECK(d->graphs.n == 1);
	g = hmap__at(&d->graphs, 0);
	CHECK(g->nodes == 3 && g->start == 1200 && g->end == 1400 && g->has_graph && g->graph == 5);
	/* the nodes behind the first waited for it, not for the queue */
	CHECK(device_at(0)->waits.delay.n == 2 && p50(&device_at(0)->waits.delay) == 200);
	CHECK(device_at(0)->waits.depth.peak == 2);
	CHECK(row(0)->records == 4 && row(0)->nodes == 3 && row(0)->delay.n == 1);
	device__free(d);
}

T(two_launches_of_one_graph_are_two_runs)
{
	begin();
	node(0, 1000, 1200, 1300);
	node(0, 2000, 2200, 2300);
	CHECK(device__finish(d) == 0);
	CHECK(d->graphs.n == 2);
	device__free(d);
}

T(a_call_with_several_copies_waited_once)
{
	begin();
	for (uint64_t i = 0; i < 3; i++)
		add(0, (struct join_activity){ .kind = GPUBPF_ACTIVITY_COPY,
					       .key = 1,
					       .bytes = 100,
					       .start = 200 + 10 * i,
					       .end = 205 + 10 * i,
					       .has_call = true,
					       .call = { .entry = 150, .population = COPY } });
	CHECK(device__finish(d) == 0);
	CHECK(row(0)->records == 3 && row(0)->bytes == 300 && row(0)->delay.n == 1);
	CHECK(device_at(0)->waits.delay.n == 1);
	device__free(d);
}

T(what_has_no_times_is_in_no_time_and_keeps_the_rest_R21)
{
	begin();
	ran(0, 10, 100, 200);
	add(0, (struct join_activity){ .time = JOIN_TIME_ZERO, .has_call = true, .call = { .entry = 5 } });
	add(0, (struct join_activity){ .time = JOIN_TIME_END_FIRST, .start = 300, .end = 200 });
	add(0, (struct join_activity){ .time = JOIN_TIME_OUTSIDE, .start = 1, .end = 2 });
	/* a duration and no place */
	add(0, (struct join_activity){ .time = JOIN_TIME_UNANCHORED, .start = 7, .end = 17 });
	CHECK(device__finish(d) == 0);
	CHECK(row(0)->records == 5 && row(0)->untimed == 3 && row(0)->time.n == 2 && row(0)->time.sum == 110);
	CHECK(row(0)->delay.n == 1);
	CHECK(device_at(0)->n[RAN_KERNEL] == 1 && device_at(0)->unplaced == 4);
	CHECK(device_at(0)->busy.ran.first == 100 && device_at(0)->busy.ran.above_zero == 100);
	device__free(d);
}

T(nothing_with_times_is_no_window_R14)
{
	double mean;

	begin();
	add(0, (struct join_activity){ .time = JOIN_TIME_ZERO });
	CHECK(device__finish(d) == 0);
	CHECK(!device_at(0)->busy.ran.begun && !device_at(0)->waits.depth.begun);
	CHECK(!sweep__mean(&device_at(0)->waits.depth, &mean));
	device__free(d);
}

T(records_without_a_call_are_kept_by_reason_C5)
{
	begin();
	add(0, (struct join_activity){ .link = JOIN_ORPHAN, .start = 100, .end = 150 });
	add(0, (struct join_activity){ .link = JOIN_NO_HOST_CALL, .start = 200, .end = 260 });
	CHECK(device__finish(d) == 0);
	CHECK(row(0)->unlinked[JOIN_ORPHAN] == 1 && row(0)->unlinked_ns[JOIN_ORPHAN] == 50);
	CHECK(row(0)->unlinked[JOIN_NO_HOST_CALL] == 1 && row(0)->unlinked_ns[JOIN_NO_HOST_CALL] == 60);
	CHECK(row(0)->time.n == 2 && device_at(0)->busy.ran.above_zero == 110);
	CHECK(device_at(0)->waits.delay.n == 0);
	device__free(d);
}

T(only_what_was_asked_for_is_counted)
{
	uint32_t tid = 7;

	begin();
	process[1].selected = false;
	ran(0, 10, 100, 200);
	ran(3, 10, 110, 200);
	CHECK(device__finish(d) == 0);
	CHECK(d->devices.n == 1 && d->left_out == 1);
	device__free(d);

	begin_with((struct device_opts){ .tids = &tid, .ntids = 1 });
	ran(0, 10, 100, 200); /* thread 100 */
	add(0, (struct join_activity){
		       .start = 300, .end = 310, .has_call = true, .call = { .entry = 290, .tid = 7 } });
	add(0, (struct join_activity){ .start = 400, .end = 410, .link = JOIN_ORPHAN });
	CHECK(device__finish(d) == 0);
	CHECK(row(0)->records == 1 && d->left_out == 2);
	device__free(d);
}

T(kinds_of_devices_are_told_apart_R24)
{
	begin_with((struct device_opts){ .by_device = true });
	ran(0, 10, 100, 200);
	ran(2, 10, 120, 220);
	CHECK(device__finish(d) == 0);
	CHECK(d->keys.n == 2 && row(0)->key[1] == 1 && row(1)->key[1] == 2);
	device__free(d);

	begin();
	ran(0, 10, 100, 200);
	ran(2, 10, 120, 220);
	CHECK(device__finish(d) == 0);
	CHECK(d->keys.n == 1 && row(0)->records == 2);
	device__free(d);
}

T(other_activities_are_counted_apart)
{
	begin();
	add(0, (struct join_activity){ .kind = GPUBPF_ACTIVITY_SYNC, .start = 1, .end = 2 });
	CHECK(device__finish(d) == 0);
	CHECK(d->others == 1 && d->devices.n == 0 && d->keys.n == 0);
	device__free(d);
}

TEST_MAIN
