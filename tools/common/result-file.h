/* SPDX-License-Identifier: GPL-2.0-only */
/* Read a result file, which contains hosts and the corrections of their clocks. */
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
	int64_t epoch_ns; /* time at which the clock shows zero, ns since 1970 */
};

/* Spans on a host's clock, ns. */
struct host_span {
	int64_t first_ns, last_ns; /* span of the data from which the result was computed */
	int64_t from_ns, to_ns;	   /* span that the result covers, which is a little longer */
};

struct model_host {
	const char *name;
	bool has_traces; /* the clock is known; otherwise, only text input has the host */
	struct model_clock clock;
	struct host_span span;
	struct json_object *json;
};

struct model {
	char *path;
	char *error; /* the sentence that model_error() returns */
	struct json_object *root;
	const char *reference;
	struct model_host *hosts;
	size_t num_hosts;
};

/*
 * Open a result file. Close the model even on failure. All functions below that return int return 0
 * or a negative errno value. model_error() then returns a sentence with the reason.
 */
int model_open(struct model *model, const char *path);
/* Like model_open(), for a JSON tree, which the model then owns. Messages refer to it by @path. */
int model_set_root(struct model *model, struct json_object *root, const char *path);
void model_close(struct model *model);
const char *model_error(const struct model *model);

/*
 * Find the UUID that distinguishes a host's machine from the model's other machines in copies of
 * its traces. Normally, this is the UUID of the host's clock. If the clock has none, or if another
 * machine has the same UUID (for example, a copy of a virtual machine), the UUID is derived from
 * the host's name.
 */
void model_make_machine_uuid(const struct model *model, const struct model_host *host,
			     uint8_t uuid[MODEL_UUID_SIZE]);

/* Return whether two clocks have the same name, or both have no name. */
bool model_is_same_kind(const struct model_clock *a, const struct model_clock *b);

/* Find the host with this name. Return -ENOENT if there is none. */
int model_find_name(struct model *model, const char *name, const struct model_host **host);
/*
 * Find the host that has a trace's clock. Several hosts have one clock if they are network
 * namespaces of one machine. In this case, use the host with the smallest bound. Return -ENOENT if
 * no host has the clock.
 */
int model_find_clock(struct model *model, const struct model_clock *clock,
		     const struct model_host **host);
/*
 * Check whether a trace that was given for @host belongs to this host. If not, set @host to the
 * host that has its clock. Return -EINVAL if that host has another name, which means that names
 * were swapped. Return -ENOENT if there is no such host.
 */
int model_check_clock(struct model *model, const struct model_clock *clock,
		      const struct model_host **host);
/*
 * Find the host to which this file belonged in the result. If several files together determined the
 * hosts' names, only this function can identify a clock without a uuid. If the file belonged
 * to several hosts, use the one with the clock's host name. Return false if there is no such host.
 */
bool model_find_file(const struct model *model, const struct model_clock *clock, const char *path,
		     const struct model_host **host);
/*
 * Fail if this file belonged to another host in the result. This check is needed for clocks without
 * a UUID.
 */
int model_check_file(struct model *model, const struct model_host *host, const char *path);
/*
 * Get the correction of a host's clock. The caller releases it with netsync_clock_free(). Return
 * -ENODATA if the correction could not be estimated, and -EINVAL if it is damaged.
 */
int model_read_clock(struct model *model, const struct model_host *host,
		     struct netsync_clock **clock);
/*
 * Set the error bounds of a host's correction over the span of its traces. A bound may be
 * NETSYNC_UNKNOWN.
 */
void model_get_bounds(const struct model_host *host, int64_t *median_ns, int64_t *most_ns);
/*
 * Return the median standard deviation of a host's correction over the span of its traces, or
 * NETSYNC_UNKNOWN.
 */
int64_t model_get_deviation(const struct model_host *host);
/* Return whether the result covers these times on a host's clock. */
bool model_contains_span(const struct model *model, const struct model_host *host, int64_t first_ns,
			 int64_t last_ns);
/*
 * Check that the result covers these times on a host's clock. Return 0 or -ERANGE. model_error()
 * then says how far outside the times are.
 */
int model_check_span(struct model *model, const struct model_host *host,
		     const struct netsync_clock *clock, int64_t first_ns, int64_t last_ns);
/* Set the sentence of model_error(). Return @err. */
int model_fail(struct model *model, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Get the difference between the host's clock and a trace with this clock, which must be added to
 * times of the trace. Return -ERANGE if the difference does not fit into 64 bits.
 */
int model_find_shift(struct model *model, const struct model_host *host,
		     const struct model_clock *clock, int64_t *shift_ns);

/*
 * Find the model's host that corresponds to a host of @ns, which @io has read. The corresponding
 * host is the one with the same name, unless that host has another clock (of another boot). In that
 * case, it is the host with the clock of the traces. Set *@shift_ns to the difference to add to
 * times of the host. Errors are those of model_find_clock().
 */
int model_match(struct model *model, const struct netsync *ns, const struct netsync_io *io,
		uint32_t host, const struct model_host **found, int64_t *shift_ns);

#endif
