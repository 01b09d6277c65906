// SPDX-License-Identifier: GPL-2.0-only
/* Write spans as slices for Perfetto and Chrome. Each name and lane of an object has a track. */
#include <inttypes.h>

#include "rows.h"
#include "states.h"

struct span_perfetto {
	struct states *states;
	struct timeline timeline;
	struct rows rows;
};

/* ---- tracks -------------------------------------------------------------- */

static void name_track(struct span_perfetto *writer, const struct row *of, struct track track)
{
	const struct states *states = writer->states;
	char name[2 * TEXT_SIZE], lane[16] = "";

	if (of->lane)
		snprintf(lane, sizeof(lane), " (%" PRIu32 ")", of->lane + 1);
	snprintf(name, sizeof(name), "%s %s%s", states->definitions[of->definition].name,
		 spans_get_text(states->spans, of->host, of->name), lane);
	writer->timeline.format->name(&writer->timeline, track, name);
}

/* Find the track of a span, or add it. Return false if out of memory. */
static bool find_span_track(struct span_perfetto *writer, const struct state_span *span,
			    struct track *track)
{
	const struct row row = make_state_row(span);
	uint32_t number;
	bool is_new;

	if (!rows_find_or_add(&writer->rows, &row, &number, &is_new))
		return false;
	*track = (struct track){ span->host, TRACK_OBJECT, number };
	if (is_new)
		name_track(writer, &row, *track);
	return true;
}

/* ---- slices -------------------------------------------------------------- */

static bool put_perfetto_span(void *data, const struct reported_span *reported)
{
	struct span_perfetto *writer = data;
	const struct states *states = writer->states;
	const struct state_span *span = &reported->span;
	struct arg args[5];
	struct timeline_event event = {
		.time_ns = span->begin_ns,
		.category = states->definitions[span->definition].name,
		.name = spans_get_text(states->spans, span->host, span->state),
		.args = args,
	};

	if (!find_span_track(writer, span, &event.track)) {
		writer->states->failed = true;
		return false;
	}
	if (span->begin_ns == span->end_ns)
		return true;
	if (reported->begin_bound_ns != NETSYNC_UNKNOWN)
		args[event.num_args++] = (struct arg){
			"begin_bound_ns",
			ARG_SIGNED,
			{ .integer = reported->begin_bound_ns },
		};
	if (reported->end_bound_ns != NETSYNC_UNKNOWN)
		args[event.num_args++] = (struct arg){
			"end_bound_ns",
			ARG_SIGNED,
			{ .integer = reported->end_bound_ns },
		};
	if (reported->has_holder)
		args[event.num_args++] = (struct arg){
			"waited_for",
			ARG_LABEL,
			{ states->base->hosts[reported->holder_host].name },
		};
	if (span->is_open)
		args[event.num_args++] = (struct arg){
			"open",
			ARG_BOOL,
			{ .truth = true },
		};
	if (span->is_doubtful)
		args[event.num_args++] = (struct arg){
			"doubtful",
			ARG_BOOL,
			{ .truth = true },
		};
	writer->timeline.format->slice(&writer->timeline, &event, span->end_ns);
	return !ferror(writer->timeline.out) && !writer->timeline.failed;
}

bool states_write_perfetto(FILE *out, struct states *states)
{
	struct span_perfetto writer = { .states = states };
	const bool ok = timeline_open(&writer.timeline, states->timeline, out, states->base) &&
			states_read(states, put_perfetto_span, &writer);

	rows_release(&writer.rows);
	return timeline_close(&writer.timeline, ok, "states");
}
