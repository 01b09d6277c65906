/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Does libbabeltrace2 see the same types? */
#ifndef NETSYNC_CTF_AGREE_H
#define NETSYNC_CTF_AGREE_H

#include <babeltrace2/babeltrace.h>

#include "io/ctf/direct/metadata.h"

/*
 * Are the events of a kind of stream the same, one by one, with all that belongs to
 * them, so that what was found out of a class (layout.h) holds for a type?
 */
bool agree_on_stream(const struct metadata *metadata,
		     const bt_stream_class *class);

#endif
