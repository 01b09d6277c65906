// SPDX-License-Identifier: GPL-2.0-only
/*
 * filter.netsync.correct: its message iterator merges all that comes in, by
 * corrected time.
 *
 * What comes in through one port is in the order of the clocks as they are, and
 * can be of several hosts (after a muxer). Such a message is kept until nothing
 * that is earlier, corrected, can come any more: as far as the port has come,
 * taken as a time of each of its hosts and corrected, the earliest of these
 * (its horizon).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "correct.h"
#include "messages.h"
#include "mip.h"

typedef bt_message_iterator_class_next_method_status next_status;

#define OK BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK
#define END BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END
#define FAILED BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR
#define NO_MEMORY BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR

const char correct_help[] =
	"Corrects the times of all streams by a result of \"netsync sync\".\n\n"
	"Parameters:\n"
	"  result=FILE   what \"netsync sync --format json\" wrote (mandatory)\n"
	"  host=NAME     the host of it that all streams are of; if it is not given,\n"
	"                each stream's is told by the host name and the clock uuid\n"
	"                of its trace\n";

struct component {
	bt_self_component_filter *self;
	struct corrections corrections;
	struct correct_moved *moved;
	struct correct_moved unasked;	/* where nobody wants to know */
	unsigned int num_inputs;
};

/* One host's clock, as it is in the streams of an input. */
struct horizon {
	struct correction correction;
	struct horizon *next;
};

struct input {
	bt_message_iterator *messages;
	bool ended;
	struct horizon *clocks;	/* of its streams so far */
	bool has_time;
	int64_t raw_ns;		/* how far it has come */
	int64_t horizon_ns;
};

struct waiting {
	int64_t time_ns;
	uint64_t number;	/* they came in this order */
	const bt_message *message;
};

struct iterator {
	struct copier copier;
	struct input *inputs;
	uint64_t num_inputs;
	struct waiting *heap;	/* none is earlier than the first */
	size_t num_waiting;
	size_t room;
	uint64_t num_taken;
	int64_t last_ns;	/* of what went out */
};

/* ---- the component ----------------------------------------------------- */

#define COMPONENT_FAIL(self, ...) \
	(BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT( \
		bt_self_component_filter_as_self_component(self), \
		__VA_ARGS__), \
	 BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR)

static bt_value_map_foreach_entry_const_func_status
find_unknown(const char *key, const bt_value *value, void *data)
{
	const char **unknown = data;

	if (!bt_value_is_string(value) ||
	    (strcmp(key, "result") && strcmp(key, "host")))
		*unknown = key;
	return BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_OK;
}

static const char *get_text(const bt_value *params, const char *key)
{
	const bt_value *value =
		bt_value_map_borrow_entry_value_const(params, key);

	return value ? bt_value_string_get(value) : NULL;
}

static bool add_input(bt_self_component_filter *self,
		      struct component *component)
{
	char name[16];

	snprintf(name, sizeof(name), "in%u", component->num_inputs++);
	return !bt_self_component_filter_add_input_port(self, name, NULL, NULL);
}

static bt_component_class_initialize_method_status
initialize(bt_self_component_filter *self, struct component *component,
	   const bt_value *params)
{
	const char *unknown = NULL, *result;

	if (bt_value_map_foreach_entry_const(params, find_unknown, &unknown))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	if (unknown)
		return COMPONENT_FAIL(self,
			"The parameter \"%s\" is neither result nor host, or not a string.",
			unknown);
	result = get_text(params, "result");
	if (!result)
		return COMPONENT_FAIL(self,
			"Say by which result of \"netsync sync\" to correct: -p 'result=\"FILE\"'.");
	if (corrections_open(&component->corrections, result,
			     get_text(params, "host")))
		return COMPONENT_FAIL(self, "%s",
				      corrections_error(&component->corrections));
	if (bt_self_component_filter_add_output_port(self, "out", NULL, NULL) ||
	    !add_input(self, component))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

bt_component_class_get_supported_mip_versions_method_status
correct_get_mip_versions(bt_self_component_class_filter *self,
			 const bt_value *params, void *data,
			 bt_logging_level level,
			 bt_integer_range_set_unsigned *versions)
{
	(void)self;
	(void)params;
	(void)data;
	(void)level;
	return bt_integer_range_set_unsigned_add_range(versions, 0, MAX_MIP) ?
	       BT_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD_STATUS_MEMORY_ERROR :
	       BT_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD_STATUS_OK;
}

static void free_component(struct component *component)
{
	corrections_release(&component->corrections);
	free(component);
}

bt_component_class_initialize_method_status
correct_initialize(bt_self_component_filter *self,
		   bt_self_component_filter_configuration *configuration,
		   const bt_value *params, void *moved)
{
	struct component *component = calloc(1, sizeof(*component));
	bt_component_class_initialize_method_status status;

	(void)configuration;
	if (!component)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	component->self = self;
	component->moved = moved ? moved : &component->unasked;
	status = initialize(self, component, params);
	if (status)
		free_component(component);
	else
		bt_self_component_set_data(
			bt_self_component_filter_as_self_component(self),
			component);
	return status;
}

static struct component *component_of(bt_self_component_filter *self)
{
	return bt_self_component_get_data(
		bt_self_component_filter_as_self_component(self));
}

void correct_finalize(bt_self_component_filter *self)
{
	free_component(component_of(self));
}

/* There is always one more. */
bt_component_class_port_connected_method_status
correct_input_connected(bt_self_component_filter *self,
			bt_self_component_port_input *port,
			const bt_port_output *other)
{
	(void)port;
	(void)other;
	return add_input(self, component_of(self)) ?
	       BT_COMPONENT_CLASS_PORT_CONNECTED_METHOD_STATUS_OK :
	       BT_COMPONENT_CLASS_PORT_CONNECTED_METHOD_STATUS_MEMORY_ERROR;
}

/* ---- what waits -------------------------------------------------------- */

static bool is_before(const struct waiting *a, const struct waiting *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns :
	       a->number < b->number;
}

static void swap(struct waiting *a, struct waiting *b)
{
	const struct waiting c = *a;

	*a = *b;
	*b = c;
}

static bool push(struct iterator *it, int64_t time_ns,
		 const bt_message *message)
{
	struct waiting *heap = it->heap;
	size_t at = it->num_waiting;

	if (at == it->room) {
		const size_t room = it->room ? it->room * 2 : 64;

		heap = realloc(heap, room * sizeof(*heap));
		if (!heap)
			return false;
		it->heap = heap;
		it->room = room;
	}
	heap[at] = (struct waiting){ time_ns, it->num_taken++, message };
	it->num_waiting++;
	for (; at && is_before(&heap[at], &heap[(at - 1) / 2]); at = (at - 1) / 2)
		swap(&heap[at], &heap[(at - 1) / 2]);
	return true;
}

static struct waiting pop(struct iterator *it)
{
	struct waiting *heap = it->heap;
	const struct waiting first = heap[0];
	const size_t num = --it->num_waiting;
	size_t at = 0;

	heap[0] = heap[num];
	for (;;) {
		size_t child = at * 2 + 1;

		if (child + 1 < num && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (child >= num || !is_before(&heap[child], &heap[at]))
			return first;
		swap(&heap[child], &heap[at]);
		at = child;
	}
}

/* ---- inputs ------------------------------------------------------------ */

static bool add_clock(struct input *input, const struct correction *correction)
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

static void set_horizon(struct input *input)
{
	int64_t earliest = INT64_MAX, time, moved;

	if (!input->has_time || !input->clocks)
		return;
	for (struct horizon *clock = input->clocks; clock; clock = clock->next) {
		if (correction_apply(&clock->correction, input->raw_ns, &time,
				     &moved))
			time = 0;
		if (time < earliest)
			earliest = time;
	}
	input->horizon_ns = earliest;
}

/*
 * Put the copy of a message into its place. A stream that begins when later
 * times have been handed out already, on its host's word, comes too late.
 */
static next_status place(struct iterator *it, struct input *input,
			 const struct timed *copy)
{
	if (copy->is_new && copy->stream->has_clock &&
	    !add_clock(input, &copy->stream->correction))
		return NO_MEMORY;
	if (!copy->message)
		return OK;
	if (copy->has_time && copy->time_ns < it->last_ns) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(
			it->copier.iterator,
			"Stream %s begins before what was corrected already: connect the sources to this filter, and not a muxer.",
			bt_stream_get_name(copy->stream->from));
		return FAILED;
	}
	return push(it, copy->has_time || copy->time_ns > it->last_ns ?
		    copy->time_ns : it->last_ns, copy->message) ?
	       OK :
	       NO_MEMORY;
}

static next_status take(struct iterator *it, struct input *input,
			const bt_message *message)
{
	struct timed copy;
	next_status status = message_copy(&it->copier, message, &copy);

	if (!status)
		status = place(it, input, &copy);
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

static next_status read_input(struct iterator *it, struct input *input)
{
	next_status status;
	bt_message_array_const messages;
	uint64_t num = 0;

	status = (int)bt_message_iterator_next(input->messages, &messages, &num);
	if (status == END) {
		input->ended = true;
		return OK;
	}
	if (status)
		return status;
	for (uint64_t i = 0; i < num; i++) {
		if (!status)
			status = take(it, input, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	set_horizon(input);
	return status;
}

/* The input that holds the others up; NULL: all have ended. */
static struct input *last_input(struct iterator *it)
{
	struct input *last = NULL;

	for (uint64_t i = 0; i < it->num_inputs; i++) {
		struct input *input = &it->inputs[i];

		if (!input->ended &&
		    (!last || input->horizon_ns < last->horizon_ns))
			last = input;
	}
	return last;
}

/* ---- the message iterator ---------------------------------------------- */

static bool open_inputs(struct iterator *it, struct component *component)
{
	it->inputs = calloc(component->num_inputs, sizeof(*it->inputs));
	if (!it->inputs)
		return false;
	for (uint64_t i = 0; i < component->num_inputs; i++) {
		bt_self_component_port_input *port =
			bt_self_component_filter_borrow_input_port_by_index(
				component->self, i);

		if (!bt_port_is_connected(bt_self_component_port_as_port(
			    bt_self_component_port_input_as_self_component_port(
				    port))))
			continue;
		if (bt_message_iterator_create_from_message_iterator(
			    it->copier.iterator, port,
			    &it->inputs[it->num_inputs].messages))
			return false;
		it->num_inputs++;
	}
	return true;
}

static bool make_clock_class(struct iterator *it, struct component *component,
			     bt_self_component *self)
{
	bt_clock_class *class = bt_clock_class_create(self);
	char text[256];

	it->copier.streams.clock_class = class;
	snprintf(text, sizeof(text), "corrected by netsync, to the clock of %s",
		 component->corrections.model.reference);
	return class && !bt_clock_class_set_name(class, "netsync") &&
	       !bt_clock_class_set_description(class, text);
}

static void free_iterator(struct iterator *it)
{
	while (it->num_waiting)
		bt_message_put_ref(it->heap[--it->num_waiting].message);
	free(it->heap);
	for (uint64_t i = 0; i < it->num_inputs; i++) {
		bt_message_iterator_put_ref(it->inputs[i].messages);
		while (it->inputs[i].clocks) {
			struct horizon *clock = it->inputs[i].clocks;

			it->inputs[i].clocks = clock->next;
			free(clock);
		}
	}
	free(it->inputs);
	streams_release(&it->copier.streams);
	free(it);
}

bt_message_iterator_class_initialize_method_status
correct_iterator_initialize(bt_self_message_iterator *self,
			    bt_self_message_iterator_configuration *configuration,
			    bt_self_component_port_output *port)
{
	bt_self_component *component =
		bt_self_message_iterator_borrow_component(self);
	struct component *data = bt_self_component_get_data(component);
	struct iterator *it = calloc(1, sizeof(*it));

	(void)configuration;
	(void)port;
	if (!it)
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	it->copier = (struct copier){
		.iterator = self,
		.corrections = &data->corrections,
		.streams.component = component,
		.streams.mip = mip_of(component),
		.moved = data->moved,
	};
	if (!make_clock_class(it, data, component) ||
	    !open_inputs(it, data)) {
		free_iterator(it);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_message_iterator_set_data(self, it);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void correct_iterator_finalize(bt_self_message_iterator *self)
{
	free_iterator(bt_self_message_iterator_get_data(self));
}

/* Hand out what nothing can come before. Return: how many. */
static uint64_t hand_out(struct iterator *it, bt_message_array_const messages,
			 uint64_t capacity)
{
	const struct input *last = last_input(it);
	uint64_t num = 0;

	while (num < capacity && it->num_waiting &&
	       (!last || it->heap[0].time_ns <= last->horizon_ns)) {
		const struct waiting first = pop(it);

		it->last_ns = first.time_ns;
		messages[num++] = first.message;
	}
	return num;
}

next_status correct_next(bt_self_message_iterator *self,
			 bt_message_array_const messages, uint64_t capacity,
			 uint64_t *count)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);
	next_status status;

	while (!(*count = hand_out(it, messages, capacity))) {
		struct input *input = last_input(it);

		if (!input)
			return END;
		status = read_input(it, input);
		if (status)
			return status;
	}
	return OK;
}
