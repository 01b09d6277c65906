/* SPDX-License-Identifier: GPL-2.0-only */
/* Results as JSON. */
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
json_object *result_object(const struct netsync *ns, const struct netsync_io *io,
			   const char *method);

/* Return false if out of memory, or if writing to @out failed. */
bool write_json(FILE *out, const struct netsync *ns, const struct netsync_io *io,
		const struct outcome *outcome);
/* Write a line for netsync live. Return false as write_json() does. */
bool write_live_json(FILE *out, const struct live_state *state);

#endif
