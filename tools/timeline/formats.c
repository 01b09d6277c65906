// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "timeline.h"

static const char *const names[] = { "json", "protobuf", NULL };

const struct option_row timeline_options[] = {
	OPTION("format", 0, "FORMAT",
	       "of that: protobuf, or json, which chrome://tracing reads,\n"
	       "too (as FILE ends: .pftrace, .perfetto-trace or .pb; else\n"
	       "json)",
	       take_name, .at = 0,
	       .names = names),
	OPTIONS_END
};

/* As the name of the file says. */
static bool is_protobuf(const char *path)
{
	static const char *const ends[] = { ".pftrace", ".perfetto-trace", ".pb" };
	const char *end = path ? strrchr(path, '.') : NULL;

	for (size_t i = 0; end && i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strcmp(end, ends[i]))
			return true;
	return false;
}

const struct timeline_format *timeline_format(unsigned int number, const char *path)
{
	static const struct timeline_format *const formats[] = {
		&trace_event_format, &protobuf_format,
	};

	return formats[number < TIMELINE_NOT_SAID ? number : is_protobuf(path)];
}
