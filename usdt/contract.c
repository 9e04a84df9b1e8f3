/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "contract.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "priv.h"
#include "probes.h"

const char *const usdt_contract_probes[] = {
#define X(name, NAME) #name,
	GPUBPF_EACH_PROBE(X)
#undef X
		NULL,
};

#define PROBES (sizeof(usdt_contract_probes) / sizeof(usdt_contract_probes[0]) - 1)
/* A hostile file has as many differences as it likes. */
#define DIFFS_MAX 1000

const char *const usdt_diff_names[USDT_DIFF_KINDS] = {
	"architecture", "missing", "unknown", "descriptor", "location", "instruction", "semaphore", "damaged",
};

/* usdt/probe_x86_64.h and usdt/probe_aarch64.h emit these; tests/usdt holds the two against each other. */
static const uint8_t x86_64_nop[] = { 0x90 };
static const uint8_t aarch64_nop[] = { 0x1f, 0x20, 0x03, 0xd5 };

static const struct usdt_contract_arch archs[] = {
	{ EM_X86_64, "x86-64", "8@%rdi 8@%rsi 8@%rdx", x86_64_nop, sizeof(x86_64_nop), "nop" },
	{ EM_AARCH64, "aarch64", "8@x0 8@x1 8@x2", aarch64_nop, sizeof(aarch64_nop), "nop" },
};

size_t usdt_contract_size(void)
{
	return PROBES;
}

const struct usdt_contract_arch *usdt_contract_arch(unsigned machine)
{
	for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++) {
		if (archs[i].machine == machine)
			return &archs[i];
	}
	return NULL;
}

static size_t probe_index(const char *name)
{
	size_t i = 0;

	while (usdt_contract_probes[i] && strcmp(usdt_contract_probes[i], name) != 0)
		i++;
	return i;
}

struct check {
	const struct usdt_file *f;
	const struct usdt_contract_arch *arch; /* NULL: no site can conform */
	char why_no_arch[256];
	struct usdt_diffs *out;      /* NULL: only the first difference is wanted */
	char *first;                 /* [256] */
	uint64_t semaphores[PROBES]; /* of each probe's first site that has one; 0: none */
	int error;
};

__attribute__((format(printf, 4, 5))) static void differ(struct check *c, enum usdt_diff_kind kind,
							 const struct usdt_probe *p, const char *fmt, ...)
{
	struct usdt_diff d = { .kind = kind }, *grown;
	int n = 0;
	va_list ap;

	if (p) {
		d.probe = p->name;
		d.has_location = p->has_location;
		d.location = p->location;
		n = snprintf(d.what, sizeof(d.what), "%.32s at 0x%" PRIx64 ": ", p->name, p->location);
	}
	va_start(ap, fmt);
	vsnprintf(d.what + n, sizeof(d.what) - (size_t)n, fmt, ap);
	va_end(ap);
	if (!c->out) {
		if (!c->first[0])
			memcpy(c->first, d.what, sizeof(d.what));
		return;
	}
	/* Room is kept for what is said of the object as a whole. */
	if (c->out->n >= (p ? DIFFS_MAX : DIFFS_MAX + PROBES + 2))
		return;
	grown = realloc(c->out->v, (c->out->n + 1) * sizeof(*grown));
	if (!grown) {
		c->error = -ENOMEM;
		return;
	}
	c->out->v = grown;
	c->out->v[c->out->n++] = d;
}

/* The architecture of the object, or in words why none of the contract's fits. */
static void check_arch(struct check *c, unsigned machine)
{
	unsigned is = usdt_file__machine(c->f);
	const struct usdt_contract_arch *own = usdt_contract_arch(is), *wanted = usdt_contract_arch(machine);

	if (!own)
		snprintf(c->why_no_arch, sizeof(c->why_no_arch),
			 "the object is for machine %u, the contract knows x86-64 and aarch64", is);
	else if (usdt_file__bits(c->f) != 64 || usdt_file__big_endian(c->f))
		snprintf(c->why_no_arch, sizeof(c->why_no_arch),
			 "the object is %u-bit and %s-endian, the contract is for 64-bit little-endian",
			 usdt_file__bits(c->f), usdt_file__big_endian(c->f) ? "big" : "little");
	else if (machine && machine != is)
		snprintf(c->why_no_arch, sizeof(c->why_no_arch), "the object is for %s, %s is wanted",
			 own->name, wanted ? wanted->name : "another architecture");
	else
		c->arch = own;
}

static void begin(struct check *c, unsigned machine)
{
	check_arch(c, machine);
	for (size_t i = 0; i < usdt_file__count(c->f); i++) {
		const struct usdt_probe *p = usdt_file__probe(c->f, i);
		size_t k = probe_index(p->name);

		if (strcmp(p->provider, USDT_CONTRACT_PROVIDER) == 0 && k < PROBES && !c->semaphores[k])
			c->semaphores[k] = p->semaphore;
	}
}

static void check_code(struct check *c, const struct usdt_probe *p)
{
	char hex[3 * USDT_CODE_BYTES + 1] = "";
	size_t n = c->arch->ncode < p->ncode ? c->arch->ncode : p->ncode;

	if (p->ncode >= c->arch->ncode && memcmp(p->code, c->arch->code, c->arch->ncode) == 0)
		return;
	for (size_t i = 0; i < n; i++)
		snprintf(hex + 3 * i, 4, "%02x ", p->code[i]);
	differ(c, USDT_DIFF_INSTRUCTION, p, "the bytes at the site are %sand no %s", hex,
	       c->arch->instruction);
}

static void check_semaphore(struct check *c, const struct usdt_probe *p)
{
	if (!p->has_semaphore)
		differ(c, USDT_DIFF_SEMAPHORE, p, "it has no semaphore");
	else if (!p->semaphore_writable)
		differ(c, USDT_DIFF_SEMAPHORE, p,
		       "its semaphore at 0x%" PRIx64 " is not in a writable segment that comes from the file",
		       p->semaphore);
	else if (p->semaphore_value)
		differ(c, USDT_DIFF_SEMAPHORE, p, "its semaphore starts as %u and not as 0",
		       p->semaphore_value);
	/* Shared or several: the object would look at one counter while the kernel counts in another. */
	for (size_t k = 0; p->has_semaphore && usdt_contract_probes[k]; k++) {
		bool same = strcmp(p->name, usdt_contract_probes[k]) == 0;

		if (!c->semaphores[k] || same == (c->semaphores[k] == p->semaphore))
			continue;
		differ(c, USDT_DIFF_SEMAPHORE, p,
		       same ? "another site of %s has another semaphore" : "it shares its semaphore with %s",
		       usdt_contract_probes[k]);
		return;
	}
}

static void check_site(struct check *c, const struct usdt_probe *p)
{
	if (!c->arch) {
		differ(c, USDT_DIFF_ARCHITECTURE, p, "%s", c->why_no_arch);
		return;
	}
	if (strcmp(p->args, c->arch->descriptor) != 0)
		differ(c, USDT_DIFF_DESCRIPTOR, p, "its arguments are '%.80s', the contract says '%s'",
		       p->args, c->arch->descriptor);
	if (!p->has_location)
		differ(c, USDT_DIFF_LOCATION, p, "the object is not linked");
	else if (!p->executable)
		differ(c, USDT_DIFF_LOCATION, p, "it is not in an executable segment");
	else if (!p->has_offset)
		differ(c, USDT_DIFF_LOCATION, p, "its instruction is not in the file");
	else
		check_code(c, p);
	check_semaphore(c, p);
}

int usdt_contract_check(const struct usdt_file *f, unsigned machine, struct usdt_diffs *out,
			struct usdt_err *err)
{
	struct check c = { .f = f, .out = out };
	size_t sites[PROBES + 1] = { 0 };

	memset(out, 0, sizeof(*out));
	begin(&c, machine);
	if (!c.arch)
		differ(&c, USDT_DIFF_ARCHITECTURE, NULL, "%s", c.why_no_arch);
	if (usdt_file__damaged(f))
		differ(&c, USDT_DIFF_DAMAGED, NULL, "%zu notes, or sections of notes, could not be read",
		       usdt_file__damaged(f));
	for (size_t i = 0; i < usdt_file__count(f); i++) {
		const struct usdt_probe *p = usdt_file__probe(f, i);
		size_t k;

		if (strcmp(p->provider, USDT_CONTRACT_PROVIDER) != 0)
			continue;
		k = probe_index(p->name);
		sites[k]++;
		out->sites++;
		if (!usdt_contract_probes[k])
			differ(&c, USDT_DIFF_UNKNOWN, p, "the contract has no such probe");
		else if (c.arch)
			check_site(&c, p);
	}
	for (size_t k = 0; k < usdt_contract_size(); k++) {
		if (sites[k])
			continue;
		differ(&c, USDT_DIFF_MISSING, NULL, "no site of %s:%s", USDT_CONTRACT_PROVIDER,
		       usdt_contract_probes[k]);
		if (!c.error && out->n)
			out->v[out->n - 1].probe = usdt_contract_probes[k];
	}
	if (c.error) {
		usdt_diffs_free(out);
		return usdt_err_set(err, c.error, "out of memory");
	}
	return 0;
}

void usdt_diffs_free(struct usdt_diffs *d)
{
	free(d->v);
	memset(d, 0, sizeof(*d));
}

int usdt_sites(const struct usdt_file *f, unsigned machine, struct usdt_site **out, size_t *n,
	       struct usdt_err *err)
{
	struct check c = { .f = f };
	struct usdt_site *sites = calloc(usdt_file__count(f) + 1, sizeof(*sites));

	*out = NULL;
	*n = 0;
	if (!sites)
		return usdt_err_set(err, -ENOMEM, "out of memory");
	begin(&c, machine);
	for (size_t i = 0; i < usdt_file__count(f); i++) {
		const struct usdt_probe *p = usdt_file__probe(f, i);
		struct usdt_site *s = &sites[*n];

		if (strcmp(p->provider, USDT_CONTRACT_PROVIDER) != 0)
			continue;
		s->probe = probe_index(p->name);
		if (!usdt_contract_probes[s->probe])
			continue;
		s->location = p->location;
		s->offset = p->offset;
		s->semaphore_offset = p->semaphore_offset;
		c.first = s->refused;
		check_site(&c, p);
		++*n;
	}
	*out = sites;
	return 0;
}
