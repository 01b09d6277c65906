/* SPDX-License-Identifier: GPL-2.0-only */
/* What has to hold of every result; play_fail() where it does not. */
#ifndef SELFTESTS_FUZZ_CHECK_H
#define SELFTESTS_FUZZ_CHECK_H

#include "play.h"

/* Of one result: bounds, qualities, and models that make the same clocks again. */
void check_result(const struct script *s, const struct netsync *ns);

/* The true times of the script are within the bounds, as far as any is claimed. */
void check_truth(const struct player *p, const struct netsync *ns);

/* Two results are equal, to the last bit. */
void check_same(const struct netsync *a, const struct netsync *b, const char *what);

#endif
