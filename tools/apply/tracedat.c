// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copy trace.dat files by libnetsync-io, which interpolates times between knots. This file computes
 * the knots from a correction.
 */
#include <stdlib.h>

#include <netsync-io.h>

#include "../../libnetsync/util/array.h"
#include "apply.h"
#include "common/complain.h"
#include "common/signal.h"

/*
 * These limits keep products that readers compute within 64 bits: the maximum distance of two
 * knots, ns, and the maximum product of this distance and the difference between the knots'
 * corrections, ns^2.
 */
#define MAX_STEP_NS INT64_C(100000000000)
#define MAX_PRODUCT ((__int128)1 << 62)

struct correction_knots {
	const struct apply_trace *trace;
	struct netsync_io_knot *knot;
	uint32_t num;
};

/* ---- knots ------------------------------------------------------------- */

static bool make_knot_at(const struct apply_trace *trace, int64_t time_ns,
			 struct netsync_io_knot *knot)
{
	knot->time_ns = time_ns;
	if (!apply_correct_time(trace, time_ns, &knot->new_ns)) {
		complain("%s: some corrected times do not fit into 64 bits.", trace->path);
		return false;
	}
	if (knot->new_ns >= 0)
		return true;
	complain(
		"%s: some corrected times are negative, which trace-cmd cannot display; use \"netsync sync --reference\" with a host whose clock shows later times.",
		trace->path);
	return false;
}

static bool add_knot(struct correction_knots *knots, int64_t time_ns)
{
	struct netsync_io_knot *last = array_add(&knots->knot, knots->num, sizeof(*last));

	if (!last)
		return complain_no_memory();
	knots->num++;
	return make_knot_at(knots->trace, time_ns, last);
}

/* Add knots along a straight line from the last knot to @to_ns. */
static bool add_line_knots(struct correction_knots *knots, int64_t to_ns)
{
	struct netsync_io_knot from = knots->knot[knots->num - 1], to;
	int64_t length = to_ns - from.time_ns, step = MAX_STEP_NS;
	__int128 rise;

	if (length <= 0)
		return true;
	if (!make_knot_at(knots->trace, to_ns, &to))
		return false;
	rise = (__int128)to.new_ns - from.new_ns - length;
	if (rise < 0)
		rise = -rise;
	while (step > 1 && (rise * step / length + 1) * step > MAX_PRODUCT)
		step /= 2;
	for (int64_t at = step; at < length; at += step)
		if (!add_knot(knots, from.time_ns + at))
			return false;
	return add_knot(knots, to_ns);
}

/* Add the knots at the corner between two segments of the correction. */
static bool add_corner_knots(struct correction_knots *knots, int64_t time_ns)
{
	struct netsync_io_knot before, after;

	if (!make_knot_at(knots->trace, time_ns - 1, &before) ||
	    !make_knot_at(knots->trace, time_ns, &after))
		return false;
	/* If the offset changes by more than rounding, the correction has a step here. */
	if (llabs(after.new_ns - before.new_ns - 1) > 1 && !add_line_knots(knots, time_ns - 1))
		return false;
	return add_line_knots(knots, time_ns);
}

static bool make_correction_knots(struct correction_knots *knots)
{
	const struct apply_trace *trace = knots->trace;
	struct netsync_model model = { .size = sizeof(model) };

	if (netsync_clock_model(trace->clock, &model) || !add_knot(knots, trace->first_ns))
		return false;
	for (uint32_t i = 1; i < model.num_segments; i++) {
		int64_t at = netsync_model_segment(&model, i)->from_ns - trace->shift_ns;

		if (at > trace->first_ns && at <= trace->last_ns && !add_corner_knots(knots, at))
			return false;
	}
	return add_line_knots(knots, trace->last_ns + 1);
}

static int is_in_kept_part(void *data, int64_t time_ns)
{
	const struct apply_trace *trace = data;
	int64_t corrected;

	return apply_correct_time(trace, time_ns, &corrected) &&
	       part_contains(&trace->part, corrected);
}

static int show_and_check_stop(void *data, uint64_t done, uint64_t total)
{
	apply_show_progress(data, done, total);
	return interrupted;
}

bool apply_tracedat(const struct apply_trace *trace, const char *to)
{
	const bool is_part = trace->part.begin_ns != INT64_MIN || trace->part.end_ns != INT64_MAX;
	struct correction_knots knots = { .trace = trace };
	bool ok = make_correction_knots(&knots);

	if (ok &&
	    netsync_io_copy_tracedat_part(trace->io, trace->path, to, knots.knot, knots.num,
					  sizeof(*knots.knot), is_part ? is_in_kept_part : NULL,
					  show_and_check_stop, (void *)trace)) {
		if (!interrupted)
			complain("%s", netsync_io_error(trace->io));
		ok = false;
	}
	free(knots.knot);
	return ok;
}
