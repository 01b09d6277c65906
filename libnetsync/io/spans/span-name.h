/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of groups and operations, which parts of relations have for messages. */
#ifndef NETSYNC_IO_SPANS_SPAN_NAME_H
#define NETSYNC_IO_SPANS_SPAN_NAME_H

#include "io/names.h"

/* Maximum number of names that are kept. Chosen. */
#define SPAN_MAX_NAMES 10000

/*
 * Find or keep a name, truncated to SPAN_NAME_SIZE, and in printable ASCII because it comes from a
 * file. If there are too many names, all further ones are "others". Return NULL if out of memory.
 */
const struct name *span_name_keep(struct name_table *names, const char *text);

#endif
