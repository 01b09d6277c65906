// SPDX-License-Identifier: GPL-2.0-only
/*
 * A correction, which is linear in segments -> stairs. A stair is made as long as possible: it ends
 * when the difference between the largest and the smallest offset exceeds the height of a step. Its
 * offset is the middle of both.
 */
#include <math.h>

#include "events/timebase.h"
#include "stairs.h"

/*
 * Height of a step, ns. Chosen: far below the error bounds of all recordings. If a clock is fast,
 * Perfetto swaps events of a host that are closer together than a step.
 */
#define LEAST_STEP_NS 100
/*
 * Maximum number of stairs of a host, unless the clock was stepped more often. Chosen: 12 bytes
 * each, and Perfetto loads some 10^5 per second.
 */
#define MAX_STAIRS 200000
/* Maximum number of times that the height of a step is doubled. Chosen: up to 100 s. */
#define MAX_DOUBLED 30

/* State of the current stair. Offsets are relative to base_ns. */
struct stair_walk {
	const struct stairs *stairs;
	stair_func *each;
	void *data;
	bool is_open;
	int64_t start_ns; /* time on the clock of the result's host */
	int64_t base_ns;
	double low_ns, high_ns; /* offsets so far */
	bool has_last;
	int64_t last_ns; /* corrected time of the last stair */
};

static int64_t clamp_to_int64(__int128 number)
{
	return number < INT64_MIN ? INT64_MIN : number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

static double subtract_times(int64_t a_ns, int64_t b_ns)
{
	return (double)((__int128)a_ns - b_ns);
}

/* End the current stair before @end_ns, and report it. */
static bool end_stair(struct stair_walk *walk, int64_t end_ns)
{
	const __int128 offset = (__int128)walk->base_ns +
				llround((walk->low_ns + walk->high_ns) / 2);
	__int128 start = walk->start_ns, corrected = start + offset;

	walk->is_open = false;
	/*
	 * If the clock was stepped forward, some times do not exist. The stair begins after them,
	 * because corrected times must increase.
	 */
	if (walk->has_last && corrected <= walk->last_ns) {
		start += walk->last_ns - corrected + 1;
		corrected = walk->last_ns + (__int128)1;
	}
	start -= walk->stairs->host->shift_ns;
	if (start + walk->stairs->host->shift_ns >= end_ns || start < INT64_MIN ||
	    start > INT64_MAX || corrected < INT64_MIN || corrected > INT64_MAX)
		return true;
	walk->has_last = true;
	walk->last_ns = (int64_t)corrected;
	return walk->each(walk->data, (int64_t)start, (int64_t)corrected);
}

static void begin_stair(struct stair_walk *walk, int64_t start_ns, int64_t base_ns,
			double offset_ns)
{
	walk->is_open = true;
	walk->start_ns = start_ns;
	walk->base_ns = base_ns;
	walk->low_ns = offset_ns;
	walk->high_ns = offset_ns;
}

/* Extend the current stair by an offset. Return false if the stair would become too high. */
static bool extend_stair(struct stair_walk *walk, double offset_ns)
{
	const double low = fmin(walk->low_ns, offset_ns), high = fmax(walk->high_ns, offset_ns);

	if (high - low > (double)walk->stairs->step_ns)
		return false;
	walk->low_ns = low;
	walk->high_ns = high;
	return true;
}

/*
 * Return the last time of a segment until which the current stair can last. @at_ns is the time of
 * @offset_ns, which is part of the stair.
 */
static int64_t find_stair_end(const struct stair_walk *walk, double slope, int64_t at_ns,
			      double offset_ns, int64_t last_ns)
{
	const double step = (double)walk->stairs->step_ns;
	const double limit = slope > 0 ? walk->low_ns + step : walk->high_ns - step;
	const double length = slope ? (limit - offset_ns) / slope : INFINITY;

	if (length >= subtract_times(last_ns, at_ns))
		return last_ns;
	return at_ns + (int64_t)length;
}

/* Walk along a segment, from @at_ns to @last_ns, on the clock of the result's host. */
static bool walk_segment(struct stair_walk *walk, const struct netsync_segment *segment,
			 int64_t at_ns, int64_t last_ns)
{
	const double slope = segment->rate - 1;

	while (at_ns <= last_ns) {
		const double own = slope * subtract_times(at_ns, segment->from_ns);
		double offset = own + subtract_times(segment->offset_ns, walk->base_ns);
		int64_t end_ns;

		if (!walk->is_open || !extend_stair(walk, offset)) {
			if (walk->is_open && !end_stair(walk, at_ns))
				return false;
			begin_stair(walk, at_ns, segment->offset_ns, own);
			offset = own;
		}
		end_ns = find_stair_end(walk, slope, at_ns, offset, last_ns);
		extend_stair(walk, offset + slope * subtract_times(end_ns, at_ns));
		if (end_ns == INT64_MAX)
			break;
		at_ns = end_ns + 1;
	}
	return true;
}

bool stairs_walk(const struct stairs *stairs, stair_func *each, void *data)
{
	const int64_t shift_ns = stairs->host->shift_ns;
	const int64_t from_ns = clamp_to_int64((__int128)stairs->from_ns + shift_ns);
	const int64_t to_ns = clamp_to_int64((__int128)stairs->to_ns + shift_ns);
	struct stair_walk walk = { .stairs = stairs, .each = each, .data = data };
	struct netsync_model model = { .size = sizeof(model) };

	netsync_clock_model(stairs->host->clock, &model);
	for (uint32_t i = 0; i < model.num_segments; i++) {
		const struct netsync_segment *segment = netsync_model_segment(&model, i);
		int64_t first_ns = segment->from_ns, last_ns = to_ns;

		if (!i || first_ns < from_ns)
			first_ns = from_ns;
		if (i + 1 < model.num_segments)
			last_ns = netsync_model_segment(&model, i + 1)->from_ns - 1;
		if (last_ns > to_ns)
			last_ns = to_ns;
		if (!walk_segment(&walk, segment, first_ns, last_ns))
			return false;
	}
	return !walk.is_open || end_stair(&walk, INT64_MAX);
}

static bool count_stair(void *data, int64_t time_ns, int64_t corrected_ns)
{
	uint32_t *num = data;

	(void)time_ns;
	(void)corrected_ns;
	return ++*num <= MAX_STAIRS;
}

void stairs_choose_step(struct stairs *stairs)
{
	stairs->step_ns = LEAST_STEP_NS;
	for (int i = 0; i < MAX_DOUBLED; i++) {
		uint32_t num = 0;

		if (stairs_walk(stairs, count_stair, &num))
			return;
		stairs->step_ns *= 2;
	}
}

bool stairs_are_coarse(const struct stairs *stairs)
{
	return stairs->step_ns > LEAST_STEP_NS;
}

int64_t stairs_get_error(const struct stairs *stairs)
{
	/* The offset of a stair and the result of netsync_convert() are both rounded. */
	return stairs->step_ns / 2 + 1;
}
