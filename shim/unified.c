// SPDX-License-Identifier: BSD-2-Clause
#include "unified.h"

#include "decode.h"
#include "guard.h"

#define COUNTERS GPUBPF_UNIFIED_COUNTERS

static cupti_result configure(const struct cupti *c, uint32_t counters, uint32_t enable)
{
	struct cupti_unified_config config[COUNTERS];
	uint32_t n = 0;

	for (uint32_t k = 1; k <= COUNTERS; k++) {
		if (counters >> k & 1)
			config[n++] = (struct cupti_unified_config){
				.scope = ABI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE,
				.kind = k,
				.enable = enable,
			};
	}
	return CUPTI(c, activity_configure_unified, config, n);
}

/* One by one, for the answer to each: whole GPUs refuse them all. */
static cupti_result ask(struct unified *u, const struct cupti *c, struct report *r)
{
	cupti_result first = ABI_SUCCESS;

	u->counters = 0;
	for (uint32_t k = 1; k <= COUNTERS; k++) {
		cupti_result result = ABI_ERROR_NOT_SUPPORTED;

		if (c->activity_configure_unified)
			result = configure(c, 1u << k, 1);
		report__facility(r, (enum gpubpf_facility)(GPUBPF_FACILITY_UNIFIED + k), result);
		if (result == ABI_SUCCESS)
			u->counters |= 1u << k;
		else if (first == ABI_SUCCESS)
			first = result;
	}
	/* Nothing says whether a configuration adds to the one before: once more, all in one. */
	if (u->counters)
		first = configure(c, u->counters, 1);
	return first;
}

void unified__enable(struct unified *u, const struct cupti *c, struct report *r)
{
	cupti_result result;

	u->pending = false;
	result = ask(u, c, r);
	if (result == ABI_SUCCESS)
		result = CUPTI(c, activity_enable, decode__kind_of(GPUBPF_FACILITY_UNIFIED));
	report__facility(r, GPUBPF_FACILITY_UNIFIED, result);
	u->enabled = result == ABI_SUCCESS;
}

void unified__disable(struct unified *u, const struct cupti *c, struct report *r)
{
	if (u->pending)
		report__facility(r, GPUBPF_FACILITY_UNIFIED, ABI_ERROR_NOT_READY);
	if (u->enabled)
		CUPTI(c, activity_disable, decode__kind_of(GPUBPF_FACILITY_UNIFIED));
	if (u->counters)
		configure(c, u->counters, 0);
	u->enabled = u->pending = false;
	u->counters = 0;
}
