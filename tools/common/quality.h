/* SPDX-License-Identifier: GPL-2.0-only */
/* The meaning of a correction's quality. */
#ifndef NETSYNC_QUALITY_H
#define NETSYNC_QUALITY_H

#include <netsync.h>

/* A clause that explains a quality, for people. */
const char *quality_meaning(enum netsync_quality quality);

#endif
