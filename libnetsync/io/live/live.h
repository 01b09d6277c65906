/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sessions that are still being recorded, as io.c sees them. */
#ifndef NETSYNC_LIVE_H
#define NETSYNC_LIVE_H

struct live_input;

void live_free(struct live_input *live);

#endif
