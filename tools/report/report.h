/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of netsync report. */
#ifndef NETSYNC_REPORT_H
#define NETSYNC_REPORT_H

#include "common/traffic.h"
#include "path/path.h"

struct json_object;

/*
 * Everything that the page shows, as JSON text for JavaScript: a number there
 * is a double, so that integers that do not fit into one are strings. @result
 * belongs to the caller; it is changed to be so, and bounds that change very
 * often are thinned. @traffic: NULL where messages were not read; @hosts: for
 * each host that it knows the number of the same host in @result. Return: to be
 * freed; NULL: there is not enough memory.
 */
char *report_data(struct json_object *result, const struct traffic *traffic,
		  const uint32_t *hosts);

/* The path of a thread, for the page. False: that failed. */
bool report_path(FILE *out, const struct path *path);

/* @path: NULL: none is shown. False: it cannot be written. */
bool write_page(FILE *out, const char *data, const struct path *path);

#endif
