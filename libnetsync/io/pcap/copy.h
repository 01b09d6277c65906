/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Corrected times for a capture's packets, for copies and for merged captures. */
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
 * Get the corrected time of the block that was last read from @capture, rounded down to ns. Return
 * 0 or NETSYNC_IO_LEFT_OUT. On failure, call io_fail() and return a negative value.
 */
int compute_corrected_time(const struct new_times *of, const struct capture_file *capture,
			   const struct capture_interface *interface, uint64_t ticks,
			   int64_t *time_ns);

#endif
