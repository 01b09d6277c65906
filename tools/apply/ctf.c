// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copy CTF traces: source.ctf.fs reads, filter.netsync.correct corrects,
 * filter.utils.trimmer selects a window of time, and sink.ctf.fs writes. All run in a
 * child process, because libbabeltrace2 2.0 calls abort() for damaged streams, and
 * corrupts its memory on a full disk.
 */
#include <babeltrace2/babeltrace.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apply.h"
#include "babeltrace/correct.h"
#include "babeltrace/merge.h"
#include "babeltrace/mip.h"
#include "common/complain.h"
#include "common/ctf-source.h"
#include "common/folders.h"
#include "common/output.h"
#include "common/signal.h"
#include "common/value.h"

/* Interval at which the child's progress is read, ms. The progress line is drawn as often. */
#define LOOK_MS 100

/* The result that the child sends to its parent. */
struct answer {
	bool ok;
	struct correct_part part;
	char reason[1024];
};

struct bt_copy_graph {
	const struct apply_trace *trace;
	const char *to;
	const bt_plugin *plugin; /* the plug-in "ctf" */
	bool is_ctf_2;
	bt_graph *graph;
	struct answer answer;
};

/* ---- errors ------------------------------------------------------------- */

/*
 * Check whether the disk lacks space for a block, which sink.ctf.fs allocates as a whole. If so,
 * set @reason.
 */
static bool is_disk_full(const char *folder, char *reason, size_t size)
{
	char *path;
	int fd, ret;

	if (asprintf(&path, "%s/room", folder) < 0)
		return false;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ret = fd < 0 ? errno : posix_fallocate(fd, 0, 1 << 20);
	if (fd >= 0)
		close(fd);
	unlink(path);
	free(path);
	if (ret != ENOSPC && ret != EDQUOT && ret != EFBIG)
		return false;
	snprintf(reason, size, "%s.", strerror(ret));
	return true;
}

/* Return the length of a message without a trailing list ": name=value, ...". */
static size_t measure_sentence(const char *message)
{
	const char *end = strchr(message, '=');

	while (end && end > message && *end != ':')
		end--;
	return end && end > message ? (size_t)(end - message) : strlen(message);
}

/* Set the reason to the first cause of the error. */
static void set_failure_reason(struct bt_copy_graph *graph)
{
	const bt_error *error = bt_current_thread_take_error();
	char *reason = graph->answer.reason;
	const size_t size = sizeof(graph->answer.reason);
	const bt_error_cause *cause;
	const char *message;

	if (is_disk_full(graph->to, reason, size))
		return;
	if (!error || !bt_error_get_cause_count(error)) {
		snprintf(reason, size, "There is not enough memory.");
		return;
	}
	cause = bt_error_borrow_cause_by_index(error, 0);
	message = bt_error_cause_get_message(cause);
	/* The filter's messages are complete sentences. */
	if (bt_error_cause_get_actor_type(cause) == BT_ERROR_CAUSE_ACTOR_TYPE_MESSAGE_ITERATOR &&
	    !strcmp(bt_error_cause_message_iterator_actor_get_component_name(cause), "correct"))
		snprintf(reason, size, "%s", message);
	else
		snprintf(reason, size, "Babeltrace 2 reports \"%.*s\".",
			 (int)measure_sentence(message), message);
}

/* ---- components --------------------------------------------------------- */

static bt_value *make_text_map(const char *key, const char *text)
{
	bt_value *map = bt_value_map_create();

	if (map && !bt_value_map_insert_string_entry(map, key, text))
		return map;
	bt_value_put_ref(map);
	return NULL;
}

/* Corrected time up to which the child has copied, in shared memory. */
static int64_t *reached_ns;

/* Record the time of an event. The streams of a trace are merged in order of time. */
static void note_event_time(const bt_message *message)
{
	const bt_stream *stream;
	int64_t t;

	if (bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT)
		return;
	stream = bt_event_borrow_stream_const(bt_message_event_borrow_event_const(message));
	if (!bt_stream_class_borrow_default_clock_class_const(bt_stream_borrow_class_const(stream)))
		return;
	if (bt_clock_snapshot_get_ns_from_origin(
		    bt_message_event_borrow_default_clock_snapshot_const(message), &t))
		bt_current_thread_clear_error();
	else
		*reached_ns = t;
}

static bt_message_iterator_class_next_method_status
correct_next_messages(bt_self_message_iterator *self, bt_message_array_const messages,
		      uint64_t capacity, uint64_t *count)
{
	bt_message_iterator_class_next_method_status status = merge_next(self, messages, capacity,
									 count);

	if (status == BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK && *count)
		note_event_time(messages[*count - 1]);
	return status;
}

static bt_component_class_filter *make_filter_class(void)
{
	bt_message_iterator_class *iterator = bt_message_iterator_class_create(
		correct_next_messages);
	bt_component_class_filter *class = NULL;

	if (iterator &&
	    !bt_message_iterator_class_set_initialize_method(iterator, merge_initialize) &&
	    !bt_message_iterator_class_set_seek_beginning_methods(iterator, merge_seek_beginning,
								  NULL) &&
	    !bt_message_iterator_class_set_finalize_method(iterator, merge_finalize))
		class = bt_component_class_filter_create("correct", iterator);
	bt_message_iterator_class_put_ref(iterator);
	if (!class)
		return NULL;
	if (!bt_component_class_filter_set_initialize_method(class, correct_initialize) &&
	    !bt_component_class_filter_set_finalize_method(class, correct_finalize) &&
	    !bt_component_class_filter_set_get_supported_mip_versions_method(
		    class, correct_get_mip_versions) &&
	    !bt_component_class_filter_set_input_port_connected_method(class,
								       correct_input_connected))
		return class;
	bt_component_class_filter_put_ref(class);
	return NULL;
}

static const bt_component_filter *add_copy_filter(struct bt_copy_graph *graph)
{
	bt_component_class_filter *class = make_filter_class();
	bt_value *params = make_text_map("result", graph->trace->result);
	const bt_component_filter *filter = NULL;

	if (class && params &&
	    !bt_value_map_insert_string_entry(params, "host", graph->trace->host) &&
	    !bt_value_map_insert_bool_entry(params, "extrapolate", graph->trace->extrapolate) &&
	    bt_graph_add_filter_component_with_initialize_method_data(
		    graph->graph, class, "correct", params, &graph->answer.part,
		    BT_LOGGING_LEVEL_NONE, &filter))
		filter = NULL;
	bt_value_put_ref(params);
	bt_component_class_filter_put_ref(class);
	return filter;
}

/* Create the parameters of the trimmer, whose times are in seconds. */
static bt_value *make_trimmer_params(const struct correct_part *part)
{
	bt_value *params = bt_value_map_create();
	char begin[VALUE_SIZE], end[VALUE_SIZE];

	if (params &&
	    (part->begin_ns == INT64_MIN ||
	     !bt_value_map_insert_string_entry(params, "begin",
					       format_time(begin, part->begin_ns, true))) &&
	    (part->end_ns == INT64_MAX ||
	     !bt_value_map_insert_string_entry(params, "end",
					       format_time(end, part->end_ns, true))))
		return params;
	bt_value_put_ref(params);
	return NULL;
}

static const bt_component_filter *add_copy_trimmer(struct bt_copy_graph *graph)
{
	bt_value *params = make_trimmer_params(&graph->answer.part);
	const bt_component_filter *trimmer = NULL;
	const bt_plugin *utils = NULL;

	if (params &&
	    !bt_plugin_find("utils", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &utils) &&
	    bt_graph_add_filter_component(
		    graph->graph,
		    bt_plugin_borrow_filter_component_class_by_name_const(utils, "trimmer"),
		    "trimmer", params, BT_LOGGING_LEVEL_NONE, &trimmer))
		trimmer = NULL;
	bt_plugin_put_ref(utils);
	bt_value_put_ref(params);
	return trimmer;
}

static bt_value *make_sink_params(const struct bt_copy_graph *graph)
{
	const char *version = graph->is_ctf_2 ? "2" : "1.8";
	bt_value *params = make_text_map("path", graph->to);

	/* Babeltrace 2.0 writes only one version of CTF, and has no such parameter. */
	if (params &&
	    (!bt_version_get_minor() ||
	     !bt_value_map_insert_string_entry(params, "ctf-version", version)) &&
	    !bt_value_map_insert_bool_entry(params, "assume-single-trace", BT_TRUE) &&
	    !bt_value_map_insert_bool_entry(params, "quiet", BT_TRUE))
		return params;
	bt_value_put_ref(params);
	return NULL;
}

static const bt_component_class_sink *make_sink_class(const struct bt_copy_graph *graph)
{
	return bt_plugin_borrow_sink_component_class_by_name_const(graph->plugin, "fs");
}

static const bt_component_sink *add_copy_sink(struct bt_copy_graph *graph)
{
	bt_value *params = make_sink_params(graph);
	const bt_component_sink *sink = NULL;

	if (params && bt_graph_add_sink_component(graph->graph, make_sink_class(graph), "copy",
						  params, BT_LOGGING_LEVEL_NONE, &sink))
		sink = NULL;
	bt_value_put_ref(params);
	return sink;
}

/* ---- the graph ---------------------------------------------------------- */

static const bt_port_output *get_output_port(const bt_component_filter *filter)
{
	return bt_component_filter_borrow_output_port_by_index_const(filter, 0);
}

/* Connect the components. @trimmer may be NULL. */
static bool connect_copy_graph(struct bt_copy_graph *graph, const bt_component_source *source,
			       const bt_component_filter *filter,
			       const bt_component_filter *trimmer, const bt_component_sink *sink)
{
	const uint64_t num = bt_component_source_get_output_port_count(source);

	/* The filter always has a free port. */
	for (uint64_t i = 0; i < num; i++)
		if (bt_graph_connect_ports(
			    graph->graph,
			    bt_component_source_borrow_output_port_by_index_const(source, i),
			    bt_component_filter_borrow_input_port_by_index_const(filter, i), NULL))
			return false;
	if (trimmer &&
	    bt_graph_connect_ports(graph->graph, get_output_port(filter),
				   bt_component_filter_borrow_input_port_by_index_const(trimmer, 0),
				   NULL))
		return false;
	return !bt_graph_connect_ports(graph->graph, get_output_port(trimmer ? trimmer : filter),
				       bt_component_sink_borrow_input_port_by_index_const(sink, 0),
				       NULL);
}

static bool add_descriptors(bt_component_descriptor_set *set, const struct bt_copy_graph *graph,
			    const bt_value *from, const bt_value *to)
{
	return set && from && to &&
	       !bt_component_descriptor_set_add_descriptor(
		       set,
		       bt_component_class_source_as_component_class_const(
			       ctf_source_get_class(graph->plugin)),
		       from) &&
	       !bt_component_descriptor_set_add_descriptor(
		       set,
		       bt_component_class_sink_as_component_class_const(make_sink_class(graph)),
		       to);
}

/*
 * Choose the CTF version of the original. The version is 2 if the source cannot send messages in
 * the form that a sink for CTF 1.8 accepts.
 */
static bool choose_ctf_version(struct bt_copy_graph *graph)
{
	bt_component_descriptor_set *set = bt_component_descriptor_set_create();
	bt_value *from = ctf_source_make_params(graph->trace->readable);
	bt_value *to = make_sink_params(graph);
	bt_get_greatest_operative_mip_version_status status =
		BT_GET_GREATEST_OPERATIVE_MIP_VERSION_STATUS_MEMORY_ERROR;
	uint64_t mip;

	if (add_descriptors(set, graph, from, to))
		status = bt_get_greatest_operative_mip_version(set, BT_LOGGING_LEVEL_NONE, &mip);
	graph->is_ctf_2 = status == BT_GET_GREATEST_OPERATIVE_MIP_VERSION_STATUS_NO_MATCH;
	bt_value_put_ref(to);
	bt_value_put_ref(from);
	bt_component_descriptor_set_put_ref(set);
	return !status || graph->is_ctf_2;
}

static bool make_copy_graph(struct bt_copy_graph *graph)
{
	const struct correct_part *part = &graph->answer.part;
	const bool cuts = part->begin_ns != INT64_MIN || part->end_ns != INT64_MAX;
	const bt_component_filter *filter, *trimmer = NULL;
	const bt_component_source *source;
	const bt_component_sink *sink;

	graph->plugin = find_ctf_plugin();
	if (!graph->plugin || (MAX_MIP && !choose_ctf_version(graph)))
		return false;
	/*
	 * The sink writes CTF 1.8 with version 0 of the Message Interchange Protocol, and CTF 2
	 * with version 1.
	 */
	graph->graph = bt_graph_create(graph->is_ctf_2 ? 1 : 0);
	if (!graph->graph)
		return false;
	source = add_ctf_source(graph->graph, graph->plugin, graph->trace->readable);
	filter = source ? add_copy_filter(graph) : NULL;
	if (filter && cuts)
		trimmer = add_copy_trimmer(graph);
	sink = filter && (trimmer || !cuts) ? add_copy_sink(graph) : NULL;
	return sink && connect_copy_graph(graph, source, filter, trimmer, sink);
}

static bool run_copy_graph(struct bt_copy_graph *graph)
{
	bt_graph_run_once_status status;

	do {
		if (interrupted)
			return false;
		status = bt_graph_run_once(graph->graph);
	} while (status == BT_GRAPH_RUN_ONCE_STATUS_OK);
	return status == BT_GRAPH_RUN_ONCE_STATUS_END;
}

/* ---- processes ---------------------------------------------------------- */

static void run_copy_child(struct bt_copy_graph *graph, int out)
{
	prepare_ctf_child();
	graph->answer.ok = make_copy_graph(graph) && run_copy_graph(graph);
	/* The sink writes its last data when it is destroyed. */
	if (graph->answer.ok)
		bt_graph_put_ref(graph->graph);
	else
		set_failure_reason(graph);
	_exit(write(out, &graph->answer, sizeof(graph->answer)) != sizeof(graph->answer));
}

/* If the span of the trace is known, show progress as a fraction of the span. */
static void show_copy_progress(const struct apply_trace *trace)
{
	int64_t first, last, reached = *reached_ns;

	if (trace->last_ns > trace->first_ns &&
	    apply_correct_time(trace, trace->first_ns, &first) &&
	    apply_correct_time(trace, trace->last_ns, &last) && reached > first && last > first)
		apply_show_progress(trace, reached - first, last - first);
	else
		apply_show_progress(trace, 0, 1);
}

/* Wait for the child. Forward a signal that only this process has received. */
static void wait_for_copy(struct bt_copy_graph *graph, pid_t child, int in)
{
	struct answer *answer = &graph->answer;
	struct pollfd fd = { .fd = in, .events = POLLIN };
	ssize_t size;
	int ready;

	while ((ready = poll(&fd, 1, LOOK_MS)) <= 0)
		if (!ready)
			show_copy_progress(graph->trace);
		else
			kill(child, SIGTERM);
	while ((size = read(in, answer, sizeof(*answer))) < 0 && errno == EINTR)
		kill(child, SIGTERM);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		kill(child, SIGTERM);
	if (size == sizeof(*answer))
		return;
	answer->ok = false;
	if (!is_disk_full(graph->to, answer->reason, sizeof(answer->reason)))
		strcpy(answer->reason, "Babeltrace 2 failed.");
}

static bool copy_in_child(struct bt_copy_graph *graph)
{
	int ends[2];
	pid_t child;

	if (!reached_ns)
		reached_ns = mmap(NULL, sizeof(*reached_ns), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (reached_ns == MAP_FAILED) {
		reached_ns = NULL;
		return false;
	}
	*reached_ns = INT64_MIN;
	if (pipe2(ends, O_CLOEXEC))
		return false;
	fflush(NULL);
	child = fork();
	if (!child)
		run_copy_child(graph, ends[1]);
	close(ends[1]);
	if (child > 0) {
		output_folder_is_written_by(child);
		wait_for_copy(graph, child, ends[0]);
		output_folder_is_written_by(0);
	}
	close(ends[0]);
	return child > 0;
}

bool apply_ctf(const struct apply_trace *trace, const char *to)
{
	struct bt_copy_graph graph = { .trace = trace,
				       .to = to,
				       .answer.part = { .begin_ns = trace->part.begin_ns,
							.end_ns = trace->part.end_ns } };
	const struct answer *answer = &graph.answer;
	char most[VALUE_SIZE];
	struct folder_tree original;

	if (!copy_in_child(&graph))
		return complain_about_path(trace->path);
	if (interrupted)
		return false;
	if (!answer->ok)
		complain("%s: cannot copy this trace. %s", trace->path, answer->reason);
	else if (answer->part.num_moved)
		complain(
			"warning: %s: to keep the order, %llu timestamps differ from the corrected times, by up to %s.",
			trace->path, (unsigned long long)answer->part.num_moved,
			format_duration(most, answer->part.most_ns));
	/* The sink does not preserve the original's permissions. */
	return answer->ok && measure_tree(trace->path, &original) &&
	       restrict_tree_permissions(to, &original);
}
