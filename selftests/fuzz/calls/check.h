/* SPDX-License-Identifier: GPL-2.0-only */
/* Properties of every result; play_fail() if one is violated. */
#ifndef SELFTESTS_FUZZ_CHECK_H
#define SELFTESTS_FUZZ_CHECK_H

#include "play.h"

/* Check one result: bounds, qualities, and that models give the same clocks again. */
void check_result(const struct script *s, const struct netsync *ns);

/* Check that the script's true times are within the bounds, if there are any. */
void check_truth(const struct player *p, const struct netsync *ns);

/* Check that two results are equal, to the last bit. */
void check_same(const struct netsync *a, const struct netsync *b, const char *what);

#endif
