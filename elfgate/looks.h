/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The looking functions of the table, one per kind of fact. Inside elfgate/ only. */
#ifndef GPUBPF_ELFGATE_LOOKS_H
#define GPUBPF_ELFGATE_LOOKS_H

#include "object.h"
#include "rule.h"

#define LOOK(name)                                                                                           \
	void elfgate_look_##name(const struct elfgate_rule *r, const struct elfobj *o,                       \
				 struct elfgate_found *f)

LOOK(machine);
LOOK(class);
LOOK(byte_order);
LOOK(osabi);
LOOK(file_type);
LOOK(page_align);
LOOK(isa_level);
LOOK(soname);
LOOK(needed);
LOOK(versions);
LOOK(markers);
LOOK(relr);
LOOK(tls_segment);
LOOK(tls_model);
LOOK(static_tls);
LOOK(runpath);
LOOK(textrel);
LOOK(exec_stack);
LOOK(rwx_segment);
LOOK(relro);
LOOK(bind_now);
LOOK(exports);
LOOK(undefined);
LOOK(build_id);
LOOK(stapsdt);
LOOK(btf);
LOOK(btf_ext);
LOOK(bpf_arch);

#endif
