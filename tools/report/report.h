/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of netsync report. */
#ifndef NETSYNC_REPORT_H
#define NETSYNC_REPORT_H

#include "common/json-writer.h"
#include "details.h"
#include "path/path.h"

struct input;

/* What the page shows, but for a path. */
struct report_content {
	json_object *result;	/* the caller's */
	const struct traffic *traffic;	/* NULL: messages were not read */
	const struct details *details;	/* of these */
	const uint32_t *hosts;	/* of each host in messages, its number in the result */
	const struct netsync_io *io;	/* which has read */
	const struct input *input;	/* this */
};

/*
 * Everything that the page shows, as JSON text for JavaScript: a number there is a double, so
 * that integers that do not fit into one are strings. The result is changed to be so, and
 * bounds that change very often are thinned. Return: to be freed; NULL: there is not enough
 * memory.
 */
char *report_data(const struct report_content *content);

/* Put the late messages and flows of a direction. */
void put_details(struct json_writer *w, json_object *object, const struct way_details *details);
/* The files that struct trace_place numbers. */
json_object *place_files(struct json_writer *w, const struct report_content *content);

/* The path of a thread, for the page. False: that failed. */
bool report_path(FILE *out, const struct critical_path *path);

/* @path: NULL: none is shown. False: it cannot be written. */
bool write_page(FILE *out, const char *data, const struct critical_path *path);

#endif
