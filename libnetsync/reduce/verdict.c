// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find hosts that are untrusted as a whole, from the pairs whose bounds cannot be claimed. The clock
 * of such a host was stepped, or does not keep to the assumptions, but only its messages with some
 * of the other hosts reveal this.
 */
#include <math.h>

#include "reduce/internal.h"

/* Silence, ns. Messages reveal a step of more than 0.5 ms during a shorter silence. Chosen. */
#define LONG_SILENCE 1e9

/* Statistics of the pairs of a host. */
struct verdict {
	uint32_t pairs;	     /* number of pairs */
	uint32_t bad;	     /* number of pairs whose bounds cannot be claimed */
	uint32_t impossible; /* number of bad pairs whose messages no clocks satisfy */
	double short_by;     /* largest shortfall of an impossible pair's messages, ns */
	int64_t silence;     /* longest silence of the other pairs, ns */
};

static struct verdict verdict_of_host(const struct reduction *r, uint32_t h)
{
	uint32_t first = r->graph.start[h], end = r->graph.start[h + 1];
	struct verdict v = { .pairs = end - first };

	for (uint32_t i = first; i < end; i++) {
		const uint32_t pair = r->graph.edge[i];
		const struct pair_bound *b = &r->pair_bound[pair];

		if (b->usable) {
			v.silence = max64(v.silence, b->longest_silence);
		} else {
			v.bad++;
			v.impossible += r->short_by[pair] > 0;
			v.short_by = fmax(v.short_by, (double)r->short_by[pair]);
		}
	}
	return v;
}

/*
 * Was the host perhaps stepped? A single bad host is one of the many that exchange messages with
 * the others. With few hosts, either of two may have been stepped, unless most others agree on one;
 * hosts that did not observe it all the time cannot tell. If no clocks satisfy the messages of a
 * pair, other pairs are bad as a consequence: the estimate of a correct host may be inconsistent
 * with its other messages. Chosen.
 */
static bool was_perhaps_stepped(const struct reduction *r, uint32_t h)
{
	for (uint32_t i = r->graph.start[h]; i < r->graph.start[h + 1]; i++) {
		uint32_t pair = r->graph.edge[i];
		struct verdict other;
		uint32_t bad;

		if (r->pair_bound[pair].usable)
			continue;
		other = verdict_of_host(r, graph_other(&r->graph, pair, h));
		bad = r->short_by[pair] > 0 ? other.impossible : other.bad;
		if (bad == 1 || 2 * bad <= other.pairs)
			return true;
	}
	return false;
}

/* ---- round trips ------------------------------------------------------------ */

/* The kept messages of a direction in order of time. */
struct kept_messages {
	const struct envelope *envelope;
	size_t bin;
	uint32_t corner;
};

static const struct point *find_next_kept(const struct kept_messages *k)
{
	return k->bin < k->envelope->num ? &k->envelope->bin[k->bin].corner[k->corner] : NULL;
}

static void skip_kept(struct kept_messages *k)
{
	if (++k->corner < k->envelope->bin[k->bin].corners)
		return;
	k->corner = 0;
	k->bin++;
}

/*
 * Return the mean round trip of messages and the messages of the other direction before them, ns:
 * it does not depend on the clocks, as long as they keep to @slope in between.
 */
static double mean_round_trip(const struct pair *p, double slope)
{
	struct kept_messages kept[2] = { { .envelope = &p->direction[0].envelope },
					 { .envelope = &p->direction[1].envelope } };
	const struct point *last = NULL, *next[2];
	int last_way = 0;
	double sum = 0;
	size_t num = 0;

	while ((next[0] = find_next_kept(&kept[0])), (next[1] = find_next_kept(&kept[1])),
	       next[0] || next[1]) {
		const int way = !next[0] || (next[1] && next[1]->x < next[0]->x);

		if (last && way != last_way) {
			sum += (double)((__int128)last->y + next[way]->y) +
			       slope * (double)((__int128)next[way]->x - last->x);
			num++;
		}
		last = next[way];
		last_way = way;
		skip_kept(&kept[way]);
	}
	return num ? sum / (double)num : HUGE_VAL;
}

/*
 * Would a step of a host be visible in its other pairs? If their delays are longer than the step,
 * no message is received before it is sent, and a slewed clock may satisfy all messages.
 */
static bool step_is_visible(const struct reduction *r, uint32_t h, double step)
{
	const struct limits *l = &r->task->limits;

	for (uint32_t i = r->graph.start[h]; i < r->graph.start[h + 1]; i++) {
		const uint32_t pair = r->graph.edge[i];

		if (r->pair_bound[pair].usable &&
		    mean_round_trip(r->est[pair].pair, l->slope + l->slew) < step)
			return true;
	}
	return false;
}

bool reduction_is_contradicted(const struct reduction *r, uint32_t h)
{
	const struct verdict v = verdict_of_host(r, h);

	if (4 * v.bad <= v.pairs)
		return false;
	if (v.bad > 1)
		return true;
	/* Without another pair there is no bound. */
	return v.bad < v.pairs &&
	       ((double)v.silence > LONG_SILENCE ||
		(v.impossible && !step_is_visible(r, h, v.short_by))) &&
	       was_perhaps_stepped(r, h);
}
