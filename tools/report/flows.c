// SPDX-License-Identifier: GPL-2.0-only
/*
 * Among the messages in a spool, find the flows with the most messages in each direction. The spool
 * is read twice. The first pass finds candidates in memory whose size does not depend on the number
 * of flows (the Space-Saving algorithm: A. Metwally, D. Agrawal, A. El Abbadi, "Efficient
 * computation of frequent and top-k elements in data streams", ICDT 2005). The second pass counts
 * the messages and delays of the candidates exactly.
 */
#include <stdlib.h>
#include <string.h>

#include "../../libnetsync/util/hash.h"
#include "common/complain.h"
#include "common/delay-classes.h"
#include "details.h"

/*
 * Maximum number of counters for a direction, and approximate maximum number for all directions. A
 * counter takes 56 bytes. Chosen.
 */
#define MAX_COUNTERS 128
#define MAX_COUNTERS_OF_ALL 131072

/*
 * Maximum number of flows of a direction whose delays are counted, and approximate maximum number
 * for all directions. The delays of a flow take 8 KB. A flow is certainly a candidate if it has
 * more than 1 / (number of counters) of the direction's messages: no counter is too low, and all
 * counters together count each message once. Chosen.
 */
#define MAX_COUNTED 32
#define MAX_COUNTED_OF_ALL 2048

/* Number of flows that are listed for each direction. Chosen. */
#define MAX_FLOWS 10

/* The properties that the messages of a flow share. */
struct flow_key {
	uint8_t saddr[16];
	uint8_t daddr[16];
	uint16_t sport;
	uint16_t dport;
	uint32_t protocol;
};

struct flow_counter {
	struct flow_key key;
	uint64_t messages;
};

struct counted_flow {
	struct flow_key key;
	struct traffic_flow is;
	struct delay_classes delays;
};

struct flows_of_way {
	uint64_t *hashes; /* hashes of the counters' keys, stored next to each other for speed */
	struct flow_counter *counters;
	size_t num_counters;
	struct counted_flow *counted;
	size_t num_counted;
	size_t last; /* index of the previous message's flow, because messages come in bursts */
};

struct flow_collector {
	const struct traffic *traffic;
	const struct traffic_host *hosts;
	struct flows_of_way *ways;
	size_t num_busy; /* number of directions with points; all others have no flows */
	size_t max_counters;
	ptrdiff_t last;
};

/* ---- flows --------------------------------------------------------------- */

/* Set the key of a message's flow. Return false if the message's addresses are not known. */
static bool set_flow_key(struct flow_key *key, const struct spooled_packet *packet)
{
	if (!(packet->fields & NETSYNC_HAS_ADDRS))
		return false;
	*key = (struct flow_key){ .protocol = packet->protocol };
	memcpy(key->saddr, packet->saddr, sizeof(key->saddr));
	memcpy(key->daddr, packet->daddr, sizeof(key->daddr));
	if (packet->fields & NETSYNC_HAS_PORTS) {
		key->sport = packet->sport;
		key->dport = packet->dport;
	}
	return true;
}

static uint64_t hash_flow(const struct flow_key *key)
{
	uint64_t words[sizeof(*key) / sizeof(uint64_t)], hash = 0;

	_Static_assert(!(sizeof(*key) % sizeof(uint64_t)), "a key is whole words");
	memcpy(words, key, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		hash = hash_mix(hash ^ words[i]);
	return hash;
}

static bool is_same_flow(const struct flow_key *a, const struct flow_key *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/*
 * Return the flows of a message's direction, and set @key. Return NULL if the message has
 * no flow.
 */
static struct flows_of_way *find_message_flows(struct flow_collector *c,
					       const struct spooled_packet *packet,
					       struct flow_key *key)
{
	c->last = details_find_way(c->traffic, &packet->message, c->last);
	if (c->last < 0 || !c->traffic->ways[c->last].num_points)
		return NULL;
	return set_flow_key(key, packet) ? &c->ways[c->last] : NULL;
}

/* ---- first pass: candidates ---------------------------------------------- */

static size_t find_smallest_counter(const struct flows_of_way *way)
{
	size_t least = 0;

	for (size_t i = 1; i < way->num_counters; i++)
		if (way->counters[i].messages < way->counters[least].messages)
			least = i;
	return least;
}

static size_t find_flow_counter(const struct flows_of_way *way, const struct flow_key *key,
				uint64_t hash)
{
	if (way->last < way->num_counters && way->hashes[way->last] == hash &&
	    is_same_flow(&way->counters[way->last].key, key))
		return way->last;
	for (size_t i = 0; i < way->num_counters; i++)
		if (way->hashes[i] == hash && is_same_flow(&way->counters[i].key, key))
			return i;
	return way->num_counters;
}

static bool open_flow_counters(struct flows_of_way *way, size_t num)
{
	way->hashes = calloc(num, sizeof(*way->hashes));
	way->counters = calloc(num, sizeof(*way->counters));
	return (way->hashes && way->counters) || complain_no_memory();
}

static bool count_message_flow(void *data, const void *record)
{
	struct flow_collector *c = data;
	struct flow_key key;
	struct flows_of_way *way = find_message_flows(c, record, &key);
	uint64_t hash;

	if (!way)
		return true;
	if (!way->counters && !open_flow_counters(way, c->max_counters))
		return false;
	hash = hash_flow(&key);
	way->last = find_flow_counter(way, &key, hash);
	if (way->last == way->num_counters) {
		/*
		 * A flow that replaces another one starts with its count, because the new flow may
		 * have been as large.
		 */
		if (way->num_counters < c->max_counters)
			way->num_counters++;
		else
			way->last = find_smallest_counter(way);
		way->hashes[way->last] = hash;
		way->counters[way->last].key = key;
	}
	way->counters[way->last].messages++;
	return true;
}

static int compare_counters(const void *a, const void *b)
{
	const struct flow_counter *p = a, *q = b;

	if (p->messages != q->messages)
		return p->messages > q->messages ? -1 : 1;
	return memcmp(&p->key, &q->key, sizeof(p->key));
}

static bool open_counted_flows(struct flows_of_way *way, size_t most)
{
	const size_t num = way->num_counters < most ? way->num_counters : most;

	if (!num)
		return true;
	qsort(way->counters, way->num_counters, sizeof(*way->counters), compare_counters);
	way->counted = calloc(num, sizeof(*way->counted));
	if (!way->counted)
		return complain_no_memory();
	for (way->num_counted = 0; way->num_counted < num; way->num_counted++) {
		struct counted_flow *flow = &way->counted[way->num_counted];

		flow->key = way->counters[way->num_counted].key;
		flow->is.has_bytes = true;
		if (!delay_classes_open(&flow->delays))
			return complain_no_memory();
	}
	way->last = 0;
	return true;
}

/* ---- second pass: counts -------------------------------------------------- */

static struct counted_flow *find_counted_flow(struct flows_of_way *way, const struct flow_key *key)
{
	if (way->last < way->num_counted && is_same_flow(&way->counted[way->last].key, key))
		return &way->counted[way->last];
	for (size_t i = 0; i < way->num_counted; i++)
		if (is_same_flow(&way->counted[i].key, key)) {
			way->last = i;
			return &way->counted[i];
		}
	return NULL;
}

static bool count_flow_delay(void *data, const void *record)
{
	const struct spooled_packet *packet = record;
	struct flow_collector *c = data;
	struct flow_key key;
	struct flows_of_way *way = find_message_flows(c, packet, &key);
	struct counted_flow *flow = way ? find_counted_flow(way, &key) : NULL;
	struct traffic_point point;

	if (!flow)
		return true;
	flow->is.packet = *packet;
	flow->is.messages++;
	if (packet->fields & NETSYNC_HAS_LEN)
		flow->is.bytes += packet->len;
	else
		flow->is.has_bytes = false;
	point = traffic_make_point(c->hosts, &c->traffic->ways[c->last], &packet->message);
	delay_classes_add(&flow->delays, point.after_ns);
	return true;
}

static int compare_flows(const void *a, const void *b)
{
	const struct counted_flow *p = a, *q = b;

	if (p->is.messages != q->is.messages)
		return p->is.messages > q->is.messages ? -1 : 1;
	return memcmp(&p->key, &q->key, sizeof(p->key));
}

static bool hand_over_flows(struct flows_of_way *way, struct way_details *details)
{
	const size_t num = way->num_counted < MAX_FLOWS ? way->num_counted : MAX_FLOWS;

	if (!num)
		return true;
	qsort(way->counted, way->num_counted, sizeof(*way->counted), compare_flows);
	details->flows = calloc(num, sizeof(*details->flows));
	if (!details->flows)
		return complain_no_memory();
	for (size_t i = 0; i < num; i++) {
		struct traffic_flow *flow = &details->flows[i];

		*flow = way->counted[i].is;
		flow->min_ns = way->counted[i].delays.min_ns;
		flow->median_ns = delay_classes_quantile(&way->counted[i].delays, 0.5);
		flow->max_ns = way->counted[i].delays.max_ns;
	}
	details->num_flows = num;
	return true;
}

/* ---- both passes ---------------------------------------------------------- */

static bool collect_flows(struct flow_collector *c, struct details *details, struct spool *spool)
{
	const size_t most = details_compute_share(MAX_COUNTED_OF_ALL, c->num_busy, MAX_COUNTED);

	if (!spool_read_records(spool, count_message_flow, c))
		return false;
	for (size_t i = 0; i < c->traffic->num_ways; i++)
		if (!open_counted_flows(&c->ways[i], most))
			return false;
	c->last = -1;
	if (!spool_read_records(spool, count_flow_delay, c))
		return false;
	for (size_t i = 0; i < c->traffic->num_ways; i++)
		if (!hand_over_flows(&c->ways[i], &details->ways[i]))
			return false;
	return true;
}

static void release_flows(struct flows_of_way *way)
{
	for (size_t i = 0; i < way->num_counted; i++)
		delay_classes_release(&way->counted[i].delays);
	free(way->counted);
	free(way->counters);
	free(way->hashes);
}

bool details_collect_flows(struct details *details, struct spool *spool,
			   const struct traffic *traffic, const struct traffic_host *hosts)
{
	struct flow_collector c = { traffic, hosts, .last = -1 };
	bool ok;

	for (size_t i = 0; i < traffic->num_ways; i++)
		c.num_busy += traffic->ways[i].num_points > 0;
	c.max_counters = details_compute_share(MAX_COUNTERS_OF_ALL, c.num_busy, MAX_COUNTERS);
	c.ways = calloc(traffic->num_ways + 1, sizeof(*c.ways));
	if (!c.ways)
		return complain_no_memory();
	ok = collect_flows(&c, details, spool);
	for (size_t i = 0; i < traffic->num_ways; i++)
		release_flows(&c.ways[i]);
	free(c.ways);
	return ok;
}
