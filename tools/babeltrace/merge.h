/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages of several inputs, corrected, in the order of corrected times. */
#ifndef NETSYNC_BABELTRACE_MERGE_H
#define NETSYNC_BABELTRACE_MERGE_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "correct.h"
#include "corrections.h"

struct merge;

typedef bt_message_iterator_class_next_method_status merge_status;

/*
 * Seek the beginning: the iterator gets a new merge in place of the one that it had,
 * of what @add adds to it of @component, @max_inputs at the most. It returns false if
 * something cannot be read.
 */
bt_message_iterator_class_seek_beginning_method_status
merge_begin(bt_self_message_iterator *iterator, struct corrections *corrections,
	    struct correct_moved *moved, uint64_t max_inputs,
	    bool (*add)(struct merge *merge, const void *component),
	    const void *component);
void merge_free(struct merge *merge);

/*
 * Add an input, all of whose streams are of @host unless that is NULL, and which has
 * to outlive the merge: what comes through a port that is connected, or the CTF trace
 * of a folder. False: that cannot be read.
 */
bool merge_add_port(struct merge *merge, bt_self_component_port_input *port,
		    const char *host);
bool merge_add_trace(struct merge *merge, const char *path, const char *host);

/* As the "next" method of a message iterator class. */
merge_status merge_next(struct merge *merge, bt_message_array_const messages,
			uint64_t capacity, uint64_t *count);

#endif
