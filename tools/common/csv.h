/* SPDX-License-Identifier: GPL-2.0-only */
/* Write comma-separated values (RFC 4180). */
#ifndef NETSYNC_CSV_H
#define NETSYNC_CSV_H

#include <stdio.h>

/* Write any text as one cell. Quote the text if necessary. */
void csv_put_text(FILE *out, const char *text);

#endif
