/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GPUBPF_ATTACH_PRIV_H
#define GPUBPF_ATTACH_PRIV_H

#include "attach/attach.h"
#include "model/apitab.h"

struct bpf_program;
struct gpubpf_bpf;

enum { LIFE_FORK, LIFE_EXEC, LIFE_EXIT, LIFE_XID, LIFE_END };
#define ATTACH_SWITCHES 3 /* programs of --latency */

struct attach_links {
	int *fds;
	size_t n;
};

struct attach {
	struct gpubpf_bpf *skel;
	struct attach_opts opts;
	enum attach_method method;
	struct bpf_link *life[LIFE_END], *switches[ATTACH_SWITCHES];
	struct attach_latency latency;
	int *links; /* of probes */
	size_t nlinks, room;
	uint32_t next_id;
	struct attach_links hellos, sites; /* of shims: hello_v1, and all other probes */
	struct attach_links inits;         /* of cuInit(), with opts.init_apart; returns first */
	bool has_view, returns_unsafe;
	bool shim_multi; /* the shim's sites by multi-links */
};

/* The attach cookie of an entry point (bpf/cookie.h). */
uint64_t cookie_for(const struct api *a, uint32_t id);
/* Loads a copy of a loaded program whose COOKIE_PATCH is `cookie`; a descriptor or a negative errno. */
int percall_load(const struct bpf_program *prog, uint64_t cookie);
/* Probes at points that are no entry points of a table, in the way of this recording. */
int attach_points(struct attach *a, const char *path, uint64_t *offsets, uint64_t *cookies, size_t n,
		  pid_t pid);
/* latency.c: what the kernel can tell; what of it the object is to use (NULL: nothing of --latency is loaded). */
int attach_latency_probe(struct attach_latency *l);
void attach_latency_set(struct gpubpf_bpf *skel, const struct attach_latency *l);
/* Before the load; switches are watched from activate on. */
int attach_latency_prepare(struct attach *a, struct err *err);
int attach_latency_activate(struct attach *a, struct err *err);
void attach_latency_detach(struct attach *a);
/* stacks.c: what of --stacks the object is to use. */
int attach_stacks_prepare(struct attach *a, struct err *err);
int attach_keep_link(struct attach *a, int fd);
int attach_links_add(struct attach_links *l, int fd);
void attach_links_close(struct attach_links *l, size_t down_to);

#endif
