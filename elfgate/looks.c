// SPDX-License-Identifier: GPL-2.0-or-later
#include "looks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "usdt/contract.h"
#include "markers.h"

static void add_if(struct elfgate_found *f, bool present)
{
	elfgate_found__add(f, present ? "present" : "absent", NULL);
}

LOOK(machine)
{
	(void)r;
	switch (o->arch) {
	case ELFGATE_X86_64:
		elfgate_found__add(f, "x86_64", NULL);
		break;
	case ELFGATE_AARCH64:
		elfgate_found__add(f, "aarch64", NULL);
		break;
	case ELFGATE_BPF:
		elfgate_found__add(f, "bpf", NULL);
		break;
	case ELFGATE_OTHER:
		elfgate_found__add(f, "other", "e_machine %u", o->ehdr.e_machine);
		break;
	}
}

LOOK(class)
{
	(void)r;
	elfgate_found__add(f, o->ehdr.e_ident[EI_CLASS] == ELFCLASS64 ? "64" : "32", NULL);
}

LOOK(byte_order)
{
	(void)r;
	elfgate_found__add(f, o->ehdr.e_ident[EI_DATA] == ELFDATA2MSB ? "big" : "little", NULL);
}

LOOK(osabi)
{
	unsigned char abi = o->ehdr.e_ident[EI_OSABI];

	(void)r;
	if (abi == ELFOSABI_NONE || abi == ELFOSABI_GNU)
		elfgate_found__add(f, abi == ELFOSABI_GNU ? "gnu" : "sysv", NULL);
	else
		elfgate_found__add(f, "other", "EI_OSABI %u", abi);
}

LOOK(file_type)
{
	static const char *const words[] = {
		[ELFOBJ_SHARED] = "shared",         [ELFOBJ_PIE] = "pie",
		[ELFOBJ_EXEC] = "program",          [ELFOBJ_STATIC] = "static",
		[ELFOBJ_STATIC_PIE] = "static-pie", [ELFOBJ_RELOCATABLE] = "relocatable",
		[ELFOBJ_OTHER] = "other",
	};

	(void)r;
	elfgate_found__add(f, words[o->type], NULL);
}

LOOK(page_align)
{
	uint64_t least = 0;
	char word[24];

	(void)r;
	for (size_t i = 0; i < o->n_phdrs; i++) {
		if (o->phdrs[i].p_type == PT_LOAD && (!least || o->phdrs[i].p_align < least))
			least = o->phdrs[i].p_align;
	}
	snprintf(word, sizeof(word), "%llu", (unsigned long long)least);
	elfgate_found__add(f, word, NULL);
}

LOOK(isa_level)
{
	static const char *const levels[] = { "baseline", "v2", "v3", "v4" };
	int level = -1;

	(void)r;
	for (int i = 0; i < 4; i++) {
		if (o->isa_needed & (1u << i))
			level = i;
	}
	elfgate_found__add(f, level < 0 ? "unmarked" : levels[level], NULL);
}

LOOK(soname)
{
	(void)r;
	if (o->soname)
		elfgate_found__add(f, o->soname, NULL);
}

LOOK(needed)
{
	(void)r;
	for (size_t i = 0; i < o->n_needed; i++)
		elfgate_found__add(f, o->needed[i], NULL);
}

LOOK(versions)
{
	uint32_t v[4];

	for (size_t i = 0; i < o->n_needs; i++) {
		const struct elfobj_need *n = &o->needs[i];

		if (elfgate_version_parse(n->version, r->choices, v))
			elfgate_found__need(f, n->file, n->version, n->symbol, n->weak);
	}
}

LOOK(markers)
{
	(void)r;
	for (size_t i = 0; i < o->n_needs; i++) {
		const struct elfobj_need *n = &o->needs[i];
		const struct elfgate_marker *m = elfgate_marker_find(n->version);

		if (!elfgate_is_marker(n->version))
			continue;
		elfgate_found__add(f, n->version, "%s%s%s: %s", n->file, n->symbol ? ", " : "",
				   n->symbol ? n->symbol : "", m ? m->meaning : "not known to this program");
	}
}

LOOK(relr)
{
	(void)r;
	add_if(f, o->has_relr);
}

static const GElf_Phdr *segment(const struct elfobj *o, uint32_t type)
{
	for (size_t i = 0; i < o->n_phdrs; i++) {
		if (o->phdrs[i].p_type == type)
			return &o->phdrs[i];
	}
	return NULL;
}

LOOK(tls_segment)
{
	const GElf_Phdr *p = segment(o, PT_TLS);

	(void)r;
	if (p)
		elfgate_found__add(f, "present", "%llu bytes per thread", (unsigned long long)p->p_memsz);
	else
		elfgate_found__add(f, "absent", NULL);
}

LOOK(tls_model)
{
	static const char *const words[] = {
		[TLS_DYNAMIC] = "dynamic",
		[TLS_DESCRIPTOR] = "descriptor",
		[TLS_INITIAL_EXEC] = "initial-exec",
	};

	(void)r;
	for (int i = 0; i < TLS_MODELS; i++) {
		if (o->tls_relocs[i])
			elfgate_found__add(f, words[i], "relocations: %llu",
					   (unsigned long long)o->tls_relocs[i]);
	}
	if (!f->n)
		elfgate_found__add(f, "none", NULL);
}

LOOK(static_tls)
{
	(void)r;
	add_if(f, o->flags & DF_STATIC_TLS);
}

LOOK(runpath)
{
	(void)r;
	if (o->rpath)
		elfgate_found__add(f, "rpath", "%s", o->rpath);
	if (o->runpath)
		elfgate_found__add(f, "runpath", "%s", o->runpath);
	if (!f->n)
		elfgate_found__add(f, "absent", NULL);
}

LOOK(textrel)
{
	(void)r;
	add_if(f, o->flags & DF_TEXTREL);
}

LOOK(exec_stack)
{
	const GElf_Phdr *p = segment(o, PT_GNU_STACK);

	(void)r;
	elfgate_found__add(f, !p ? "unmarked" : p->p_flags & PF_X ? "yes" : "no", NULL);
}

LOOK(rwx_segment)
{
	bool found = false;

	(void)r;
	for (size_t i = 0; i < o->n_phdrs; i++)
		found |= o->phdrs[i].p_type == PT_LOAD && (o->phdrs[i].p_flags & PF_W) &&
			 (o->phdrs[i].p_flags & PF_X);
	add_if(f, found);
}

LOOK(relro)
{
	(void)r;
	add_if(f, segment(o, PT_GNU_RELRO));
}

LOOK(bind_now)
{
	(void)r;
	add_if(f, (o->flags & DF_BIND_NOW) || (o->flags_1 & DF_1_NOW));
}

LOOK(exports)
{
	static const char *const types[] = { "notype", "object", "func", "section", "file", "common", "tls" };

	(void)r;
	for (size_t i = 1; i < o->n_syms; i++) {
		const struct elfobj_sym *s = &o->syms[i];
		char word[512];

		if (s->shndx == SHN_UNDEF || s->bind == STB_LOCAL || s->visibility == STV_HIDDEN ||
		    s->visibility == STV_INTERNAL)
			continue;
		snprintf(word, sizeof(word), "%.480s:%s", s->name,
			 s->type < sizeof(types) / sizeof(types[0]) ? types[s->type]
			 : s->type == STT_GNU_IFUNC                 ? "ifunc"
								    : "other");
		elfgate_found__add(f, word, NULL);
	}
}

LOOK(undefined)
{
	(void)r;
	for (size_t i = 1; i < o->n_syms; i++) {
		const struct elfobj_sym *s = &o->syms[i];

		if (s->shndx == SHN_UNDEF && s->bind != STB_WEAK && s->bind != STB_LOCAL && s->version < 2)
			elfgate_found__add(f, s->name, NULL);
	}
}

LOOK(build_id)
{
	char hex[2 * sizeof(o->build_id) + 1] = "";

	(void)r;
	for (size_t i = 0; i < o->build_id_len; i++)
		sprintf(hex + 2 * i, "%02x", o->build_id[i]);
	if (o->build_id_len)
		elfgate_found__add(f, "present", "%s", hex);
	else
		elfgate_found__add(f, "absent", NULL);
}

static void judge_probes(const struct usdt_file *file, const struct elfobj *o, struct elfgate_found *f)
{
	struct usdt_diffs diffs = { 0 };
	struct usdt_err err = { "" };
	size_t ours = 0, n = usdt_file__count(file);

	for (size_t i = 0; i < n; i++)
		ours += !strcmp(usdt_file__probe(file, i)->provider, USDT_CONTRACT_PROVIDER);
	if (!ours && !usdt_file__damaged(file)) {
		elfgate_found__add(f, n ? "other" : "absent", n ? "probes of other providers: %zu" : NULL, n);
		return;
	}
	if (usdt_contract_check(file, o->ehdr.e_machine, &diffs, &err))
		f->failed = true;
	else if (!diffs.n)
		elfgate_found__add(f, "contract", "sites: %zu", diffs.sites);
	for (size_t i = 0; i < diffs.n; i++)
		elfgate_found__add(f, "mismatch", "%s", diffs.v[i].what);
	usdt_diffs_free(&diffs);
}

LOOK(stapsdt)
{
	/* By the descriptor: it is the file that the other rules have seen, and no debug file of it. */
	struct usdt_opts opts = { .debug_root = "" };
	struct usdt_err err = { "" };
	struct usdt_file *file;
	char path[40];
	int e;

	(void)r;
	if (!o->has_stapsdt && o->ehdr.e_shoff) {
		elfgate_found__add(f, "absent", NULL);
		return;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", o->fd);
	e = usdt_file__open(path, &opts, &file, &err);
	if (e) {
		elfgate_found__add(f, "mismatch", "%s", err.msg);
		return;
	}
	judge_probes(file, o, f);
	usdt_file__close(file);
}

LOOK(btf)
{
	(void)r;
	add_if(f, o->has_btf);
}

LOOK(btf_ext)
{
	(void)r;
	add_if(f, o->has_btf_ext);
}

LOOK(bpf_arch)
{
	(void)r;
	elfgate_found__add(f, o->has_btf ? o->btf_arch : "unknown", NULL);
}
