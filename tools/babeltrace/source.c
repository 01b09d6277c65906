// SPDX-License-Identifier: GPL-2.0-only
/*
 * The component class source.netsync.fs. The component reads the CTF traces of several machines and
 * merges them by corrected time. A source.ctf.fs reads each trace in a graph of its own. Therefore,
 * only the messages of one read call are deferred, even if the clocks differ widely.
 *
 * The command convert of babeltrace2 would put a muxer before a filter. The muxer would order the
 * messages of all traces by uncorrected times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/argument.h"
#include "correct.h"
#include "corrections.h"
#include "merge.h"
#include "mip.h"
#include "source.h"

#define OK BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK
#define NO_MEMORY BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR

typedef bt_component_class_initialize_method_status status;

const char source_help[] =
	"Read CTF traces of several machines, and correct their times with a result of\n"
	"\"netsync sync\".\n\n"
	"Parameters:\n"
	"  inputs=[TRACE, ...]  search these directories for traces; NAME=DIR uses NAME as\n"
	"                       the host of all traces there (mandatory)\n"
	"  result=FILE          use the result in FILE, which \"netsync sync -o FILE\" wrote\n"
	"                       (mandatory)\n"
	"  extrapolate=BOOL     correct times even if they are far outside the time range\n"
	"                       of FILE\n";

struct source_trace {
	const char *path; /* owned by the reader that the component has */
	char *host;	  /* NAME in the argument, or NULL */
};

struct source_component {
	struct merged merged;
	bt_self_component_source *self;
	struct correct_part all;
	struct netsync *ns;
	struct netsync_io *io;
	struct source_trace *traces; /* CTF traces of the inputs */
};

#define COMPONENT_FAIL(component, ...)                                                        \
	(BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(                                 \
		 bt_self_component_source_as_self_component((component)->self), __VA_ARGS__), \
	 BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR)

/* ---- parameters -------------------------------------------------------- */

static bool is_inputs_param(const bt_value *value)
{
	bool ok = bt_value_is_array(value) && bt_value_array_get_length(value);

	for (uint64_t i = 0; ok && i < bt_value_array_get_length(value); i++)
		ok = bt_value_is_string(bt_value_array_borrow_element_by_index_const(value, i));
	return ok;
}

static bt_value_map_foreach_entry_const_func_status
find_unknown_source_param(const char *key, const bt_value *value, void *data)
{
	const char **unknown = data;

	if (!(!strcmp(key, "result") && bt_value_is_string(value)) &&
	    !(!strcmp(key, "inputs") && is_inputs_param(value)) &&
	    !(!strcmp(key, "extrapolate") && bt_value_is_bool(value)))
		*unknown = key;
	return BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_OK;
}

/* ---- finding traces ---------------------------------------------------- */

static void print_source_warning(void *data, const char *sentence)
{
	const bt_component *component = bt_self_component_as_component(
		bt_self_component_source_as_self_component(data));

	if (bt_component_get_logging_level(component) <= BT_LOGGING_LEVEL_WARNING)
		fprintf(stderr, "netsync: warning: %s\n", sentence);
}

/* Add the CTF traces that netsync_io_add() found for an argument; ignore other formats. */
static status keep_ctf_traces(struct source_component *component, const char *argument,
			      uint32_t first)
{
	const uint32_t num = netsync_io_num_traces(component->io);
	const size_t name_len = argument_get_name_length(argument);
	struct source_trace *traces = realloc(component->traces, (num + 1) * sizeof(*traces));

	if (!traces)
		return NO_MEMORY;
	component->traces = traces;
	for (uint32_t i = first; i < num; i++) {
		struct netsync_io_trace info = { .size = sizeof(info) };
		struct source_trace *trace = &traces[component->merged.num_inputs];

		netsync_io_get_trace(component->io, i, &info);
		if (strcmp(info.format, "ctf"))
			continue;
		trace->path = info.readable ? info.readable : info.path;
		trace->host = name_len ? strndup(argument, name_len) : NULL;
		if (name_len && !trace->host)
			return NO_MEMORY;
		component->merged.num_inputs++;
	}
	return OK;
}

static status add_input_argument(struct source_component *component, const char *argument)
{
	const uint32_t first = netsync_io_num_traces(component->io);
	const uint32_t had = component->merged.num_inputs;
	status ret;

	if (netsync_io_add(component->io, argument) < 0)
		return COMPONENT_FAIL(component, "%s", netsync_io_error(component->io));
	ret = keep_ctf_traces(component, argument, first);
	if (!ret && component->merged.num_inputs == had)
		return COMPONENT_FAIL(component, "%s: no CTF trace found.", argument);
	return ret;
}

static status find_input_traces(struct source_component *component, const bt_value *inputs)
{
	status ret = OK;

	component->ns = netsync_new();
	component->io = component->ns ? netsync_io_new(component->ns) : NULL;
	if (!component->io)
		return NO_MEMORY;
	netsync_io_set_warn(component->io, print_source_warning, component->self);
	for (uint64_t i = 0; i < bt_value_array_get_length(inputs) && !ret; i++)
		ret = add_input_argument(
			component,
			bt_value_string_get(
				bt_value_array_borrow_element_by_index_const(inputs, i)));
	return ret;
}

/* ---- the component ----------------------------------------------------- */

static status initialize_source(struct source_component *component, const bt_value *params)
{
	const bt_value *inputs = bt_value_map_borrow_entry_value_const(params, "inputs");
	const bt_value *result = bt_value_map_borrow_entry_value_const(params, "result");
	const bt_value *extrapolate = bt_value_map_borrow_entry_value_const(params, "extrapolate");
	const char *unknown = NULL;
	status ret;

	if (bt_value_map_foreach_entry_const(params, find_unknown_source_param, &unknown))
		return NO_MEMORY;
	if (unknown)
		return COMPONENT_FAIL(
			component,
			"Unknown parameter \"%s\", or wrong type; use inputs (a list of strings), result (a string) and extrapolate (yes or no).",
			unknown);
	if (!inputs || !result)
		return COMPONENT_FAIL(
			component,
			"No traces or no result given: use -p 'inputs=[\"DIR\"],result=\"FILE\"'.");
	if (corrections_open(&component->merged.corrections, bt_value_string_get(result), NULL))
		return COMPONENT_FAIL(component, "%s",
				      corrections_error(&component->merged.corrections));
	component->merged.corrections.extrapolate = extrapolate && bt_value_bool_get(extrapolate);
	ret = find_input_traces(component, inputs);
	if (!ret && bt_self_component_source_add_output_port(component->self, "out", NULL, NULL))
		ret = NO_MEMORY;
	return ret;
}

static bool add_merge_traces(struct merge *merge, const struct merged *merged)
{
	const struct source_component *component = (const void *)merged;

	for (uint32_t i = 0; i < merged->num_inputs; i++)
		if (!merge_add_trace(merge, component->traces[i].path, component->traces[i].host))
			return false;
	return true;
}

static void free_source_component(struct source_component *component)
{
	for (uint32_t i = 0; i < component->merged.num_inputs; i++)
		free(component->traces[i].host);
	free(component->traces);
	netsync_io_free(component->io);
	netsync_free(component->ns);
	corrections_release(&component->merged.corrections);
	free(component);
}

status source_initialize(bt_self_component_source *self,
			 bt_self_component_source_configuration *configuration,
			 const bt_value *params, void *data)
{
	struct source_component *component = calloc(1, sizeof(*component));
	status ret;

	(void)configuration;
	(void)data;
	if (!component)
		return NO_MEMORY;
	component->self = self;
	component->all = (struct correct_part)CORRECT_ALL;
	component->merged.part = &component->all;
	component->merged.add = add_merge_traces;
	ret = initialize_source(component, params);
	if (ret)
		free_source_component(component);
	else
		bt_self_component_set_data(bt_self_component_source_as_self_component(self),
					   component);
	return ret;
}

void source_finalize(bt_self_component_source *self)
{
	free_source_component(
		bt_self_component_get_data(bt_self_component_source_as_self_component(self)));
}

bt_component_class_get_supported_mip_versions_method_status
source_get_mip_versions(bt_self_component_class_source *self, const bt_value *params, void *data,
			bt_logging_level level, bt_integer_range_set_unsigned *versions)
{
	(void)self;
	(void)params;
	(void)data;
	(void)level;
	return add_mip_versions(versions);
}
