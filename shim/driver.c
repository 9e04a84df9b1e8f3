// SPDX-License-Identifier: BSD-2-Clause
#include "driver.h"

#include <dlfcn.h>

#include "find.h"

/* Of the driver that loaded us, which stays where it is. NULL: none. */
static void *function(const char *name)
{
	char path[CUPTI_PATH_MAX];
	void *driver = NULL, *found = NULL;

	if (find__in_process(0, find__is_driver, path, sizeof(path)))
		driver = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (driver) {
		found = dlsym(driver, name);
		dlclose(driver);
	}
	return found;
}

void driver__await_init(void)
{
	static bool done; /* the worker's alone */
	int (*init)(unsigned flags);

	if (done)
		return;
	done = true;
	*(void **)&init = function("cuInit");
	if (init)
		init(0);
}

bool driver__contexts(uint64_t *have)
{
	int (*count)(int *), (*state)(int, unsigned *, int *), devices = 0, active;
	unsigned flags;

	*have = 0;
	*(void **)&count = function("cuDeviceGetCount");
	*(void **)&state = function("cuDevicePrimaryCtxGetState");
	if (!count || !state)
		return true;
	/* Fails while the first cuInit() is on the stack. */
	if (count(&devices) || devices <= 0)
		return false;
	if (devices > 64)
		devices = 64;
	for (int d = 0; d < devices; d++) {
		if (!state(d, &flags, &active) && active)
			*have |= 1ull << d;
	}
	return *have == ~0ull >> (64 - devices);
}
