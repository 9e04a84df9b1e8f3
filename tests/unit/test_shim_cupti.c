/* SPDX-License-Identifier: GPL-2.0-or-later */
/* With a real CUPTI wherever one is installed; none of this needs a GPU. */
#include "shim/cupti.c"
#include "shim/decode.c"
#include "shim/find.c"
#include "shim/names.c"
#include "t.h"

static struct cupti c;

static int open_with(const char *setting)
{
	int rc;

	memset(&c, 0, sizeof(c));
	if (setting)
		setenv("GPUBPF_CUPTI_PATH", setting, 1);
	rc = cupti__open(&c);
	unsetenv("GPUBPF_CUPTI_PATH");
	return rc;
}

T(no_such_file)
{
	CHECK(open_with("/nowhere/libcupti.so.13") == GPUBPF_REASON_CUPTI_MISSING);
	CHECK(c.handle == NULL && c.tried == 1 && c.version == 0);
}

T(no_library)
{
	CHECK(open_with("/etc/passwd") == GPUBPF_REASON_CUPTI_MISSING);
	CHECK(c.handle == NULL && c.tried == 1);
}

static bool is_libc(const char *base)
{
	return !strncmp(base, "libc.so", 7);
}

/* A library that is not CUPTI: what it lacks is said. */
T(incomplete)
{
	char path[CUPTI_PATH_MAX] = "";

	CHECK(find__in_process(0, is_libc, path, sizeof(path)));
	CHECK(open_with(path) == GPUBPF_REASON_CUPTI_INCOMPLETE);
	CHECK(c.missing && !strcmp(c.missing, "cuptiGetVersion"));
	CHECK(c.handle == NULL && c.tried == 1);
}

T(reasons)
{
	CHECK(cupti__reason(GPUBPF_FACILITY_SUBSCRIBE, ABI_SUCCESS) == 0);
	CHECK(cupti__reason(GPUBPF_FACILITY_SUBSCRIBE, 39) == GPUBPF_REASON_SECOND_SUBSCRIBER);
	CHECK(cupti__reason(GPUBPF_FACILITY_SUBSCRIBE, 12) == GPUBPF_REASON_SECOND_SUBSCRIBER);
	CHECK(cupti__reason(GPUBPF_FACILITY_KERNEL, 12) == GPUBPF_REASON_FACILITY);
	CHECK(cupti__reason(GPUBPF_FACILITY_KERNEL, 35) == GPUBPF_REASON_NOT_PERMITTED);
	CHECK(cupti__reason(GPUBPF_FACILITY_SUBSCRIBE, 40) == GPUBPF_REASON_NOT_PERMITTED);
	CHECK(cupti__reason(GPUBPF_FACILITY_BUFFERS, 8) == GPUBPF_REASON_MEMORY);
	CHECK(cupti__reason(GPUBPF_FACILITY_SUBSCRIBE, 15) == GPUBPF_REASON_SUBSCRIBE);
	CHECK(cupti__reason(GPUBPF_FACILITY_SET, 15) == GPUBPF_REASON_FACILITY);
	CHECK(cupti__reason(GPUBPF_FACILITY_KERNEL, 999) == GPUBPF_REASON_FACILITY);
}

T(real_cupti_is_found)
{
	const char *name = NULL;
	enum cupti_source source;

	if (open_with(NULL))
		SKIP("a CUPTI library");
	source = c.source;
	CHECK(c.handle && c.version >= CUPTI_SINCE_11_0 && c.path[0] == '/' && strstr(c.path, "libcupti.so"));
	CHECK(!access(c.path, R_OK));
	CHECK(source != CUPTI_FROM_PROCESS);
	CHECK(cupti__open(&c) == 0 && c.source == source);
	CHECK(cupti__knows(&c, ABI_CB_DOMAIN_DRIVER_API, ABI_CBID_cuLaunchKernel));
	CHECK(cupti__knows(&c, ABI_CB_DOMAIN_RESOURCE, ABI_CBID_RESOURCE_MODULE_LOADED));
	CHECK(!cupti__knows(&c, ABI_CB_DOMAIN_DRIVER_API, 5000) &&
	      !cupti__knows(&c, ABI_CB_DOMAIN_RUNTIME_API, 5000));
	CHECK(c.get_result_string &&
	      c.get_result_string(ABI_ERROR_INSUFFICIENT_PRIVILEGES, &name) == ABI_SUCCESS);
	CHECK(name && !strcmp(name, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"));
	CHECK(c.activity_register_timestamp && c.get_timestamp && c.activity_enable_latency);
}

/* The names that the real library has for our ids. */
T(real_cupti_agrees_on_ids)
{
	static const struct {
		const char *name;
		uint32_t id;
	} ids[] = {
#define X(symbol, id, work) { #symbol, id },
		CUPTI_DRIVER_CBIDS(X)
#undef X
	};
	int known = 0;

	if (open_with(NULL) || !c.get_callback_name)
		SKIP("a CUPTI library");
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		const char *name = NULL;

		if (!cupti__knows(&c, ABI_CB_DOMAIN_DRIVER_API, ids[i].id))
			continue;
		known++;
		CHECK(c.get_callback_name(ABI_CB_DOMAIN_DRIVER_API, ids[i].id, &name) == ABI_SUCCESS);
		/* 12.8 and 12.9 named two of them in another order of words. */
		CHECKF(name && (!strcmp(name, ids[i].name) || strstr(name, "Batch")), "%s is %s there",
		       ids[i].name, name ? name : "none");
	}
	CHECK(known >= 130);
}

/* The process has one already: that copy is taken, whatever the setting says. */
T(real_cupti_mapped_first)
{
	struct cupti first;

	if (open_with(NULL))
		SKIP("a CUPTI library");
	first = c;
	CHECK(open_with("/nowhere") == 0);
	CHECK(c.source == CUPTI_FROM_PROCESS && c.handle == first.handle && c.subscribe == first.subscribe);
}

static struct gpubpf_activity got[8];
static int ngot;

static int sink(const struct gpubpf_activity *a, void *arg)
{
	(void)arg;
	if (ngot < 8)
		got[ngot++] = *a;
	return 0;
}

static size_t put(uint8_t *to, const void *record, size_t size)
{
	memcpy(to, record, size);
	return size;
}

/* The real walk over a buffer laid out by our structs: the sizes it steps by are those of this version. */
T(real_cupti_walks_our_layouts)
{
	static _Alignas(8) uint8_t buf[4096];
	static struct names names;
	struct cupti_kernel k = { .kind = ABI_ACTIVITY_KIND_CONCURRENT_KERNEL,
				  .correlation = 1,
				  .start = 10,
				  .end = 20,
				  .name = "_Z4realv" };
	struct cupti_memcpy m = {
		.kind = ABI_ACTIVITY_KIND_MEMCPY, .correlation = 2, .copy_kind = 1, .bytes = 64
	};
	struct cupti_memcpy_peer p = { .kind = ABI_ACTIVITY_KIND_MEMCPY2, .correlation = 3, .copy_kind = 10 };
	struct cupti_memset s = { .kind = ABI_ACTIVITY_KIND_MEMSET, .correlation = 4, .value = 7 };
	struct decode d;
	size_t n = 0;

	if (open_with(NULL))
		SKIP("a CUPTI library");
	if (c.version < CUPTI_SINCE_11_8)
		SKIP("a CUPTI of 11.8 or later");
	n += put(buf + n, &k, c.version >= CUPTI_SINCE_13_0 ? 216 : 208);
	n += put(buf + n, &m, c.version >= CUPTI_SINCE_12_8 ? 96 : 88);
	n += put(buf + n, &p, sizeof(p));
	n += put(buf + n, &s, sizeof(s));
	k.correlation = 5;
	n += put(buf + n, &k, c.version >= CUPTI_SINCE_13_0 ? 216 : 208);
	names__begin(&names, 1);
	decode__begin(&d, &c, &names, 1);
	CHECK(decode__buffer(&d, buf, n, sink, NULL) == 0 && d.records == 5 && d.unknown == 0 && d.bad == 0);
	CHECK(ngot == 5);
	for (int i = 0; i < ngot; i++)
		CHECK(got[i].correlation == (__u32)i + 1);
	CHECK(got[0].name == 1 && got[4].name == 1 && got[1].u.copy.bytes == 64 && got[3].u.set.value == 7);
	CHECK(got[2].flags == GPUBPF_ACTIVITY_PEER);
}

TEST_MAIN
