/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * netsync record records hosts to a directory with a trace of each host and the result of netsync
 * sync. Agents on the hosts (record/agent/) run LTTng:
 *
 *	agent, LTTng -- ssh forwards ports --> our own lttng-relayd -> DIR/+incoming
 *	                                                            -> DIR/HOST
 *	with --pull: agent -> disk of the host -- copied at the end --> DIR/HOST
 *
 * With the other sources of --via, hosts send captures instead (record/capture.h).
 */
#ifndef NETSYNC_RECORD_H
#define NETSYNC_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/clock-reading.h"
#include "common/options.h"
#include "common/recording.h"
#include "common/spool.h"
#include "record/costs.h"
#include "remote/beacons.h"
#include "remote/remote.h"

struct recorded_host;

/* ---- a relay daemon of our own (record/relay.c) -------------------------- */

enum { RELAY_CONTROL, RELAY_DATA, RELAY_LIVE, RELAY_PORTS };

struct relay {
	pid_t pid;		     /* of the keeper process; 0 if none */
	int pipe;		     /* pipe whose closing ends the keeper */
	uint16_t ports[RELAY_PORTS]; /* ports on loopback */
	char *folder;		     /* output directory, DIR/+incoming */
	char *log;		     /* file with its messages */
};

/* Start a relay daemon that writes below @dir. On failure, print a message and return false. */
bool relay_start(struct relay *relay, const char *dir);
/* Is the daemon running? Return false if it ended unexpectedly. */
bool relay_is_running(struct relay *relay);
/* Wait some seconds, until viewers have received the last events. */
void relay_await_viewers(const struct relay *relay);
/* End the daemon after it has written all received data. */
void relay_stop(struct relay *relay);
/* Remove the daemon's log, and its output directory if that is empty. */
void relay_discard(struct relay *relay);

/* ---- events (record/preset.c) --------------------------------------------- */

struct events {
	struct json_object *patterns; /* array of names of kernel events */
	bool syscalls;		      /* all system calls */
	bool user;		      /* all events of user space */
};

/*
 * Parse the values of options. The first function takes names of kernel events, such as "a,b*";
 * the second one takes the name of a preset or a file.
 */
bool parse_events_option(void *at, const struct option_row *row, const char *list);
extern const char *const preset_names[];
bool parse_preset_option(void *at, const struct option_row *row, const char *name);

/* ---- folders (record/files.c) ---------------------------------------------- */

/* Return the disk space that files_put_data() with the same arguments will take, bytes. */
uint64_t files_measure_room(const char *dir, const struct remote *remote, struct json_object *about,
			    size_t size);
/* Append @size bytes to the file below @dir/HOST that @about names. */
bool files_put_data(const char *dir, struct remote *remote, struct json_object *about,
		    const char *data, size_t size);
/*
 * Move the traces of a host from the relay daemon's directory to @dir/HOST. The traces of
 * several sessions are moved to @dir/HOST/1 and so on.
 */
void files_collect_traces(const char *dir, const struct relay *relay,
			  const struct recorded_host *host);
/* Write the names of a host's network namespaces to @dir/HOST/netsync-namespaces. */
void files_name_namespaces(const char *dir, const struct recorded_host *host);
/*
 * Warn about traces that remain in the relay daemon's directory. Anyone who can reach the daemon
 * can send traces.
 */
void files_warn_about_unexpected(const struct relay *relay);

/* ---- the recording --------------------------------------------------------- */

/* Name of the result file, which is next to the directories of the hosts. */
#define RESULT_NAME "sync.json"

/*
 * Size of an unguessable token, which is 128 random bits in hexadecimal digits, with a
 * terminating NUL.
 */
#define TOKEN_SIZE (2 * 16 + 1)

/*
 * Free space on a disk below which a recording ends, so that the contents of buffers can still
 * be written, bytes. Chosen.
 */
#define MIN_ROOM (4 << 20)

struct losses;
struct travel_program;

struct recorded_host {
	struct remote *remote;
	bool pull;	 /* the host records to its own disk */
	bool recording;	 /* the host has a session, and no request has failed */
	bool stopped;	 /* the host was stopped before the others, and its trace is kept */
	char *kept;	 /* directory on the host where its traces stay, or NULL if none */
	char **sessions; /* names of consecutive LTTng sessions */
	unsigned int num_sessions;
	int64_t cut_ns;	    /* time when its relay daemon was lost, or 0 */
	bool renew;	    /* the host needs a new session, and a relay daemon is available */
	unsigned int via;   /* enum capture_via except VIA_BEST; VIA_LTTNG while unknown */
	int capture;	    /* descriptor of the file of its capture, or -1 if there is none yet */
	uint64_t size;	    /* size of its trace so far, bytes */
	uint64_t room;	    /* disk space of its trace here, bytes */
	uint64_t events;    /* estimated events in the trace; 0 if unknown */
	uint64_t discarded; /* number of events discarded so far */
	struct json_object *namespaces; /* names of network namespaces; NULL if unknown */
	struct spool clocks;		/* array of struct clock_reading */
	FILE *clock_file; /* clock readings of a capture; NULL if none yet, or after an error */
	bool lacks_clock_file;		    /* the clock readings could not be written */
	struct clock_reading first_reading; /* last reading before the capture began */
	bool has_first_reading;
	struct losses *losses; /* by channel; NULL before the first status */
	struct capture_costs costs;
	bool ended; /* the recording has ended, and losses_report() was called */
};

struct record_run {
	/* Options. */
	char *dir; /* NULL only with --relayd */
	struct events events;
	struct json_object *buffers; /* array for requests; NULL means default buffers */
	unsigned int via;	     /* enum capture_via */
	bool measures_costs;	     /* captures report their costs */
	bool may_fall_back;	     /* netsync may change via from VIA_LTTNG to VIA_BEST */
	const char *rsh;	     /* command that reaches hosts; NULL means ssh */
	const char *container, *pod; /* record only its packets; NULL means all */
	char *merged;		     /* file for the packets of all hosts; NULL means none */
	bool local, pull, live;
	const char *stay;	/* the hosts' directory where traces stay; "" for the default */
	const char *url;	/* the user's relay daemon; NULL means netsync's own */
	uint64_t quota;		/* disk space here that each host may take, bytes */
	int64_t duration_ns;	/* 0 to record until the command ends, or until ^C */
	struct beacons beacons; /* not used if the rate is 0 */
	char **command;		/* NULL if none */

	struct remotes all;
	struct recorded_host *hosts;	 /* in the order of all.list */
	struct travel_program *programs; /* the programs that were sent to hosts */
	struct relay relay;
	int announced;		     /* descriptor from recording_announce() */
	FILE *live_clocks;	     /* RECORDING_CLOCKS; NULL if no readings yet */
	bool lacks_live_clocks;	     /* that file cannot be written */
	char token[TOKEN_SIZE];	     /* secret, so that nobody else can send to our sessions */
	char stamp[32 + TOKEN_SIZE]; /* date and token, which are a part of session names */
	mode_t umask;		     /* the user's umask, for the command */
	pid_t child;		     /* process of the command, or 0 if not running */
	int64_t started_ns;	     /* now_ns() at the start of the recording */
	unsigned int renewals;	     /* number of lost relay daemons */
	bool is_terminal, drawn;     /* state of the status line on stderr */
	bool is_losing;		     /* some buffers are too small */
	bool made_dir;
	bool partial; /* something is missing; the exit status reports this */
};

/*
 * The first function returns the recording that a remote is a part of, and the second one
 * returns the host in the recording (record/record.c).
 */
struct record_run *get_record_run(const struct remote *remote);
struct recorded_host *find_recorded_host(const struct remote *remote);

/* ---- buffers (record/losses.c) ------------------------------------------------ */

/* Parse the value of --buffers into a struct json_object *, which has the form used in requests. */
bool parse_buffers_option(void *at, const struct option_row *row, const char *text);
/*
 * Use the status of a host's channels. Warn about a channel when events were discarded for the
 * first time.
 */
void losses_update(struct record_run *rec, struct recorded_host *host);
/* Report missing data at the end, and the buffers that would have been large enough. */
void losses_report(struct record_run *rec, struct recorded_host *host);

/* ---- the status line (record/record.c) ---------------------------------------- */

/* Clear the line before other text is printed in its place. */
void clear_status_line(struct record_run *rec);

/* ---- netsync live (record/announce.c) ----------------------------------------- */

/*
 * Let netsync live find the recording. Captures can always be followed, because that needs nothing
 * of the hosts.
 */
void record_announce(struct record_run *rec);

/* ---- open files (record/open-files.c) ------------------------------------------ */

/*
 * Can this process open enough files? netsync raises the limit to the hard limit when it starts. If
 * that is too low, print a message.
 */
bool record_check_open_files(const struct record_run *rec);

/* ---- the beacon (record/beacon.c) -------------------------------------------- */

/* Start beacons between all hosts that record, if the rate is not 0. */
void record_beacon_start(struct record_run *rec);
/* Stop beacons, and warn about links on which no packets arrived. */
void record_beacon_stop(struct record_run *rec);

/* ---- requests to all hosts at once (record/hosts.c) -------------------------- */

/*
 * Create and start sessions. If this fails on a host, the host does not record, and the
 * recording is partial. Return the number of hosts that record.
 */
unsigned int hosts_create_sessions(struct record_run *rec);
unsigned int hosts_start_sessions(struct record_run *rec);
/*
 * Create and start new sessions on hosts that need them, and report missing data. Return the
 * number of hosts that record.
 */
unsigned int hosts_renew_sessions(struct record_run *rec);
/*
 * End the recording on hosts that have sent more than the quota, and disconnect those
 * that continue to send.
 */
void hosts_check_quota(struct record_run *rec);
/* Count bytes that are copied from a host's disk. Return false if they exceed the quota. */
bool host_count_data(struct record_run *rec, struct recorded_host *host, uint64_t room);
/* Stop using a host. The data received so far are kept. */
void host_give_up(struct record_run *rec, struct recorded_host *host);
void host_ask_status(const struct record_run *rec, const struct recorded_host *host);
/* Use the answer to host_ask_status(). Return false if the host's disk is full. */
bool host_use_status(struct record_run *rec, struct recorded_host *host);
/* Stop one host, and keep its trace so far. The other hosts continue. */
void host_stop(struct record_run *rec, struct recorded_host *host);
/* Stop all hosts, wait until all data has arrived, and report missing data. */
void hosts_stop(struct record_run *rec);
/* Copy the traces of hosts that recorded to their own disks. */
void hosts_pull_traces(struct record_run *rec);
/* Leave the traces on the hosts, and print where they are. */
void hosts_keep_traces(struct record_run *rec);
/* Display which share of the traces was copied, as remotes.show. */
bool hosts_show_pull(struct remotes *all, struct progress *line);

/* ---- steering of clocks (clocks.c) ------------------------------------------ */

/* Store readings of a host's clock. */
void clocks_keep_readings(struct record_run *rec, struct recorded_host *host,
			  struct json_object *readings);
/* Write the stored readings to @dir/HOST/netsync-clocks. */
void clocks_write_file(const char *dir, struct recorded_host *host);
/*
 * Write a reading from a line of netsync-recorder's standard error to the file next to the
 * host's capture. Return false if the line is not a reading.
 */
bool clocks_handle_line(struct record_run *rec, struct recorded_host *host, const char *line);
void clocks_close_file(struct record_run *rec, struct recorded_host *host);
void clocks_discard_file(struct record_run *rec, struct recorded_host *host);
/* Remove the file that netsync live follows. */
void clocks_remove_followed(struct record_run *rec);

#endif
