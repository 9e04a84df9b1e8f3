/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Activity buffers for CUPTI: mapped once, touched as far as they are used, never more. CUPTI asks for them on the
 * application's threads and gives them back on its own; both are answered without a lock. When none is left CUPTI gets
 * a scratch buffer, whose records are thrown away and counted by request: NULL crashed where it was tried.
 */
#ifndef GPUBPF_SHIM_BUFFERS_H
#define GPUBPF_SHIM_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#define BUFFERS 64 /* bits of a word */
#define BUFFER_BYTES (512u << 10)
#define SCRATCH_BYTES (32u << 10)

/* Once per process. 0, or an errno. */
int buffers__map(void);
/* A session: losses from 0. */
void buffers__begin(void);

/* The next one is as large as half the pool, so that it comes back late; it becomes single ones then. */
void buffers__widen(void);

/* CUPTI's callbacks. */
void buffers__requested(uint8_t **buffer, size_t *size, size_t *max_records);
void buffers__completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* The worker: those that came back with records, a bit each; then each one's bytes, and back into the pool. */
uint64_t buffers__take(void);
uint8_t *buffers__bytes(unsigned i, size_t *valid);
void buffers__release(unsigned i);

uint64_t buffers__held(void); /* by CUPTI, a bit each */
/* Of these: those in which a record has its place. The others may lie with CUPTI until a forced flush. */
uint64_t buffers__begun(uint64_t held);
uint64_t buffers__unserved(void); /* requests of this session that got a scratch buffer */

#endif
