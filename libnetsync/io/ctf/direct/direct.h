/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Read streams in LTTng's layout without libbabeltrace2, which takes many times as long for events
 * that are not needed. If a trace, a stream or the rest of a stream has an unknown layout,
 * libbabeltrace2 must read it.
 */
#ifndef NETSYNC_CTF_DIRECT_H
#define NETSYNC_CTF_DIRECT_H

#include <babeltrace2/babeltrace.h>

#include "io/ctf/direct/reader.h"

struct direct;

/*
 * Open a trace's directory. @text is its metadata. Return NULL if no stream can be read directly.
 */
struct direct *direct_new(const char *folder, const char *text);
void direct_free(struct direct *direct);

/*
 * Return the reader of a stream. The caller then owns the reader, and must call
 * direct_reader_free() before direct_free(). Return NULL if the stream cannot be read directly.
 */
struct direct_reader *direct_take_reader(struct direct *direct, const bt_stream *stream);

#endif
