/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/hostinfo.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/file.h"

#define GPU_DIR "/proc/driver/nvidia/gpus"

/* "NVRM version: NVIDIA UNIX … Kernel Module for x86_64  580.159.03  Release Build …": the first word that
 * looks like a version. */
static void read_driver(struct hostinfo *h)
{
	char line[512], *save = NULL;

	if (file_read_line("/proc/driver/nvidia/version", line, sizeof(line)))
		return;
	for (char *w = strtok_r(line, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		size_t n = strspn(w, "0123456789.");

		if (w[n] || n < 5 || n >= sizeof(h->driver) || !strchr(w, '.'))
			continue;
		memcpy(h->driver, w, n + 1);
		h->host.driver_version = h->driver;
		return;
	}
}

/* Value of "Key: value" in a file of lines. */
static char *take_value(const char *text, const char *key, char *out, size_t n)
{
	const char *p = strstr(text, key);

	if (!p)
		return NULL;
	p += strlen(key);
	p += strspn(p, ": \t");
	snprintf(out, n, "%.*s", (int)strcspn(p, "\n"), p);
	return out;
}

/* As nvidia-smi numbers them. */
static int by_bus(const void *a, const void *b)
{
	const Gpubpf__Gpu *const *x = a, *const *y = b;

	return strcmp((*x)->bus_id ? (*x)->bus_id : "", (*y)->bus_id ? (*y)->bus_id : "");
}

static void read_gpus(struct hostinfo *h)
{
	DIR *d = opendir(GPU_DIR);
	struct dirent *de;

	while (d && (de = readdir(d)) && h->ngpus < HOSTINFO_GPUS) {
		Gpubpf__Gpu *g = &h->gpu[h->ngpus];
		char path[512], *text;
		size_t n;

		if (de->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), GPU_DIR "/%s/information", de->d_name);
		if (file_read_all(path, 1 << 16, &text, &n))
			continue;
		gpubpf__gpu__init(g);
		g->name = take_value(text, "Model", h->text[h->ngpus][0], 128);
		g->uuid = take_value(text, "GPU UUID", h->text[h->ngpus][1], 128);
		g->bus_id = take_value(text, "Bus Location", h->text[h->ngpus][2], 128);
		h->gpus[h->ngpus] = g;
		h->ngpus++;
		free(text);
	}
	if (d)
		closedir(d);
	qsort(h->gpus, h->ngpus, sizeof(h->gpus[0]), by_bus);
}

void hostinfo_read(struct hostinfo *h)
{
	struct utsname u;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	memset(h, 0, sizeof(*h));
	gpubpf__host__init(&h->host);
	if (!gethostname(h->hostname, sizeof(h->hostname) - 1))
		h->host.hostname = h->hostname;
	if (!file_read_line("/proc/sys/kernel/random/boot_id", h->boot_id, sizeof(h->boot_id)))
		h->host.boot_id = h->boot_id;
	if (!uname(&u)) {
		snprintf(h->kernel, sizeof(h->kernel), "%s", u.release);
		snprintf(h->arch, sizeof(h->arch), "%s", u.machine);
		h->host.kernel = h->kernel;
		h->host.arch = h->arch;
	}
	h->host.has_cpus = cpus > 0;
	h->host.cpus = (uint32_t)cpus;
	read_driver(h);
	read_gpus(h);
}

/* By what steers the clock (chrony, ntpd, PTP); to ask takes no right. */
static void read_utc_error(Gpubpf__ClockPair *p)
{
	struct timex t = { 0 };
	int state = adjtimex(&t);

	if (state < 0 || state == TIME_ERROR || (t.status & STA_UNSYNC) || t.maxerror < 0)
		return;
	p->has_utc_error_ns = true;
	p->utc_error_ns = (uint64_t)t.maxerror * 1000;
}

void clock_pair_read(Gpubpf__ClockPair *p)
{
	gpubpf__clock_pair__init(p);
	p->has_realtime_ns = p->has_boottime_ns = p->has_error_ns = true;
	p->error_ns = UINT64_MAX;
	for (int i = 0; i < 16; i++) {
		uint64_t before = clock_now(CLOCK_MONOTONIC);
		uint64_t real = clock_now(CLOCK_REALTIME), boot = clock_now(CLOCK_BOOTTIME);
		uint64_t after = clock_now(CLOCK_MONOTONIC);

		if (after - before >= p->error_ns)
			continue;
		p->monotonic_ns = before + (after - before) / 2;
		p->realtime_ns = real;
		p->boottime_ns = boot;
		p->error_ns = after - before;
	}
	read_utc_error(p);
}
