/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Read captures to which packets are still being appended, for ../live/. */
#ifndef NETSYNC_IO_GROWING_H
#define NETSYNC_IO_GROWING_H

#include "io/io.h"

/*
 * Maximum disorder of packets in a file (ns). Packets of several interfaces or queues are written
 * in batches. Chosen.
 */
#define PCAP_DISORDER INT64_C(1000000000)

/* Why pcap_read_growing() stopped. */
enum growth {
	GROWTH_READ,	   /* all complete packets were read */
	GROWTH_LATER,	   /* the last packet that was read is later than the requested time */
	GROWTH_FIRST,	   /* the next packet is the first one, and the trace has no host yet */
	GROWTH_UNDIRECTED, /* no address of the host is known, which the next packet's direction needs */
};

/* Prepare a trace with a path to be read. Return 0, or a negative value after io_fail(). */
int pcap_begin_growing(struct trace *trace);
/*
 * Read the packets after those read before, up to a packet later than @until_ns. trace->range is
 * extended by the packets found. @from is closed. Damage sets trace->info.damaged; the rest of
 * the file cannot be used. Return an enum growth, or a negative value after io_fail().
 */
int pcap_read_growing(struct trace *trace, struct disk_file *from, int64_t until_ns);
/*
 * Check that each host to which the caller gave addresses has a capture. Return 0, or the result of
 * io_fail().
 */
int pcap_check_given_addresses(struct netsync_io *io);
/* Return why some packets were not used (a clause), or NULL if all were used. */
const char *pcap_explain_unused(const struct trace *trace);
/* Are these the first bytes of an uncompressed capture? */
bool pcap_is_head(const uint8_t *head, size_t len);
/* Return the number of bytes of the file that were read. */
uint64_t pcap_get_read_size(const struct trace *trace);

#endif
