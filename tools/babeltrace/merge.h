/* SPDX-License-Identifier: GPL-2.0-only */
/* Copy the messages of several inputs in order of corrected times. */
#ifndef NETSYNC_BABELTRACE_MERGE_H
#define NETSYNC_BABELTRACE_MERGE_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "correct.h"
#include "corrections.h"

struct merge;

typedef bt_message_iterator_class_next_method_status merge_status;

/* First member of the data of a component with merging message iterators. */
struct merged {
	struct corrections corrections;
	struct correct_part *part;
	uint32_t num_inputs; /* maximum number of inputs */
	/* Add all inputs. Return false if an input cannot be read. */
	bool (*add)(struct merge *merge, const struct merged *component);
};

/*
 * Add an input: a connected port, or the CTF trace in a directory. Unless @host is NULL, all
 * streams of the input belong to @host, which must outlive the merge. Return false if the input
 * cannot be read.
 */
bool merge_add_port(struct merge *merge, bt_self_component_port_input *port, const char *host);
bool merge_add_trace(struct merge *merge, const char *path, const char *host);

/* Methods of the message iterator class. */
bt_message_iterator_class_initialize_method_status
merge_initialize(bt_self_message_iterator *self,
		 bt_self_message_iterator_configuration *configuration,
		 bt_self_component_port_output *port);
bt_message_iterator_class_seek_beginning_method_status
merge_seek_beginning(bt_self_message_iterator *self);
merge_status merge_next(bt_self_message_iterator *self, bt_message_array_const messages,
			uint64_t capacity, uint64_t *count);
void merge_finalize(bt_self_message_iterator *self);

#endif
