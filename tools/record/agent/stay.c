// SPDX-License-Identifier: GPL-2.0-only
/* A recording that stays on its host, with its directory and the files next to its traces. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"
#include "common/clock-reading.h"
#include "common/json-value.h"
#include "namespaces.h"

static FILE *open_session_file(const char *name, const char *mode)
{
	FILE *file = NULL;
	char *path;

	if (asprintf(&path, "%s/%s", session_get_folder(), name) >= 0) {
		file = fopen(path, mode);
		free(path);
	}
	return file;
}

bool stay_write_clock_readings(const struct clock_reading *readings, size_t num)
{
	FILE *file = num ? open_session_file("netsync-clocks", "ae") : NULL;

	if (file && !ftell(file))
		fputs(CLOCK_READINGS_HEAD, file);
	for (size_t i = 0; i < num && file; i++)
		clock_reading_write(file, CLOCK_READINGS_HOST, &readings[i]);
	return !file || !fclose(file);
}

static bool write_namespace_names(void)
{
	struct json_object *list = namespaces_make_list();
	const size_t num = value_get_length(list);
	FILE *file = num ? open_session_file("netsync-namespaces", "we") : NULL;

	for (size_t i = 0; i < num && file; i++)
		fprintf(file, "%lld %s\n",
			(long long)member_get_int(value_get_element(list, i), "inode"),
			member_get_text(value_get_element(list, i), "name"));
	json_object_put(list);
	return !num || (file && !fclose(file));
}

struct json_object *agent_keep(struct json_object *request)
{
	struct json_object *answer;

	(void)request;
	if (!session_is_staying())
		return agent_make_error("no recording was left here.");
	if (!write_namespace_names())
		agent_send_warning("cannot write the names of network namespaces to %s: %s.",
				   session_get_folder(), strerror(errno));
	undo_drop_action(UNDO_FOLDER, session_get_folder());
	answer = json_object_new_object();
	json_object_object_add(answer, "folder", json_object_new_string(session_get_folder()));
	return answer;
}
