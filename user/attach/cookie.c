/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/attach_priv.h"

#include "cookie.h"

/* Sizes of the structs that arguments point to: CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER (cuda.h). */
#define MEMCPY2D_BYTES 128
#define MEMCPY3D_BYTES 200
#define MEMCPY3D_PEER_BYTES 200
#define IMAGE_BYTES 8 /* of an image of code: its magic number, and PTX text begins otherwise */

uint64_t cookie_for(const struct api *a, uint32_t id)
{
	unsigned blob = COOKIE_BLOB_NONE, blob_arg = COOKIE_NO_ARG, len = 0, out = COOKIE_NO_ARG, out32 = 0;

	for (unsigned i = 0; i < a->nargs; i++) {
		unsigned kind = COOKIE_BLOB_NONE;

		switch (a->args[i].type) {
		case 'o':
			out = i;
			break;
		case 'O':
			out = i;
			out32 = a->legacy32;
			break;
		case 'x':
			kind = COOKIE_BLOB_OUT;
			len = a->legacy32 ? 4 : 8;
			break;
		case 'm':
			kind = COOKIE_BLOB_MEM;
			len = IMAGE_BYTES;
			break;
		case 's':
			kind = COOKIE_BLOB_STR;
			break;
		case 'n':
			kind = COOKIE_BLOB_STRPTR;
			break;
		case 'L':
			kind = COOKIE_BLOB_CONFIG;
			break;
		case '2':
			kind = COOKIE_BLOB_MEM;
			len = MEMCPY2D_BYTES;
			break;
		case '3':
			kind = COOKIE_BLOB_MEM;
			len = MEMCPY3D_BYTES;
			break;
		case 'P':
			kind = COOKIE_BLOB_MEM;
			len = MEMCPY3D_PEER_BYTES;
			break;
		case 'Z':
			kind = COOKIE_BLOB_SIZES;
			break;
		default:
			break;
		}
		if (kind != COOKIE_BLOB_NONE) {
			blob = kind;
			blob_arg = i;
		}
	}
	return COOKIE_MAKE(id, a->nargs, blob, blob_arg, len, out, out32, a->cls == API_LAUNCH);
}
