/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts of the CUDA driver interface that decoders need: layouts as an LP64 process has them and numbers.
 * Source: cuda.h of CUDA 13.0; the layouts are unchanged since CUDA 4.0 (copies) and 12.0 (launch config).
 */
#ifndef GPUBPF_CUDA_ABI_H
#define GPUBPF_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

enum cuda_memory_type { /* CUmemorytype */
			CUDA_MEM_HOST = 1,
			CUDA_MEM_DEVICE = 2,
			CUDA_MEM_ARRAY = 3,
			CUDA_MEM_UNIFIED = 4,
};

enum { /* CUresult */
       CUDA_RESULT_SUCCESS = 0,
       CUDA_RESULT_NOT_READY = 600,
       CUDA_RESULT_CAPTURE_UNMATCHED = 903,
       CUDA_RESULT_CAPTURE_WRONG_THREAD = 908,
};

/* CUstream values that are no handles */
#define CUDA_STREAM_NULL 0
#define CUDA_STREAM_LEGACY 1
#define CUDA_STREAM_PER_THREAD 2

struct cuda_memcpy2d { /* CUDA_MEMCPY2D_v2 */
	uint64_t src_x, src_y;
	uint32_t src_type, pad0;
	uint64_t src_host, src_device, src_array, src_pitch;
	uint64_t dst_x, dst_y;
	uint32_t dst_type, pad1;
	uint64_t dst_host, dst_device, dst_array, dst_pitch;
	uint64_t width, height;
};

/* CUDA_MEMCPY3D_v2; CUDA_MEMCPY3D_PEER is the same with a context where this has a reserved word. */
struct cuda_memcpy3d {
	uint64_t src_x, src_y, src_z, src_lod;
	uint32_t src_type, pad0;
	uint64_t src_host, src_device, src_array, src_context, src_pitch, src_height;
	uint64_t dst_x, dst_y, dst_z, dst_lod;
	uint32_t dst_type, pad1;
	uint64_t dst_host, dst_device, dst_array, dst_context, dst_pitch, dst_height;
	uint64_t width, height, depth;
};

struct cuda_launch_config { /* CUlaunchConfig */
	uint32_t grid[3], block[3];
	uint32_t shared, pad0;
	uint64_t stream, attrs;
	uint32_t nattrs, pad1;
};

struct cuda_launch_attribute { /* CUlaunchAttribute */
	uint32_t id, pad0;
	uint32_t value[16];
};

enum { CUDA_LAUNCH_ATTRIBUTE_CLUSTER = 4 }; /* value: x, y, z */

_Static_assert(sizeof(struct cuda_memcpy2d) == 128, "CUDA_MEMCPY2D_v2");
_Static_assert(offsetof(struct cuda_memcpy2d, dst_type) == 72, "CUDA_MEMCPY2D_v2");
_Static_assert(offsetof(struct cuda_memcpy2d, width) == 112, "CUDA_MEMCPY2D_v2");
_Static_assert(sizeof(struct cuda_memcpy3d) == 200, "CUDA_MEMCPY3D_v2");
_Static_assert(offsetof(struct cuda_memcpy3d, dst_type) == 120, "CUDA_MEMCPY3D_v2");
_Static_assert(offsetof(struct cuda_memcpy3d, width) == 176, "CUDA_MEMCPY3D_v2");
_Static_assert(sizeof(struct cuda_launch_config) == 56, "CUlaunchConfig");
_Static_assert(offsetof(struct cuda_launch_config, stream) == 32, "CUlaunchConfig");
_Static_assert(offsetof(struct cuda_launch_config, nattrs) == 48, "CUlaunchConfig");
_Static_assert(sizeof(struct cuda_launch_attribute) == 72, "CUlaunchAttribute");

const char *cuda_result_name(int32_t result); /* "CUDA_ERROR_OUT_OF_MEMORY"; NULL: not known */

#endif
