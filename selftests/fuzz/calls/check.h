/* SPDX-License-Identifier: GPL-2.0-only */
/* Check properties of every result, and call play_fail() if one is violated. */
#ifndef SELFTESTS_FUZZ_CHECK_H
#define SELFTESTS_FUZZ_CHECK_H

#include "play.h"

/* Check the bounds and qualities of a result, and that its models can be imported again. */
void check_result(const struct script *s, const struct netsync *ns);

/* Check that the script's true times are within the bounds of all hosts that have bounds. */
void check_truth(const struct player *p, const struct netsync *ns);

/* Check that two results are equal bit by bit. */
void check_same_results(const struct netsync *a, const struct netsync *b, const char *what);

#endif
