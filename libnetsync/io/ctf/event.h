/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From fields of events in CTF traces to struct event_seen. */
#ifndef NETSYNC_CTF_EVENT_H
#define NETSYNC_CTF_EVENT_H

#include <babeltrace2/babeltrace.h>

#include "io/ctf/field.h"
#include "io/packet/event.h"

/* How to read the events of one event class; made once for each class. */
struct ctf_decoder;

/*
 * Make a decoder. 0: *@decoder is NULL where the fields are not those of any
 * known version; -ENOMEM. To be given back with free().
 */
int ctf_decoder_new(const bt_event_class *class, struct ctf_decoder **decoder);

/* The event class that it is for. */
const bt_event_class *ctf_decoder_class(const struct ctf_decoder *decoder);

/* Do its events say in which network namespace they were made? */
bool ctf_decoder_has_netns(const struct ctf_decoder *decoder);

/* Fill in @seen but for host and time. False: it is of no use. */
bool ctf_decode(const struct ctf_decoder *decoder,
		const struct ctf_field *payload, struct event_seen *seen);

#endif
