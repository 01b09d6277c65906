/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The protocol in which the records of io/stream are exchanged between a server of traces
 * (serve.c) and the process that uses the traces (served.c).
 *
 * The server begins with REMOTE_MAGIC and the version, eight bytes in total. Frames follow. A
 * frame is a size (32 bits, little-endian) and that many bytes, which are parts of one zstd
 * stream (RFC 8878). An empty frame is a keepalive: the server makes progress, or has nothing to
 * do. The stream contains the records. Turns are sent in the other direction without framing or
 * compression.
 *
 * The server first describes all traces. Then it answers the turns in the order in which it
 * receives them: for each turn, it sends those events of the trace, up to the turn's time, that it
 * has not sent before. Neither side trusts the other.
 */
#ifndef NETSYNC_IO_REMOTE_PROTOCOL_H
#define NETSYNC_IO_REMOTE_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

/*
 * Version of the protocol, which must be equal at both ends. Increment it if anything here or in
 * io/stream changes.
 */
#define REMOTE_VERSION 7
#define REMOTE_MAGIC "netsync"
#define REMOTE_HELLO_SIZE 8

/* Maximum size of a frame (bytes). Chosen as the capacity of a pipe. */
#define REMOTE_MAX_FRAME 65536

/* Maximum number of traces of one server, because trace numbers have 16 bits. */
#define REMOTE_MAX_TRACES 65535

/* Base-2 logarithm of zstd's window size (bytes). Level 3 needs 2 MiB. */
#define REMOTE_WINDOW_LOG 21

/* Limits (bytes) of one sidecar file, and of all sidecar files of a server. Chosen. */
#define REMOTE_MAX_SIDECAR (16 << 20)
#define REMOTE_MAX_SIDECARS (64 << 20)

/*
 * Maximum number of warnings from one server. More warnings would hide those of other servers.
 * Chosen.
 */
#define REMOTE_MAX_WARNINGS 1000

/*
 * Maximum number of observation points of one trace. All further points count as one. Chosen: a
 * machine has several points for each of its devices.
 */
#define REMOTE_MAX_POINTS (1 << 20)

/* Interval between keepalives (ms). Chosen as a sixth of the time before a warning. */
#define REMOTE_ALIVE_MS 5000
/*
 * Time limit for a server, as a percentage of the limit of netsync_io_set_timeout(). The server
 * itself gives up its processes at the limit. The server then has time to report which trace was
 * given up. Chosen.
 */
#define REMOTE_SLACK_PERCENT 125
/*
 * Time limit for a server that sends nothing but keepalives, as a multiple of the limit. Chosen:
 * the server may have to read large parts of a trace that have no packet events.
 */
#define REMOTE_MUTE 10

/* Maximum number of turns that may be sent ahead. No reader needs as many. Chosen. */
#define REMOTE_MAX_TURNS 4096

static inline void remote_put_32(uint8_t *to, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		to[i] = number >> (8 * i);
}

static inline uint32_t remote_get_32(const uint8_t *from)
{
	return from[0] | from[1] << 8 | from[2] << 16 | (uint32_t)from[3] << 24;
}

#endif
