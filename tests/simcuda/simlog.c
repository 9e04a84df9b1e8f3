/* SPDX-License-Identifier: GPL-2.0-or-later */
/* simlog [--json | --counts] FILE: prints the log of the simulated driver. */
#include "simlog.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct count {
	const char *symbol;
	uint64_t calls, nested, failed, open;
};

static int by_symbol(const void *a, const void *b)
{
	return strcmp(((const struct count *)a)->symbol, ((const struct count *)b)->symbol);
}

/* One line per symbol: symbol, calls by the program, calls nested in another, failed of both, never returned. */
static void print_counts(const struct simlog_record *r, uint64_t n)
{
	static struct count counts[1024];
	size_t used = 0;

	for (uint64_t i = 0; i < n; i++) {
		size_t k;

		if (r[i].state == SIMLOG_EMPTY)
			continue;
		for (k = 0; k < used && strcmp(counts[k].symbol, r[i].symbol) != 0; k++)
			;
		if (k == sizeof(counts) / sizeof(counts[0]))
			continue;
		if (k == used)
			counts[used++].symbol = r[i].symbol;
		counts[k].calls += r[i].depth == 0;
		counts[k].nested += r[i].depth != 0;
		counts[k].open += r[i].state == SIMLOG_ENTERED;
		/* CUDA_ERROR_NOT_READY is an answer, not a failure. */
		counts[k].failed += r[i].state == SIMLOG_RETURNED && r[i].result != 0 && r[i].result != 600;
	}
	qsort(counts, used, sizeof(counts[0]), by_symbol);
	for (size_t k = 0; k < used; k++)
		printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", counts[k].symbol,
		       counts[k].calls, counts[k].nested, counts[k].failed, counts[k].open);
}

static void print_text(const struct simlog_record *r)
{
	printf("%" PRIu64 " %u/%u %*s%s(", r->t_entry, r->tgid, r->tid, r->depth * 2, "", r->symbol);
	for (unsigned i = 0; i < r->nargs && i < SIMLOG_WORDS; i++)
		printf("%s0x%" PRIx64, i ? ", " : "", r->words[i]);
	if (r->state == SIMLOG_ENTERED) {
		printf(") open\n");
		return;
	}
	printf(") = %d", r->result);
	if (r->flags & SIMLOG_HAS_OUT)
		printf(" out 0x%" PRIx64, r->out);
	printf(" %" PRIu64 " ns\n", r->t_exit - r->t_entry);
}

/* 64-bit words as strings: a JSON reader's integers may be narrower. */
static void print_json(const struct simlog_record *r)
{
	printf("{\"symbol\":\"%s\",\"tgid\":%u,\"tid\":%u,\"depth\":%u,\"t_entry\":%" PRIu64, r->symbol,
	       r->tgid, r->tid, r->depth, r->t_entry);
	if (r->state == SIMLOG_RETURNED)
		printf(",\"t_exit\":%" PRIu64 ",\"result\":%d", r->t_exit, r->result);
	printf(",\"words\":[");
	for (unsigned i = 0; i < r->nargs && i < SIMLOG_WORDS; i++)
		printf("%s\"0x%" PRIx64 "\"", i ? "," : "", r->words[i]);
	printf("]");
	if (r->flags & SIMLOG_HAS_OUT)
		printf(",\"out\":\"0x%" PRIx64 "\"", r->out);
	if (r->flags & SIMLOG_HAS_OUT2)
		printf(",\"out2\":\"0x%" PRIx64 "\"", r->out2);
	if (r->flags & SIMLOG_INJECTED)
		printf(",\"injected\":true");
	printf("}\n");
}

/* What is there now: a live process goes on writing. */
static const struct simlog_header *map_log(const char *path, uint64_t *n, uint64_t *beyond)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const struct simlog_header *h = MAP_FAILED;
	uint64_t room;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size >= SIMLOG_HEADER_BYTES)
		h = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (h == MAP_FAILED || h->magic != SIMLOG_MAGIC || h->record_bytes != sizeof(struct simlog_record))
		return NULL;
	room = ((uint64_t)st.st_size - SIMLOG_HEADER_BYTES) / sizeof(struct simlog_record);
	room = room < h->capacity ? room : h->capacity;
	*n = h->claimed;
	*beyond = *n > room ? *n - room : 0;
	*n -= *beyond;
	return h;
}

int main(int argc, char **argv)
{
	const char *mode = argc == 3 ? argv[1] : "";
	const struct simlog_header *h;
	const struct simlog_record *r;
	uint64_t n, beyond;

	if (argc < 2 || argc > 3 ||
	    (argc == 3 && strcmp(mode, "--json") != 0 && strcmp(mode, "--counts") != 0)) {
		fprintf(stderr, "usage: simlog [--json | --counts] FILE\n");
		return 2;
	}
	h = map_log(argv[argc - 1], &n, &beyond);
	if (!h) {
		fprintf(stderr, "simlog: %s: no log of the simulated driver\n", argv[argc - 1]);
		return 1;
	}
	r = (const struct simlog_record *)((const char *)h + SIMLOG_HEADER_BYTES);
	if (strcmp(mode, "--counts") == 0)
		print_counts(r, n);
	else
		for (uint64_t i = 0; i < n; i++)
			if (r[i].state != SIMLOG_EMPTY)
				(*mode ? print_json : print_text)(&r[i]);
	if (beyond)
		fprintf(stderr, "simlog: %" PRIu64 " calls beyond the log's capacity left no record\n",
			beyond);
	return 0;
}
