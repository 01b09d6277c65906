/* SPDX-License-Identifier: GPL-2.0-only */
/* What the quality of a correction means. */
#ifndef NETSYNC_QUALITY_H
#define NETSYNC_QUALITY_H

#include <netsync.h>

/* A clause that says what a quality means, for people. */
const char *quality_meaning(enum netsync_quality quality);

#endif
