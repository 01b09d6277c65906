// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read all tracepoint events of all processors from a perf.data file in order of time. The kernel's
 * descriptions in the file declare the fields. perf writes the contents of the processors' buffers
 * in rounds. An event is therefore deferred until no later record can be an earlier event.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/events.h"
#include "io/perf/record.h"
#include "io/tracefs/types.h"
#include "util/array.h"

/* Maximum size of all deferred events (bytes). Chosen, because the file is not trusted. */
#define MAX_WAITING (UINT64_C(1) << 30)

/* A deferred event, or a deferred report that events were lost. */
struct waiting_event {
	int64_t time_ns;
	uint64_t number; /* number in the file, by which items with equal times are ordered */
	uint64_t lost;	 /* number of lost events; if it is not 0, there is no event */
	uint32_t cpu;
	uint32_t size;
	uint8_t data[]; /* fields, which the kernel's descriptions declare */
};

struct perf_events {
	const struct event_reading *reading;
	int64_t shift_ns;
	struct perf_file file;
	struct tracefs_types *types;
	struct perf_records records;
	bool has_begun; /* whether a sample has been read */
	int32_t clock;	/* clock of the samples */
	struct waiting_event **waiting;
	size_t num, room; /* number of deferred items, and number for which memory is allocated */
	uint64_t bytes;	  /* size of the deferred items (bytes) */
	uint64_t number;
	int64_t latest_ns; /* latest time so far (ns) */
	int64_t round_ns;  /* latest time at the end of the last round (ns) */
	/*
	 * Latest time at the end of the previous round (ns). All later records are after this time.
	 */
	int64_t past_ns;
};

/* ---- deferred events ------------------------------------------------------ */

static int compare_waiting_events(const void *a, const void *b)
{
	const struct waiting_event *p = *(struct waiting_event *const *)a;
	const struct waiting_event *q = *(struct waiting_event *const *)b;

	if (p->time_ns != q->time_ns)
		return p->time_ns < q->time_ns ? -1 : 1;
	return p->number < q->number ? -1 : p->number > q->number;
}

static int report_waiting_event(const struct perf_events *events,
				const struct waiting_event *waiting)
{
	struct tracefs_raw raw = {
		.data = waiting->data,
		.size = waiting->size,
		.big_endian = events->file.big_endian,
	};
	struct netsync_io_event event = {
		.size = sizeof(event),
		.cpu = waiting->cpu,
		.lost = waiting->lost,
		.system = "",
		.name = "",
	};

	if (__builtin_add_overflow(waiting->time_ns, events->shift_ns, &event.time_ns) ||
	    (!waiting->lost && !tracefs_fill_event(events->types, &raw, &event)))
		return 0;
	return events->reading->each(events->reading->data, &event) ?
		       event_fail_stopped(events->reading) :
		       0;
}

/* Report the events up to @until_ns. Return 0, or a negative value to stop. */
static int report_events_until(struct perf_events *events, int64_t until_ns)
{
	size_t num_passed = 0;
	int ret = 0;

	if (!events->num)
		return 0;
	qsort(events->waiting, events->num, sizeof(*events->waiting), compare_waiting_events);
	while (num_passed < events->num && events->waiting[num_passed]->time_ns <= until_ns &&
	       !ret) {
		struct waiting_event *waiting = events->waiting[num_passed++];

		ret = report_waiting_event(events, waiting);
		events->bytes -= sizeof(*waiting) + waiting->size;
		free(waiting);
	}
	events->num -= num_passed;
	memmove(events->waiting, events->waiting + num_passed,
		events->num * sizeof(*events->waiting));
	return ret;
}

static int queue_waiting_event(struct perf_events *events, const struct perf_sample *sample,
			       uint64_t lost)
{
	const uint32_t size = lost ? 0 : sample->raw_size;
	struct waiting_event *waiting;

	events->bytes += sizeof(*waiting) + size;
	if (events->bytes > MAX_WAITING)
		return perf_set_problem(
			&events->file,
			"more than 1 GiB of events are out of order; record with smaller buffers (perf record -m)");
	if (array_grow(&events->waiting, &events->room, events->num, sizeof(*events->waiting)))
		return -ENOMEM;
	waiting = malloc(sizeof(*waiting) + size);
	if (!waiting)
		return -ENOMEM;
	*waiting = (struct waiting_event){
		.time_ns = sample->has_time ? sample->time_ns : events->latest_ns,
		.number = events->number++,
		.lost = lost,
		.cpu = sample->cpu,
		.size = size,
	};
	if (size)
		memcpy(waiting->data, sample->raw, size);
	events->waiting[events->num++] = waiting;
	return 0;
}

/* ---- records -------------------------------------------------------------- */

static int use_sample_event(struct perf_events *events, const struct perf_record *record)
{
	struct perf_sample sample;

	if (!perf_read_sample(&events->file, record, &sample) || !sample.has_time)
		return 0;
	if (!events->has_begun)
		events->clock = sample.attr->clock;
	events->has_begun = true;
	if (sample.attr->clock != events->clock)
		return 0;
	events->latest_ns = max64(events->latest_ns, sample.time_ns);
	return sample.attr->is_tracepoint && sample.raw ? queue_waiting_event(events, &sample, 0) :
							  0;
}

/*
 * Use a report about the losses of an event. The sums at the end of a file repeat these losses
 * without times, and are not used.
 */
static int use_loss_event(struct perf_events *events, const struct perf_record *record)
{
	struct perf_sample sample;
	uint64_t lost;

	if (record->size < 16)
		return 0;
	lost = perf_read_number(&events->file, record->data + 8, 8);
	perf_read_sample(&events->file, record, &sample);
	sample.has_time = sample.has_time && sample.time_ns;
	return lost && events->has_begun ? queue_waiting_event(events, &sample, lost) : 0;
}

static int end_perf_round(struct perf_events *events)
{
	events->past_ns = events->round_ns;
	events->round_ns = events->latest_ns;
	return events->past_ns == INT64_MIN ? 0 : report_events_until(events, events->past_ns);
}

static int use_event_record(struct perf_events *events, const struct perf_record *record)
{
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return use_sample_event(events, record);
	case PERF_RECORD_LOST:
		return use_loss_event(events, record);
	case PERF_RECORD_FINISHED_ROUND:
		return end_perf_round(events);
	default:
		return 0;
	}
}

/* ---- reading a file ----------------------------------------------------- */

static int read_event_records(struct perf_events *events)
{
	struct perf_record record;
	int ret = 0;

	perf_begin_records(&events->records, &events->file);
	while (!ret && (ret = perf_next_record(&events->records, &record)) > 0)
		ret = use_event_record(events, &record);
	/*
	 * Report the events before the damage. netsync_io_add() prints a warning about the damage.
	 */
	if (ret == -EILSEQ && !events->file.problem)
		ret = 0;
	return ret ? ret : report_events_until(events, INT64_MAX);
}

static int read_open_perf_file(struct perf_events *events)
{
	int ret = perf_read_pipe_header(&events->file);

	if (!ret)
		ret = perf_read_formats(&events->file, tracefs_add_type, events->types);
	if (!ret && events->types->no_memory)
		ret = -ENOMEM;
	return ret ? ret : read_event_records(events);
}

static void release_perf_events(struct perf_events *events)
{
	for (size_t i = 0; i < events->num; i++)
		free(events->waiting[i]);
	free(events->waiting);
	perf_release_records(&events->records);
	perf_close(&events->file);
}

static int read_perf_source(const struct event_reading *reading,
			    const struct netsync_io_source *source, struct tracefs_types *types)
{
	struct perf_events events = {
		.reading = reading,
		.shift_ns = source->shift_ns,
		.types = types,
		.latest_ns = INT64_MIN,
		.round_ns = INT64_MIN,
		.past_ns = INT64_MIN,
	};
	int ret = perf_open(&events.file, reading->io, source->path);

	if (!ret)
		ret = read_open_perf_file(&events);
	if (ret && ret != -ECANCELED)
		ret = perf_fail(&events.file, reading->io, source->path, ret);
	release_perf_events(&events);
	return ret;
}

int perf_read_events(const struct event_reading *reading)
{
	return tracefs_read_sources(reading, read_perf_source);
}
