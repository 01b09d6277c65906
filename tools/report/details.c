// SPDX-License-Identifier: GPL-2.0-only
/* Among the messages in a spool, find the late messages of each direction. */
#include <stdlib.h>

#include "common/complain.h"
#include "details.h"

/*
 * Maximum number of late messages in a direction, and approximate maximum number in all
 * directions. Chosen: a page of rows.
 */
#define MAX_LATE 20
#define MAX_LATE_OF_ALL 4000

ptrdiff_t details_find_way(const struct traffic *traffic, const struct spooled *message,
			   ptrdiff_t last)
{
	size_t low = 0, high = traffic->num_ways;

	if (last >= 0 && traffic->ways[last].from == message->from &&
	    traffic->ways[last].to == message->to)
		return last;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct traffic_way *way = &traffic->ways[middle];

		if (way->from == message->from && way->to == message->to)
			return (ptrdiff_t)middle;
		if (way->from < message->from ||
		    (way->from == message->from && way->to < message->to))
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

/* ---- late messages ------------------------------------------------------- */

struct choosing {
	struct details *details;
	const struct traffic *traffic;
	const struct traffic_host *hosts;
	size_t most;	/* maximum number of late messages in a direction */
	ptrdiff_t last; /* direction of the previous message */
};

/* Return whether a message with this delay precedes one with the other delay. */
static bool is_delay_ranked_before(int64_t delay_ns, int64_t other_ns)
{
	if (delay_ns < 0 || other_ns < 0)
		return delay_ns < other_ns;
	return delay_ns > other_ns;
}

static void insert_late_message(struct way_details *way, size_t most,
				const struct spooled_packet *packet,
				const struct traffic_point *point)
{
	size_t at = way->num_late < most ? way->num_late++ : most - 1;

	while (at && is_delay_ranked_before(point->after_ns, way->late[at - 1].point.after_ns)) {
		way->late[at] = way->late[at - 1];
		at--;
	}
	way->late[at] = (struct late_message){ .packet = *packet, .point = *point };
}

static bool choose_late_message(void *data, const void *record)
{
	const struct spooled_packet *packet = record;
	struct choosing *c = data;
	struct traffic_point point;
	struct way_details *way;

	c->last = details_find_way(c->traffic, &packet->message, c->last);
	if (c->last < 0 || !c->details->ways[c->last].late)
		return true;
	way = &c->details->ways[c->last];
	point = traffic_make_point(c->hosts, &c->traffic->ways[c->last], &packet->message);
	if (way->num_late < c->most ||
	    is_delay_ranked_before(point.after_ns, way->late[way->num_late - 1].point.after_ns))
		insert_late_message(way, c->most, packet, &point);
	return true;
}

/* Return the error bound at a corrected time of a host. */
static int64_t get_bound_at_host(const struct traffic_host *host, int64_t time_ns)
{
	int64_t corrected_ns, bound_ns;

	return netsync_convert(host->clock, time_ns + host->shift_ns, &corrected_ns, &bound_ns) ?
		       NETSYNC_UNKNOWN :
		       bound_ns;
}

static void set_delay_bound(struct late_message *late, const struct traffic_host *hosts)
{
	const struct spooled *message = &late->packet.message;
	const int64_t sent = get_bound_at_host(&hosts[message->from], message->send_ns);
	const int64_t received = get_bound_at_host(&hosts[message->to], message->recv_ns);

	if (sent == NETSYNC_UNKNOWN || received == NETSYNC_UNKNOWN ||
	    __builtin_add_overflow(sent, received, &late->bound_ns))
		late->bound_ns = NETSYNC_UNKNOWN;
}

/*
 * Return whether the page shows delays of this direction. Delays between uncorrected clocks are
 * meaningless. Directions without points are skipped, too.
 */
static bool has_way_delays(const struct traffic_way *way)
{
	return way->corrected && way->num_points;
}

static bool make_room_for_late(struct choosing *c)
{
	size_t num = 0;

	for (size_t i = 0; i < c->traffic->num_ways; i++)
		num += has_way_delays(&c->traffic->ways[i]);
	c->most = details_compute_share(MAX_LATE_OF_ALL, num, MAX_LATE);
	for (size_t i = 0; i < c->traffic->num_ways; i++) {
		struct way_details *way = &c->details->ways[i];

		if (!has_way_delays(&c->traffic->ways[i]))
			continue;
		way->late = calloc(c->most, sizeof(*way->late));
		if (!way->late)
			return complain_no_memory();
	}
	return true;
}

bool details_collect(struct details *details, struct spool *spool, const struct traffic *traffic,
		     const struct traffic_host *hosts)
{
	struct choosing c = { details, traffic, hosts, .last = -1 };

	details->num_ways = traffic->num_ways;
	details->ways = calloc(traffic->num_ways + 1, sizeof(*details->ways));
	if (!details->ways)
		return complain_no_memory();
	if (!make_room_for_late(&c) || !spool_read_records(spool, choose_late_message, &c))
		return false;
	for (size_t i = 0; i < details->num_ways; i++)
		for (size_t j = 0; j < details->ways[i].num_late; j++)
			set_delay_bound(&details->ways[i].late[j], hosts);
	return details_collect_flows(details, spool, traffic, hosts);
}

void details_release(struct details *details)
{
	for (size_t i = 0; i < details->num_ways && details->ways; i++) {
		free(details->ways[i].late);
		free(details->ways[i].flows);
	}
	free(details->ways);
	*details = (struct details){ 0 };
}
