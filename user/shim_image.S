/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shim inside this program: `gpubpf record` needs no other file. SHIM_FILE is $(B)/shim/libgpubpf-shim.so. */
	.section .rodata
	.globl	gpubpf_shim_begin
	.hidden	gpubpf_shim_begin
	.globl	gpubpf_shim_end
	.hidden	gpubpf_shim_end
	.balign	16
gpubpf_shim_begin:
	.incbin	SHIM_FILE
gpubpf_shim_end:
	.byte	0
	.section .note.GNU-stack, "", %progbits
