/* SPDX-License-Identifier: GPL-2.0-only */
/* A digest of all clocks, to compare results bit by bit. */
#ifndef DIGEST_H
#define DIGEST_H

#include <stdint.h>

#include "netsync.h"

/* Return a digest of the corrections and bounds of all hosts that have a clock. */
uint64_t digest_clocks(const struct netsync *ns);

#endif
