/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/doctor.h"

#define GPUS "/proc/driver/nvidia/gpus"

/* "NVRM version: NVIDIA UNIX … Kernel Module  580.159.03  Wed …": the first word of digits and points. */
static bool module_version(const struct doctor *d, char *out, size_t n)
{
	char line[256], *save = NULL;

	if (doctor__line(d, "/proc/driver/nvidia/version", line, sizeof(line)))
		return false;
	for (char *word = strtok_r(line, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
		if (strchr(word, '.') && strspn(word, "0123456789.") == strlen(word)) {
			snprintf(out, n, "%s", word);
			return true;
		}
	}
	return false;
}

static void add_gpu(const struct doctor *d, json_t *gpus, const char *address, char *names, size_t size)
{
	char path[PATH_MAX], model[128], uuid[128];
	size_t at = strlen(names);
	json_t *gpu = json_pack("{s:s}", "address", address);

	snprintf(path, sizeof(path), GPUS "/%s/information", address);
	if (!doctor__value(d, path, "Model", model, sizeof(model)))
		json_object_set_new(gpu, "model", json_string(model));
	else
		snprintf(model, sizeof(model), "GPU %s", address);
	if (!doctor__value(d, path, "GPU UUID", uuid, sizeof(uuid)))
		json_object_set_new(gpu, "uuid", json_string(uuid));
	json_array_append_new(gpus, gpu);
	snprintf(names + at, size - at, "%s%s (%s)", at ? ", " : "", model, address);
}

static void check_gpus(struct doctor *d)
{
	char path[PATH_MAX], version[64] = "", names[1024] = "";
	json_t *facts = json_object(), *gpus = json_array();
	struct dirent **entries = NULL;
	struct finding *f;
	size_t count;
	int n;

	snprintf(path, sizeof(path), "%s" GPUS, d->root);
	n = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.')
			add_gpu(d, gpus, entries[i]->d_name, names, sizeof(names));
		free(entries[i]);
	}
	free(entries);
	count = json_array_size(gpus);
	json_object_set_new(facts, "gpus", gpus);
	if (!module_version(d, version, sizeof(version))) {
		f = doctor__add(d, FINDING_MISSING, false, "gpu", facts,
				"no NVIDIA kernel driver is loaded (/proc/driver/nvidia)");
		finding__advise(
			f,
			"`modprobe nvidia` on a machine with a GPU; captures are read and reported anywhere");
		return;
	}
	json_object_set_new(facts, "driver", json_string(version));
	if (count)
		doctor__add(d, FINDING_OK, false, "gpu", facts, "driver %s: %s", version, names);
	else
		finding__advise(doctor__add(d, FINDING_MISSING, false, "gpu", facts, "driver %s, and no GPU",
					    version),
				"`nvidia-smi -L` and `dmesg | grep NVRM` say why");
}

/* C26: what is refused, by which setting, and what works all the same. */
static void check_profiling(struct doctor *d)
{
	char line[32];
	struct finding *f;
	json_t *facts;
	bool admin_only;

	if (doctor__value(d, "/proc/driver/nvidia/params", "RmProfilingAdminOnly", line, sizeof(line)))
		return; /* no driver, which `gpu` says, or one that has no such setting */
	admin_only = strtol(line, NULL, 10) != 0;
	facts = json_pack("{s:b}", "admin_only", admin_only);
	if (!admin_only) {
		doctor__add(d, FINDING_OK, false, "profiling", facts,
			    "GPU performance counters are open to every user");
	} else if (d->has_sys_admin) {
		doctor__add(
			d, FINDING_OK, false, "profiling", facts,
			"GPU performance counters are for administrators (RmProfilingAdminOnly: 1), which this process is");
	} else {
		f = doctor__add(
			d, FINDING_DEGRADED, false, "profiling", facts,
			"GPU performance counters are for administrators (RmProfilingAdminOnly: 1); calls, launches and "
			"copies are recorded all the same");
		finding__advise(
			f,
			"`options nvidia NVreg_RestrictProfilingToAdminUsers=0` in /etc/modprobe.d/nvidia.conf and a "
			"reboot, or run the job with CAP_SYS_ADMIN");
	}
}

void doctor__check_driver(struct doctor *d)
{
	check_gpus(d);
	check_profiling(d);
}
