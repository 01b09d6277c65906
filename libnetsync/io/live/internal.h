/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that the files for live sessions share; each file calls only files above it.
 *
 *	clocks.c	clock readings, from files that grow
 *	hosts.c		hosts of traces, and the times up to which hosts were read
 *	rotation.c	captures that continue in another file
 *	captures.c	captures that grow
 *	session.c	one session: attaching a viewer, and its records
 *	relay.c		one relay daemon: the list of its sessions
 *	live.c		the public calls, and waiting for all processes
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
#include "io/pcap/growing.h"

/* Interval after which a relay daemon that does not respond is asked again (ms). Chosen. */
#define RETRY_MS 200
/*
 * Wait this long (ms) for the first data of an attached session before other sessions advance.
 * Chosen.
 */
#define SETTLE_MS 10000
/*
 * Maximum time (ms) between the starts of two first sessions, or captures, that begin together.
 * Chosen.
 */
#define GATHER_MS 2000

struct live_relay {
	struct netsync_io *io;
	char *url;  /* URL as given */
	char *base; /* URL of the relay daemon: net://HOST[:PORT] */
	char *host; /* host of the requested session; NULL means all */
	char *name; /* name of the requested session; NULL means all */
	struct worker lister;
	int64_t retry_ms;
	int64_t asked_ms; /* time of the last complete list of sessions */
	bool has_reported_down;
	bool has_reported_gone;
	bool has_reported_empty;
	bool has_reported_many;
};

struct session {
	struct live_relay *relay;
	struct live_session is; /* the session's last entry in the list */
	bool listed;
	struct worker viewer;
	struct stream stream;  /* records from the viewer */
	struct trace **traces; /* traces of this viewer; the reader owns them */
	size_t num_traces;
	bool late;
	bool has_reported_late;
	bool has_reported_busy;
	bool has_reported_silent;
	bool failed;
	bool held; /* waiting until the other first sessions have begun */
	bool has_time;
	int64_t time_ns; /* time (as printed) up to which all data was read */
	int64_t began_ms;
	int64_t left_ms;
	int64_t retry_ms;
	int64_t delay_ms;
};

/* A capture that grows. */
struct live_capture {
	char *given;	     /* path as given, which can stand for several files: rotation.c */
	char *path;	     /* path of the current file */
	char *host_name;     /* name that the user gave to the host; NULL if none */
	struct trace *trace; /* packets of the current file; NULL if there is no file */
	dev_t dev;	     /* device and inode number identify the current file */
	ino_t ino;
	uint64_t size;	    /* size of the file when it was examined last (bytes) */
	int64_t grown_ms;   /* when the file was last found to have grown */
	int64_t begun_ms;   /* when the file was found */
	bool is_ready;	    /* the time of the first packet is known */
	bool is_behind;	    /* there may be packets that were not read */
	bool lacks_address; /* reading waits for an address of the host */
	bool has_clocks;    /* its file of clock readings is read */
	bool has_reported_missing;
	bool has_reported_partial;
	bool has_reported_unused;
	bool has_reported_address;
};

struct live_input {
	struct netsync_io *io;
	struct live_capture **captures;
	size_t num_captures;
	int64_t infer_ms;	/* time of the next attempt to infer addresses; 0 if none */
	int64_t infer_delay_ms; /* interval from the last attempt to the next */
	struct live_relay **relays;
	size_t num_relays;
	struct session **sessions;
	size_t num_sessions;
	struct io_host **hosts;
	size_t num_hosts;
	struct clocks_file **files;
	size_t num_files;
	char *clocks_buffer;	    /* a part of a file of readings */
	struct logged_host *logged; /* indexed by the numbers in logged_names */
	size_t num_logged;
	struct name_table logged_names;
	int64_t inferred_ms; /* time of the last attempt to infer addresses */
	bool wants_all;	     /* the caller does not wait for packets, but wants those that exist */
	bool has_begun;	     /* the first hosts were numbered */
	bool knows_owners;   /* the given addresses were checked */
	int64_t newest_ms;   /* time at which a viewer was last attached to a session */
	uint64_t packets;    /* number of packets read in this call */
};

static inline int64_t live_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* Did a lister or viewer get no answer in time? */
static inline bool live_has_timed_out(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
}

/* ---- clocks.c ---------------------------------------------------------- */

/* Add a file to read readings from. Return 0, or the result of io_fail(). */
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
 * Return the time up to which a host's clock readings have arrived, or @time_ns if the host does
 * not wait for them. The host was read up to @time_ns; INT64_MAX means that the host is no longer
 * read.
 */
int64_t clocks_find_known_until(const struct live_input *live, const struct io_host *host,
				int64_t time_ns);
/*
 * Read the readings of a host from the file at @path, whose lines may have any host name. Return
 * 0, or the result of io_fail().
 */
int clocks_add_file_of_host(struct live_input *live, struct io_host *host, const char *path);
/* Does a file of this kind belong to the host? */
bool clocks_has_file_of_host(const struct live_input *live, const struct io_host *host);
/* Return the time of the last reading of such a host, or INT64_MIN if there is none. */
int64_t clocks_get_last_ns(const struct live_input *live, const struct io_host *host);
/* Return when such a reading was last read (live_now_ms()), or 0. */
int64_t clocks_get_last_read_ms(const struct live_input *live, const struct io_host *host);
void clocks_free(struct live_input *live);

/* ---- hosts.c ----------------------------------------------------------- */

/*
 * Add a trace, which is kept after it has ended, for netsync_io_get_trace(). The caller sets its
 * format, names and real path. Return NULL after io_fail().
 */
struct trace *live_add_trace(struct live_input *live, const char *path);
/* Assign a trace to its host, which is added if it is new. Return 0, or the result of io_fail(). */
int live_find_host(struct live_input *live, struct trace *trace);
/* Was a session attached recently that has not reported anything yet? */
bool live_is_settling(const struct live_input *live);
/*
 * Report the time up to which all hosts were read, so that libnetsync may drop older packets.
 * Report nothing while another host may still appear. Return 0, or the result of io_fail().
 */
int live_advance_hosts(struct live_input *live);

/* ---- rotation.c --------------------------------------------------------- */

/*
 * Return the path of the oldest file of a capture that was written after @after, which is NULL for
 * the first file. Return NULL if there is no such file. The caller frees the path.
 */
char *rotation_find_file(const struct live_input *live, const struct live_capture *capture,
			 const struct timespec *after);

/* ---- captures.c --------------------------------------------------------- */

/* Is the argument of netsync_io_add_live() a capture, as opposed to a URL? */
bool capture_is_path(const char *what);
/* Add a capture, given as [NAME=]PATH. Return 0, or the result of io_fail(). */
int captures_add(struct live_input *live, const char *what);
/* Look for new packets in all captures. Return 0, or the result of io_fail(). */
int captures_examine(struct live_input *live);
/* Read some of the packets found. Return 0, or the result of io_fail(). */
int captures_read(struct live_input *live);
/* Are there packets that captures_read() can read at once? */
bool captures_are_behind(const struct live_input *live);
/* Have the first packets of all captures been found, or were they awaited long enough? */
bool captures_have_begun(const struct live_input *live);
/*
 * Check once that each given address belongs to the host of a capture, when all hosts are known.
 * Return 0, or the result of io_fail().
 */
int captures_check_addresses(struct live_input *live);
/*
 * Return the time up to which a capture was read. INT64_MIN if it is not known; INT64_MAX if the
 * other hosts shall not wait for its packets.
 */
int64_t capture_get_read_time(const struct live_input *live, const struct live_capture *capture);
void captures_free(struct live_input *live);

/* ---- session.c --------------------------------------------------------- */

/* Begin to read the session, unless it has another viewer. Return 0, or the result of io_fail(). */
int session_attach(struct session *session);
/* Process the records that the viewer has sent. Return 0, or the result of io_fail(). */
int session_receive(struct session *session);
void session_free(struct session *session);

/* ---- relay.c ----------------------------------------------------------- */

int relay_add(struct live_input *live, const char *url);
/*
 * Request the list of the relay daemon's sessions, unless the request is pending. Return 0, or
 * the result of io_fail().
 */
int relay_start_lister(struct live_relay *relay);
/* Process the records that the lister has sent. Return 0, or the result of io_fail(). */
int relay_receive(struct live_relay *relay);
void relay_free(struct live_relay *relay);

#endif
