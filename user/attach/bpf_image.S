/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The BPF object inside this program, by gzip: a fifth of its size. BPF_FILE is $(B)/bpf/gpubpf.bpf.o.gz. */
	.section .rodata
	.globl	gpubpf_bpf_image
	.hidden	gpubpf_bpf_image
	.globl	gpubpf_bpf_image_end
	.hidden	gpubpf_bpf_image_end
gpubpf_bpf_image:
	.incbin	BPF_FILE
gpubpf_bpf_image_end:
	.byte	0
	.section .note.GNU-stack, "", %progbits
