/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Machines that do something for us: an agent (agent.h) runs on each, reached
 * by the user's own ssh, or as a child if it is this machine.
 *
 * All is said in lines of JSON. The agent greets, {"netsync":VERSION,...}; then
 * each request of ours, {"do":WHAT,...}, gets one answer: an object that tells,
 * or {"error":SENTENCE}. Before it may come any number of {"warning":SENTENCE},
 * {"note":SENTENCE}, {"working":WHAT}, and {"bytes":N,...} with N bytes of data
 * right after the line.
 *
 * One thread, one poll() for all. What goes wrong with a machine is printed,
 * with its name, and ends what we have to do with it: lost is set.
 */
#ifndef NETSYNC_REMOTE_H
#define NETSYNC_REMOTE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <json.h>

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
	unsigned int asked;	/* answers to come */
	struct json_object *hello;	/* how it greeted */
	struct json_object *answer;	/* the last one; NULL: lost, or an error */
	/* Its ports that lead to ours, or 0: ssh or its server refused. */
	uint16_t ports[REMOTE_PORTS];

	/* For remote.c alone. */
	pid_t pid;
	int to, from, err;
	int64_t heard_ns, said_ns;
	struct buffer in, log;
	struct remotes *all;
};

struct remotes {
	struct remote **list;
	unsigned int num;
	const char *netsync;	/* what to run there; NULL: as in their PATH */
	/* Our loopback ports that shall be reached from there; 0: none. */
	uint16_t forward[REMOTE_PORTS];
	/* Told of data; false: it could not be put anywhere, and stops coming. */
	bool (*data)(struct remote *remote, struct json_object *about,
		     const char *data, size_t size);
	volatile sig_atomic_t *stop;	/* waiting ends when it is not 0; or NULL */
	struct pollfd *fds;		/* for remote.c alone */
};

/*
 * Add a machine: [USER@]HOST[:PORT], an IPv6 address in brackets if there is a
 * port; NULL: this one. False: it was said what is wrong with it.
 */
bool remotes_add(struct remotes *all, const char *host);

/*
 * Start an agent on each, and wait for all of them. Those that do not come are
 * lost. Return: how many are ready.
 */
unsigned int remotes_connect(struct remotes *all);

/*
 * Send a request to one that is ready. @request is released. Then wait until
 * each has answered, is lost, or *all->stop is set; a limit of 0 is none. False:
 * not all have answered; the next wait goes on with them.
 */
void remote_ask(struct remote *remote, struct json_object *request);
bool remotes_wait(struct remotes *all, int64_t limit_ns);

/* Hear what there is, for up to @timeout_ms. */
void remotes_poll(struct remotes *all, int timeout_ms);

/* {"do":what} */
struct json_object *request_new(const char *what);
/* A member of an answer: "" or 0 if it is not there. */
const char *answer_text(struct json_object *answer, const char *key);
int64_t answer_number(struct json_object *answer, const char *key);

/* This machine has had enough of it. */
void remote_give_up(struct remote *remote);

/* Let all agents go, and wait for them: each undoes what it did. */
void remotes_close(struct remotes *all);
/* The same, if it was not done before, and forget their names as well. */
void remotes_free(struct remotes *all);

#endif
