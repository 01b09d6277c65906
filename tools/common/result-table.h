/* SPDX-License-Identifier: GPL-2.0-only */
/* Print results as tables for people. */
#ifndef NETSYNC_RESULT_TABLE_H
#define NETSYNC_RESULT_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <netsync.h>

struct live_state;

/*
 * Return the uncertainty of the mean skew of a host's clock over its span, in ppm. The uncertainty
 * is computed from the error bounds at both ends. Return infinity if it is not known.
 */
double compute_skew_bound(const struct netsync *ns, uint32_t host);

void write_result_table(FILE *out, const struct netsync *ns);

/*
 * Compute the offset and the skew of a host's clock at a time on this clock. Return false if there
 * is no correction.
 */
bool find_clock_state_at(const struct netsync *ns, uint32_t host, int64_t time_ns,
			 int64_t *offset_ns, double *skew_ppm);

/* Write the output of netsync live. */
void write_live_table(FILE *out, const struct live_state *state);

#endif
