// SPDX-License-Identifier: GPL-2.0-only
/* Announces a recording, so that netsync live finds it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "common/complain.h"
#include "record.h"

/* Return the lines by which netsync live follows the recording. The caller frees them. */
static char *make_recording_sources(const struct record_run *rec)
{
	char *lines = NULL;
	size_t size;
	FILE *out = open_memstream(&lines, &size);

	if (!out)
		return NULL;
	if (!rec->via)
		fprintf(out, "net://127.0.0.1:%u\n", rec->relay.ports[RELAY_LIVE]);
	for (unsigned int i = 0; i < rec->all.num && rec->via; i++) {
		const struct remote *remote = rec->hosts[i].remote;
		char *path = rec->hosts[i].recording ? make_capture_path(rec, remote) : NULL;

		if (path)
			fprintf(out, "%s=%s\n", remote->name, path + strlen(rec->dir) + 1);
		free(path);
	}
	return fclose(out) ? NULL : lines;
}

void record_announce(struct record_run *rec)
{
	char *sources = (rec->live || rec->via) && !rec->url ? make_recording_sources(rec) : NULL;

	if (sources)
		rec->announced = recording_announce(rec->dir, sources);
	free(sources);
	if (rec->live && rec->announced >= 0)
		complain("To follow all hosts, run \"netsync live %s\".", rec->dir);
}
