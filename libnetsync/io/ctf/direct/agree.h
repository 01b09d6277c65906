/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compare the types that libbabeltrace2 sees with those of the parser here. */
#ifndef NETSYNC_CTF_AGREE_H
#define NETSYNC_CTF_AGREE_H

#include <babeltrace2/babeltrace.h>

#include "io/ctf/direct/metadata.h"

/*
 * Do all events of a stream class, including headers and contexts, agree with the class of
 * libbabeltrace2, so that the findings of layout.h for that class also hold for the type?
 */
bool agree_on_stream(const struct metadata *metadata, const bt_stream_class *class);

#endif
