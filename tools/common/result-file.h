/* SPDX-License-Identifier: GPL-2.0-only */
/* Read a result file: the hosts, and the corrections of their clocks. */
#ifndef NETSYNC_RESULT_FILE_H
#define NETSYNC_RESULT_FILE_H

#include <netsync-io.h>
#include <netsync.h>
#include <stdbool.h>
#include <stdint.h>

#define MODEL_FORMAT "netsync-1" /* value of "format" in a result file */
#define MODEL_UUID_SIZE 16	 /* size of a UUID in bytes */

struct json_object;

/* A clock, as described by the metadata of a trace. */
struct model_clock {
	const char *host_name;
	const char *name; /* NULL if the clock has no name */
	bool has_uuid;
	uint8_t uuid[MODEL_UUID_SIZE];
	int64_t epoch_ns; /* time at which the clock reads zero, ns since 1970 */
};

/* Spans on a host's clock, ns. */
struct host_span {
	int64_t first_ns, last_ns; /* span of the data from which the result was computed */
	int64_t from_ns, to_ns;	   /* span that the result covers, which is somewhat longer */
};

struct model_host {
	const char *name;
	bool has_traces; /* clock is known; otherwise, the host occurs only in text input */
	struct model_clock clock;
	struct host_span span;
	struct json_object *json;
};

struct model {
	char *path;
	char *error; /* sentence returned by model_error() */
	struct json_object *root;
	const char *reference;
	struct model_host *hosts;
	size_t num_hosts;
};

/*
 * Open a result file. Close the model in either case. All functions below that return int
 * return 0 or a negative errno value; model_error() then returns a sentence with the
 * reason.
 */
int model_open(struct model *model, const char *path);
/* Like model_open(), for a JSON tree, which the model then owns. @path is used in messages. */
int model_set_root(struct model *model, struct json_object *root, const char *path);
void model_close(struct model *model);
const char *model_error(const struct model *model);

/*
 * Find the UUID that distinguishes a host's machine from all other machines of the model,
 * in copies of its traces. It is the UUID of the host's clock. If there is none, or
 * another machine has the same one (as copies of a virtual machine do), it is derived
 * from the host's name.
 */
void model_make_machine_uuid(const struct model *model, const struct model_host *host,
			     uint8_t uuid[MODEL_UUID_SIZE]);

/* Do two clocks have the same name, or do both have none? */
bool model_is_same_kind(const struct model_clock *a, const struct model_clock *b);

/* Find the host with this name. Return -ENOENT if there is none. */
int model_find_name(struct model *model, const char *name, const struct model_host **host);
/*
 * Find the host that has a trace's clock. If several hosts have the clock, because they are
 * network namespaces of one machine, use the host with the smallest bound. Return -ENOENT if
 * there is none.
 */
int model_find_clock(struct model *model, const struct model_clock *clock,
		     const struct model_host **host);
/*
 * Does a trace that was given for @host actually belong to that host? If not, set @host to the
 * host that has its clock. Return -EINVAL if that host has another name, so that names were
 * swapped, and -ENOENT if there is no such host.
 */
int model_check_clock(struct model *model, const struct model_clock *clock,
		      const struct model_host **host);
/*
 * Find the host that this file belonged to in the result. If names were derived from several
 * files together, a clock without a uuid can be identified only in this way. Return false if
 * the file belonged to no host.
 */
bool model_find_file(const struct model *model, const struct model_clock *clock, const char *path,
		     const struct model_host **host);
/*
 * Fail if this file belonged to another host in the result. This check is for clocks
 * without a UUID.
 */
int model_check_file(struct model *model, const struct model_host *host, const char *path);
/*
 * Get the correction of a host's clock, to be released with netsync_clock_free(). Return
 * -ENODATA if it could not be estimated, and -EINVAL if it is damaged.
 */
int model_read_clock(struct model *model, const struct model_host *host,
		     struct netsync_clock **clock);
/* Set the error bounds of a host's correction over the span of its traces, or NETSYNC_UNKNOWN. */
void model_get_bounds(const struct model_host *host, int64_t *median_ns, int64_t *most_ns);
/* Does the result cover these times on a host's clock? */
bool model_contains_span(const struct model *model, const struct model_host *host, int64_t first_ns,
			 int64_t last_ns);
/*
 * Check that the result covers these times on a host's clock. Return 0, or -ERANGE;
 * model_error() then reports how far outside the times are.
 */
int model_check_span(struct model *model, const struct model_host *host,
		     const struct netsync_clock *clock, int64_t first_ns, int64_t last_ns);
/* Set the sentence of model_error(). Return @err. */
int model_fail(struct model *model, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Get the difference to add to times of a trace with this clock to get times of the host's
 * clock. Return -ERANGE if the difference does not fit into 64 bits.
 */
int model_find_shift(struct model *model, const struct model_host *host,
		     const struct model_clock *clock, int64_t *shift_ns);

/*
 * Find the host of the model that corresponds to a host of @ns that @io has read. It is the host
 * with the same name, unless that host has another clock (of another boot); otherwise, it is the
 * host with the clock of the traces. Set *@shift_ns to the difference to add to times of the
 * host. Errors are those of model_find_clock().
 */
int model_match(struct model *model, const struct netsync *ns, const struct netsync_io *io,
		uint32_t host, const struct model_host **found, int64_t *shift_ns);

#endif
