// SPDX-License-Identifier: GPL-2.0-only
/* Copy captures (pcap and pcapng), perf.data files, Kineto traces and files of Retis by libnetsync-io. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <netsync-io.h>

#include "apply.h"
#include "common/complain.h"
#include "common/signal.h"

/* Number of packets between progress reports. A stat() call takes as long as a hundred packets. */
#define PACKETS_PER_LOOK 10000

struct capture {
	const struct apply_trace *trace;
	const char *to;
	uint64_t packets;
	bool leaves_out; /* whether at least one packet was skipped */
};

int apply_correct_packet(const struct apply_trace *trace, int64_t time_ns, int64_t *corrected_ns)
{
	bool fits;

	if (interrupted)
		return -EINTR;
	fits = apply_correct_time(trace, time_ns, corrected_ns);
	if (fits && !part_contains(&trace->part, *corrected_ns))
		return NETSYNC_IO_LEFT_OUT;
	if (!apply_check_time(trace, time_ns))
		return -EDOM;
	return fits ? 0 : -ERANGE;
}

static int correct_capture_time(void *data, int64_t time_ns, int64_t *corrected_ns)
{
	struct capture *capture = data;
	const int ret = apply_correct_packet(capture->trace, time_ns, corrected_ns);
	struct stat st;

	capture->leaves_out |= ret == NETSYNC_IO_LEFT_OUT;
	/* The copy is about as large as the original. */
	if (!ret && ++capture->packets % PACKETS_PER_LOOK == 0 && !stat(capture->to, &st))
		apply_show_progress(capture->trace, st.st_size, capture->trace->bytes);
	return ret;
}

typedef int (*copy_file)(struct netsync_io *io, const char *from, const char *to,
			 netsync_io_time_func time, void *data);

static bool copy_by_function(copy_file copy, const struct apply_trace *trace, const char *to)
{
	struct capture capture = { .trace = trace, .to = to };
	int ret = copy(trace->io, trace->path, to, correct_capture_time, &capture);

	if (ret && ret != -EDOM)
		complain("%s", netsync_io_error(trace->io));
	if (!ret && capture.leaves_out && trace->seen->last_ns < trace->seen->first_ns)
		trace->seen->is_outside = !unlink(to);
	return !ret;
}

bool apply_pcap(const struct apply_trace *trace, const char *to)
{
	return copy_by_function(netsync_io_copy_capture, trace, to);
}

bool apply_perf(const struct apply_trace *trace, const char *to)
{
	return copy_by_function(netsync_io_copy_perf, trace, to);
}

bool apply_kineto(const struct apply_trace *trace, const char *to)
{
	return copy_by_function(netsync_io_copy_kineto, trace, to);
}

bool apply_retis(const struct apply_trace *trace, const char *to)
{
	return copy_by_function(netsync_io_copy_retis, trace, to);
}
