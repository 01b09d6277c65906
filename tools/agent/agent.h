/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The agent: does on this machine what netsync asks for that runs elsewhere
 * (remote.h says in which words). It knows of no other machine. Once its
 * standard input ends, or a signal says so, everything is undone that it did.
 */
#ifndef NETSYNC_AGENT_H
#define NETSYNC_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json.h>

/*
 * The ssh connection that this agent is at the end of, as SSH_CONNECTION has it;
 * NULL: there is none. That of a login in which netsync runs, which an agent on
 * the same machine inherits, is not its own.
 */
const char *agent_connection(void);

/*
 * A request is a function and a row of the table in agent.c: it returns the
 * answer, an object, and may say and wait as below before.
 */

/* Answers: {"error":SENTENCE}; and what may come before one. */
struct json_object *agent_error(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
void agent_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void agent_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line that is none of these; it is released. False: nobody reads it. */
bool agent_say(struct json_object *line);
/* @about gets "bytes"; it is released. False: nobody reads them. */
bool agent_data(struct json_object *about, const void *data, size_t size);

/*
 * Wait so long, and say now and then that the work goes on. False: nobody
 * waits for its end any more.
 */
bool agent_wait(int ms);

/* ---- recording (agent/lttng.c) ------------------------------------------ */

/* As the requests of the same names (agent.c says what they take). */
struct json_object *agent_create(struct json_object *request);
struct json_object *agent_start(struct json_object *request);
struct json_object *agent_status(struct json_object *request);
struct json_object *agent_stop(struct json_object *request);
struct json_object *agent_finish(struct json_object *request);

/* What agent_create() made to record to; NULL: nothing was recorded here. */
const char *session_folder(void);

/* The files of that folder (agent/pull.c). */
struct json_object *agent_pull(struct json_object *request);
/* How many bytes more there is room for. */
uint64_t folder_room(const char *path);
/* NULL: none could be made, and errno says why. */
char *folder_new(void);

/* ---- how much was recorded (agent/count.c) -------------------------------- */

struct recorded {
	uint64_t bytes;
	uint64_t room;		/* that they take on the disk (bytes) */
	double events;		/* about; */
	bool is_unclear;	/* of some there is no telling yet */
};

/* Add what is in a folder and below, where LTTng records to. */
void count_folder(struct recorded *recorded, const char *path);
/* Add what was found there of a channel: its events alone. */
void count_channel(struct recorded *recorded, const char *path, const char *name);
/*
 * Now and then, find out how many events there are in the packets of these
 * folders: to be called often, since the work is done meanwhile by a process that
 * takes a small part of a processor, and once in @period_ns at most.
 */
void count_sample(int64_t period_ns);
/* The folders are not looked at any more. */
void count_end(void);

/* ---- what goes over the network (agent/own-traffic.c) ------------------------- */

/* In bytes, sent and received. */
struct traffic {
	uint64_t all;		/* by all devices */
	uint64_t trace;		/* over the connection that ssh has for us */
};

void traffic_start(void);
struct traffic traffic_since(void);

/* ---- how its clock is steered (agent/steering.c) ------------------------------ */

/* From now on find out, until it ends. */
void steering_start(void);
/*
 * Say what was found since this was called last, {"clocks":[{"time":N,"raw":N,
 * "within":N}...]}, of CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW, in ns: before an
 * answer, once.
 */
void steering_say(void);
void steering_end(void);

/* ---- a relay daemon (agent/relay-watch.c) --------------------------------------- */

/* The one at this URL; "": none. */
void relay_watch(const char *url);
bool relay_is_watched(void);
/* Is anything of this machine connected to it? */
bool relay_is_connected(void);
/* Could it be? */
bool relay_is_reachable(void);

/* ---- what is to be undone (agent/undo.c) --------------------------------- */

enum undo {
	UNDO_SESSION = 's',	/* destroy the session of this name */
	UNDO_FOLDER = 'f',	/* remove this folder */
};

/*
 * A process of its own undoes it, so that it is done even if the agent is
 * killed. It is told before anything is done, and when that is over. False: it
 * could not be started.
 */
bool undo_start(void);
void undo_remember(enum undo what, const char *name);
void undo_forget(enum undo what, const char *name);
/* Undo what is remembered, and wait until it is. */
void undo_end(void);

/* ---- LTTng's own words (agent/lttng.c) ----------------------------------- */

/* Destroy a session, within some seconds. */
void lttng_undo_session(const char *name);

/* ---- what it lacks (doctor/hosts.c) ------------------------------------------- */

/* {"do":"doctor"} -> {"checks":[...]}, as netsync doctor has them in JSON. */
struct json_object *agent_doctor(struct json_object *request);

/* ---- beacons (agent/beacon.c) -------------------------------------------- */

/*
 * {"do":"beacon-open","port":0 or PORT} -> {"port":PORT,"addresses":[...]}
 * {"do":"beacon-start","session":N,"id":ID,"rate":N,"probe":BOOL,
 *  "peers":[{"id":ID,"port":PORT,"addresses":[...]}]} -> {}
 * {"do":"beacon-stop"} -> {"peers":[{"id":ID,"sent":N,"received":N,"rtt_ns":N}]}
 * See beacon.h. To stop what was not started does no harm.
 */
struct json_object *agent_beacon_open(struct json_object *request);
struct json_object *agent_beacon_start(struct json_object *request);
struct json_object *agent_beacon_stop(struct json_object *request);

#endif
