/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `gpubpf doctor` looks at. Each check adds findings to a list; nothing here prints or decides the exit
 * status. Files of /proc, /sys and /etc are read below `root`, so that tests bring their own.
 */
#ifndef GPUBPF_DOCTOR_H
#define GPUBPF_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <jansson.h>

enum finding_state {
	FINDING_OK,
	FINDING_DEGRADED, /* works, with less or slower */
	FINDING_MISSING,
};
extern const char *const finding_state_names[];

struct finding {
	enum finding_state state;
	bool needed;   /* missing: `record` cannot work */
	char id[24];   /* key in JSON */
	char *detail;  /* what was seen */
	char *advice;  /* what to do; NULL when there is nothing */
	json_t *facts; /* values for machines, an object; NULL: none. Absent keys were not measured. */
};

struct doctor {
	const char *root; /* "" on the live system */
	struct finding *findings;
	size_t n;
	int error; /* -ENOMEM once a finding was lost */
	/* Kept for later checks: */
	bool has_bpf_caps; /* CAP_SYS_ADMIN, or CAP_BPF and CAP_PERFMON */
	bool has_sys_admin;
	int seccomp;     /* mode of this process, 0 when unknown */
	unsigned kernel; /* major << 8 | minor */
};

/* Adds a finding and returns it (NULL: no memory). The text is printf's. Takes `facts` over. */
struct finding *doctor__add(struct doctor *d, enum finding_state state, bool needed, const char *id,
			    json_t *facts, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Says what to do about a finding; NULL is fine. */
void finding__advise(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The first line of a file below the root. 0 or a negative errno. */
int doctor__line(const struct doctor *d, const char *path, char *out, size_t n);
/* The value of "Key:\tvalue" in a file below the root, blanks around it cut. 0, -ENOENT without such a line. */
int doctor__value(const struct doctor *d, const char *path, const char *key, char *out, size_t n);

void doctor__check_rights(struct doctor *d); /* first: later checks explain themselves by it */
void doctor__check_kernel(struct doctor *d);
void doctor__check_bpf(struct doctor *d); /* tries, on the live kernel */
void doctor__check_container(struct doctor *d);
void doctor__check_driver(struct doctor *d);
void doctor__check_libcuda(struct doctor *d);
void doctor__check_cupti(struct doctor *d);
struct shimfile_image;
void doctor__check_shim(struct doctor *d,
			const struct shimfile_image *image); /* the one inside this program */
void doctor__check_target_shim(struct doctor *d, pid_t pid);
void doctor__check_target(struct doctor *d, pid_t pid);

/* True when nothing that `record` needs is missing. */
bool doctor__can_record(const struct doctor *d);
void doctor__print(const struct doctor *d, FILE *f);
json_t *doctor__json(const struct doctor *d); /* a new reference; NULL: no memory */
void doctor__free(struct doctor *d);

#endif
