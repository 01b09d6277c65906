// SPDX-License-Identifier: GPL-2.0-only
/* Write one line of comma-separated values for each span. Times are integers in ns. */
#include <errno.h>
#include <inttypes.h>

#include "common/csv.h"
#include "states.h"

static const char header[] =
	"host,definition,object,lane,state,begin_ref_ns,begin_bound_ns,end_ref_ns,"
	"end_bound_ns,shared,waited_for,open,doubtful\r\n";

struct span_csv {
	FILE *out;
	const struct states *states;
};

static void put_time_and_bound(FILE *out, int64_t time_ns, int64_t bound_ns)
{
	fprintf(out, ",%" PRId64 ",", time_ns);
	if (bound_ns != NETSYNC_UNKNOWN)
		fprintf(out, "%" PRId64, bound_ns);
}

static bool put_csv_span(void *data, const struct reported_span *reported)
{
	const struct span_csv *csv = data;
	const struct states *states = csv->states;
	const struct state_span *span = &reported->span;
	FILE *out = csv->out;

	csv_put_text(out, states->base->hosts[span->host].name);
	putc(',', out);
	csv_put_text(out, states->definitions[span->definition].name);
	putc(',', out);
	csv_put_text(out, spans_get_text(states->spans, span->host, span->name));
	fprintf(out, ",%" PRIu32 ",", span->lane);
	csv_put_text(out, spans_get_text(states->spans, span->host, span->state));
	put_time_and_bound(out, span->begin_ns, reported->begin_bound_ns);
	put_time_and_bound(out, span->end_ns, reported->end_bound_ns);
	putc(',', out);
	if (span->shared != NO_TEXT)
		csv_put_text(out, spans_get_text(states->spans, span->host, span->shared));
	putc(',', out);
	if (reported->has_holder)
		csv_put_text(out, states->base->hosts[reported->holder_host].name);
	fprintf(out, ",%d,%d\r\n", span->is_open, span->is_doubtful);
	return !ferror(out);
}

bool states_write_csv(FILE *out, struct states *states)
{
	struct span_csv csv = { out, states };

	fputs(header, out);
	return states_read(states, put_csv_span, &csv);
}
