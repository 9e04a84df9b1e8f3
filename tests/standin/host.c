/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does what a driver does with CUDA_INJECTION64_PATH, and nothing else: host MILLISECONDS stays so long afterwards. */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *lib = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*initialize)(void) = NULL;

	if (lib)
		*(void **)&initialize = dlsym(lib, "InitializeInjection");
	if (initialize)
		initialize();
	usleep(argc > 1 ? (useconds_t)strtoul(argv[1], NULL, 10) * 1000 : 0);
	return initialize ? 0 : 1;
}
