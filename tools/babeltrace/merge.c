// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copy the messages of several inputs in order of corrected times. The messages of an input are in
 * order of uncorrected times. If a muxer precedes the filter, an input has messages of several
 * hosts.
 *
 * A message is deferred until no message with an earlier corrected time can follow. The horizon of
 * an input limits the times of its later messages: its last uncorrected time, corrected by the
 * clock of each of its hosts, of which the earliest is used.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../libnetsync/util/array.h"
#include "common/ctf-source.h"
#include "merge.h"
#include "messages.h"
#include "mip.h"

#define OK BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK
#define AGAIN BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN
#define END BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END
#define FAILED BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR
#define NO_MEMORY BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR

/*
 * A warning is printed, once, if this number of messages is deferred. Chosen: a message and its
 * event take half a KiB or more. If each source is connected directly to the filter, only a few
 * hundred messages are deferred.
 */
#define MANY_WAITING 250000

/* The correction of one of the hosts whose streams are in an input. */
struct horizon {
	struct stream_correction correction;
	struct horizon *next;
};

struct merge_input {
	struct merge *merge;
	/* Host of all streams of the input, or NULL to find the host of each stream. */
	const char *host;
	/* Messages of the connected component, or NULL if the input has its own graph. */
	bt_message_iterator *messages;
	/* The graph whose last component is this input, or NULL if a component is connected. */
	bt_graph *graph;
	bool ended;
	struct horizon *clocks; /* corrections of the streams that have been seen so far */
	bool has_time;
	int64_t raw_ns;	    /* last uncorrected time */
	int64_t horizon_ns; /* earliest corrected time that a later message can have */
};

struct waiting {
	int64_t time_ns; /* corrected time */
	uint64_t number; /* position in the order of arrival */
	const bt_message *message;
};

struct merge {
	struct copier copier;
	struct merge_input *inputs;
	uint64_t num_inputs;
	struct waiting *heap; /* binary heap, whose first message is the earliest one */
	size_t num_waiting;
	size_t room;
	uint64_t num_taken;
	int64_t last_ns; /* corrected time of the last message returned */
	bool has_warned;
};

/* ---- waiting messages --------------------------------------------------- */

static bool is_waiting_before(const struct waiting *a, const struct waiting *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->number < b->number;
}

static void swap_waiting(struct waiting *a, struct waiting *b)
{
	const struct waiting c = *a;

	*a = *b;
	*b = c;
}

static void warn_of_many_waiting(struct merge *merge)
{
	bt_self_component *component = merge->copier.streams.component;

	if (merge->has_warned || bt_component_get_logging_level(bt_self_component_as_component(
					 component)) > BT_LOGGING_LEVEL_WARNING)
		return;
	merge->has_warned = true;
	fputs("netsync: warning: memory holds more than 250000 messages, because hosts with different clocks share a port; read with source.netsync.fs, or connect each source to this filter directly, without a muxer.\n",
	      stderr);
}

static bool push_waiting(struct merge *merge, int64_t time_ns, const bt_message *message)
{
	size_t at = merge->num_waiting;
	struct waiting *heap;

	if (array_grow(&merge->heap, &merge->room, at, sizeof(*heap)))
		return false;
	heap = merge->heap;
	heap[at] = (struct waiting){ time_ns, merge->num_taken++, message };
	if (++merge->num_waiting == MANY_WAITING)
		warn_of_many_waiting(merge);
	for (; at && is_waiting_before(&heap[at], &heap[(at - 1) / 2]); at = (at - 1) / 2)
		swap_waiting(&heap[at], &heap[(at - 1) / 2]);
	return true;
}

static struct waiting pop_waiting(struct merge *merge)
{
	struct waiting *heap = merge->heap;
	const struct waiting first = heap[0];
	const size_t num = --merge->num_waiting;
	size_t at = 0;

	heap[0] = heap[num];
	for (;;) {
		size_t child = at * 2 + 1;

		if (child + 1 < num && is_waiting_before(&heap[child + 1], &heap[child]))
			child++;
		if (child >= num || !is_waiting_before(&heap[child], &heap[at]))
			return first;
		swap_waiting(&heap[child], &heap[at]);
		at = child;
	}
}

/* ---- inputs ------------------------------------------------------------ */

static bool add_horizon_clock(struct merge_input *input, const struct stream_correction *correction)
{
	struct horizon *clock;

	for (clock = input->clocks; clock; clock = clock->next)
		if (clock->correction.clock == correction->clock &&
		    clock->correction.shift_ns == correction->shift_ns)
			return true;
	clock = malloc(sizeof(*clock));
	if (!clock)
		return false;
	*clock = (struct horizon){ *correction, input->clocks };
	input->clocks = clock;
	return true;
}

static void set_input_horizon(struct merge_input *input)
{
	int64_t earliest = INT64_MAX, time, moved;

	if (!input->has_time || !input->clocks)
		return;
	for (struct horizon *clock = input->clocks; clock; clock = clock->next) {
		if (correction_apply(&clock->correction, input->raw_ns, &time, &moved))
			time = 0;
		if (time < earliest)
			earliest = time;
	}
	input->horizon_ns = earliest;
}

/*
 * Put the copy of a message into the heap. Fail if a stream begins before messages that were
 * already returned, in order of corrected times.
 */
static merge_status push_copy(struct merge *merge, struct merge_input *input,
			      const struct timed *copy)
{
	if (copy->is_new && copy->stream->has_clock &&
	    !add_horizon_clock(input, &copy->stream->correction))
		return NO_MEMORY;
	if (!copy->message)
		return OK;
	if (copy->has_time && copy->time_ns < merge->last_ns) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(
			merge->copier.iterator,
			"Stream %s begins before times that are already corrected; connect each source to this filter directly, without a muxer.",
			bt_stream_get_name(copy->stream->from));
		return FAILED;
	}
	return push_waiting(merge,
			    copy->has_time || copy->time_ns > merge->last_ns ? copy->time_ns :
									       merge->last_ns,
			    copy->message) ?
		       OK :
		       NO_MEMORY;
}

static merge_status add_input_message(struct merge *merge, struct merge_input *input,
				      const bt_message *message)
{
	struct timed copy;
	merge_status status;

	merge->copier.host = input->host;
	status = message_copy(&merge->copier, message, &copy);

	if (!status)
		status = push_copy(merge, input, &copy);
	if (status) {
		bt_message_put_ref(copy.message);
		return status;
	}
	if (copy.has_time && (!input->has_time || copy.raw_ns > input->raw_ns)) {
		input->has_time = true;
		input->raw_ns = copy.raw_ns;
	}
	return status;
}

/* Read the next messages of an input. Return END at the end of the input. */
static merge_status read_input_messages(struct merge_input *input, bt_message_iterator *iterator)
{
	merge_status status;
	bt_message_array_const messages;
	uint64_t num = 0;

	status = (int)bt_message_iterator_next(iterator, &messages, &num);
	if (status)
		return status;
	for (uint64_t i = 0; i < num; i++) {
		if (!status)
			status = add_input_message(input->merge, input, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	set_input_horizon(input);
	return status;
}

static merge_status read_merge_input(struct merge_input *input)
{
	merge_status status;

	if (input->graph)
		status = (int)bt_graph_run_once(input->graph);
	else
		status = read_input_messages(input, input->messages);
	if (status != END)
		return status;
	input->ended = true;
	return OK;
}

/*
 * Return the input with the earliest horizon, which delays all other inputs. Return NULL if all
 * inputs have ended.
 */
static struct merge_input *find_last_input(struct merge *merge)
{
	struct merge_input *last = NULL;

	for (uint64_t i = 0; i < merge->num_inputs; i++) {
		struct merge_input *input = &merge->inputs[i];

		if (!input->ended && (!last || input->horizon_ns < last->horizon_ns))
			last = input;
	}
	return last;
}

/* Return messages that no later message can precede. Return their number. */
static uint64_t hand_out_messages(struct merge *merge, bt_message_array_const messages,
				  uint64_t capacity)
{
	const struct merge_input *last = find_last_input(merge);
	uint64_t num = 0;

	while (num < capacity && merge->num_waiting &&
	       (!last || merge->heap[0].time_ns <= last->horizon_ns)) {
		const struct waiting first = pop_waiting(merge);

		merge->last_ns = first.time_ns;
		messages[num++] = first.message;
	}
	return num;
}

merge_status merge_next(bt_self_message_iterator *self, bt_message_array_const messages,
			uint64_t capacity, uint64_t *count)
{
	struct merge *merge = bt_self_message_iterator_get_data(self);
	merge_status status;

	while (!(*count = hand_out_messages(merge, messages, capacity))) {
		struct merge_input *input = find_last_input(merge);

		if (!input)
			return END;
		if (bt_self_message_iterator_is_interrupted(merge->copier.iterator))
			return AGAIN;
		status = read_merge_input(input);
		if (status)
			return status;
	}
	return OK;
}

/* ---- graphs of inputs -------------------------------------------------- */

static bt_graph_simple_sink_component_initialize_func_status
begin_merge_input(bt_message_iterator *iterator, void *input)
{
	(void)iterator;
	(void)input;
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

static bt_graph_simple_sink_component_consume_func_status
read_in_graph(bt_message_iterator *iterator, void *input)
{
	return (int)read_input_messages(input, iterator);
}

static const bt_component_filter *add_muxer(bt_graph *graph)
{
	const bt_component_filter *muxer = NULL;
	const bt_plugin *utils;

	if (bt_plugin_find("utils", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &utils))
		return NULL;
	if (bt_graph_add_filter_component(
		    graph, bt_plugin_borrow_filter_component_class_by_name_const(utils, "muxer"),
		    "muxer", NULL, BT_LOGGING_LEVEL_NONE, &muxer))
		muxer = NULL;
	bt_plugin_put_ref(utils);
	return muxer;
}

/*
 * Connect the streams of a trace through a muxer. All streams have one clock, so the order of their
 * uncorrected times is correct.
 */
static bool connect_muxer(bt_graph *graph, const bt_component_source *source,
			  const bt_component_filter *muxer, const bt_component_sink *sink)
{
	const uint64_t num = bt_component_source_get_output_port_count(source);

	for (uint64_t i = 0; i < num; i++)
		if (bt_graph_connect_ports(
			    graph, bt_component_source_borrow_output_port_by_index_const(source, i),
			    bt_component_filter_borrow_input_port_by_index_const(muxer, i), NULL))
			return false;
	return !bt_graph_connect_ports(
		graph, bt_component_filter_borrow_output_port_by_index_const(muxer, 0),
		bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL);
}

static bool build_input_graph(struct merge_input *input, const bt_plugin *ctf, const char *path)
{
	const bt_component_source *source = add_ctf_source(input->graph, ctf, path);
	const bt_component_filter *muxer = source ? add_muxer(input->graph) : NULL;
	const bt_component_sink *sink;

	return muxer &&
	       !bt_graph_add_simple_sink_component(input->graph, "merge", begin_merge_input,
						   read_in_graph, NULL, input, &sink) &&
	       connect_muxer(input->graph, source, muxer, sink);
}

/* ---- adding inputs ------------------------------------------------------ */

static struct merge_input *add_merge_input(struct merge *merge, const char *host)
{
	struct merge_input *input = &merge->inputs[merge->num_inputs++];

	input->merge = merge;
	input->host = host;
	return input;
}

bool merge_add_port(struct merge *merge, bt_self_component_port_input *port, const char *host)
{
	return !bt_message_iterator_create_from_message_iterator(
		merge->copier.iterator, port, &add_merge_input(merge, host)->messages);
}

bool merge_add_trace(struct merge *merge, const char *path, const char *host)
{
	struct merge_input *input = add_merge_input(merge, host);
	const bt_plugin *ctf = find_ctf_plugin();
	bool ok;

	input->graph = bt_graph_create(mip_get_version(merge->copier.streams.component));
	ok = ctf && input->graph && build_input_graph(input, ctf, path);
	bt_plugin_put_ref(ctf);
	if (!ok)
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(
			merge->copier.iterator, "%s: cannot read this CTF trace.", path);
	return ok;
}

static struct merge *merge_new(bt_self_message_iterator *iterator)
{
	bt_self_component *component = bt_self_message_iterator_borrow_component(iterator);
	struct merged *merged = bt_self_component_get_data(component);
	struct merge *merge = calloc(1, sizeof(*merge));

	if (!merge)
		return NULL;
	merge->copier = (struct copier){
		.iterator = iterator,
		.corrections = &merged->corrections,
		.streams.component = component,
		.streams.reference = merged->corrections.model.reference,
		.streams.mip = mip_find(component),
		.part = merged->part,
	};
	merge->inputs = calloc((size_t)merged->num_inputs + 1, sizeof(*merge->inputs));
	if (merge->inputs)
		return merge;
	free(merge);
	return NULL;
}

static void free_merge_input(struct merge_input *input)
{
	bt_message_iterator_put_ref(input->messages);
	bt_graph_put_ref(input->graph);
	while (input->clocks) {
		struct horizon *clock = input->clocks;

		input->clocks = clock->next;
		free(clock);
	}
}

static void merge_free(struct merge *merge)
{
	while (merge->num_waiting)
		bt_message_put_ref(merge->heap[--merge->num_waiting].message);
	free(merge->heap);
	for (uint64_t i = 0; i < merge->num_inputs; i++)
		free_merge_input(&merge->inputs[i]);
	free(merge->inputs);
	streams_release(&merge->copier.streams);
	free(merge);
}

/* Replace the iterator's merge by a new one, which starts at the beginning. */
bt_message_iterator_class_seek_beginning_method_status
merge_seek_beginning(bt_self_message_iterator *self)
{
	const struct merged *merged = bt_self_component_get_data(
		bt_self_message_iterator_borrow_component(self));
	struct merge *merge = merge_new(self);

	if (!merge)
		return BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_MEMORY_ERROR;
	if (!merged->add(merge, merged)) {
		merge_free(merge);
		return BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_ERROR;
	}
	merge_finalize(self);
	bt_self_message_iterator_set_data(self, merge);
	return BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_OK;
}

bt_message_iterator_class_initialize_method_status
merge_initialize(bt_self_message_iterator *self,
		 bt_self_message_iterator_configuration *configuration,
		 bt_self_component_port_output *port)
{
	(void)port;
	/*
	 * For the option --begin, Babeltrace reads from the beginning. Both enums have the same
	 * values.
	 */
	bt_self_message_iterator_configuration_set_can_seek_forward(configuration, BT_TRUE);
	return (int)merge_seek_beginning(self);
}

void merge_finalize(bt_self_message_iterator *self)
{
	struct merge *merge = bt_self_message_iterator_get_data(self);

	if (merge)
		merge_free(merge);
}
