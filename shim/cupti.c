/* SPDX-License-Identifier: BSD-2-Clause */
#include "cupti.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "find.h"

/* The driver of this process, which is loaded: it called us. 0: not known. */
static uint32_t driver_version(void)
{
	char path[CUPTI_PATH_MAX];
	int (*get)(int *) = NULL;
	int version = 0;
	void *driver;

	if (!find__in_process(0, find__is_driver, path, sizeof(path)))
		return 0;
	driver = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (!driver)
		return 0;
	*(void **)&get = dlsym(driver, "cuDriverGetVersion");
	if (get && get(&version))
		version = 0;
	dlclose(driver);
	return version > 0 ? version : 0;
}

/* The first required symbol that the library lacks, or NULL. */
static const char *load_symbols(struct cupti *c, void *handle)
{
#define X(name, args, symbol)                                                                                \
	*(void **)&c->name = dlsym(handle, symbol);                                                          \
	if (!c->name)                                                                                        \
		return symbol;
	CUPTI_REQUIRED(X)
#undef X
#define X(name, args, symbol) *(void **)&c->name = dlsym(handle, symbol);
	CUPTI_OPTIONAL(X)
#undef X
	return NULL;
}

static void keep_path(struct cupti *c, const char *path)
{
	char real[PATH_MAX];
	const char *from = realpath(path, real) ? real : path;
	size_t n = strlen(from), skip = n < sizeof(c->path) ? 0 : n - sizeof(c->path) + 1;

	memcpy(c->path, from + skip, n - skip + 1);
}

/* find_visit: 1 when it is the one. */
static int try_file(const char *path, enum cupti_source source, void *arg)
{
	int mode = RTLD_NOW | RTLD_LOCAL | (source == CUPTI_FROM_PROCESS ? RTLD_NOLOAD : 0);
	void *handle = dlopen(path, mode), *inside;
	struct cupti *c = arg;
	Dl_info info;

	if (!handle) {
		c->tried += source != CUPTI_FROM_LOADER;
		return 0;
	}
	c->missing = load_symbols(c, handle);
	/* Records of CUPTI 10 and before have other layouts. */
	if (!c->missing && (c->get_version(&c->version) != ABI_SUCCESS || c->version < CUPTI_SINCE_11_0))
		c->missing = "cuptiGetVersion";
	if (c->missing) {
		c->tried++;
		dlclose(handle);
		return 0;
	}
	c->handle = handle;
	c->source = source;
	*(void **)&inside = *(void **)&c->get_version;
	keep_path(c, dladdr(inside, &info) && info.dli_fname ? info.dli_fname : path);
	return 1;
}

int cupti__open(struct cupti *c)
{
	struct find f = {
		.root = "",
		.setting = secure_getenv("GPUBPF_CUPTI_PATH"),
		.library_path = secure_getenv("LD_LIBRARY_PATH"),
		.mapped = find__in_process,
	};

	if (c->handle)
		return 0;
	f.home = secure_getenv("CUDA_HOME");
	if (!f.home)
		f.home = secure_getenv("CUDA_PATH");
	c->driver_version = driver_version();
	f.major = c->driver_version / 1000;
	c->tried = 0;
	c->missing = NULL;
	if (find__each(&f, try_file, c))
		return 0;
	c->version = 0;
	return c->missing ? GPUBPF_REASON_CUPTI_INCOMPLETE : GPUBPF_REASON_CUPTI_MISSING;
}

bool cupti__knows(const struct cupti *c, int domain, uint32_t cbid)
{
	const char *name = NULL;

	if (!c->get_callback_name ||
	    (domain != ABI_CB_DOMAIN_DRIVER_API && domain != ABI_CB_DOMAIN_RUNTIME_API))
		return true;
	return c->get_callback_name(domain, cbid, &name) == ABI_SUCCESS && name;
}

enum gpubpf_reason cupti__reason(enum gpubpf_facility facility, cupti_result r)
{
	switch (r) {
	case ABI_SUCCESS:
		return 0;
	case ABI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
		return GPUBPF_REASON_SECOND_SUBSCRIBER;
	case ABI_ERROR_INSUFFICIENT_PRIVILEGES:
	case ABI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
		return GPUBPF_REASON_NOT_PERMITTED;
	case ABI_ERROR_OUT_OF_MEMORY:
		return GPUBPF_REASON_MEMORY;
	/* What older versions say to a second subscriber, and any when a profiler of the old interface is there. */
	case ABI_ERROR_MAX_LIMIT_REACHED:
	case ABI_ERROR_OLD_PROFILER_API_INITIALIZED:
		return facility == GPUBPF_FACILITY_SUBSCRIBE ? GPUBPF_REASON_SECOND_SUBSCRIBER
							     : GPUBPF_REASON_FACILITY;
	default:
		return facility == GPUBPF_FACILITY_SUBSCRIBE ? GPUBPF_REASON_SUBSCRIBE
							     : GPUBPF_REASON_FACILITY;
	}
}
