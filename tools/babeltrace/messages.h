/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages -> copies with corrected times. */
#ifndef NETSYNC_BABELTRACE_MESSAGES_H
#define NETSYNC_BABELTRACE_MESSAGES_H

#include "correct.h"
#include "streams.h"

/* State of copying. */
struct copier {
	bt_self_message_iterator *iterator;
	struct corrections *corrections;
	const char *host; /* of the next message; NULL means as in its trace */
	struct streams streams;
	struct correct_part *part;
};

struct timed {
	const bt_message *message;
	int64_t time_ns; /* corrected; for a message without time: the stream's last time */
	struct stream_copy *stream;
	bool is_new; /* first message of its stream */
	bool has_time;
	int64_t raw_ns; /* uncorrected, ns */
};

/* Copy a message; copy->message is NULL if the message only reports the progress of time. */
bt_message_iterator_class_next_method_status
message_copy(struct copier *copier, const bt_message *from, struct timed *copy);

#endif
