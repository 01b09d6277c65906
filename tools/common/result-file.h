/* SPDX-License-Identifier: GPL-2.0-only */
/* A result file, read: the hosts, and how their clocks are corrected. */
#ifndef NETSYNC_RESULT_FILE_H
#define NETSYNC_RESULT_FILE_H

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

/* Times on a host's clock, ns. */
struct host_span {
	int64_t first_ns, last_ns;	/* that the result was made of, */
	int64_t from_ns, to_ns;		/* and that it holds for, being more */
};

struct model_host {
	const char *name;
	bool has_traces;	/* clock is known; else it is in texts only */
	struct model_clock clock;
	struct host_span span;
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

/*
 * What tells the machine of a host from all others of the model, in copies of its
 * traces: the uuid of its clock; where it has none, or another machine has the same
 * one, as copies of a virtual machine do, one that is derived from its name.
 */
void model_machine_uuid(const struct model *model, const struct model_host *host,
			uint8_t uuid[MODEL_UUID_SIZE]);

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
 * Is a trace, which was said to be of @host, that host's? Else another one is put
 * there that has its clock. -EINVAL: that is of another name, so that names were
 * swapped; -ENOENT: there is none.
 */
int model_check_clock(struct model *model, const struct model_clock *clock,
		      const struct model_host **host);
/* Was this file another host's, and not this one's? The same for what has no uuid. */
int model_check_file(struct model *model, const struct model_host *host,
		     const char *path);
/*
 * How a host's clock is corrected: to be given back with netsync_clock_free().
 * -ENODATA: it could not be; -EINVAL: it is damaged.
 */
int model_read_clock(struct model *model, const struct model_host *host,
		     struct netsync_clock **clock);
/* Does the result hold for these times on a host's clock? */
bool model_holds(const struct model *model, const struct model_host *host,
		 int64_t first_ns, int64_t last_ns);
/* The same: 0; or -ERANGE, and model_error() says how far outside they are. */
int model_check_span(struct model *model, const struct model_host *host,
		     const struct netsync_clock *clock, int64_t first_ns,
		     int64_t last_ns);
/* A sentence for model_error(). Return: @err. */
int model_fail(struct model *model, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
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
