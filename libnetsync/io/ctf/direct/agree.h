/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compare the types that libbabeltrace2 finds with the types that this folder's parser finds. */
#ifndef NETSYNC_CTF_AGREE_H
#define NETSYNC_CTF_AGREE_H

#include <babeltrace2/babeltrace.h>

#include "io/ctf/direct/metadata.h"

/*
 * Return whether all events of a stream class, including headers and contexts, agree with the class
 * of libbabeltrace2. If all events agree, what layout.h finds for this class is also valid for the
 * type.
 */
bool agree_on_stream(const struct metadata *metadata, const bt_stream_class *class);

#endif
