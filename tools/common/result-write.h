/* SPDX-License-Identifier: GPL-2.0-only */
/* Write results as JSON. */
#ifndef NETSYNC_RESULT_WRITE_H
#define NETSYNC_RESULT_WRITE_H

#include <stdbool.h>
#include <stdio.h>
#include <json.h>

#include <netsync-io.h>
#include <netsync.h>

struct live_state;
struct outcome;

/* Return a result in the format of the result file, or NULL if out of memory. */
json_object *make_result_object(const struct netsync *ns, const struct netsync_io *io,
				const char *method);

/* Write a result file. Return false if out of memory, or if writing to @out failed. */
bool write_result_json(FILE *out, const struct netsync *ns, const struct netsync_io *io,
		       const struct outcome *outcome);
/* Write a line of netsync live. Return values are those of write_result_json(). */
bool write_live_json(FILE *out, const struct live_state *state);

#endif
