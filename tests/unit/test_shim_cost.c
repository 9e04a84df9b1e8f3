/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the shim says that its callbacks took. */
#include "shim_fake.h"

#define TID 4711

/* The last word on callbacks of one kind. */
static bool costs_are(enum gpubpf_callback which, __u64 seen)
{
	struct gpubpf_status s = got_status(GPUBPF_STATUS_COST, (int)which);

	if (s.kind && s.a == seen && s.b > seen / 256 && s.b < seen / 16 && s.d <= s.c && s.c >= s.b * s.e)
		return true;
	printf("# callback %d: %llu seen, %llu timed, %llu ns, longest %llu, clock %llu\n", (int)which, s.a,
	       s.b, s.c, s.d, s.e);
	return false;
}

T(callbacks_of_launches)
{
	enum { N = 5000 };

	for (int session = 0; session < 2; session++) {
		fake_begin();
		attach();
		guard__own();
		CHECK(session__arm(GPUBPF_ARMED_ATTACH, TID));
		for (int i = 0; i < N; i++)
			fake_launch("one", now_ns());
		detach_hello();
		session__disarm(SESSION_ASKED);
		detach();
		CHECK(costs_are(GPUBPF_CALLBACK_ENTER, N) && costs_are(GPUBPF_CALLBACK_LEAVE, N));
		CHECK(!got_status(GPUBPF_STATUS_COST, GPUBPF_CALLBACK_MODULE).kind);
	}
}

TEST_MAIN
