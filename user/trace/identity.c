// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* FNV-1a, 128 bits */
#define BASIS ((__uint128_t)UINT64_C(0x6c62272e07bb0142) << 64 | UINT64_C(0x62b821756295c58d))
#define PRIME ((__uint128_t)UINT64_C(0x0000000001000000) << 64 | UINT64_C(0x000000000000013b))

static void take(__uint128_t *h, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++)
		*h = (*h ^ p[i]) * PRIME;
}

/* With its end, so that two texts are never one; absent is not "". */
static void take_text(__uint128_t *h, const char *text)
{
	take(h, text ? "+" : "-", 1);
	if (text)
		take(h, text, strlen(text) + 1);
}

void identity__of(const Gpubpf__Meta *meta, struct identity *id)
{
	__uint128_t h = BASIS;

	take_text(&h, meta->host ? meta->host->boot_id : NULL);
	take_text(&h, meta->host ? meta->host->hostname : NULL);
	take(&h, &meta->start_ns, sizeof(meta->start_ns));
	take_text(&h, meta->mode);
	for (size_t i = 0; i < meta->n_command; i++)
		take_text(&h, meta->command[i]);
	if (meta->n_clock) { /* the first: later ones are not in a part of the file */
		take(&h, &meta->clock[0]->monotonic_ns, sizeof(meta->clock[0]->monotonic_ns));
		take(&h, &meta->clock[0]->realtime_ns, sizeof(meta->clock[0]->realtime_ns));
	}
	for (size_t i = 0; i < meta->n_member; i++)
		take_text(&h, meta->member[i]->identity);
	id->word[0] = (uint64_t)(h >> 64);
	id->word[1] = (uint64_t)h;
	snprintf(id->text, sizeof(id->text), "%016" PRIx64 "%016" PRIx64, id->word[0], id->word[1]);
}

/* Each step can be undone, so that different numbers stay different. */
uint64_t identity__id(const struct identity *id, unsigned kind, uint64_t n)
{
	uint64_t x = ((uint64_t)kind << 60 | n) ^ id->word[1];

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	x ^= x >> 31;
	x ^= id->word[0];
	return x ? x : 1;
}
