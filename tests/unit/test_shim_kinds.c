/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What GPUBPF_CUPTI asks for beside kernels, copies and sets. */
#include "shim_fake.h"

#define TID 4711

static void disarm(void)
{
	detach_hello();
	session__disarm(SESSION_ASKED);
	detach();
}

static size_t got_facilities(unsigned facility)
{
	size_t n = 0;

	for (size_t i = 0; i < got.nstatuses; i++)
		n += got.statuses[i].kind == GPUBPF_STATUS_FACILITY && got.statuses[i].code == facility;
	return n;
}

T(kinds_by_wish)
{
	session__configure("sync,overhead,external,latency,nvtx,nonsense");
	fake_begin();
	attach();
	guard__own();
	CHECK(session__arm(GPUBPF_ARMED_ATTACH, TID));
	CHECKF(strstr(fake.log, "+10 +1 +22 +2 +38 +17 +39 +4 +12 +13 ") != NULL, "%s", fake.log);
	CHECK(got_status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_LATENCY).value == ABI_ERROR_NOT_SUPPORTED);
	CHECK(got_status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_THREAD_IDS).value ==
	      ABI_ERROR_NOT_SUPPORTED);
	disarm();
}

T(unified_memory_is_not_asked_for_inside_cuInit)
{
	session__configure("unified-memory");
	fake_begin();
	attach();
	guard__own();
	CHECK(session__arm(GPUBPF_ARMED_INLINE, 0));
	CHECK(!GOT(got_facilities(GPUBPF_FACILITY_UNIFIED)));
	disarm();
	CHECK(got_status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_UNIFIED).value == ABI_ERROR_NOT_READY);
	CHECK(!GOT(got_facilities(GPUBPF_FACILITY_UNIFIED + 1)));
	fake_begin();
	attach();
	CHECK(session__arm(GPUBPF_ARMED_ATTACH, TID));
	for (unsigned k = 1; k <= GPUBPF_UNIFIED_COUNTERS; k++)
		CHECK(got_status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_UNIFIED + k).value ==
		      ABI_ERROR_NOT_SUPPORTED);
	CHECK(got_status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_UNIFIED).value == ABI_ERROR_NOT_SUPPORTED);
	disarm();
}

TEST_MAIN
