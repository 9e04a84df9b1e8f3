/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fuzz target without libFuzzer: replay NAME COUNT FILE…. Each file as it is, then COUNT mutations of all of them,
 * the same ones every time. A crash, or a sanitizer's report, is the failure.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 16, FILES_MAX = 64 };

struct input {
	uint8_t *data;
	size_t size;
};

static uint64_t state = 0x9e3779b97f4a7c15u;

static size_t draw(size_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below ? (size_t)(state % below) : 0;
}

static int input_read(struct input *in, const char *path)
{
	FILE *f = fopen(path, "rb");

	in->data = malloc(INPUT_MAX);
	if (!f || !in->data)
		return -1;
	in->size = fread(in->data, 1, INPUT_MAX, f);
	fclose(f);
	return 0;
}

/* One change of a byte, a word, the length, or a piece of another input laid over it. */
static void mutate(struct input *m, const struct input *other)
{
	static const uint32_t words[] = { 0, 1, 0x7f, 0xff, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff };
	size_t at = draw(m->size), n;

	switch (draw(5)) {
	case 0:
		if (m->size)
			m->data[at] = (uint8_t)draw(256);
		break;
	case 1:
		if (m->size)
			m->data[at] ^= (uint8_t)(1u << draw(8));
		break;
	case 2:
		if (m->size >= 4)
			memcpy(m->data + (at & ~(size_t)3) % (m->size - 3), &words[draw(8)], 4);
		break;
	case 3:
		m->size = draw(m->size + 1);
		break;
	case 4:
		n = draw(other->size + 1);
		if (n > INPUT_MAX - at)
			n = INPUT_MAX - at;
		memmove(m->data + at, other->data + draw(other->size - n + 1), n);
		if (m->size < at + n)
			m->size = at + n;
		break;
	}
}

int main(int argc, char **argv)
{
	struct input in[FILES_MAX], m = { .data = malloc(INPUT_MAX) };
	long count = argc > 2 ? atol(argv[2]) : 0;
	size_t n = 0;

	if (argc < 4 || argc - 3 > FILES_MAX || !m.data) {
		fprintf(stderr, "usage: replay NAME COUNT FILE…\n");
		return 2;
	}
	for (int i = 3; i < argc; i++) {
		if (input_read(&in[n], argv[i])) {
			printf("# %s cannot be read\nnot ok fuzz %s: stored inputs\n", argv[i], argv[1]);
			return 1;
		}
		LLVMFuzzerTestOneInput(in[n].data, in[n].size);
		n++;
	}
	printf("ok fuzz %s: %zu stored inputs\n", argv[1], n);
	for (long i = 0; i < count; i++) {
		const struct input *from = &in[draw(n)];

		memcpy(m.data, from->data, from->size);
		m.size = from->size;
		for (size_t k = 1 + draw(8); k-- > 0;)
			mutate(&m, &in[draw(n)]);
		LLVMFuzzerTestOneInput(m.data, m.size);
	}
	printf("ok fuzz %s: %ld mutations of them\n", argv[1], count);
	for (size_t i = 0; i < n; i++)
		free(in[i].data);
	free(m.data);
	return 0;
}
