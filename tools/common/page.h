/* SPDX-License-Identifier: GPL-2.0-only */
/* Web pages that are one file, with data in them. */
#ifndef NETSYNC_PAGE_H
#define NETSYNC_PAGE_H

#include <stdio.h>

/* Write a page up to where the data go. Return: what is behind these. */
const char *page_begin(FILE *out, const char *page);
/* JSON, as it can stand in a page. */
void page_put(FILE *out, const char *json);

#endif
