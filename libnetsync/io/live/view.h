/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interface between the files that follow live sessions through LTTng's relay daemon, and
 * the workers in which libbabeltrace2 reads these sessions (view.c). One worker for each relay
 * daemon (the *lister*) reports the sessions of the daemon at intervals; one worker for each
 * session (the *viewer*) sends the events that it reads.
 */
#ifndef NETSYNC_LIVE_VIEW_H
#define NETSYNC_LIVE_VIEW_H

#include "io/ctf/stream.h"
#include "io/io.h"
#include "io/stream/stream.h"
#include "io/worker/worker.h"

/* Time after which a lister or viewer ends if its relay daemon does not respond (s). Chosen. */
#define LIVE_PATIENCE_S 20

/*
 * Memory limit of a lister or viewer (bytes). Babeltrace 2.0 needs sixty times the size of the
 * metadata: 180 MiB for 3 MiB, which is more than all events of a kernel need. Each stream
 * takes a buffer of 256 KiB, and a machine with 256 processors has a thousand streams.
 */
#define LIVE_MEMORY (UINT64_C(512) << 20)

/*
 * Maximum number of sessions that are read from one relay daemon, each by its own process.
 * Chosen.
 */
#define LIVE_MAX_SESSIONS 512
/* Maximum number of traces in a session: one of the kernel, and one or two of each user. Chosen. */
#define LIVE_MAX_TRACES 256
/* Maximum number of observation points (hooks and interfaces) of a trace. Chosen. */
#define LIVE_MAX_POINTS 4096

/* Records of listers and viewers, in addition to those of io/stream. */
enum live_what {
	/* Records of listers: an existing session; the end of the list; a failure. */
	LIVE_SESSION = STREAM_OTHER,
	LIVE_LISTED,
	LIVE_NO_ANSWER, /* text */
	/*
	 * Records of viewers: the struct ctf_identity of a trace that is new (with the next
	 * number) or has changed; the time (int64_t, as printed) up to which all data was sent.
	 */
	LIVE_TRACE,
	LIVE_TIME,
};

struct live_session {
	uint32_t clients;
	uint32_t streams;
	uint64_t timer_us; /* maximum interval between transfers of data (us) */
	char host[256];
	char name[256];
	char url[1024];
};

/* Arguments of a lister or viewer. */
struct live_task {
	struct netsync_io *io;
	const char *url;
};

extern const struct worker_task live_list;
extern const struct worker_task live_view;

#endif
