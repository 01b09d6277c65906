/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Machines that do something for us: an agent (agent.h) runs on each, reached
 * by the user's own ssh, or as a child if it is this machine.
 *
 * All is said in lines of JSON. The agent greets, {"netsync":VERSION,...}; then
 * each request of ours, {"do":WHAT,...}, gets one answer: an object that tells,
 * or {"error":SENTENCE}. Before it may come any number of {"warning":SENTENCE},
 * {"note":SENTENCE}, {"working":WHAT}, and {"bytes":N,...} with N bytes of data
 * right after the line; and once {"clocks":[...]}, with the last of its readings.
 *
 * Which these are, and how large, is in protocol.h: what is not as it says there,
 * or takes longer, ends what we have to do with that machine. This and what else
 * goes wrong with one is printed, with its name, and lost is set.
 *
 * One thread, one poll() for all.
 */
#ifndef NETSYNC_REMOTE_H
#define NETSYNC_REMOTE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <json.h>

#include "common/options.h"

/* Ports that ssh forwards: those of control and of data of a relay daemon. */
#define REMOTE_PORTS 2

struct pollfd;

struct buffer {
	char *data;
	size_t len;
	size_t size;
};

struct remote {
	char *name;		/* for people: HOST, or as it was given */
	char *folder;		/* the same, fit for a file or session name */
	char *destination;	/* [USER@]HOST for ssh; NULL: this machine */
	char *port;		/* NULL: ssh's default */
	bool ready;		/* it has greeted, and is of our version */
	bool lost;		/* it cannot be asked any more */
	bool handed_over;	/* nor this, since others talk with it */
	unsigned int asked;	/* answers to come */
	struct json_object *hello;	/* how it greeted */
	struct json_object *answer;	/* the last one; NULL: lost, or an error */
	char *last_said;	/* what was said of it last; NULL: nothing */
	/* Its ports that lead to ours, or 0: ssh or its server refused. */
	uint16_t ports[REMOTE_PORTS];

	/* For remote.c and hear.c alone. */
	pid_t pid;
	int to, from, err;
	int64_t heard_ns;	/* its last word, and ours */
	int64_t said_ns;
	int64_t limit_ns;	/* of what was asked last */
	int64_t end_ns;		/* until when all that was asked is answered */
	int64_t lost_ns;
	struct buffer in, log;
	bool takes_data;
	struct json_object *about;	/* the data that come now */
	size_t due;		/* how many bytes these are; 0: none */
	size_t step;		/* of data since the limit was set */
	unsigned int said;	/* sentences that were shown */
	unsigned int sentences;	/* of its agent */
	bool told_clocks;	/* since its last answer */
	struct remotes *all;
};

struct progress;

struct remotes {
	struct remote **list;
	unsigned int num;
	const char *netsync;	/* what to run there; NULL: as in their PATH */
	bool repeats;		/* one machine may be there more than once */
	/* Our loopback ports that shall be reached from there; 0: none. */
	uint16_t forward[REMOTE_PORTS];
	/* Told of data; false: it could not be put anywhere, and stops coming. */
	bool (*data)(struct remote *remote, struct json_object *about,
		     const char *data, size_t size);
	/* Told of readings of its clock, as the protocol has them; or NULL. */
	void (*clocks)(struct remote *remote, struct json_object *readings);
	/* Shows how far they are while they are waited for; false: that is not known. */
	bool (*show)(struct remotes *all, struct progress *line);
	volatile sig_atomic_t *stop;	/* waiting ends when it is not 0; or NULL */
	struct pollfd *fds;		/* for remote.c alone */
};

/*
 * Add a machine: [USER@]HOST[:PORT], an IPv6 address in brackets if there is a
 * port; NULL: this one. False: it was said what is wrong with it.
 */
bool remotes_add(struct remotes *all, const char *host);
/* Which machines, and how they are talked to, in a struct remotes. */
extern const struct option_row remote_options[];

/*
 * Start an agent on each, and wait for all of them. Those that do not come are
 * lost. Return: how many are ready.
 */
unsigned int remotes_connect(struct remotes *all);

/*
 * Send a request to one that is ready. @request is released. Then wait until
 * each has answered or is lost, as those are that take longer than the protocol
 * has it; or *all->stop is set, or @limit_ns is over (0: there is no other
 * limit). False: not all have answered; the next wait goes on with them.
 */
void remote_ask(struct remote *remote, struct json_object *request);
bool remotes_wait(struct remotes *all, int64_t limit_ns);

/* Hear what there is, for up to @timeout_ms. */
void remotes_poll(struct remotes *all, int timeout_ms);

/*
 * The connection is another one's from now on: what the agent said it would do when
 * it was asked to "serve" begins. The descriptors remain the machine's. False: it is
 * lost, which was said.
 */
bool remote_hand_over(struct remote *remote, int *in, int *out);

/* {"do":what}, which protocol.h knows */
struct json_object *request_new(const char *what);

/* This machine has had enough of it. */
void remote_give_up(struct remote *remote);
/* The same, and it can send nothing more, over ports of ours neither. */
void remote_cut(struct remote *remote);

/* Print a sentence with its name; not without end. */
void remote_say(struct remote *remote, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- for remote.c and hear.c alone --------------------------------------- */

/* Take the lines and data that are whole out of its buffer. */
void remote_hear(struct remote *remote);
/* Forget the first bytes of a buffer. */
void buffer_drop(struct buffer *buffer, size_t len);

/* Let all agents go, and wait for them: each undoes what it did. */
void remotes_close(struct remotes *all);
/* The same, if it was not done before, and forget their names as well. */
void remotes_free(struct remotes *all);

#endif
