/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Send the packets that one rank reads to the ranks that match them. Packets are sent in batches
 * while the sender continues to read. All ranks read the same time slices. No rank is more than a
 * few slices ahead of the slowest one, so that memory use is limited.
 */
#ifndef NETSYNC_MPI_EXCHANGE_H
#define NETSYNC_MPI_EXCHANGE_H

#include <mpi.h>

#include <netsync.h>

struct exchange;

/* Create an exchange. Packets for this rank are pushed to @ns. Return NULL if out of memory. */
struct exchange *exchange_new(struct netsync *ns, int rank, int ranks);
void exchange_free(struct exchange *e);

/*
 * Return the shards that a rank matches, as a bit mask, or 0 if there are more ranks than
 * shards.
 */
uint32_t exchange_choose_shards(int rank, int ranks);

/* Functions of struct netsync_io_part; @data is a struct exchange. */
int exchange_send_packet(void *data, const struct netsync_packet *pkt);
int exchange_send_clock(void *data, const struct netsync_clock_point *point);
int exchange_end_slice(void *data, uint32_t slice, uint32_t slices);

/*
 * End the exchange after this rank has read its part. Return 0 when all data of the other ranks
 * have arrived, or a negative errno value.
 */
int exchange_end(struct exchange *e);

#endif
