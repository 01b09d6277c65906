/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Does libbabeltrace2 see the same types as the parser here? */
#ifndef NETSYNC_CTF_AGREE_H
#define NETSYNC_CTF_AGREE_H

#include <babeltrace2/babeltrace.h>

#include "io/ctf/direct/metadata.h"

/*
 * Do all events of a stream class agree, with headers and contexts, so that what layout.h
 * finds for a class of libbabeltrace2 also holds for the type here?
 */
bool agree_on_stream(const struct metadata *metadata, const bt_stream_class *class);

#endif
