/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every form of operand that gcc and clang print into a descriptor, taken apart and put together again. */
#include <elf.h>
#include <inttypes.h>

#include "t.h"
#include "usdt/stapsdt.h"

/* "size signed/unsigned/float kind seg: symbol value base index*scale extend" in one line, so that a table can say it. */
static const char *spell(const struct usdt_operand *o)
{
	static char s[256];
	static const char *const kinds[] = { "?", "const", "reg", "mem" }, *const extends[] = { "", " uxtw",
												" sxtw",
												" sxtx" };
	int n = 0;

	if (o->has_size)
		n += snprintf(s + n, sizeof(s) - (size_t)n, "%s%u%s ", o->is_signed ? "s" : "u", o->size,
			      o->is_float ? "f" : "");
	n += snprintf(s + n, sizeof(s) - (size_t)n, "%s", kinds[o->kind]);
	if (o->segment.bits)
		n += snprintf(s + n, sizeof(s) - (size_t)n, " %s:", o->segment.name);
	if (o->symbol)
		n += snprintf(s + n, sizeof(s) - (size_t)n, " <%.*s>", (int)o->symbol_len, o->symbol);
	if (o->kind == USDT_OPERAND_CONSTANT || o->kind == USDT_OPERAND_MEMORY)
		n += snprintf(s + n, sizeof(s) - (size_t)n, " %" PRId64, o->value);
	if (o->base.bits)
		n += snprintf(s + n, sizeof(s) - (size_t)n, " %s/%d.%u%s%s%s", o->base.name, o->base.number,
			      o->base.bits, o->base.high_byte ? "h" : "", o->base.is_vector ? "v" : "",
			      o->base.is_pc ? "pc" : "");
	if (o->index.bits)
		n += snprintf(s + n, sizeof(s) - (size_t)n, " +%s/%d*%u%s", o->index.name, o->index.number,
			      o->scale, extends[o->extend]);
	return s;
}

struct row {
	const char *text, *want;
};

static void check(unsigned machine, const struct row *rows)
{
	for (; rows->text; rows++) {
		struct usdt_operand o;
		size_t n = usdt_operands_parse(machine, rows->text, &o, 1);

		CHECKF(n == 1, "'%s' is %zu operands", rows->text, n);
		if (n)
			CHECKF(strcmp(spell(&o), rows->want) == 0, "'%s' is '%s', not '%s'", rows->text,
			       spell(&o), rows->want);
	}
}

T(x86_64_operands)
{
	static const struct row rows[] = {
		{ "8@%rdi", "u8 reg rdi/5.64" },
		{ "-4@%eax", "s4 reg eax/0.32" },
		{ "2@%dx", "u2 reg dx/1.16" },
		{ "-1@%sil", "s1 reg sil/4.8" },
		{ "1@%ah", "u1 reg ah/0.8h" },
		{ "1@%bh", "u1 reg bh/3.8h" },
		{ "8@%r8", "u8 reg r8/8.64" },
		{ "4@%r15d", "u4 reg r15d/15.32" },
		{ "2@%r10w", "u2 reg r10w/10.16" },
		{ "1@%r9b", "u1 reg r9b/9.8" },
		{ "8f@%xmm0", "u8f reg xmm0/17.128v" },
		{ "-4f@%xmm15", "s4f reg xmm15/32.128v" },
		{ "32@%ymm3", "u32 reg ymm3/20.256v" },
		{ "64@%zmm31", "u64 reg zmm31/82.512v" },
		{ "10f@%st(3)", "u10f reg st(3)/36.80v" },
		{ "10f@%st", "u10f reg st/33.80v" },
		{ "8@%mm7", "u8 reg mm7/48.64v" },
		{ "-4@$5", "s4 const 5" },
		{ "8@$-5", "u8 const -5" },
		{ "8@$0xffffffffffffffff", "u8 const -1" },
		{ "4@$010", "u4 const 8" },
		{ "8@$sym+8", "u8 const <sym> 8" },
		{ "8@-80(%rbx)", "u8 mem -80 rbx/3.64" },
		{ "4@-20(%rbp)", "u4 mem -20 rbp/6.64" },
		{ "8@(%rsp)", "u8 mem 0 rsp/7.64" },
		{ "8@8(%rax,%rbx,4)", "u8 mem 8 rax/0.64 +rbx/3*4" },
		{ "8@(%rax,%rbx)", "u8 mem 0 rax/0.64 +rbx/3*1" },
		{ "8@16(,%rdi,8)", "u8 mem 16 +rdi/5*8" },
		{ "8@-8(%r12,%r13,2)", "u8 mem -8 r12/12.64 +r13/13*2" },
		{ "8@4+8(%rax)", "u8 mem 12 rax/0.64" },
		{ "8@sym(%rip)", "u8 mem <sym> 0 rip/16.64pc" },
		{ "8@foo+8(%rip)", "u8 mem <foo> 8 rip/16.64pc" },
		{ "4@foo-4(%rip)", "u4 mem <foo> -4 rip/16.64pc" },
		{ "4@8+foo(%rip)", "u4 mem <foo> 8 rip/16.64pc" },
		{ "8@_ZN3foo3barE.isra.0(%rip)", "u8 mem <_ZN3foo3barE.isra.0> 0 rip/16.64pc" },
		{ "8@sym@GOTPCREL(%rip)", "u8 mem <sym@GOTPCREL> 0 rip/16.64pc" },
		{ "sym@GOTPCREL(%rip)", "mem <sym@GOTPCREL> 0 rip/16.64pc" },
		{ "8@sym", "u8 mem <sym> 0" },
		{ "8@sym+16", "u8 mem <sym> 16" },
		{ "8@sym(,%rax,8)", "u8 mem <sym> 0 +rax/0*8" },
		{ "8@sym+4(%rbx)", "u8 mem <sym> 4 rbx/3.64" },
		{ "8@4096", "u8 mem 4096" },
		{ "8@%fs:0x28", "u8 mem fs: 40" },
		{ "4@%fs:sym@tpoff", "u4 mem fs: <sym@tpoff> 0" },
		{ "4@%fs:-4(%rax)", "u4 mem fs: -4 rax/0.64" },
		{ "4@%gs:(%rdi)", "u4 mem gs: 0 rdi/5.64" },
		{ "4@(%eax)", "u4 mem 0 eax/0.32" },
		{ "%rax", "reg rax/0.64" },
		{ "$5", "const 5" },
		{ "-20(%rbp)", "mem -20 rbp/6.64" },
		/* what is none of these stays unknown */
		{ "8@", "u8 ?" },
		{ "8@%", "u8 ?" },
		{ "8@%rzx", "u8 ?" },
		{ "8@%r16", "u8 ?" },
		{ "8@%r08", "u8 ?" },
		{ "8@%xmm32", "u8 ?" },
		{ "8@%rdi8", "u8 ?" },
		{ "8@rdi+", "u8 ?" },
		{ "8@$", "u8 ?" },
		{ "8@$5x", "u8 ?" },
		{ "8@$0x1ffffffffffffffff", "u8 ?" },
		{ "8@8(%rax", "u8 ?" },
		{ "8@8(%rax)z", "u8 ?" },
		{ "8@8(%al)", "u8 ?" },
		{ "8@8(%rax,%rbx,3)", "u8 ?" },
		{ "8@8(%xmm0)", "u8 ?" },
		{ "8@8(%rip,%rax)", "u8 ?" },
		{ "8@8(,)", "u8 ?" },
		{ "8@a+b(%rip)", "u8 ?" },
		{ "8@-a(%rip)", "u8 ?" },
		{ "8@%rax:8", "u8 ?" },
		{ "0@%rax", "?" },
		{ "99@%rax", "?" },
		{ 0 },
	};
	check(EM_X86_64, rows);
}

T(i386_operands)
{
	static const struct row rows[] = {
		{ "4@%eax", "u4 reg eax/0.32" },
		{ "-4@%edi", "s4 reg edi/7.32" },
		{ "2@%bp", "u2 reg bp/5.16" },
		{ "-1@%cl", "s1 reg cl/1.8" },
		{ "1@%dh", "u1 reg dh/2.8h" },
		{ "4@8(%ebp)", "u4 mem 8 ebp/5.32" },
		{ "-4@-12(%esp,%ecx,4)", "s4 mem -12 esp/4.32 +ecx/1*4" },
		{ "4@foo", "u4 mem <foo> 0" },
		{ "4@foo@GOTOFF(%ebx)", "u4 mem <foo@GOTOFF> 0 ebx/3.32" },
		{ "4@foo+4(,%eax,8)", "u4 mem <foo> 4 +eax/0*8" },
		{ "8f@%xmm1", "u8f reg xmm1/22.128v" },
		{ "4@%gs:20", "u4 mem gs: 20" },
		{ "4@$7", "u4 const 7" },
		{ "8@%rax", "u8 ?" },
		{ "1@%sil", "u1 ?" },
		{ "4@%r8d", "u4 ?" },
		{ 0 },
	};
	check(EM_386, rows);
}

T(aarch64_operands)
{
	static const struct row rows[] = {
		{ "8@x0", "u8 reg x0/0.64" },
		{ "-4@w30", "s4 reg w30/30.32" },
		{ "8@sp", "u8 reg sp/31.64" },
		{ "8@xzr", "u8 reg xzr/-1.64" },
		{ "4@wzr", "u4 reg wzr/-1.32" },
		{ "8f@d8", "u8f reg d8/72.64v" },
		{ "4f@s31", "u4f reg s31/95.32v" },
		{ "16@q2", "u16 reg q2/66.128v" },
		{ "4@42", "u4 const 42" },
		{ "-4@-1", "s4 const -1" },
		{ "8@#16", "u8 const 16" },
		{ "4@[sp, 12]", "u4 mem 12 sp/31.64" },
		{ "4@[sp,12]", "u4 mem 12 sp/31.64" },
		{ "4@[sp, #12]", "u4 mem 12 sp/31.64" },
		{ "-4@[x29, -20]", "s4 mem -20 x29/29.64" },
		{ "8@[x3]", "u8 mem 0 x3/3.64" },
		{ "8@[x1, x2]", "u8 mem 0 x1/1.64 +x2/2*1" },
		{ "8@[x1, x2, lsl 3]", "u8 mem 0 x1/1.64 +x2/2*8" },
		{ "8@[x1, x2, lsl #3]", "u8 mem 0 x1/1.64 +x2/2*8" },
		{ "8@[x1, w2, sxtw 3]", "u8 mem 0 x1/1.64 +w2/2*8 sxtw" },
		{ "4@[x1, w2, uxtw]", "u4 mem 0 x1/1.64 +w2/2*1 uxtw" },
		{ "4@[x1, w2, sxtw]", "u4 mem 0 x1/1.64 +w2/2*1 sxtw" },
		{ "8@[x1, x2, sxtx 3]", "u8 mem 0 x1/1.64 +x2/2*8 sxtx" },
		{ "8@[x0, :lo12:sym]", "u8 mem <:lo12:sym> 0 x0/0.64" },
		{ "8@[x0, #:lo12:sym+8]", "u8 mem <:lo12:sym> 8 x0/0.64" },
		{ "x5", "reg x5/5.64" },
		{ "8@x31", "u8 ?" },
		{ "8@[x0", "u8 ?" },
		{ "8@[w0]", "u8 ?" },
		{ "8@[xzr]", "u8 ?" },
		{ "8@[x0, 8]!", "u8 ?" },
		{ "8@[x1, w2]", "u8 ?" },
		{ "8@[x1, x2, uxtw 3]", "u8 ?" },
		{ "8@[x1, w2, lsl 3]", "u8 ?" },
		{ "8@[x1, x2, lsl 7]", "u8 ?" },
		{ "8@[d1]", "u8 ?" },
		{ "8@%rax", "u8 ?" },
		{ 0 },
	};
	check(EM_AARCH64, rows);
}

T(operands_are_split_at_blanks_outside_brackets)
{
	struct usdt_operand o[4];
	size_t n = usdt_operands_parse(EM_AARCH64, " 8@x0  -4@[sp, 12]\t4@[x1, w2, sxtw 2] 8@7 ", o, 3);

	CHECK(n == 4);
	CHECK(o[1].kind == USDT_OPERAND_MEMORY && o[1].text_len == 11 &&
	      !strncmp(o[1].text, "-4@[sp, 12]", 11));
	CHECK(o[2].index.bits == 32 && o[2].scale == 4);
	CHECK(usdt_operands_parse(EM_X86_64, "", o, 4) == 0);
	CHECK(usdt_operands_parse(EM_X86_64, "8@%rdi 8@%rsi 8@%rdx", NULL, 0) == 3);
	CHECK(usdt_operands_parse(EM_X86_64, "8@\"a b\"(%rip) 8@%rsi", o, 4) == 2 && o[0].symbol_len == 5);
	CHECK(usdt_operands_parse(EM_X86_64, "8@((((( 8@)", o, 4) == 1 && o[0].kind == USDT_OPERAND_UNKNOWN);
}

T(other_architectures_keep_their_text)
{
	struct usdt_operand o[2];

	CHECK(usdt_operands_parse(EM_PPC64, "-4@3 8@0(9)", o, 2) == 2);
	CHECK(o[0].kind == USDT_OPERAND_UNKNOWN && o[0].has_size && o[0].size == 4 && o[0].is_signed);
	CHECK(o[1].text_len == 6 && !strncmp(o[1].text, "8@0(9)", 6));
}

TEST_MAIN
