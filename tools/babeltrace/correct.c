// SPDX-License-Identifier: GPL-2.0-only
/*
 * The component class filter.netsync.correct. The class's message iterator merges the messages of
 * all input ports.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "correct.h"
#include "merge.h"
#include "mip.h"

const char correct_help[] =
	"Correct the times of all streams with a result of \"netsync sync\".\n\n"
	"Parameters:\n"
	"  result=FILE   use the result in FILE, which \"netsync sync -o FILE\" wrote\n"
	"                (mandatory)\n"
	"  host=NAME     correct all streams as those of the host NAME in FILE\n"
	"                (default: detected for each stream, by the host name and the\n"
	"                clock uuid of its trace)\n"
	"  extrapolate=BOOL  correct times even if they are far outside the time range\n"
	"                of FILE\n";

struct filter_component {
	struct merged merged;
	bt_self_component_filter *self;
	struct correct_part all; /* used if correct_initialize() gets no part */
};

/* ---- the component ----------------------------------------------------- */

#define COMPONENT_FAIL(self, ...)                                                \
	(BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(                    \
		 bt_self_component_filter_as_self_component(self), __VA_ARGS__), \
	 BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR)

static bt_value_map_foreach_entry_const_func_status
find_unknown_filter_param(const char *key, const bt_value *value, void *data)
{
	const char **unknown = data;

	if (strcmp(key, "extrapolate") ?
		    !bt_value_is_string(value) || (strcmp(key, "result") && strcmp(key, "host")) :
		    !bt_value_is_bool(value))
		*unknown = key;
	return BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_OK;
}

static const char *get_text_param(const bt_value *params, const char *key)
{
	const bt_value *value = bt_value_map_borrow_entry_value_const(params, key);

	return value ? bt_value_string_get(value) : NULL;
}

static bool add_input_port(bt_self_component_filter *self, struct filter_component *component)
{
	char name[16];

	snprintf(name, sizeof(name), "in%u", component->merged.num_inputs++);
	return !bt_self_component_filter_add_input_port(self, name, NULL, NULL);
}

static bt_component_class_initialize_method_status
initialize_filter(bt_self_component_filter *self, struct filter_component *component,
		  const bt_value *params)
{
	const char *unknown = NULL, *result;
	const bt_value *extrapolate;

	if (bt_value_map_foreach_entry_const(params, find_unknown_filter_param, &unknown))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	if (unknown)
		return COMPONENT_FAIL(
			self,
			"Unknown parameter \"%s\", or wrong type; use result and host (strings) and extrapolate (yes or no).",
			unknown);
	result = get_text_param(params, "result");
	if (!result)
		return COMPONENT_FAIL(
			self,
			"No result given: use -p 'result=\"FILE\"' with a FILE that \"netsync sync -o FILE\" wrote.");
	if (corrections_open(&component->merged.corrections, result,
			     get_text_param(params, "host")))
		return COMPONENT_FAIL(self, "%s",
				      corrections_error(&component->merged.corrections));
	extrapolate = bt_value_map_borrow_entry_value_const(params, "extrapolate");
	component->merged.corrections.extrapolate = extrapolate && bt_value_bool_get(extrapolate);
	if (bt_self_component_filter_add_output_port(self, "out", NULL, NULL) ||
	    !add_input_port(self, component))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

bt_component_class_get_supported_mip_versions_method_status
correct_get_mip_versions(bt_self_component_class_filter *self, const bt_value *params, void *data,
			 bt_logging_level level, bt_integer_range_set_unsigned *versions)
{
	(void)self;
	(void)params;
	(void)data;
	(void)level;
	return add_mip_versions(versions);
}

static bool add_merge_ports(struct merge *merge, const struct merged *merged)
{
	const struct filter_component *component = (const void *)merged;

	for (uint64_t i = 0; i < merged->num_inputs; i++) {
		bt_self_component_port_input *port =
			bt_self_component_filter_borrow_input_port_by_index(component->self, i);

		if (bt_port_is_connected(bt_self_component_port_as_port(
			    bt_self_component_port_input_as_self_component_port(port))) &&
		    !merge_add_port(merge, port, merged->corrections.host))
			return false;
	}
	return true;
}

static void free_filter_component(struct filter_component *component)
{
	corrections_release(&component->merged.corrections);
	free(component);
}

bt_component_class_initialize_method_status
correct_initialize(bt_self_component_filter *self,
		   bt_self_component_filter_configuration *configuration, const bt_value *params,
		   void *part)
{
	struct filter_component *component = calloc(1, sizeof(*component));
	bt_component_class_initialize_method_status status;

	(void)configuration;
	if (!component)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	component->self = self;
	component->all = (struct correct_part)CORRECT_ALL;
	component->merged.part = part ? part : &component->all;
	component->merged.add = add_merge_ports;
	status = initialize_filter(self, component, params);
	if (status)
		free_filter_component(component);
	else
		bt_self_component_set_data(bt_self_component_filter_as_self_component(self),
					   component);
	return status;
}

static struct filter_component *get_filter_component(bt_self_component_filter *self)
{
	return bt_self_component_get_data(bt_self_component_filter_as_self_component(self));
}

void correct_finalize(bt_self_component_filter *self)
{
	free_filter_component(get_filter_component(self));
}

/* Add a port, so that a free port is always available. */
bt_component_class_port_connected_method_status
correct_input_connected(bt_self_component_filter *self, bt_self_component_port_input *port,
			const bt_port_output *other)
{
	(void)port;
	(void)other;
	return add_input_port(self, get_filter_component(self)) ?
		       BT_COMPONENT_CLASS_PORT_CONNECTED_METHOD_STATUS_OK :
		       BT_COMPONENT_CLASS_PORT_CONNECTED_METHOD_STATUS_MEMORY_ERROR;
}
