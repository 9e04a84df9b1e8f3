// SPDX-License-Identifier: BSD-2-Clause
#include "driver.h"

#include <dlfcn.h>
#include <stdbool.h>

#include "find.h"

/* The function of the driver that loaded us; release() what *driver is then. NULL: none. */
static void *function(const char *name, void **driver)
{
	char path[CUPTI_PATH_MAX];

	*driver = NULL;
	if (find__in_process(0, find__is_driver, path, sizeof(path)))
		*driver = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	return *driver ? dlsym(*driver, name) : NULL;
}

static void release(void *driver)
{
	if (driver)
		dlclose(driver);
}

void driver__await_init(void)
{
	static bool done; /* the worker's alone */
	int (*init)(unsigned flags);
	void *driver;

	if (done)
		return;
	done = true;
	*(void **)&init = function("cuInit", &driver);
	if (init)
		init(0);
	release(driver);
}

void driver__touch(void)
{
	int (*get)(int *), version;
	void *driver;

	*(void **)&get = function("cuDriverGetVersion", &driver);
	if (get)
		get(&version);
	release(driver);
}
