// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "clock.h"

struct netsync_clock {
	struct netsync_segment *segments;
	struct netsync_knot *knots;
	uint32_t num_segments;
	uint32_t num_knots;
	double growth_ppm[2];
};

int copy_out(void *to, const void *from, uint32_t size)
{
	uint32_t known;

	memcpy(&known, to, sizeof(known));
	if (known < 2 * sizeof(known))
		return -EINVAL;
	memcpy((char *)to + sizeof(known), (const char *)from + sizeof(known),
	       (known < size ? known : size) - sizeof(known));
	return 0;
}

static bool valid(const struct netsync_model *m)
{
	if (m->size < sizeof(*m) || !m->num_segments || !m->segments ||
	    (m->num_knots && !m->knots))
		return false;
	for (uint32_t i = 0; i < m->num_segments; i++) {
		const struct netsync_segment *s = &m->segments[i];

		if (s->to_ns < s->from_ns || !isfinite(s->rate) ||
		    s->rate <= 0 || (i && s->from_ns != s[-1].to_ns))
			return false;
	}
	for (uint32_t i = 0; i < m->num_knots; i++) {
		const struct netsync_knot *k = &m->knots[i];

		if (k->bound_ns < 0 || (i && k->time_ns <= k[-1].time_ns))
			return false;
	}
	return m->growth_ppm[0] >= 0 && m->growth_ppm[1] >= 0;
}

int netsync_clock_new(const struct netsync_model *model,
		      struct netsync_clock **clock)
{
	size_t segs, knots;
	struct netsync_clock *c;

	if (!model || !clock || !valid(model))
		return -EINVAL;
	segs = model->num_segments * sizeof(*c->segments);
	knots = model->num_knots * sizeof(*c->knots);
	c = malloc(sizeof(*c) + segs + knots);
	if (!c)
		return -ENOMEM;
	c->segments = (struct netsync_segment *)(c + 1);
	c->knots = (struct netsync_knot *)(c->segments + model->num_segments);
	memcpy(c->segments, model->segments, segs);
	if (knots)
		memcpy(c->knots, model->knots, knots);
	c->num_segments = model->num_segments;
	c->num_knots = model->num_knots;
	c->growth_ppm[0] = model->growth_ppm[0];
	c->growth_ppm[1] = model->growth_ppm[1];
	*clock = c;
	return 0;
}

void netsync_clock_free(struct netsync_clock *clock)
{
	free(clock);
}

int netsync_clock_model(const struct netsync_clock *clock,
			struct netsync_model *model)
{
	struct netsync_model m = {
		.num_segments = clock->num_segments,
		.num_knots = clock->num_knots,
		.segments = clock->segments,
		.knots = clock->knots,
		.growth_ppm = { clock->growth_ppm[0], clock->growth_ppm[1] },
	};

	return copy_out(model, &m, sizeof(m));
}

static const struct netsync_segment *find_segment(const struct netsync_clock *c,
						  int64_t t)
{
	uint32_t lo = 0, hi = c->num_segments;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (c->segments[mid].from_ns <= t)
			lo = mid;
		else
			hi = mid;
	}
	return &c->segments[lo];
}

/* Rounded up; what does not fit is not known. */
static int64_t whole_bound(double b)
{
	return b < 0x1p62 ? (int64_t)ceil(b) : NETSYNC_UNKNOWN;
}

static double distance(int64_t from, int64_t to)
{
	return (double)((__int128)to - from);
}

static int64_t find_bound(const struct netsync_clock *c, int64_t t)
{
	const struct netsync_knot *k = c->knots;
	uint32_t lo = 0, hi = c->num_knots;

	if (!hi)
		return NETSYNC_UNKNOWN;
	if (t < k[0].time_ns)
		return whole_bound((double)k[0].bound_ns +
				   c->growth_ppm[0] * 1e-6 *
				   distance(t, k[0].time_ns));
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (k[mid].time_ns <= t)
			lo = mid;
		else
			hi = mid;
	}
	k += lo;
	if (lo == c->num_knots - 1)
		return whole_bound((double)k->bound_ns +
				   c->growth_ppm[1] * 1e-6 *
				   distance(k->time_ns, t));
	return whole_bound((double)k[0].bound_ns +
			   (double)(k[1].bound_ns - k[0].bound_ns) *
			   (distance(k[0].time_ns, t) /
			    distance(k[0].time_ns, k[1].time_ns)));
}

int netsync_convert(const struct netsync_clock *clock, int64_t t,
		    int64_t *t_ref, int64_t *bound)
{
	const struct netsync_segment *s = find_segment(clock, t);
	double skewed = (s->rate - 1) * distance(s->from_ns, t);
	__int128 r = (__int128)t + s->offset_ns;

	if (!(fabs(skewed) < 0x1p62))
		return -ERANGE;
	r += llround(skewed);
	if (r != (int64_t)r)
		return -ERANGE;
	*t_ref = (int64_t)r;
	if (bound)
		*bound = find_bound(clock, t);
	return 0;
}
