// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a result file, which is JSON in the format "netsync-1" (netsync-sync.json(5)), or a line of
 * netsync live. Times are integers, never doubles. Unknown values are null.
 */
#include <math.h>
#include <string.h>
#include <uuid.h>

#include "json-writer.h"
#include "live-state.h"
#include "remote/traces.h"
#include "result-file.h"
#include "result-info.h"
#include "result-output.h"
#include "result-table.h"
#include "result-write.h"
#include "utc.h"

/* ---- writing ----------------------------------------------------------- */

static void put_host_traces(struct json_writer *w, json_object *object, uint32_t host)
{
	json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < netsync_io_num_traces(w->io); i++) {
		const struct netsync_io_trace info = get_io_trace_info(w->io, i);
		json_object *trace;

		if (info.host != host)
			continue;
		trace = json_object_new_object();
		json_put(w, trace, "path", new_json_string(info.path));
		json_put(w, trace, "shift_ns", json_object_new_int64(info.shift_ns));
		if (info.netns)
			json_put(w, trace, "netns", json_object_new_int64(info.netns));
		json_put(w, trace, "damaged", json_object_new_int64(info.damaged));
		json_put(w, trace, "killed", json_object_new_int64(info.killed));
		json_put(w, trace, "stuck", json_object_new_int64(info.stuck));
		json_append(w, array, trace);
	}
	json_put(w, object, "traces", array);
}

/* Write the clock of the host's first trace, even if the trace has no packets. */
static void put_host_clock(struct json_writer *w, json_object *object, uint32_t host)
{
	for (uint32_t i = 0; i < netsync_io_num_traces(w->io); i++) {
		const struct netsync_io_trace info = get_io_trace_info(w->io, i);
		char uuid[UUID_STR_LEN];
		json_object *clock;

		if (info.host != host)
			continue;
		clock = json_object_new_object();
		json_put(w, clock, "host_name", new_json_string(info.host_name));
		if (info.clock_name)
			json_put(w, clock, "name", new_json_string(info.clock_name));
		else
			json_put_null(w, clock, "name");
		uuid_unparse_lower(info.clock_uuid, uuid);
		if (info.has_clock_uuid)
			json_put(w, clock, "uuid", json_object_new_string(uuid));
		else
			json_put_null(w, clock, "uuid");
		json_put_time(w, clock, "epoch_ns", info.epoch_ns + info.shift_ns);
		json_put(w, object, "clock", clock);
		return;
	}
	json_put_null(w, object, "clock");
}

static void put_clock_segments(struct json_writer *w, json_object *object,
			       const struct netsync_model *model)
{
	json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < model->num_segments; i++) {
		const struct netsync_segment *s = netsync_model_segment(model, i);
		json_object *segment = json_object_new_object();

		json_put(w, segment, "from_ns", json_object_new_int64(s->from_ns));
		json_put(w, segment, "to_ns", json_object_new_int64(s->to_ns));
		json_put(w, segment, "offset_ns", json_object_new_int64(s->offset_ns));
		json_put(w, segment, "rate", new_json_double(s->rate));
		json_put_time(w, segment, "bound_ns", s->bound_ns);
		json_append(w, array, segment);
	}
	json_put(w, object, "segments", array);
}

static void put_clock_bound(struct json_writer *w, json_object *object, int64_t median_ns,
			    int64_t max_ns, const struct netsync_model *model)
{
	json_object *bound = json_object_new_object();
	json_object *knots = json_object_new_array();
	json_object *growth = json_object_new_array();

	json_put_time(w, bound, "median", median_ns);
	json_put_time(w, bound, "max", max_ns);
	for (uint32_t i = 0; i < model->num_knots; i++) {
		const struct netsync_knot *k = netsync_model_knot(model, i);
		json_object *knot = json_object_new_array_ext(3);

		json_append_time(w, knot, k->time_ns);
		json_append_time(w, knot, k->below_ns);
		json_append_time(w, knot, k->above_ns);
		json_append(w, knots, knot);
	}
	for (int i = 0; i < 2 && model->num_knots; i++)
		json_append_double(w, growth, model->growth_ppm[i]);
	json_put(w, bound, "knots", knots);
	json_put(w, bound, "growth_ppm", growth);
	json_put(w, object, "bound_ns", bound);
}

/* Methods that compute no standard deviation have no such member. */
static void put_host_deviation(struct json_writer *w, json_object *object,
			       const struct netsync_host_info *info,
			       const struct netsync_model *model)
{
	json_object *deviation, *knots;

	if (!model->num_deviations)
		return;
	deviation = json_object_new_object();
	knots = json_object_new_array();
	json_put_time(w, deviation, "median", info->deviation_median_ns);
	json_put_time(w, deviation, "max", info->deviation_max_ns);
	for (uint32_t i = 0; i < model->num_deviations; i++) {
		const struct netsync_deviation_knot *k = netsync_model_deviation(model, i);
		json_object *knot = json_object_new_array_ext(2);

		json_append_time(w, knot, k->time_ns);
		json_append_time(w, knot, k->deviation_ns);
		json_append(w, knots, knot);
	}
	json_put(w, deviation, "knots", knots);
	json_put(w, object, "deviation_ns", deviation);
}

static json_object *make_step_object(struct json_writer *w, const struct netsync_step *info)
{
	json_object *step = json_object_new_object();

	json_put_time(w, step, "time_ns", info->time_ns);
	json_put_time(w, step, "within_ns", info->within_ns);
	json_put_time(w, step, "offset_ns", info->offset_ns);
	json_put(w, step, "skew_ppm", new_json_double(info->skew_ppm));
	json_put(w, step, "known", json_object_new_boolean(info->known));
	return step;
}

static void put_host_steps(struct json_writer *w, json_object *object, uint32_t host, uint32_t num)
{
	json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < num; i++) {
		const struct netsync_step info = get_step_info(w->ns, host, i);

		json_append(w, array, make_step_object(w, &info));
	}
	json_put(w, object, "steps", array);
}

static json_object *make_stack_object(struct json_writer *w, uint32_t host, enum netsync_dir dir)
{
	const struct netsync_stack info = get_stack_info(w->ns, host, dir);
	json_object *object = json_object_new_object();

	json_put_number(w, object, "packets", info.packets);
	json_put_time(w, object, "min", info.min_ns);
	json_put_time(w, object, "median", info.median_ns);
	json_put_time(w, object, "p99", info.p99_ns);
	json_put_time(w, object, "max", info.max_ns);
	return object;
}

/* Add a number, or null if it is not finite. */
static void put_json_double(struct json_writer *w, json_object *object, const char *key,
			    double value)
{
	if (isfinite(value))
		json_put(w, object, key, new_json_double(value));
	else
		json_put_null(w, object, key);
}

static json_object *make_steering_object(struct json_writer *w, uint32_t host)
{
	const struct netsync_steering info = get_steering_info(w->ns, host);
	json_object *object = json_object_new_object();

	json_put(w, object, "points", json_object_new_int64(info.points));
	put_json_double(w, object, "min_ppm", info.points ? info.min_ppm : NAN);
	put_json_double(w, object, "max_ppm", info.points ? info.max_ppm : NAN);
	json_put_time(w, object, "unknown_ns", info.points ? info.unknown_ns : NETSYNC_UNKNOWN);
	return object;
}

static json_object *make_host_object(struct json_writer *w, uint32_t host)
{
	const struct netsync_host_info info = get_host_info(w->ns, host);
	const struct netsync_clock *clock = netsync_host_clock(w->ns, host);
	struct netsync_model model = { .size = sizeof(model) };
	json_object *object = json_object_new_object();
	json_object *stack = json_object_new_object();
	bool seen = info.first_ns <= info.last_ns;

	if (clock)
		netsync_clock_model(clock, &model);
	json_put(w, object, "name", new_json_string(info.name));
	put_host_clock(w, object, host);
	put_host_traces(w, object, host);
	json_put_time(w, object, "first_ns", seen ? info.first_ns : NETSYNC_UNKNOWN);
	json_put_time(w, object, "last_ns", seen ? info.last_ns : NETSYNC_UNKNOWN);
	json_put_number(w, object, "packets", info.packets);
	json_put(w, object, "quality", json_object_new_string(netsync_quality_name(info.quality)));
	json_put(w, object, "island", json_object_new_int64(info.island));
	put_json_double(w, object, "skew_within_ppm", compute_skew_bound(w->ns, host));
	put_clock_segments(w, object, &model);
	put_clock_bound(w, object, info.bound_median_ns, info.bound_max_ns, &model);
	put_host_deviation(w, object, &info, &model);
	put_host_steps(w, object, host, info.num_steps);
	json_put(w, object, "steering", make_steering_object(w, host));
	json_put(w, stack, "out", make_stack_object(w, host, NETSYNC_OUT));
	json_put(w, stack, "in", make_stack_object(w, host, NETSYNC_IN));
	json_put(w, object, "stack_ns", stack);
	return object;
}

static void put_pair_ends(struct json_writer *w, json_object *object,
			  const struct netsync_pair_info *info)
{
	json_put_pair(w, object, "hosts", new_json_string(get_host_info(w->ns, info->host[0]).name),
		      new_json_string(get_host_info(w->ns, info->host[1]).name));
	json_put_pair(w, object, "messages", json_object_new_int64(info->messages[0]),
		      json_object_new_int64(info->messages[1]));
}

static json_object *make_pair_object(struct json_writer *w, uint32_t index)
{
	const struct netsync_pair_info info = get_pair_info(w->ns, index);
	json_object *object = json_object_new_object();
	json_object *inversions = json_object_new_object();
	json_object *events = json_object_new_object();
	json_object *rate = json_object_new_array_ext(2);
	json_object *delay = json_object_new_array_ext(2);

	put_pair_ends(w, object, &info);
	json_put_pair(w, object, "hull", json_object_new_int64(info.hull[0]),
		      json_object_new_int64(info.hull[1]));
	json_put(w, object, "quality", json_object_new_string(netsync_quality_name(info.quality)));
	json_append_time(w, delay, info.min_delay_ns[0]);
	json_append_time(w, delay, info.min_delay_ns[1]);
	json_put(w, object, "min_delay_ns", delay);
	json_put(w, inversions, "before", json_object_new_int64(info.inversions_before));
	json_put(w, inversions, "after", json_object_new_int64(info.inversions_after));
	json_put(w, object, "inversions", inversions);
	json_append_double(w, rate, info.rate_min);
	json_append_double(w, rate, info.rate_max);
	json_put(w, object, "rate", rate);
	json_put_number(w, events, "matched", info.matched);
	json_put_number(w, events, "nat", info.nat);
	json_put_number(w, events, "ambiguous", info.ambiguous);
	json_put_number(w, events, "unmatched", info.unmatched);
	json_put(w, object, "events", events);
	return object;
}

static json_object *make_stats_object(struct json_writer *w)
{
	struct netsync_stats stats = { .size = sizeof(stats) };
	json_object *object = json_object_new_object();

	netsync_get_stats(w->ns, &stats);
	json_put_number(w, object, "packets", stats.packets);
	json_put_number(w, object, "matched", stats.matched);
	json_put_number(w, object, "unmatched", stats.unmatched);
	json_put_number(w, object, "ambiguous", stats.ambiguous);
	json_put_number(w, object, "loopback", stats.loopback);
	json_put_number(w, object, "unsupported", stats.unsupported);
	json_put_number(w, object, "nat", stats.nat);
	json_put_number(w, object, "evicted", stats.evicted);
	return object;
}

static json_object *finish_result_object(struct json_writer *w, json_object *root)
{
	if (!w->failed)
		return root;
	json_object_put(root);
	return NULL;
}

static json_object *make_reference_object(const struct netsync *ns)
{
	return new_json_string(get_host_info(ns, netsync_reference(ns)).name);
}

/* Describe a host that was read on another machine. */
static json_object *make_remote_object(struct json_writer *w, uint32_t index)
{
	struct netsync_io_served info = { .size = sizeof(info) };
	json_object *object = json_object_new_object();

	netsync_io_get_served(w->io, index, &info);
	json_put(w, object, "host", new_json_string(info.label));
	json_put_number(w, object, "traces", info.num_traces);
	json_put_number(w, object, "stored_bytes", info.stored_bytes);
	json_put_number(w, object, "received_bytes", info.received_bytes);
	json_put(w, object, "ended", json_object_new_boolean(info.ended));
	json_put_number(w, object, "left_out", info.left_out);
	return object;
}

static json_object *make_skipped_object(struct json_writer *w, const char *what, const char *why)
{
	json_object *object = json_object_new_object();

	json_put(w, object, "what", new_json_string(what));
	json_put(w, object, "why", new_json_string(why));
	return object;
}

/* List inputs and hosts that should have been read but were skipped completely. */
static json_object *make_skipped_array(struct json_writer *w, const struct remote_traces *remote)
{
	json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < netsync_io_num_left_out(w->io); i++) {
		struct netsync_io_left_out info = { .size = sizeof(info) };

		netsync_io_get_left_out(w->io, i, &info);
		json_append(w, array, make_skipped_object(w, info.what, info.why));
	}
	for (unsigned int i = 0; remote && i < remote->num; i++) {
		const char *why, *host = remote_traces_get_lost(remote, i, &why);

		if (host)
			json_append(w, array, make_skipped_object(w, host, why));
	}
	return array;
}

/* Write the clock that converts times of the reference to UTC. */
static json_object *make_utc_object(struct json_writer *w, const struct utc_result *utc)
{
	struct netsync_model model = { .size = sizeof(model) };
	json_object *object = json_object_new_object();
	json_object *hosts = json_object_new_array();

	netsync_clock_model(utc->clock, &model);
	for (size_t i = 0; i < utc->num_hosts; i++)
		json_append(w, hosts, new_json_string(utc->hosts[i]));
	json_put(w, object, "hosts", hosts);
	put_clock_segments(w, object, &model);
	put_clock_bound(w, object, utc->bound_median_ns, utc->bound_max_ns, &model);
	return object;
}

json_object *make_result_object(const struct netsync *ns, const struct netsync_io *io,
				const char *method)
{
	struct json_writer w = { .ns = ns, .io = io };
	json_object *root = json_object_new_object();
	json_object *hosts = json_object_new_array();
	json_object *pairs = json_object_new_array();

	json_put(&w, root, "format", json_object_new_string(MODEL_FORMAT));
	json_put(&w, root, "reference", make_reference_object(ns));
	for (uint32_t i = 0; i < netsync_num_hosts(ns); i++)
		json_append(&w, hosts, make_host_object(&w, i));
	json_put(&w, root, "hosts", hosts);
	for (uint32_t i = 0; i < netsync_num_pairs(ns); i++)
		json_append(&w, pairs, make_pair_object(&w, i));
	json_put(&w, root, "pairs", pairs);
	json_put(&w, root, "method", json_object_new_string(method));
	json_put(&w, root, "stats", make_stats_object(&w));
	return finish_result_object(&w, root);
}

/* Print a JSON tree and release it. The tree may be NULL. */
static bool print_and_release(FILE *out, json_object *root, int flags)
{
	const char *text = root ? json_object_to_json_string_ext(
					  root, flags | JSON_C_TO_STRING_NOSLASHESCAPE) :
				  NULL;
	const bool ok = text && fputs(text, out) >= 0 && fputc('\n', out) >= 0;

	json_object_put(root);
	return ok;
}

/* Print a value with an indentation of @level levels, and release the value. */
static void print_json_value(struct json_writer *w, FILE *out, json_object *value, int level)
{
	const char *text = value ? json_object_to_json_string_ext(
					   value, JSON_C_TO_STRING_PRETTY |
							  JSON_C_TO_STRING_NOSLASHESCAPE) :
				   NULL;

	/*
	 * In this text, newlines occur only between values, because newlines in strings are
	 * escaped.
	 */
	for (const char *end; text && (end = strchr(text, '\n')); text = end + 1) {
		fwrite(text, 1, (size_t)(end - text), out);
		fprintf(out, "\n%*s", 2 * level, "");
	}
	if (!text || fputs(text, out) < 0)
		w->failed = true;
	json_object_put(value);
}

/* Print a member of the root object. Use this function for all members after the first one. */
static void print_json_member(struct json_writer *w, FILE *out, const char *key, json_object *value)
{
	fprintf(out, ",\n  \"%s\":", key);
	print_json_value(w, out, value, 1);
}

/* Print an array. Only one of its elements is in memory at a time. */
static void print_json_array(struct json_writer *w, FILE *out, const char *key,
			     json_object *(*element)(struct json_writer *w, uint32_t i),
			     uint32_t num)
{
	fprintf(out, ",\n  \"%s\":[", key);
	for (uint32_t i = 0; i < num && !w->failed; i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		print_json_value(w, out, element(w, i), 2);
	}
	fputs(num ? "\n  ]" : "]", out);
}

bool write_result_json(FILE *out, const struct netsync *ns, const struct netsync_io *io,
		       const struct outcome *outcome)
{
	struct json_writer w = { .ns = ns, .io = io };

	fputs("{\n  \"format\":\"" MODEL_FORMAT "\"", out);
	print_json_member(&w, out, "reference", make_reference_object(ns));
	print_json_array(&w, out, "hosts", make_host_object, netsync_num_hosts(ns));
	print_json_array(&w, out, "pairs", make_pair_object, netsync_num_pairs(ns));
	print_json_member(&w, out, "method", json_object_new_string(outcome->method));
	print_json_member(&w, out, "stats", make_stats_object(&w));
	print_json_member(&w, out, "skipped", make_skipped_array(&w, outcome->remote));
	if (netsync_io_num_served(io) && !outcome->is_shared)
		print_json_array(&w, out, "remote", make_remote_object, netsync_io_num_served(io));
	if (outcome->utc && outcome->utc->clock)
		print_json_member(&w, out, "utc", make_utc_object(&w, outcome->utc));
	fputs("\n}\n", out);
	return !w.failed && !ferror(out);
}

/* ---- a line of netsync live --------------------------------------------- */

static json_object *make_live_host_object(struct json_writer *w, uint32_t index,
					  const struct live_host *host)
{
	const struct netsync_host_info info = get_host_info(w->ns, index);
	json_object *object = json_object_new_object();

	json_put(w, object, "name", new_json_string(info.name));
	json_put(w, object, "running", json_object_new_boolean(host->running));
	json_put(w, object, "late", json_object_new_boolean(host->late));
	json_put_time(w, object, "since_ns", host->since_ns);
	json_put_time(w, object, "at_ns", host->at_ns);
	if (host->known) {
		json_put_time(w, object, "offset_ns", host->offset_ns);
		json_put(w, object, "skew_ppm", new_json_double(host->skew_ppm));
		put_json_double(w, object, "skew_within_ppm", host->skew_within_ppm);
	} else {
		json_put_null(w, object, "offset_ns");
		json_put_null(w, object, "skew_ppm");
		json_put_null(w, object, "skew_within_ppm");
	}
	json_put_time(w, object, "bound_ns", host->bound_ns);
	json_put(w, object, "quality", json_object_new_string(netsync_quality_name(info.quality)));
	json_put_number(w, object, "packets", info.packets);
	json_put(w, object, "packets_per_s", new_json_double(host->packets_per_s));
	json_put(w, object, "steps", json_object_new_int64(info.num_steps));
	return object;
}

static json_object *make_live_pair_object(struct json_writer *w, uint32_t index,
					  const struct live_pair *pair)
{
	const struct netsync_pair_info info = get_pair_info(w->ns, index);
	json_object *object = json_object_new_object();
	json_object *delay = json_object_new_array_ext(2);

	put_pair_ends(w, object, &info);
	json_put_pair(w, object, "messages_per_s", new_json_double(pair->messages_per_s[0]),
		      new_json_double(pair->messages_per_s[1]));
	json_append_time(w, delay, info.min_delay_ns[0]);
	json_append_time(w, delay, info.min_delay_ns[1]);
	json_put(w, object, "min_delay_ns", delay);
	json_put(w, object, "quality", json_object_new_string(netsync_quality_name(info.quality)));
	return object;
}

static json_object *make_live_steps_array(struct json_writer *w)
{
	struct live_step steps[LIVE_STEPS];
	uint32_t num = live_list_last_steps(w->ns, steps);
	json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < num; i++) {
		json_object *step = make_step_object(w, &steps[i].step);

		json_put(w, step, "host",
			 new_json_string(get_host_info(w->ns, steps[i].host).name));
		json_append(w, array, step);
	}
	return array;
}

bool write_live_json(FILE *out, const struct live_state *state)
{
	struct json_writer w = { .ns = state->ns };
	json_object *root = json_object_new_object();
	json_object *hosts = json_object_new_array();
	json_object *pairs = json_object_new_array();

	json_put(&w, root, "time_ns", json_object_new_int64(state->wall_ns));
	json_put(&w, root, "reference", make_reference_object(w.ns));
	for (uint32_t i = 0; i < netsync_num_hosts(w.ns); i++)
		json_append(&w, hosts, make_live_host_object(&w, i, &state->hosts[i]));
	json_put(&w, root, "hosts", hosts);
	for (uint32_t i = 0; i < netsync_num_pairs(w.ns); i++)
		json_append(&w, pairs, make_live_pair_object(&w, i, &state->pairs[i]));
	json_put(&w, root, "pairs", pairs);
	json_put(&w, root, "last_steps", make_live_steps_array(&w));
	return print_and_release(out, finish_result_object(&w, root), JSON_C_TO_STRING_PLAIN);
}
