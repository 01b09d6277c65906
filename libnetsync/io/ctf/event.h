/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decode the fields of CTF events to struct event_seen. */
#ifndef NETSYNC_CTF_EVENT_H
#define NETSYNC_CTF_EVENT_H

#include <babeltrace2/babeltrace.h>

#include "io/ctf/field.h"
#include "io/packet/event.h"

/* A decoder for the events of one event class. */
struct ctf_decoder;

/*
 * Create a decoder, which the caller frees. Return 0 or -ENOMEM. If no known version of the tracer
 * has an event with these fields, *@decoder is NULL.
 */
int ctf_decoder_new(const bt_event_class *class, struct ctf_decoder **decoder);

/* Return the decoder's event class. */
const bt_event_class *ctf_decoder_get_class(const struct ctf_decoder *decoder);

/* Return whether the events of this class record the network namespace. */
bool ctf_decoder_has_netns(const struct ctf_decoder *decoder);

/* Fill in @seen, except the host and the time. Return false if the event cannot be used. */
bool ctf_decode_event(const struct ctf_decoder *decoder, const struct ctf_field *payload,
		      struct event_seen *seen);

#endif
