/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams of the layout that LTTng writes, read without libbabeltrace2, which takes many
 * times as long for events that nobody asked for. What is not known here is left to it,
 * be it a trace, a stream, or the rest of one.
 */
#ifndef NETSYNC_CTF_DIRECT_H
#define NETSYNC_CTF_DIRECT_H

#include <babeltrace2/babeltrace.h>

#include "io/ctf/direct/walk.h"

struct direct;

/*
 * Look at a folder with a trace, of which the metadata is @text. NULL: nothing of it can
 * be read here.
 */
struct direct *direct_new(const char *folder, const char *text);
void direct_free(struct direct *direct);

/*
 * Take the walk through a stream, by the name of its file, to be given back with
 * walk_free() before the trace. NULL: not here.
 */
struct walk *direct_take(struct direct *direct, const char *file,
			 const bt_stream_class *class);

#endif
