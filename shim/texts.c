/* SPDX-License-Identifier: BSD-2-Clause */
#include "texts.h"

#include <string.h>

#include "emit.h"

#define NAMES_HIT 32
/* A fresh look at all names for a recorder that came in between: one hit a second, and then a pause. */
#define AGAIN_SECONDS 10

struct names texts_kernels, texts_labels;

static struct again {
	__u32 at, part;
} places[2];             /* of kernels and labels */
static __u32 pause_left; /* seconds */

void texts__begin(__u32 session)
{
	texts_labels.base = GPUBPF_NAME_LABELS;
	names__begin(&texts_kernels, session);
	names__begin(&texts_labels, session);
	memset(places, 0, sizeof(places));
	pause_left = AGAIN_SECONDS;
}

static bool send_some(struct names *n)
{
	struct gpubpf_name out[NAMES_HIT];
	size_t k = names__send(n, out, NAMES_HIT);

	if (k)
		emit__hit(GPUBPF_PROBE_NAMES, out, k);
	return k;
}

void texts__send(void)
{
	while (send_some(&texts_kernels) || send_some(&texts_labels))
		;
}

/* True: all of it has been sent once more. */
static bool send_again(struct names *n, struct again *a)
{
	__u32 sent = n->sent, part = n->part;
	bool whole;

	n->sent = a->at;
	n->part = a->part;
	send_some(n);
	a->at = n->sent;
	a->part = n->part;
	whole = n->sent == n->pending;
	n->sent = sent;
	n->part = part;
	return whole;
}

void texts__send_again(void)
{
	bool whole;

	if (pause_left) {
		pause_left--;
		return;
	}
	whole = send_again(&texts_kernels, &places[0]);
	if (send_again(&texts_labels, &places[1]) && whole) {
		memset(places, 0, sizeof(places));
		pause_left = AGAIN_SECONDS;
	}
}
