/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launches, and the kernels a program brings: those that nvcc registers before main (a table from the host
 * stub's address to the name), loaded when first launched, and those of cudaLibraryLoadData.
 */
#include "rt.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct fatbin {
	const void *wrapper;
	CUlibrary library;
};

struct entry {
	const void *host; /* the key */
	struct fatbin *fatbin;
	const char *name;
	CUkernel kernel;
	CUfunction func;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct entry *entries; /* open addressing; a power of two of slots, at most half of them used */
static size_t slots, used;

static struct entry *slot(struct entry *table, size_t n, const void *host)
{
	size_t i = ((uintptr_t)host >> 4) * 0x9e3779b97f4a7c15ull >> 32;

	for (;; i++) {
		struct entry *e = &table[i & (n - 1)];

		if (!e->host || e->host == host)
			return e;
	}
}

static bool grow(void)
{
	size_t n = slots ? slots * 2 : 64;
	struct entry *table = calloc(n, sizeof(*table));

	if (!table)
		return false;
	for (size_t i = 0; i < slots; i++)
		if (entries[i].host)
			*slot(table, n, entries[i].host) = entries[i];
	free(entries);
	entries = table;
	slots = n;
	return true;
}

static cudaError_t resolve(const struct drv *d, struct entry *e)
{
	CUresult r = CUDA_SUCCESS;

	if (!e->fatbin->library)
		r = d->cuLibraryLoadData(&e->fatbin->library, e->fatbin->wrapper, NULL, NULL, 0, NULL, NULL,
					 0);
	if (r == CUDA_SUCCESS && !e->kernel)
		r = d->cuLibraryGetKernel(&e->kernel, e->fatbin->library, e->name);
	if (r == CUDA_SUCCESS && !e->func)
		r = d->cuKernelGetFunction(&e->func, e->kernel);
	return (cudaError_t)r;
}

/* Looks a host stub up and resolves it; false: `func` is none. */
static bool registered(const struct drv *d, const void *func, struct entry *out, cudaError_t *error)
{
	struct entry *e = NULL;
	bool known;

	*error = cudaSuccess;
	pthread_rwlock_rdlock(&lock);
	if (slots)
		e = slot(entries, slots, func);
	known = e && e->host;
	if (known)
		*out = *e;
	pthread_rwlock_unlock(&lock);
	if (!known || out->func)
		return known;
	pthread_rwlock_wrlock(&lock);
	e = slot(entries, slots, func);
	*error = resolve(d, e);
	*out = *e;
	pthread_rwlock_unlock(&lock);
	return true;
}

/* A host stub's function; anything else is taken as a cudaKernel_t, which the driver checks. */
CUfunction rt_function(const struct drv *d, const void *func, cudaError_t *error)
{
	struct entry e;

	if (registered(d, func, &e, error))
		return e.func;
	if (!func)
		*error = cudaErrorInvalidDeviceFunction;
	return (CUfunction)(uintptr_t)func;
}

static cudaError_t translate(CUresult r)
{
	/* A shape that the device refuses has a code of its own in the runtime. */
	return r == CUDA_ERROR_INVALID_VALUE ? cudaErrorInvalidConfiguration : (cudaError_t)r;
}

static cudaError_t launch(const struct drv *d, const void *func, dim3 g, dim3 b, void **args, size_t smem,
			  cudaStream_t stream)
{
	cudaError_t error;
	CUfunction f = rt_function(d, func, &error);

	if (error != cudaSuccess)
		return error;
	return translate(
		d->cuLaunchKernel(f, g.x, g.y, g.z, b.x, b.y, b.z, (unsigned)smem, stream, args, NULL));
}

static cudaError_t launch_cooperative(const struct drv *d, const void *func, dim3 g, dim3 b, void **args,
				      size_t smem, cudaStream_t stream)
{
	cudaError_t error;
	CUfunction f = rt_function(d, func, &error);

	if (error != cudaSuccess)
		return error;
	return translate(
		d->cuLaunchCooperativeKernel(f, g.x, g.y, g.z, b.x, b.y, b.z, (unsigned)smem, stream, args));
}

/* The attributes of both interfaces have one layout. */
static cudaError_t launch_ex(const struct drv *d, const cudaLaunchConfig_t *c, const void *func, void **args)
{
	CUlaunchConfig config;
	cudaError_t error;
	CUfunction f = rt_function(d, func, &error);

	if (error != cudaSuccess)
		return error;
	if (!c)
		return cudaErrorInvalidValue;
	config = (CUlaunchConfig){ .gridDimX = c->gridDim.x,
				   .gridDimY = c->gridDim.y,
				   .gridDimZ = c->gridDim.z,
				   .blockDimX = c->blockDim.x,
				   .blockDimY = c->blockDim.y,
				   .blockDimZ = c->blockDim.z,
				   .sharedMemBytes = (unsigned)c->dynamicSmemBytes,
				   .hStream = c->stream,
				   .attrs = (CUlaunchAttribute *)c->attrs,
				   .numAttrs = c->numAttrs };
	return translate(d->cuLaunchKernelEx(&config, f, args, NULL));
}

RT_CALL2(cudaLaunchKernel, cudaLaunchKernel_ptsz,
	 (const void *func, dim3 grid, dim3 block, void **args, size_t smem, cudaStream_t stream),
	 launch(d, func, grid, block, args, smem, stream))
RT_CALL2(cudaLaunchCooperativeKernel, cudaLaunchCooperativeKernel_ptsz,
	 (const void *func, dim3 grid, dim3 block, void **args, size_t smem, cudaStream_t stream),
	 launch_cooperative(d, func, grid, block, args, smem, stream))
RT_CALL2(cudaLaunchKernelExC, cudaLaunchKernelExC_ptsz,
	 (const cudaLaunchConfig_t *config, const void *func, void **args), launch_ex(d, config, func, args))

RT_CALL(cudaLibraryLoadData,
	(cudaLibrary_t * library, const void *code, enum cudaJitOption *jitopts, void **jitvals,
	 unsigned int njit, enum cudaLibraryOption *libopts, void **libvals, unsigned int nlib),
	d->cuLibraryLoadData((CUlibrary *)library, code, (CUjit_option *)(void *)jitopts, jitvals, njit,
			     (CUlibraryOption *)(void *)libopts, libvals, nlib))
RT_CALL(cudaLibraryGetKernel, (cudaKernel_t * kernel, cudaLibrary_t library, const char *name),
	d->cuLibraryGetKernel((CUkernel *)kernel, (CUlibrary)library, name))
RT_CALL(cudaLibraryUnload, (cudaLibrary_t library), d->cuLibraryUnload((CUlibrary)library))

/* ---- what code compiled by nvcc calls ---- */
struct call_config {
	dim3 grid, block;
	size_t smem;
	void *stream;
};

static __thread struct call_config pushed[8];
static __thread unsigned npushed;

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads,
			    uint3 *tid, uint3 *bid, dim3 *bdim, dim3 *gdim, int *wsize);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size,
		       int constant, int global);
char __cudaInitModule(void **handle);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t smem, void *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *smem, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t smem,
			       cudaStream_t stream);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t smem,
				    cudaStream_t stream);

RT_EXPORT void **__cudaRegisterFatBinary(void *wrapper)
{
	struct fatbin *f = calloc(1, sizeof(*f));

	if (f)
		f->wrapper = wrapper;
	return (void **)f;
}

RT_EXPORT void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

/* At exit: the process gives everything back anyway, and the driver may already be gone. */
RT_EXPORT void __cudaUnregisterFatBinary(void **handle)
{
	(void)handle;
}

RT_EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
				      int threads, uint3 *tid, uint3 *bid, dim3 *bdim, dim3 *gdim, int *wsize)
{
	(void)device, (void)threads, (void)tid, (void)bid, (void)bdim, (void)gdim, (void)wsize;
	if (!handle || !host)
		return;
	pthread_rwlock_wrlock(&lock);
	if (used * 2 < slots || grow()) {
		struct entry *e = slot(entries, slots, host);

		used += !e->host;
		*e = (struct entry){ .host = host, .fatbin = (struct fatbin *)handle, .name = name };
	}
	pthread_rwlock_unlock(&lock);
}

RT_EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
				 size_t size, int constant, int global)
{
	(void)handle, (void)host, (void)device, (void)name, (void)ext, (void)size, (void)constant,
		(void)global;
}

RT_EXPORT char __cudaInitModule(void **handle)
{
	return handle != NULL;
}

RT_EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t smem, void *stream)
{
	if (npushed == sizeof(pushed) / sizeof(pushed[0]))
		return 1;
	pushed[npushed++] = (struct call_config){ grid, block, smem, stream };
	return 0;
}

RT_EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *smem, void *stream)
{
	const struct call_config *c;

	if (npushed == 0)
		return rt_done(cudaErrorInvalidConfiguration);
	c = &pushed[--npushed];
	*grid = c->grid;
	*block = c->block;
	*smem = c->smem;
	*(void **)stream = c->stream;
	return cudaSuccess;
}

static cudaError_t get_kernel(const struct drv *d, cudaKernel_t *kernel, const void *host)
{
	cudaError_t error;
	struct entry e;

	if (!registered(d, host, &e, &error))
		return cudaErrorInvalidDeviceFunction;
	*kernel = (cudaKernel_t)e.kernel;
	return error;
}

RT_CALL(__cudaGetKernel, (cudaKernel_t * kernel, const void *host), get_kernel(d, kernel, host))
RT_CALL(cudaGetKernel, (cudaKernel_t * kernel, const void *host), get_kernel(d, kernel, host))
RT_CALL2(__cudaLaunchKernel, __cudaLaunchKernel_ptsz,
	 (cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t smem, cudaStream_t stream),
	 launch(d, (const void *)kernel, grid, block, args, smem, stream))
