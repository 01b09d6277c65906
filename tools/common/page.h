/* SPDX-License-Identifier: GPL-2.0-only */
/* Write web pages that are a single file, including their data. */
#ifndef NETSYNC_PAGE_H
#define NETSYNC_PAGE_H

#include <stdio.h>

/* Write a page up to the place of its data. Return the rest of the page. */
const char *page_write_begin(FILE *out, const char *page);
/* Write JSON in a form that a page can contain. */
void page_put_json(FILE *out, const char *json);

#endif
