/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The protocol between a server of traces (serve.c) and the process that uses the traces
 * (served.c).
 *
 * The server begins with REMOTE_MAGIC and the version, eight bytes. Frames follow: a number of
 * bytes (32 bits; little-endian, as all numbers of fixed size), and that many bytes, which are
 * parts of one stream of zstd (RFC 8878). An empty frame is a sign of life: the server makes
 * progress, or has nothing to do. The stream contains the records of a worker: struct
 * worker_head and its payload; numbers in the payload are as in code.h.
 *
 * The server first describes all traces. For each struct remote_turn that it receives, in the
 * same order, it sends the events of the trace up to that time which it has not sent before.
 * Neither side trusts the other.
 */
#ifndef NETSYNC_IO_REMOTE_PROTOCOL_H
#define NETSYNC_IO_REMOTE_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

/*
 * Version of the protocol, equal on both sides. Increment it when anything here or in code.c
 * changes.
 */
#define REMOTE_VERSION 5
#define REMOTE_MAGIC "netsync"
#define REMOTE_HELLO_SIZE 8
#define REMOTE_HEAD_SIZE 8	/* of a record, as it travels (bytes) */

enum remote_what {
	REMOTE_WARNING,		/* text */
	REMOTE_FAILED,		/* text; its number is the errno; nothing follows */
	/* Of the trace that is told next: texts, */
	REMOTE_PATH,
	REMOTE_REAL_PATH,
	REMOTE_HOST,
	REMOTE_CLOCK,
	REMOTE_FORMAT,
	/*
	 * of a sidecar file (enum sidecar) its path, and its bytes, where the one that
	 * was told last has another path;
	 */
	REMOTE_SIDECAR,
	REMOTE_SIDECAR_BYTES,
	REMOTE_TRACE,		/* and its numbers; the record's number is the trace's */
	/*
	 * All are told: how many bytes their files have; the record's number is how many
	 * paths and captures were left out, of which warnings told.
	 */
	REMOTE_OPENED,
	/* Of the trace with the record's number: */
	REMOTE_EVENTS,		/* some, as in code.h, one behind the other */
	REMOTE_SPAN,		/* from and to a time */
	REMOTE_TURN,		/* it was read up to this time; is there more? counts */
};

/*
 * Which trace to read, and up to which time (as printed). With one of these flags, the time
 * is only the first, or the last, that is wanted of the trace at all: before its other turns.
 */
#define REMOTE_FROM (UINT32_C(1) << 31)
#define REMOTE_TO (UINT32_C(1) << 30)

struct remote_turn {
	uint32_t trace;
	int64_t until_ns;
};

#define REMOTE_TURN_SIZE 12	/* bytes, as they travel */

/* Bytes of a frame. Chosen: as much as a pipe takes. */
#define REMOTE_MAX_FRAME 65536

/* Traces of one server, as many as their numbers allow. */
#define REMOTE_MAX_TRACES 65535

/* The window of zstd is 2^N bytes; level 3 needs 2 MiB. */
#define REMOTE_WINDOW_LOG 21

/* Limits (bytes) of one sidecar file, and of all sidecar files of a server. Chosen. */
#define REMOTE_MAX_SIDECAR (16 << 20)
#define REMOTE_MAX_SIDECARS (64 << 20)

/* Warnings of one server; more of them would hide what others say. Chosen. */
#define REMOTE_MAX_WARNINGS 1000

/*
 * Limit of the observation points of one trace; further points count as one. Chosen: a machine
 * has several points for each of its devices.
 */
#define REMOTE_MAX_POINTS (1 << 20)

/* A sign of life comes so often (ms). Chosen: a sixth of the time before a warning. */
#define REMOTE_ALIVE_MS 5000
/*
 * A server gives up its own processes at the limit of netsync_io_set_timeout(). By how much
 * longer the other side waits, so that the server can say of what (percent). Chosen.
 */
#define REMOTE_SLACK_PERCENT 125
/*
 * A server that only gives signs of life is given up after this multiple of the limit.
 * Chosen: it may have to read much without a packet event.
 */
#define REMOTE_MUTE 10

/*
 * Limit of the turns that may be sent before they are due: more than any reader needs. Chosen.
 */
#define REMOTE_MAX_TURNS 4096

static inline void remote_put_32(uint8_t *to, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		to[i] = number >> (8 * i);
}

static inline uint32_t remote_take_32(const uint8_t *from)
{
	return from[0] | from[1] << 8 | from[2] << 16 | (uint32_t)from[3] << 24;
}

static inline void remote_put_turn(uint8_t to[REMOTE_TURN_SIZE],
				   const struct remote_turn *turn)
{
	remote_put_32(to, turn->trace);
	remote_put_32(to + 4, (uint32_t)(uint64_t)turn->until_ns);
	remote_put_32(to + 8, (uint32_t)((uint64_t)turn->until_ns >> 32));
}

static inline struct remote_turn remote_take_turn(const uint8_t from[REMOTE_TURN_SIZE])
{
	return (struct remote_turn){
		.trace = remote_take_32(from),
		.until_ns = (int64_t)(remote_take_32(from + 4) |
				      (uint64_t)remote_take_32(from + 8) << 32),
	};
}

#endif
