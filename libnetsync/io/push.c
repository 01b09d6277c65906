// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Pass the packets, clock events, parts of relations and spans of readers to netsync.h. Observation points get
 * numbers, packets get the host of their trace or network namespace, and times get the time shift
 * of their trace.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"
#include "io/spans/relations.h"
#include "util/array.h"

struct numbered_point {
	const struct trace *trace;
	struct observation_point at;
	uint32_t number;
};

static int compare_numbered_points(const void *a, const void *b)
{
	const struct numbered_point *p = a, *q = b;

	if (p->trace != q->trace)
		return p->trace < q->trace ? -1 : 1;
	return memcmp(&p->at, &q->at, sizeof(p->at));
}

/* Find an observation point, or add and number it. On failure, call io_fail() and return NULL. */
static struct numbered_point *find_observation_point(struct trace *trace,
						     const struct observation_point *at)
{
	static const struct observation_point others = { .place = UINT32_MAX };
	struct netsync_io *io = trace->io;
	struct numbered_point key = { trace, *at, io->num_points }, *point, **found;

	found = tfind(&key, &io->points, compare_numbered_points);
	if (!found && trace->max_points && trace->num_points == trace->max_points) {
		key.at = others;
		found = tfind(&key, &io->points, compare_numbered_points);
	}
	if (found)
		return *found;
	point = malloc(sizeof(*point));
	if (!point ||
	    !tsearch(memcpy(point, &key, sizeof(key)), &io->points, compare_numbered_points)) {
		free(point);
		io_fail_no_memory(io);
		return NULL;
	}
	io->num_points++;
	trace->num_points += trace->num_points < trace->max_points;
	return point;
}

/*
 * A trace is a part of an observation point. If two sessions on a host record a packet, the records
 * come from two points, so that they are not taken for a retransmission.
 */
static int number_observation_point(struct trace *trace, const struct observation_point *at,
				    uint32_t *number)
{
	const uint64_t mixed = (at->device >> 32) + at->device + at->place + at->buffer +
			       (uintptr_t)trace / sizeof(*trace);
	struct numbered_point **recent = &trace->io->recent[mixed % IO_RECENT_POINTS];

	if (!*recent || (*recent)->trace != trace || memcmp(&(*recent)->at, at, sizeof(*at)))
		*recent = find_observation_point(trace, at);
	if (!*recent)
		return -ENOMEM;
	*number = (*recent)->number;
	return 0;
}

static int push_clock(struct trace *trace, uint32_t host, const struct clock_event *clock)
{
	struct netsync_io *io = trace->io;
	struct netsync_clock_point point = {
		.size = sizeof(point),
		.host = host,
		.raw_ns = clock->raw_ns,
		.within_ns = clock->within_ns,
		.rate = clock->rate,
		.number = clock->number,
		.was_set = clock->was_set,
	};
	int ret;

	if (__builtin_add_overflow(clock->time_ns, trace->info.shift_ns, &point.time_ns))
		ret = -ERANGE;
	else
		ret = io_push_clock(io, &point);
	if (!ret && io_keep_clock_reading(io, &point))
		return io_fail_no_memory(io);
	if (ret == -EALREADY && !trace->clock_is_late) {
		trace->clock_is_late = true;
		io_warn(io, "%s: the recorded steering of its clock is not used: %s.", trace->path,
			netsync_error(io->ns));
	}
	if (ret == -ERANGE || ret == -EALREADY)
		return 0;
	return ret < 0 ? io_fail(io, ret, "%s: %s", trace->path, netsync_error(io->ns)) : 0;
}

/* Push the clock events that preceded a part's first packet. */
static int push_clocks(struct trace *trace, const struct io_part *part)
{
	int ret = 0;

	for (size_t i = 0; i < trace->num_clocks && !ret; i++)
		ret = push_clock(trace, part->host, &trace->clocks[i]);
	return ret;
}

int io_add_clock(struct trace *trace, const struct clock_event *clock)
{
	return range_contains(&trace->window, clock->time_ns) ? io_add_sidecar_clock(trace, clock) :
								0;
}

int io_add_sidecar_clock(struct trace *trace, const struct clock_event *clock)
{
	int ret = 0;

	if (trace->io->observe)
		return 0;
	if (trace->io->sink)
		return trace->io->sink->clock(trace, clock);
	if (!trace->host->split)
		return push_clock(trace, (uint32_t)trace->host->number, clock);
	if (array_grow(&trace->clocks, &trace->clock_room, trace->num_clocks,
		       sizeof(*trace->clocks)))
		return io_fail_no_memory(trace->io);
	trace->clocks[trace->num_clocks++] = *clock;
	for (size_t i = 0; i < trace->num_parts && !ret; i++)
		ret = push_clock(trace, trace->parts[i].host, clock);
	return ret;
}

/*
 * Set a packet's host. Return 1, or 0 if the packet cannot be used. On failure, call io_fail() and
 * return a negative value.
 */
static int set_packet_host(struct trace *trace, struct netsync_packet *pkt, struct io_part **part)
{
	const size_t parts = trace->num_parts;
	int ret;

	*part = NULL;
	if (!trace->host->split) {
		pkt->host = (uint32_t)trace->host->number;
		return 1;
	}
	if (!(pkt->fields & NETSYNC_HAS_NETNS)) {
		trace->without_netns++;
		return 0;
	}
	*part = io_find_part(trace, pkt->netns);
	if (!*part)
		return -ENOMEM;
	pkt->host = (*part)->host;
	ret = trace->num_parts > parts ? push_clocks(trace, *part) : 0;
	return ret < 0 ? ret : 1;
}

int io_add_packet(struct trace *trace, struct netsync_packet *pkt,
		  const struct observation_point *at)
{
	struct netsync_io *io = trace->io;
	struct io_part *part;
	int ret;

	if (io->observe) {
		pkt->host = 0;
		return io->observe(io, pkt);
	}
	if (!range_contains(&trace->window, pkt->time_ns))
		return 0;
	if (io->sink)
		return io->sink->packet(trace, pkt, at);
	ret = set_packet_host(trace, pkt, &part);
	if (ret <= 0)
		return ret;
	ret = number_observation_point(trace, at, &pkt->point);
	if (ret < 0)
		return ret;
	pkt->size = sizeof(*pkt);
	if (__builtin_add_overflow(pkt->time_ns, trace->info.shift_ns, &pkt->time_ns))
		ret = -ERANGE;
	else
		ret = io_push_packet(io, pkt);
	if (ret == -ERANGE) {
		trace->out_of_range++;
		return 0;
	}
	if (ret < 0)
		return io_fail(io, ret, "%s: %s", trace->path, netsync_error(io->ns));
	trace->info.packets++;
	if (part)
		part->packets++;
	return 0;
}

int io_add_event(struct trace *trace, struct event_seen *seen)
{
	return seen->is_clock ? io_add_clock(trace, &seen->clock) :
				io_add_packet(trace, &seen->pkt, &seen->at);
}

int io_add_part(struct trace *trace, const struct span_part *part)
{
	struct netsync_io *io = trace->io;
	struct span_part shifted = *part;

	if (io->observe)
		return 0;
	if (!range_contains(&trace->window, part->start_ns) ||
	    !range_contains(&trace->window, part->end_ns))
		return 0;
	if (io->sink)
		return io->sink->part(trace, part);
	if (__builtin_add_overflow(part->start_ns, trace->info.shift_ns, &shifted.start_ns) ||
	    __builtin_add_overflow(part->end_ns, trace->info.shift_ns, &shifted.end_ns)) {
		trace->out_of_range++;
		return 0;
	}
	trace->info.packets++;
	return relations_add(io, (uint32_t)trace->host->number, &shifted);
}

static int extend_host_spans(struct trace *trace, int64_t time_ns)
{
	struct netsync *ns = trace->io->ns;
	int ret = 0;

	if (!trace->host->split)
		return netsync_extend_span(ns, (uint32_t)trace->host->number, time_ns);
	for (size_t i = 0; i < trace->num_parts && !ret; i++)
		ret = netsync_extend_span(ns, trace->parts[i].host, time_ns);
	return ret;
}

static int extend_trace_span(struct trace *trace, int64_t time_ns)
{
	struct netsync_io *io = trace->io;
	struct netsync_io_trace *info = &trace->info;
	int ret;

	if (__builtin_add_overflow(time_ns, info->shift_ns, &time_ns))
		return 0;
	ret = extend_host_spans(trace, time_ns);
	if (ret == -ERANGE)
		return 0;
	if (ret < 0)
		return io_fail(io, ret, "%s: %s", trace->path, netsync_error(io->ns));
	if (info->last_ns < info->first_ns) {
		info->first_ns = time_ns;
		info->last_ns = time_ns;
	}
	if (time_ns < info->first_ns)
		info->first_ns = time_ns;
	if (time_ns > info->last_ns)
		info->last_ns = time_ns;
	return 0;
}

int io_add_span(struct trace *trace, int64_t first_ns, int64_t last_ns)
{
	int ret;

	first_ns = max64(first_ns, trace->window.lo);
	last_ns = min64(last_ns, trace->window.hi);
	if (first_ns > last_ns)
		return 0;
	if (trace->io->sink)
		return trace->io->sink->span(trace, first_ns, last_ns);
	ret = extend_trace_span(trace, first_ns);
	return ret < 0 ? ret : extend_trace_span(trace, last_ns);
}
