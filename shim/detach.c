// SPDX-License-Identifier: BSD-2-Clause
#include "detach.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver.h"
#include "guard.h"

static struct {
	_Atomic uint32_t tid; /* whose call it is to happen in; 0: nobody wants to leave */
	const struct cupti *cupti;
	bool called;
	cupti_result result;
} d;

bool detach__can(const struct cupti *c)
{
	return c->finalize && c->version >= CUPTI_SINCE_12_6;
}

void detach__on_callback(int domain, uint32_t cbid, const void *data)
{
	const struct cupti_callback_data *call = data;
	uint32_t tid = atomic_load_explicit(&d.tid, memory_order_acquire);

	if (!tid || domain != ABI_CB_DOMAIN_DRIVER_API || cbid != ABI_CBID_cuDriverGetVersion ||
	    call->site != ABI_API_EXIT || tid != (uint32_t)syscall(SYS_gettid))
		return;
	atomic_store(&d.tid, 0);
	d.called = true;
	/* The owner of CUPTI is this thread: the one call that is made from inside a callback. */
	d.result = d.cupti->finalize();
}

bool detach__leave(struct cupti *c, cupti_subscriber s, cupti_result *result)
{
	d.called = false;
	d.cupti = c;
	*result = CUPTI(c, enable_callback, 1, s, ABI_CB_DOMAIN_DRIVER_API, ABI_CBID_cuDriverGetVersion);
	if (*result != ABI_SUCCESS)
		return false;
	atomic_store_explicit(&d.tid, (uint32_t)syscall(SYS_gettid), memory_order_release);
	driver__touch();
	atomic_store(&d.tid, 0);
	*result = d.called ? d.result : ABI_ERROR_NOT_SUPPORTED;
	return *result == ABI_SUCCESS;
}
