/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams in the layout that LTTng writes, read without libbabeltrace2, which takes many times
 * as long to read events that are not needed. Anything unknown here (a trace, a stream, or the
 * rest of a stream) is left to libbabeltrace2.
 */
#ifndef NETSYNC_CTF_DIRECT_H
#define NETSYNC_CTF_DIRECT_H

#include <babeltrace2/babeltrace.h>

#include "io/ctf/direct/walk.h"

struct direct;

/* Open a trace's folder, whose metadata is @text. NULL: nothing can be read here. */
struct direct *direct_new(const char *folder, const char *text);
void direct_free(struct direct *direct);

/*
 * Take the walk through a stream, to be given back with walk_free() before direct_free().
 * NULL: the stream cannot be read here.
 */
struct ctf_walk *direct_take(struct direct *direct, const bt_stream *stream);

#endif
