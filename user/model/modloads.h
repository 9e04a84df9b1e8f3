/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the host spent on modules, for who asks for it (model_opts.modules): calls that load, by process, entry point and
 * image; and by kernel what it came from, what looking it up took and how long its first launch was. Facts of calls alone:
 * a function leads to its module by the handles, in the order of the calls.
 */
#ifndef GPUBPF_MODLOADS_H
#define GPUBPF_MODLOADS_H

#include "model/launches.h"
#include "util/hist.h"

enum mod_image {                   /* by the first bytes that a load call is given */
		 MOD_IMAGE_UNREAD, /* a file, or the bytes are not in the record */
		 MOD_IMAGE_CUBIN,
		 MOD_IMAGE_PTX,
		 MOD_IMAGE_FATBIN,
		 MOD_IMAGE_OTHER,
		 MOD_IMAGES,
};
extern const char *const mod_image_names[MOD_IMAGES]; /* NULL for UNREAD */

struct mod_row {         /* calls that load or link */
	uint64_t key[2]; /* process; entry point, image */
	const struct proc *proc;
	const struct api *api;
	enum mod_image image;
	uint32_t number;
	struct tally calls;
	uint64_t nested;             /* calls inside other traced calls: in nothing else */
	uint64_t functions, kernels; /* looked up in what these calls loaded; of these: that were launched */
	uint64_t compiled;           /* for who reads CUPTI's records */
	struct hist time;
};

struct mod_span { /* a load call that succeeded: for records of CUPTI's that fall into it */
	const struct proc *proc;
	uint64_t entry, ret;
	uint32_t row;
	bool compiled;
};
#define MOD_SPANS 65536

struct mod_kernel {
	struct {
		struct launch_key func; /* its function alone */
		uint64_t proc;
	} key;
	const struct proc *proc;
	uint32_t name; /* after modloads__finish(): 0, and then the handle */
	uint64_t handle;
	uint64_t launches; /* returned, not captured */
	uint32_t tid;      /* of the first one */
	bool timed;        /* the first one: its time is known */
	uint64_t first_entry, first_ns;
	uint64_t nested, nested_ns; /* module calls inside the first one */
	uint64_t rest, rest_ns;     /* timed launches behind the first one */
	uint64_t lookups, lookup_ns, lookup_entry,
		lookup_return; /* before it; entry and return: of the last one */
	bool has_load;
	uint32_t load_row; /* of rows */
	bool load_timed;
	uint64_t load_entry, load_ns;
};

struct modloads {
	struct hmap rows, loads, functions, threads;
	struct hmap kernels; /* struct mod_kernel, as they came: several may turn out to be one */
	struct hmap merged;  /* after modloads__finish() */
	struct mod_span *spans;
	size_t nspans, cap;
	bool too_many; /* spans: those of later calls are not kept */
};

int modloads__new(struct modloads **out); /* 0 or -ENOMEM */
void modloads__free(struct modloads *m);  /* NULL is fine */
/* Every call of a thread that was asked for. 0 or -ENOMEM. */
int modloads__call(struct modloads *m, struct names *names, const struct view *v);
int modloads__finish(struct modloads *m); /* 0 or -ENOMEM */

#endif
