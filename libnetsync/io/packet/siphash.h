/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A hash of bytes that is equal on all hosts. */
#ifndef NETSYNC_IO_SIPHASH_H
#define NETSYNC_IO_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/* Return the SipHash-1-3 of the data for the key 00 01 ... 0f, as in netsync-events(5). */
uint64_t siphash_1_3(const uint8_t *data, size_t len);

#endif
