/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The baseline of the device observer: the least that a CUPTI client does that wants to know when kernels ran. An
 * injection library (CUDA_INJECTION64_PATH); counts kernel records, says so at the end, writes nothing.
 */
#include <cupti.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BUFFER_BYTES (256 * 1024)

static unsigned long kernels;

static void CUPTIAPI requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*size = BUFFER_BYTES;
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

static void at_exit(void)
{
	cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	fprintf(stderr, "cuptibare: %lu kernels\n", kernels);
}

int InitializeInjection(void);
int InitializeInjection(void)
{
	if (cuptiActivityRegisterCallbacks(requested, completed) ||
	    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) {
		fprintf(stderr, "cuptibare: CUPTI refuses\n");
		return 0;
	}
	atexit(at_exit);
	return 1;
}
