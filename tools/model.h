/* SPDX-License-Identifier: GPL-2.0-only */
/* A result file, read: the hosts, and how their clocks are corrected. */
#ifndef NETSYNC_MODEL_H
#define NETSYNC_MODEL_H

#include <netsync-io.h>
#include <netsync.h>
#include <stdbool.h>
#include <stdint.h>

#define MODEL_FORMAT "netsync-1"
#define MODEL_UUID_SIZE 16

struct json_object;

/* A clock, as a trace tells of it. */
struct model_clock {
	const char *host_name;
	const char *name;	/* NULL: it has none */
	bool has_uuid;
	uint8_t uuid[MODEL_UUID_SIZE];
	int64_t epoch_ns;	/* when it shows zero */
};

struct model_host {
	const char *name;
	bool has_traces;	/* clock is known; else it is in texts only */
	struct model_clock clock;
	struct json_object *json;
};

struct model {
	char *path;
	char *error;		/* see model_error() */
	struct json_object *root;
	const char *reference;
	struct model_host *hosts;
	size_t num_hosts;
};

/*
 * To be closed in every case. Here and below: 0; or a negative errno, and
 * model_error() is a sentence that says why.
 */
int model_open(struct model *model, const char *path);
/* The same of a tree, which is released with the model; @path is for errors. */
int model_take(struct model *model, struct json_object *root, const char *path);
void model_close(struct model *model);
const char *model_error(const struct model *model);

/* False: the text is no uuid. */
bool model_parse_uuid(const char *text, uint8_t uuid[MODEL_UUID_SIZE]);

/* Have two clocks the same name, or none? */
bool model_same_kind(const struct model_clock *a, const struct model_clock *b);

/* The host of this name; -ENOENT: there is none. */
int model_find_name(struct model *model, const char *name,
		    const struct model_host **host);
/*
 * The host that a trace belongs to: the one with its clock. Several are, where
 * the network namespaces of one are hosts: that with the smallest bound.
 * -ENOENT: there is none.
 */
int model_find_clock(struct model *model, const struct model_clock *clock,
		     const struct model_host **host);
/*
 * How a host's clock is corrected: to be given back with netsync_clock_free().
 * -ENODATA: it could not be; -EINVAL: it is damaged.
 */
int model_read_clock(struct model *model, const struct model_host *host,
		     struct netsync_clock **clock);
/*
 * What is to be added to times of a trace with this clock to get the host's.
 * -ERANGE: that does not fit.
 */
int model_shift(struct model *model, const struct model_host *host,
		const struct model_clock *clock, int64_t *shift_ns);

/*
 * The host of the model that one of @ns is, which @io has read: the one of its
 * name, unless that has another clock (is of another boot); else, where traces
 * have come under another name, the one with its clock. @shift_ns: what is to be
 * added to its times. As model_find_clock().
 */
int model_match(struct model *model, const struct netsync *ns,
		const struct netsync_io *io, uint32_t host,
		const struct model_host **found, int64_t *shift_ns);

#endif
