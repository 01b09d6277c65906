/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The component class filter.netsync.correct, which the plug-in for Babeltrace 2 and netsync apply
 * use. merge.h declares its message iterators.
 */
#ifndef NETSYNC_BABELTRACE_CORRECT_H
#define NETSYNC_BABELTRACE_CORRECT_H

#include <babeltrace2/babeltrace.h>
#include <stdint.h>

/*
 * The window of corrected times (ns, both ends included). Messages outside of the window pass
 * through like all others, even if the result does not cover them. Messages inside of the window
 * are counted if their new time differs from the corrected time.
 */
struct correct_part {
	int64_t begin_ns;
	int64_t end_ns;
	uint64_t num_moved;
	int64_t most_ns; /* largest difference between a new time and the corrected time, ns */
};

#define CORRECT_ALL                                        \
	{                                                  \
		.begin_ns = INT64_MIN, .end_ns = INT64_MAX \
	}

extern const char correct_help[];

bt_component_class_get_supported_mip_versions_method_status
correct_get_mip_versions(bt_self_component_class_filter *self, const bt_value *params, void *data,
			 bt_logging_level level, bt_integer_range_set_unsigned *versions);
/* @part is the data of the initialize method: a struct correct_part, or NULL for all times. */
bt_component_class_initialize_method_status
correct_initialize(bt_self_component_filter *self,
		   bt_self_component_filter_configuration *configuration, const bt_value *params,
		   void *part);
void correct_finalize(bt_self_component_filter *self);
bt_component_class_port_connected_method_status
correct_input_connected(bt_self_component_filter *self, bt_self_component_port_input *port,
			const bt_port_output *other);

#endif
