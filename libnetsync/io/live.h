/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sessions that are still being recorded, through LTTng's relay daemon.
 *
 * libbabeltrace2 reads them, in processes of their own: it waits for its
 * sockets as long as it takes, and calls abort() for what it does not expect.
 * Of each relay daemon one process (the *lister*) tells again and again what
 * sessions there are, and of each session one (the *viewer*) sends what it
 * reads. They end when nobody reads what they write.
 *
 *	live.c		what was asked for; which sessions are read; hosts
 *	live-child.c	the processes, and what comes from them
 *	live-view.c	what these processes do
 */
#ifndef NETSYNC_LIVE_H
#define NETSYNC_LIVE_H

#include <sys/types.h>

#include "io.h"

/* A lister or viewer that waits so long for its relay daemon ends. */
#define LIVE_PATIENCE_S 20

enum live_what {
	/* Of listers: a session that there is; that was all; it failed. */
	LIVE_SESSION,
	LIVE_LISTED,
	LIVE_NO_ANSWER,		/* text */
	/* Of viewers, about a trace: */
	LIVE_TRACE,		/* there is one more; the next number */
	LIVE_PACKET,		/* struct netsync_packet, times as printed */
	LIVE_SPAN,		/* struct range: of the events until now */
	LIVE_COUNTS,		/* struct live_counts: until now */
	/* Of viewers: */
	LIVE_TIME,		/* int64_t: all before was sent, as printed */
	LIVE_WARNING,		/* text */
	LIVE_FAILED,		/* text; nothing follows */
};

/* What comes through the pipe: this, and then what is said above. */
struct live_head {
	uint32_t size;		/* of what follows */
	uint16_t what;
	uint16_t trace;
};

struct live_session {
	uint32_t clients;
	uint32_t streams;
	uint64_t timer_us;	/* so often at least come data */
	char host[256];
	char name[256];
	char url[1024];
};

struct live_trace {
	int64_t epoch_ns;
	bool has_clock_uuid;
	uint8_t clock_uuid[UUID_SIZE];
	char host[256];
};

struct live_counts {
	uint64_t lost_events;
	uint64_t lost_packets;
	uint64_t out_of_range;
	uint64_t has_network;	/* there are network events; 0 or 1 */
};

/* What follows a head: less than this. */
#define LIVE_MAX_SIZE 4096

/* ---- live-view.c ------------------------------------------------------- */

/* Runs in a child, with its own copy of @io; writes to @fd. */
typedef void (*live_work)(struct netsync_io *io, const char *url, int fd);

void live_list(struct netsync_io *io, const char *url, int fd);
void live_view(struct netsync_io *io, const char *url, int fd);

/* ---- live-child.c ------------------------------------------------------ */

struct live_child {
	pid_t pid;
	int fd;			/* -1: there is none */
	size_t used;
	char *buffer;
};

/* 0, or negative errno. */
int live_start(struct live_child *child, struct netsync_io *io,
	       live_work work, const char *url);
/* It has ended, or shall. Return: its status, as waitpid() gives it. */
int live_stop(struct live_child *child);

/* For each record. 0; 1: no more for now; negative: io_fail() was called. */
typedef int (*live_use)(void *data, const struct live_head *head,
			const void *payload);

/*
 * Use what is left of last time, and what there is, without waiting. 1: it goes
 * on; 0: it has ended; negative: what @use failed with.
 */
int live_receive(struct live_child *child, live_use use, void *data);

/* ---- between io.c and live.c ------------------------------------------- */

void live_free(struct live *live);

#endif
