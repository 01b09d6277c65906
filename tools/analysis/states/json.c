// SPDX-License-Identifier: GPL-2.0-only
/* Write the content of the table as JSON, with all rows. */
#include <errno.h>

#include "common/json-writer.h"
#include "states.h"

static json_object *new_span_text(const struct states *states, uint32_t host, uint32_t text)
{
	return new_json_string(spans_get_text(states->spans, host, text));
}

static json_object *new_host_name(const struct states *states, uint32_t host)
{
	return new_json_string(states->base->hosts[host].name);
}

static json_object *make_exclusion_object(struct json_writer *w, const struct states *states,
					  size_t d)
{
	const struct exclusion *found = between_get_exclusion(states->between, d);
	json_object *object = json_object_new_object(), *longest;

	json_put_number(w, object, "times", found->spans);
	json_put_number(w, object, "at_once", found->at_once);
	json_put_number(w, object, "uncertain", found->uncertain);
	if (!found->at_once) {
		json_put_null(w, object, "longest");
		return object;
	}
	longest = json_object_new_object();
	json_put_pair(w, longest, "hosts", new_host_name(states, found->hosts[0]),
		      new_host_name(states, found->hosts[1]));
	json_put_pair(w, longest, "objects",
		      new_span_text(states, found->hosts[0], found->names[0]),
		      new_span_text(states, found->hosts[1], found->names[1]));
	json_put_time(w, longest, "from_ns", found->from_ns);
	json_put_time(w, longest, "duration_ns", found->longest_ns);
	json_put(w, object, "longest", longest);
	return object;
}

static json_object *make_definition_object(struct json_writer *w, const struct states *states,
					   size_t d)
{
	const struct definition *definition = &states->definitions[d];
	json_object *object = json_object_new_object();

	json_put(w, object, "name", new_json_string(definition->name));
	json_put(w, object, "title", new_json_string(definition->title));
	if (definition->exclusive.num)
		json_put(w, object, "exclusive", make_exclusion_object(w, states, d));
	else
		json_put_null(w, object, "exclusive");
	return object;
}

static json_object *make_states_host_object(struct json_writer *w, const struct states *states,
					    uint32_t host)
{
	const struct span_losses *losses = &states->losses[host];
	json_object *object = json_object_new_object(), *list;

	json_put(w, object, "name", new_host_name(states, host));
	json_put(w, object, "corrected",
		 json_object_new_boolean(states->base->hosts[host].clock != NULL));
	json_put_number(w, object, "losses", losses->places);
	if (losses->places && !losses->is_known)
		json_put_null(w, object, "lost_events");
	else
		json_put_number(w, object, "lost_events", losses->number);
	list = json_object_new_array();
	for (size_t d = 0; d < states->num_definitions; d++) {
		const struct span_counts *counts = states_get_counts(states, host, d);
		json_object *one = json_object_new_object();

		json_put(w, one, "name", new_json_string(states->definitions[d].name));
		json_put_number(w, one, "events", counts->events);
		json_put_number(w, one, "begun_twice", counts->doubles);
		json_put_number(w, one, "ended_unbegun", counts->unbegun);
		json_put_number(w, one, "open", counts->open);
		json_put_number(w, one, "doubtful", counts->doubtful);
		json_append(w, list, one);
	}
	json_put(w, object, "definitions", list);
	return object;
}

static json_object *make_total_object(struct json_writer *w, const struct states *states,
				      const struct total *total)
{
	json_object *object = json_object_new_object();

	json_put(w, object, "host", new_host_name(states, total->host));
	json_put(w, object, "definition",
		 new_json_string(states->definitions[total->definition].name));
	json_put(w, object, "object", new_span_text(states, total->host, total->name));
	json_put(w, object, "state", new_span_text(states, total->host, total->state));
	json_put_number(w, object, "times", total->times);
	json_put_number(w, object, "total_ns", total->total_ns);
	json_put_time(w, object, "shortest_ns", total->shortest_ns);
	json_put_time(w, object, "longest_ns", total->longest_ns);
	json_put_number(w, object, "open", total->open);
	json_put_number(w, object, "doubtful", total->doubtful);
	return object;
}

static json_object *make_wait_object(struct json_writer *w, const struct states *states,
				     const struct wait *wait)
{
	json_object *object = json_object_new_object();

	json_put(w, object, "definition",
		 new_json_string(states->definitions[wait->definition].name));
	json_put(w, object, "shared", new_span_text(states, wait->shared_host, wait->shared));
	json_put(w, object, "host", new_host_name(states, wait->host));
	if (wait->is_known)
		json_put(w, object, "for", new_host_name(states, wait->holder));
	else
		json_put_null(w, object, "for");
	json_put_number(w, object, "times", wait->times);
	json_put_number(w, object, "uncertain", wait->uncertain);
	json_put_number(w, object, "total_ns", wait->total_ns);
	json_put_time(w, object, "longest_ns", wait->longest_ns);
	return object;
}

static json_object *make_states_object(struct json_writer *w, const struct states *states,
				       const struct wait *waits, size_t num_waits)
{
	json_object *object = json_object_new_object(), *list;

	json_put(w, object, "reference", new_json_string(states->base->reference));
	list = json_object_new_array();
	for (size_t d = 0; d < states->num_definitions; d++)
		json_append(w, list, make_definition_object(w, states, d));
	json_put(w, object, "definitions", list);
	list = json_object_new_array();
	for (uint32_t i = 0; i < states->base->num_hosts; i++)
		json_append(w, list, make_states_host_object(w, states, i));
	json_put(w, object, "hosts", list);
	list = json_object_new_array();
	for (size_t i = 0; i < states->totals.num; i++)
		json_append(w, list, make_total_object(w, states, &states->totals.list[i]));
	json_put(w, object, "states", list);
	list = json_object_new_array();
	for (size_t i = 0; i < num_waits; i++)
		json_append(w, list, make_wait_object(w, states, &waits[i]));
	json_put(w, object, "waits", list);
	return object;
}

bool states_write_json(FILE *out, struct states *states)
{
	struct json_writer w = { .failed = false };
	const struct wait *waits;
	size_t num_waits;

	if (!states_read(states, NULL, NULL))
		return false;
	totals_sort(&states->totals);
	errno = 0;
	if (!between_list_waits(states->between, &waits, &num_waits))
		return false;
	return json_print_root(&w, out, make_states_object(&w, states, waits, num_waits));
}
