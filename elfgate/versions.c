// SPDX-License-Identifier: GPL-2.0-or-later
/* Versions that are needed of libraries: .gnu.version_r, found by DT_VERNEED. */
#include "object.h"

#include <errno.h>
#include <stdlib.h>

/* Indices of versions have 15 bits; more entries than that come out of a chain that crosses itself. */
#define MOST_NEEDS 0x7fff

static bool add(struct elfobj *o, const char *file, const GElf_Vernaux *a)
{
	const char *version = elfobj__string(o, a->vna_name);

	if (!version || o->n_needs == MOST_NEEDS)
		return false;
	if (!(o->n_needs & (o->n_needs - 1))) {
		struct elfobj_need *more = reallocarray(o->needs, o->n_needs ? 2 * o->n_needs : 1,
							sizeof(*more));

		if (!more)
			return false;
		o->needs = more;
	}
	o->needs[o->n_needs++] = (struct elfobj_need){
		.file = file,
		.version = version,
		.index = a->vna_other & 0x7fff,
		.weak = a->vna_flags & VER_FLG_WEAK,
	};
	return true;
}

static bool read_chain(struct elfobj *o, Elf_Data *d)
{
	uint64_t at = 0;

	for (uint64_t i = 0; i < o->d_verneednum; i++) {
		const char *file;
		GElf_Verneed need;
		GElf_Vernaux a;
		uint64_t aux;

		if (at > d->d_size || !gelf_getverneed(d, (int)at, &need) ||
		    need.vn_version != VER_NEED_CURRENT)
			return false;
		file = elfobj__string(o, need.vn_file);
		if (!file)
			return false;
		aux = at + need.vn_aux;
		for (unsigned k = 0; k < need.vn_cnt; k++) {
			if (aux > d->d_size || !gelf_getvernaux(d, (int)aux, &a) || !add(o, file, &a))
				return false;
			if (!a.vna_next && k + 1 < need.vn_cnt)
				return false;
			aux += a.vna_next;
		}
		if (!need.vn_next)
			return i + 1 == o->d_verneednum;
		at += need.vn_next;
	}
	return true;
}

/* One symbol each for the messages. */
static int name_symbols(struct elfobj *o)
{
	struct elfobj_need **by_index;
	uint16_t most = 0;

	for (size_t i = 0; i < o->n_needs; i++)
		most = o->needs[i].index > most ? o->needs[i].index : most;
	by_index = calloc((size_t)most + 1, sizeof(*by_index));
	if (!by_index)
		return -ENOMEM;
	for (size_t i = 0; i < o->n_needs; i++)
		by_index[o->needs[i].index] = &o->needs[i];
	for (size_t i = 1; i < o->n_syms; i++) {
		uint16_t version = o->syms[i].version;
		struct elfobj_need *need = version > 1 && version <= most ? by_index[version] : NULL;

		if (need && !need->symbol && o->syms[i].shndx == SHN_UNDEF)
			need->symbol = o->syms[i].name;
	}
	free(by_index);
	return 0;
}

int elfobj__read_versions(struct elfobj *o)
{
	uint64_t offset, left;
	Elf_Data *d;

	if (!o->d_verneed || o->damage[PART_DYNAMIC])
		return 0;
	/* Its size stands nowhere: all that follows in the segment, up to what the most entries can fill. */
	if (!elfobj__offset(o, o->d_verneed, &offset, &left)) {
		elfobj__damaged(o, PART_VERSIONS, "the needed versions are not in the file");
		return 0;
	}
	if (left > MOST_NEEDS * 2 * sizeof(GElf_Vernaux))
		left = MOST_NEEDS * 2 * sizeof(GElf_Vernaux);
	d = elfobj__chunk(o, offset, left, ELF_T_VNEED);
	if (!d || !read_chain(o, d)) {
		o->n_needs = 0;
		elfobj__damaged(o, PART_VERSIONS,
				"the needed versions (.gnu.version_r) do not hang together");
		return 0;
	}
	return name_symbols(o);
}
