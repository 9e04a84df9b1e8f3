/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launches whose delay is known: behind a kernel of 1 ms in their own stream (`behind`), or in a stream that waits for an
 * event behind one (`awaiting`). --rounds N. Prints how many launches of each it made.
 */
#include "drv.h"

#include <string.h>

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
			  ".visible .entry hold() { // sim-ns: 1000000\nret; }\n"
			  ".visible .entry behind() { // sim-ns: 1000\nret; }\n"
			  ".visible .entry awaiting() { // sim-ns: 1000\nret; }\n";

static void launch(CUfunction f, CUstream s)
{
	CK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, NULL, NULL));
}

int main(int argc, char **argv)
{
	int rounds = argc == 3 && !strcmp(argv[1], "--rounds") ? atoi(argv[2]) : 20;
	CUfunction hold, behind, awaiting;
	CUstream a, b;
	CUmodule m;
	CUevent e;

	drv_start();
	CK(cuModuleLoadData(&m, ptx));
	CK(cuModuleGetFunction(&hold, m, "hold"));
	CK(cuModuleGetFunction(&behind, m, "behind"));
	CK(cuModuleGetFunction(&awaiting, m, "awaiting"));
	CK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
	CK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
	CK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	for (int i = 0; i < rounds; i++) {
		launch(hold, a);
		launch(behind, a);
		CK(cuStreamSynchronize(a));
		launch(hold, a);
		CK(cuEventRecord(e, a));
		CK(cuStreamWaitEvent(b, e, 0));
		launch(awaiting, b);
		CK(cuStreamSynchronize(b));
	}
	CK(cuCtxSynchronize());
	printf("%d\n", rounds);
	return 0;
}
