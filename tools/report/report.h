/* SPDX-License-Identifier: GPL-2.0-only */
/* Interfaces between the files of netsync report. */
#ifndef NETSYNC_REPORT_H
#define NETSYNC_REPORT_H

#include "common/json-writer.h"
#include "details.h"
#include "path/path.h"

struct input;

/* The content of the page, except the path. */
struct report_content {
	json_object *result;	       /* owned by the caller */
	const struct traffic *traffic; /* NULL if messages were not read */
	const struct details *details; /* details of the messages */
	const uint32_t *hosts;	       /* the number in the result for each host in messages */
	const struct netsync_io *io;   /* the reader, after it has read the input */
	const struct input *input;     /* the input that was read */
};

/*
 * Return the content of the page as JSON text for JavaScript. The caller frees it. Return NULL if
 * out of memory. A number in JavaScript is a double, so integers that do not fit into a double are
 * written as strings. The result is modified for this purpose. If bounds change very often, some
 * are omitted.
 */
char *report_make_data(const struct report_content *content);

/* Add the late messages and flows of a direction. */
void put_details(struct json_writer *w, json_object *object, const struct way_details *details);
/* Return the list of files to which the numbers in struct trace_place refer. */
json_object *make_place_files_array(struct json_writer *w, const struct report_content *content);

/* Write the path of a thread for the page. Return false on failure. */
bool report_write_path(FILE *out, const struct critical_path *path);

/* Write the page. @path may be NULL. Return false if writing failed. */
bool write_report_page(FILE *out, const char *data, const struct critical_path *path);

#endif
