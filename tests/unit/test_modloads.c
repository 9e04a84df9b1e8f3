/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a function to the call that loaded it, by handles; what a handle that comes back means; first launches. */
#include "../t.h"

#include "model_fixture.h"

#define L (fx.m->modloads)

static const struct mod_kernel *kernel(const char *name)
{
	static const struct mod_kernel none;

	for (size_t i = 0; i < L->merged.n; i++) {
		const struct mod_kernel *k = hmap__at(&L->merged, i);
		const char *text = names__text(fx.m->names, k->name);

		if (text && strcmp(text, name) == 0)
			return k;
	}
	CHECKF(0, "no kernel %s", name);
	return &none;
}

static void load(uint64_t handle, const void *image, uint64_t took)
{
	uint64_t before = fx.took;

	fx.blob = image;
	fx.nblob = 8;
	fx.took = took;
	out_n("cuModuleLoadData", handle, 2, U(0), U(0x7000));
	fx.took = before;
}

static void function(uint64_t handle, uint64_t module, const char *name)
{
	with_text(name);
	out_n("cuModuleGetFunction", handle, 3, U(0), module, U(0));
}

T(images_by_their_first_bytes)
{
	static const struct {
		const char *bytes;
		enum mod_image image;
	} images[] = { { "\x7f"
			 "ELF\2\1\1\x33",
			 MOD_IMAGE_CUBIN },
		       { "//\n// Ge", MOD_IMAGE_PTX },
		       { "\t.versio", MOD_IMAGE_PTX },
		       { "\xb1\x43\x62\x46\1\0\0\0", MOD_IMAGE_FATBIN },
		       { "\x50\xed\x55\xba\1\0\x10\0", MOD_IMAGE_FATBIN },
		       { "BC\xc0\xde....", MOD_IMAGE_OTHER } };

	begin_with((struct model_opts){ .modules = true });
	for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++)
		load(0x900 + i, images[i].bytes, 5);
	fx.more_flags = GPUBPF_CALL_BLOB_FAULT;
	load(0x999, "//\n// Ge", 5);
	finish();
	for (size_t i = 0; i < L->rows.n; i++) {
		const struct mod_row *r = hmap__at(&L->rows, i);

		CHECKF(tally__done(&r->calls) ==
			       (r->image == MOD_IMAGE_PTX || r->image == MOD_IMAGE_FATBIN ? 2 : 1),
		       "%d", (int)r->image);
	}
	CHECK(L->rows.n == 5);
	end();
}

T(a_handle_that_comes_back_is_another_module)
{
	begin_with((struct model_opts){ .modules = true });
	load(0x900, "//\n// Ge", 100);
	function(0x5000, 0x900, "one");
	launch(0x5000, 1);
	launch(0x5000, 2);
	call_n("cuModuleUnload", 1, U(0x900));
	load(0x900, "//\n// Ge", 700);
	function(0x5000, 0x900, "two");
	launch(0x5000, 1);
	finish();
	CHECK(kernel("one")->load_ns == 100 && kernel("one")->launches == 2 && kernel("one")->rest == 1);
	CHECK(kernel("two")->load_ns == 700 && kernel("two")->launches == 1 && kernel("two")->lookups == 1);
	CHECK(((struct mod_row *)hmap__at(&L->rows, 0))->functions == 2 &&
	      ((struct mod_row *)hmap__at(&L->rows, 0))->kernels == 2);
	end();
}

/* A kernel of a library, its function, its module: all lead to the load. */
T(libraries_kernels_and_functions)
{
	begin_with((struct model_opts){ .modules = true });
	fx.blob = "\xb1\x43\x62\x46\1\0\0\0";
	fx.nblob = 8;
	fx.took = 60;
	out_n("cuLibraryLoadData", 0xa00, 8, U(0), U(0x7000), U(0), U(0), U(0), U(0), U(0), U(0));
	fx.took = 5;
	with_text("k");
	out_n("cuLibraryGetKernel", 0x5100, 3, U(0), U(0xa00), U(0));
	out_n("cuKernelGetFunction", 0x5101, 2, U(0), U(0x5100));
	call_n("cuFuncLoad", 1, U(0x5101));
	launch(0x5101, 1);
	out_n("cuLibraryGetModule", 0xa01, 2, U(0), U(0xa00));
	function(0x5200, 0xa01, "m");
	launch(0x5200, 1);
	finish();
	CHECK(kernel("k")->has_load && kernel("k")->load_ns == 60 && kernel("k")->lookups == 3 &&
	      kernel("k")->lookup_ns == 15);
	CHECK(kernel("m")->has_load && kernel("m")->load_ns == 60 && kernel("m")->lookups == 1);
	end();
}

/* A name that is learned later makes one kernel of two; the earlier launch stays the first. */
T(names_that_come_late)
{
	const struct mod_kernel *k;

	begin_with((struct model_opts){ .modules = true });
	fx.took = 90;
	launch(0x5000, 1);
	fx.took = 5;
	with_text("late");
	call_n("cuFuncGetName", 2, U(0), U(0x5000));
	launch(0x5000, 1);
	launch(0x5000, 1);
	finish();
	CHECK(L->merged.n == 1);
	k = kernel("late");
	CHECK(k->first_ns == 90 && k->launches == 3 && k->rest == 2 && k->rest_ns == 10);
	end();
}

T(failed_launches_and_loads_are_no_first_ones)
{
	begin_with((struct model_opts){ .modules = true });
	fx.result = 200;
	load(0x900, "//\n// Ge", 5);
	fx.result = 400;
	launch(0x5000, 1);
	launch(0x5000, 1);
	finish();
	CHECK(L->merged.n == 1 && ((struct mod_kernel *)hmap__at(&L->merged, 0))->launches == 1);
	CHECK(L->loads.n == 0 && L->nspans == 0);
	end();
}

TEST_MAIN
