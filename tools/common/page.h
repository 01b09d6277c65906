/* SPDX-License-Identifier: GPL-2.0-only */
/* Web pages in a single file, with data. */
#ifndef NETSYNC_PAGE_H
#define NETSYNC_PAGE_H

#include <stdio.h>

/* Write a page up to the place of its data. Return the rest of the page. */
const char *page_begin(FILE *out, const char *page);
/* Write JSON so that a page can contain it. */
void page_put(FILE *out, const char *json);

#endif
