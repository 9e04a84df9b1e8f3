/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls every symbol of bpf/apis.h that the driver exports, once each and in the table's order, through a
 * pointer, with a value in every argument that no other argument of any call has. What it passed is the truth
 * for tests of argument capture: one line of JSON per call. Only for the simulated driver with SIMCUDA_STUB=1:
 * no other one survives this.
 *
 *   callall [--lib PATH] OUTPUT
 *
 * words are cut to the width of their type; what is above it in the register is 0xdeadbeef, since the ABI lets
 * it be anything.
 */
#include <cuda.h>

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "apis.h"

#define ARGS_MAX 12
#define ATTRS 2
#define BATCH 3 /* elements of a Z array, and so the value of `count` */

struct call {
	char symbol[96];
	char types[ARGS_MAX + 1];
	char names[ARGS_MAX][16];
	unsigned nargs;
	int legacy32;
	uint64_t words[ARGS_MAX];   /* as passed */
	uint64_t results[ARGS_MAX]; /* memory behind o, O, x, n */
	union {
		char string[64];
		unsigned char bytes[256];
		size_t sizes[BATCH];
		CUlaunchConfig config;
	} blob;
	size_t blob_bytes;
	CUlaunchAttribute attrs[ATTRS];
};

static uint64_t serial = 1;

static unsigned width(const struct call *c, unsigned i)
{
	switch (c->types[i]) {
	case 'b':
		return 8;
	case 'w':
		return 16;
	case 'u':
	case 'i':
		return 32;
	case 'd':
	case 'z':
		return c->legacy32 ? 32 : 64;
	default:
		return 64;
	}
}

static uint64_t cut(const struct call *c, unsigned i)
{
	unsigned bits = width(c, i);

	return bits == 64 ? c->words[i] : c->words[i] & ((1ull << bits) - 1);
}

/* Bytes that differ within one structure and between structures. */
static void fill(void *p, size_t n)
{
	unsigned char *bytes = p;
	uint64_t x = serial * 0x9e3779b97f4a7c15ull;

	for (size_t i = 0; i < n; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		bytes[i] = (unsigned char)(x >> 56);
	}
}

static void *blob_of(struct call *c, char type)
{
	switch (type) {
	case 's':
		c->blob_bytes = (size_t)snprintf(c->blob.string, sizeof(c->blob.string),
						 "text of call %" PRIu64, serial);
		break;
	case 'L':
		fill(&c->blob, sizeof(c->blob.config));
		fill(c->attrs, sizeof(c->attrs));
		c->attrs[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
		c->attrs[1].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
		c->blob.config.attrs = c->attrs;
		c->blob.config.numAttrs = ATTRS;
		c->blob_bytes = sizeof(c->blob.config);
		break;
	case 'Z':
		for (int i = 0; i < BATCH; i++)
			c->blob.sizes[i] = serial * 1000003 + (size_t)i;
		c->blob_bytes = sizeof(c->blob.sizes);
		break;
	case 'm':
		c->blob_bytes = 8;
		fill(&c->blob, c->blob_bytes);
		break;
	default:
		c->blob_bytes = type == '2'   ? sizeof(CUDA_MEMCPY2D)
				: type == '3' ? sizeof(CUDA_MEMCPY3D)
					      : sizeof(CUDA_MEMCPY3D_PEER);
		fill(&c->blob, c->blob_bytes);
	}
	return &c->blob;
}

static void prepare(struct call *c)
{
	for (unsigned i = 0; i < c->nargs; i++, serial++) {
		char t = c->types[i];

		c->words[i] = 0xdeadbeef00000000ull | (serial * 0x01000193u & 0xffffffffu);
		if (strchr("smL23PZ", t))
			c->words[i] = (uintptr_t)blob_of(c, t);
		else if (strchr("oOxn", t))
			c->words[i] = (uintptr_t)&c->results[i];
		else if (width(c, i) == 64)
			c->words[i] = 0x00007a0000000000ull + serial * 0x1000193u;
		else if (width(c, i) < 32)
			c->words[i] = 0xdeadbeef00000000ull | serial * 37 % 251 |
				      (t == 'w' ? serial % 200 << 8 : 0);
	}
	for (unsigned i = 0; i < c->nargs; i++)
		if (strcmp(c->names[i], "count") == 0 && strchr(c->types, 'Z'))
			c->words[i] = BATCH;
}

typedef uint64_t W;
static int invoke(void *fn, unsigned n, const W *w)
{
	switch (n) {
	case 0:
		return ((int (*)(void))fn)();
	case 1:
		return ((int (*)(W))fn)(w[0]);
	case 2:
		return ((int (*)(W, W))fn)(w[0], w[1]);
	case 3:
		return ((int (*)(W, W, W))fn)(w[0], w[1], w[2]);
	case 4:
		return ((int (*)(W, W, W, W))fn)(w[0], w[1], w[2], w[3]);
	case 5:
		return ((int (*)(W, W, W, W, W))fn)(w[0], w[1], w[2], w[3], w[4]);
	case 6:
		return ((int (*)(W, W, W, W, W, W))fn)(w[0], w[1], w[2], w[3], w[4], w[5]);
	case 7:
		return ((int (*)(W, W, W, W, W, W, W))fn)(w[0], w[1], w[2], w[3], w[4], w[5], w[6]);
	case 8:
		return ((int (*)(W, W, W, W, W, W, W, W))fn)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]);
	case 9:
		return ((int (*)(W, W, W, W, W, W, W, W, W))fn)(w[0], w[1], w[2], w[3], w[4], w[5], w[6],
								w[7], w[8]);
	case 10:
		return ((int (*)(W, W, W, W, W, W, W, W, W, W))fn)(w[0], w[1], w[2], w[3], w[4], w[5], w[6],
								   w[7], w[8], w[9]);
	case 11:
		return ((int (*)(W, W, W, W, W, W, W, W, W, W, W))fn)(w[0], w[1], w[2], w[3], w[4], w[5],
								      w[6], w[7], w[8], w[9], w[10]);
	default:
		return ((int (*)(W, W, W, W, W, W, W, W, W, W, W, W))fn)(
			w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11]);
	}
}

static void print_hex(FILE *f, const char *key, const void *p, size_t n)
{
	fprintf(f, ",\"%s\":\"", key);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%02x", ((const unsigned char *)p)[i]);
	fputc('"', f);
}

static void print(FILE *f, const struct call *c, int result)
{
	fprintf(f, "{\"symbol\":\"%s\",\"tgid\":%d,\"tid\":%ld,\"types\":\"%s\",\"result\":%d,\"words\":[",
		c->symbol, getpid(), syscall(SYS_gettid), c->types, result);
	for (unsigned i = 0; i < c->nargs; i++)
		fprintf(f, "%s\"0x%" PRIx64 "\"", i ? "," : "", cut(c, i));
	fputc(']', f);
	for (unsigned i = 0; i < c->nargs; i++) {
		if (c->types[i] == 'o' || c->types[i] == 'O')
			fprintf(f, ",\"out\":\"0x%" PRIx64 "\"", c->results[i]);
		else if (c->types[i] == 'x')
			fprintf(f, ",\"out2\":\"0x%" PRIx64 "\"", c->results[i]);
		else if (c->types[i] == 'n' && c->results[i])
			fprintf(f, ",\"string\":\"%s\"", (const char *)(uintptr_t)c->results[i]);
		else if (c->types[i] == 's')
			fprintf(f, ",\"string\":\"%s\"", c->blob.string);
		else if (strchr("L23PZ", c->types[i]))
			print_hex(f, "blob", &c->blob, c->blob_bytes);
		if (c->types[i] == 'L')
			print_hex(f, "attrs", c->attrs, sizeof(c->attrs));
	}
	fprintf(f, "}\n");
}

static void parse(struct call *c, const char *signature)
{
	char copy[256], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", signature);
	for (char *p = strtok_r(copy, " ", &save); p && c->nargs < ARGS_MAX; p = strtok_r(NULL, " ", &save)) {
		char *colon = strchr(p, ':');

		c->types[c->nargs] = colon[1];
		*colon = '\0';
		snprintf(c->names[c->nargs++], sizeof(c->names[0]), "%s", p);
	}
}

static const struct {
	const char *base, *variants, *signature;
} rows[] = {
#define ROW(kind, base, variants, signature) { base, variants, signature },
	GPUBPF_APIS(ROW)
};

int main(int argc, char **argv)
{
	const char *path = argc == 4 && strcmp(argv[1], "--lib") == 0 ? argv[2] : "libcuda.so.1";
	void *lib = dlopen(path, RTLD_NOW);
	unsigned called = 0, missing = 0;
	FILE *f;

	if (argc != 2 && argc != 4) {
		fprintf(stderr, "usage: callall [--lib PATH] OUTPUT\n");
		return 2;
	}
	if (!lib || !getenv("SIMCUDA_STUB")) {
		fprintf(stderr, "callall: %s\n", lib ? "SIMCUDA_STUB is not set" : dlerror());
		return 1;
	}
	f = fopen(argv[argc - 1], "we");
	if (!f)
		return 1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char list[64], *save = NULL;

		snprintf(list, sizeof(list), "%s", rows[i].variants);
		for (char *v = strtok_r(list, " ", &save); v; v = strtok_r(NULL, " ", &save)) {
			struct call c = { .legacy32 = *v == '!' };
			void *fn;

			snprintf(c.symbol, sizeof(c.symbol), "%s%s", rows[i].base, *v == '_' ? v : "");
			fn = dlsym(lib, c.symbol);
			missing += !fn;
			if (!fn)
				continue;
			parse(&c, rows[i].signature);
			prepare(&c);
			print(f, &c, invoke(fn, c.nargs, c.words));
			called++;
		}
	}
	printf("{\"called\":%u,\"missing\":%u}\n", called, missing);
	return fclose(f) != 0;
}
