/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of netsync record share. */
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

struct host;

/* ---- a relay daemon of our own (record/relay.c) -------------------------- */

enum { RELAY_CONTROL, RELAY_DATA, RELAY_LIVE, RELAY_PORTS };

struct relay {
	pid_t pid;			/* of who looks after it; 0: none */
	int pipe;			/* it ends when this is closed */
	uint16_t ports[RELAY_PORTS];	/* on loopback; 0: any that is free */
	char *folder;			/* where it writes */
	char *log;			/* what it said */
};

/* Below @dir. False: it was said why not. */
bool relay_start(struct relay *relay, const char *dir);
/* False: it ended by itself. */
bool relay_runs(struct relay *relay);
/* Let viewers have the last events, for some seconds. */
void relay_await_viewers(const struct relay *relay);
/* End it, once it has written all that it has. */
void relay_stop(struct relay *relay);

/* ---- events (record/preset.c) --------------------------------------------- */

struct events {
	struct json_object *patterns;	/* an array */
	bool syscalls;
	bool user;
};

/* Values of options: names of kernel events, "a,b*"; and the name of a preset, or of a file. */
bool take_events(void *at, const struct option_row *row, const char *list);
bool take_preset(void *at, const struct option_row *row, const char *name);

/* ---- folders (record/files.c) ---------------------------------------------- */

/* What it will take on the disk (bytes) to put data so. */
uint64_t files_room(const char *dir, const struct remote *remote,
		    struct json_object *about, size_t size);
/* As a member of struct remotes: put data into a file below @dir/HOST. */
bool files_put(const char *dir, struct remote *remote,
	       struct json_object *about, const char *data, size_t size);
/*
 * Move what the relay daemon wrote of the sessions of a host to @dir/HOST: of one
 * session as it is, of several each to a folder with a number.
 */
void files_collect(const char *dir, const struct relay *relay,
		   const struct host *host);
/* Put beside its traces how it calls its network namespaces. */
void files_name_namespaces(const char *dir, const struct host *host);
/* Keep what a host says of how its clock is steered (record/clocks.c), */
void clocks_take(struct host *host, struct json_object *readings);
/* and put it beside its traces. */
void clocks_write(const char *dir, struct host *host);
/* Say what is left then: whoever reaches the daemon can send something to it. */
void files_refuse(const struct relay *relay);

/* ---- the recording --------------------------------------------------------- */

/* In the folder, beside those of the hosts. */
#define RESULT_NAME "sync.json"

/* 128 random bits, in hexadecimal digits: nobody guesses that. */
#define TOKEN_SIZE (2 * 16 + 1)

/* With less room, recording ends while what there is can still be closed. */
#define MIN_ROOM (4 << 20)

struct losses;

struct host {
	struct remote *remote;
	bool pull;		/* it records to its own disk */
	bool recording;
	bool stopped;		/* before the others; what there is is still wanted */
	char *kept;		/* folder on the host where its traces stay; NULL: none */
	char **sessions;	/* one after the other */
	unsigned int num_sessions;
	int64_t cut_ns;		/* when it lost its relay daemon; 0: it did not */
	bool renew;		/* there is one again */
	uint64_t size;		/* of what it recorded so far */
	uint64_t room;		/* that this takes here (bytes) */
	uint64_t events;	/* in that, about; 0: it is not known */
	uint64_t discarded;
	struct json_object *namespaces;	/* as it calls them; NULL: not known */
	struct spool clocks;	/* how its clock was steered, as far as it says */
	struct losses *losses;	/* NULL: it said nothing yet */
	bool ended;		/* it records nothing any more */
};

struct record {
	/* As asked for. */
	char *dir;
	struct events events;
	struct json_object *buffers;	/* as requests have them; NULL: the usual ones */
	bool local, pull, live;
	const char *stay;	/* folder on the hosts, below which traces stay; "": any */
	const char *url;
	uint64_t quota;		/* bytes that each host may send here */
	int64_t duration_ns;
	struct beacons beacons;	/* with a rate of 0 there are none */
	char **command;

	struct remotes all;
	struct host *hosts;	/* as all.list */
	struct relay relay;
	int announced;		/* what recording_announce() gave */
	char token[TOKEN_SIZE];	/* what nobody else can know */
	char stamp[32 + TOKEN_SIZE];	/* for the names of sessions */
	mode_t umask;		/* the user's */
	pid_t child;
	int64_t started_ns;
	unsigned int renewals;	/* relay daemons that were lost */
	bool is_terminal, drawn;
	bool is_losing;		/* some buffers are too small */
	bool made_dir;
	bool partial;		/* something is missing */
};

/* ---- buffers (record/losses.c) ------------------------------------------------ */

/* The value of an option: buffers of requests, a struct json_object *. */
bool take_buffers(void *at, const struct option_row *row, const char *text);
/* What a host said of its channels: warn of one as soon as it discards events. */
void losses_take(struct record *rec, struct host *host);
/* At the end, say loudly what is missing, and which buffers would have held it. */
void losses_say(struct record *rec, struct host *host);

/* ---- the line that shows how it goes (record/record.c) ------------------------ */

/* Before something else is printed there. */
void clear_line(struct record *rec);

/* ---- the beacon (record/beacon.c) -------------------------------------------- */

/* If one was asked for, between all that record. */
void record_beacon_start(struct record *rec);
/* Say as well who heard nothing of whom. */
void record_beacon_stop(struct record *rec);

/* ---- what is done on all hosts at once (record/hosts.c) ---------------------- */

/*
 * Those where it does not work do not record any more, and the recording is
 * partial. Return: how many hosts still record.
 */
unsigned int hosts_create(struct record *rec);
unsigned int hosts_start(struct record *rec);
/* Go on with new sessions on those to be renewed, and say what is missing. */
unsigned int hosts_renew(struct record *rec);
/*
 * End the recording on hosts that have sent more than the quota, and cut off those
 * that go on sending.
 */
void hosts_check_quota(struct record *rec);
/* Count what is copied from its disk. False: it takes more than the quota. */
bool host_take_data(struct record *rec, struct host *host, uint64_t room);
void host_ask_status(const struct record *rec, const struct host *host);
/* What a host answered to that. False: it has no more room. */
bool host_take_status(struct record *rec, struct host *host);
/* Stop one: the others go on, and what it has recorded is kept. */
void host_stop(struct record *rec, struct host *host);
/* Stop, wait until all data have arrived, and say loudly what is missing. */
void hosts_stop(struct record *rec);
/* Copy the traces of those that recorded to their own disks. */
void hosts_pull(struct record *rec);
/* Let the traces stay on the hosts, and say where. */
void hosts_keep(struct record *rec);
/* See struct remotes: how much of the traces is copied. */
bool hosts_show_pull(struct remotes *all, struct progress *line);

#endif
