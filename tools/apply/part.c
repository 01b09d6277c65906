// SPDX-License-Identifier: GPL-2.0-only
/*
 * Convert --begin and --end, which are corrected times, to a window on the clock of a trace. A time
 * of day is on the day on which the result's data contain it, and relative times count from the
 * start of these data. Every host that copies traces knows this span.
 */
#include <netsync.h>

#include "apply.h"
#include "common/complain.h"
#include "common/window.h"

/* Find the corrected span of a result's data. Return false if no host was corrected. */
static bool find_corrected_span(struct model *model, int64_t *first_ns, int64_t *last_ns)
{
	*first_ns = INT64_MAX;
	*last_ns = INT64_MIN;
	for (size_t i = 0; i < model->num_hosts; i++) {
		const struct model_host *host = &model->hosts[i];
		struct netsync_clock *clock = NULL;
		int64_t first, last;

		if (!model_read_clock(model, host, &clock) &&
		    !netsync_convert(clock, host->span.first_ns, &first, NULL) &&
		    !netsync_convert(clock, host->span.last_ns, &last, NULL)) {
			*first_ns = first < *first_ns ? first : *first_ns;
			*last_ns = last > *last_ns ? last : *last_ns;
		}
		netsync_clock_free(clock);
	}
	return *first_ns <= *last_ns;
}

bool part_set_window(struct apply_part *part, const struct time_window *window, const char *result)
{
	struct model model;
	int64_t first_ns, last_ns;
	bool ok = false;

	*part = (struct apply_part){ INT64_MIN, INT64_MAX };
	if (!window_is_given(window))
		return true;
	if (model_open(&model, result))
		complain("%s", model_error(&model));
	else if (!find_corrected_span(&model, &first_ns, &last_ns))
		complain(
			"%s: none of its hosts could be corrected, so --begin and --end cannot be used.",
			result);
	else
		ok = window_find(window, first_ns, last_ns, false, &part->begin_ns, &part->end_ns);
	model_close(&model);
	return ok;
}

bool part_contains(const struct apply_part *part, int64_t corrected_ns)
{
	return corrected_ns >= part->begin_ns && corrected_ns <= part->end_ns;
}

bool apply_next_segment(const struct apply_trace *trace, int64_t *time_ns)
{
	struct netsync_model model = { .size = sizeof(model) };

	netsync_clock_model(trace->clock, &model);
	for (uint32_t i = 1; i < model.num_segments; i++) {
		int64_t from = netsync_model_segment(&model, i)->from_ns;

		if (!__builtin_sub_overflow(from, trace->shift_ns, &from) && from >= *time_ns) {
			*time_ns = from;
			return true;
		}
	}
	return false;
}

/*
 * On one linear segment of the correction, find the first time of the trace from @from to @to whose
 * corrected time is at least @limit. Return @to + 1 if there is none.
 */
static int64_t find_first_time_since(const struct apply_trace *trace, int64_t from, int64_t to,
				     int64_t limit)
{
	int64_t corrected;

	to++;
	while (from < to) {
		const int64_t middle = from + (int64_t)(((uint64_t)to - (uint64_t)from) / 2);

		/* Corrected times that do not fit into 64 bits are before or after all others. */
		if (apply_correct_time(trace, middle, &corrected) ? corrected >= limit : middle > 0)
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}

bool part_limit_trace(struct apply_trace *trace)
{
	const struct apply_part *part = &trace->part;
	const int64_t last = trace->last_ns;
	int64_t from = trace->first_ns, first_inside = INT64_MAX, last_inside = INT64_MIN;
	bool is_last = false;

	/* If the correction steps back, the window can consist of several parts. */
	while (!is_last && last < INT64_MAX) {
		int64_t next = from + 1, begin, behind;

		is_last = !apply_next_segment(trace, &next) || next > last;
		if (is_last)
			next = last + 1;
		begin = find_first_time_since(trace, from, next - 1, part->begin_ns);
		behind = part->end_ns == INT64_MAX ?
				 next :
				 find_first_time_since(trace, from, next - 1, part->end_ns + 1);
		if (begin < behind) {
			first_inside = begin < first_inside ? begin : first_inside;
			last_inside = behind - 1;
		}
		from = next;
	}
	if (last < INT64_MAX) {
		trace->first_ns = first_inside;
		trace->last_ns = last_inside;
	}
	return trace->first_ns <= trace->last_ns;
}
