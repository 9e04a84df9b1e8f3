/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every probe of the provider "gpubpf" is held to. The kernel hands three registers to a BPF program that
 * believes they are pointer, count and sequence: an object whose sites pass something else would be misread in
 * silence, so each site is compared with the table before anything is attached to it.
 */
#ifndef GPUBPF_USDT_CONTRACT_H
#define GPUBPF_USDT_CONTRACT_H

#include "stapsdt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define USDT_CONTRACT_PROVIDER "gpubpf"

/* "hello_v1", "calls_v1", …; NULL behind the last. Append-only: an index is never given to another probe. */
extern const char *const usdt_contract_probes[];
/* How many stand in the table. */
size_t usdt_contract_size(void);

/* What the contract asks of an architecture; NULL: the shim does not exist there. */
struct usdt_contract_arch {
	unsigned machine;       /* e_machine */
	const char *name;       /* "x86-64", "aarch64" */
	const char *descriptor; /* byte for byte */
	const uint8_t *code;    /* the instruction at the site */
	size_t ncode;
	const char *instruction; /* its name: "nop" */
};
const struct usdt_contract_arch *usdt_contract_arch(unsigned machine);

enum usdt_diff_kind {
	USDT_DIFF_ARCHITECTURE, /* machine, class or byte order */
	USDT_DIFF_MISSING,      /* a probe of the table has no site */
	USDT_DIFF_UNKNOWN,      /* a probe of our provider is not in the table */
	USDT_DIFF_DESCRIPTOR,   /* arguments other than the contract's */
	USDT_DIFF_LOCATION,     /* not in an executable segment, or not in the file */
	USDT_DIFF_INSTRUCTION,  /* something else stands at the site */
	USDT_DIFF_SEMAPHORE,    /* none, not writable, not zero, or not one per probe */
	USDT_DIFF_DAMAGED,      /* notes that could not be read */
	USDT_DIFF_KINDS,
};
extern const char *const usdt_diff_names[USDT_DIFF_KINDS]; /* "architecture", "missing", … */

struct usdt_diff {
	enum usdt_diff_kind kind;
	const char *probe; /* of the table or of the file; NULL: the object as a whole */
	bool has_location;
	uint64_t location; /* of the site */
	char what[256];    /* "calls_v1 at 0x1234: the arguments are '8@%rsi', the contract says …" */
};

struct usdt_diffs {
	struct usdt_diff *v;
	size_t n;
	size_t sites; /* of our provider, looked at */
};

/*
 * Compares an object with the contract. `machine` is the e_machine that it must be for; 0: any that the contract
 * knows. 0 with out->n == 0: it conforms. -ENOMEM. An object without any of our probes has every one missing.
 */
int usdt_contract_check(const struct usdt_file *f, unsigned machine, struct usdt_diffs *out,
			struct usdt_err *err);
void usdt_diffs_free(struct usdt_diffs *d);

/* A site that a recorder may attach to, or must not. */
struct usdt_site {
	size_t probe; /* index of usdt_contract_probes */
	uint64_t location, offset, semaphore_offset;
	char refused[256]; /* empty: attach; else the first difference, as in struct usdt_diff */
};

/*
 * The sites of our provider whose probes are in the table, conforming or not; those of unknown (newer) probes are
 * left out. Only sites with an empty `refused` may be attached to. Free `*out` with free().
 */
int usdt_sites(const struct usdt_file *f, unsigned machine, struct usdt_site **out, size_t *n,
	       struct usdt_err *err);

#ifdef __cplusplus
}
#endif

#endif
