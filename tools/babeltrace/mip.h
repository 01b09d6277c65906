/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between the versions of Babeltrace 2's Message Interchange Protocol (MIP). Babeltrace
 * 2.0 has only version 0. Babeltrace 2.1 supports CTF 2 only in version 1. MAX_MIP is the highest
 * version of the Babeltrace for which this code is compiled.
 */
#ifndef NETSYNC_BABELTRACE_MIP_H
#define NETSYNC_BABELTRACE_MIP_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/result-file.h"

struct field_classes;

/*
 * Functions for one version. Functions that create an object return false or NULL if out of memory.
 */
struct mip {
	/* Copy the identity of a trace. */
	bool (*identify_trace)(bt_trace *to, const bt_trace *from);
	/* Return false if the clock has no uuid. */
	bool (*get_clock_uuid)(const bt_clock_class *class, uint8_t uuid[MODEL_UUID_SIZE]);
	bool (*set_clock_uuid)(bt_clock_class *class, const uint8_t uuid[MODEL_UUID_SIZE]);
	/* Declare that times may be off by @cycles. */
	void (*set_clock_error)(bt_clock_class *class, uint64_t cycles);

	/* Copy a field class that depends on another field. */
	bt_field_class *(*new_array)(const struct field_classes *classes,
				     const bt_field_class *from, bt_field_class *element);
	bt_field_class *(*new_option)(const struct field_classes *classes,
				      const bt_field_class *from, bt_field_class *content);
	/* Create a variant. The options of the variant are added later. */
	bt_field_class *(*new_variant)(const struct field_classes *classes,
				       const bt_field_class *from);

	/*
	 * Functions for features that only some versions have. For other versions, they are NULL.
	 */
	bool (*identify_stream_class)(bt_stream_class *to, const bt_stream_class *from);
	bool (*identify_event_class)(bt_event_class *to, const bt_event_class *from);
	bool (*copy_properties)(bt_field_class *to, const bt_field_class *from);
	bt_field_class *(*new_blob)(const struct field_classes *classes,
				    const bt_field_class *from);
	bool (*copy_blob)(bt_field *to, const bt_field *from);
};

extern const struct mip mip_0;
extern const struct mip mip_1;

/* Return the MIP version of a component's graph. */
static inline uint64_t mip_get_version(bt_self_component *in)
{
#if MAX_MIP
	return bt_self_component_get_graph_mip_version(in);
#else
	(void)in;
	return 0;
#endif
}

static inline const struct mip *mip_find(bt_self_component *in)
{
#if MAX_MIP
	if (mip_get_version(in))
		return &mip_1;
#endif
	(void)in;
	return &mip_0;
}

/* Declare that a component class supports all versions. */
static inline bt_component_class_get_supported_mip_versions_method_status
add_mip_versions(bt_integer_range_set_unsigned *versions)
{
	return bt_integer_range_set_unsigned_add_range(versions, 0, MAX_MIP) ?
		       BT_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD_STATUS_MEMORY_ERROR :
		       BT_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD_STATUS_OK;
}

#endif
