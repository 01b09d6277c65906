// SPDX-License-Identifier: GPL-2.0-only
/* Captures, pcap and pcapng: libnetsync-io knows their blocks. */
#include <errno.h>

#include "apply.h"
#include "tool.h"

static int correct(void *data, int64_t time_ns, int64_t *corrected_ns)
{
	if (interrupted)
		return -EINTR;
	return apply_time(data, time_ns, corrected_ns) ? 0 : -ERANGE;
}

bool apply_pcap(const struct apply_trace *trace, const char *to)
{
	if (!netsync_io_copy_capture(trace->io, trace->path, to, correct,
				     (void *)trace))
		return true;
	complain("%s", netsync_io_error(trace->io));
	return false;
}
