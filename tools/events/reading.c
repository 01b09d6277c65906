// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "reading.h"

struct reading reading_make(const struct event_group *group, const struct timebase *base,
			    const struct event_listener *listener, struct group_state *state)
{
	return (struct reading){
		.base = base,
		.host = &base->hosts[group->host],
		.listener = listener,
		.state = state,
		.now_ns = INT64_MIN,
	};
}

enum reading_next reading_advance(struct reading *reading, int64_t time_ns)
{
	int64_t t;

	if (!timebase_correct_time(reading->host, time_ns, &t))
		return READING_PASS;
	if (t > reading->base->end_ns) {
		reading->is_cut = true;
		return READING_ENOUGH;
	}
	/* Times may go back in damaged traces, and between the clocks of processors. */
	if (t > reading->now_ns)
		reading->now_ns = t;
	reading->state->now_ns = reading->now_ns;
	return READING_TAKE;
}

struct event_type *reading_find_type(struct reading *reading, const void *key, const char *name)
{
	struct event_type *type = map_get(&reading->types, key);

	if (type)
		return type;
	type = calloc(1, sizeof(*type));
	if (type)
		type->name = strdup(*name ? name : "event");
	return type && type->name && map_put(&reading->types, key, type) ? type : NULL;
}

int64_t reading_get_until(const struct reading *reading)
{
	return reading->is_cut && reading->now_ns != INT64_MIN ? reading->base->end_ns :
								 reading->now_ns;
}
