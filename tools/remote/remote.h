/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Machines that work for netsync. An agent (agent.h) runs on each machine. It is started through
 * the user's ssh, or as a child process on this machine.
 *
 * The protocol consists of lines of JSON. The agent begins with a greeting, {"netsync":VERSION,...}.
 * Then each request, {"do":WHAT,...}, gets one answer, which is an object with the result, or
 * {"error":SENTENCE}. An answer may be preceded by any number of {"warning":SENTENCE},
 * {"note":SENTENCE}, {"working":WHAT}, and {"bytes":N,...}, which is followed directly by N bytes of
 * data. It may also be preceded by one {"clocks":[...]} with the last clock readings.
 *
 * protocol.h specifies the members and their limits. If a line violates them, or an answer is too
 * late, the communication with that machine ends. This and other failures are printed with the
 * name of the machine, and set lost.
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

/* Number of ports that ssh forwards, which are the control and data ports of a relay daemon. */
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

/* Work of a machine other than running an agent. */
struct remote_work {
	/*
	 * Execute the program that does the work. This is called in a new process, and does not
	 * return.
	 */
	void (*start)(const struct remote *remote);
	/* Use the output in remote->in. If the machine is lost, use all of it. */
	void (*hear)(struct remote *remote);
	/*
	 * Use a line of standard error. Return false if the line is a message. The callback may
	 * be NULL.
	 */
	bool (*take_line)(struct remote *remote, const char *line);
	/* Text that is sent from time to time to a working machine, or NULL. */
	const char *alive;
	/* Handle the end of the process, after its output was used. @status is from waitpid(). */
	void (*end)(struct remote *remote, int status);
};

struct remote {
	char *name;	    /* name in messages: HOST, or the text that the user gave */
	char *folder;	    /* the same name in a form for files and sessions */
	char *destination;  /* [USER@]HOST for ssh; NULL means this machine */
	char *port;	    /* NULL means ssh's default */
	bool ready;	    /* the agent has sent a greeting with our version */
	bool lost;	    /* requests are impossible */
	bool lacks_netsync; /* netsync is not installed, or has another version */
	/* requests are impossible, because another part of netsync uses the connection */
	bool handed_over;
	unsigned int asked;	    /* number of answers that are pending */
	struct json_object *hello;  /* the greeting */
	struct json_object *answer; /* the last answer; NULL if lost, or after an error */
	char *last_said;	    /* the last message about the machine, or NULL */
	/* Remote ports that lead to local ports; 0 if ssh or its server refused. */
	uint16_t ports[REMOTE_PORTS];

	/* Private to remote.c and hear.c. */
	pid_t pid;
	int to, from, err;
	int64_t heard_ns; /* times of the last output of the machine and of netsync, ns */
	int64_t said_ns;
	int64_t limit_ns; /* time limit of the last request, ns */
	int64_t end_ns;	  /* time by which all requests must be answered, ns */
	int64_t lost_ns;
	struct buffer in, log;
	const char *out; /* remaining data of remote_send() */
	size_t out_left; /* number of remaining bytes */
	bool takes_data;
	struct json_object *about; /* announcement of the current data */
	size_t due;		   /* number of remaining bytes of the data, or 0 */
	size_t step;		   /* number of bytes since the time limit was set */
	unsigned int said;	   /* number of messages that were printed */
	unsigned int sentences;	   /* number of messages from the agent */
	bool told_clocks;	   /* clock readings have arrived since the last answer */
	struct remotes *all;
};

struct progress;

struct remotes {
	struct remote **list;
	unsigned int num;
	const struct remote_work *work; /* NULL for agents */
	const char *netsync;		/* path of the program to run there; NULL to search PATH */
	bool repeats;			/* a machine may be listed more than once */
	/* Local loopback ports to be reached from the machine; 0 if none. */
	uint16_t forward[REMOTE_PORTS];
	/*
	 * Callback for data. It returns false if the data could not be stored, so that no more
	 * is read.
	 */
	bool (*data)(struct remote *remote, struct json_object *about, const char *data,
		     size_t size);
	/* Callback for readings of the machine's clock, in the form of the protocol, or NULL. */
	void (*clocks)(struct remote *remote, struct json_object *readings);
	/*
	 * Callback that displays progress while waiting. It returns false if progress is
	 * unknown.
	 */
	bool (*show)(struct remotes *all, struct progress *line);
	volatile sig_atomic_t *stop; /* if not NULL, waiting ends when *stop is not 0 */
	struct pollfd *fds;	     /* private to remote.c */
};

/*
 * Add a machine given as [USER@]HOST[:PORT]. An IPv6 address must be in brackets if a port
 * follows. A @host of NULL means this machine. If @host is invalid, print a message and return
 * false.
 */
bool remotes_add(struct remotes *all, const char *host);
/* Options that set the machines and the connections to them in a struct remotes. */
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

/* Process available input and send pending data for up to @timeout_ms. */
void remotes_poll(struct remotes *all, int timeout_ms);

/*
 * Hand over the connection. After the request "serve", the agent starts that service on the
 * connection. @remote still owns the descriptors. If the connection is lost, print a message and
 * return false.
 */
bool remote_hand_over(struct remote *remote, int *in, int *out);

/* ---- for work other than agents ------------------------------------------- */

/*
 * Execute @command on the machine through ssh, as the user configured it. This function does not
 * return.
 */
void remote_exec_ssh(const struct remote *remote, const char *command);
/*
 * Send bytes while waiting. @data must remain valid until it is sent, and only one call can be
 * pending.
 */
void remote_send(struct remote *remote, const char *data, size_t size);
/* Close the standard input of the machine's program. The program must end within @limit_ns. */
void remote_end_input(struct remote *remote, int64_t limit_ns);

/* Return the request {"do":@what}, which protocol.h must define. */
struct json_object *request_create(const char *what);

/* Stop using a machine. */
void remote_give_up(struct remote *remote);
/*
 * Stop using a machine, and disconnect it, so that it cannot send through forwarded ports,
 * either.
 */
void remote_disconnect(struct remote *remote);

/* Print a message with the name of the machine. The number of messages is limited. */
void remote_complain(struct remote *remote, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- for remote.c and hear.c alone --------------------------------------- */

/* Process the complete lines and data in a machine's buffer. */
void remote_use_input(struct remote *remote);
/* Drop the first bytes of a buffer. */
void buffer_drop(struct buffer *buffer, size_t len);

/* Release all agents, and wait until each of them has undone its actions. */
void remotes_close(struct remotes *all);
/* Prepare the machines for other work after remotes_close(). */
void remotes_reset(struct remotes *all);
/* Close the connections if this was not done, and free the machines. */
void remotes_free(struct remotes *all);

#endif
