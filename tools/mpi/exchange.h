/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets that one rank reads -> the ranks that match them, in batches that are sent while
 * the sender reads on. All ranks read the same slices of time, and none is ahead of the
 * slowest by more than a few: so memory is bounded.
 */
#ifndef NETSYNC_MPI_EXCHANGE_H
#define NETSYNC_MPI_EXCHANGE_H

#include <mpi.h>

#include <netsync.h>

struct exchange;

/* Return NULL if out of memory. Packets for this rank are pushed to @ns. */
struct exchange *exchange_new(struct netsync *ns, int rank, int ranks);
void exchange_free(struct exchange *e);

/* The shards that a rank matches, as a bit mask; 0: there are more ranks than shards. */
uint32_t exchange_shards(int rank, int ranks);

/* Functions of struct netsync_io_part; @data is a struct exchange. */
int exchange_packet(void *data, const struct netsync_packet *pkt);
int exchange_clock(void *data, const struct netsync_clock_point *point);
int exchange_slice(void *data, uint32_t slice, uint32_t slices);

/* All was read here: returns 0 when all that others sent is here; or a negative errno. */
int exchange_end(struct exchange *e);

#endif
