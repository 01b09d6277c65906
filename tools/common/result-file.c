// SPDX-License-Identifier: GPL-2.0-only
/* Read a result file (JSON, netsync-sync.json(5)) into struct model: the hosts and their clocks. */
#include <errno.h>
#include <fcntl.h>
#include <json.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uuid.h>

#include "json-value.h"
#include "result-file.h"

int model_fail(struct model *model, int err, const char *format, ...)
{
	va_list args;

	free(model->error);
	va_start(args, format);
	if (vasprintf(&model->error, format, args) < 0)
		model->error = NULL;
	va_end(args);
	return err;
}

static int fail_without_memory(struct model *model)
{
	return model_fail(model, -ENOMEM, "There is not enough memory.");
}

const char *model_error(const struct model *model)
{
	return model->error ? model->error : "There is not enough memory.";
}

/* ---- values ------------------------------------------------------------ */

static bool get_member_int(json_object *object, const char *key, int64_t *value)
{
	return value_get_int(value_get_member(object, key), INT64_MIN, INT64_MAX, value);
}

/* Set @value to a bound. null becomes NETSYNC_UNKNOWN. Return false if the bound is invalid. */
static bool read_bound_value(json_object *json, int64_t *value)
{
	*value = NETSYNC_UNKNOWN;
	return !json || value_get_int(json, INT64_MIN, INT64_MAX, value);
}

static bool read_model_segment(json_object *object, struct netsync_segment *segment)
{
	return get_member_int(object, "from_ns", &segment->from_ns) &&
	       get_member_int(object, "to_ns", &segment->to_ns) &&
	       get_member_int(object, "offset_ns", &segment->offset_ns) &&
	       value_get_double(value_get_member(object, "rate"), &segment->rate) &&
	       read_bound_value(value_get_member(object, "bound_ns"), &segment->bound_ns);
}

static bool read_model_knot(json_object *array, struct netsync_knot *knot)
{
	return value_get_length(array) == 3 &&
	       value_get_int(value_get_element(array, 0), INT64_MIN, INT64_MAX, &knot->time_ns) &&
	       read_bound_value(value_get_element(array, 1), &knot->below_ns) &&
	       read_bound_value(value_get_element(array, 2), &knot->above_ns);
}

static bool read_model_knots(json_object *array, struct netsync_knot *knots)
{
	for (size_t i = 0; i < value_get_length(array); i++)
		if (!read_model_knot(value_get_element(array, i), &knots[i]))
			return false;
	return true;
}

static bool read_model_deviations(json_object *array, struct netsync_deviation_knot *deviations)
{
	for (size_t i = 0; i < value_get_length(array); i++) {
		json_object *knot = value_get_element(array, i);

		if (value_get_length(knot) != 2 ||
		    !value_get_int(value_get_element(knot, 0), INT64_MIN, INT64_MAX,
				   &deviations[i].time_ns) ||
		    !read_bound_value(value_get_element(knot, 1), &deviations[i].deviation_ns))
			return false;
	}
	return true;
}

static bool read_model_growth(json_object *array, double growth_ppm[2])
{
	return value_get_length(array) == 2 &&
	       value_get_double(value_get_element(array, 0), &growth_ppm[0]) &&
	       value_get_double(value_get_element(array, 1), &growth_ppm[1]);
}

/* Arrays of a model, which are read from JSON. */
struct model_arrays {
	struct netsync_segment *segments;
	struct netsync_knot *knots;
	struct netsync_deviation_knot *deviations;
};

/* Read the numbers of a clock. Return false if some are missing or not numbers. */
static bool read_model_numbers(json_object *host, struct netsync_model *model,
			       struct model_arrays *arrays)
{
	json_object *segments = value_get_member(host, "segments");
	json_object *bound = value_get_member(host, "bound_ns");
	json_object *knots = value_get_member(bound, "knots");
	json_object *deviations = value_get_member(value_get_member(host, "deviation_ns"), "knots");

	model->num_segments = value_get_length(segments);
	model->num_knots = value_get_length(knots);
	model->num_deviations = value_get_length(deviations);
	model->segments = arrays->segments = calloc(model->num_segments + 1,
						    sizeof(*arrays->segments));
	model->knots = arrays->knots = calloc(model->num_knots + 1, sizeof(*arrays->knots));
	model->deviations = arrays->deviations = calloc(model->num_deviations + 1,
							sizeof(*arrays->deviations));
	if (!arrays->segments || !arrays->knots || !arrays->deviations)
		return false;
	for (uint32_t i = 0; i < model->num_segments; i++)
		if (!read_model_segment(value_get_element(segments, i), &arrays->segments[i]))
			return false;
	return read_model_knots(knots, arrays->knots) &&
	       read_model_deviations(deviations, arrays->deviations) &&
	       (!model->num_knots ||
		read_model_growth(value_get_member(bound, "growth_ppm"), model->growth_ppm));
}

/*
 * Create the clock of a host. Return false if the numbers do not describe a clock or if out of
 * memory.
 */
static bool read_model_clock(json_object *host, struct netsync_clock **clock)
{
	struct netsync_model model = {
		.size = sizeof(model),
		.segment_size = sizeof(struct netsync_segment),
		.knot_size = sizeof(struct netsync_knot),
		.deviation_size = sizeof(struct netsync_deviation_knot),
	};
	struct model_arrays arrays = { 0 };
	const bool ok = read_model_numbers(host, &model, &arrays) &&
			!netsync_clock_new(&model, clock);

	free(arrays.segments);
	free(arrays.knots);
	free(arrays.deviations);
	return ok;
}

/* ---- hosts ------------------------------------------------------------- */

/*
 * A clock continues to behave as observed for about as long as it was observed. A result therefore
 * covers this length of time before and after its data. This slack is at least MIN_SLACK, because
 * traces do not begin and end at the same time, and at most MAX_SLACK, because the frequency of
 * every clock changes. Outside of the data, the bound grows by growth_ppm, which covers the worst
 * case.
 */
#define MIN_SLACK INT64_C(60000000000)	 /* 1 min in ns; chosen */
#define MAX_SLACK INT64_C(3600000000000) /* 1 h in ns; chosen */

/*
 * Read the span of a host, and add the slack. If first_ns and last_ns are missing, use the span of
 * the segments.
 */
static void read_host_span(struct host_span *span, json_object *json)
{
	json_object *segments = value_get_member(json, "segments");
	const size_t num = value_get_length(segments);
	int64_t slack;

	span->from_ns = INT64_MIN;
	span->to_ns = INT64_MAX;
	if (!get_member_int(json, "first_ns", &span->first_ns) ||
	    !get_member_int(json, "last_ns", &span->last_ns)) {
		span->first_ns = INT64_MIN;
		span->last_ns = INT64_MAX;
		if (!num ||
		    !get_member_int(value_get_element(segments, 0), "from_ns", &span->first_ns) ||
		    !get_member_int(value_get_element(segments, num - 1), "to_ns", &span->last_ns))
			return;
	}
	if (__builtin_sub_overflow(span->last_ns, span->first_ns, &slack) || slack > MAX_SLACK)
		slack = MAX_SLACK;
	if (slack < MIN_SLACK)
		slack = MIN_SLACK;
	if (__builtin_sub_overflow(span->first_ns, slack, &span->from_ns))
		span->from_ns = INT64_MIN;
	if (__builtin_add_overflow(span->last_ns, slack, &span->to_ns))
		span->to_ns = INT64_MAX;
}

bool model_contains_span(const struct model *model, const struct model_host *host, int64_t first_ns,
			 int64_t last_ns)
{
	/* The reference is never corrected, so every result covers it. */
	return !strcmp(host->name, model->reference) ||
	       (first_ns >= host->span.from_ns && last_ns <= host->span.to_ns);
}

static void read_model_host(struct model_host *host, json_object *json)
{
	json_object *clock = value_get_member(json, "clock");

	host->json = json;
	read_host_span(&host->span, json);
	host->name = member_get_text(json, "name");
	if (!json_object_is_type(clock, json_type_object))
		return;
	host->clock.host_name = member_get_text(clock, "host_name");
	host->clock.name = value_get_text(value_get_member(clock, "name"), SIZE_MAX);
	host->clock.has_uuid = !uuid_parse(member_get_text(clock, "uuid"), host->clock.uuid);
	host->has_traces = get_member_int(clock, "epoch_ns", &host->clock.epoch_ns);
}

static bool has_result_format(json_object *root)
{
	return json_object_is_type(root, json_type_object) &&
	       !strcmp(member_get_text(root, "format"), MODEL_FORMAT);
}

int model_set_root(struct model *model, json_object *root, const char *path)
{
	json_object *hosts;

	memset(model, 0, sizeof(*model));
	model->root = root;
	model->path = strdup(path);
	if (!model->path)
		return fail_without_memory(model);
	if (!has_result_format(model->root))
		return model_fail(model, -EINVAL, "%s: not a result of netsync (format %s).", path,
				  MODEL_FORMAT);
	model->reference = member_get_text(model->root, "reference");
	hosts = value_get_member(model->root, "hosts");
	model->hosts = calloc(value_get_length(hosts) + 1, sizeof(*model->hosts));
	if (!model->hosts)
		return fail_without_memory(model);
	for (; model->num_hosts < value_get_length(hosts); model->num_hosts++)
		read_model_host(&model->hosts[model->num_hosts],
				value_get_element(hosts, model->num_hosts));
	return 0;
}

/*
 * Report an error of json-c. json-c's messages begin with names of functions and end with a
 * newline.
 */
static int explain_json(struct model *model, const char *path)
{
	const char *why = json_util_get_last_err(), *last;

	if (!why)
		return model_fail(model, -EINVAL, "%s: the file is empty.", path);
	while ((last = strstr(why, ": ")))
		why = last + 2;
	/* json-c reports "continue" if it expects more input. */
	if (!strncmp(why, "continue", 8) || !strncmp(why, "unexpected end", 14))
		return model_fail(model, -EINVAL, "%s: not JSON, or truncated.", path);
	return model_fail(model, -EINVAL, "%s: invalid JSON: %.*s.", path, (int)strcspn(why, "\n"),
			  why);
}

int model_open(struct model *model, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	json_object *root;

	memset(model, 0, sizeof(*model));
	if (fd < 0) {
		const int err = errno;

		return model_fail(model, -err, "%s: %s.", path, strerror(err));
	}
	root = json_object_from_fd(fd);
	close(fd);
	return root ? model_set_root(model, root, path) : explain_json(model, path);
}

void model_close(struct model *model)
{
	free(model->hosts);
	free(model->path);
	free(model->error);
	json_object_put(model->root);
}

/* ---- finding ----------------------------------------------------------- */

/* Return a list of the hosts' names in the form " a, b". The caller frees it. */
static char *list_host_names(const struct model *model)
{
	char *names = NULL;
	size_t size;
	FILE *list = open_memstream(&names, &size);

	for (size_t i = 0; i < model->num_hosts && list; i++)
		fprintf(list, "%s %s", i ? "," : "", model->hosts[i].name);
	if (list)
		fclose(list);
	return names;
}

int model_find_name(struct model *model, const char *name, const struct model_host **host)
{
	char *names;

	for (size_t i = 0; i < model->num_hosts; i++) {
		*host = &model->hosts[i];
		if (!strcmp((*host)->name, name))
			return 0;
	}
	names = list_host_names(model);
	model_fail(model, -ENOENT, "%s: no host \"%s\" in this result; the hosts are:%s.",
		   model->path, name, names ? names : "");
	free(names);
	return -ENOENT;
}

bool model_is_same_kind(const struct model_clock *a, const struct model_clock *b)
{
	return a->name && b->name ? !strcmp(a->name, b->name) : a->name == b->name;
}

static bool has_same_uuid(const struct model_host *host, const struct model_clock *clock)
{
	return host->has_traces && model_is_same_kind(clock, &host->clock) &&
	       clock->has_uuid == host->clock.has_uuid &&
	       !memcmp(clock->uuid, host->clock.uuid, MODEL_UUID_SIZE);
}

static bool is_same_clock(const struct model_host *host, const struct model_clock *clock)
{
	return has_same_uuid(host, clock) && !strcmp(clock->host_name, host->clock.host_name);
}

void model_get_bounds(const struct model_host *host, int64_t *median_ns, int64_t *most_ns)
{
	json_object *bound = value_get_member(host->json, "bound_ns");

	if (!read_bound_value(value_get_member(bound, "median"), median_ns))
		*median_ns = NETSYNC_UNKNOWN;
	if (!read_bound_value(value_get_member(bound, "max"), most_ns))
		*most_ns = NETSYNC_UNKNOWN;
}

int64_t model_get_deviation(const struct model_host *host)
{
	json_object *deviation = value_get_member(host->json, "deviation_ns");
	int64_t median;

	return read_bound_value(value_get_member(deviation, "median"), &median) && median >= 0 ?
		       median :
		       NETSYNC_UNKNOWN;
}

/*
 * Return the largest error bound of a host's correction, for comparisons. An unknown bound counts
 * as larger than all known ones.
 */
static int64_t compute_bound_rank(const struct model_host *host)
{
	int64_t median, most;

	if (!value_get_length(value_get_member(host->json, "segments")))
		return INT64_MAX;
	model_get_bounds(host, &median, &most);
	return most != NETSYNC_UNKNOWN ? most : INT64_MAX - 1;
}

static const struct model_host *find_best_host(const struct model *model,
					       bool (*is_in)(const struct model_host *host,
							     const struct model_clock *clock),
					       const struct model_clock *clock)
{
	const struct model_host *best = NULL;

	for (size_t i = 0; i < model->num_hosts; i++) {
		const struct model_host *host = &model->hosts[i];

		if (is_in(host, clock) &&
		    (!best || compute_bound_rank(host) < compute_bound_rank(best)))
			best = host;
	}
	return best;
}

/*
 * Return whether both clocks have UUIDs and these differ. A clock's UUID identifies the boot of its
 * machine.
 */
static bool is_other_clock(const struct model_host *host, const struct model_clock *clock)
{
	return host->has_traces && host->clock.has_uuid && clock->has_uuid &&
	       memcmp(host->clock.uuid, clock->uuid, sizeof(clock->uuid));
}

static bool is_other_boot(const struct model_host *host, const struct model_clock *clock)
{
	return is_other_clock(host, clock) && model_is_same_kind(&host->clock, clock) &&
	       !strcmp(host->clock.host_name, clock->host_name);
}

static int fail_as_swapped(struct model *model, const struct model_host *named,
			   const struct model_host *found)
{
	return model_fail(
		model, -EINVAL,
		"%s: the result lists this trace as one of \"%s\", not of \"%s\"; check whether the names are swapped.",
		model->path, found->name, named->name);
}

int model_check_clock(struct model *model, const struct model_clock *clock,
		      const struct model_host **host)
{
	const struct model_host *named = *host;
	int ret;

	if (!is_other_clock(named, clock))
		return 0;
	ret = model_find_clock(model, clock, host);
	if (ret || !strcmp((*host)->clock.host_name, clock->host_name))
		return ret;
	return fail_as_swapped(model, named, *host);
}

static bool has_trace_file(const struct model_host *host, const struct stat *file)
{
	json_object *traces = value_get_member(host->json, "traces");
	struct stat other;

	for (size_t i = 0; i < value_get_length(traces); i++) {
		const char *path = member_get_text(value_get_element(traces, i), "path");

		if (!stat(path, &other) && other.st_ino == file->st_ino &&
		    other.st_dev == file->st_dev)
			return true;
	}
	return false;
}

bool model_find_file(const struct model *model, const struct model_clock *clock, const char *path,
		     const struct model_host **host)
{
	struct stat file;
	size_t found = 0;

	if (clock->has_uuid || stat(path, &file))
		return false;
	for (size_t i = 0; i < model->num_hosts; i++) {
		const struct model_host *other = &model->hosts[i];

		if (!model_is_same_kind(&other->clock, clock) || !has_trace_file(other, &file))
			continue;
		*host = other;
		if (!strcmp(other->clock.host_name, clock->host_name))
			return true;
		found++;
	}
	return found == 1;
}

int model_check_file(struct model *model, const struct model_host *host, const char *path)
{
	struct stat file;

	if (stat(path, &file) || has_trace_file(host, &file))
		return 0;
	for (size_t i = 0; i < model->num_hosts; i++)
		if (model_is_same_kind(&model->hosts[i].clock, &host->clock) &&
		    has_trace_file(&model->hosts[i], &file))
			return fail_as_swapped(model, host, &model->hosts[i]);
	return 0;
}

int model_find_clock(struct model *model, const struct model_clock *clock,
		     const struct model_host **host)
{
	char *names;

	*host = find_best_host(model, is_same_clock, clock);
	/* If a clock has a UUID, the UUID also identifies it if its host has another name. */
	if (!*host && clock->has_uuid)
		*host = find_best_host(model, has_same_uuid, clock);
	if (*host)
		return 0;
	if (clock->name && !strcmp(clock->name, NETSYNC_IO_CORRECTED_CLOCK))
		return model_fail(model, -ENOENT,
				  "%s: the timestamps of host \"%s\" are already corrected.",
				  model->path, clock->host_name);
	for (size_t i = 0; i < model->num_hosts; i++)
		if (is_other_boot(&model->hosts[i], clock))
			return model_fail(
				model, -ENOENT,
				"%s: this trace was recorded with another clock: %s was rebooted, another machine has the same name, or (with trace-cmd) this is another recording. Use the result of this recording.",
				model->path, clock->host_name);
	names = list_host_names(model);
	model_fail(model, -ENOENT,
		   "%s: no host \"%s\" with this clock in this result; the hosts are:%s.",
		   model->path, clock->host_name, names ? names : "");
	free(names);
	return -ENOENT;
}

int model_read_clock(struct model *model, const struct model_host *host,
		     struct netsync_clock **clock)
{
	*clock = NULL;
	if (!value_get_length(value_get_member(host->json, "segments")))
		return model_fail(model, -ENODATA, "%s: the clock of %s could not be corrected.",
				  model->path, host->name);
	if (!read_model_clock(host->json, clock))
		return model_fail(model, -EINVAL, "%s: the clock of %s is damaged.", model->path,
				  host->name);
	return 0;
}

int model_find_shift(struct model *model, const struct model_host *host,
		     const struct model_clock *clock, int64_t *shift_ns)
{
	if (!__builtin_sub_overflow(host->clock.epoch_ns, clock->epoch_ns, shift_ns))
		return 0;
	return model_fail(
		model, -ERANGE,
		"%s: the offsets of the clock of %s from the epoch differ by more than 292 years.",
		model->path, host->name);
}
