// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compute delays in each direction from the messages in a spool. The spool is read twice: first to
 * count messages by direction and time, then to compute their delays.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "delay-classes.h"
#include "traffic.h"

/* Maximum number of directions whose points are stored. The busiest directions are used. Chosen. */
#define MAX_BUSY 8192
#define MIN_POINTS 16
#define MAX_POINTS 6000

/*
 * Number of points per bin, which is a short interval: those with minimum and maximum delay, and
 * others.
 */
#define POINTS_OF_BIN 4

struct traffic_bin {
	uint64_t num;
	struct traffic_point points[POINTS_OF_BIN];
};

struct collected_way {
	struct traffic_way is;
	size_t room;		  /* maximum number of points to store, or 0 for none */
	struct traffic_bin *bins; /* NULL if the points of all messages are stored */
	size_t num_bins;
	struct delay_classes delays;
};

struct collector {
	const struct traffic_host *hosts;
	void *tree;		    /* search tree of struct collected_way */
	struct collected_way *last; /* last direction found; messages come in bursts */
	struct collected_way **ways;
	size_t num_ways;
	uint64_t random;
	bool no_memory;
};

static void swap_points(struct traffic_point *a, struct traffic_point *b)
{
	const struct traffic_point keep = *a;

	*a = *b;
	*b = keep;
}

static uint64_t draw_next_random(struct collector *c)
{
	c->random ^= c->random << 13;
	c->random ^= c->random >> 7;
	c->random ^= c->random << 17;
	return c->random;
}

/*
 * Add a point to a bin. All points except those with minimum and maximum delay are a reservoir
 * sample.
 */
static void sample_bin_point(struct collector *c, struct traffic_bin *bin,
			     struct traffic_point point)
{
	const uint64_t number = bin->num++;
	uint64_t at;

	if (number < POINTS_OF_BIN) {
		struct traffic_point *points = bin->points;

		points[number] = point;
		if (points[number].after_ns < points[0].after_ns)
			swap_points(&points[number], &points[0]);
		if (number && (number == 1 || points[number].after_ns > points[1].after_ns))
			swap_points(&points[number], &points[1]);
		return;
	}
	if (point.after_ns < bin->points[0].after_ns)
		swap_points(&point, &bin->points[0]);
	else if (point.after_ns > bin->points[1].after_ns)
		swap_points(&point, &bin->points[1]);
	at = 2 + draw_next_random(c) % (number - 1);
	if (at < POINTS_OF_BIN)
		bin->points[at] = point;
}

static void add_point_to_bin(struct collector *c, struct collected_way *way,
			     const struct traffic_point *point)
{
	const uint64_t span = (uint64_t)way->is.last_ns - way->is.first_ns + 1;
	const uint64_t at = (uint64_t)point->time_ns - way->is.first_ns;
	size_t bin;

	if (!way->bins) {
		way->is.points[way->is.num_points++] = *point;
		return;
	}
	bin = (double)at / span * way->num_bins;
	sample_bin_point(c, &way->bins[bin < way->num_bins ? bin : way->num_bins - 1], *point);
}

static int compare_points_by_time(const void *a, const void *b)
{
	const struct traffic_point *p = a, *q = b;

	return (p->time_ns > q->time_ns) - (p->time_ns < q->time_ns);
}

static void collect_bin_points(struct collected_way *way)
{
	for (size_t i = 0; i < way->num_bins; i++) {
		const struct traffic_bin *bin = &way->bins[i];
		const size_t num = bin->num < POINTS_OF_BIN ? bin->num : POINTS_OF_BIN;

		memcpy(&way->is.points[way->is.num_points], bin->points,
		       num * sizeof(*bin->points));
		way->is.num_points += num;
	}
	qsort(way->is.points, way->is.num_points, sizeof(*way->is.points), compare_points_by_time);
}

/* ---- reading messages --------------------------------------------------- */

static int compare_ways_by_hosts(const void *a, const void *b)
{
	const struct collected_way *p = a, *q = b;

	if (p->is.from != q->is.from)
		return p->is.from < q->is.from ? -1 : 1;
	return (p->is.to > q->is.to) - (p->is.to < q->is.to);
}

static struct collected_way *new_collected_way(struct collector *c, const struct spooled *message)
{
	struct collected_way *way = calloc(1, sizeof(*way));

	if (!way)
		return NULL;
	way->is = (struct traffic_way){
		.from = message->from,
		.to = message->to,
		.corrected = c->hosts[message->from].clock && c->hosts[message->to].clock,
		.first_ns = INT64_MAX,
		.last_ns = INT64_MIN,
		.min_ns = INT64_MAX,
		.max_ns = INT64_MIN,
		.median_ns = NETSYNC_UNKNOWN,
		.p99_ns = NETSYNC_UNKNOWN,
	};
	return way;
}

/* Find the direction of a message, or add it. Return NULL if out of memory. */
static struct collected_way *find_or_add_collected_way(struct collector *c,
						       const struct spooled *message)
{
	const struct collected_way key = { .is = { .from = message->from, .to = message->to } };
	struct collected_way **found;

	if (c->last && !compare_ways_by_hosts(c->last, &key))
		return c->last;
	found = tfind(&key, &c->tree, compare_ways_by_hosts);
	if (!found) {
		struct collected_way *way = new_collected_way(c, message);

		found = way ? tsearch(way, &c->tree, compare_ways_by_hosts) : NULL;
		if (!found) {
			free(way);
			c->no_memory = true;
			return NULL;
		}
		c->num_ways++;
	}
	c->last = *found;
	return c->last;
}

struct traffic_point traffic_make_point(const struct traffic_host *hosts,
					const struct traffic_way *way,
					const struct spooled *message)
{
	const struct traffic_host *from = &hosts[message->from];
	const struct traffic_host *to = &hosts[message->to];
	int64_t send_ns = message->send_ns + from->shift_ns;
	int64_t recv_ns = message->recv_ns + to->shift_ns;
	const int64_t before_ns = recv_ns - send_ns;

	if (way->corrected) {
		netsync_convert(from->clock, send_ns, &send_ns, NULL);
		netsync_convert(to->clock, recv_ns, &recv_ns, NULL);
	}
	return (struct traffic_point){ send_ns, before_ns, recv_ns - send_ns };
}

static bool count_message(void *data, const void *record)
{
	const struct spooled *message = record;
	struct collector *c = data;
	struct collected_way *way = find_or_add_collected_way(c, message);
	struct traffic_point point;

	if (!way)
		return false;
	point = traffic_make_point(c->hosts, &way->is, message);
	way->is.messages++;
	if (point.time_ns < way->is.first_ns)
		way->is.first_ns = point.time_ns;
	if (point.time_ns > way->is.last_ns)
		way->is.last_ns = point.time_ns;
	return true;
}

static bool sample_message(void *data, const void *record)
{
	const struct spooled *message = record;
	struct collector *c = data;
	struct collected_way *way = find_or_add_collected_way(c, message);
	struct traffic_point point;

	if (!way || !way->room)
		return way;
	point = traffic_make_point(c->hosts, &way->is, message);
	delay_classes_add(&way->delays, point.after_ns);
	add_point_to_bin(c, way, &point);
	return true;
}

/* ---- between the two readings ------------------------------------------- */

static void append_collected_way(const void *node, VISIT visit, void *data)
{
	struct collector *c = data;

	if (visit == postorder || visit == leaf)
		c->ways[c->num_ways++] = *(struct collected_way *const *)node;
}

static int compare_ways_by_messages(const void *a, const void *b)
{
	const struct collected_way *p = *(struct collected_way *const *)a;
	const struct collected_way *q = *(struct collected_way *const *)b;

	if (p->is.messages != q->is.messages)
		return p->is.messages > q->is.messages ? -1 : 1;
	return compare_ways_by_hosts(p, q);
}

static int compare_traffic_by_hosts(const void *a, const void *b)
{
	return compare_ways_by_hosts(*(struct collected_way *const *)a,
				     *(struct collected_way *const *)b);
}

static bool allocate_points(struct collected_way *way, size_t room)
{
	way->room = room < way->is.messages ? room : way->is.messages;
	if (way->is.messages > room) {
		way->num_bins = room / POINTS_OF_BIN;
		way->bins = calloc(way->num_bins, sizeof(*way->bins));
	}
	way->is.points = calloc(way->room, sizeof(*way->is.points));
	return way->is.points && delay_classes_open(&way->delays) && (way->bins || !way->num_bins);
}

/*
 * Divide the available points among directions. Directions with few messages leave points that they
 * do not need to busier directions.
 */
static bool allocate_all_points(struct collector *c, size_t max_points)
{
	const size_t busy = c->num_ways < MAX_BUSY ? c->num_ways : MAX_BUSY;

	for (size_t i = busy; i-- > 0;) {
		size_t room = max_points / (i + 1);

		room = room > MAX_POINTS ? MAX_POINTS : room < MIN_POINTS ? MIN_POINTS : room;
		if (!allocate_points(c->ways[i], room))
			return false;
		max_points -= c->ways[i]->room < max_points ? c->ways[i]->room : max_points;
	}
	return true;
}

static bool list_collected_ways(struct collector *c, size_t max_points)
{
	c->ways = calloc(c->num_ways + 1, sizeof(*c->ways));
	c->num_ways = 0;
	if (!c->ways)
		return false;
	twalk_r(c->tree, append_collected_way, c);
	qsort(c->ways, c->num_ways, sizeof(*c->ways), compare_ways_by_messages);
	return allocate_all_points(c, max_points);
}

static void summarize_collected_way(struct collected_way *way)
{
	if (!way->room)
		return;
	collect_bin_points(way);
	way->is.min_ns = way->delays.min_ns;
	way->is.max_ns = way->delays.max_ns;
	way->is.median_ns = delay_classes_quantile(&way->delays, 0.5);
	way->is.p99_ns = delay_classes_quantile(&way->delays, 0.99);
}

static bool hand_over_traffic(struct collector *c, struct traffic *traffic)
{
	traffic->ways = calloc(c->num_ways + 1, sizeof(*traffic->ways));
	if (!traffic->ways)
		return false;
	qsort(c->ways, c->num_ways, sizeof(*c->ways), compare_traffic_by_hosts);
	for (size_t i = 0; i < c->num_ways; i++) {
		summarize_collected_way(c->ways[i]);
		traffic->ways[i] = c->ways[i]->is;
		c->ways[i]->is.points = NULL;
	}
	traffic->num_ways = c->num_ways;
	return true;
}

static void free_collected_way(void *data)
{
	struct collected_way *way = data;

	free(way->bins);
	delay_classes_release(&way->delays);
	free(way->is.points);
	free(way);
}

static void spool_message(void *data, const struct netsync_message *msg)
{
	const struct spooled message = {
		msg->from,
		msg->to,
		msg->send_ns,
		msg->recv_ns,
	};

	spool_put_record(data, &message);
}

static void spool_packet_message(void *data, const struct netsync_message *msg)
{
	struct spooled_packet packet = {
		.message = { msg->from, msg->to, msg->send_ns, msg->recv_ns },
		.fields = msg->fields,
		.len = msg->len,
		.sport = msg->sport,
		.dport = msg->dport,
		.protocol = msg->protocol,
	};

	memcpy(packet.saddr, msg->saddr, sizeof(packet.saddr));
	memcpy(packet.daddr, msg->daddr, sizeof(packet.daddr));
	spool_put_record(data, &packet);
}

bool traffic_spool_messages(struct spool *spool, struct netsync *ns)
{
	if (!spool_open(spool, sizeof(struct spooled)))
		return false;
	netsync_watch_messages(ns, spool_message, spool);
	return true;
}

bool traffic_spool_packets(struct spool *spool, struct netsync *ns)
{
	if (!spool_open(spool, sizeof(struct spooled_packet)))
		return false;
	netsync_watch_messages(ns, spool_packet_message, spool);
	return true;
}

bool traffic_collect(struct traffic *traffic, struct spool *spool, const struct traffic_host *hosts,
		     size_t max_points)
{
	struct collector c = { .hosts = hosts, .random = 88172645463325252 };
	bool ok = spool_read_records(spool, count_message, &c);

	if (ok) {
		c.no_memory = !list_collected_ways(&c, max_points);
		ok = !c.no_memory && spool_read_records(spool, sample_message, &c);
	}
	if (ok)
		c.no_memory = !hand_over_traffic(&c, traffic);
	if (c.no_memory)
		complain_no_memory();
	free(c.ways);
	tdestroy(c.tree, free_collected_way);
	return ok && !c.no_memory;
}

void traffic_release(struct traffic *traffic)
{
	for (size_t i = 0; i < traffic->num_ways; i++)
		free(traffic->ways[i].points);
	free(traffic->ways);
	*traffic = (struct traffic){ 0 };
}
