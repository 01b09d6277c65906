// SPDX-License-Identifier: GPL-2.0-only
/* Run the user's ssh. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "remote.h"

/*
 * Execute a command through a connection of its own, so that forwarded ports close together with
 * the command. All other settings are those of the user's configuration.
 */
void remote_exec_ssh(const struct remote *remote, const char *command)
{
	const struct remotes *all = remote->all;
	char forwards[REMOTE_PORTS][64];
	const char *argv[40] = {
		"ssh",
		"-T",
		"-x",
		"-S",
		"none",
		"-o",
		"ControlMaster=no",
		"-o",
		"RemoteCommand=none",
		"-o",
		"ExitOnForwardFailure=no",
		/* A server that accepts a connection but sends nothing counts as unreachable. */
		"-o",
		"ConnectTimeout=20",
		"-o",
		"ServerAliveInterval=10",
		"-o",
		"ServerAliveCountMax=3",
		/*
		 * Request messages about allocated ports from ssh. Otherwise, ssh prints them only
		 * if the user's LogLevel is INFO or higher. ssh before 8.5 does not support this.
		 */
		"-o",
		"IgnoreUnknown=LogVerbose",
		"-o",
		"LogVerbose=*:ssh_confirm_remote_forward():*",
	};
	int n = 0;

	while (argv[n])
		n++;
	/* Without a terminal, nobody can answer ssh's questions. */
	if (!isatty(STDIN_FILENO)) {
		argv[n++] = "-o";
		argv[n++] = "BatchMode=yes";
	}
	for (unsigned int i = 0; i < REMOTE_PORTS; i++) {
		if (!all->forward[i])
			continue;
		snprintf(forwards[i], sizeof(forwards[i]), "127.0.0.1:0:127.0.0.1:%u",
			 all->forward[i]);
		argv[n++] = "-R";
		argv[n++] = forwards[i];
	}
	if (remote->port) {
		argv[n++] = "-p";
		argv[n++] = remote->port;
	}
	argv[n++] = "--";
	argv[n++] = remote->destination;
	argv[n++] = command;
	/*
	 * Ignore ^C, which is meant for netsync. netsync sends the end of a recording over the
	 * connection.
	 */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	if (command)
		execvp("ssh", (char **)argv);
	dprintf(STDERR_FILENO, "ssh: %s\n", strerror(errno));
	_exit(REMOTE_NOT_FOUND - 1);
}
