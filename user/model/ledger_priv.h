/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the ledger share. */
#ifndef GPUBPF_LEDGER_PRIV_H
#define GPUBPF_LEDGER_PRIV_H

#include "model/ledger.h"

__attribute__((format(printf, 6, 7))) void ledger_say(struct ledger_reason *list, unsigned *n,
						      const char *code, uint64_t count, const char *remedy,
						      const char *fmt, ...);

#define REASON(l, ...) ledger_say((l)->reason, &(l)->nreasons, __VA_ARGS__)
#define FACT(l, ...) ledger_say((l)->fact, &(l)->nfacts, __VA_ARGS__)

/* Fills l->device and says what follows from it; the host's lines are there already. */
void ledger_device(const struct ledger_input *in, struct ledger *l);
/* What the device observer adds to the headline. */
void ledger_device_text(const struct ledger *l, char *buf, size_t n);

/* What the members of a merged capture say of themselves; their verdict bounds the whole's. */
void ledger_members(const Gpubpf__Meta *meta, struct ledger *l);
enum ledger_verdict ledger_members_bound(const struct ledger *l, enum ledger_verdict v);

#endif
