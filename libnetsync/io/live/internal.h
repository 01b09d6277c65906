/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that the files for live sessions share; each file calls only files above it.
 *
 *	clocks.c	how hosts' clocks are steered, by files that grow
 *	hosts.c		whose clock a trace is of; how far that was read
 *	session.c	one session: when it is read, and what its viewer sends
 *	relay.c		one relay daemon: which sessions it has
 *	live.c		the public calls, and waiting for all of them
 */
#ifndef NETSYNC_LIVE_INTERNAL_H
#define NETSYNC_LIVE_INTERNAL_H

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "io/ctf/files.h"
#include "io/live/live.h"
#include "io/live/view.h"
#include "io/names.h"

/* Interval after which a relay daemon that does not respond is asked again (ms). Chosen. */
#define RETRY_MS 200
/*
 * Wait this long (ms) for the first data of an attached session before other sessions advance.
 * Chosen.
 */
#define SETTLE_MS 10000
struct live_relay {
	struct netsync_io *io;
	char *url;  /* as given */
	char *base; /* net://HOST[:PORT] */
	char *host; /* of the session that is wanted, */
	char *name; /* and its name; NULL means all */
	struct worker lister;
	int64_t retry_ms;
	int64_t asked_ms; /* when it was last known what there is */
	bool told_down;
	bool told_gone;
	bool told_empty;
	bool told_many;
};

struct session {
	struct live_relay *relay;
	struct live_session is; /* as it was listed last */
	bool listed;
	struct worker viewer;
	struct stream stream;  /* from it */
	struct trace **traces; /* of this viewer; owned by the reader */
	size_t num_traces;
	bool late;
	bool told_late;
	bool told_busy;
	bool told_silent;
	bool failed;
	bool held; /* until the others have begun, too */
	bool has_time;
	int64_t time_ns; /* all before was read, as printed */
	int64_t began_ms;
	int64_t left_ms;
	int64_t retry_ms;
	int64_t delay_ms;
};

struct live_input {
	struct netsync_io *io;
	struct live_relay **relays;
	size_t num_relays;
	struct session **sessions;
	size_t num_sessions;
	struct io_host **hosts;
	size_t num_hosts;
	struct clocks_file **files;
	size_t num_files;
	struct told_host *told; /* numbered as by told_names */
	size_t num_told;
	struct name_table told_names;
	bool has_begun;	   /* the first hosts were numbered */
	int64_t newest_ms; /* when a session was attached to */
	uint64_t packets;  /* in this call */
};

static inline int64_t live_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* A lister or viewer got no answer in time. */
static inline bool live_has_timed_out(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
}

/* ---- clocks.c ---------------------------------------------------------- */

/* Follow a file. Return 0, or the result of io_fail(). */
int clocks_add_file(struct live_input *live, const char *path);
/*
 * Process data that was appended to the files since the last call. Return 0, or the result of
 * io_fail().
 */
int clocks_read_files(struct live_input *live);
/*
 * Use the readings that arrived before their host was added. Return 0, or the result of
 * io_fail().
 */
int clocks_join_host(struct live_input *live, struct io_host *host);
/*
 * A host was read up to a time; INT64_MAX means that it is no longer read. Return the time up
 * to which readings of its clock have also arrived, unless they are no longer waited for.
 */
int64_t clocks_find_known_until(const struct live_input *live, const struct io_host *host,
				int64_t time_ns);
void clocks_free(struct live_input *live);

/* ---- hosts.c ----------------------------------------------------------- */

/* Give a trace to its host, which is added if it is new. Return 0, or the result of io_fail(). */
int live_find_host(struct live_input *live, struct trace *trace);
/* Is nothing known yet of a session that was attached to just now? */
bool live_is_settling(const struct live_input *live);
/*
 * Report up to which time all hosts were read, so that libnetsync may drop older packets.
 * Nothing is reported while one more host may appear. Return 0, or the result of io_fail().
 */
int live_advance_hosts(struct live_input *live);

/* ---- session.c --------------------------------------------------------- */

/* Begin to read the session, unless it has another viewer. Return 0, or the result of io_fail(). */
int session_attach(struct session *session);
/* Use what its viewer has sent. Return 0, or the result of io_fail(). */
int session_receive(struct session *session);
void session_free(struct session *session);

/* ---- relay.c ----------------------------------------------------------- */

int relay_add(struct live_input *live, const char *url);
/*
 * Request the list of the relay daemon's sessions, unless the request is pending. Return 0, or
 * the result of io_fail().
 */
int relay_start_lister(struct live_relay *relay);
/* Use what its lister has sent. Return 0, or the result of io_fail(). */
int relay_receive(struct live_relay *relay);
void relay_free(struct live_relay *relay);

#endif
