// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Clocks, bounds and the messages that were kept -> times at which no bound may be claimed, and
 * pairs that are inconsistent. Whatever made the bounds, a message that is received before it is
 * sent, even at the latest possible time of its reception and the earliest possible time of its
 * sending, contradicts them: the bound of one of its hosts is false at that time.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "reduce/internal.h"
#include "util/array.h"

/*
 * Largest distance, ns, of a single message that contradicts the bounds from consistent messages on
 * both sides, for the message itself to be wrong: otherwise a clock would have to be stepped twice
 * between these. If they are farther apart, or several messages contradict the bounds, the clock is
 * wrong. Chosen.
 */
#define NEAR_OTHERS 1e9
/*
 * Contradictions of a pair are not due to chance if there are more than FEW_WRONG plus one in
 * WRONG_SHARE of its kept messages. Chosen.
 */
#define FEW_WRONG 2
#define WRONG_SHARE 128
/*
 * If a correction inverts one in this many of a pair's messages, it does not fit them, and no
 * conclusion from it is trusted. Chosen.
 */
#define INVERTED_SHARE 4

/* Messages of a pair that contradict the bounds of its hosts. */
struct contradiction {
	uint32_t pair;
	struct range at[2]; /* times on each host, relative to its origin, ns */
};

struct check {
	struct reduction *r;
	struct contradiction *found;
	size_t num;
	size_t room;
	uint32_t *pairs; /* for each host, number of pairs that contradict it */
};

/* A message of a direction: its times on both hosts, and the results for it. */
struct checked {
	int64_t t[2];
	bool known;	  /* both bounds are known */
	bool contradicts; /* it contradicts the bounds */
	bool inverted;	  /* inverted in corrected time, by more than the error of stamps */
};

/* The kept messages of one direction. */
struct checked_way {
	struct checked *message;
	size_t num;
};

static bool is_in_spans(const struct host *from, const struct host *to, const struct checked *m,
			int way)
{
	return m->t[way] >= from->span.lo && m->t[way] <= from->span.hi &&
	       m->t[!way] >= to->span.lo && m->t[!way] <= to->span.hi;
}

/* Check a message from host[way] of the pair to the other one. Return false if a time is false. */
static bool check_message(const struct reduction *r, const struct pair *p, int way,
			  const struct point *at, struct checked *m)
{
	const struct direction *d = &p->direction[way];
	const struct host *from = &r->host[p->host[way]];
	const struct host *to = &r->host[p->host[!way]];
	int64_t y = at->y - d->raised, late, lo, hi, send, recv;

	*m = (struct checked){ .t = { at->x, at->x + (way ? -y : y) } };
	if (!is_in_spans(from, to, m, way))
		return false;
	late = to->origin + m->t[!way] + d->raised;
	if (netsync_interval(from->clock, from->origin + m->t[way], &lo, &hi))
		return false;
	m->known = lo > INT64_MIN;
	send = lo;
	if (netsync_interval(to->clock, late, &lo, &hi))
		return false;
	m->known &= hi < INT64_MAX;
	/* If clocks are steered, times of the messages have errors. */
	m->contradicts = m->known && (__int128)hi + from->time_error + to->time_error + 1 < send;
	netsync_convert(from->clock, from->origin + m->t[way], &send, NULL);
	netsync_convert(to->clock, late, &recv, NULL);
	m->inverted = recv < send - 1;
	return true;
}

/* Check one direction of a pair: 0 or -ENOMEM; ->message is to be freed. */
static int check_direction(const struct reduction *r, const struct pair *p, int way,
			   struct checked_way *w)
{
	const struct envelope *e = &p->direction[way].envelope;

	*w = (struct checked_way){ .message = malloc((e->corners + 1) * sizeof(*w->message)) };
	if (!w->message)
		return -ENOMEM;
	for (size_t i = 0; i < e->num; i++)
		for (uint32_t k = 0; k < e->bin[i].corners; k++)
			w->num += check_message(r, p, way, &e->bin[i].corner[k],
						&w->message[w->num]);
	return 0;
}

/* Is message @i, which is alone, more likely wrong than the bounds? */
static bool message_is_wrong(const struct checked_way *w, size_t i)
{
	const struct checked *m = &w->message[i];

	return i && i + 1 < w->num && !m[-1].contradicts && !m[1].contradicts &&
	       (double)(m->t[0] - m[-1].t[0]) <= NEAR_OTHERS &&
	       (double)(m[1].t[0] - m->t[0]) <= NEAR_OTHERS;
}

static int64_t time_after_message(const struct checked_way *w, size_t i, int host)
{
	return i ? w->message[i - 1].t[host] + 1 : INT64_MIN;
}

static int64_t time_before_message(const struct checked_way *w, size_t i, int host)
{
	return i < w->num ? w->message[i].t[host] - 1 : INT64_MAX;
}

static int add_contradiction(struct check *c, uint32_t pair, const struct range *first,
			     const struct range *second)
{
	if (array_grow(&c->found, &c->room, c->num, sizeof(*c->found)))
		return -ENOMEM;
	c->found[c->num++] = (struct contradiction){ pair, { *first, *second } };
	return 0;
}

/*
 * Note the intervals in which messages contradict the bounds: between the nearest consistent
 * messages of the direction. *wrong: number of messages that are wrong themselves.
 */
static int note_contradictions(struct check *c, uint32_t pair, const struct checked_way *w,
			       size_t *wrong)
{
	int ret = 0;

	for (size_t i = 0, next; !ret && i < w->num; i = next) {
		struct range at[2];

		next = i + 1;
		if (!w->message[i].contradicts)
			continue;
		if (message_is_wrong(w, i)) {
			++*wrong;
			continue;
		}
		while (next < w->num && (w->message[next].contradicts || !w->message[next].known))
			next++;
		for (int h = 0; h < 2; h++)
			at[h] = (struct range){ time_after_message(w, i, h),
						time_before_message(w, next, h) };
		ret = add_contradiction(c, pair, &at[0], &at[1]);
	}
	return ret;
}

static void lower_quality(enum netsync_quality *quality)
{
	if (*quality == NETSYNC_ACCURATE)
		*quality = NETSYNC_APPROXIMATE;
}

static int check_pair(struct check *c, uint32_t pair)
{
	const struct reduction *r = c->r;
	const struct pair *p = r->est[pair].pair;
	const struct range all = { INT64_MIN, INT64_MAX };
	size_t before = c->num, wrong = 0, inverted = 0, known = 0, num = 0;
	int ret = 0;

	if (!r->host[p->host[0]].clock || !r->host[p->host[1]].clock)
		return 0;
	for (int way = 0; !ret && way < 2; way++) {
		struct checked_way w;

		ret = check_direction(r, p, way, &w);
		if (!ret)
			ret = note_contradictions(c, pair, &w, &wrong);
		for (size_t i = 0; !ret && i < w.num; i++) {
			inverted += w.message[i].inverted;
			known += w.message[i].known;
		}
		num += w.num;
		free(w.message);
	}
	if (!ret && (wrong > FEW_WRONG + num / WRONG_SHARE ||
		     (known && r->pair_bound[pair].usable && inverted > 1 + num / INVERTED_SHARE)))
		ret = add_contradiction(c, pair, &all, &all);
	r->outvoted[pair] = wrong;
	r->disputed[pair] |= c->num > before || wrong || inverted > FEW_WRONG + num / WRONG_SHARE;
	if (r->disputed[pair])
		lower_quality(&r->est[pair].quality);
	for (int h = 0; h < 2; h++)
		c->pairs[p->host[h]] += c->num > before;
	return ret;
}

/*
 * Is the host wrong, and not the other host of a pair? @pairs: number of disputed pairs of each
 * host.
 */
static bool host_is_blamed(const struct reduction *r, const uint32_t *pairs, uint32_t host,
			   uint32_t other)
{
	/* The reference's time is correct by definition. */
	if (host == r->reference)
		return false;
	return other == r->reference || pairs[host] >= pairs[other];
}

static int drop_bound(struct reduction *r, uint32_t host, const struct range *at)
{
	const struct range *span = &r->host[host].span;
	const struct change_window w = { .from = max64(at->lo, span->lo),
					 .to = min64(at->hi, span->hi) };

	return w.from <= w.to ? windows_add_one(&r->forgotten[host], &w) : 0;
}

/* Convert a raw time of the reference to that of another host. */
static int64_t reference_time_to_host(const struct reduction *r, uint32_t host, int64_t t)
{
	const struct correction *ref = &r->correction[r->reference];
	const __int128 since = (__int128)t - r->host[r->reference].origin;
	int64_t at;

	correction_between(ref,
			   max64(min64(clamp_to_int64(since), NETSYNC_MAX_SPAN), -NETSYNC_MAX_SPAN),
			   &r->correction[host], &at);
	return at;
}

/*
 * Note that no bound is claimed in a range of the reference's raw time, widened by twice the
 * half-width of the bound, because the correction may be wrong.
 */
static int drop_bound_in_range(struct reduction *r, uint32_t host, const struct range *unreported)
{
	const int64_t off = (int64_t)fmin(2 * r->by_bound.dist[host], 0x1p62);
	struct range at = { INT64_MIN, INT64_MAX };

	if (unreported->lo > INT64_MIN)
		at.lo = clamp_to_int64((__int128)reference_time_to_host(r, host, unreported->lo) -
				       off);
	if (unreported->hi < INT64_MAX)
		at.hi = clamp_to_int64((__int128)reference_time_to_host(r, host, unreported->hi) +
				       off);
	return drop_bound(r, host, &at);
}

int reduction_forget_unreported(struct reduction *r)
{
	const struct host *ref = &r->host[r->reference];
	int ret = 0;

	for (uint32_t i = 1; !ret && i < r->by_bound.num; i++) {
		const uint32_t h = r->by_bound.order[i];

		for (size_t k = 0; !ret && k < ref->num_unreported; k++)
			ret = drop_bound_in_range(r, h, &ref->unreported[k]);
		windows_join(&r->forgotten[h]);
	}
	return ret;
}

int reduction_check_messages(struct reduction *r, bool last)
{
	struct check c = {
		.r = r,
		.pairs = calloc(r->num_hosts + 1, sizeof(*c.pairs)),
	};
	const struct range all = { INT64_MIN, INT64_MAX };
	int ret = c.pairs ? 0 : -ENOMEM;

	for (uint32_t i = 0; !ret && i < r->num_pairs; i++)
		ret = check_pair(&c, i);
	for (size_t i = 0; !ret && i < c.num; i++) {
		const uint32_t *h = r->est[c.found[i].pair].pair->host;

		for (int k = 0; !ret && k < 2; k++)
			if (host_is_blamed(r, c.pairs, h[k], h[!k]))
				ret = drop_bound(r, h[k], last ? &all : &c.found[i].at[k]);
	}
	for (uint32_t h = 0; !ret && h < r->num_hosts; h++)
		windows_join(&r->forgotten[h]);
	free(c.found);
	free(c.pairs);
	return ret ? ret : c.num > 0;
}

int reduction_blame_hosts(struct reduction *r)
{
	uint32_t *pairs = calloc(r->num_hosts + 1, sizeof(*pairs));

	if (!pairs)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->num_pairs; i++)
		for (int k = 0; r->outvoted[i] && k < 2; k++)
			pairs[r->est[i].pair->host[k]]++;
	for (uint32_t i = 0; i < r->num_pairs; i++) {
		const uint32_t *h = r->est[i].pair->host;

		for (int k = 0; r->outvoted[i] && k < 2; k++)
			if (host_is_blamed(r, pairs, h[k], h[!k]))
				lower_quality(&r->host[h[k]].quality);
	}
	free(pairs);
	return 0;
}
