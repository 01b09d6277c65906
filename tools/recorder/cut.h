/* SPDX-License-Identifier: GPL-2.0-only */
/* A captured frame -> how much of it are headers, which is all that is recorded. */
#ifndef NETSYNC_RECORDER_CUT_H
#define NETSYNC_RECORDER_CUT_H

#include <stddef.h>
#include <stdint.h>

/* No frame has longer headers than this, but for chains of IPv6 options. Bytes. Chosen. */
#define LONGEST_HEADERS 256

/*
 * Return how many bytes of a frame to keep: the link header, which is @link bytes long, the network
 * and transport headers, as far as they were captured, and @payload bytes of what the transport
 * carries. ARP is kept whole; other protocols keep their link header only. @protocol: Ethernet type
 * of the network header, in host byte order.
 */
size_t count_kept_bytes(const uint8_t *frame, size_t captured, size_t link, uint16_t protocol,
			size_t payload);

#endif
