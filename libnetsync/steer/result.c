// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Convert a clock and its bounds, which lead from a host's raw time to the reference's raw time, to
 * a clock between the times in the traces:
 *
 *	host's time -> raw time -> the reference's raw time -> its own time
 *	        map_h        clock                  map_ref, inverse
 *
 * All three functions are piecewise linear, and so is their composition.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "clock.h"
#include "steer/result.h"
#include "steer/shown.h"
#include "util/array.h"
#include "util/search.h"

/* Corners are dropped if the result still passes them within TOLERANCE ns. Chosen. */
#define TOLERANCE 2.0
/* Maximum error of three roundings by 0.5 ns and of dropped corners, ns. */
#define PRECISION 4
/*
 * Bounds are widened by the fraction 1 / STRETCH, because the reference is steered by up to 0.1 %.
 * Chosen.
 */
#define STRETCH 1024
/*
 * An error of the host's raw time is increased by the fraction 1 / DRIFT to get the error of the
 * reference's raw time. The rates of both raw clocks may differ by 500 ppm, and bounds grow at the
 * same rate. Chosen.
 */
#define DRIFT 512
/*
 * A result extends beyond the messages as far as readings do, but at most by the duration of the
 * messages, or by REACH ns if that is longer. A log of weeks would otherwise make millions of
 * segments for a trace of a minute. Beyond this limit, bounds are unknown. Chosen.
 */
#define REACH (60.0 * SECOND)

/* A clock that is being converted from raw times to the hosts' own times. */
struct translation {
	const struct netsync_clock *clock; /* from the host's raw time to the reference's */
	const struct steering *host;
	const struct steering *reference;
	struct range span;     /* range of the result, on the host's own clock */
	struct range reach;    /* maximum range of the result */
	struct polyline whole; /* from the host's own time to the reference's */
	struct shown shown;    /* times that the reference's clock may have shown */
	int64_t *instant;      /* times of corners, or of the bound's knots */
	size_t num;
	size_t room;
};

static int64_t convert_to_reference_raw(const struct translation *t, int64_t raw)
{
	int64_t at = raw;

	/* Near the host's span, the conversion cannot fail. */
	netsync_convert(t->clock, raw, &at, NULL);
	return at;
}

static int64_t convert_own_time(const struct translation *t, int64_t own)
{
	int64_t raw = polyline_evaluate(&t->host->map, own);

	/* The reference's own times are exact. Do not round them in both maps. */
	if (t->host == t->reference)
		return own;
	return polyline_invert(&t->reference->map, convert_to_reference_raw(t, raw));
}

/*
 * Return the time of the host's clock that converts to the time @reference of the reference's
 * clock.
 */
static int64_t find_time_of_host(const struct translation *t, int64_t reference)
{
	int64_t lo = t->span.lo, hi = t->span.hi;

	while (lo < hi) {
		int64_t mid = lo + (int64_t)(((__int128)hi - lo) / 2);

		if (convert_own_time(t, mid) < reference)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int add_instant(struct translation *t, int64_t at)
{
	if (at < t->span.lo || at > t->span.hi)
		return 0;
	if (array_grow(&t->instant, &t->room, t->num, sizeof(*t->instant)))
		return -ENOMEM;
	t->instant[t->num++] = at;
	return 0;
}

static int compare_times(const void *a, const void *b)
{
	const int64_t *p = a, *q = b;

	return (*p > *q) - (*p < *q);
}

static void sort_instants(struct translation *t)
{
	size_t n = 0;

	qsort(t->instant, t->num, sizeof(*t->instant), compare_times);
	for (size_t i = 0; i < t->num; i++)
		if (!n || t->instant[n - 1] != t->instant[i])
			t->instant[n++] = t->instant[i];
	t->num = n;
}

static int64_t add_ns_clamped(int64_t t, double by)
{
	return clamp_to_int64((__int128)t + (__int128)fmin(fmax(by, -0x1p62), 0x1p62));
}

/*
 * Extend the span to all readings of both clocks, because a clock may be stepped before the first
 * message or after the last one. Extend both ends by another second, in which the outermost lines
 * continue as they do beyond the ends.
 */
static void widen_span(struct translation *t)
{
	const struct range host = steering_get_span(t->host);
	const struct range ref = steering_get_span(t->reference);
	struct range r = t->span;
	double most = fmax((double)((__int128)r.hi - r.lo), REACH);

	t->reach = (struct range){ add_ns_clamped(r.lo, -most), add_ns_clamped(r.hi, most) };
	if (host.lo <= host.hi)
		r = (struct range){ min64(r.lo, host.lo), max64(r.hi, host.hi) };
	if (ref.lo <= ref.hi) {
		/* Twice the distance is enough, because clocks are steered by at most 10 %. */
		double before = (double)((__int128)convert_own_time(t, r.lo) - ref.lo);
		double after = (double)((__int128)ref.hi - convert_own_time(t, r.hi));

		t->span.lo = add_ns_clamped(r.lo, -2 * fmax(before, 0));
		t->span.hi = add_ns_clamped(r.hi, 2 * fmax(after, 0));
		if (before > 0)
			r.lo = min64(r.lo, find_time_of_host(t, ref.lo));
		if (after > 0)
			r.hi = max64(r.hi, find_time_of_host(t, ref.hi));
	}
	t->span.lo = max64(add_ns_clamped(r.lo, -SECOND), t->reach.lo);
	t->span.hi = min64(add_ns_clamped(r.hi, SECOND), t->reach.hi);
}

/* Limit the span, because a map from false readings may lead to times that no host can have. */
static void limit_span(struct translation *t, int64_t origin)
{
	const struct range most = { origin - NETSYNC_MAX_SPAN, origin + NETSYNC_MAX_SPAN };

	t->span.lo = max64(min64(t->span.lo, most.hi), most.lo);
	t->span.hi = max64(min64(t->span.hi, most.hi), most.lo);
}

/* Compose the three functions. Instants are the corners of all three, and the ends of the span. */
static int compose_functions(struct translation *t, const struct netsync_model *m)
{
	const struct polyline *host = &t->host->map, *ref = &t->reference->map;
	int ret = add_instant(t, t->span.lo);

	if (!ret)
		ret = add_instant(t, t->span.hi);
	for (size_t i = 0; !ret && i < host->num; i++)
		ret = add_instant(t, host->corner[i].x);
	for (uint32_t i = 1; !ret && i < m->num_segments; i++)
		ret = add_instant(t, polyline_invert(host, m->segments[i].from_ns));
	for (size_t i = 0; !ret && i < ref->num; i++)
		ret = add_instant(t, find_time_of_host(t, ref->corner[i].x));
	if (ret)
		return ret;
	sort_instants(t);
	for (size_t i = 0; !ret && i < t->num; i++)
		ret = polyline_add(&t->whole, t->instant[i], convert_own_time(t, t->instant[i]));
	polyline_drop_corners(&t->whole, TOLERANCE);
	return ret;
}

static struct netsync_segment *make_own_segments(const struct translation *t, uint32_t *num)
{
	const struct corner *c = t->whole.corner;
	size_t n = t->whole.num > 1 ? t->whole.num - 1 : 1;
	struct netsync_segment *s = calloc(n, sizeof(*s));

	if (!s)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		s[i].from_ns = s[i].to_ns = c[i].x;
		s[i].offset_ns = c[i].y - c[i].x;
		s[i].rate = 1;
		if (i + 1 == t->whole.num)
			break;
		s[i].to_ns = c[i + 1].x;
		s[i].rate = (double)(c[i + 1].y - c[i].y) / (double)(c[i + 1].x - c[i].x);
	}
	*num = (uint32_t)n;
	return s;
}

/* ---- bounds ------------------------------------------------------------- */

/*
 * Add the instants at which an untrusted interval of the host begins or ends, because the bound
 * changes there within 1 ns.
 */
static int add_instants_of_doubts(struct translation *t)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < t->host->num_doubts; i++) {
		const struct range *at = &t->host->doubt[i].at;

		for (int k = -1; !ret && k < 2; k++)
			ret = add_instant(t, clamp_to_int64((__int128)at->lo + k));
		for (int k = -1; !ret && k < 2; k++)
			ret = add_instant(t, clamp_to_int64((__int128)at->hi + k));
	}
	return ret;
}

/* Return the untrusted interval that contains @t or extends to @t, or NULL if there is none. */
static const struct raw_doubt *find_doubt_near(const struct steering *s, int64_t t)
{
	if (s->open_after && t > s->doubt[s->num_doubts - 1].at.hi)
		return &s->doubt[s->num_doubts - 1];
	if (s->open_before && t < s->doubt->at.lo)
		return s->doubt;
	return steering_find_doubt(s, t);
}

static int64_t widen_distance(int64_t distance)
{
	if (distance >= NETSYNC_MAX_SPAN)
		return NETSYNC_UNKNOWN;
	return max64(distance, 0) + max64(distance, 0) / STRETCH + PRECISION;
}

/*
 * Return the raw times of the reference at which the host's clock may have shown @own. @error is
 * the maximum error of the host's raw time.
 */
static struct range compute_raw_range_within(const struct netsync_clock *clock,
					     const struct steering *host, int64_t own,
					     int64_t error)
{
	struct range r = { INT64_MIN, INT64_MAX };

	if (netsync_interval(clock, polyline_evaluate(&host->map, own), &r.lo, &r.hi))
		return (struct range){ INT64_MIN, INT64_MAX };
	error += error / DRIFT;
	if (r.lo > INT64_MIN)
		r.lo = clamp_to_int64((__int128)r.lo - error);
	if (r.hi < INT64_MAX)
		r.hi = clamp_to_int64((__int128)r.hi + error);
	return r;
}

static struct range compute_raw_range(const struct translation *t, int64_t own)
{
	const struct raw_doubt *d = find_doubt_near(t->host, own);

	return compute_raw_range_within(t->clock, t->host, own,
					max64(t->host->error, d ? raw_doubt_get_error(d) : 0));
}

static struct netsync_knot make_own_knot(const struct translation *t, int64_t own)
{
	struct netsync_knot k = { own, NETSYNC_UNKNOWN, NETSYNC_UNKNOWN };
	int64_t at = polyline_evaluate(&t->whole, own);
	struct range r;

	if (t->host == t->reference)
		return (struct netsync_knot){ own, 0, 0 };
	/* At the limit of the result, bounds are unknown. */
	if (own == t->reach.lo || own == t->reach.hi)
		return k;
	r = shown_find_range(&t->shown, compute_raw_range(t, own));
	if (r.lo > INT64_MIN)
		k.below_ns = widen_distance(clamp_to_int64((__int128)at - r.lo));
	if (r.hi < INT64_MAX)
		k.above_ns = widen_distance(clamp_to_int64((__int128)r.hi - at));
	return k;
}

static int64_t get_range_end(struct range r, bool upper)
{
	return upper ? r.hi : r.lo;
}

/*
 * Add the instants in (from, to] at which an end of compute_raw_range() crosses a break, and the
 * instants 1 ns before. The end is linear between @from and @to.
 */
static int add_instants_of_crossings(struct translation *t, bool upper, int64_t from, int64_t to)
{
	const struct breaks *b = upper ? &t->shown.hi : &t->shown.lo;
	const int64_t first = get_range_end(compute_raw_range(t, from), upper);
	const int64_t last = get_range_end(compute_raw_range(t, to), upper);
	size_t i;
	int ret = 0;

	if (first == INT64_MIN || first == INT64_MAX || last == INT64_MIN || last == INT64_MAX)
		return 0;
	i = NUM_BEFORE(b->at, b->num, ns, min64(first, last) + 1);
	for (; !ret && i < b->num && b->at[i].ns <= max64(first, last); i++) {
		int64_t lo = from, hi = to;

		while (lo < hi - 1) {
			int64_t mid = lo + (int64_t)(((__int128)hi - lo) / 2);
			int64_t raw = get_range_end(compute_raw_range(t, mid), upper);

			if ((raw < b->at[i].ns) == (first < b->at[i].ns))
				lo = mid;
			else
				hi = mid;
		}
		ret = add_instant(t, lo);
		if (!ret)
			ret = add_instant(t, hi);
	}
	return ret;
}

/*
 * Add the instants that are necessary for bounds to be linear between instants, even where the
 * reference was stepped.
 */
static int add_instants_of_breaks(struct translation *t)
{
	size_t num = t->num;
	int ret = 0;

	if (t->host == t->reference || (!t->shown.lo.num && !t->shown.hi.num))
		return 0;
	for (size_t i = 0; !ret && i + 1 < num; i++) {
		/* Adding instants may move the array. */
		int64_t from = t->instant[i], to = t->instant[i + 1];

		if (from >= to - 1)
			continue;
		ret = add_instants_of_crossings(t, false, from, to);
		if (!ret)
			ret = add_instants_of_crossings(t, true, from, to);
	}
	sort_instants(t);
	return ret;
}

/* Replace the knots of a clock by converted knots, which the caller frees. */
static int convert_knots(struct translation *t, struct netsync_model *m,
			 struct netsync_knot **knots)
{
	const struct netsync_knot *old = m->knots;
	uint32_t num_old = m->num_knots;
	struct netsync_knot *knot;
	int ret = 0;

	m->knots = NULL;
	m->num_knots = 0;
	if (!num_old)
		return 0;
	t->num = 0;
	for (uint32_t i = 0; !ret && i < num_old; i++)
		ret = add_instant(t, polyline_invert(&t->host->map, old[i].time_ns));
	for (size_t i = 0; !ret && i < t->whole.num; i++)
		ret = add_instant(t, t->whole.corner[i].x);
	if (!ret)
		ret = add_instants_of_doubts(t);
	/* If the range is cut off at its maximum, bounds are known up to the maximum. */
	if (!ret && t->span.lo == t->reach.lo)
		ret = add_instant(t, t->span.lo + 1);
	if (!ret && t->span.hi == t->reach.hi)
		ret = add_instant(t, t->span.hi - 1);
	if (!ret) {
		sort_instants(t);
		ret = add_instants_of_breaks(t);
	}
	knot = ret ? NULL : calloc(t->num + 1, sizeof(*knot));
	if (!knot)
		return -ENOMEM;
	for (size_t i = 0; i < t->num; i++)
		knot[i] = make_own_knot(t, t->instant[i]);
	m->knots = *knots = knot;
	m->num_knots = (uint32_t)t->num;
	return 0;
}

/* ---- deviations --------------------------------------------------------- */

/*
 * Return whether the host's time @own, or the reference's time at that instant, is in an untrusted
 * interval.
 */
static bool is_in_doubt(const struct translation *t, int64_t own)
{
	return find_doubt_near(t->host, own) ||
	       find_doubt_near(t->reference, convert_own_time(t, own));
}

/* Return the deviation at the host's time @own, including the maximum errors of both raw times. */
static int64_t convert_deviation(const struct translation *t, const struct netsync_model *raw,
				 int64_t own)
{
	const int64_t first = raw->deviations[0].time_ns;
	const int64_t last = raw->deviations[raw->num_deviations - 1].time_ns;
	/* Converting the time of a knot back may give a raw time that is 1 ns outside. */
	const int64_t at = max64(first, min64(last, polyline_evaluate(&t->host->map, own)));
	const int64_t deviation = netsync_deviation(t->clock, at);

	if (t->host == t->reference)
		return 0;
	if (deviation >= NETSYNC_MAX_SPAN || is_in_doubt(t, own))
		return NETSYNC_UNKNOWN;
	return deviation + t->host->error + t->reference->error;
}

/*
 * Add the instants at which an untrusted interval of either clock begins or ends, because the
 * deviation becomes unknown there within 1 ns.
 */
static int add_instants_of_all_doubts(struct translation *t)
{
	const struct steering *ref = t->reference;
	int ret = add_instants_of_doubts(t);

	for (size_t i = 0; !ret && i < ref->num_doubts; i++) {
		const int64_t ends[] = { find_time_of_host(t, ref->doubt[i].at.lo),
					 find_time_of_host(t, ref->doubt[i].at.hi) };

		for (int k = 0; !ret && k < 6; k++)
			ret = add_instant(t, clamp_to_int64((__int128)ends[k / 3] + k % 3 - 1));
	}
	return ret;
}

/* Replace the deviations of a clock by converted deviations, which the caller frees. */
static int convert_deviations(struct translation *t, struct netsync_model *m,
			      struct netsync_deviation_knot **deviations)
{
	const struct netsync_model raw = *m;
	struct range own;
	int ret;

	m->num_deviations = 0;
	if (!raw.num_deviations)
		return 0;
	own.lo = polyline_invert(&t->host->map, raw.deviations[0].time_ns);
	own.hi = polyline_invert(&t->host->map, raw.deviations[raw.num_deviations - 1].time_ns);
	t->num = 0;
	ret = add_instants_of_all_doubts(t);
	for (uint32_t i = 0; !ret && i < raw.num_deviations; i++)
		ret = add_instant(t, polyline_invert(&t->host->map, raw.deviations[i].time_ns));
	sort_instants(t);
	*deviations = ret ? NULL : calloc(t->num + 1, sizeof(**deviations));
	if (!*deviations)
		return -ENOMEM;
	for (size_t i = 0; i < t->num; i++)
		if (t->instant[i] >= own.lo && t->instant[i] <= own.hi)
			(*deviations)[m->num_deviations++] = (struct netsync_deviation_knot){
				t->instant[i], convert_deviation(t, &raw, t->instant[i])
			};
	m->deviations = *deviations;
	return 0;
}

/* ---- hosts -------------------------------------------------------------- */

/*
 * Increase the growth of bounds, because the outermost segments, which extend without limit, have
 * other rates in own times than in raw times.
 */
static void add_growth_of_own_time(struct netsync_model *m, const struct netsync_model *raw)
{
	const uint32_t end[] = { 0, m->num_segments - 1 };
	const uint32_t was[] = { 0, raw->num_segments - 1 };

	for (int i = 0; i < 2; i++)
		m->growth_ppm[i] += 1e6 *
				    fabs(m->segments[end[i]].rate - raw->segments[was[i]].rate);
}

static int convert_clock(struct host *h, const struct steering *own,
			 const struct steering *reference)
{
	struct translation t = {
		.clock = h->clock,
		.host = own,
		.reference = reference,
		.span = { h->origin + h->span.lo, h->origin + h->span.hi },
		.reach = { INT64_MIN, INT64_MAX },
	};
	struct netsync_model m = { .size = sizeof(m) }, raw;
	struct netsync_segment *segments = NULL;
	struct netsync_deviation_knot *deviations = NULL;
	struct netsync_knot *knots = NULL;
	struct netsync_clock *clock = NULL;
	int ret;

	netsync_clock_model(h->clock, &m);
	raw = m;
	if (own != reference)
		widen_span(&t);
	limit_span(&t, h->origin);
	ret = shown_prepare(&t.shown, reference);
	if (!ret)
		ret = compose_functions(&t, &m);
	if (!ret) {
		segments = make_own_segments(&t, &m.num_segments);
		m.segments = segments;
		ret = segments ? convert_knots(&t, &m, &knots) : -ENOMEM;
		if (!ret)
			ret = convert_deviations(&t, &m, &deviations);
		if (!ret) {
			add_growth_of_own_time(&m, &raw);
			ret = netsync_clock_new(&m, &clock);
		}
	}
	free(deviations);
	free(knots);
	free(segments);
	free(t.instant);
	shown_release(&t.shown);
	polyline_release(&t.whole);
	if (ret)
		return ret;
	clock_set_bounds(clock);
	netsync_clock_free(h->clock);
	h->clock = clock;
	host_summarize(h);
	return 0;
}

static int compare_steps(const void *a, const void *b)
{
	const struct netsync_step *p = a, *q = b;

	return (p->time_ns > q->time_ns) - (p->time_ns < q->time_ns);
}

/* Merge the estimated steps with the steps that readings report. */
static int merge_steps(struct host *h, const struct steering *s)
{
	size_t num = h->num_steps + s->num_steps;
	struct netsync_step *step = calloc(num + 1, sizeof(*step));

	if (!step)
		return -ENOMEM;
	for (uint32_t i = 0; i < h->num_steps; i++) {
		step[i] = h->step[i];
		step[i].time_ns = polyline_invert(&s->map, step[i].time_ns);
	}
	for (size_t i = 0; i < s->num_steps; i++)
		step[h->num_steps + i] = s->step[i];
	qsort(step, num, sizeof(*step), compare_steps);
	free(h->step);
	h->step = step;
	h->num_steps = (uint32_t)num;
	return 0;
}

/*
 * Convert a host's own time to raw time, both relative to the host's origin. Messages beyond the
 * limit are not used (held.c).
 */
static int64_t convert_time_to_raw(const struct host *h, const struct steering *s, int64_t t)
{
	const int64_t raw = polyline_evaluate(&s->map, h->origin + t) - h->origin;

	return max64(min64(raw, NETSYNC_MAX_SPAN), -NETSYNC_MAX_SPAN);
}

/*
 * Return the range of times in which a host was traced, on its own clock. The range is empty if the
 * host was not traced.
 */
static struct range get_traced_span(const struct host *h)
{
	struct range own = { h->first, h->last };

	if (h->said.lo <= h->said.hi) {
		own.lo = min64(own.lo, h->said.lo);
		own.hi = max64(own.hi, h->said.hi);
	}
	if (own.lo > own.hi)
		return own;
	return (struct range){ h->origin + own.lo, h->origin + own.hi };
}

int steered_convert_spans(struct host *host, const struct steered_hosts *hosts,
			  struct traced **traced)
{
	struct traced *was = calloc(hosts->num + 1, sizeof(*was));

	*traced = was;
	if (!was)
		return -ENOMEM;
	for (uint32_t i = 0; i < hosts->num; i++) {
		const struct steering *s = &hosts->steering[i];
		struct host *h = &host[i];

		was[i] = (struct traced){ h->first, h->last, h->said };
		h->raw = steering_has_readings(s);
		h->unreported = s->unreported;
		h->num_unreported = s->num_unreported;
		h->has_unreported = h->raw && steering_has_unreported(s, get_traced_span(h));
		h->time_error = h->raw ? s->error : 0;
		h->read = (struct range){ INT64_MAX, INT64_MIN };
		if (!h->raw || h->first > h->last)
			continue;
		h->read.lo = convert_time_to_raw(h, s, s->map.corner[0].x - h->origin);
		h->read.hi = convert_time_to_raw(h, s, s->map.corner[s->map.num - 1].x - h->origin);
		h->first = convert_time_to_raw(h, s, h->first);
		h->last = convert_time_to_raw(h, s, h->last);
		if (h->said.lo > h->said.hi)
			continue;
		h->said.lo = convert_time_to_raw(h, s, h->said.lo);
		h->said.hi = convert_time_to_raw(h, s, h->said.hi);
	}
	return 0;
}

void steered_restore_spans(struct host *host, uint32_t num, const struct traced *traced)
{
	for (uint32_t i = 0; i < num; i++) {
		host[i].first = traced[i].first;
		host[i].last = traced[i].last;
		host[i].said = traced[i].said;
	}
}

/*
 * If @t is before or after all readings, give up its untrusted interval: neither messages nor
 * readings limit the error there.
 */
static void give_up_uncovered(struct steering *s, int64_t t)
{
	const struct raw_doubt *d = steering_find_doubt(s, t);

	if (d && steering_is_doubt_open(s, d))
		s->doubt[d - s->doubt].given_up = true;
}

/*
 * Return the range of compute_raw_range() according to readings alone. The caller checks whether
 * messages are consistent with this range.
 */
static struct range compute_reported_range(const struct host *h, const struct steering *s,
					   int64_t own)
{
	const struct raw_doubt *d = find_doubt_near(s, own);

	return compute_raw_range_within(h->clock, s, own, max64(s->error, d ? d->error : 0));
}

/*
 * Detect steps at times that no readings cover. If an uncovered message was received before it was
 * sent, no matter how both clocks were steered, one of the clocks was stepped.
 */
static void check_uncovered(const struct host *host, const struct steered_hosts *hosts,
			    const struct held *held)
{
	/* Forget the results of the previous call, which belong to other messages. */
	for (uint32_t i = 0; i < hosts->num; i++)
		for (size_t k = 0; k < hosts->steering[i].num_doubts; k++)
			hosts->steering[i].doubt[k].given_up = false;
	for (size_t i = 0; i < held->num_uncovered; i++) {
		const struct held_message *m = &held->uncovered[i];
		struct steering *from = &hosts->steering[m->from];
		struct steering *to = &hosts->steering[m->to];
		struct range send, recv;

		if (!host[m->from].clock || !host[m->to].clock)
			continue;
		send = compute_reported_range(&host[m->from], from, m->send);
		recv = compute_reported_range(&host[m->to], to, m->recv);
		if (send.lo == INT64_MIN || recv.hi == INT64_MAX || recv.hi >= send.lo)
			continue;
		give_up_uncovered(from, m->send);
		give_up_uncovered(to, m->recv);
	}
}

static void convert_span_from_raw(struct host *h, const struct steering *s)
{
	h->span.lo = polyline_invert(&s->map, h->origin + h->span.lo) - h->origin;
	h->span.hi = polyline_invert(&s->map, h->origin + h->span.hi) - h->origin;
}

int steered_convert_results(struct host *host, const struct steered_hosts *hosts,
			    const struct held *held, uint32_t reference)
{
	const struct steering *ref = &hosts->steering[reference];
	int ret = 0;

	check_uncovered(host, hosts, held);
	for (uint32_t i = 0; !ret && i < hosts->num; i++) {
		struct steering *s = &hosts->steering[i];
		struct host *h = &host[i];
		bool is_seen;

		if (!steering_has_readings(s) && !steering_has_readings(ref))
			continue;
		is_seen = h->span.lo <= h->span.hi;
		if (is_seen)
			convert_span_from_raw(h, s);
		steering_describe(s, is_seen ? (struct range){ h->origin + h->span.lo,
							       h->origin + h->span.hi } :
					       (struct range){ INT64_MAX, INT64_MIN });
		ret = merge_steps(h, s);
		/*
		 * If nothing was seen of the reference, its clock already refers to its own time.
		 */
		if (!ret && h->clock && is_seen)
			ret = convert_clock(h, s, ref);
	}
	return ret;
}
