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
	const char *host; /* host of the next message; NULL to use the host in its trace */
	struct streams streams;
	struct correct_part *part;
};

struct timed {
	const bt_message *message;
	int64_t time_ns; /* corrected time; for a message without a time, the stream's last time */
	struct stream_copy *stream;
	bool is_new; /* this is the first message of its stream */
	bool has_time;
	int64_t raw_ns; /* uncorrected time, ns */
};

/* Copy a message. copy->message is NULL if the message only reports the progress of time. */
bt_message_iterator_class_next_method_status
message_copy(struct copier *copier, const bt_message *from, struct timed *copy);

#endif
