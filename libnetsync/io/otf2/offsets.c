// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The correction of a host -> clock offset records. OTF2 interpolates between two records, so an
 * interval is halved until the interpolation is exact at three times within it.
 */
#include <errno.h>
#include <stdlib.h>

#include "io/otf2/copy.h"
#include "util/array.h"

/*
 * Maximum number of records of a host. Chosen: they fit into a chunk of 4 MiB, which most tools
 * write, and a clock that chrony steers needs some for each of its updates.
 */
#define MAX_OFFSETS 100000

struct offset_search {
	struct otf2_copy *copy;
	const struct otf2_host *host;
	struct otf2_offset *found;
	size_t num, room;
	int64_t tolerance; /* ticks */
};

/* Find the new ticks of an event, and extend the range of the copy. */
static int find_new_ticks(struct offset_search *search, int64_t ticks, int64_t *new_ticks)
{
	struct otf2_copy *copy = search->copy;
	const struct otf2_timer *timer = &copy->archive.timer;
	const struct otf2_host *host = search->host;
	int64_t time_ns, new_ns = 0, end;
	int ret = -ERANGE;

	if (otf2_get_ns(timer, host->offset, host->num_offsets, ticks, false, &time_ns))
		ret = copy->time(copy->data, host->name, time_ns, &new_ns);
	if (ret == NETSYNC_IO_LEFT_OUT)
		return io_fail(
			copy->io, -EINVAL,
			"%s: the copy of an OTF2 archive contains all events, so it cannot be limited to a time window.",
			copy->from);
	if (ret || !otf2_get_ticks(timer, new_ns, new_ticks))
		return io_fail(copy->io, ret ? ret : -ERANGE,
			       "%s: the time of the event of %s at %lld ticks cannot be corrected.",
			       copy->from, host->name, (long long)ticks);
	end = copy->timer.start + copy->timer.length;
	copy->timer.start = *new_ticks < copy->timer.start ? *new_ticks : copy->timer.start;
	end = *new_ticks > end ? *new_ticks : end;
	copy->timer.length = end - copy->timer.start;
	return 0;
}

static int add_offset(struct offset_search *search, int64_t ticks, int64_t new_ticks)
{
	if (search->num == MAX_OFFSETS)
		return io_fail(
			search->copy->io, -E2BIG,
			"%s: the clock of %s needs more than %d clock offsets; synchronize shorter recordings.",
			search->copy->from, search->host->name, MAX_OFFSETS);
	if (array_grow(&search->found, &search->room, search->num, sizeof(*search->found)))
		return io_fail_no_memory(search->copy->io);
	search->found[search->num++] = (struct otf2_offset){ ticks, new_ticks - ticks };
	return 0;
}

/* Is the interpolation between two records exact at this time? Return 1 or 0, or an error. */
static int is_exact_at(struct offset_search *search, const struct otf2_offset ends[2],
		       int64_t ticks)
{
	int64_t new_ticks;
	const int ret = find_new_ticks(search, ticks, &new_ticks);
	const __int128 error = otf2_add_offset(ends, 2, ticks) - (ret ? 0 : new_ticks);

	return ret ? ret : error >= -search->tolerance && error <= search->tolerance;
}

/* Add records after @from up to @to. */
static int add_interval(struct offset_search *search, struct otf2_offset from,
			struct otf2_offset to)
{
	const struct otf2_offset ends[2] = { from, to };
	const int64_t quarter = (to.time - from.time) / 4,
		      half = from.time + (to.time - from.time) / 2;
	int64_t new_ticks;
	int ret = 1;

	if (to.time - from.time > 1) {
		ret = is_exact_at(search, ends, half);
		if (ret > 0 && quarter)
			ret = is_exact_at(search, ends, half - quarter);
		if (ret > 0 && quarter)
			ret = is_exact_at(search, ends, half + quarter);
	}
	if (ret > 0)
		return add_offset(search, to.time, to.time + to.offset);
	if (ret < 0 || (ret = find_new_ticks(search, half, &new_ticks)))
		return ret;
	ret = add_interval(search, from, (struct otf2_offset){ half, new_ticks - half });
	return ret ? ret : add_interval(search, search->found[search->num - 1], to);
}

int otf2_find_offsets(struct otf2_copy *copy, const struct otf2_host *host,
		      struct otf2_offset **offsets, size_t *num)
{
	/* Both conversions round to a tick or a ns. */
	struct offset_search search = {
		.copy = copy,
		.host = host,
		.tolerance = 1 + copy->archive.timer.resolution / 1000000000,
	};
	const int64_t first = host->ticks.first, last = host->ticks.last;
	int64_t new_first = first, new_last = last;
	bool is_identity;
	int ret = 0;

	if (first <= last)
		ret = find_new_ticks(&search, first, &new_first);
	if (!ret && first <= last)
		ret = find_new_ticks(&search, last, &new_last);
	if (!ret && first <= last)
		ret = add_offset(&search, first, new_first);
	if (!ret && first < last)
		ret = add_interval(&search, (struct otf2_offset){ first, new_first - first },
				   (struct otf2_offset){ last, new_last - last });
	is_identity = true;
	for (size_t i = 0; i < search.num; i++)
		is_identity &= !search.found[i].offset;
	*offsets = search.found;
	*num = is_identity ? 0 : search.num;
	return ret;
}
