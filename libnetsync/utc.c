// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Bounds on the difference between hosts' clocks and UTC, and the hosts' corrections -> a clock
 * that converts reference time to UTC. Each bound becomes pieces in reference time, between which
 * the limits of UTC - reference time are linear. Where pieces of several hosts overlap, the
 * narrowest limits apply.
 *
 *	UTC - reference time
 *	 ^  .--------.
 *	 | web       |  .------.	pieces: upper limits
 *	 |   ========|==|      |	the result is between the lowest upper limit
 *	 |  '--------|--|======'	and the highest lower limit
 *	 |           '--'  db		(a limit of each host)
 *	 +----------------------> reference time
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "clock.h"
#include "handle.h"
#include "util/array.h"
#include "util/number.h"
#include "util/search.h"

/*
 * Part of the width of a limit by which the limit is widened, because it is evaluated at the
 * corrected time, and not at the true one. Between these times, two clocks drift apart by at most
 * 500 ppm of the error bound; the part is about twice as large.
 */
#define WIDENING 1024
/* Error of the rounding of a converted time and of a limit, ns. */
#define ROUNDING 2
/* Gaps in reference time that only result from the rounding of times, ns. Chosen. */
#define MAX_ROUNDING_GAP 16

/* Limits of UTC - reference time, at a reference time. */
struct utc_limits {
	int64_t at;
	struct range offset;
};

/* A piece of a bound. The limits are linear from the first to the last reference time. */
struct utc_piece {
	struct utc_limits first;
	struct utc_limits last;
	uint32_t host;
};

struct utc_pieces {
	struct utc_piece *piece;
	size_t num;
	size_t room;
};

/* ---- a bound -> pieces ---------------------------------------------------- */

/* A bound of a host, the host's clock, and an index into the arrays of its model. */
struct utc_source {
	const struct netsync_utc_bound *bound;
	const struct netsync_clock *clock;
	struct netsync_model model;
};

/* Compute the limits at a time on the host's clock. Return false if they are not known. */
static bool compute_utc_limits(const struct utc_source *source, int64_t t, struct utc_limits *is)
{
	const int64_t within = source->bound->within_ns;
	struct range ref;
	__int128 lo, hi, slack;

	if (netsync_convert(source->clock, t, &is->at, NULL) ||
	    netsync_interval(source->clock, t, &ref.lo, &ref.hi) || ref.lo == INT64_MIN ||
	    ref.hi == INT64_MAX)
		return false;
	slack = ((__int128)ref.hi - ref.lo) / WIDENING + ROUNDING;
	lo = (__int128)t - within - ref.hi - slack;
	hi = (__int128)t + within - ref.lo + slack;
	is->offset.lo = (int64_t)lo;
	is->offset.hi = (int64_t)hi;
	return lo == is->offset.lo && hi == is->offset.hi && hi - lo < NETSYNC_MAX_TIME;
}

/*
 * Widen a piece by the amount by which its limits change in the longest time between a corrected
 * time and the true one.
 */
static void widen_steep_piece(struct utc_piece *p)
{
	const double span = (double)(p->last.at - p->first.at);
	const double widest = (double)max64(p->first.offset.hi - p->first.offset.lo,
					    p->last.offset.hi - p->last.offset.lo);
	const double change = fmax(fabs((double)(p->last.offset.hi - p->first.offset.hi)),
				   fabs((double)(p->last.offset.lo - p->first.offset.lo)));
	const int64_t by = (int64_t)ceil(change * (widest < span ? widest / span : 1));

	p->first.offset.lo -= by;
	p->first.offset.hi += by;
	p->last.offset.lo -= by;
	p->last.offset.hi += by;
}

/* Add the piece between two times on the host's clock, both included. */
static int add_utc_piece(struct utc_pieces *pieces, const struct utc_source *source, int64_t from,
			 int64_t to)
{
	struct utc_piece piece = { .host = source->bound->host };

	if (!compute_utc_limits(source, from, &piece.first) ||
	    !compute_utc_limits(source, to, &piece.last) || piece.last.at < piece.first.at)
		return 0;
	widen_steep_piece(&piece);
	if (array_grow(&pieces->piece, &pieces->room, pieces->num, sizeof(piece)))
		return -ENOMEM;
	pieces->piece[pieces->num++] = piece;
	return 0;
}

/* Return the first time after @t at which a segment or a knot of the host's clock begins. */
static int64_t find_next_corner(const struct netsync_model *m, int64_t t)
{
	const size_t segment = SEARCH(m->segments, m->num_segments, from_ns, t, true);
	const size_t knot = SEARCH(m->knots, m->num_knots, time_ns, t, true);
	int64_t next = INT64_MAX;

	if (segment < m->num_segments)
		next = m->segments[segment].from_ns;
	if (knot < m->num_knots)
		next = min64(next, m->knots[knot].time_ns);
	return next;
}

static int add_utc_pieces(struct utc_pieces *pieces, const struct utc_source *source, int64_t from,
			  int64_t to)
{
	int ret = 0;

	while (from <= to && !ret) {
		const int64_t next = find_next_corner(&source->model, from);
		const int64_t last = next <= to ? next - 1 : to;

		ret = add_utc_piece(pieces, source, from, last);
		from = last + 1;
	}
	return ret;
}

/*
 * Add the pieces of a bound. Skip the times around steps of the clock, because the clock showed
 * some of these times twice or never.
 */
static int add_bound_pieces(struct utc_pieces *pieces, const struct netsync *ns,
			    const struct netsync_utc_bound *bound)
{
	struct utc_source source = {
		.bound = bound,
		.clock = netsync_host_clock(ns, bound->host),
		.model = { .size = sizeof(source.model) },
	};
	struct netsync_step step = { .size = sizeof(step) };
	int64_t from = bound->from_ns;
	int ret = 0;

	if (!source.clock)
		return 0;
	netsync_clock_model(source.clock, &source.model);
	for (uint32_t i = 0; !ret && !netsync_get_step(ns, bound->host, i, &step); i++) {
		const __int128 around = (__int128)step.within_ns + llabs(step.offset_ns);
		const int64_t before = clamp_to_int64(step.time_ns - around - 1);

		if (!step.offset_ns || before > bound->to_ns)
			continue;
		ret = add_utc_pieces(pieces, &source, from, before);
		from = max64(from, clamp_to_int64(step.time_ns + around + 1));
	}
	return ret ? ret : add_utc_pieces(pieces, &source, from, bound->to_ns);
}

/* ---- pieces -> limits -------------------------------------------------------- */

static int compare_pieces_by_time(const void *a, const void *b)
{
	const struct utc_piece *p = a, *q = b;
	const int c = COMPARE(p->first.at, q->first.at);

	return c ? c : COMPARE(p->host, q->host);
}

/* Interpolate the limits of a piece at a reference time in it. Round outwards. */
static struct range interpolate_limits(const struct utc_piece *p, int64_t at)
{
	const double span = (double)(p->last.at - p->first.at);
	const double part = span > 0 ? (double)(at - p->first.at) / span : 0;
	const struct range *a = &p->first.offset, *b = &p->last.offset;

	return (struct range){
		a->lo + (int64_t)floor((double)(b->lo - a->lo) * part),
		a->hi + (int64_t)ceil((double)(b->hi - a->hi) * part),
	};
}

/* Pieces that include the current time. At most one for each bound. */
struct active_pieces {
	const struct utc_piece **piece;
	size_t num;
	size_t room;
};

/*
 * Difference between TAI and UTC since 2017, ns, and the error with which two clocks may show this
 * difference.
 */
#define TAI_OFFSET INT64_C(37000000000)
#define TAI_WITHIN INT64_C(1000000000) /* Chosen. */

static int fail_inconsistent(struct netsync *ns, const struct utc_piece *a,
			     const struct utc_piece *b, int64_t gap)
{
	const bool is_tai = gap > TAI_OFFSET - TAI_WITHIN && gap < TAI_OFFSET + TAI_WITHIN;

	return handle_fail(
		ns, -EDOM,
		"%s and %s cannot both be as close to UTC as given: at one time, their bounds are %.9g s apart.%s Correct the bound or the clock of one of them.",
		ns->host[a->host].name, ns->host[b->host].name, (double)gap / SECOND,
		is_tai ?
			" This is the difference between TAI and UTC, so one of the clocks may show TAI." :
			"");
}

/*
 * Add the section from @from to @to, in which the same pieces are active. The piece that has the
 * narrowest limit in the middle is used for the whole section: a line of one piece is a valid
 * limit everywhere, the combination of several lines need not be one.
 */
static int add_utc_section(struct netsync *ns, struct utc_pieces *sections,
			   const struct active_pieces *active, int64_t from, int64_t to)
{
	const int64_t middle = from + (to - from) / 2;
	const struct utc_piece *lowest = active->piece[0], *highest = active->piece[0];
	struct range first, last;

	for (size_t i = 1; i < active->num; i++) {
		const struct utc_piece *p = active->piece[i];

		if (interpolate_limits(p, middle).lo > interpolate_limits(highest, middle).lo)
			highest = p;
		if (interpolate_limits(p, middle).hi < interpolate_limits(lowest, middle).hi)
			lowest = p;
	}
	first = (struct range){ interpolate_limits(highest, from).lo,
				interpolate_limits(lowest, from).hi };
	last = (struct range){ interpolate_limits(highest, to).lo,
			       interpolate_limits(lowest, to).hi };
	if (first.lo > first.hi)
		return fail_inconsistent(ns, highest, lowest, first.lo - first.hi);
	if (last.lo > last.hi)
		return fail_inconsistent(ns, highest, lowest, last.lo - last.hi);
	if (array_grow(&sections->piece, &sections->room, sections->num, sizeof(struct utc_piece)))
		return handle_fail_no_memory(ns);
	sections->piece[sections->num++] = (struct utc_piece){ .first = { from, first },
							       .last = { to, last } };
	return 0;
}

/* Remove the pieces that end before @at. Return the earliest end of the remaining pieces. */
static int64_t retire_pieces(struct active_pieces *active, int64_t at)
{
	int64_t end = INT64_MAX;
	size_t num = 0;

	for (size_t i = 0; i < active->num; i++) {
		if (active->piece[i]->last.at < at)
			continue;
		active->piece[num++] = active->piece[i];
		end = min64(end, active->piece[i]->last.at);
	}
	active->num = num;
	return end;
}

/* Intersect the limits of all pieces, which are sorted by time. */
static int intersect_pieces(struct netsync *ns, const struct utc_pieces *pieces,
			    struct utc_pieces *sections, struct active_pieces *active)
{
	size_t next = 0;
	int64_t at = 0;
	int ret = 0;

	while ((next < pieces->num || active->num) && !ret) {
		int64_t end;

		if (!active->num)
			at = pieces->piece[next].first.at;
		for (; next < pieces->num && pieces->piece[next].first.at <= at; next++) {
			if (array_grow(&active->piece, &active->room, active->num, sizeof(void *)))
				return handle_fail_no_memory(ns);
			active->piece[active->num++] = &pieces->piece[next];
		}
		end = retire_pieces(active, at);
		if (!active->num)
			continue;
		if (next < pieces->num)
			end = min64(end, pieces->piece[next].first.at - 1);
		ret = add_utc_section(ns, sections, active, at, end);
		at = end + 1;
		retire_pieces(active, at);
	}
	return ret;
}

/* ---- limits -> a clock --------------------------------------------------------- */

static int64_t find_middle_offset(const struct utc_limits *limits)
{
	return limits->offset.lo + (limits->offset.hi - limits->offset.lo) / 2;
}

/*
 * Return the offset of the clock at the end of a section. It is in the middle of the limits, unless
 * this would change the offset too fast for a clock.
 */
static int64_t find_last_offset(const struct utc_piece *p)
{
	const int64_t first = find_middle_offset(&p->first), last = find_middle_offset(&p->last);

	return llabs(last - first) <= (p->last.at - p->first.at) / 2 ? last : first;
}

static bool is_gap_between(const struct utc_piece *a, const struct utc_piece *b)
{
	return b->first.at - a->last.at > MAX_ROUNDING_GAP;
}

static struct netsync_knot make_utc_knot(const struct utc_limits *limits, int64_t offset)
{
	return (struct netsync_knot){ limits->at, max64(offset - limits->offset.lo, 0) + ROUNDING,
				      max64(limits->offset.hi - offset, 0) + ROUNDING };
}

static struct netsync_knot make_unknown_knot(int64_t at)
{
	return (struct netsync_knot){ at, NETSYNC_UNKNOWN, NETSYNC_UNKNOWN };
}

/*
 * Write the knots of a section, and knots without a bound at the times before and after it, unless
 * the next section follows at once. Return the number of knots.
 */
static uint32_t put_section_knots(struct netsync_knot *knots, const struct utc_pieces *sections,
				  size_t i)
{
	const struct utc_piece *p = &sections->piece[i];
	uint32_t num = 0;

	if (!i || is_gap_between(p - 1, p))
		knots[num++] = make_unknown_knot(p->first.at - 1);
	knots[num++] = make_utc_knot(&p->first, find_middle_offset(&p->first));
	if (p->last.at > p->first.at)
		knots[num++] = make_utc_knot(&p->last, find_last_offset(p));
	if (i + 1 == sections->num || is_gap_between(p, p + 1))
		knots[num++] = make_unknown_knot(p->last.at + 1);
	return num;
}

static void put_section_segment(struct netsync_segment *segment, const struct utc_pieces *sections,
				size_t i)
{
	const struct utc_piece *p = &sections->piece[i];
	const int64_t first = find_middle_offset(&p->first), last = find_last_offset(p);
	const int64_t span = p->last.at - p->first.at;

	*segment = (struct netsync_segment){
		.from_ns = p->first.at,
		.to_ns = i + 1 < sections->num ? p[1].first.at : p->last.at,
		.offset_ns = first,
		.rate = span > 0 ? 1 + (double)(last - first) / (double)span : 1,
		.bound_ns = NETSYNC_UNKNOWN,
	};
}

static int make_utc_clock(const struct utc_pieces *sections, struct netsync_clock **utc)
{
	struct netsync_knot *knots = calloc(sections->num, 4 * sizeof(*knots));
	struct netsync_segment *segments = calloc(sections->num, sizeof(*segments));
	struct netsync_model model = {
		.size = sizeof(model),
		.num_segments = (uint32_t)sections->num,
		.segment_size = sizeof(*segments),
		.knot_size = sizeof(*knots),
		.segments = segments,
		.knots = knots,
	};
	int ret = -ENOMEM;

	if (knots && segments) {
		for (size_t i = 0; i < sections->num; i++) {
			model.num_knots += put_section_knots(&knots[model.num_knots], sections, i);
			put_section_segment(&segments[i], sections, i);
		}
		ret = netsync_clock_new(&model, utc);
	}
	if (!ret)
		clock_set_bounds(*utc);
	free(knots);
	free(segments);
	return ret;
}

/* ---- the public functions --------------------------------------------------------- */

/* Size of the struct in the first version of the library. */
#define MIN_UTC_BOUND_SIZE (offsetof(struct netsync_utc_bound, reserved) + sizeof(uint32_t))

static int check_utc_bound(struct netsync *ns, const struct netsync_utc_bound *bound)
{
	if (bound->host >= ns->num_hosts)
		return handle_fail(ns, -EINVAL, "There is no host number %" PRIu32 ".",
				   bound->host);
	if (bound->within_ns < 0 || bound->within_ns > NETSYNC_MAX_TIME)
		return handle_fail(ns, -EINVAL,
				   "%s: a bound of %" PRId64
				   " ns on the difference from UTC is invalid.",
				   ns->host[bound->host].name, bound->within_ns);
	if (bound->from_ns > bound->to_ns || bound->from_ns < -NETSYNC_MAX_TIME ||
	    bound->to_ns > NETSYNC_MAX_TIME)
		return handle_fail(
			ns, -EINVAL,
			"%s: the times of a bound on the difference from UTC are out of order or out of range.",
			ns->host[bound->host].name);
	return 0;
}

static int collect_pieces(struct netsync *ns, const struct netsync_utc_bound *bounds, size_t num,
			  size_t bound_size, struct utc_pieces *pieces)
{
	for (size_t i = 0; i < num; i++) {
		const struct netsync_utc_bound *bound = (const void *)((const char *)bounds +
								       i * bound_size);
		int ret = check_utc_bound(ns, bound);

		if (ret)
			return ret;
		if (add_bound_pieces(pieces, ns, bound))
			return handle_fail_no_memory(ns);
	}
	if (!pieces->num)
		return handle_fail(
			ns, -ENODATA,
			"The difference from UTC is unknown: no host with a bound on this difference has a corrected clock with a known error bound.");
	qsort(pieces->piece, pieces->num, sizeof(*pieces->piece), compare_pieces_by_time);
	return 0;
}

int netsync_utc_clock_new(struct netsync *ns, const struct netsync_utc_bound *bounds, size_t num,
			  size_t bound_size, struct netsync_clock **utc)
{
	struct utc_pieces pieces = { 0 };
	struct utc_pieces sections = { 0 };
	struct active_pieces active = { 0 };
	int ret;

	handle_forget_error(ns);
	if (!ns->solved)
		return handle_fail(ns, -ENODATA, "The clocks have not been estimated.");
	if (!utc || bound_size < MIN_UTC_BOUND_SIZE || (num && !bounds))
		return handle_fail(ns, -EINVAL, "The bounds are missing, or have an invalid size.");
	ret = collect_pieces(ns, bounds, num, bound_size, &pieces);
	if (!ret)
		ret = intersect_pieces(ns, &pieces, &sections, &active);
	if (!ret && make_utc_clock(&sections, utc))
		ret = handle_fail_no_memory(ns);
	free(pieces.piece);
	free(sections.piece);
	free(active.piece);
	return ret;
}

int netsync_utc_interval(const struct netsync_clock *clock, const struct netsync_clock *utc,
			 int64_t t, int64_t *lo, int64_t *hi)
{
	struct clock_place near = { 0 };
	struct range ref, is;
	int ret = netsync_interval(clock, t, &ref.lo, &ref.hi);

	if (ret)
		return ret;
	is = clock_convert_range(utc, ref, &near);
	*lo = is.lo;
	*hi = is.hi;
	return 0;
}
