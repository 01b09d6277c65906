/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Follow the clock of one host through all its messages. */
#ifndef NETSYNC_TRACK_H
#define NETSYNC_TRACK_H

#include <stdbool.h>

#include "curve/correction.h"
#include "curve/observations.h"

/*
 * Find the curve of a host whose straight course is set already. Where the
 * messages do not suffice for more, it stays straight. 0 or -ENOMEM.
 */
int track(struct course *c, const struct link *links, size_t num_links);

/* Has a pair messages enough, in both directions, to say how long they take? */
bool track_useful(const struct pair *p);

#endif
