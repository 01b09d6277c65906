// SPDX-License-Identifier: GPL-2.0-only
/* Readings of the clocks that daemons steer, from agents -> a file beside each trace. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock-reading.h"
#include "common/json-value.h"
#include "record.h"

void clocks_take(struct host *host, struct json_object *readings)
{
	const size_t num = value_length(readings);

	if (!num || (!host->clocks.file &&
		     !spool_open(&host->clocks, sizeof(struct clock_reading))))
		return;
	for (size_t i = 0; i < num; i++) {
		struct json_object *one = value_at(readings, i);
		const struct clock_reading reading = {
			.time_ns = member_int(one, "time"),
			.raw_ns = member_int(one, "raw"),
			.within_ns = member_int(one, "within"),
		};

		spool_put(&host->clocks, &reading);
	}
}

static bool write_one(void *data, const void *record)
{
	return clock_reading_write(data, record);
}

void clocks_write(const char *dir, struct host *host)
{
	FILE *file;
	char *path;

	if (!host->clocks.file ||
	    asprintf(&path, "%s/%s/netsync-clocks", dir,
		     host->remote->folder) < 0)
		return;
	/* A host without a trace has no folder. */
	file = fopen(path, "wxe");
	if (file) {
		fputs(CLOCK_READINGS_HEAD, file);
		spool_replay(&host->clocks, write_one, file);
		if (ferror(file) | fclose(file))
			complain("%s: %s.", path, strerror(errno));
	}
	spool_close(&host->clocks);
	free(path);
}
