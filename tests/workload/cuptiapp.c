/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An application that is a CUPTI client itself, as one that runs under torch.profiler: it subscribes, counts its
 * kernels' records and its launches' callbacks, and goes on without them where CUPTI refuses. Prints a line of JSON.
 *
 *   cuptiapp [--launches N] [--early | --late] [--wait] [--rest MS] [--unsubscribed] [--leave]
 *
 * --early: subscribes before cuInit, so before any injected library. --late: after half of the launches; a line on
 * standard input lets it, with --wait. Otherwise between cuInit and the first context. --rest: a pause before the end. --unsubscribed:
 * enables its kinds without a subscription, as careless clients do. --leave: gives all up after three quarters.
 */
#include "drv.h"

#include <cupti.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define BUFFER_BYTES 65536

static _Atomic unsigned long kernels, callbacks;
static CUpti_SubscriberHandle handle;
static int subscribed = -1, enabled = -1;

static void CUPTIAPI requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*max_records = 0;
}

static void CUPTIAPI completed(CUcontext ctx, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	CUpti_Activity *record = NULL;

	(void)ctx;
	(void)stream;
	(void)size;
	while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
		kernels += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	free(buffer);
}

static void CUPTIAPI called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	(void)user;
	callbacks += domain == CUPTI_CB_DOMAIN_DRIVER_API && id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel &&
		     ((const CUpti_CallbackData *)data)->callbackSite == CUPTI_API_ENTER;
}

static void profile(bool without)
{
	if (!without) {
		subscribed = cuptiSubscribe(&handle, called, NULL);
		if (subscribed != CUPTI_SUCCESS)
			return;
		cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_DRIVER_API,
				    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
	}
	enabled = cuptiActivityRegisterCallbacks(requested, completed);
	if (enabled == CUPTI_SUCCESS)
		enabled = cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

static void unprofile(void)
{
	if (enabled == CUPTI_SUCCESS) {
		cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
		cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	}
	if (handle)
		cuptiUnsubscribe(handle);
	handle = NULL;
	enabled = -1;
}

int main(int argc, char **argv)
{
	bool early = false, late = false, wait = false, without = false, leave = false;
	unsigned long launches = 1000, rest = 0;
	CUmodule module = NULL;
	CUfunction f;
	int result;

	for (int i = 1; i < argc; i++) {
		early |= strcmp(argv[i], "--early") == 0;
		late |= strcmp(argv[i], "--late") == 0;
		wait |= strcmp(argv[i], "--wait") == 0;
		without |= strcmp(argv[i], "--unsubscribed") == 0;
		leave |= strcmp(argv[i], "--leave") == 0;
		if (strcmp(argv[i], "--launches") == 0 && i + 1 < argc)
			launches = strtoul(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--rest") == 0 && i + 1 < argc)
			rest = strtoul(argv[++i], NULL, 10);
	}
	if (early)
		profile(without);
	CK(cuInit(0));
	if (!early && !late)
		profile(without);
	drv_start();
	f = drv_kernel(&module, "empty_kernel");
	for (unsigned long n = 0; n < launches; n++) {
		if (late && n == launches / 2) {
			if (wait) {
				puts("half");
				fflush(stdout);
				while ((result = getchar()) != EOF && result != '\n')
					;
			}
			profile(without);
		}
		if (leave && n == launches / 4 * 3) {
			CK(cuCtxSynchronize());
			unprofile();
		}
		CK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
	}
	CK(cuCtxSynchronize());
	nanosleep(&(struct timespec){ .tv_sec = (time_t)(rest / 1000),
				      .tv_nsec = (long)(rest % 1000 * 1000000) },
		  NULL);
	result = enabled;
	unprofile();
	printf("{\"launches\":%lu,\"subscribe\":%d,\"enable\":%d,\"kernels\":%lu,\"callbacks\":%lu}\n",
	       launches, subscribed, result, kernels, callbacks);
	return 0;
}
