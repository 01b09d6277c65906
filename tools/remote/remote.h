/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Machines that work for netsync: an agent (agent.h) runs on each, started through the
 * user's ssh, or as a child on this machine.
 *
 * The protocol consists of lines of JSON. The agent greets, {"netsync":VERSION,...}; then
 * each request, {"do":WHAT,...}, gets one answer: an object with the result, or
 * {"error":SENTENCE}. Before the answer, any number of {"warning":SENTENCE},
 * {"note":SENTENCE}, {"working":WHAT}, and {"bytes":N,...}, followed directly by N bytes
 * of data; and once {"clocks":[...]}, with the last clock readings.
 *
 * protocol.h specifies the members and their limits. A line that violates it, or an
 * answer that is too late, ends the communication with that machine. This and other
 * failures are printed, with the machine's name, and set lost.
 *
 * One thread with one poll() serves all machines.
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

/* Ports that ssh forwards: the control and data ports of a relay daemon. */
#define REMOTE_PORTS 2

/* Exit status of a shell that does not find a command (POSIX). */
#define REMOTE_NOT_FOUND 127

struct pollfd;
struct remote;

struct buffer {
	char *data;
	size_t len;
	size_t size;
};

/* What a machine does instead of running an agent. */
struct remote_work {
	/* In a new process: execute the program that works there; does not return. */
	void (*start)(const struct remote *remote);
	/* Take the output in remote->in, all of it if the machine is lost. */
	void (*hear)(struct remote *remote);
	/* Take a line of standard error. Return false if it is a message; or NULL. */
	bool (*take_line)(struct remote *remote, const char *line);
	/* Text that is sent from time to time to a machine that works; NULL: none. */
	const char *alive;
	/* The process has ended, with this status of waitpid(), and its output was taken. */
	void (*end)(struct remote *remote, int status);
};

struct remote {
	char *name;		    /* for people: HOST, or as given */
	char *folder;		    /* the same, usable in names of files and sessions */
	char *destination;	    /* [USER@]HOST for ssh; NULL means this machine */
	char *port;		    /* NULL means ssh's default */
	bool ready;		    /* it has greeted, and has our version */
	bool lost;		    /* requests are impossible */
	bool lacks_netsync;	    /* it has none, or another version */
	bool handed_over;	    /* requests are impossible, because others use the connection */
	unsigned int asked;	    /* answers to come */
	struct json_object *hello;  /* its greeting */
	struct json_object *answer; /* the last one; NULL if lost, or an error */
	char *last_said;	    /* the last message about it; NULL if none */
	/* Remote ports that lead to local ports; 0 if ssh or its server refused. */
	uint16_t ports[REMOTE_PORTS];

	/* Private to remote.c and hear.c. */
	pid_t pid;
	int to, from, err;
	int64_t heard_ns; /* times of its last output, and of ours */
	int64_t said_ns;
	int64_t limit_ns; /* of the last request */
	int64_t end_ns;	  /* when all requests must be answered */
	int64_t lost_ns;
	struct buffer in, log;
	const char *out; /* what remote_send() has to send */
	size_t out_left; /* bytes of it */
	bool takes_data;
	struct json_object *about; /* the current data */
	size_t due;		   /* remaining bytes of it; 0 if none */
	size_t step;		   /* bytes of data since the limit was set */
	unsigned int said;	   /* messages that were printed */
	unsigned int sentences;	   /* messages of its agent */
	bool told_clocks;	   /* since its last answer */
	struct remotes *all;
};

struct progress;

struct remotes {
	struct remote **list;
	unsigned int num;
	const struct remote_work *work; /* NULL for agents */
	const char *netsync;		/* program to run there; NULL to search PATH */
	bool repeats;			/* a machine may be listed more than once */
	/* Local loopback ports to be reached from the machine; 0 if none. */
	uint16_t forward[REMOTE_PORTS];
	/*
	 * Called for data. Return false if the data could not be stored, so that no more is
	 * read.
	 */
	bool (*data)(struct remote *remote, struct json_object *about, const char *data,
		     size_t size);
	/* Called for readings of its clock, in the protocol's form; or NULL. */
	void (*clocks)(struct remote *remote, struct json_object *readings);
	/* Display progress while waiting; false if unknown. */
	bool (*show)(struct remotes *all, struct progress *line);
	volatile sig_atomic_t *stop; /* waiting ends when it is not 0; or NULL */
	struct pollfd *fds;	     /* private to remote.c */
};

/*
 * Add a machine given as [USER@]HOST[:PORT], with an IPv6 address in brackets if there is a
 * port. A @host of NULL means this machine. If @host is invalid, print a message and return
 * false.
 */
bool remotes_add(struct remotes *all, const char *host);
/* Options for the machines and the connections to them, for a struct remotes. */
extern const struct option_row remote_options[];

/*
 * Start an agent on each machine, and wait for all agents. Agents that do not start are lost.
 * Return the number of ready agents.
 */
unsigned int remotes_connect(struct remotes *all);

/*
 * Send a request to a machine that is ready, and release @request. Then wait until each machine
 * has answered or is lost, because it exceeded the protocol's time limit, until *all->stop is
 * set, or until @limit_ns has elapsed (0 means no such limit). Return false if some machines
 * have not answered; the next wait continues with them.
 */
void remote_ask(struct remote *remote, struct json_object *request);
bool remotes_wait(struct remotes *all, int64_t limit_ns);

/* Process available input, and send, for up to @timeout_ms. */
void remotes_poll(struct remotes *all, int timeout_ms);

/*
 * Hand over the connection. After the request "serve", the agent starts that service on it. The
 * machine keeps the descriptors. If the connection is lost, print a message and return false.
 */
bool remote_hand_over(struct remote *remote, int *in, int *out);

/* ---- for work other than agents ------------------------------------------- */

/* Execute @command on the machine, by ssh, as its user configured it; does not return. */
void remote_exec_ssh(const struct remote *remote, const char *command);
/* Send bytes, which have to stay, while waiting; one message at a time. */
void remote_send(struct remote *remote, const char *data, size_t size);
/* Close the standard input of its program. Wait for @limit_ns until that ends. */
void remote_end_input(struct remote *remote, int64_t limit_ns);

/* {"do":what}, which protocol.h knows */
struct json_object *request_create(const char *what);

/* Stop using this machine. */
void remote_give_up(struct remote *remote);
/* The same, and disconnect it, so that it cannot send through forwarded ports, either. */
void remote_disconnect(struct remote *remote);

/* Print a message with its name; the number of messages is limited. */
void remote_complain(struct remote *remote, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- for remote.c and hear.c alone --------------------------------------- */

/* Process the complete lines and data in its buffer. */
void remote_use_input(struct remote *remote);
/* Drop the first bytes of a buffer. */
void buffer_drop(struct buffer *buffer, size_t len);

/* Release all agents, and wait for them: each undoes its actions. */
void remotes_close(struct remotes *all);
/* Make them ready for other work, after remotes_close(). */
void remotes_reset(struct remotes *all);
/* Close, unless already done, and free the machines' names as well. */
void remotes_free(struct remotes *all);

#endif
