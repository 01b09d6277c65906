/* SPDX-License-Identifier: GPL-2.0-only */
/* Write the outputs of netsync path. */
#ifndef NETSYNC_PATH_VIEW_H
#define NETSYNC_PATH_VIEW_H

#include "path/path.h"
#include "timeline/timeline.h"

struct path_view {
	const struct critical_path *path;
	const struct timeline_format *timeline; /* format of a file for viewers */
	/* Maximum number of rows of each table; 0 if unlimited. */
	unsigned int limit;
	bool account; /* print which thread is charged */
};

/* Return false if not everything was written. errno is the reason, or 0 if out of memory. */
bool path_print_table(FILE *out, const struct path_view *view);
bool path_write_json(FILE *out, const struct critical_path *path);
bool path_write_perfetto(FILE *out, const struct path_view *view);

#endif
