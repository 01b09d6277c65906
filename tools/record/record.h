/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * netsync record: hosts and events -> a folder with a trace of each host, and the result
 * of netsync sync. Agents on the hosts (record/agent/) run LTTng:
 *
 *	agent, LTTng -- ssh forwards ports --> our own lttng-relayd -> DIR/+incoming
 *	                                                            -> DIR/HOST
 *	with --pull: agent -> disk of the host -- copied at the end --> DIR/HOST
 *
 * With --via packet, bpf or tcpdump, hosts send captures instead (record/capture.h).
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
	pid_t pid;		     /* of the keeper process; 0 if none */
	int pipe;		     /* closing it ends the keeper */
	uint16_t ports[RELAY_PORTS]; /* on loopback */
	char *folder;		     /* its output: DIR/+incoming */
	char *log;		     /* file with its messages */
};

/* Start a relay daemon that writes below @dir. On failure, print a message and return false. */
bool relay_start(struct relay *relay, const char *dir);
/* Is the daemon running? Return false if it ended unexpectedly. */
bool relay_is_running(struct relay *relay);
/* Wait, for some seconds, until viewers have received the last events. */
void relay_await_viewers(const struct relay *relay);
/* End the daemon, after it has written all received data. */
void relay_stop(struct relay *relay);
/* Remove its log, and its output if that is empty. */
void relay_discard(struct relay *relay);

/* ---- events (record/preset.c) --------------------------------------------- */

struct events {
	struct json_object *patterns; /* array of names of kernel events */
	bool syscalls;		      /* all system calls */
	bool user;		      /* all events of user space */
};

/* Take values of options: names of kernel events, "a,b*"; the name of a preset or a file. */
bool parse_events_option(void *at, const struct option_row *row, const char *list);
extern const char *const preset_names[];
bool parse_preset_option(void *at, const struct option_row *row, const char *name);

/* ---- folders (record/files.c) ---------------------------------------------- */

/* The disk space that files_put_data() with the same arguments will take, bytes. */
uint64_t files_measure_room(const char *dir, const struct remote *remote, struct json_object *about,
			    size_t size);
/* Append @size bytes to the file below @dir/HOST that @about names. */
bool files_put_data(const char *dir, struct remote *remote, struct json_object *about,
		    const char *data, size_t size);
/*
 * Move the traces of a host from the relay daemon's directory to @dir/HOST; those of several
 * sessions to @dir/HOST/1 and so on.
 */
void files_collect(const char *dir, const struct relay *relay, const struct recorded_host *host);
/* Write the names of a host's network namespaces to @dir/HOST/netsync-namespaces. */
void files_name_namespaces(const char *dir, const struct recorded_host *host);
/* Warn about remaining traces: anyone who can reach the daemon can send some. */
void files_refuse(const struct relay *relay);

/* ---- the recording --------------------------------------------------------- */

/* The result file, next to the directories of the hosts. */
#define RESULT_NAME "sync.json"

/* Size of an unguessable token: 128 random bits in hexadecimal digits, and a 0. */
#define TOKEN_SIZE (2 * 16 + 1)

/*
 * Free bytes on a disk below which a recording ends, so that the contents of buffers can
 * still be written. Chosen.
 */
#define MIN_ROOM (4 << 20)

struct losses;
struct travel_program;

struct recorded_host {
	struct remote *remote;
	bool pull;	 /* records to the host's own disk */
	bool recording;	 /* has a session, and no request failed */
	bool stopped;	 /* stopped before the others; its trace is kept */
	char *kept;	 /* directory on the host where its traces stay; NULL if none */
	char **sessions; /* names of consecutive LTTng sessions */
	unsigned int num_sessions;
	int64_t cut_ns;			/* when its relay daemon was lost; 0: it was not */
	bool renew;			/* needs a new session: a relay daemon is available again */
	unsigned int via;		/* enum capture_via, but not VIA_BEST; VIA_LTTNG: unknown */
	int capture;			/* descriptor of its capture; -1: none yet */
	uint64_t size;			/* of its trace so far, bytes */
	uint64_t room;			/* disk space of its trace here, bytes */
	uint64_t events;		/* estimated events in the trace; 0 if unknown */
	uint64_t discarded;		/* events so far */
	struct json_object *namespaces; /* names of network namespaces; NULL if unknown */
	struct spool clocks;		/* struct clock_reading */
	FILE *clock_file;		/* of a capture; NULL: none yet, or it cannot be written */
	bool lacks_clock_file;		/* it could not be written */
	struct losses *losses;		/* by channel; NULL if no status yet */
	bool ended;			/* recording has ended; losses_report() was called */
};

struct record_run {
	/* Options. */
	char *dir; /* NULL only with --relayd */
	struct events events;
	struct json_object *buffers; /* array for requests; NULL means default buffers */
	unsigned int via;	     /* enum capture_via */
	bool may_fall_back;	     /* from VIA_LTTNG to VIA_BEST */
	const char *rsh;	     /* command that reaches hosts; NULL means ssh */
	char *merged;		     /* file for the packets of all hosts; NULL means none */
	bool local, pull, live;
	const char *stay;	/* hosts' directory where traces stay; "": default */
	const char *url;	/* the user's relay daemon; NULL means netsync's own */
	uint64_t quota;		/* disk space here that each host may take, bytes */
	int64_t duration_ns;	/* 0: until the command ends, or ^C */
	struct beacons beacons; /* none if the rate is 0 */
	char **command;		/* NULL if none */

	struct remotes all;
	struct recorded_host *hosts;	 /* in the order of all.list */
	struct travel_program *programs; /* that were sent to hosts */
	struct relay relay;
	int announced;		     /* from recording_announce() */
	FILE *live_clocks;	     /* RECORDING_CLOCKS; NULL if no readings yet */
	bool lacks_live_clocks;	     /* that file cannot be written */
	char token[TOKEN_SIZE];	     /* secret, so that nobody else can send to our sessions */
	char stamp[32 + TOKEN_SIZE]; /* date and token: part of names of sessions */
	mode_t umask;		     /* the user's, for the command */
	pid_t child;		     /* the command; 0 if not running */
	int64_t started_ns;	     /* now_ns() at the start of the recording */
	unsigned int renewals;	     /* number of lost relay daemons */
	bool is_terminal, drawn;     /* of the status line on stderr */
	bool is_losing;		     /* some buffers are too small */
	bool made_dir;
	bool partial; /* something is missing, which the exit status reports */
};

/* The recording of a host, and the host in it (record/record.c). */
struct record_run *get_record_run(const struct remote *remote);
struct recorded_host *find_recorded_host(const struct remote *remote);

/* ---- buffers (record/losses.c) ------------------------------------------------ */

/* Take the value of --buffers, in the form used in requests: a struct json_object *. */
bool parse_buffers_option(void *at, const struct option_row *row, const char *text);
/* Take the status of a host's channels; warn about a channel at its first discarded events. */
void losses_update(struct record_run *rec, struct recorded_host *host);
/* At the end, report missing data, and buffers that would have been large enough. */
void losses_report(struct record_run *rec, struct recorded_host *host);

/* ---- the status line (record/record.c) ---------------------------------------- */

/* Clear the line before other text is printed in its place. */
void clear_status_line(struct record_run *rec);

/* ---- the beacon (record/beacon.c) -------------------------------------------- */

/* Start beacons between all hosts that record, if the rate is not 0. */
void record_beacon_start(struct record_run *rec);
/* Stop beacons, and warn about links on which none arrived. */
void record_beacon_stop(struct record_run *rec);

/* ---- requests to all hosts at once (record/hosts.c) -------------------------- */

/*
 * Create and start sessions. Hosts on which this fails do not record, and the recording is
 * partial. Return the number of hosts that record.
 */
unsigned int hosts_create(struct record_run *rec);
unsigned int hosts_start(struct record_run *rec);
/* The same for new sessions of hosts to be renewed; report missing data. */
unsigned int hosts_renew(struct record_run *rec);
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
/* Take the answer to host_ask_status(). Return false if the host's disk is full. */
bool host_use_status(struct record_run *rec, struct recorded_host *host);
/* Stop one host and keep its trace so far; the others continue. */
void host_stop(struct record_run *rec, struct recorded_host *host);
/* Stop all hosts, wait until all data has arrived, and report missing data. */
void hosts_stop(struct record_run *rec);
/* Copy the traces of hosts that recorded to their own disks. */
void hosts_pull(struct record_run *rec);
/* Leave the traces on the hosts, and print where they are. */
void hosts_keep(struct record_run *rec);
/* Display the copied share of the traces: remotes.show. */
bool hosts_show_pull(struct remotes *all, struct progress *line);

/* ---- steering of clocks (clocks.c) ------------------------------------------ */

/* Keep readings of a host's clocks, */
void clocks_keep_readings(struct record_run *rec, struct recorded_host *host,
			  struct json_object *readings);
/* and write them to @dir/HOST/netsync-clocks. */
void clocks_write_file(const char *dir, struct recorded_host *host);
/*
 * Write a reading next to the capture of a host, from a line in which netsync-recorder reports
 * it. Return false if the line is none.
 */
bool clocks_handle_line(struct record_run *rec, struct recorded_host *host, const char *line);
void clocks_close_file(struct record_run *rec, struct recorded_host *host);
void clocks_discard_file(struct record_run *rec, struct recorded_host *host);
/* Remove the file that netsync live follows. */
void clocks_remove_followed(struct record_run *rec);

#endif
