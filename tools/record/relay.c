// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs netsync's own lttng-relayd on loopback, which writes below a directory. A keeper process
 * between netsync record and the daemon ends the daemon even if netsync record is killed:
 *
 *	netsync record -- pipe --> keeper: keep_relay() -- signals --> lttng-relayd
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/child.h"
#include "common/complain.h"
#include "common/now.h"
#include "common/signal.h"
#include "record.h"

/*
 * Maximum number of attempts to start the daemon. Another process may take a free port before
 * the daemon does. Chosen.
 */
#define TRIES 5
/*
 * Time for the daemon to accept connections, and for a lost daemon to stop accepting them, ns.
 * Chosen.
 */
#define READY_NS 10000000000LL
/* Period of checking processes and ports, ms. Chosen. */
#define NAP_MS 20
/* Time from SIGTERM to SIGKILL, ns. Chosen; sessions have ended before. */
#define END_NS 5000000000LL
/* Time for viewers to receive the last events of finished sessions, ns. Chosen. */
#define VIEWERS_NS 10000000000LL

/* Default port of lttng-relayd for viewers, which is also the default of netsync live. */
#define DEFAULT_LIVE_PORT 5344

/*
 * Bind a socket to *@port on loopback, or to any free port if *@port is 0. Return -1 if the port
 * is not free.
 */
static int bind_relay_port(uint16_t *port)
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
	if (bind(fd, (void *)&address, size) || getsockname(fd, (void *)&address, &size)) {
		close(fd);
		return -1;
	}
	*port = ntohs(address.sin_port);
	return fd;
}

/* Find free ports. All of them are bound at the same time, so they differ. */
static bool find_relay_ports(struct relay *relay)
{
	uint16_t live = DEFAULT_LIVE_PORT;
	int fds[RELAY_PORTS];
	bool ok = true;

	for (int i = 0; i < RELAY_PORTS; i++) {
		fds[i] = -1;
		relay->ports[i] = 0;
		if (i == RELAY_LIVE)
			fds[i] = bind_relay_port(&live);
		if (fds[i] >= 0)
			relay->ports[i] = live;
		else
			fds[i] = bind_relay_port(&relay->ports[i]);
		ok &= fds[i] >= 0;
	}
	for (int i = 0; i < RELAY_PORTS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return ok;
}

/* Can all ports be bound? They cannot be bound while a lost daemon is still ending. */
static bool are_relay_ports_free(const struct relay *relay)
{
	bool free = true;

	for (int i = 0; i < RELAY_PORTS && free; i++) {
		uint16_t port = relay->ports[i];
		int fd = bind_relay_port(&port);

		free = fd >= 0;
		if (free)
			close(fd);
	}
	return free;
}

static void exec_relay(const struct relay *relay, pid_t keeper)
{
	const char *const names[] = { "--control-port", "--data-port", "--live-port" };
	char urls[RELAY_PORTS][32];
	const char *argv[] = {
		"lttng-relayd", "--group-output-by-session",
		"--output",	relay->folder,
		names[0],	urls[0],
		names[1],	urls[1],
		names[2],	urls[2],
		NULL,
	};
	int log;

	/* If the keeper is killed, nothing else ends the daemon. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != keeper)
		_exit(127);
	log = open(relay->log, O_WRONLY | O_CREAT | O_APPEND, 0666);

	for (int i = 0; i < RELAY_PORTS; i++)
		snprintf(urls[i], sizeof(urls[i]), "tcp://127.0.0.1:%u", relay->ports[i]);
	set_ending_handlers(SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	dup2(log, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	execvp(argv[0], (char **)argv);
	_exit(127);
}

/*
 * Run the keeper. It starts the daemon, and ends the daemon when netsync record closes the other
 * end of the pipe or is killed. SIGTERM is followed by SIGKILL, because the daemon may miss
 * SIGTERM while it starts.
 */
static void keep_relay(const struct relay *relay, int from)
{
	struct pollfd in = { .fd = from, .events = POLLIN };
	int64_t end_ns = INT64_MAX;
	pid_t keeper, pid;

	/*
	 * Leave the terminal's session because of its signals, and close descriptors, which
	 * would otherwise stay open after their owner has ended.
	 */
	setsid();
	set_ending_handlers(SIG_IGN);
	dup2(open("/dev/null", O_RDWR), STDOUT_FILENO);
	dup2(STDOUT_FILENO, STDERR_FILENO);
	in.fd = dup2(from, STDERR_FILENO + 1);
	close_range(STDERR_FILENO + 2, UINT_MAX, 0);
	fcntl(in.fd, F_SETFD, FD_CLOEXEC);
	keeper = getpid();
	pid = fork();
	if (!pid)
		exec_relay(relay, keeper);
	while (pid > 0 && !waitpid(pid, NULL, WNOHANG)) {
		poll(&in, in.fd >= 0, NAP_MS);
		if (in.fd >= 0 && in.revents) {
			kill(pid, SIGTERM);
			end_ns = now_ns() + END_NS;
			in.fd = -1;
		}
		if (now_ns() > end_ns)
			kill(pid, SIGKILL);
	}
	_exit(0);
}

static bool accepts_connections(uint16_t port)
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

bool relay_is_running(struct relay *relay)
{
	if (relay->pid <= 0)
		return false;
	if (!waitpid(relay->pid, NULL, WNOHANG))
		return true;
	close(relay->pipe);
	relay->pid = 0;
	return false;
}

static bool start_relay_once(struct relay *relay)
{
	const int64_t end_ns = now_ns() + READY_NS;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return false;
	relay->pid = fork();
	if (!relay->pid) {
		close(fds[1]);
		keep_relay(relay, fds[0]);
	}
	close(fds[0]);
	relay->pipe = fds[1];
	while (relay->pid > 0 && now_ns() < end_ns && relay_is_running(relay)) {
		if (accepts_connections(relay->ports[RELAY_CONTROL]))
			return true;
		poll(NULL, 0, NAP_MS);
	}
	relay_stop(relay);
	return false;
}

/* lttng-relayd needs absolute paths. Directories of hosts do not begin with "+". */
static bool set_relay_paths(struct relay *relay, const char *dir)
{
	char *path = realpath(dir, NULL);

	if (!path || asprintf(&relay->folder, "%s/+incoming", path) < 0)
		relay->folder = NULL;
	if (!path || asprintf(&relay->log, "%s/+relayd.log", path) < 0)
		relay->log = NULL;
	free(path);
	if (relay->folder && relay->log)
		return true;
	return complain_about_path(dir);
}

/* Read the last line of the daemon's log, without the newline. */
static void read_last_log_line(const struct relay *relay, char *words, size_t size)
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

	if (!again && !set_relay_paths(relay, dir))
		return false;
	if (mkdir(relay->folder, 0777) && errno != EEXIST)
		return complain_about_path(relay->folder);
	/*
	 * Wait until the ports are free. A daemon that replaces a lost one uses the same ports,
	 * because ssh forwards to them. The lost daemon may have outlived its keeper, and would
	 * accept the first connections.
	 */
	for (const int64_t end_ns = now_ns() + READY_NS;
	     again && !are_relay_ports_free(relay) && now_ns() < end_ns;)
		poll(NULL, 0, NAP_MS);
	for (int i = 0; i < TRIES; i++)
		if ((again || find_relay_ports(relay)) && start_relay_once(relay))
			return true;
	read_last_log_line(relay, words, sizeof(words));
	complain("cannot start lttng-relayd: %s", words);
	return false;
}

static bool has_relay_viewers(const struct relay *relay)
{
	FILE *list = fopen("/proc/net/tcp", "r");
	unsigned int port, state;
	bool found = false;
	char line[256];

	while (list && !found && fgets(line, sizeof(line), list))
		found = sscanf(line, " %*u: %*x:%x %*x:%*x %x", &port, &state) == 2 &&
			port == relay->ports[RELAY_LIVE] && state == TCP_ESTABLISHED;
	if (list)
		fclose(list);
	return found;
}

void relay_await_viewers(const struct relay *relay)
{
	const int64_t end_ns = now_ns() + VIEWERS_NS;

	while (relay->pid > 0 && has_relay_viewers(relay) && now_ns() < end_ns)
		poll(NULL, 0, NAP_MS);
}

void relay_stop(struct relay *relay)
{
	if (relay->pid <= 0)
		return;
	close(relay->pipe);
	child_wait(relay->pid);
	relay->pid = 0;
}

void relay_discard(struct relay *relay)
{
	if (relay->log)
		unlink(relay->log);
	if (relay->folder)
		rmdir(relay->folder);
	free(relay->log);
	free(relay->folder);
	relay->log = NULL;
	relay->folder = NULL;
}
