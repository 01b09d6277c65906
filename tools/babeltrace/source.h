/* SPDX-License-Identifier: GPL-2.0-only */
/* The component class source.netsync.fs. merge.h declares its message iterators. */
#ifndef NETSYNC_BABELTRACE_SOURCE_H
#define NETSYNC_BABELTRACE_SOURCE_H

#include <babeltrace2/babeltrace.h>
#include <stdint.h>

extern const char source_help[];

bt_component_class_get_supported_mip_versions_method_status
source_get_mip_versions(bt_self_component_class_source *self, const bt_value *params, void *data,
			bt_logging_level level, bt_integer_range_set_unsigned *versions);
bt_component_class_initialize_method_status
source_initialize(bt_self_component_source *self,
		  bt_self_component_source_configuration *configuration, const bt_value *params,
		  void *data);
void source_finalize(bt_self_component_source *self);

#endif
