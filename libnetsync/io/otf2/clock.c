// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Ticks of an archive <-> times in ns, with integers: a double has only 53 bits, and ns since 1970
 * need 61.
 */
#include <math.h>

#include "io/otf2/otf2.h"
#include "util/search.h"

#define NS_IN_S 1000000000
/*
 * Maximum number of ticks per second: products with times fit into 128 bits. Chosen; processors
 * have 10^10 at most.
 */
#define MAX_RESOLUTION INT64_C(1000000000000000)

/* Return a * b / divisor, rounded up or down. The product must fit into 128 bits. */
static __int128 scale_ticks(__int128 a, int64_t b, int64_t divisor, bool rounds_up)
{
	const __int128 product = a * b;
	const __int128 quotient = product / divisor;
	const int sign = product % divisor < 0 ? -1 : product % divisor > 0;

	return rounds_up ? quotient + (sign > 0) : quotient - (sign < 0);
}

int64_t otf2_get_start(const struct otf2_timer *timer)
{
	return clamp_to_int64(scale_ticks(timer->start, NS_IN_S, timer->resolution, false));
}

int64_t otf2_get_epoch(const struct otf2_timer *timer)
{
	const int64_t start_ns = otf2_get_start(timer);

	return timer->realtime_ns >= start_ns ? timer->realtime_ns - start_ns : 0;
}

bool otf2_has_valid_timer(const struct otf2_timer *timer)
{
	return timer->resolution > 0 && timer->resolution <= MAX_RESOLUTION && timer->start >= 0 &&
	       timer->length >= 0;
}

/*
 * OTF2 interpolates linearly between the two records around a time, and extrapolates the first and
 * the last two records. The difference between two records is small enough for a double.
 */
__int128 otf2_add_offset(const struct otf2_offset *offsets, size_t num, int64_t ticks)
{
	const struct otf2_offset *from;
	size_t next;
	double slope, gain;

	if (!num)
		return ticks;
	next = SEARCH(offsets, num, time, ticks, true);
	if (num == 1)
		return (__int128)ticks + offsets->offset;
	from = &offsets[next < 1 ? 0 : next < num ? next - 1 : num - 2];
	slope = (double)((__int128)from[1].offset - from->offset) /
		(double)(from[1].time - from->time);
	gain = slope * (double)((__int128)ticks - from->time);
	/* A double that does not fit is not converted: such times are out of range anyway. */
	if (fabs(gain) > (double)(INT64_MAX / 2))
		return INT64_MIN;
	return (__int128)ticks + from->offset + (int64_t)(gain < 0 ? gain - 0.5 : gain + 0.5);
}

bool otf2_get_ns(const struct otf2_timer *timer, const struct otf2_offset *offsets, size_t num,
		 int64_t ticks, bool rounds_up, int64_t *ns)
{
	const __int128 shown = otf2_add_offset(offsets, num, ticks);
	__int128 time_ns;

	if (ticks < 0 || shown < 0 || shown > INT64_MAX)
		return false;
	time_ns = scale_ticks(shown, NS_IN_S, timer->resolution, rounds_up) + otf2_get_epoch(timer);
	*ns = (int64_t)time_ns;
	return *ns == time_ns;
}

bool otf2_get_ticks(const struct otf2_timer *timer, int64_t ns, int64_t *ticks)
{
	/* Half a tick is added, and the rest is rounded down. */
	const __int128 twice = scale_ticks((__int128)ns - otf2_get_epoch(timer), timer->resolution,
					   NS_IN_S / 2, false);
	const __int128 nearest = (twice + 1) >> 1;

	if (nearest < 0 || nearest > INT64_MAX)
		return false;
	*ticks = (int64_t)nearest;
	return true;
}
