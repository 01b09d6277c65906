// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "steer/held.h"
#include "util/array.h"

/* Messages that are looked at together, so that maps are not made for each. Chosen. */
#define FEW ((size_t)1 << 14)
/* Messages that are held at most, 32 MB; then maps are extrapolated. Chosen. */
#define MOST ((size_t)1 << 20)

/* Is a message ready, as far as one of its hosts is concerned? */
typedef bool (*ready_func)(const struct steering *s, int64_t t);

static bool is_known(const struct steering *s, int64_t t)
{
	return !steering_known(s) || t <= steering_known_until(s);
}

static bool is_any(const struct steering *s, int64_t t)
{
	(void)s;
	(void)t;
	return true;
}

static struct endpoint endpoint(const struct steered_hosts *hosts,
				uint32_t number, int64_t t)
{
	int64_t origin = hosts->host[number].origin;
	int64_t raw = polyline_at(&hosts->steering[number].map, t);

	return (struct endpoint){ number, origin, raw - origin };
}

static int pass_on(struct pairs *pairs, const struct steered_hosts *hosts,
		   const struct held_message *m)
{
	const struct endpoint from = endpoint(hosts, m->from, m->send);
	const struct endpoint to = endpoint(hosts, m->to, m->recv);

	if (steering_doubt(&hosts->steering[m->from], m->send) ||
	    steering_doubt(&hosts->steering[m->to], m->recv))
		return 0;
	return pairs_add(pairs, &from, &to);
}

static int settle_maps(const struct steered_hosts *hosts)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < hosts->num; i++) {
		const struct host *h = &hosts->host[i];

		if (h->first <= h->last)
			steering_set_begin(&hosts->steering[i],
					   h->origin + h->first);
		ret = steering_settle(&hosts->steering[i]);
	}
	return ret;
}

static int pass(struct held *held, struct pairs *pairs,
		const struct steered_hosts *hosts, ready_func is_ready)
{
	int ret = settle_maps(hosts);
	size_t kept = 0;

	for (size_t i = 0; i < held->num; i++) {
		const struct held_message m = held->message[i];
		bool ready = !ret &&
			     is_ready(&hosts->steering[m.from], m.send) &&
			     is_ready(&hosts->steering[m.to], m.recv);

		if (ready)
			ret = pass_on(pairs, hosts, &m);
		/* A message for which there was no memory is tried again later. */
		if (!ready || ret)
			held->message[kept++] = m;
	}
	held->num = kept;
	return ret;
}

int held_add(struct held *held, const struct held_message *m,
	     struct pairs *pairs, const struct steered_hosts *hosts)
{
	int ret = 0;

	if (!held->next)
		held->next = FEW;
	if (held->num >= held->next) {
		ret = pass(held, pairs, hosts,
			   held->num >= MOST ? is_any : is_known);
		held->next = held->num + FEW < MOST ? held->num + FEW : MOST;
	}
	if (ret || array_grow(&held->message, &held->room, held->num,
			      sizeof(*held->message)))
		return -ENOMEM;
	held->message[held->num++] = *m;
	return 0;
}

int held_settle(struct held *held, struct pairs *pairs,
		const struct steered_hosts *hosts)
{
	/* What was seen of a host last is where steering is of interest. */
	for (uint32_t i = 0; i < hosts->num; i++) {
		const struct host *h = &hosts->host[i];

		if (h->first <= h->last)
			steering_set_end(&hosts->steering[i],
					 h->origin + h->last);
	}
	return pass(held, pairs, hosts, steering_is_final);
}

void held_release(struct held *held)
{
	free(held->message);
	memset(held, 0, sizeof(*held));
}
