/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Between those who read a CTF trace (ctf.c) and the worker that does it (read.c).
 * That opens it, and then, again and again, is told a time, an
 * int64_t, and reads up to that.
 */
#ifndef NETSYNC_CTF_READ_H
#define NETSYNC_CTF_READ_H

#include "io/ctf/files.h"
#include "io/ctf/stream.h"

enum ctf_what {
	CTF_WARNING,		/* text */
	CTF_EVENT,		/* struct event_seen */
	CTF_STATE,		/* struct ctf_state, since the last one */
	CTF_OPENED,		/* struct ctf_opened; now it can be told */
	CTF_READ,		/* int64_t: all before; INT64_MAX: all */
	CTF_FAILED,		/* text, its number is the errno; nothing follows */
};

struct ctf_opened {
	struct ctf_identity is;
	struct range range;
	uint64_t range_hash;
};

struct ctf_state {
	struct range span;	/* of all events until now; hi < lo: none */
	struct ctf_counts counts;
	uint32_t damaged;
};

/* What the worker does, with a struct ctf_files. */
void ctf_read_trace(const void *files);

#endif
