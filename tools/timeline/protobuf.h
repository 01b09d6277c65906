/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations that the files of Perfetto's own format share:
 *
 *	protobuf.c	packets, blocks of them, and events on tracks
 *	clocks.c	packets that relate clocks
 *	snapshot.c	such packets in the files of others
 *	tables.c	tracks, and the events that fill Perfetto's tables of processes, threads
 *			and scheduling
 */
#ifndef NETSYNC_TIMELINE_PROTOBUF_H
#define NETSYNC_TIMELINE_PROTOBUF_H

#include "perfetto.pb-c.h"
#include "timeline.h"

typedef Perfetto__Protos__TracePacket TracePacket;

/* ---- protobuf.c ---------------------------------------------------------- */

/* Open a file of packets that belong to no sequence. Return false if out of memory. */
bool protobuf_open_packets(struct timeline *timeline, FILE *out);
/* Put a packet that belongs to no sequence. */
void protobuf_append_packet(struct timeline *timeline, TracePacket *packet);
/* Put a packet. The packet gets the number of the current sequence. */
void protobuf_put_packet(struct timeline *timeline, TracePacket *packet);
/* Return a time plus a shift, or INT64_MIN if the sum does not fit into 64 bits. */
int64_t protobuf_shift_time(int64_t time_ns, int64_t shift_ns);
/*
 * Return a text as UTF-8. If @text is ASCII, return @text itself. Otherwise, return a copy. The
 * copy is also stored in *@owned, and the caller frees it. Return NULL if out of memory.
 */
char *protobuf_make_text(const char *text, char **owned);

/* ---- tables.c ------------------------------------------------------------ */

/* Return the id of a track, which is unique in the file. */
uint64_t protobuf_make_uuid(struct track track);
void protobuf_name_track(struct timeline *timeline, struct track track, const char *name);
void protobuf_name_thread(struct timeline *timeline, const struct timeline_thread *thread);
void protobuf_put_sched(struct timeline *timeline, const struct timeline_sched *event);

#endif
