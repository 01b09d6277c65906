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

/* A result in the format of the result file; NULL: out of memory. */
json_object *result_object(const struct netsync *ns, const struct netsync_io *io,
			   const char *method);

/* False: out of memory, or writing to @out failed. */
bool write_json(FILE *out, const struct netsync *ns, const struct netsync_io *io,
		const struct outcome *outcome);
/* Write a line for netsync live. False: as for write_json(). */
bool write_live_json(FILE *out, const struct live_state *state);

#endif
