/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernels of the workloads: real PTX for any GPU from sm_75 on, harmless to their arguments. The simulated
 * driver takes a launch's time from `// sim-ns: N`.
 */
#ifndef GPUBPF_WORKLOAD_KERNELS_H
#define GPUBPF_WORKLOAD_KERNELS_H

/* name(float *p, unsigned n, float a): p[i] = p[i] OP a for i < n */
#define ELEMENTWISE(name, op, ns)                                                                            \
	".visible .entry " name "(.param .u64 p, .param .u32 n, .param .f32 a)\n"                            \
	"{ // sim-ns: " ns "\n"                                                                              \
	".reg .pred %c; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %d<4>;\n"                                \
	"ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; ld.param.f32 %f1, [a];\n"                             \
	"mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"                                \
	"mad.lo.s32 %r5, %r2, %r3, %r4; setp.ge.u32 %c, %r5, %r1; @%c ret;\n"                                \
	"cvta.to.global.u64 %d2, %d1; mad.wide.u32 %d3, %r5, 4, %d2;\n"                                      \
	"ld.global.f32 %f2, [%d3]; " op ".f32 %f3, %f2, %f1; st.global.f32 [%d3], %f3;\n"                    \
	"ret; }\n"

static const char workload_ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n" ELEMENTWISE(
	"forward_layer", "mul", "20000") ELEMENTWISE("backward_layer", "add", "40000")
	ELEMENTWISE("sgd_update", "add", "8000") ELEMENTWISE(
		"_Z9normalizePfjf", "mul", "5000") ".visible .entry empty_kernel() { // sim-ns: 0\nret; }\n";

#endif
