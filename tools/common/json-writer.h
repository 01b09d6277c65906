/* SPDX-License-Identifier: GPL-2.0-only */
/* Making JSON of results, with json-c. */
#ifndef NETSYNC_JSON_WRITER_H
#define NETSYNC_JSON_WRITER_H

#include <json.h>

#include "tool.h"

/*
 * json-c gives NULL where there is no memory, and that is also its null. It is
 * told apart by looking at this in the end.
 */
struct writer {
	const struct netsync *ns;
	const struct netsync_io *io;
	bool failed;
};

/* Values given to these belong to the object or array from then on. */
void put(struct writer *w, json_object *object, const char *key,
	 json_object *value);
void put_null(struct writer *w, json_object *object, const char *key);
/* Null for NETSYNC_UNKNOWN. */
void put_time(struct writer *w, json_object *object, const char *key,
	      int64_t ns);
/* An array of two. */
void put_pair(struct writer *w, json_object *object, const char *key,
	      json_object *a, json_object *b);
void append(struct writer *w, json_object *array, json_object *value);
void append_time(struct writer *w, json_object *array, int64_t ns);
/* Null for what is not finite. */
void append_double(struct writer *w, json_object *array, double value);

/* With as many digits as give the same double back. */
json_object *new_double(double value);
/*
 * JSON is UTF-8, paths and names are bytes: those that are none become "\xff", and
 * control characters are escaped where it is printed.
 */
json_object *new_string(const char *text);

/* A result in the format of the result file; NULL: there is no memory. */
json_object *result_object(const struct netsync *ns,
			   const struct netsync_io *io, const char *method);

#endif
