/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sequences, names in parts, and batches that say what cannot be. */
#include "../t.h"

#include "join_fixture.h"

static struct gpubpf_shim *last_batch(void)
{
	return (struct gpubpf_shim *)w.rec[w.n - 1];
}

T(gaps_are_counted_by_process_and_probe)
{
	const struct join_gap *g;

	ready();
	for (unsigned p = 0; p < 2; p++) {
		w.tgid = w.tid = 100 + p;
		arm();
		for (uint32_t i = 1; i <= 6; i++) {
			step(ALL, LAUNCH, i);
			if (i == 2 && p == 0)
				w.sequence[0][GPUBPF_PROBE_CALLS] += 3;
			if (i == 4 && p == 1)
				w.sequence[1][GPUBPF_PROBE_ACTIVITY] += 5;
		}
		disarm();
	}
	feed();
	g = join__totals(w.j)->probe;
	CHECK(g[GPUBPF_PROBE_CALLS].lost_batches == 3 && g[GPUBPF_PROBE_ACTIVITY].lost_batches == 5);
	CHECK(!g[GPUBPF_PROBE_STATUS].lost_batches && g[GPUBPF_PROBE_CALLS].items == 12);
	CHECK(reason("device_gap") && w.l.verdict == LEDGER_INCOMPLETE);
	end();
}

/* They end at 2^64 - 1, and go nowhere from there. */
T(sequences_at_their_end_and_twice)
{
	ready();
	arm();
	w.sequence[0][GPUBPF_PROBE_CALLS] = UINT64_MAX;
	step(ALL, LAUNCH, 1);
	step(ALL, LAUNCH, 2); /* 0 */
	step(ALL, LAUNCH, 3); /* 1 */
	w.sequence[0][GPUBPF_PROBE_CALLS] = 1;
	step(ALL, LAUNCH, 4); /* again */
	disarm();
	feed();
	CHECK(join__totals(w.j)->probe[GPUBPF_PROBE_CALLS].lost_batches == UINT64_MAX - 2);
	CHECK(join__totals(w.j)->probe[GPUBPF_PROBE_CALLS].repeated == 1 && reason("device_repeated"));
	CHECK(line(0)->matched == 4); /* what is there is used */
	check_sums();
	end();
}

T(names_in_parts_in_any_order_twice_and_with_a_hole)
{
	char long_part[117];
	const char *name;

	memset(long_part, 'x', 116);
	long_part[116] = '\0';
	ready();
	arm();
	name_part(1, 2, 3, "end");
	name_part(1, 0, 3, long_part);
	name_part(1, 1, 3, long_part);
	name_part(1, 0, 3, long_part); /* again, for a recorder that came later */
	name_part(2, 0, 2, "half");
	name_part(3, 0, 1, "one");
	name_part(3, 0, 1, "two"); /* which of them? */
	name_part(4, 0, 1, "");
	for (uint32_t i = 1; i <= 5; i++) {
		act.name = i;
		step(ALL, LAUNCH, i);
	}
	disarm();
	feed();
	name = join__name(w.j, join__key(w.j, with_id(1).key)->name);
	CHECK(name && strlen(name) == 235 && strcmp(name + 232, "end") == 0);
	for (uint32_t i = 2; i <= 3; i++) {
		const struct join_key *k = join__key(w.j, with_id(i).key);

		CHECKF(!k->name && k->name_id == i, "name %u", i); /* R9: unknown, and still apart */
	}
	CHECK(strcmp(join__name(w.j, join__key(w.j, with_id(4).key)->name), "") == 0);
	CHECK(!join__key(w.j, with_id(5).key)->name && join__key(w.j, with_id(5).key)->name_id == 5);
	CHECK(with_id(2).key != with_id(3).key);
	CHECK(join__totals(w.j)->names_incomplete == 2 && reason("names_incomplete"));
	end();
}

T(equal_names_of_two_processes_are_one_key)
{
	ready();
	for (unsigned p = 0; p < 2; p++) {
		w.tgid = w.tid = 100 + p;
		arm();
		name_part(1 + p, 0, 1, "same");
		act.name = 1 + p;
		step(ALL, LAUNCH, 1 + p);
		disarm();
	}
	feed();
	CHECK(join__names(w.j) == 1 && join__keys(w.j) == 1 && with_id(1).key == with_id(2).key);
	end();
}

T(items_that_cannot_be_are_counted_and_passed)
{
	const struct join_gap *g;
	struct gpubpf_shim_call call = { .work = 0, .session = 1 };
	struct gpubpf_activity activity = { .kind = 99, .session = 1 };
	struct gpubpf_name name = { .id = 1, .part = 2, .parts = 2 };
	uint8_t junk[16] = { 0 };

	ready();
	arm();
	batch_of(GPUBPF_PROBE_CALLS, &call, sizeof(call), 1);
	batch_of(GPUBPF_PROBE_ACTIVITY, &activity, sizeof(activity), 1);
	batch_of(GPUBPF_PROBE_NAMES, &name, sizeof(name), 1);
	name = (struct gpubpf_name){ .id = 1, .parts = 1, .len = 117 };
	batch_of(GPUBPF_PROBE_NAMES, &name, sizeof(name), 1);
	batch_of(GPUBPF_PROBE_CALLS, junk, 8, 2); /* smaller than an item */
	batch_of(GPUBPF_PROBE_STATUS, junk, 0, 0);
	status(200, 60000, -1, UINT64_MAX, UINT64_MAX); /* of a later version */
	status(GPUBPF_STATUS_LOSS, 60000, 0, 5, 0);
	status(GPUBPF_STATUS_FACILITY, 60000, 5, 0, 0);
	status(GPUBPF_STATUS_COUNTS, 60000, 5, 0, 0);
	step(ALL, LAUNCH, 1);
	disarm();
	feed();
	g = join__totals(w.j)->probe;
	CHECK(g[GPUBPF_PROBE_CALLS].bad_items == 3 && g[GPUBPF_PROBE_ACTIVITY].bad_items == 1 &&
	      g[GPUBPF_PROBE_NAMES].bad_items == 2);
	CHECK(line(0)->matched == 1 && reason("device_bad_items"));
	check_sums();
	end();
}

/* A later shim appends to its items; what is known stands in front. */
T(longer_items_of_a_later_shim)
{
	struct {
		struct gpubpf_shim_call c;
		uint64_t more[3];
	} longer[2];

	ready();
	arm();
	memset(longer, 0xff, sizeof(longer));
	for (uint32_t i = 0; i < 2; i++) {
		host_call("cuLaunchKernel", w.now, w.now + 1000, 0);
		longer[i].c = (struct gpubpf_shim_call){ .start = w.now + 10,
							 .end = w.now + 20,
							 .correlation = 1 + i,
							 .tid = 100,
							 .work = LAUNCH,
							 .session = 1 };
		activity(GPUBPF_ACTIVITY_KERNEL, 1 + i, w.now + 100, w.now + 200);
		w.now += 5000;
	}
	batch_of(GPUBPF_PROBE_CALLS, longer, sizeof(longer[0]), 2);
	disarm();
	feed();
	CHECK(line(0)->matched == 2 && w.l.verdict == LEDGER_RECONCILED);
	end();
}

T(batches_that_could_not_be_read_or_were_cut)
{
	ready();
	arm();
	step(ALL, LAUNCH, 1);
	batch_of(GPUBPF_PROBE_ACTIVITY, "", 0, 0);
	last_batch()->flags = GPUBPF_SHIM_FAULT;
	last_batch()->sent = 64;
	step(ALL, LAUNCH, 2);
	last_batch()->flags = GPUBPF_SHIM_CUT;
	last_batch()->sent = 11;
	disarm();
	feed();
	CHECK(join__totals(w.j)->probe[GPUBPF_PROBE_ACTIVITY].faults == 1 &&
	      join__totals(w.j)->probe[GPUBPF_PROBE_ACTIVITY].cut_items == 10);
	CHECK(line(0)->matched == 2);
	end();
}

/* Sessions without number, sense or end; times at both ends of the clock. */
T(hostile_values_are_safe)
{
	static const uint64_t times[] = { 0, 1, 1000000, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX / 2 };

	ready();
	for (unsigned i = 0; i < 300; i++) {
		uint64_t a = times[i % 6], b = times[i / 6 % 6];

		w.session = i * 2654435761u;
		w.tgid = 100 + i % 3;
		w.now = times[i / 36 % 6];
		status(i % 10, i % 17, (int)i, a, b);
		clock_pair(a, b, b);
		hello(i % 4);
		shim_call(1 + i % 6, i % 5, a, b, (int)i);
		activity(1 + i % 7, i % 5, a, b);
		hostly.flags = i % 256;
		host_call(works[1 + i % 4].symbol, a, b, (int)(i % 3));
		if (i % 7 == 0)
			task(1 + i % 5, i, i);
	}
	feed();
	check_sums();
	for (size_t i = 0; i < join__activities(w.j); i++)
		(void)nth(i);
	end();
}

/* Every call with one id: the chain is not walked for each activity. */
T(one_id_for_all)
{
	ready();
	arm();
	for (unsigned i = 0; i < 500; i++)
		step(ALL, LAUNCH, 7);
	disarm();
	feed();
	CHECK(join__totals(w.j)->links[JOIN_AMBIGUOUS] == 500 && !line(0)->matched);
	check_sums();
	end();
}

/* Ids that go up by sixteen meet in the same places of the index. */
T(ids_that_meet_in_the_index)
{
	ready();
	arm();
	for (uint32_t i = 0; i < 1000; i++)
		step(ALL, LAUNCH, i * 16 + 3);
	disarm();
	feed();
	CHECK(line(0)->matched == 1000);
	for (size_t i = 0; i < 1000; i++)
		CHECK(nth(i).call.entry + 2000 == nth(i).start);
	end();
}

TEST_MAIN
