/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * netsync record: hosts and events -> a folder with a trace of each host, and the result
 * of netsync sync. Agents on the hosts (record/agent/) run LTTng:
 *
 *	agent, LTTng -- ssh forwards ports --> lttng-relayd of our own -> DIR/+incoming
 *	                                                               -> DIR/HOST
 *	with --pull: agent -> disk of the host -- copied at the end --> DIR/HOST
 */
#ifndef NETSYNC_RECORD_H
#define NETSYNC_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/options.h"
#include "common/recording.h"
#include "common/spool.h"
#include "remote/beacons.h"
#include "remote/remote.h"

struct recorded_host;

/* ---- a relay daemon of our own (record/relay.c) -------------------------- */

enum { RELAY_CONTROL, RELAY_DATA, RELAY_LIVE, RELAY_PORTS };

struct relay {
	pid_t pid;			/* of the process that keeps it; 0: none */
	int pipe;			/* closing this ends it */
	uint16_t ports[RELAY_PORTS];	/* on loopback */
	char *folder;			/* its output: DIR/+incoming */
	char *log;			/* file with its messages */
};

/* Start a relay daemon that writes below @dir. False: a message says why not. */
bool relay_start(struct relay *relay, const char *dir);
/* Does the daemon run? False: it has ended by itself. */
bool relay_runs(struct relay *relay);
/* Wait, for some seconds, until viewers have the last events. */
void relay_await_viewers(const struct relay *relay);
/* End the daemon, once it has written all data that came. */
void relay_stop(struct relay *relay);

/* ---- events (record/preset.c) --------------------------------------------- */

struct events {
	struct json_object *patterns;	/* array of names of kernel events */
	bool syscalls;			/* all system calls */
	bool user;			/* all events of user space */
};

/* Take values of options: names of kernel events, "a,b*"; the name of a preset or file. */
bool take_events(void *at, const struct option_row *row, const char *list);
extern const char *const preset_names[];
bool take_preset(void *at, const struct option_row *row, const char *name);

/* ---- folders (record/files.c) ---------------------------------------------- */

/* The bytes on the disk that files_put() with the same arguments will take. */
uint64_t files_room(const char *dir, const struct remote *remote,
		    struct json_object *about, size_t size);
/* Append @size bytes to the file below @dir/HOST that @about names. */
bool files_put(const char *dir, struct remote *remote,
	       struct json_object *about, const char *data, size_t size);
/*
 * Move the traces of a host from the relay daemon's folder to @dir/HOST; those of several
 * sessions to @dir/HOST/1 and so on.
 */
void files_collect(const char *dir, const struct relay *relay,
		   const struct recorded_host *host);
/* Write the names of a host's network namespaces to @dir/HOST/netsync-namespaces. */
void files_name_namespaces(const char *dir, const struct recorded_host *host);
/* Warn about traces that are left: whoever reaches the daemon can send it some. */
void files_refuse(const struct relay *relay);

/* ---- the recording --------------------------------------------------------- */

/* The file with the result, beside the folders of the hosts. */
#define RESULT_NAME "sync.json"

/* Bytes of a token that nobody guesses: 128 random bits in hexadecimal digits, and a 0. */
#define TOKEN_SIZE (2 * 16 + 1)

/*
 * Bytes free on a disk below which recording ends, while there is room to write what is in
 * buffers. Chosen.
 */
#define MIN_ROOM (4 << 20)

struct losses;

struct recorded_host {
	struct remote *remote;
	bool pull;		/* records to the host's own disk */
	bool recording;		/* has a session, and no request failed */
	bool stopped;		/* before the others; its trace is wanted */
	char *kept;		/* folder on the host where its traces stay; NULL: none */
	char **sessions;	/* names of LTTng sessions, one after the other */
	unsigned int num_sessions;
	int64_t cut_ns;		/* when its relay daemon was lost; 0: it was not */
	bool renew;		/* needs a new session: there is a relay daemon again */
	uint64_t size;		/* of its trace until now, bytes */
	uint64_t room;		/* that its trace takes on our disk, bytes */
	uint64_t events;	/* estimate of events in it; 0: not known */
	uint64_t discarded;	/* events, until now */
	struct json_object *namespaces;	/* names of network namespaces; NULL: not known */
	struct spool clocks;	/* struct clock_reading */
	struct losses *losses;	/* by channel; NULL: no status came yet */
	bool ended;		/* recording has ended; losses_say() was called */
};

struct record_run {
	/* Options. */
	char *dir;		/* NULL: with --relayd only */
	struct events events;
	struct json_object *buffers;	/* array for requests; NULL: the default ones */
	bool local, pull, live;
	const char *stay;	/* hosts' folder where traces stay; "": default */
	const char *url;	/* relay daemon of the user; NULL: our own */
	uint64_t quota;		/* bytes on our disk that each host may take */
	int64_t duration_ns;	/* 0: until the command ends, or ^C */
	struct beacons beacons;	/* with a rate of 0 there are none */
	char **command;		/* NULL: none */

	struct remotes all;
	struct recorded_host *hosts; /* in the order of all.list */
	struct relay relay;
	int announced;		/* from recording_announce() */
	FILE *live_clocks;	/* RECORDING_CLOCKS; NULL: there are no readings */
	bool lacks_live_clocks;	/* that file cannot be written */
	char token[TOKEN_SIZE];	/* secret, so that nobody can send to our sessions */
	char stamp[32 + TOKEN_SIZE];	/* date and token: part of names of sessions */
	mode_t umask;		/* the user's, for the command */
	pid_t child;		/* the command; 0: none runs */
	int64_t started_ns;	/* now_ns() when recording started */
	unsigned int renewals;	/* relay daemons that were lost */
	bool is_terminal, drawn;	/* of the status line on stderr */
	bool is_losing;		/* some buffers are too small */
	bool made_dir;
	bool partial;		/* something is missing: the exit status says so */
};

/* ---- buffers (record/losses.c) ------------------------------------------------ */

/* Take the value of --buffers, as requests have it: a struct json_object *. */
bool take_buffers(void *at, const struct option_row *row, const char *text);
/* Take a host's status of its channels; warn about one at its first discarded events. */
void losses_take(struct record_run *rec, struct recorded_host *host);
/* At the end: say what is missing, and which buffers would have held it. */
void losses_say(struct record_run *rec, struct recorded_host *host);

/* ---- the status line (record/record.c) ---------------------------------------- */

/* Clear the line before something else is printed there. */
void clear_line(struct record_run *rec);

/* ---- the beacon (record/beacon.c) -------------------------------------------- */

/* Start beacons between all hosts that record, if there is a rate. */
void record_beacon_start(struct record_run *rec);
/* Stop beacons, and warn about links on which none arrived. */
void record_beacon_stop(struct record_run *rec);

/* ---- requests to all hosts at once (record/hosts.c) -------------------------- */

/*
 * Create and start sessions. Hosts where that fails do not record, and the recording is
 * partial. Return: the number of hosts that record.
 */
unsigned int hosts_create(struct record_run *rec);
unsigned int hosts_start(struct record_run *rec);
/* The same for new sessions of hosts to be renewed; say what is missing. */
unsigned int hosts_renew(struct record_run *rec);
/*
 * End the recording on hosts that have sent more than the quota, and cut off those
 * that go on sending.
 */
void hosts_check_quota(struct record_run *rec);
/* Count bytes that are copied from a host's disk. False: that exceeds the quota. */
bool host_take_data(struct record_run *rec, struct recorded_host *host, uint64_t room);
void host_ask_status(const struct record_run *rec, const struct recorded_host *host);
/* Take the answer to host_ask_status(). False: the host's disk is full. */
bool host_take_status(struct record_run *rec, struct recorded_host *host);
/* Stop one host; its trace until now is kept, and the others go on. */
void host_stop(struct record_run *rec, struct recorded_host *host);
/* Stop all hosts, wait until all data have arrived, and say what is missing. */
void hosts_stop(struct record_run *rec);
/* Copy the traces of hosts that recorded to their own disks. */
void hosts_pull(struct record_run *rec);
/* Let the traces stay on the hosts, and say where. */
void hosts_keep(struct record_run *rec);
/* Show how much of the traces is copied: remotes.show. */
bool hosts_show_pull(struct remotes *all, struct progress *line);

/* ---- steering of clocks (clocks.c) ------------------------------------------ */

/* Keep readings of a host's clocks, */
void clocks_take(struct record_run *rec, struct recorded_host *host, struct json_object *readings);
/* and write them to @dir/HOST/netsync-clocks. */
void clocks_write(const char *dir, struct recorded_host *host);
/* Remove the file that netsync live follows. */
void clocks_withdraw(struct record_run *rec);

#endif
