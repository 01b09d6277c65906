/* SPDX-License-Identifier: GPL-2.0-only */
/* The meaning of a correction's quality. */
#ifndef NETSYNC_QUALITY_H
#define NETSYNC_QUALITY_H

#include <netsync.h>

/* Return sentences for the user that explain a quality. */
const char *quality_get_meaning(enum netsync_quality quality);

/* Return the shortest explanation of a quality. The explanation is not a complete sentence. */
const char *quality_get_summary(enum netsync_quality quality);

#endif
