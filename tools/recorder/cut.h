/* SPDX-License-Identifier: GPL-2.0-only */
/* Determine how many bytes of a captured frame are headers; only headers are recorded. */
#ifndef NETSYNC_RECORDER_CUT_H
#define NETSYNC_RECORDER_CUT_H

#include <stddef.h>
#include <stdint.h>

/* Maximum size of a frame's headers, bytes, except for chains of IPv6 options. Chosen. */
#define LONGEST_HEADERS 256

/*
 * Return the number of bytes of a frame to keep. The kept bytes are the link header, which has
 * @link bytes, the network and transport headers as far as they were captured, and @payload bytes
 * of the transport payload. ARP packets are kept completely; for other protocols, only the link
 * header is kept. @protocol is the Ethernet type of the network header in host byte order.
 */
size_t count_kept_bytes(const uint8_t *frame, size_t captured, size_t link, uint16_t protocol,
			size_t payload);

#endif
