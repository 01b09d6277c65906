// SPDX-License-Identifier: GPL-2.0-only
/* A relay daemon of our own, on loopback, that writes below our folder. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record.h"
#include "tool.h"

/* Someone else may take a port between our finding it and the daemon's use. */
#define TRIES 5
#define READY_NS 10000000000LL
#define NAP_NS 20000000L

/* netsync live, and others, look there if no port is said. */
#define DEFAULT_LIVE_PORT 5344

static void nap(void)
{
	const struct timespec time = { .tv_nsec = NAP_NS };

	nanosleep(&time, NULL);
}

/* A socket that has a port that is free, this one if it is not 0. */
static int take_port(uint16_t *port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(*port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(address);
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (void *)&address, size) ||
	    getsockname(fd, (void *)&address, &size)) {
		close(fd);
		return -1;
	}
	*port = ntohs(address.sin_port);
	return fd;
}

/* All at the same time, so that they differ. */
static bool find_ports(struct relay *relay)
{
	uint16_t live = DEFAULT_LIVE_PORT;
	int fds[RELAY_PORTS];
	bool ok = true;

	for (int i = 0; i < RELAY_PORTS; i++) {
		fds[i] = -1;
		relay->ports[i] = 0;
		if (i == RELAY_LIVE)
			fds[i] = take_port(&live);
		if (fds[i] >= 0)
			relay->ports[i] = live;
		else
			fds[i] = take_port(&relay->ports[i]);
		ok &= fds[i] >= 0;
	}
	for (int i = 0; i < RELAY_PORTS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return ok;
}

static void exec_relay(const struct relay *relay)
{
	const char *const names[] = { "--control-port", "--data-port",
				      "--live-port" };
	char urls[RELAY_PORTS][32];
	const char *argv[] = {
		"lttng-relayd", "--group-output-by-session", "--output",
		relay->folder, names[0], urls[0], names[1], urls[1], names[2],
		urls[2], NULL,
	};
	int log = open(relay->log, O_WRONLY | O_CREAT | O_APPEND, 0666);

	for (int i = 0; i < RELAY_PORTS; i++)
		snprintf(urls[i], sizeof(urls[i]), "tcp://127.0.0.1:%u",
			 relay->ports[i]);
	/* ^C is not for it, but if we are killed it shall end. */
	setsid();
	dup2(log, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	execvp(argv[0], (char **)argv);
	_exit(127);
}

static bool answers(uint16_t port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ok = fd >= 0 && !connect(fd, (void *)&address, sizeof(address));

	if (fd >= 0)
		close(fd);
	return ok;
}

bool relay_runs(struct relay *relay)
{
	if (relay->pid > 0 && !waitpid(relay->pid, NULL, WNOHANG))
		return true;
	relay->pid = 0;
	return false;
}

static bool start_once(struct relay *relay)
{
	const int64_t end_ns = now_ns() + READY_NS;
	const pid_t parent = getpid();

	relay->pid = fork();
	if (!relay->pid) {
		signal(SIGPIPE, SIG_DFL);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(1);
		exec_relay(relay);
	}
	while (relay->pid > 0 && now_ns() < end_ns && relay_runs(relay)) {
		if (answers(relay->ports[RELAY_CONTROL]))
			return true;
		nap();
	}
	relay_stop(relay);
	return false;
}

/* Paths are absolute: the daemon wants that. */
static bool set_paths(struct relay *relay, const char *dir)
{
	char *path = realpath(dir, NULL);

	if (!path || asprintf(&relay->folder, "%s/incoming", path) < 0)
		relay->folder = NULL;
	if (!path || asprintf(&relay->log, "%s/relayd.log", path) < 0)
		relay->log = NULL;
	free(path);
	if (relay->folder && relay->log)
		return true;
	complain("%s: %s.", dir, strerror(errno));
	return false;
}

/* The last that it said, without the newline. */
static void last_words(const struct relay *relay, char *words, size_t size)
{
	FILE *log = fopen(relay->log, "r");

	snprintf(words, size, "is it installed?");
	while (log && fgets(words, size, log))
		words[strcspn(words, "\n")] = '\0';
	if (log)
		fclose(log);
}

bool relay_start(struct relay *relay, const char *dir)
{
	const bool again = relay->folder;
	char words[256];

	if (!again && !set_paths(relay, dir))
		return false;
	if (mkdir(relay->folder, 0777) && errno != EEXIST) {
		complain("%s: %s.", relay->folder, strerror(errno));
		return false;
	}
	/* What leads to the ports of one that was lost leads to the next one. */
	for (int i = 0; i < TRIES; i++)
		if ((again || find_ports(relay)) && start_once(relay))
			return true;
	last_words(relay, words, sizeof(words));
	complain("lttng-relayd cannot be started: %s", words);
	return false;
}

void relay_stop(struct relay *relay)
{
	if (relay->pid <= 0)
		return;
	kill(relay->pid, SIGTERM);
	while (waitpid(relay->pid, NULL, 0) < 0 && errno == EINTR)
		;
	relay->pid = 0;
}
