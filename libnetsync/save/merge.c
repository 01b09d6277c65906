// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Add saved state to a struct netsync as if the saved input had been pushed to this object. All
 * values are checked before the object is changed.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "save/format.h"
#include "save/save.h"

/* The host of this object to which a saved host corresponds. */
struct host_place {
	uint32_t number;
	bool is_new;
	/*
	 * value to add to times relative to the saved origin to get times relative to the origin in
	 * this object, ns
	 */
	int64_t shift;
};

struct saved_merging {
	struct netsync *ns;
	struct saved saved;
	struct host_place *place;
	const char *why;
};

static int refuse_merge(struct saved_merging *m, int error, const char *why)
{
	m->why = why;
	return error;
}

static bool was_host_seen(const struct host *h)
{
	return h->first <= h->last;
}

static bool is_merged_time_far(int64_t a, int64_t b)
{
	const __int128 d = (__int128)a - b;

	return d > NETSYNC_MAX_SPAN || d < -NETSYNC_MAX_SPAN;
}

static bool is_merged_time_valid(__int128 t)
{
	return t < NETSYNC_MAX_TIME && t > -NETSYNC_MAX_TIME;
}

/* ---- checking -------------------------------------------------------------- */

static int find_host_place(struct saved_merging *m, size_t i, uint32_t *num_new)
{
	const struct saved *s = &m->saved;
	const struct netsync *ns = m->ns;
	const char *name = s->host[i].name;
	const size_t length = s->name_length[i];

	for (size_t k = 0; k < i; k++)
		if (s->name_length[k] == length && !memcmp(s->host[k].name, name, length))
			return refuse_merge(m, -EBADMSG, "two hosts have the same name");
	for (uint32_t n = 0; n < ns->num_hosts; n++) {
		const char *own = ns->host[n].name;

		if (strlen(own) == length && !memcmp(own, name, length)) {
			m->place[i].number = n;
			return 0;
		}
	}
	m->place[i].number = (uint32_t)ns->num_hosts + (*num_new)++;
	m->place[i].is_new = true;
	return ns->num_hosts + *num_new < INT_MAX ? 0 : -ENOMEM;
}

/* Return whether all times of a host are within the allowed range. */
static int check_host_times(struct saved_merging *m, size_t i)
{
	const struct host *h = &m->saved.host[i];
	struct host_place *p = &m->place[i];
	const __int128 first = (__int128)h->origin + h->first;
	const __int128 last = (__int128)h->origin + h->last;

	if (!was_host_seen(h))
		return 0;
	if (!is_merged_time_valid(first) || !is_merged_time_valid(last))
		return refuse_merge(m, -ERANGE, "times are outside the years 1824 to 2116");
	if (p->is_new || !was_host_seen(&m->ns->host[p->number]))
		return 0;
	p->shift = h->origin - m->ns->host[p->number].origin;
	if (is_merged_time_far((int64_t)first, m->ns->host[p->number].origin) ||
	    is_merged_time_far((int64_t)last, m->ns->host[p->number].origin))
		return refuse_merge(m, -ERANGE, "times of a host are more than 36 years apart");
	return 0;
}

/* Return whether a host has used messages that the readings of @other would have rejected. */
static bool was_used_before_steering(const struct host *h, const struct steering *own,
				     const struct steering *other)
{
	return !own->num && other->num && h->last_used > INT64_MIN &&
	       !steering_is_long_before(other, h->origin + h->last_used);
}

static bool are_same_clock_points(const struct clock_point *a, const struct clock_point *b)
{
	return a->t == b->t && a->raw == b->raw;
}

static int check_steering(struct saved_merging *m, size_t i)
{
	const struct steering *s = &m->saved.steering[i];
	const struct steering none = { 0 }, *own = &none;
	const struct host *host = &m->saved.host[i], *here = NULL;
	const struct clock_point *first = s->point;

	if (!m->place[i].is_new) {
		own = &m->ns->steering[m->place[i].number];
		here = &m->ns->host[m->place[i].number];
		first = own->num ? own->point : first;
	}
	for (size_t k = 0; k < s->num; k++)
		if (is_merged_time_far(s->point[k].t, first->t) ||
		    is_merged_time_far(s->point[k].raw, first->raw) ||
		    (here && was_host_seen(here) &&
		     is_merged_time_far(s->point[k].t, here->origin)))
			return refuse_merge(m, -ERANGE,
					    "clock readings are more than 36 years apart");
	/*
	 * If readings were pushed before any other time of the host, they have not been compared
	 * with the host's times yet.
	 */
	if ((s->num && was_host_seen(host) && is_merged_time_far(s->point[0].t, host->origin)) ||
	    (own->num && was_host_seen(host) && is_merged_time_far(own->point[0].t, host->origin)))
		return refuse_merge(m, -ERANGE, "clock readings are more than 36 years apart");
	if (was_used_before_steering(host, s, own) ||
	    (here && was_used_before_steering(here, own, s)))
		return refuse_merge(
			m, -EALREADY,
			"messages of a host that now has clock readings were already used");
	if (s->anchored && own->anchored && !are_same_clock_points(&s->anchor, &own->anchor))
		return refuse_merge(
			m, -EALREADY,
			"the clock readings were pushed to the other object in a different order");
	/*
	 * Raw times are relative to the anchor. A clock with an anchor therefore needs readings,
	 * and the anchor must be near them.
	 */
	return s->anchored && (is_merged_time_far(s->anchor.raw,
						  s->num ? first->raw : s->anchor.raw) ||
			       !s->num) ?
		       refuse_merge(m, -EBADMSG, "a clock has no readings") :
		       0;
}

static bool is_moved_place_valid(int64_t x, int64_t y, int64_t by_x, int64_t by_y)
{
	const __int128 new_x = (__int128)x + by_x, new_y = (__int128)y + by_y;

	return new_x <= NETSYNC_MAX_SPAN && new_x >= -NETSYNC_MAX_SPAN && new_y <= SAVED_MAX_Y &&
	       new_y >= -SAVED_MAX_Y;
}

/* Return whether a direction's points remain within the limits for hulls when they are shifted. */
static bool can_move_direction(const struct direction *d, int64_t x, int64_t y)
{
	bool can = true;

	for (size_t i = 0; i < d->num_fresh; i++)
		can &= is_moved_place_valid(d->fresh[i].x, d->fresh[i].y, x, y);
	for (size_t i = 0; i < d->envelope.corners; i++)
		can &= is_moved_place_valid(d->envelope.pool[i].x, d->envelope.pool[i].y, x, y);
	return can;
}

/*
 * Return the shift for a pair's y. The shift fits into 64 bits, because every shift is at most
 * 2^61.
 */
static int64_t compute_y_shift(const struct saved_merging *m, const struct pair *p)
{
	return m->place[p->host[1]].shift - m->place[p->host[0]].shift;
}

static int check_pairs(struct saved_merging *m)
{
	for (size_t i = 0; i < m->saved.pairs.part[0].num; i++) {
		const struct pair *p = m->saved.pairs.part[0].pair[i];
		const int64_t x = m->place[p->host[0]].shift, y = compute_y_shift(m, p);

		if (m->place[p->host[0]].number > m->place[p->host[1]].number)
			return refuse_merge(
				m, -EINVAL,
				"the hosts were added to the other object in a different order");
		if (!can_move_direction(&p->direction[0], x, y) ||
		    !can_move_direction(&p->direction[1], x, -y))
			return refuse_merge(m, -ERANGE,
					    "times of a host are more than 36 years apart");
	}
	return 0;
}

static int check_messages(struct saved_merging *m, const struct held_message *message, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		const struct held_message *h = &message[i];

		if (is_merged_time_far(h->send, m->saved.host[h->from].origin) ||
		    is_merged_time_far(h->recv, m->saved.host[h->to].origin))
			return refuse_merge(m, -ERANGE,
					    "times of a host are more than 36 years apart");
	}
	return 0;
}

static int check_merge(struct saved_merging *m)
{
	uint32_t num_new = 0;
	int ret = 0;

	m->place = calloc(m->saved.num_hosts + 1, sizeof(*m->place));
	if (!m->place)
		return -ENOMEM;
	for (size_t i = 0; i < m->saved.num_hosts && !ret; i++) {
		ret = find_host_place(m, i, &num_new);
		if (!ret)
			ret = check_host_times(m, i);
		if (!ret)
			ret = check_steering(m, i);
	}
	if (!ret)
		ret = check_pairs(m);
	if (!ret)
		ret = check_messages(m, m->saved.held, m->saved.num_held);
	return ret ? ret : check_messages(m, m->saved.uncovered, m->saved.num_uncovered);
}

/* ---- adding ---------------------------------------------------------------- */

static int add_new_hosts(struct saved_merging *m)
{
	int ret = 0;

	for (size_t i = 0; i < m->saved.num_hosts && ret >= 0; i++) {
		char *name;

		if (!m->place[i].is_new)
			continue;
		name = strndup(m->saved.host[i].name, m->saved.name_length[i]);
		ret = name ? netsync_add_host(m->ns, name) : -ENOMEM;
		free(name);
	}
	return ret < 0 ? ret : 0;
}

static void add_host_times(struct host *h, const struct host *other, int64_t shift)
{
	if (!was_host_seen(other))
		return;
	if (!was_host_seen(h))
		h->origin = other->origin;
	h->first = min64(h->first, other->first + shift);
	h->last = max64(h->last, other->last + shift);
	if (other->said.lo <= other->said.hi) {
		h->said.lo = min64(h->said.lo, other->said.lo + shift);
		h->said.hi = max64(h->said.hi, other->said.hi + shift);
	}
	if (other->last_used > INT64_MIN)
		h->last_used = max64(h->last_used, other->last_used + shift);
	resolution_merge(&h->resolution, &other->resolution, shift);
}

static int add_steering(struct steering *s, const struct steering *other)
{
	int ret = other->num ? steering_merge(s, other->point, other->num) : 0;

	if (!ret && other->anchored && !s->anchored) {
		s->anchored = true;
		s->anchor = other->anchor;
	}
	if (!ret && other->has_promise)
		steering_promise(s, other->promised);
	return ret;
}

static int add_hosts(struct saved_merging *m)
{
	int ret = 0;

	for (size_t i = 0; i < m->saved.num_hosts && !ret; i++) {
		const uint32_t n = m->place[i].number;
		struct netsync *ns = m->ns;

		ns->host[n].packets += m->saved.host[i].packets;
		add_host_times(&ns->host[n], &m->saved.host[i], m->place[i].shift);
		ret = add_steering(&ns->steering[n], &m->saved.steering[i]);
		ns->steered |= ns->steering[n].num > 0;
		for (int d = 0; d < 2 && !ret; d++)
			if (m->saved.stack[i][d])
				ret = peers_add_stack(&ns->matcher.peers, n, d,
						      m->saved.stack[i][d]);
	}
	return ret;
}

static int add_pairs(struct saved_merging *m)
{
	const size_t num = m->ns->num_hosts;
	int64_t *origin = calloc(2 * num + 1, sizeof(*origin));
	int ret;

	if (!origin)
		return -ENOMEM;
	for (size_t i = 0; i < num; i++)
		origin[i] = m->ns->host[i].origin;
	for (size_t i = 0; i < m->saved.num_hosts; i++)
		origin[num + m->place[i].number] = m->saved.host[i].origin;
	for (size_t i = 0; i < m->saved.pairs.part[0].num; i++)
		for (int k = 0; k < 2; k++) {
			uint32_t *host = &m->saved.pairs.part[0].pair[i]->host[k];

			*host = m->place[*host].number;
		}
	ret = pairs_merge(&m->ns->pairs, origin, &m->saved.pairs, origin + num);
	free(origin);
	return ret;
}

static void add_saved_counts(struct netsync *ns, const struct netsync_stats *s)
{
	const struct match_counts counts = {
		.matched = s->matched,
		.nat = s->nat,
		.ambiguous = s->ambiguous,
		.unmatched = s->unmatched,
	};

	ns->packets += s->packets;
	ns->loopback += s->loopback;
	ns->unsupported += s->unsupported;
	matcher_add_counts(&ns->matcher, &counts, s->evicted);
}

static int add_peers(struct saved_merging *m)
{
	int ret = 0;

	for (size_t i = 0; i < m->saved.num_counts && !ret; i++) {
		const struct peer_pair *p = &m->saved.counts[i];
		const uint32_t a = m->place[p->host[0]].number;
		const uint32_t b = m->place[p->host[1]].number;

		ret = peers_add_counts(&m->ns->matcher.peers, a < b ? a : b, a < b ? b : a,
				       &p->past);
	}
	return ret;
}

static struct held_message place_held_message(const struct saved_merging *m,
					      const struct held_message *h)
{
	return (struct held_message){ m->place[h->from].number, m->place[h->to].number, h->send,
				      h->recv };
}

static int add_held_messages(struct saved_merging *m)
{
	const struct steered_hosts hosts = {
		m->ns->host,
		m->ns->steering,
		(uint32_t)m->ns->num_hosts,
	};
	int ret = 0;

	for (size_t i = 0; i < m->saved.num_held && !ret; i++) {
		const struct held_message h = place_held_message(m, &m->saved.held[i]);

		ret = held_add_message(&m->ns->held, &h, &m->ns->pairs, &hosts);
	}
	for (size_t i = 0; i < m->saved.num_uncovered && !ret; i++) {
		const struct held_message h = place_held_message(m, &m->saved.uncovered[i]);

		ret = held_keep_uncovered(&m->ns->held, &h);
	}
	return ret;
}

static int add_saved_data(struct saved_merging *m)
{
	int ret = add_new_hosts(m);

	if (!ret)
		ret = add_hosts(m);
	if (!ret)
		ret = add_pairs(m);
	if (!ret)
		ret = add_peers(m);
	if (!ret)
		ret = add_held_messages(m);
	if (!ret)
		add_saved_counts(m->ns, &m->saved.stats);
	return ret;
}

int saved_merge(struct netsync *ns, const void *bytes, size_t size, const char **why)
{
	struct saved_merging m = { .ns = ns };
	int ret = saved_read(&m.saved, bytes, size);

	if (ret == -EPROTO)
		refuse_merge(&m, ret, "they were saved by a different version of netsync");
	else if (ret == -EBADMSG)
		refuse_merge(&m, ret, "they were not saved by netsync");
	if (!ret)
		ret = check_merge(&m);
	if (!ret)
		ret = add_saved_data(&m);
	*why = m.why;
	free(m.place);
	saved_release(&m.saved);
	return ret;
}
