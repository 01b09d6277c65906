// SPDX-License-Identifier: GPL-2.0-only
/* Choose the format of a timeline by --format or by a file name. Begin and end a timeline. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/complain.h"
#include "timeline.h"

static const char *const names[] = { "json", "protobuf", NULL };

const struct option_row timeline_options[] = {
	OPTION("format", 0, "FORMAT",
	       "with --perfetto, write protobuf, or json, which\n"
	       "chrome://tracing can read, too (default: protobuf if FILE ends\n"
	       "in .pftrace, .perfetto-trace or .pb, otherwise json)",
	       parse_name_option, .at = 0, .names = names),
	OPTIONS_END
};

bool timeline_check_option(unsigned int number, bool is_perfetto)
{
	if (number == TIMELINE_NOT_SAID || is_perfetto)
		return true;
	complain("--format: this option requires --perfetto FILE.");
	return false;
}

/* Return whether a file's name ends like the names of files in Perfetto's own format. */
static bool is_protobuf(const char *path)
{
	static const char *const ends[] = { ".pftrace", ".perfetto-trace", ".pb" };
	const char *end = path ? strrchr(path, '.') : NULL;

	for (size_t i = 0; end && i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strcmp(end, ends[i]))
			return true;
	return false;
}

const struct timeline_format *timeline_find_format(unsigned int number, const char *path)
{
	static const struct timeline_format *const formats[] = {
		&trace_event_format,
		&protobuf_format,
	};

	return formats[number < TIMELINE_NOT_SAID ? number : is_protobuf(path)];
}

void timeline_format_thread_name(char name[TIMELINE_THREAD_NAME_SIZE],
				 const struct timeline_thread *thread)
{
	snprintf(name, TIMELINE_THREAD_NAME_SIZE, "%s %" PRIu32,
		 *thread->name ? thread->name : "thread", thread->tid);
}

/* Begin a file. The members of @timeline that describe the kind of file are set. */
static bool begin_timeline(struct timeline *timeline, const struct timebase *base)
{
	timeline->base_ns = timebase_find_second(base);
	timeline->has_wall = timebase_find_wall_shift(base, &timeline->wall_shift_ns);
	if (__builtin_add_overflow(timeline->base_ns, timeline->shift_ns, &timeline->base_ns))
		timeline->base_ns = 0;
	if (__builtin_sub_overflow(timeline->wall_shift_ns, timeline->shift_ns,
				   &timeline->wall_shift_ns))
		timeline->has_wall = false;
	return timeline->format->begin(timeline, base->reference);
}

static void name_timeline_host(struct timeline *timeline, const struct timebase *base,
			       uint32_t host)
{
	timeline->format->name(timeline, (struct track){ host, TRACK_HOST, 0 },
			       base->hosts[host].name);
}

static void name_timeline_hosts(struct timeline *timeline, const struct timebase *base)
{
	for (uint32_t i = 0; i < base->num_hosts; i++)
		if (base->hosts[i].clock)
			name_timeline_host(timeline, base, i);
}

bool timeline_open(struct timeline *timeline, const struct timeline_format *format, FILE *out,
		   const struct timebase *base)
{
	*timeline = (struct timeline){ .format = format, .out = out };
	if (!begin_timeline(timeline, base))
		return false;
	name_timeline_hosts(timeline, base);
	return true;
}

bool timeline_open_messages(struct timeline *timeline, FILE *out, const struct timebase *base,
			    int64_t shift_ns)
{
	*timeline = (struct timeline){
		.format = &protobuf_format,
		.out = out,
		.shift_ns = shift_ns,
	};
	if (!begin_timeline(timeline, base))
		return false;
	name_timeline_hosts(timeline, base);
	return true;
}

bool timeline_open_machine(struct timeline *timeline, FILE *out, const struct timebase *base,
			   int64_t shift_ns, uint32_t host, int64_t host_shift_ns)
{
	*timeline = (struct timeline){
		.format = &protobuf_format,
		.out = out,
		.shift_ns = shift_ns,
		.is_machine = true,
		.sched_shift_ns = host_shift_ns,
	};
	if (!begin_timeline(timeline, base))
		return false;
	name_timeline_host(timeline, base, host);
	return true;
}

bool timeline_close(struct timeline *timeline, bool ok, const char *things)
{
	if (ok)
		timeline->format->end(timeline);
	timeline->format->release(timeline);
	if (timeline->failed)
		errno = ENOMEM;
	if (timeline->num_early)
		complain(
			"warning: %" PRIu64
			" %s before 1970 were skipped, as this format cannot express such times; use --format json.",
			timeline->num_early, things);
	return ok && !timeline->failed;
}
