// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the correction for a stream's times. The host is found by its name and clock, in the same
 * way as libnetsync-io finds the hosts of traces.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/now.h"
#include "corrections.h"
#include "mip.h"

struct host_clock {
	struct netsync_clock *clock;
	uint32_t num;
	/*
	 * The start of each segment, and the limits of its corrected times. With these limits, no
	 * time is before a time of an earlier segment or after a time of a later segment.
	 */
	struct clock_limit {
		int64_t from_ns;
		int64_t least_ns;
		int64_t most_ns;
	} limits[];
};

const char *corrections_error(const struct corrections *corrections)
{
	return model_error(&corrections->model);
}

int corrections_open(struct corrections *corrections, const char *path, const char *host)
{
	const struct model_host *found;
	int ret;

	memset(corrections, 0, sizeof(*corrections));
	ret = model_open(&corrections->model, path);
	if (ret || !host)
		return ret;
	corrections->host = strdup(host);
	return corrections->host ? model_find_name(&corrections->model, host, &found) : -ENOMEM;
}

static void free_host_clock(struct host_clock *clock)
{
	if (clock)
		netsync_clock_free(clock->clock);
	free(clock);
}

void corrections_release(struct corrections *corrections)
{
	for (size_t i = 0; i < corrections->clocks.room; i++)
		free_host_clock(corrections->clocks.entries[i].value);
	map_release(&corrections->clocks);
	model_close(&corrections->model);
	free(corrections->host);
}

/* ---- the host of a stream ----------------------------------------------- */

static bool read_clock_description(struct model_clock *described, const struct mip *mip,
				   const bt_clock_class *class)
{
	uint64_t cycles;
	int64_t seconds;
	__int128 epoch;

	/* Results do not contain the names of clocks, because each tracer uses other names. */
	described->name = bt_clock_class_get_name(class);
	if (described->name && strcmp(described->name, NETSYNC_IO_CORRECTED_CLOCK))
		described->name = NULL;
	bt_clock_class_get_offset(class, &seconds, &cycles);
	epoch = (__int128)seconds * NS_PER_S +
		(__int128)cycles * NS_PER_S / bt_clock_class_get_frequency(class);
	described->epoch_ns = (int64_t)epoch;
	described->has_uuid = mip->get_clock_uuid(class, described->uuid);
	return epoch == described->epoch_ns;
}

/* Return the host name in the trace, or the name of the stream's directory. The caller frees it. */
static char *copy_host_name(const bt_stream *stream)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(
		bt_stream_borrow_trace_const(stream), "hostname");
	const char *name = "", *end, *start;

	if (value && bt_value_is_string(value))
		name = bt_value_string_get(value);
	if (*name)
		return strdup(name);
	name = bt_stream_get_name(stream);
	end = name ? strrchr(name, '/') : NULL;
	if (!end)
		return strdup("host");
	for (start = end; start > name && start[-1] != '/'; start--)
		;
	return strndup(start, end - start);
}

static int check_stream_host(struct corrections *corrections, const struct model_host *host,
			     const struct model_clock *described)
{
	if (!host->has_traces || !host->clock.has_uuid || !described->has_uuid ||
	    !memcmp(host->clock.uuid, described->uuid, sizeof(described->uuid)))
		return 0;
	return model_fail(&corrections->model, -EINVAL,
			  "A stream of host \"%s\" has a different clock than host \"%s\" in %s.",
			  described->host_name, host->name, corrections->model.path);
}

static int find_stream_host(struct corrections *corrections, const char *name,
			    const struct model_clock *described, const struct model_host **host)
{
	int ret;

	if (!name)
		return model_find_clock(&corrections->model, described, host);
	ret = model_find_name(&corrections->model, name, host);
	return ret ? ret : check_stream_host(corrections, *host, described);
}

/*
 * Return the middle of the corrected times that occur twice between segment @i and the next one,
 * ns. Return INT64_MAX if there are none. If the clock was stepped forward between two segments, or
 * if the reference stood still, corrected times go back from one segment to the next. All times
 * that occur twice for this reason are corrected to the middle.
 */
static int64_t get_step_middle(const struct host_clock *host, const struct netsync_model *model,
			       uint32_t i)
{
	int64_t from, before, after;

	if (i + 1 == model->num_segments)
		return INT64_MAX;
	from = netsync_model_segment(model, i + 1)->from_ns;
	if (netsync_convert(host->clock, from - 1, &before, NULL) ||
	    netsync_convert(host->clock, from, &after, NULL) || before <= after)
		return INT64_MAX;
	return after + (int64_t)(((uint64_t)before - (uint64_t)after) / 2);
}

static void set_clock_limits(struct host_clock *host, const struct netsync_model *model)
{
	int64_t least = INT64_MIN, most = INT64_MAX;

	host->num = model->num_segments;
	for (uint32_t i = host->num; i-- > 0;) {
		const int64_t middle = get_step_middle(host, model, i);

		if (middle < most)
			most = middle;
		host->limits[i].from_ns = netsync_model_segment(model, i)->from_ns;
		host->limits[i].most_ns = most;
	}
	for (uint32_t i = 0; i < host->num; i++) {
		const int64_t middle = get_step_middle(host, model, i);

		host->limits[i].least_ns = least;
		if (middle < INT64_MAX && middle > least)
			least = middle;
	}
}

static struct host_clock *new_host_clock(struct netsync_clock *clock)
{
	struct netsync_model model = { .size = sizeof(model) };
	struct host_clock *host;

	netsync_clock_model(clock, &model);
	host = malloc(sizeof(*host) + model.num_segments * sizeof(host->limits[0]));
	if (!host)
		return NULL;
	host->clock = clock;
	set_clock_limits(host, &model);
	return host;
}

static int find_host_clock(struct corrections *corrections, const struct model_host *host,
			   const struct host_clock **clock)
{
	struct netsync_clock *read;
	struct host_clock *new;
	int ret;

	*clock = map_get(&corrections->clocks, host);
	if (*clock)
		return 0;
	ret = model_read_clock(&corrections->model, host, &read);
	if (ret)
		return ret;
	new = new_host_clock(read);
	if (!new) {
		netsync_clock_free(read);
		return -ENOMEM;
	}
	if (!map_put(&corrections->clocks, host, new)) {
		free_host_clock(new);
		return -ENOMEM;
	}
	*clock = new;
	return 0;
}

static void set_correction_span(const struct corrections *corrections,
				const struct model_host *host, struct stream_correction *correction)
{
	correction->from_ns = host->span.from_ns;
	correction->to_ns = host->span.to_ns;
	if (!corrections->extrapolate &&
	    !model_contains_span(&corrections->model, host, INT64_MIN, INT64_MAX))
		return;
	correction->from_ns = INT64_MIN;
	correction->to_ns = INT64_MAX;
}

int corrections_find(struct corrections *corrections, const struct mip *mip, const char *given,
		     const bt_stream *stream, struct stream_correction *correction)
{
	const struct model_host *host;
	struct model_clock described = { 0 };
	char *name = copy_host_name(stream);
	int ret;

	if (!name)
		return -ENOMEM;
	described.host_name = name;
	if (!read_clock_description(&described, mip,
				    bt_stream_class_borrow_default_clock_class_const(
					    bt_stream_borrow_class_const(stream))))
		ret = model_fail(
			&corrections->model, -ERANGE,
			"The clock of host \"%s\" is more than 292 years away from the epoch.",
			name);
	else
		ret = find_stream_host(corrections, given, &described, &host);
	if (!ret)
		ret = find_host_clock(corrections, host, &correction->clock);
	if (!ret)
		ret = model_find_shift(&corrections->model, host, &described,
				       &correction->shift_ns);
	if (!ret) {
		int64_t median_ns;

		model_get_bounds(host, &median_ns, &correction->bound_ns);
		set_correction_span(corrections, host, correction);
		model_make_machine_uuid(&corrections->model, host, correction->machine);
	}
	free(name);
	return ret;
}

bool correction_is_valid_at(const struct stream_correction *correction, int64_t time_ns)
{
	/* correction_apply() reports an overflow. */
	return __builtin_add_overflow(time_ns, correction->shift_ns, &time_ns) ||
	       (time_ns >= correction->from_ns && time_ns <= correction->to_ns);
}

static const struct clock_limit *find_limit_at(const struct host_clock *clock, int64_t time_ns)
{
	uint32_t lo = 0, hi = clock->num;

	while (hi - lo > 1) {
		const uint32_t mid = lo + (hi - lo) / 2;

		if (clock->limits[mid].from_ns <= time_ns)
			lo = mid;
		else
			hi = mid;
	}
	return &clock->limits[lo];
}

int correction_apply(const struct stream_correction *correction, int64_t time_ns,
		     int64_t *corrected_ns, int64_t *moved_ns)
{
	const struct host_clock *clock = correction->clock;
	const struct clock_limit *limit;
	int64_t time;

	if (__builtin_add_overflow(time_ns, correction->shift_ns, &time_ns) ||
	    netsync_convert(clock->clock, time_ns, &time, NULL))
		return -ERANGE;
	limit = find_limit_at(clock, time_ns);
	*corrected_ns = time;
	if (*corrected_ns > limit->most_ns)
		*corrected_ns = limit->most_ns;
	if (*corrected_ns < limit->least_ns)
		*corrected_ns = limit->least_ns;
	*moved_ns = time > *corrected_ns ? time - *corrected_ns : *corrected_ns - time;
	return *corrected_ns < 0 ? -ERANGE : 0;
}
