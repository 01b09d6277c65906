// SPDX-License-Identifier: GPL-2.0-only
/* Copy files of OTLP, Jaeger and Zipkin, and OTF2 archives, which contain several hosts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netsync-io.h>

#include "apply.h"
#include "common/complain.h"

struct span_copy {
	const struct apply_trace *trace;
	const struct apply_trace *last; /* host of the previous time; NULL before */
	struct apply_seen seen;		/* times of all hosts that were corrected */
	bool leaves_out;		/* whether at least one span was skipped */
};

/* Find the trace of a host of the file. Consecutive spans mostly have one host. */
static const struct apply_trace *find_span_host(struct span_copy *copy, const char *name)
{
	const struct apply_trace *trace = copy->trace;

	if (copy->last && !strcmp(copy->last->file_host, name))
		return copy->last;
	copy->last = NULL;
	if (!strcmp(trace->file_host, name))
		copy->last = trace;
	for (size_t i = 0; i < trace->num_others && !copy->last; i++)
		if (!strcmp(trace->others[i].file_host, name))
			copy->last = &trace->others[i];
	return copy->last;
}

static int correct_span_time(void *data, const char *host, int64_t time_ns, int64_t *corrected_ns)
{
	struct span_copy *copy = data;
	const struct apply_trace *found = find_span_host(copy, host);
	struct apply_trace trace;
	int ret;

	if (!found)
		return -ENOENT;
	trace = *found;
	trace.seen = &copy->seen;
	ret = apply_correct_packet(&trace, time_ns, corrected_ns);
	copy->leaves_out |= ret == NETSYNC_IO_LEFT_OUT;
	if (ret == -EDOM)
		complain(
			"%s: the result does not cover all spans of %s. Use the result of this recording, or add --extrapolate.",
			trace.path, host);
	return ret;
}

typedef int (*copy_hosts)(struct netsync_io *io, const char *from, const char *to,
			  netsync_io_host_time_func time, void *data);

static bool copy_all_hosts(copy_hosts function, const struct apply_trace *trace, const char *to)
{
	struct span_copy copy = { .trace = trace, .seen = { 0, -1, false } };
	const int ret = function(trace->io, trace->path, to, correct_span_time, &copy);

	if (ret && ret != -EDOM)
		complain("%s", netsync_io_error(trace->io));
	if (!ret && copy.leaves_out && copy.seen.last_ns < copy.seen.first_ns)
		trace->seen->is_outside = !unlink(to);
	return !ret;
}

bool apply_spans(const struct apply_trace *trace, const char *to)
{
	return copy_all_hosts(netsync_io_copy_spans, trace, to);
}

bool apply_otf2(const struct apply_trace *trace, const char *to)
{
	return copy_all_hosts(netsync_io_copy_otf2, trace, to);
}
