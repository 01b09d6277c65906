/* SPDX-License-Identifier: GPL-2.0-only */
/* Copies of messages, with corrected times. */
#ifndef NETSYNC_BABELTRACE_MESSAGES_H
#define NETSYNC_BABELTRACE_MESSAGES_H

#include "correct.h"
#include "streams.h"

/* What is needed to copy messages. */
struct copier {
	bt_self_message_iterator *iterator;
	struct corrections *corrections;
	const char *host;	/* that the next message is of; NULL: as it says */
	struct streams streams;
	struct correct_moved *moved;
};

struct timed {
	const bt_message *message;
	int64_t time_ns;	/* corrected; of one without time that before it */
	struct stream *stream;
	bool is_new;		/* the first of its stream */
	bool has_time;
	int64_t raw_ns;		/* as printed by the original's viewer */
};

/*
 * The copy of a message; copy->message is NULL where it only tells how far time
 * has come.
 */
bt_message_iterator_class_next_method_status
message_copy(struct copier *copier, const bt_message *from, struct timed *copy);

#endif
