// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An estimate, both hosts' clocks and counts of matching -> netsync_pair_info. Delays and
 * inversions are those of the kept messages, with both times corrected.
 */
#include "reduce/pair-info.h"
#include "util/number.h"

/*
 * Return the corrected delay of a kept message. Its x is the time on host[0]; y is negated for
 * messages from host[1].
 */
static int64_t delay_of_message(const struct host *a, const struct host *b, int way,
				const struct point *at)
{
	int64_t y = way ? -at->y : at->y, t[2] = { 0, 0 };

	/* The conversion cannot fail: corrected times are near the reference's own. */
	netsync_convert(a->clock, a->origin + at->x, &t[0], NULL);
	netsync_convert(b->clock, b->origin + at->x + y, &t[1], NULL);
	return t[!way] - t[way];
}

/* Add delays and inversions of one direction. */
static void fill_delays(struct netsync_pair_info *info, int way, const struct direction *dir,
			const struct host *a, const struct host *b)
{
	const struct envelope *e = &dir->envelope;

	for (size_t i = 0; i < e->num; i++) {
		const struct bin *bin = &e->bin[i];

		for (uint32_t k = 0; k < bin->corners; k++) {
			/* Use the times of the stamps, without the rounding-up offset. */
			const struct point p = { bin->corner[k].x, bin->corner[k].y - dir->raised };
			int64_t d = delay_of_message(a, b, way, &p);

			info->inversions_after += d < 0;
			info->min_delay_ns[way] = min64(info->min_delay_ns[way], d);
		}
	}
}

/* Add the counts of the pair's packet events. */
static void fill_counts(struct netsync_pair_info *info, const struct peers *peers)
{
	const struct peer_pair *p = peers_find(peers, info->host[0], info->host[1]);

	if (!p)
		return;
	info->matched = p->past.matched + p->live.matched;
	info->nat = p->past.nat + p->live.nat;
	info->ambiguous = p->past.ambiguous + p->live.ambiguous;
	info->unmatched = p->past.unmatched + p->live.unmatched;
}

void pair_info_fill(struct netsync_pair_info *info, const struct estimate *e,
		    const struct host *host, const struct peers *peers)
{
	const struct pair *p = e->pair;
	const struct host *a = &host[p->host[0]], *b = &host[p->host[1]];
	const bool corrected = a->clock && b->clock;

	info->quality = e->quality;
	/* The line is the time of host[1] per time of host[0]. */
	info->rate_min = 1 / (1 + e->slope_max);
	info->rate_max = 1 / (1 + e->slope_min);
	for (int i = 0; i < 2; i++) {
		const struct direction *d = &p->direction[i];

		info->host[i] = p->host[i];
		info->messages[i] = d->num;
		info->hull[i] = d->hull.corners;
		info->min_delay_ns[i] = NETSYNC_UNKNOWN;
		info->inversions_before += d->inversions;
		if (corrected)
			fill_delays(info, i, d, a, b);
	}
	if (!corrected)
		info->inversions_after = info->inversions_before;
	fill_counts(info, peers);
}
