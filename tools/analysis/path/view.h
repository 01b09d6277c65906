/* SPDX-License-Identifier: GPL-2.0-only */
/* What netsync path writes of a path. */
#ifndef NETSYNC_PATH_VIEW_H
#define NETSYNC_PATH_VIEW_H

#include "path/path.h"
#include "timeline/timeline.h"

struct path_view {
	const struct critical_path *path;
	const struct timeline_format *timeline; /* what viewers read */
	unsigned int limit; /* of rows of each table; 0: all */
	bool account; /* show who is charged for what */
};

/* False: not all was written; errno says why, 0: there is not enough memory. */
bool path_table(FILE *out, const struct path_view *view);
bool path_json(FILE *out, const struct critical_path *path);
bool path_perfetto(FILE *out, const struct path_view *view);

#endif
