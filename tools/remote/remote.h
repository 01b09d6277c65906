/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Run agents on machines that work for netsync. An agent (agent.h) is started through the user's
 * ssh, or as a child process on this machine.
 *
 * The protocol consists of lines of JSON. The agent begins with a greeting,
 * {"netsync":VERSION,...}. Then each request, {"do":WHAT,...}, gets one answer, which is an object
 * with the result, or {"error":SENTENCE}. Before an answer, any number of {"warning":SENTENCE},
 * {"note":SENTENCE}, {"working":WHAT} and {"bytes":N,...} may occur. N bytes of data follow the
 * latter directly. One line {"clocks":[...]} with the last clock readings may also precede an
 * answer. protocol.h specifies the members and their limits.
 *
 * If a line violates these limits, or if an answer is too late, the communication with this machine
 * ends. This and other failures set the member lost, and are printed with the machine's name. One
 * thread serves all machines with one poll().
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

/* Number of ports that ssh forwards: the control port and the data port of a relay daemon. */
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

/* Work on a machine other than running an agent. */
struct remote_work {
	/* Execute the program that does the work. Called in a new process. Does not return. */
	void (*start)(const struct remote *remote);
	/* Process the output in remote->in. If the machine is lost, process all of it. */
	void (*hear)(struct remote *remote);
	/*
	 * Process a line of standard error. Return false if the line is a message for the user. May
	 * be NULL.
	 */
	bool (*take_line)(struct remote *remote, const char *line);
	/* Text that is sent periodically while the machine works, or NULL. */
	const char *alive;
	/* Handle the end of the process, after its output was used. @status is from waitpid(). */
	void (*end)(struct remote *remote, int status);
};

struct remote {
	char *name;	    /* in messages: HOST, or the text that the user gave */
	char *folder;	    /* the machine's name in a form for files and sessions */
	char *destination;  /* [USER@]HOST for ssh, or NULL for this machine */
	char *port;	    /* port, or NULL for ssh's default */
	bool ready;	    /* whether the agent has sent a greeting with netsync's version */
	bool lost;	    /* whether requests are impossible */
	bool lacks_netsync; /* whether netsync is not installed or has another version */
	/* whether another part of netsync uses the connection, so that requests are impossible */
	bool handed_over;
	unsigned int asked;	    /* number of answers that are pending */
	struct json_object *hello;  /* the greeting */
	struct json_object *answer; /* the last answer; NULL if lost or after an error */
	char *last_said;	    /* the last message about the machine, or NULL */
	/* Remote ports that lead to local ports, or 0 if ssh or its server refused. */
	uint16_t ports[REMOTE_PORTS];

	/* Only remote.c and hear.c use the following members. */
	pid_t pid;
	int to, from, err;
	int64_t heard_ns; /* times of the last output of the machine and of netsync, ns */
	int64_t said_ns;
	int64_t limit_ns; /* time limit of the last request, ns */
	int64_t end_ns;	  /* time limit for all answers, ns */
	int64_t lost_ns;
	struct buffer in, log;
	const char *out; /* data of remote_send() that have not been sent yet */
	size_t out_left; /* number of remaining bytes */
	bool takes_data;
	struct json_object *about; /* announcement of the current data */
	size_t due;		   /* number of remaining bytes of the data, or 0 */
	size_t step;		   /* number of bytes since the time limit was set */
	unsigned int said;	   /* number of messages that were printed */
	unsigned int sentences;	   /* number of messages from the agent */
	bool has_new_clocks;	   /* whether clock readings have arrived since the last answer */
	struct remotes *all;
};

struct progress;

struct remotes {
	struct remote **list;
	unsigned int num;
	const struct remote_work *work; /* work of the machines, or NULL if they run agents */
	const char *netsync;		/* program to run on the machine; NULL to search PATH */
	bool repeats;			/* whether a machine may be in the list more than once */
	/* Ports on this machine's loopback device that the machine must be able to reach, or 0. */
	uint16_t forward[REMOTE_PORTS];
	/*
	 * Receives data. If this function cannot store the data, it returns false, and no more data
	 * are read.
	 */
	bool (*data)(struct remote *remote, struct json_object *about, const char *data,
		     size_t size);
	/* Receives readings of the machine's clock, in the form of the protocol. May be NULL. */
	void (*clocks)(struct remote *remote, struct json_object *readings);
	/* Displays the progress while waiting. Returns false if the progress is not known. */
	bool (*show)(struct remotes *all, struct progress *line);
	volatile sig_atomic_t *stop; /* if not NULL, waiting ends when *stop is no longer 0 */
	struct pollfd *fds;	     /* only remote.c uses this */
};

/*
 * Add a machine, given as [USER@]HOST[:PORT], or this machine if @host is NULL. If a port follows
 * an IPv6 address, the address must be in brackets. If @host is invalid, print a message and return
 * false.
 */
bool remotes_add(struct remotes *all, const char *host);
/* Options for the machines and for the connections to them. They set a struct remotes. */
extern const struct option_row remote_options[];

/*
 * Start an agent on each machine, and wait for all agents. Machines whose agent does not start are
 * lost. Return the number of agents that are ready.
 */
unsigned int remotes_connect(struct remotes *all);

/*
 * remote_ask() sends a request to a machine that is ready, and releases @request. remotes_wait()
 * waits until each machine has answered or has exceeded the protocol's time limit and so is lost,
 * until *all->stop is set, or until @limit_ns has passed (0 means no such limit). remotes_wait()
 * returns false if some machines have not answered. The next call continues to wait for these.
 */
void remote_ask(struct remote *remote, struct json_object *request);
bool remotes_wait(struct remotes *all, int64_t limit_ns);

/* Process available input and send pending data for at most @timeout_ms. */
void remotes_poll(struct remotes *all, int timeout_ms);

/*
 * Hand over the connection. After the request "serve", the agent serves traces on the connection.
 * @remote still owns the file descriptors. If the connection is lost, print a message and return
 * false.
 */
bool remote_hand_over(struct remote *remote, int *in, int *out);

/* ---- for work other than agents ------------------------------------------- */

/*
 * Execute @command on the machine through ssh with the user's configuration. This function does not
 * return.
 */
void remote_exec_ssh(const struct remote *remote, const char *command);
/*
 * Send bytes while waiting. @data must remain valid until they are sent. Only one such transmission
 * can be pending.
 */
void remote_send(struct remote *remote, const char *data, size_t size);
/* Close the standard input of the machine's program. The program must then end within @limit_ns. */
void remote_end_input(struct remote *remote, int64_t limit_ns);

/* Return the request {"do":@what}, which protocol.h must define. */
struct json_object *request_create(const char *what);

/* Stop using a machine. */
void remote_give_up(struct remote *remote);
/*
 * Stop using a machine, and disconnect it, so that it cannot send through forwarded ports either.
 */
void remote_disconnect(struct remote *remote);

/* Print a message with the machine's name. The number of messages is limited. */
void remote_complain(struct remote *remote, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- for remote.c and hear.c alone --------------------------------------- */

/* Process the complete lines and data in a machine's buffer. */
void remote_use_input(struct remote *remote);
/* Drop the first bytes of a buffer. */
void buffer_drop(struct buffer *buffer, size_t len);

/* Release all agents. Wait until each of them has undone its actions. */
void remotes_close(struct remotes *all);
/* After remotes_close(), prepare the machines for other work. */
void remotes_reset(struct remotes *all);
/* Close the connections if they are still open, and free the machines. */
void remotes_free(struct remotes *all);

#endif
