/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * First launches with lazily loaded code: each of 48 kernels is launched twice, and how long cudaLaunchKernel took is
 * printed as one line of JSON, of all first and of all second launches.
 */
#include <cstdio>
#include <cuda_runtime.h>
#include <time.h>

#define KERNELS 48

template <int N> __global__ void lazy_kernel(float *x)
{
	for (int i = 0; i < N; i++)
		x[threadIdx.x] = x[threadIdx.x] * 1.0001f + (float)N;
}

static double now()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

template <int N> static void launch(float *x, double *took)
{
	void *args[] = { &x };
	double start = now();

	cudaLaunchKernel((const void *)lazy_kernel<N>, dim3(1), dim3(32), args, 0, 0);
	*took += now() - start;
	if constexpr (N > 1)
		launch<N - 1>(x, took);
}

int main()
{
	double first = 0, again = 0;
	float *x = NULL;

	if (cudaMalloc((void **)&x, 4096) != cudaSuccess)
		return 1;
	cudaDeviceSynchronize();
	launch<KERNELS>(x, &first);
	cudaDeviceSynchronize();
	launch<KERNELS>(x, &again);
	if (cudaDeviceSynchronize() != cudaSuccess)
		return 1;
	printf("{\"kernels\":%d,\"first_ns\":%.0f,\"again_ns\":%.0f}\n", KERNELS, first, again);
	return 0;
}
