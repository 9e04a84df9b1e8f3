/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of `timeline --html` inside this program. PAGE_FILE is $(B)/gen/page.gz, which page/assemble.sh makes. */
	.section .rodata
	.globl	gpubpf_page_begin
	.hidden	gpubpf_page_begin
	.globl	gpubpf_page_end
	.hidden	gpubpf_page_end
gpubpf_page_begin:
	.incbin	PAGE_FILE
gpubpf_page_end:
	.byte	0
	.section .note.GNU-stack, "", %progbits
