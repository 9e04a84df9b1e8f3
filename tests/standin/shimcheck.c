/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds the batches of a capture against the log of the stand-in that made them (standin.c).
 *
 *   shimcheck CAPTURE LOG [lossy]   every hit is there, in order, with its bytes; lossy: or it is counted as lost
 *
 * Prints what differs and ends with 1, or prints how many batches agreed.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "standin.h"
#include "util/err.h"

#define MAX_HITS 400000

static struct logged {
	unsigned pid, probe, session;
	uint64_t sequence, items;
	bool seen;
} * hits;
static size_t nhits;
static unsigned wrong;

__attribute__((format(printf, 1, 2))) static void differ(const char *fmt, ...)
{
	va_list ap;

	if (wrong++ >= 20)
		return;
	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static int read_log(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[256];

	hits = calloc(MAX_HITS, sizeof(*hits));
	if (!f || !hits)
		return -1;
	while (fgets(line, sizeof(line), f) && nhits < MAX_HITS) {
		struct logged *h = &hits[nhits];

		if (sscanf(line, "%u hit %u %" SCNu64 " %" SCNu64, &h->pid, &h->probe, &h->sequence,
			   &h->items) == 4)
			nhits++;
	}
	fclose(f);
	return 0;
}

/* The first that was not seen yet: sessions repeat the numbers. */
static struct logged *find(const struct gpubpf_shim *b)
{
	for (size_t i = 0; i < nhits; i++) {
		if (!hits[i].seen && hits[i].pid == b->tgid && hits[i].probe == b->probe &&
		    hits[i].sequence == b->sequence)
			return &hits[i];
	}
	return NULL;
}

static void check_items(const struct gpubpf_shim *b)
{
	const uint8_t *p = (const uint8_t *)b->items;
	size_t bytes = (size_t)b->item_size * b->count;

	for (size_t i = 0; i < bytes; i++) {
		unsigned index = (unsigned)(i / b->item_size), at = (unsigned)(i % b->item_size);

		if (p[i] == standin_byte(b->probe, b->sequence, index, at))
			continue;
		differ("probe %u, hit %" PRIu64 ": byte %u of item %u is %#x", b->probe,
		       (uint64_t)b->sequence, at, index, p[i]);
		return;
	}
}

static void check_batch(const struct gpubpf_shim *b)
{
	struct logged *h = find(b);
	uint64_t fits = b->probe < GPUBPF_PROBES ? GPUBPF_BATCH_MAX / standin_item_size[b->probe] : 0;
	size_t used = sizeof(*b) + (((size_t)b->item_size * b->count + 7) & ~(size_t)7);
	uint64_t sent;

	if (!h) {
		differ("probe %u, hit %" PRIu64 " of process %u: nobody sent that", b->probe,
		       (uint64_t)b->sequence, b->tgid);
		return;
	}
	h->seen = true;
	sent = h->items > UINT32_MAX ? UINT32_MAX : h->items;
	if (b->sent != sent || b->item_size != standin_item_size[b->probe] || b->reserved || b->size != used)
		differ("probe %u, hit %" PRIu64 ": sent %u of %" PRIu64 ", item size %u, size %u of %zu",
		       b->probe, (uint64_t)b->sequence, b->sent, sent, b->item_size, b->size, used);
	if (b->flags & GPUBPF_SHIM_FAULT) {
		if (b->count)
			differ("probe %u: %u items that could not be read", b->probe, b->count);
		return;
	}
	if (b->count != (sent < fits ? sent : fits) || !(b->flags & GPUBPF_SHIM_CUT) != (sent <= fits))
		differ("probe %u, hit %" PRIu64 ": %u items of %" PRIu64 ", flags %#x", b->probe,
		       (uint64_t)b->sequence, b->count, sent, b->flags);
	/* those of hello and status mean something, and so does the last activity; zeros are a storm's */
	if (b->probe != GPUBPF_PROBE_HELLO && b->probe != GPUBPF_PROBE_STATUS &&
	    !(b->probe == GPUBPF_PROBE_ACTIVITY && b->sequence >= STANDIN_SIZES) && sent <= 65536)
		check_items(b);
}

static void check_counts(const Gpubpf__Counts *c, bool lossy)
{
	uint64_t unseen[GPUBPF_PROBES] = { 0 }, sent[GPUBPF_PROBES] = { 0 };

	for (size_t i = 0; i < nhits; i++) {
		unseen[hits[i].probe] += !hits[i].seen;
		sent[hits[i].probe]++;
		if (!hits[i].seen && !lossy)
			differ("probe %u, hit %" PRIu64 " of process %u is not in the capture", hits[i].probe,
			       hits[i].sequence, hits[i].pid);
	}
	if (!c || c->n_probe != GPUBPF_PROBES) {
		differ("no counts of the probes");
		return;
	}
	for (unsigned p = 0; p < GPUBPF_PROBES; p++) {
		if (c->probe[p]->hits != sent[p] || c->probe[p]->lost_hits != unseen[p])
			differ("probe %u: %" PRIu64 " hits counted of %" PRIu64 ", %" PRIu64
			       " lost of %" PRIu64,
			       p, c->probe[p]->hits, sent[p], c->probe[p]->lost_hits, unseen[p]);
	}
}

int main(int argc, char **argv)
{
	const struct gpubpf_rec *rec;
	struct capture_reader *r;
	struct err err = { "" };
	unsigned batches = 0;
	bool lossy;

	if (argc < 3 || read_log(argv[2]) || capture_reader__open(argv[1], &r, &err)) {
		printf("# %s\n", err.msg[0] ? err.msg : "shimcheck CAPTURE LOG [lossy]");
		return 1;
	}
	lossy = argc > 3;
	while (capture_reader__next(r, &rec, &err) > 0) {
		if (rec->kind != GPUBPF_REC_SHIM)
			continue;
		check_batch((const struct gpubpf_shim *)rec);
		batches++;
	}
	if (capture_reader__status(r)->bad_records)
		differ("%" PRIu64 " bad records", capture_reader__status(r)->bad_records);
	check_counts(capture_reader__counts(r), lossy);
	capture_reader__close(r);
	free(hits);
	if (!wrong)
		printf("%u batches agree\n", batches);
	return wrong != 0;
}
