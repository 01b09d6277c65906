/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Corrected times of a capture's packets, for copies and for merged captures. */
#ifndef NETSYNC_IO_COPY_H
#define NETSYNC_IO_COPY_H

#include "io/io.h"
#include "io/pcap/capture.h"

struct new_times {
	struct netsync_io *io;
	const char *path;
	netsync_io_time_func time;
	void *data;
};

/*
 * Get the new time of the block of @capture that was read last, rounded down to ns. Return 0;
 * NETSYNC_IO_LEFT_OUT; or a negative value after io_fail().
 */
int compute_corrected_time(const struct new_times *of, const struct capture_file *capture,
			   const struct capture_interface *interface, uint64_t ticks,
			   int64_t *time_ns);

#endif
