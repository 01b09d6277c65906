// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "steer/held.h"
#include "util/array.h"
#include "util/hash.h"

/*
 * Number of messages that are examined together, so that maps are not made for each message.
 * Chosen.
 */
#define FEW ((size_t)1 << 14)
/*
 * Maximum number of deferred messages, which take 32 MB. If there are more, maps are extrapolated.
 * Chosen.
 */
#define MOST ((size_t)1 << 20)

/* Maximum number of messages in the sample of uncovered messages, which take 2 MB. Chosen. */
#define MOST_UNCOVERED ((size_t)1 << 16)

/* Maximum of held.apart. No trace has this many messages. */
#define MOST_APART (UINT64_C(1) << 62)

/* Return whether a message is ready, judging by its time @t on one of its hosts. */
typedef bool (*ready_func)(const struct steered_hosts *hosts, uint32_t host, int64_t t);

/*
 * Return whether the map covers @t. If the host has no readings, return whether a reading that
 * arrives later would be too late for a message at @t.
 */
static bool is_time_known(const struct steered_hosts *hosts, uint32_t host, int64_t t)
{
	const struct steering *s = &hosts->steering[host];

	return steering_has_readings(s) ? t <= steering_known_until(s) :
					  t - hosts->host[host].origin >= EARLY_NS;
}

static bool is_time_final(const struct steered_hosts *hosts, uint32_t host, int64_t t)
{
	return steering_is_final(&hosts->steering[host], t);
}

static bool is_any_time(const struct steered_hosts *hosts, uint32_t host, int64_t t)
{
	(void)hosts;
	(void)host;
	(void)t;
	return true;
}

static struct endpoint make_raw_endpoint(const struct steered_hosts *hosts, uint32_t number,
					 int64_t t)
{
	int64_t origin = hosts->host[number].origin;
	int64_t raw = polyline_evaluate(&hosts->steering[number].map, t);

	return (struct endpoint){ number, origin, raw - origin };
}

/*
 * Return whether a message belongs to the sample of one in @apart messages. A hash chooses
 * messages, because requests and responses may alternate: every second message would be of one
 * direction only.
 */
static bool is_message_sampled(const struct held_message *m, uint64_t apart)
{
	uint64_t hash = hash_mix((uint64_t)m->send);

	hash = hash_mix(hash ^ (uint64_t)m->recv);
	hash = hash_mix(hash ^ ((uint64_t)m->from << 32 | m->to));
	return !(hash & (apart - 1));
}

/* If the sample is full, drop half of it, and double held.apart. */
int held_keep_uncovered(struct held *held, const struct held_message *m)
{
	if (!held->apart)
		held->apart = 1;
	while (held->num_uncovered == MOST_UNCOVERED && held->apart < MOST_APART) {
		size_t kept = 0;

		held->apart *= 2;
		for (size_t i = 0; i < MOST_UNCOVERED; i++)
			if (is_message_sampled(&held->uncovered[i], held->apart))
				held->uncovered[kept++] = held->uncovered[i];
		held->num_uncovered = kept;
	}
	if (!is_message_sampled(m, held->apart) || held->num_uncovered == MOST_UNCOVERED)
		return 0;
	if (array_grow(&held->uncovered, &held->room_uncovered, held->num_uncovered,
		       sizeof(*held->uncovered)))
		return -ENOMEM;
	held->uncovered[held->num_uncovered++] = *m;
	return 0;
}

/*
 * Return whether the raw time is within the limit. Readings may report a rate at which raw times
 * are farther apart than the host's times.
 */
static bool is_raw_time_near(const struct endpoint *e)
{
	return e->t <= NETSYNC_MAX_SPAN && e->t >= -NETSYNC_MAX_SPAN;
}

enum fate { IS_USED, IS_UNCOVERED, IS_REJECTED };

static enum fate decide_message_fate(const struct steered_hosts *hosts,
				     const struct held_message *m)
{
	const struct steering *s[2] = { &hosts->steering[m->from], &hosts->steering[m->to] };
	const struct raw_doubt *d[2] = { steering_find_doubt(s[0], m->send),
					 steering_find_doubt(s[1], m->recv) };

	if (!d[0] && !d[1])
		return IS_USED;
	for (int i = 0; i < 2; i++)
		if (d[i] && steering_is_doubt_open(s[i], d[i]))
			return IS_UNCOVERED;
	return IS_REJECTED;
}

/*
 * Note a time at which a message was used before the host had any reading. Readings that arrive
 * later include the error of such messages.
 */
static void note_used_time(const struct steered_hosts *hosts, uint32_t number, int64_t t)
{
	struct host *h = &hosts->host[number];

	if (!steering_has_readings(&hosts->steering[number]))
		h->last_used = max64(h->last_used, t - h->origin);
}

static int use_message(struct pairs *pairs, const struct steered_hosts *hosts,
		       const struct held_message *m)
{
	const struct endpoint from = make_raw_endpoint(hosts, m->from, m->send);
	const struct endpoint to = make_raw_endpoint(hosts, m->to, m->recv);

	note_used_time(hosts, m->from, m->send);
	note_used_time(hosts, m->to, m->recv);
	return is_raw_time_near(&from) && is_raw_time_near(&to) ? pairs_add(pairs, &from, &to) : 0;
}

static int pass_message(struct held *held, struct pairs *pairs, const struct steered_hosts *hosts,
			const struct held_message *m)
{
	switch (decide_message_fate(hosts, m)) {
	case IS_USED:
		return use_message(pairs, hosts, m);
	case IS_UNCOVERED:
		return held_keep_uncovered(held, m);
	case IS_REJECTED:
		break;
	}
	return 0;
}

/*
 * Decide on uncovered messages again, because readings that have arrived in the meantime may cover
 * them.
 */
static int pass_uncovered(struct held *held, struct pairs *pairs, const struct steered_hosts *hosts)
{
	size_t kept = 0;
	int ret = 0;

	for (size_t i = 0; i < held->num_uncovered; i++) {
		const struct held_message m = held->uncovered[i];
		const enum fate fate = ret ? IS_UNCOVERED : decide_message_fate(hosts, &m);

		if (fate == IS_USED)
			ret = use_message(pairs, hosts, &m);
		/* If there was no memory for a message, the next call tries again. */
		if (fate == IS_UNCOVERED || ret)
			held->uncovered[kept++] = m;
	}
	held->num_uncovered = kept;
	return ret;
}

static int settle_maps(const struct steered_hosts *hosts)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < hosts->num; i++) {
		const struct host *h = &hosts->host[i];

		if (h->first <= h->last)
			steering_set_begin(&hosts->steering[i], h->origin + h->first);
		if (h->last_used > INT64_MIN)
			steering_set_used(&hosts->steering[i], h->origin + h->last_used);
		ret = steering_settle(&hosts->steering[i]);
	}
	return ret;
}

static int pass_ready_messages(struct held *held, struct pairs *pairs,
			       const struct steered_hosts *hosts, ready_func is_ready)
{
	int ret = settle_maps(hosts);
	size_t kept = 0;

	for (size_t i = 0; i < held->num; i++) {
		const struct held_message m = held->message[i];
		bool ready = !ret && is_ready(hosts, m.from, m.send) &&
			     is_ready(hosts, m.to, m.recv);

		if (ready)
			ret = pass_message(held, pairs, hosts, &m);
		/* If there was no memory for a message, the next call tries again. */
		if (!ready || ret)
			held->message[kept++] = m;
	}
	held->num = kept;
	return ret;
}

int held_add_message(struct held *held, const struct held_message *m, struct pairs *pairs,
		     const struct steered_hosts *hosts)
{
	int ret = 0;

	if (!held->next)
		held->next = FEW;
	if (held->num >= held->next) {
		ret = pass_ready_messages(held, pairs, hosts,
					  held->num >= MOST ? is_any_time : is_time_known);
		held->next = held->num + FEW < MOST ? held->num + FEW : MOST;
	}
	if (ret || array_grow(&held->message, &held->room, held->num, sizeof(*held->message)))
		return -ENOMEM;
	held->message[held->num++] = *m;
	return 0;
}

int held_pass_final(struct held *held, struct pairs *pairs, const struct steered_hosts *hosts)
{
	int ret;

	/* Steering matters up to the last time at which a host was seen. */
	for (uint32_t i = 0; i < hosts->num; i++) {
		const struct host *h = &hosts->host[i];

		if (h->first <= h->last)
			steering_set_end(&hosts->steering[i], h->origin + h->last);
	}
	ret = pass_ready_messages(held, pairs, hosts, is_time_final);
	return ret ? ret : pass_uncovered(held, pairs, hosts);
}

int early_keep_message(struct early *early, const struct held_message *m)
{
	if (array_grow(&early->message, &early->room, early->num, sizeof(*early->message)))
		return -ENOMEM;
	early->message[early->num++] = *m;
	return 0;
}

void held_release(struct held *held)
{
	free(held->message);
	free(held->uncovered);
	memset(held, 0, sizeof(*held));
}
