/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The agent carries out requests of netsync on a traced machine, in the protocol of remote.h. It
 * does not communicate with other machines. When its standard input ends, or a signal arrives,
 * it undoes all its actions.
 */
#ifndef NETSYNC_AGENT_H
#define NETSYNC_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json.h>

/*
 * Return the ssh connection that started this agent, as in SSH_CONNECTION, or NULL if there is
 * none. An agent on the local machine inherits this variable from the user's own login, and
 * ignores it.
 */
const char *agent_get_connection(void);

/*
 * A request is a function and a row of the table in agent.c. The function returns the answer, which
 * is an object. Before it returns, it may call the functions below to write lines and to wait.
 */

/*
 * Return the answer {"error":SENTENCE}. The next two functions write lines that may precede an
 * answer.
 */
struct json_object *agent_make_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void agent_send_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void agent_send_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Write a line, and release @line. Return false if the other end is gone. */
bool agent_send(struct json_object *line);
/*
 * Write @about with the member "bytes", then @data, and release @about. Return false if the other
 * end is gone.
 */
bool agent_send_data(struct json_object *about, const void *data, size_t size);

/* Wait for @ms, and periodically write a keepalive. Return false if the other end is gone. */
bool agent_wait_for_request(int ms);

/* ---- recording (agent/lttng.c) ------------------------------------------ */

/*
 * Functions for the requests of the same names. The comments of their definitions describe the
 * members of each request.
 */
struct json_object *agent_create(struct json_object *request);
struct json_object *agent_start(struct json_object *request);
struct json_object *agent_status(struct json_object *request);
struct json_object *agent_stop(struct json_object *request);
struct json_object *agent_finish(struct json_object *request);

/* Return the directory that agent_create() created for the session, or NULL if there is none. */
const char *session_get_folder(void);
/* Does the session's directory stay on this host after the recording? */
bool session_is_staying(void);

struct clock_reading;

/*
 * Carry out {"do":"keep"}; the answer is {"folder":PATH}. The directory stays on this host
 * (agent/stay.c).
 */
struct json_object *agent_keep(struct json_object *request);
/* Append clock readings to the file next to the traces. Return false if writing fails. */
bool stay_write_clock_readings(const struct clock_reading *readings, size_t num);

/* Send the files of the session's directory (agent/pull.c). */
struct json_object *agent_pull(struct json_object *request);
/* Return the free space on the disk of a directory, bytes. */
uint64_t folder_get_free_space(const char *path);
/*
 * Create a directory below @in, or below the scratch directory if @in is "". Return NULL and set
 * errno on failure.
 */
char *folder_create_temporary(const char *in);

/* ---- amounts that were recorded (agent/count.c) ------------------------- */

struct recorded {
	uint64_t bytes;
	uint64_t room;	 /* disk space, bytes */
	double events;	 /* an estimate */
	bool is_unclear; /* the numbers of events in some channels are not known yet */
};

/* Add the amounts of data in a directory to which LTTng records. */
void count_recorded_folder(struct recorded *recorded, const char *path);
/*
 * Add the number and the size of the events in one channel of a directory to which LTTng records.
 */
void count_recorded_channel(struct recorded *recorded, const char *path, const char *name);
/*
 * Decode a packet from time to time, in a process that takes a small share of a processor, to
 * estimate the number of events in the counted directories. Call this function often; it decodes at
 * most one packet every @period_ns.
 */
void count_sample(int64_t period_ns);
/* Stop counting, and forget all directories. */
void count_end(void);

/* ---- network traffic (agent/own-traffic.c) ------------------------------ */

/* Numbers of bytes sent and received. */
struct agent_traffic {
	uint64_t all;	/* on all devices but lo */
	uint64_t trace; /* on the agent's ssh connection */
};

void traffic_start_counting(void);
struct agent_traffic traffic_get_since_start(void);

/* ---- steering of the clock (agent/steering.c) --------------------------- */

/* Start a process that reads the clock until steering_end() is called. */
void steering_start(void);
/*
 * Write the readings since the last call as {"clocks":[{"time":N,"raw":N,"within":N}...]}, with
 * CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW in ns. Call this function once before an answer.
 */
void steering_send_readings(void);
void steering_end(void);

/* ---- a relay daemon (agent/relay-watch.c) --------------------------------------- */

/* Watch the connection to the relay daemon of this URL. If the URL is "", there is no daemon. */
void relay_watch_connection(const char *url);
bool relay_is_watched(void);
/* Is any process of this machine connected to the relay daemon? */
bool relay_is_connected(void);
/* Can this machine open a connection to the relay daemon? */
bool relay_is_reachable(void);

/* ---- traces that stay here (agent/serve.c) -------------------------------- */

/*
 * Carry out {"do":"serve","paths":[PATH...]}; the answer is {}. After {"do":"stream"}, which has
 * no answer, netsync_io_serve() uses the connection until the connection ends.
 */
struct json_object *agent_serve(struct json_object *request);
/* Serve the connection, if requested. Return false if there are no further requests. */
bool agent_stream(void);

/* ---- copies of traces that stay here (agent/apply.c) ----------------------- */

/*
 * Carry out {"do":"result","name":NAME,"text":TEXT}, which adds a part of a result file; the
 * answer is {}.
 */
struct json_object *agent_store_result(struct json_object *request);
/*
 * Run netsync apply with the result file. The request is
 * {"do":"apply","traces":[[NAME=]PATH...],"output":PATH,"metadata_only":BOOL,
 *  "extrapolate":BOOL}, and the answer is {"status":N}. Messages of netsync apply precede the
 * answer. If nobody waits for the answer any more, unfinished copies are removed.
 */
struct json_object *agent_apply(struct json_object *request);
/* Expand "~" like the user's shell. The caller frees the path. Return NULL if out of memory. */
char *agent_expand(const char *path);

/* ---- undoing (agent/undo.c) --------------------------------------------- */

enum undo {
	UNDO_SESSION = 's', /* destroy the session with this name */
	UNDO_FOLDER = 'f',  /* remove this directory */
};

/*
 * Start a child process that undoes actions, even if the agent is killed. The agent announces
 * each action before performing it, and again after undoing the action itself. Return false if
 * the child process could not be started.
 */
bool undo_start(void);
void undo_add_action(enum undo what, const char *name);
void undo_drop_action(enum undo what, const char *name);
/* Undo all announced actions, and wait until this is done. */
void undo_end(void);

/* ---- sessions of LTTng (agent/lttng.c) ---------------------------------- */

/* Destroy a session. This takes up to some seconds. */
void lttng_undo_session(const char *name);

/* ---- checks (doctor/hosts.c) -------------------------------------------- */

/*
 * Carry out {"do":"doctor","for":"lttng"}. The answer is {"checks":[...]}, with the checks in
 * the form of netsync doctor --json.
 */
struct json_object *agent_check_machine(struct json_object *request);

/* ---- beacons (agent/beacon.c) -------------------------------------------- */

/*
 * Control the beacon; see remote/beacon.h. A request to stop a beacon that was not started is
 * accepted. The requests and their answers are:
 * {"do":"beacon-open","port":0 or PORT} -> {"port":PORT,"addresses":[...]}
 * {"do":"beacon-start","session":N,"id":ID,"rate":N,"probe":BOOL,
 *  "peers":[{"id":ID,"port":PORT,"addresses":[...]}]} -> {}
 * {"do":"beacon-stop"} -> {"peers":[{"id":ID,"sent":N,"received":N,"rtt_ns":N}]}
 */
struct json_object *agent_beacon_open(struct json_object *request);
struct json_object *agent_beacon_start(struct json_object *request);
struct json_object *agent_beacon_stop(struct json_object *request);

#endif
