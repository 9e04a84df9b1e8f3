/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The BPF side of --stacks (bpf/ustack.h). */
#include <errno.h>

#include "attach/attach_priv.h"
#include "gpubpf.skel.h"
#include "maps.h"
#include "util/err.h"

int attach_stacks_prepare(struct attach *a, struct err *err)
{
	const struct attach_opts *o = &a->opts;

	if (o->stacks && o->stacks_slow_ns && o->entry_only)
		return err_set(err, -ENOTSUP,
			       "--slow needs return probes, which this kernel does not let stand safely");
	a->skel->rodata->stacks = (uint8_t)o->stacks;
	a->skel->rodata->stacks_slow_ns = o->stacks_slow_ns;
	a->skel->rodata->stacks_one_of = o->stacks_one_of;
	a->skel->rodata->stacks_bytes = o->stacks_bytes ? o->stacks_bytes : STACK_MEDIUM;
	return 0;
}
