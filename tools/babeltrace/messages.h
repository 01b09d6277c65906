/* SPDX-License-Identifier: GPL-2.0-only */
/* Copy messages with corrected times. */
#ifndef NETSYNC_BABELTRACE_MESSAGES_H
#define NETSYNC_BABELTRACE_MESSAGES_H

#include "correct.h"
#include "streams.h"

/* State of copying, for one message iterator. */
struct copier {
	bt_self_message_iterator *iterator;
	struct corrections *corrections;
	const char *host; /* host of the next message, or NULL if its trace names it */
	struct streams streams;
	struct correct_part *part;
};

struct timed {
	const bt_message *message;
	int64_t time_ns; /* corrected time, or the stream's last one if it has no time */
	struct stream_copy *stream;
	bool is_new; /* this is the first message of its stream */
	bool has_time;
	int64_t raw_ns; /* uncorrected time, ns */
};

/* Copy a message. If the message only reports the progress of time, copy->message becomes NULL. */
bt_message_iterator_class_next_method_status
message_copy(struct copier *copier, const bt_message *from, struct timed *copy);

#endif
