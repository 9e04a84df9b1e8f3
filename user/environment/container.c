// SPDX-License-Identifier: GPL-2.0-or-later
/* Whose container a process is in, and of which image, by the files that runtimes keep of it. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "environment/gather.h"
#include "util/file.h"

#define CONFIG_MAX (8u << 20)
#define INITIAL_CGROUP_NS "cgroup:[4026531835]" /* PROC_CGROUP_INIT_INO, include/linux/proc_ns.h */

bool env_container_id(const char *text, char id[65])
{
	size_t run = 0;

	id[0] = 0;
	for (const char *s = text; s && *s; s++) {
		run = isxdigit((unsigned char)*s) ? run + 1 : 0;
		if (run != 64)
			continue;
		memcpy(id, s - 63, 64);
		id[64] = 0;
	}
	return id[0];
}

struct image {
	char runtime[32], name[512], digest[160];
	int error; /* a file that is there and cannot be read */
};

static json_t *load(const char *path, struct image *out)
{
	char *text;
	size_t n;
	json_t *o;
	int e = file_read_all(path, CONFIG_MAX, &text, &n);

	if (e) {
		if (e != -ENOENT && e != -ENOTDIR)
			out->error = e;
		return NULL;
	}
	o = json_loadb(text, n, 0, NULL);
	free(text);
	return o;
}

static void take(char *to, size_t size, const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	if (s && !to[0])
		snprintf(to, size, "%s", s);
}

static bool found(struct image *i, const char *runtime)
{
	if (!i->name[0] && !i->digest[0])
		return false;
	snprintf(i->runtime, sizeof(i->runtime), "%s", runtime);
	return true;
}

static bool docker(const char *root, const char *id, struct image *i)
{
	char path[PATH_MAX];
	json_t *o;

	snprintf(path, sizeof(path), "%s/var/lib/docker/containers/%s/config.v2.json", root, id);
	o = load(path, i);
	take(i->digest, sizeof(i->digest), o, "Image");
	take(i->name, sizeof(i->name), json_object_get(o, "Config"), "Image");
	json_decref(o);
	return found(i, "docker");
}

/* The annotations of an OCI bundle: of containerd's for Kubernetes, of CRI-O's and of podman's. */
static bool bundle(const char *path, struct image *i, const char *runtime)
{
	json_t *o = load(path, i), *a = json_object_get(o, "annotations");

	take(i->name, sizeof(i->name), a, "io.kubernetes.cri.image-name");
	take(i->name, sizeof(i->name), a, "io.kubernetes.cri-o.ImageName");
	take(i->name, sizeof(i->name), a, "nerdctl/image-name");
	take(i->digest, sizeof(i->digest), a, "io.kubernetes.cri-o.ImageRef");
	take(i->digest, sizeof(i->digest), a, "io.kubernetes.cri-o.Image");
	json_decref(o);
	return found(i, runtime);
}

static bool containerd(const char *root, const char *id, struct image *i)
{
	char dir[PATH_MAX], path[PATH_MAX];
	struct dirent *de;
	bool is = false;
	DIR *d;

	snprintf(dir, sizeof(dir), "%s/run/containerd/io.containerd.runtime.v2.task", root);
	d = opendir(dir);
	if (!d && errno != ENOENT)
		i->error = -errno;
	while (d && !is && (de = readdir(d))) { /* a namespace of its own for each client */
		if (de->d_name[0] == '.')
			continue;
		if ((size_t)snprintf(path, sizeof(path), "%s/%s/%s/config.json", dir, de->d_name, id) <
		    sizeof(path))
			is = bundle(path, i, "containerd");
	}
	if (d)
		closedir(d);
	return is;
}

static bool storage(const char *root, const char *id, struct image *i)
{
	static const char *const dirs[] = { "/run/containers/storage", "/var/lib/containers/storage" };
	char path[PATH_MAX];
	size_t k;
	json_t *list, *o;

	for (size_t n = 0; n < 2; n++) {
		snprintf(path, sizeof(path), "%s%s/overlay-containers/%s/userdata/config.json", root, dirs[n],
			 id);
		if (bundle(path, i, "CRI-O"))
			return true;
	}
	snprintf(path, sizeof(path), "%s%s/overlay-containers/containers.json", root, dirs[1]);
	list = load(path, i);
	json_array_foreach(list, k, o)
	{
		const char *of = json_string_value(json_object_get(o, "id"));

		if (of && !strcmp(of, id))
			take(i->digest, sizeof(i->digest), o, "image");
	}
	json_decref(list);
	return found(i, "podman");
}

static void put(struct environment *e, const char *prefix, const char *name, const char *value,
		const char *why, bool per_run)
{
	char full[256];

	snprintf(full, sizeof(full), "%s%s", prefix, name);
	environment__add(e, "workload", full, value && *value ? value : NULL, why, per_run);
}

static void none(struct environment *e, const char *prefix)
{
	char ns[64];
	ssize_t n = readlink("/proc/self/ns/cgroup", ns, sizeof(ns) - 1);
	const char *why =
		"this gpubpf runs in a control group namespace of its own, which hides the container; start it on the "
		"node, or with the node's (docker run --cgroupns host)";
	bool hidden = n < 0 || (ns[n] = 0, strcmp(ns, INITIAL_CGROUP_NS) != 0);

	put(e, prefix, "container", hidden ? NULL : "none", why, true);
	put(e, prefix, "container image", hidden ? NULL : "none", why, false);
}

void env_container(struct environment *e, const char *prefix, const char *cgroup, const char *root)
{
	struct image i = { .error = 0 };
	char id[65], why[256];

	if (!cgroup) {
		put(e, prefix, "container", NULL, "the process had ended before it could be looked at", true);
		put(e, prefix, "container image", NULL, "the process had ended before it could be looked at",
		    false);
		return;
	}
	if (!env_container_id(cgroup, id)) {
		none(e, prefix);
		return;
	}
	put(e, prefix, "container", id, NULL, true);
	if (!docker(root, id, &i) && !containerd(root, id, &i) && !storage(root, id, &i)) {
		snprintf(why, sizeof(why),
			 "no runtime's files tell it: /var/lib/docker, /run/containerd, /run/containers and "
			 "/var/lib/containers were looked at%s%s",
			 i.error ? ": " : "", i.error ? strerror(-i.error) : "");
		put(e, prefix, "container image", NULL, why, false);
		return;
	}
	put(e, prefix, "container runtime", i.runtime, NULL, false);
	put(e, prefix, "container image", i.name, "its runtime keeps a digest alone", false);
	put(e, prefix, "container image digest", i.digest, "its runtime's files do not tell it", false);
}
