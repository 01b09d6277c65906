/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Between those who read a CTF trace (ctf.c) and the worker that does it (read.c).
 * That opens it, and then, again and again, is told a time, an
 * int64_t, and reads up to that.
 */
#ifndef NETSYNC_CTF_READ_H
#define NETSYNC_CTF_READ_H

#include "io/ctf/files.h"

enum ctf_what {
	CTF_WARNING,		/* text */
	CTF_PACKET,		/* struct netsync_packet, time as printed */
	CTF_CLOCK,		/* struct clock_event, the same */
	CTF_STATE,		/* struct ctf_state, since the last one */
	CTF_OPENED,		/* struct ctf_opened; now it can be told */
	CTF_READ,		/* int64_t: all before; INT64_MAX: all */
	CTF_FAILED,		/* text, its number is the errno; nothing follows */
};

struct ctf_opened {
	int64_t epoch_ns;
	struct range range;
	uint64_t range_hash;
	bool has_clock;		/* else nothing of it is known */
	bool has_clock_uuid;
	bool is_corrected;	/* the clock is NETSYNC_IO_CORRECTED_CLOCK */
	bool has_uuid;
	bool has_network;
	bool has_netns;
	uint8_t clock_uuid[UUID_SIZE];
	uint8_t uuid[UUID_SIZE];
	char host_name[256];
};

struct ctf_state {
	struct range span;	/* of all events until now; end < begin: none */
	uint64_t lost_events;
	uint64_t lost_packets;
	uint64_t out_of_range;
	uint32_t damaged;
};

/* What the worker does, with a struct ctf_files. */
void ctf_read_trace(const void *files);

#endif
